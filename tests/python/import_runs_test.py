"""Runs of other trackers: every number and setting arrives, and a second import changes nothing."""
import json
import math
import os
import sqlite3
import subprocess
import sys

import foreign_runs
import pytest
import xlm
from conftest import SOURCE, make_run
from foreign_runs import BAD, STEPS, loss_of
from xlm.export_runs import ExportedRun

SEEDS = (1, 2, 3)


@pytest.fixture
def imported(executable, tmp_path, monkeypatch):
    """A function that imports into a folder of runs and returns what the program says."""
    monkeypatch.setenv("XLM_PYTHON", sys.executable)

    def run(kind, place, *options, code=0):
        try:
            said = xlm.call(["runs", "import", kind, str(place), *options, "--runs", str(tmp_path / "runs")])
        except xlm.Error as error:
            assert error.exit_code == code, error
            return error
        assert code == 0
        return said

    run.runs = xlm.Runs(tmp_path / "runs")
    return run


def counts(said):
    return tuple(said[name] for name in ("added", "grown", "same", "conflict"))


def rows_of(frame):
    return frame if isinstance(frame, list) else frame.to_dict("records")


def check_numbers(runs, lr=0.1, seeds=SEEDS):
    """The numbers of foreign_runs, of any tracker."""
    columns = ["run_id", "seed", "options.lr", "options.opt.name", "test.loss", "status", "imported.id", "imported.source"]
    rows = {row["seed"]: row for row in rows_of(runs.frame(columns=columns))}
    assert sorted(rows) == list(seeds)
    series = rows_of(runs.series())
    evaluations = rows_of(runs.evaluations("loss"))
    for seed, row in rows.items():
        assert (row["options.lr"], row["options.opt.name"], row["status"]) == (lr, "sgd", "done")
        assert row["test.loss"] == loss_of(lr, seed, STEPS[-1]) + 0.2
        mine = {(each["name"], each["step"]): each["value"] for each in series if each["run_id"] == row["run_id"]}
        assert {key[1]: value for key, value in mine.items() if key[0] == "loss"} == {step: loss_of(lr, seed, step) for step in STEPS}
        bad = {step: mine["bad", step] for step in BAD}
        assert math.isnan(bad[0]) and bad[10] == math.inf and bad[20] == -math.inf
        of_valid = [each for each in evaluations if each["run_id"] == row["run_id"] and each["split"] == "valid"]
        assert {each["step"]: each["value"] for each in of_valid} == {step: loss_of(lr, seed, step) + 0.1 for step in STEPS}


def place_of(kind, folder):
    if kind == "mlflow":
        foreign_runs.mlflow_store(folder / "mlflow.db")
        return folder / "mlflow.db"
    if kind == "mlruns":
        foreign_runs.mlruns(folder / "mlruns")
        return folder / "mlruns"
    if kind == "trackio":
        foreign_runs.trackio_project(folder / "lab.db")
        return folder / "lab.db"
    if kind == "csv":
        foreign_runs.csv_file(folder / "lab.csv")
        return folder / "lab.csv"
    foreign_runs.jsonl_file(folder / "lab.jsonl")
    return folder / "lab.jsonl"


OPTIONS = ["--seed", "seed", "--split", "test=test*loss", "--data", "text8"]
OF_ROWS = ["--run", "run", "--settings", "lr"]


@pytest.mark.parametrize("kind", ["mlflow", "mlruns", "trackio", "csv", "jsonl"])
def test_all_numbers_and_settings_arrive_once(imported, tmp_path, kind):
    place = place_of(kind, tmp_path)
    arguments = ["mlflow" if kind == "mlruns" else kind, place, *OPTIONS, *(OF_ROWS if kind in ("csv", "jsonl") else [])]
    assert counts(imported(*arguments)) == (3, 0, 0, 0)
    check_numbers(imported.runs)
    before = rows_of(imported.runs.frame()), rows_of(imported.runs.series("loss"))
    assert counts(imported(*arguments)) == (0, 0, 3, 0)
    assert str((rows_of(imported.runs.frame()), rows_of(imported.runs.series("loss")))) == str(before)
    check_numbers(imported.runs)
    rebuilt = xlm.call(["runs", "sync", "--rebuild", "--runs", str(imported.runs.folder)])
    assert rebuilt["runs"] == 3
    check_numbers(imported.runs)


