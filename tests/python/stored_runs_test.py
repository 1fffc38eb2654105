"""The store read without the program gives what the program gives."""
import json
import subprocess
import sys

import pytest
import xlm
from conftest import SOURCE, bpc_of, make_run

CONDITIONS = [
    None,
    "model.span=256",
    "model.span=64,256",
    {"seed": [1, 3]},
    ["seed<3", "model.span!=64"],
    "test.bpc<=1.9,seed=3",
    "status!=done",
    "tag=paper",
    "experiment=spans",
    'experiment="an, other"',
    "parent=null",
    "train.tf32=false",
]


def remark(folder, **fields):
    with (folder / "journal.jsonl").open("a") as journal:
        journal.write(json.dumps({"type": "remark", "time": 99000.0, **fields}) + "\n")


@pytest.fixture
def both(executable, made_runs, monkeypatch):
    """The same runs through the program and without it: a function that reads them."""
    make_run(made_runs / "adaptive-span-text8-00000000000000ff", span=1024, seed=1, time=9000.0, experiment="an, other", state="failed")
    first = made_runs / "adaptive-span-text8-0000000000000001"
    remark(first, tag="paper", given=True)
    remark(first, tag="second", given=True)
    elsewhere = {"type": "evaluation", "time": 9e4, "split": "test", "step": 100, "final": True, "values": {"bpc": 3.5}}
    with (first / "journal.jsonl").open("a") as journal:
        journal.write(json.dumps({**elsewhere, "settings": {"data.name": "pg-19"}}) + "\n")
    xlm.Runs(made_runs).sql("SELECT 1")  # brings the store up to date

    def read(method):
        monkeypatch.setattr("xlm.collection.has_program", lambda given=None: True)
        through = method(xlm.Runs(made_runs))
        monkeypatch.setattr("xlm.collection.has_program", lambda given=None: False)
        return rows_of(through), rows_of(method(xlm.Runs(made_runs)))

    return read


def rows_of(frame):
    rows = frame if isinstance(frame, list) else frame.to_dict("records")
    return [{key: plain(value) for key, value in row.items()} for row in rows]


def plain(value):
    """Without what differs between Parquet and SQLite alone: numpy's types, and what stands for nothing."""
    value = value.item() if hasattr(value, "item") else value
    if value is None or value != value:
        return None
    return value.timestamp() if hasattr(value, "timestamp") else value


@pytest.mark.parametrize("where", CONDITIONS, ids=str)
def test_frames_are_equal(both, where):
    through, without = both(lambda runs: runs.frame(where))
    assert without == through
    columns = ["run_id", "model.span", "seed", "test.bpc", "created", "test.bpc@data.name=pg-19"]
    through, without = both(lambda runs: runs.frame(where, columns))
    assert without == through


def test_the_frame_is_not_empty(both):
    _, without = both(lambda runs: runs.frame("model.span=256"))
    assert [row["test.bpc"] for row in without] == [bpc_of(256, seed) for seed in (1, 2, 3)]
    _, tagged = both(lambda runs: runs.frame("tag=second", ["test.bpc@data.name=pg-19"]))
    assert tagged == [{"test.bpc@data.name=pg-19": 3.5}]


@pytest.mark.parametrize("quantities", [[], ["loss"], ["loss", "lr"]], ids=str)
def test_series_are_equal(both, quantities):
    through, without = both(lambda runs: runs.series(*quantities, where="seed<3"))
    assert len(without) == 5 * 2 * (len(quantities) or 2) and without == through


@pytest.mark.parametrize("quantities", [[], ["bpc"]], ids=str)
def test_evaluations_are_equal(both, quantities):
    through, without = both(lambda runs: runs.evaluations(*quantities))
    assert len(without) == 13 and without == through


def test_sql_is_equal(both):
    through, without = both(lambda runs: runs.sql("SELECT run_id, test_bpc FROM results ORDER BY test_bpc LIMIT 3"))
    assert len(without) == 3 and without == through


def test_wrong_names_are_errors(made_runs, executable, monkeypatch):
    xlm.Runs(made_runs).sql("SELECT 1")
    monkeypatch.setattr("xlm.collection.has_program", lambda given=None: False)
    runs = xlm.Runs(made_runs)
    for wrong in (
        lambda: runs.frame(columns=["model.spam"]),
        lambda: runs.series("lost"),
        lambda: runs.frame("model.span"),
        lambda: runs.frame("seed<a"),
        lambda: runs.frame(columns=["=2*seed"]),
        lambda: runs.sql("SELECT nothing"),
    ):
        with pytest.raises(xlm.UsageError):
            wrong()
    with pytest.raises(xlm.DataError, match="no run is called"):
        runs.show("absent")
    with pytest.raises(xlm.DataError, match="there is no store"):
        xlm.Runs(made_runs / "nowhere").frame()


def test_runs_that_changed_are_said(made_runs, executable, monkeypatch):
    xlm.Runs(made_runs).sql("SELECT 1")
    make_run(made_runs / "adaptive-span-text8-00000000000000ff", span=1024, seed=1, time=9000.0)
    monkeypatch.setattr("xlm.collection.has_program", lambda given=None: False)
    with pytest.warns(RuntimeWarning, match="1 runs changed after"):
        assert len(rows_of(xlm.Runs(made_runs).frame())) == 6


def test_nothing_but_python_is_needed(made_runs, executable, tmp_path):
    """Another interpreter, with an empty PATH and the standard library alone."""
    xlm.Runs(made_runs).sql("SELECT 1")
    script = (
        "import xlm, json\n"
        f"runs = xlm.Runs({str(made_runs)!r})\n"
        "rows = runs.frame('model.span=64', ['seed', 'test.bpc'])\n"
        "print(json.dumps([rows, len(runs.series('loss')), len(runs.evaluations()), runs.show('0000000000000001')['status']]))\n"
        "try:\n    runs.compare('model.span=64', 'model.span=256')\n"
        "except xlm.Error as error:\n    print(error)\n"
    )
    variables = {"PATH": str(tmp_path), "PYTHONPATH": str(SOURCE / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-S", "-W", "error", "-c", script], env=variables, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    rows, series, evaluations, status = json.loads(first)
    assert rows == [{"seed": seed, "test.bpc": bpc_of(64, seed)} for seed in (3, 2, 1)]
    assert (series, evaluations, status) == (12, 12, "done")
    assert "is neither in this package nor on PATH" in rest[0]


def test_tables_are_read_as_they_were_written(tmp_path):
    cell = {"value": 1.5, "sd": 0.1}
    about = {"table": "A title", "name": "spans", "rows": [{"label": "64", "cells": [cell]}], "columns": [{"label": "bpc"}], "notes": ["n"]}
    (tmp_path / "tables.json").write_text(json.dumps([about]))
    (table,) = xlm.read_tables(tmp_path / "tables.json")
    assert (table.title, table.rows, table.cells, table.notes) == ("A title", ["64"], [[cell]], ["n"])
