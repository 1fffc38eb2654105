"""Lines of several processes, and of a disk that is full."""
import errno
import json
import os

import pytest
from conftest import python
from xlm.metrics_file import MetricsFile

WRITER = """
import sys, xlm
run = xlm.run(every_rank=True)
for step in range(500):
    run.log(step, rank=int(sys.argv[1]), **{f"quantity.{i}": i * 1.25 for i in range(40)})
"""


def test_lines_of_several_processes_do_not_mix(inside):
    writers = [python(WRITER, str(rank)) for rank in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    rows = [json.loads(line) for line in (inside / "metrics.jsonl").read_text().splitlines()]
    assert len(rows) == 2000 and all(len(row) == 42 for row in rows)
    for rank in range(4):
        assert [row["step"] for row in rows if row["rank"] == rank] == list(range(500))


def test_a_forked_process_appends_too(inside):
    import xlm

    run = xlm.run()
    run.log(1, loss=1)
    child = os.fork()
    if child == 0:
        run.log(2, loss=2)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    run.log(3, loss=3)
    assert [json.loads(line)["step"] for line in (inside / "metrics.jsonl").read_text().splitlines()] == [1, 2, 3]


def test_a_full_disk_is_an_error_and_the_next_line_is_whole(tmp_path, monkeypatch):
    file = MetricsFile(tmp_path / "metrics.jsonl")
    write = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:5]))
    with pytest.raises(OSError) as full:
        file.append({"step": 1, "loss": 2})
    assert full.value.errno == errno.ENOSPC
    monkeypatch.setattr(os, "write", write)
    file.append({"step": 2, "loss": 3})
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert len(lines) == 2 and json.loads(lines[1]) == {"step": 2, "loss": 3}


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        MetricsFile(tmp_path / "no" / "folder.jsonl").append({"step": 1})