def test_a_run_whose_last_number_is_not_finite_has_diverged(imported, tmp_path):
    rows = ["run,seed,step,valid.loss", "a,1,1,2.0", "a,1,2,1.5", "b,2,1,2.0", "b,2,2,nan", "c,3,1,nan", "c,3,2,inf", "d,4,1,inf", "d,4,2,1.0"]
    (tmp_path / "lab.csv").write_text("\n".join(rows) + "\n")
    arguments = ["csv", tmp_path / "lab.csv", "--run", "run", "--seed", "seed", "--split", "valid=valid.loss"]
    assert counts(imported(*arguments)) == (4, 0, 0, 0)
    frame = rows_of(imported.runs.frame(columns=["seed", "status"]))
    assert sorted((row["seed"], row["status"]) for row in frame) == [(1, "done"), (2, "diverged"), (3, "diverged"), (4, "done")]
    assert counts(imported(*arguments)) == (0, 0, 4, 0)


def test_seeds_of_one_setting_are_a_group(imported, tmp_path):
    imported("mlflow", place_of("mlflow", tmp_path), *OPTIONS)
    groups = {row["seed_group"] for row in rows_of(imported.runs.frame(columns=["seed_group"]))}
    assert len(groups) == 1


def test_what_mlflow_knows_of_a_run(imported, tmp_path):
    imported("mlflow", place_of("mlflow", tmp_path), *OPTIONS)
    names = ["imported.id", "imported.code", "imported.user", "imported.time", "experiment", "options.flag", "options.version", "note", "data.name"]
    (row,) = rows_of(imported.runs.frame("seed=1", [*names, "options.tag.team"]))
    assert [row[name] for name in names[:3]] == [f"{1:032x}", "c0ffee", "ada"]
    assert row["imported.time"] == "2023-11-14T22:13:21Z" and row["experiment"] == "lab" and row["data.name"] == "text8"
    assert bool(row["options.flag"]) is True and row["options.version"] == "1.2.3" and row["options.tag.team"] == "a"
    assert row["note"] == "two lines"


def test_a_run_that_grew_gains_points_and_one_that_changed_is_a_conflict(imported, tmp_path):
    store = tmp_path / "mlflow.db"
    foreign_runs.mlflow_store(store, steps=STEPS[:5], status="RUNNING")
    assert counts(imported("mlflow", store, *OPTIONS)) == (3, 0, 0, 0)
    assert {row["status"] for row in rows_of(imported.runs.frame(columns=["status"]))} == {"preempted"}
    store.unlink()
    foreign_runs.mlflow_store(store)
    assert counts(imported("mlflow", store, *OPTIONS)) == (0, 3, 0, 0)
    check_numbers(imported.runs)
    with sqlite3.connect(store) as database:
        database.execute("UPDATE metrics SET value = 7 WHERE run_uuid = ? AND step = 50 AND key = 'train/loss'", (f"{2:032x}",))
        database.execute("UPDATE params SET value = '0.7' WHERE run_uuid = ? AND key = 'lr'", (f"{3:032x}",))
    said = imported("mlflow", store, *OPTIONS, code=1)
    assert counts(said.output) == (0, 0, 1, 2)
    notes = sorted(each["note"] for each in said.output["noted"])
    assert notes[0].startswith("loss at step 50 is 1.23") and notes[0].endswith(" here and 7.0 there")
    assert notes[1] == "options.lr is 0.1 here and 0.7 there"
    check_numbers(imported.runs)  # both stay as they were


def test_removed_runs_come_again_and_remarks_stay(imported, tmp_path):
    place = place_of("mlflow", tmp_path)
    imported("mlflow", place, *OPTIONS)
    first, second, _ = sorted(row["run_id"] for row in rows_of(imported.runs.frame(columns=["run_id"])))
    where = ["--runs", str(imported.runs.folder)]
    xlm.call(["runs", "mark", first, "--bad", "diverged", *where])
    xlm.call(["runs", "rm", second, "--yes", *where])
    assert counts(imported("mlflow", place, *OPTIONS)) == (1, 0, 2, 0)
    assert [row["bad"] for row in rows_of(imported.runs.frame(f"run_id={first}", ["bad"]))] == ["diverged"]


def test_packed_and_merged_they_are_the_same(imported, tmp_path):
    imported("trackio", place_of("trackio", tmp_path), *OPTIONS)
    archive = tmp_path / "runs.tar.zst"
    xlm.call(["runs", "pack", "--out", str(archive), "--runs", str(imported.runs.folder)])
    xlm.call(["runs", "merge", str(archive), "--runs", str(tmp_path / "others")])
    check_numbers(xlm.Runs(tmp_path / "others"))


