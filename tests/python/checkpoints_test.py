"""Checkpoints appear whole or not at all, and a plain loop resumes from them."""
import os
import signal
import subprocess
import time

import pytest
import xlm
from conftest import lines_of, python, until
from xlm.adapters import loop


def test_a_file_appears_whole_at_the_end(tmp_path):
    target = tmp_path / "new" / "last.pt"
    with xlm.saving(target) as file:
        file.write_text("half")
        assert not target.exists()
        file.write_text("whole")
    assert target.read_text() == "whole" and os.listdir(target.parent) == ["last.pt"]


def test_what_fails_leaves_the_earlier_file(tmp_path):
    target = tmp_path / "last.pt"
    target.write_text("earlier")
    with pytest.raises(RuntimeError):
        with xlm.saving(target) as file:
            file.write_text("half")
            raise RuntimeError
    with xlm.saving(target):
        pass  # writes nothing, as ranks other than 0
    assert target.read_text() == "earlier" and os.listdir(tmp_path) == ["last.pt"]


def test_a_folder_takes_the_place_of_another(tmp_path):
    for content in ("one", "two"):
        with xlm.saving(tmp_path / "model") as folder:
            folder.mkdir()
            (folder / "weights").write_text(content)
            (folder / "link").symlink_to("nowhere")
    assert (tmp_path / "model" / "weights").read_text() == "two" and os.listdir(tmp_path) == ["model"]


def test_the_newest_is_the_one_that_was_written_last(tmp_path):
    for i, name in enumerate(["step-9", "step-10", "other", ".unfinished-abc"]):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (1000 + i, 1000 + i))
    assert xlm.newest(tmp_path) == tmp_path / "other"
    assert xlm.newest(tmp_path, "step-*") == tmp_path / "step-10"
    assert xlm.newest(tmp_path, "*.pt") is None and xlm.newest(tmp_path / "none") is None


def test_a_run_that_begins_anew_has_no_checkpoint(inside, monkeypatch):
    (inside / "checkpoints" / "last").write_text("")
    assert xlm.run().newest_checkpoint() is None
    monkeypatch.setenv("XLM_RESUME", "1")
    assert xlm.run().newest_checkpoint() == inside / "checkpoints" / "last"


SUM = """
import time, xlm
from xlm.adapters import loop
run = xlm.run()
state = {"sum": 0}
def save(path): path.write_text(str(state["sum"]))
def load(path): state["sum"] = int(path.read_text())
for step in loop.steps(run, 60, save=save, load=load, every=7):
    state["sum"] += step
    run.log(step, sum=state["sum"])
    time.sleep(0.01)
run.evaluation("test", sum=state["sum"], final=True)
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_plain_loop_resumes_where_it_was(inside, monkeypatch, how):
    process = python(SUM)
    until(lambda: list((inside / "checkpoints").glob("step-*")))
    process.send_signal(how)
    assert process.wait(60) == (75 if how == signal.SIGTERM else -signal.SIGKILL)
    before = lines_of(inside)
    assert 7 <= before[-1]["step"] < 60
    assert len(list((inside / "checkpoints").glob("step-*"))) <= 2, "older ones go"
    monkeypatch.setenv("XLM_RESUME", "1")
    assert python(SUM).wait(60) == 0
    lines = lines_of(inside)
    first = lines[len(before)]["step"]
    last = before[-1]["step"]
    if how == signal.SIGTERM:
        assert first == last + 1
    else:  # of step 14 the line may be written, but not yet the checkpoint
        assert first == last // 7 * 7 + 1 or (last % 7 == 0 and first == last - 6)
    assert lines[-1] == {"split": "test", "sum": sum(range(61)), "final": True}
    assert [path.name for path in (inside / "checkpoints").glob("step-*")] == ["step-000000060"]


def test_a_plain_loop_that_is_done_takes_no_step(inside, monkeypatch):
    monkeypatch.setenv("XLM_RESUME", "1")
    (inside / "checkpoints" / "step-000000003").write_text("x")
    loaded = []
    assert list(loop.steps(xlm.run(), 3, save=lambda path: None, load=loaded.append)) == []
    assert loaded == [inside / "checkpoints" / "step-000000003"]


def test_a_kill_while_saving_leaves_a_whole_checkpoint(tmp_path):
    script = "import sys, xlm\nfor i in range(10**9):\n    with xlm.saving(sys.argv[1]) as f: f.write_text(str(i) * 100000)"
    target = tmp_path / "last"
    for attempt in range(8):
        process = python(script, str(target), stderr=subprocess.DEVNULL)
        target.unlink(missing_ok=True)
        until(target.exists)
        time.sleep(0.003 * attempt)
        process.kill()
        process.wait()
        text = target.read_text()
        assert len(text) % 100000 == 0 and len(text) > 0