def test_units_and_names_and_what_is_left_out(imported, tmp_path):
    place = place_of("csv", tmp_path)
    imported("csv", place, *OPTIONS, *OF_ROWS, "--unit", "*loss=bits", "--name", "old lab", "--without", "bad")
    row = rows_of(imported.runs.frame("seed=2", ["test.loss", "experiment"]))[0]
    assert row == {"test.loss": (loss_of(0.1, 2, STEPS[-1]) + 0.2) * math.log(2), "experiment": "old lab"}
    assert {each["name"] for each in rows_of(imported.runs.series())} == {"loss"}


def test_a_file_is_a_run(imported, tmp_path):
    folder = tmp_path / "many"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.csv").write_text("epoch,loss,kind\n1,2.5,x\n2,1.5,x\n")
    assert counts(imported("csv", folder)) == (2, 0, 0, 0)
    rows = rows_of(imported.runs.frame(columns=["imported.id", "options.kind", "experiment", "step"]))
    assert sorted((row["imported.id"], row["options.kind"], row["experiment"], row["step"]) for row in rows) == [
        ("many/a", "x", "many", 2),
        ("many/b", "x", "many", 2),
    ]


def test_results_of_lm_eval_are_evaluations_of_a_run(imported, tmp_path):
    foreign_runs.lm_eval_file(tmp_path / "results" / "a" / "results_1.json", "org/small", 0.5)
    foreign_runs.lm_eval_file(tmp_path / "results" / "b" / "results_2.json", "org/large", 0.75, shots=3)
    assert counts(imported("lm-eval", tmp_path / "results")) == (2, 0, 0, 0)
    columns = ["options.model_args.pretrained", "test.acc@data.name=hellaswag", "test.exact_match_strict-match@data.name=gsm8k@shots=5"]
    rows = {row[columns[0]]: [row[name] for name in columns[1:]] for row in rows_of(imported.runs.frame(columns=columns))}
    assert rows["org/small"] == [0.5, 0.25]
    columns[1] += "@shots=3"
    rows = {row[columns[0]]: [row[name] for name in columns[1:]] for row in rows_of(imported.runs.frame(columns=columns))}
    assert rows["org/large"] == [0.75, 0.375]
    assert counts(imported("lm-eval", tmp_path / "results")) == (0, 0, 2, 0)


@pytest.mark.parametrize("library", ["torch", "hparams"])
def test_event_files_of_tensorboard(imported, tmp_path, library):
    pytest.importorskip("tensorboard", reason="[readers] TensorBoard is not installed: make readers test-skipped")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    for seed in SEEDS:
        writer = EventFileWriter(str(tmp_path / "logs" / f"s{seed}"))
        if library == "hparams":
            data = HParamsPluginData()
            data.session_start_info.hparams["lr"].number_value = 0.5
            data.session_start_info.hparams["seed"].number_value = seed
            data.session_start_info.hparams["kind"].string_value = "x"
            value = Summary.Value(tag="_hparams_/session_start_info")
            value.metadata.plugin_data.plugin_name = "hparams"
            value.metadata.plugin_data.content = data.SerializeToString()
            writer.add_event(Event(wall_time=1.7e9, summary=Summary(value=[value])))
        for step in STEPS:
            values = [Summary.Value(tag="train/loss", simple_value=float(step) / 8)]
            if step in BAD:
                values.append(Summary.Value(tag="bad", simple_value=BAD[step]))
            if step == STEPS[-1]:
                values.append(Summary.Value(tag="test/loss", simple_value=0.25 * seed))
            writer.add_event(Event(wall_time=1.7e9 + step, step=step, summary=Summary(value=values)))
        writer.close()
    options = ["--split", "test=test/*", *(["--seed", "seed"] if library == "hparams" else [])]
    assert counts(imported("tensorboard", tmp_path / "logs", *options)) == (3, 0, 0, 0)
    rows = {row["imported.id"]: row for row in rows_of(imported.runs.frame())}
    assert {name: row["test.loss"] for name, row in rows.items()} == {f"logs/s{seed}": 0.25 * seed for seed in SEEDS}
    if library == "hparams":
        assert [(rows[f"logs/s{seed}"]["seed"], rows[f"logs/s{seed}"]["options.lr"]) for seed in SEEDS] == [(seed, 0.5) for seed in SEEDS]
    series = rows_of(imported.runs.series("loss"))
    assert len(series) == 3 * len(STEPS) and all(each["value"] == each["step"] / 8 for each in series)
    bad = [each["value"] for each in rows_of(imported.runs.series("bad"))]
    assert sum(math.isnan(value) for value in bad) == 3 and bad.count(math.inf) == 3 and bad.count(-math.inf) == 3
    assert counts(imported("tensorboard", tmp_path / "logs", *options)) == (0, 0, 3, 0)


def test_neptunes_export(imported, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from decimal import Decimal

    import pyarrow.parquet

    types = {"project_id": pyarrow.string(), "run_id": pyarrow.string(), "attribute_path": pyarrow.string(), "attribute_type": pyarrow.string()}
    types.update(step=pyarrow.decimal128(18, 6), timestamp=pyarrow.timestamp("ms", "UTC"), int_value=pyarrow.int64())
    types.update(float_value=pyarrow.float64(), string_value=pyarrow.string(), bool_value=pyarrow.bool_())
    types.update(datetime_value=pyarrow.timestamp("ms", "UTC"), string_set_value=pyarrow.list_(pyarrow.string()))
    rows = []
    for seed in SEEDS:
        of_run = {"project_id": "me/lab", "run_id": f"LAB-{seed}"}
        rows.append({**of_run, "attribute_path": "params/lr", "attribute_type": "float", "float_value": 0.1})
        rows.append({**of_run, "attribute_path": "params/seed", "attribute_type": "int", "int_value": seed})
        rows.append({**of_run, "attribute_path": "sys/tags", "attribute_type": "string_set", "string_set_value": ["b", "a"]})
        for step in STEPS:
            numbers = {"metrics/train/loss": loss_of(0.1, seed, step), **({"bad": BAD[step]} if step in BAD else {})}
            for path, value in numbers.items():
                at = {"attribute_path": path, "attribute_type": "float_series", "step": Decimal(step), "float_value": value}
                rows.append({**of_run, **at})
    (tmp_path / "export" / "me_lab").mkdir(parents=True)
    table = pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(types))
    pyarrow.parquet.write_table(table, tmp_path / "export" / "me_lab" / "part_0.parquet")
    options = ["--seed", "params/seed", "--split", "valid=metrics/train/*"]
    assert counts(imported("neptune", tmp_path / "export", *options)) == (3, 0, 0, 0)
    rows = {row["seed"]: row for row in rows_of(imported.runs.frame())}
    for seed in SEEDS:
        assert rows[seed]["valid.loss"] == loss_of(0.1, seed, STEPS[-1]) and rows[seed]["options.params.lr"] == 0.1
        assert rows[seed]["tag"] == "a, b" and rows[seed]["imported.id"] == f"me/lab/LAB-{seed}"
    bad = [each["value"] for each in rows_of(imported.runs.series("bad"))]
    assert sum(math.isnan(value) for value in bad) == 3 and bad.count(math.inf) == 3 and bad.count(-math.inf) == 3
    assert counts(imported("neptune", tmp_path / "export", *options)) == (0, 0, 3, 0)


WRITERS = {
    "wandb": """
import os, sys, math, wandb
sys.path.insert(0, {tests!r})
from foreign_runs import BAD, STEPS, loss_of
for seed in (1, 2, 3):
    run = wandb.init(project="lab", name=f"s{{seed}}", dir={place!r}, reinit="finish_previous", tags=["first"], notes="hello",
                     config={{"lr": 0.1, "seed": seed, "opt": {{"name": "sgd"}}, "layers": [1, 2]}})
    for step in STEPS:
        loss = loss_of(0.1, seed, step)
        run.log({{"train/loss": loss, "val/loss": loss + 0.1, **({{"bad": BAD[step]}} if step in BAD else {{}})}}, step=step)
    run.summary["test/loss"] = loss + 0.2
    run.finish()
""",
    "mlflow": """
import sys, mlflow
sys.path.insert(0, {tests!r})
from foreign_runs import BAD, STEPS, loss_of
mlflow.set_tracking_uri("sqlite:///" + {place!r} + "/mlflow.db")
mlflow.set_experiment("lab")
for seed in (1, 2, 3):
    with mlflow.start_run(run_name=f"s{{seed}}"):
        mlflow.log_params({{"lr": 0.1, "seed": seed, "opt.name": "sgd"}})
        for step in STEPS:
            loss = loss_of(0.1, seed, step)
            mlflow.log_metrics({{"train/loss": loss, "val_loss": loss + 0.1, **({{"bad": BAD[step]}} if step in BAD else {{}})}}, step=step)
        mlflow.log_metric("test_loss", loss + 0.2, step=step)
run = mlflow.start_run()
mlflow.end_run()
mlflow.delete_run(run.info.run_id)
""",
    "trackio": """
import sys, trackio
sys.path.insert(0, {tests!r})
from foreign_runs import BAD, STEPS, loss_of
for seed in (1, 2, 3):
    trackio.init(project="lab", name=f"s{{seed}}", config={{"lr": 0.1, "seed": seed, "opt": {{"name": "sgd"}}}})
    for step in STEPS:
        loss = loss_of(0.1, seed, step)
        last = {{"test/loss": loss + 0.2}} if step == STEPS[-1] else {{}}
        trackio.log({{"train/loss": loss, "val/loss": loss + 0.1, **({{"bad": BAD[step]}} if step in BAD else {{}}), **last}}, step=step)
    trackio.finish()
""",
}


@pytest.mark.parametrize("kind", list(WRITERS))
def test_what_the_real_library_writes(imported, tmp_path, kind, monkeypatch):
    trackers = os.environ.get("XLM_TEST_TRACKERS") or str(SOURCE / ".deps" / "trackers")
    if not os.path.isdir(os.path.join(trackers, kind)):
        pytest.skip(f"[trackers] {kind} is not installed: make trackers test-skipped")
    place = tmp_path / "theirs"
    place.mkdir()
    variables = {**os.environ, "PYTHONPATH": trackers, "WANDB_MODE": "offline", "WANDB_SILENT": "true", "TRACKIO_DIR": str(place)}
    script = WRITERS[kind].format(tests=str(SOURCE / "tests" / "python"), place=str(place))
    written = subprocess.run([sys.executable, "-c", script], env=variables, cwd=place, capture_output=True, text=True)
    assert written.returncode == 0, written.stderr
    monkeypatch.setenv("PYTHONPATH", trackers)
    assert counts(imported(kind, place, *OPTIONS)) == (3, 0, 0, 0)
    check_numbers(imported.runs)
    assert counts(imported(kind, place, *OPTIONS)) == (0, 0, 3, 0)


EXPORT = """
import sys, xlm
runs = xlm.Runs(sys.argv[2])
print(runs.export(sys.argv[1], sys.argv[3]))
"""
READ_BACK = {
    "mlflow": """
import json, mlflow, sys
client = mlflow.MlflowClient(tracking_uri="sqlite:///" + sys.argv[1])
found = {}
for run in client.search_runs([each.experiment_id for each in client.search_experiments()]):
    points = {name: {p.step: p.value for p in client.get_metric_history(run.info.run_id, name)} for name in run.data.metrics}
    found[run.info.run_name] = [dict(run.data.params), points]
print(json.dumps(found))
""",
    "trackio": """
import json, os, sys
os.environ["TRACKIO_DIR"] = sys.argv[1]
from trackio.sqlite_storage import SQLiteStorage
found = {}
for project in SQLiteStorage.get_projects():
    for run in SQLiteStorage.get_runs(project):
        points = {}
        for row in SQLiteStorage.get_logs(project, run):
            for name, value in row.items():
                if name not in ("step", "timestamp"):
                    points.setdefault(name, {})[row["step"]] = value
        found[run] = [SQLiteStorage.get_run_config(project, run), points]
print(json.dumps(found))
""",
}


@pytest.mark.parametrize("by_command", [False, True])
@pytest.mark.parametrize("kind", ["mlflow", "trackio", "wandb"])
def test_exported_runs_are_read_back_equal(imported, tmp_path, kind, by_command, made_runs, monkeypatch):
    trackers = os.environ.get("XLM_TEST_TRACKERS") or str(SOURCE / ".deps" / "trackers")
    if not os.path.isdir(os.path.join(trackers, kind)):
        pytest.skip(f"[trackers] {kind} is not installed: make trackers test-skipped")
    variables = {**os.environ, "PYTHONPATH": f"{SOURCE / 'python'}:{trackers}"}

    def python(script, *arguments):
        done = subprocess.run([sys.executable, "-c", script, *map(str, arguments)], env=variables, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[-1]

    native = xlm.Runs(made_runs.rename(tmp_path / "native"))
    monkeypatch.setenv("PYTHONPATH", trackers)
    if by_command:
        command = ["runs", "export", "--format", kind, "--out", str(tmp_path / "out"), "--runs", str(native.folder)]
        (made,) = xlm.call(command)["files"]
        assert not list((tmp_path / "out").glob(".tables*"))
    else:
        made = python(EXPORT, kind, native.folder, tmp_path / "out")
    series = {(each["run_id"], each["name"], each["step"]): each["value"] for each in rows_of(native.series())}
    finals = {(each["run_id"], each["split"]): each["value"] for each in rows_of(native.evaluations("bpc"))}
    if kind in READ_BACK:  # wandb reads no offline runs itself
        found = json.loads(python(READ_BACK[kind], made))
        assert len(found) == 6
        for run, (settings, points) in found.items():
            assert float(settings["optimizer.lr"]) == 0.07
            for name in ("loss", "lr"):
                assert {(run, name, int(step)): value for step, value in points[name].items()}.items() <= series.items()
                assert len(points[name]) == 2
            assert points["test/bpc"] == {"100": finals[run, "test"]} and points["valid/bpc"] == {"100": finals[run, "valid"]}
    assert counts(imported(kind, made, "--seed", "seed", "--split", "test=test/*", "--split", "valid=valid/*")) == (6, 0, 0, 0)
    again = {row["imported.name"]: row for row in rows_of(imported.runs.frame())}
    for row in rows_of(native.frame()):
        same = again[row["run_id"]]
        assert [same["test.bpc"], same["valid.bpc"], same["seed"], same["options.model.span"], same["experiment"]] == [
            row["test.bpc"], row["valid.bpc"], row["seed"], row["model.span"], row["experiment"]
        ]


def test_what_was_measured_is_no_setting_of_an_exported_run():
    row = {"run_id": "a", "status": "done", "step": 7, "threads": 2, "step_seconds": 0.1, "accuracy": 0.9, "options.lr": 0.3}
    made = ExportedRun(row, [], [], costs=["step_seconds", "accuracy"])
    assert made.settings == {"options.lr": 0.3}
    assert made.steps == {7: {"step_seconds": 0.1, "accuracy": 0.9}}


@pytest.mark.parametrize("kind", ["mlflow", "trackio", "wandb"])
def test_exported_runs_keep_how_they_ended(imported, tmp_path, kind, made_runs, monkeypatch):
    trackers = os.environ.get("XLM_TEST_TRACKERS") or str(SOURCE / ".deps" / "trackers")
    if not os.path.isdir(os.path.join(trackers, kind)):
        pytest.skip(f"[trackers] {kind} is not installed: make trackers test-skipped")
    native = made_runs.rename(tmp_path / "native")
    first, second, bad = sorted(each.parent for each in native.glob("*/journal.jsonl"))[:3]
    for run, state in ((first, "diverged"), (second, "pruned")):
        with (run / "journal.jsonl").open("a") as journal:
            journal.write(json.dumps({"type": "state", "time": 9e9, "state": state}) + "\n")
    xlm.call(["runs", "mark", bad.name, "--bad", "wrong corpus", "--runs", str(native)])
    monkeypatch.setenv("PYTHONPATH", trackers)
    (made,) = xlm.call(["runs", "export", "--format", kind, "--out", str(tmp_path / "out"), "--runs", str(native)])["files"]
    assert counts(imported(kind, made, "--seed", "seed", "--split", "test=test/*", "--split", "valid=valid/*"))[0] == 5
    again = {row["imported.name"]: row["status"] for row in rows_of(imported.runs.frame())}
    assert bad.name not in again
    assert (again.pop(first.name), again.pop(second.name)) == ("diverged", "pruned")
    assert set(again.values()) == {"done"}


def test_splits_that_are_said_later_make_the_last_values_final(imported, tmp_path):
    (tmp_path / "log.csv").write_text("step,loss,test_acc,test_loss\n1,2,,\n100,1,0.9,\n101,,,0.7\n")
    arguments = ["csv", tmp_path / "log.csv"]
    assert counts(imported(*arguments)) == (1, 0, 0, 0)
    assert "test.loss" not in rows_of(imported.runs.frame())[0]
    assert counts(imported(*arguments, "--split", "test=test_*")) == (0, 1, 0, 0)
    assert counts(imported(*arguments, "--split", "test=test_*")) == (0, 0, 1, 0)
    (row,) = rows_of(imported.runs.frame(columns=["test.acc", "test.loss"]))
    assert (row["test.acc"], row["test.loss"]) == (0.9, 0.7)


def test_a_merge_takes_what_an_imported_run_has_gained(tmp_path):
    for name, steps in (("early", 2), ("late", 3)):
        (tmp_path / name).mkdir()
        lines = [f"a,x,1,{step},{4 - step},{5 - step}" for step in range(1, steps + 1)]
        (tmp_path / name / "log.csv").write_text("\n".join(["run,g,seed,step,loss,val/loss", *lines, ""]))
        options = ["--run", "run", "--settings", "g", "--seed", "seed", "--split", "valid=val/loss", "--runs", str(tmp_path / f"runs-{name}")]
        xlm.call(["runs", "import", "csv", str(tmp_path / name / "log.csv"), *options])
    runs = xlm.Runs(tmp_path / "runs-early")
    for _ in range(2):
        xlm.call(["runs", "merge", str(tmp_path / "runs-late"), "--runs", str(runs.folder)])
        assert rows_of(runs.sql("SELECT max(step) AS last FROM metrics")) == [{"last": 3}]
        assert [row["valid.loss"] for row in rows_of(runs.frame())] == [2.0]


def test_rows_of_one_run_that_cannot_be_one_run(imported, tmp_path):
    (tmp_path / "table.csv").write_text("Name,lr,seed,val_loss\nbase,0.1,1,3.0\nbase,0.1,2,3.2\n")
    for options in (["--seed", "seed"], ["--settings", "lr,seed"]):
        error = imported("csv", tmp_path / "table.csv", "--run", "Name", *options, code=2)
        assert "the run 'base' has several values of the setting 'seed': 1, 2" in str(error)
    (tmp_path / "chart.csv").write_text('Step,"a - loss","a - loss__MIN","a - loss__MAX"\n100,1,1,1\n')
    assert "is a chart that W&B's page exports" in str(imported("csv", tmp_path / "chart.csv", code=3))


def test_rows_say_their_split_and_the_step_in_any_case(imported, tmp_path):
    (tmp_path / "log.csv").write_text("Step,split,loss\n100,train,3\n100,valid,4\n200,train,1\n200,train,2\n")
    assert counts(imported("csv", tmp_path / "log.csv")) == (1, 0, 0, 0)
    series = {(each["name"], each["step"]): each["value"] for each in rows_of(imported.runs.series())}
    assert series == {("loss", 100): 3, ("loss", 200): 2}
    assert [(each["split"], each["step"], each["value"]) for each in rows_of(imported.runs.evaluations("loss"))] == [("valid", 100, 4)]


def test_what_a_number_of_lm_eval_depends_on(imported, tmp_path):
    def write(name, date, value, **more):
        config = {"model": "hf", "model_args": "pretrained=gpt2", "limit": more.pop("limit", None)}
        content = {"results": {"arc": {"acc,none": value}}, "config": config, "date": date, "versions": {"arc": more.pop("version", 1.0)}, **more}
        (tmp_path / "lm" / name).write_text(json.dumps(content))

    (tmp_path / "lm").mkdir()
    write("results_1.json", 1.0, 0.29)
    write("results_2.json", 2.0, 0.9, limit=10)
    write("results_3.json", 3.0, 0.5, chat_template="{{x}}")
    assert counts(imported("lm-eval", tmp_path / "lm")) == (1, 0, 0, 0)
    columns = ["test.acc@data.name=arc", "test.acc@data.name=arc@limit=10"]
    (row,) = rows_of(imported.runs.frame(columns=columns))
    assert [row[name] for name in columns] == [0.29, 0.9]


def test_versions_of_a_task_of_lm_eval_are_two_numbers(imported, tmp_path):
    config = {"model": "hf", "model_args": "pretrained=gpt2"}
    for date, version, value in ((1.0, 1.0, 0.29), (2.0, 2.0, 0.4)):
        content = {"results": {"arc": {"acc,none": value}}, "config": config, "date": date, "versions": {"arc": version}}
        (tmp_path / f"results_{version}.json").write_text(json.dumps(content))
    assert counts(imported("lm-eval", tmp_path)) == (1, 0, 0, 0)
    columns = ["test.acc@data.name=arc@task_version=1.0", "test.acc@data.name=arc@task_version=2.0"]
    (row,) = rows_of(imported.runs.frame(columns=columns))
    assert [row[name] for name in columns] == [0.29, 0.4]


def test_an_export_names_the_library_that_is_missing(imported, tmp_path, made_runs, monkeypatch):
    (tmp_path / "mlflow.py").write_text("raise ImportError('no such module')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(xlm.UsageError, match="mlflow itself: no such module\n.* -m pip install mlflow"):
        xlm.call(["runs", "export", "--format", "mlflow", "--out", str(tmp_path / "out"), "--runs", str(made_runs)])


@pytest.mark.parametrize(
    "kind, name, content, says",
    [
        ("mlflow", "a.db", b"no database at all, but long enough", "cannot be read as SQLite"),
        ("trackio", "a.db", b"", "is no project of trackio"),
        ("csv", "a.csv", b"step,loss\n1.5,2\n", "the step is 1.5, no whole number"),
        ("jsonl", "a.jsonl", b'{"step": 1}\n{"step"\n', "a.jsonl, line 2: no JSON"),
        ("lm-eval", "a.json", b"{}", "has no results of lm-eval"),
        ("neptune", "a.parquet", b"PAR1", "cannot be read as Parquet"),
    ],
)
def test_a_broken_place_is_an_error(imported, tmp_path, kind, name, content, says):
    (tmp_path / name).write_bytes(content)
    error = imported(kind, tmp_path / name, code=3)
    assert says in str(error)
    assert not list((tmp_path / "runs").glob("*/config.yaml"))


def test_a_missing_package_is_said(imported, tmp_path, monkeypatch):
    (tmp_path / "run.wandb").write_bytes(b":W&B")
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONNOUSERSITE", "1")
    error = imported("wandb", tmp_path, code=2)
    if "cannot import wandb" not in str(error):
        pytest.skip("wandb is installed for this Python itself")
    assert "-m pip install wandb" in str(error)


def test_unknown_words_are_errors(imported, tmp_path):
    place = place_of("csv", tmp_path)
    assert "'nuts' is no unit" in str(imported("csv", place, "--unit", "loss=nuts", code=2))
    assert "none of train, valid and test" in str(imported("csv", place, "--split", "later=loss", code=2))
    assert "write --split NAME=PATTERN" in str(imported("csv", place, "--split", "test", code=2))
    assert "no column 'who' that names the run" in str(imported("csv", place, "--run", "who", code=3))


def test_a_setting_that_no_row_has_is_an_error(imported, tmp_path):
    (tmp_path / "r.csv").write_text("name,lr,loss\na,1,2\n")
    error = imported("csv", tmp_path / "r.csv", "--run", "name", "--settings", "lr,rank", code=2)
    assert "no column 'rank' for --settings; there are" in str(error)


def test_an_imported_run_is_never_done_again(imported, tmp_path):
    imported("csv", place_of("csv", tmp_path), *OPTIONS, *OF_ROWS)
    (run, *_) = [row["run_id"] for row in rows_of(imported.runs.frame(columns=["run_id"]))]
    before = (imported.runs.folder / run / "journal.jsonl").read_text()
    for command in (["worker", str(imported.runs.folder / run)], ["eval", str(imported.runs.folder / run), "--data", str(tmp_path)]):
        with pytest.raises(xlm.DataError, match="was imported from csv"):
            xlm.call(command)
    assert (imported.runs.folder / run / "journal.jsonl").read_text() == before


def test_tables_and_comparisons_say_what_is_imported(imported, tmp_path):
    imported("mlflow", place_of("mlflow", tmp_path), *OPTIONS)
    for seed in SEEDS:
        make_run(imported.runs.folder / f"adaptive-span-text8-{seed:016x}", span=64, seed=seed, time=1000.0)
        with (imported.runs.folder / f"adaptive-span-text8-{seed:016x}" / "journal.jsonl").open("a") as journal:
            record = {"type": "evaluation", "time": 2000, "split": "test", "step": 100, "final": True, "values": {"loss": 1.0 + 0.01 * seed}}
            journal.write(json.dumps(record) + "\n")
    (tmp_path / "tables.yaml").write_text(
        "table: both\nrows:\n  - {label: Native, where: {experiment: spans}}\n  - {label: Imported, where: {experiment: lab}}\n"
        "columns:\n  - {label: loss, value: test.loss}\n"
    )
    (table,) = imported.runs.tables(tmp_path / "tables.yaml")
    assert "3 runs imported from mlflow (imported.source): that code and data are those of other runs is not proved." in table.notes
    frame = table.frame()
    means = [row["loss"] for row in frame] if isinstance(frame, list) else list(frame["loss"])
    assert means == pytest.approx([1.02, sum(loss_of(0.1, seed, STEPS[-1]) + 0.2 for seed in SEEDS) / 3])
