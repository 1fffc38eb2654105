"""What another tracker's files hold besides clean rows: other steps, cells without a number, states, attempts before."""
import json
import os
import sqlite3
import subprocess
import sys

import foreign_runs
import pytest
import xlm
from conftest import SOURCE
from import_runs_test import counts, imported, rows_of  # noqa: F401  (imported is a fixture)
from xlm.import_runs import value_of_text

CALLS = """
import sys, wandb
run = wandb.init(project="lab", name="s1", dir=sys.argv[1])
run.define_metric("train/global_step")
run.define_metric("*", step_metric="train/global_step", step_sync=True)
run.define_metric("half", step_metric="train/epoch")
for step in (500, 1000):
    run.log({"train/loss": 10 - step / 250, "train/global_step": step})
    run.log({"eval/loss": 8 - step / 250, "train/global_step": step, "train/epoch": step / 1000, "half": step / 2})
run.finish()
"""


def steps_of(runs, name):
    return [(each["step"], each["value"]) for each in rows_of(runs.series(name))]


def test_wandb_says_which_number_is_the_step(imported, tmp_path, monkeypatch):  # noqa: F811
    trackers = os.environ.get("XLM_TEST_TRACKERS") or str(SOURCE / ".deps" / "trackers")
    if not os.path.isdir(os.path.join(trackers, "wandb")):
        pytest.skip("[trackers] wandb is not installed: make trackers test-skipped")
    variables = {**os.environ, "PYTHONPATH": trackers, "WANDB_MODE": "offline", "WANDB_SILENT": "true"}
    subprocess.run([sys.executable, "-c", CALLS, str(tmp_path)], env=variables, check=True, capture_output=True)
    monkeypatch.setenv("PYTHONPATH", trackers)
    with pytest.warns(RuntimeWarning, match="s1: 'train/epoch' is 0.5, no whole number, so the tracker's own counts are the steps"):
        imported("wandb", tmp_path / "wandb", "--split", "valid=eval/*")
    assert steps_of(imported.runs, "loss") == [(500, 8.0), (1000, 6.0)]
    assert [(each["step"], each["value"]) for each in rows_of(imported.runs.evaluations("loss"))] == [(500, 6.0), (1000, 4.0)]
    assert [step for step, _ in steps_of(imported.runs, "half")] == [1, 3], "0.5 of an epoch is no step"
    error = imported("wandb", tmp_path / "wandb", "--step", "tokens", code=2)
    assert "--step: the run 's1' has no numbers 'tokens'" in str(error)


@pytest.mark.parametrize("options", [[], ["--step", "updates"]])
def test_trackio_counts_calls_and_the_run_counts_steps(imported, tmp_path, options):  # noqa: F811
    with sqlite3.connect(tmp_path / "lab.db") as store:
        store.executescript(foreign_runs.TRACKIO)
        for call, (name, step) in enumerate([("train/loss", 500), ("eval/loss", 500), ("train/loss", 1000), ("eval/loss", 1000)]):
            numbers = {name: 3.0 - step / 1000, "train/global_step": step, "updates": 2 * step}
            row = ("1" * 32, "2026-11-28T17:38:01+00:00", "s1", call, json.dumps(numbers).encode())
            store.execute("INSERT INTO metrics VALUES (NULL, ?, ?, ?, ?, ?, 'x', NULL)", row)
    imported("trackio", tmp_path / "lab.db", *options)
    factor = 2 if options else 1
    assert steps_of(imported.runs, "loss") == [(500 * factor, 2.5), (1000 * factor, 2.0)]


def test_a_cell_without_a_number_loses_that_cell_alone(imported, tmp_path):  # noqa: F811
    (tmp_path / "log.csv").write_text('step,loss,acc,kind\n1,2.5,0.5,x\n2,NA,0.6,x\n3,"1,9",0.7,x\n4,2.0,None,x\n')
    with pytest.warns(RuntimeWarning, match="log: 1 cell of 'loss' is no number .'1,9'.: left out"):
        imported("csv", tmp_path / "log.csv")
    assert steps_of(imported.runs, "loss") == [(1, 2.5), (4, 2.0)]
    assert steps_of(imported.runs, "acc") == [(1, 0.5), (2, 0.6), (3, 0.7)]
    assert rows_of(imported.runs.frame(columns=["options.kind"]))[0]["options.kind"] == "x"
    (tmp_path / "ppl.csv").write_text('step,loss,ppl\n1,3,"4,175"\n2,2,"2,044"\n3,1,898\n')
    with pytest.warns(RuntimeWarning, match="ppl: 'ppl' is left out: 2 of its 3 cells are no numbers .'4,175'."):
        imported("csv", tmp_path / "ppl.csv")


def test_a_text_is_a_number_only_where_it_is_written_as_programs_write_them():
    written = {"1.10": "1.10", "0.50": "0.50", "007": "007", "1.0": 1.0, "10.0": 10.0, "1e-05": 1e-05, "12": 12, "true": True}
    assert {text: value_of_text(text) for text in written} == written


def test_numbers_in_quotes_are_numbers_among_others(imported, tmp_path):  # noqa: F811
    (tmp_path / "log.jsonl").write_text('{"step": 1, "loss": 2.5}\n{"step": 2, "loss": "2.25"}\n{"step": 3, "loss": 2}\n')
    imported("jsonl", tmp_path / "log.jsonl")
    assert steps_of(imported.runs, "loss") == [(1, 2.5), (2, 2.25), (3, 2.0)]


def test_a_table_of_runs_says_their_states(imported, tmp_path):  # noqa: F811
    rows = ["Name,State,lr,seed,loss", "a,crashed,0.1,1,5", "b,finished,0.2,1,2", "c,running,0.3,1,4", "d,odd,0.4,1,3"]
    (tmp_path / "table.csv").write_text("\n".join(rows) + "\n")
    imported("csv", tmp_path / "table.csv", "--run", "Name", "--settings", "lr", "--seed", "seed", "--split", "valid=loss")
    states = {row["imported.name"]: row["status"] for row in rows_of(imported.runs.frame(columns=["imported.name", "status"]))}
    assert states == {"a": "failed", "b": "done", "c": "preempted", "d": "done"}
    finals = {each["value"] for each in rows_of(imported.runs.evaluations("loss")) if each["final"]}
    assert finals == {2, 3}, "a run that failed has no final number"


def test_groups_of_lm_eval_have_the_shots_of_their_tasks(imported, tmp_path):  # noqa: F811
    for name, shots, known in (("a", 5, {"stem": 5}), ("b", 0, {"stem": 0}), ("c", 5, {})):
        config = {"model": "hf", "model_args": f"pretrained={name}", "num_fewshot": shots}
        results = {"mmlu": {"acc,none": 0.6}, "stem": {"acc,none": 0.7}}
        content = {"results": results, "group_subtasks": {"mmlu": ["stem"]}, "n-shot": known, "config": config, "date": 1.0}
        (tmp_path / f"results_{name}.json").write_text(json.dumps(content))
    assert counts(imported("lm-eval", tmp_path)) == (3, 0, 0, 0)
    columns = ["imported.name", "test.acc@data.name=mmlu@shots=5", "test.acc@data.name=stem@shots=5"]
    rows = {row["imported.name"]: [row[name] for name in columns[1:]] for row in rows_of(imported.runs.frame(columns=columns))}
    assert rows["a"] == rows["c"] == [0.6, 0.7] and all(number != number for number in rows["b"])


def test_an_mlflow_run_that_was_resumed_ends_where_its_last_attempt_did(imported, tmp_path):  # noqa: F811
    foreign_runs.mlflow_store(tmp_path / "mlflow.db", seeds=(1,), steps=range(5, 26, 5))
    run = f"{1:032x}"
    with sqlite3.connect(tmp_path / "mlflow.db") as store:
        for key in ("train/loss", "val_loss"):
            for step in (17, 22):
                store.execute("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", (key, 2.0, 1_800_000_000_000 + step, run, step, 0))
    with pytest.warns(RuntimeWarning, match="went back to step 17: 4 numbers of an attempt before are left out"):
        imported("mlflow", tmp_path / "mlflow.db", "--split", "valid=val_loss")
    evaluations = rows_of(imported.runs.evaluations("loss"))
    assert [each["step"] for each in evaluations if each["split"] == "valid"] == [5, 10, 15, 17, 22]


def test_parts_of_a_resumed_wandb_run_are_joined_where_the_later_one_begins():
    import xlm.import_runs as import_runs

    first = import_runs.ForeignRun("p/abc", name="s1", summary={"test_loss": 1.5})
    later = import_runs.ForeignRun("p/abc")
    for step in (5, 10, 15, 20, 25):
        first.add("val_loss", step, 1.0)
    for step in (17, 22):
        later.add("val_loss", step, 2.0)
    run = import_runs._joined(first, later)
    assert (run.name, run.summary) == ("s1", {"test_loss": 1.5})
    assert run.series["val_loss"] == {5: 1.0, 10: 1.0, 15: 1.0, 17: 2.0, 22: 2.0}
    assert run.doubts == ["'val_loss' went back to step 17: 2 numbers of the part before left out"]


def test_lm_evals_ways_of_sampling_are_settings(imported, tmp_path):  # noqa: F811
    ways = [({}, 0.3), ({"gen_kwargs": {"temperature": 1}}, 0.1), ({"gen_kwargs": {"temperature": 1}, "torch_seed": 2}, 0.14)]
    for date, (way, value) in enumerate(ways):
        config = {"model": "hf", "model_args": "pretrained=gpt2", "torch_seed": 1234, **way}
        content = {"results": {"gsm8k": {"acc,none": value}}, "config": config, "date": float(date + 1)}
        (tmp_path / f"results_{date}.json").write_text(json.dumps(content))
    assert counts(imported("lm-eval", tmp_path)) == (1, 0, 0, 0)
    assert sorted(each["value"] for each in rows_of(imported.runs.evaluations("acc"))) == [0.1, 0.14, 0.3]
    (row,) = rows_of(imported.runs.frame(columns=["test.acc@data.name=gsm8k"]))
    assert row["test.acc@data.name=gsm8k"] == 0.3


def test_a_log_that_begins_again_is_said(imported, tmp_path):  # noqa: F811
    pytest.importorskip("tensorboard", reason="[readers] TensorBoard is not installed: make readers test-skipped")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    for attempt, steps in enumerate([range(8), range(4)]):
        writer = EventFileWriter(str(tmp_path / "logs" / "s1"), filename_suffix=f".{attempt}")
        for step in steps:
            value = Summary.Value(tag="loss", simple_value=float(20 * (1 - attempt) + 8 - step))
            writer.add_event(Event(wall_time=1.7e9 + 100 * attempt + step, step=step, summary=Summary(value=[value])))
        writer.close()
    with pytest.warns(RuntimeWarning) as said:
        imported("tensorboard", tmp_path / "logs")
    text = "\n".join(str(each.message) for each in said)
    assert "s1: 4 numbers had a step that a later one has, which counts" in text
    assert "s1: 'loss' went back to step 0: 4 numbers of an attempt before are left out" in text
    assert steps_of(imported.runs, "loss")[-1] == (3, 5.0)


def test_a_log_that_goes_back_ends_where_its_last_attempt_did(imported, tmp_path):  # noqa: F811
    rows = [(step, 3 - step / 50) for step in range(10, 61, 10)] + [(step, 2 - step / 50) for step in (27, 36, 45, 50)]
    (tmp_path / "a.csv").write_text("step, loss, val_loss\n" + "".join(f"{step},{loss},{loss + 1}\n" for step, loss in rows))
    with pytest.warns(RuntimeWarning, match="a: 'loss' went back to step 27: 6 numbers of an attempt before are left out"):
        imported("csv", tmp_path / "a.csv", "--split", "valid=val_loss")
    assert [step for step, _ in steps_of(imported.runs, "loss")] == [10, 20, 27, 36, 45, 50]
    assert rows_of(imported.runs.evaluations("loss"))[-1]["value"] == 2.0


def test_evaluations_that_come_late_stay(imported, tmp_path):  # noqa: F811
    lines = [{"step": step, "loss": 3 - step / 50, "lr": 0.1} for step in (10, 20, 30)]
    lines += [{"step": 30, "val": 1.5}, {"step": 20, "val": 2.5}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.warns(RuntimeWarning, match="a: 'val' ends at step 20, and has numbers behind that"):
        imported("jsonl", tmp_path / "a.jsonl", "--split", "valid=val")
    assert [each["step"] for each in rows_of(imported.runs.evaluations("val"))] == [20, 30]


@pytest.mark.parametrize(
    "text, says",
    [
        ("step,loss\n100,2,95\n", "log.csv, line 2: the row has 3 cells, and the first line has 2 names"),
        ("step,note,loss\n1,ok,2.9\n2,warm up, 0.1,2.8\n", "line 3: the row has 4 cells, and the first line has 3 names"),
        ("step,loss,loss\n1,2.9,9\n", "log.csv has two columns 'loss'"),
    ],
)
def test_a_table_whose_cells_are_not_sure_is_refused(imported, tmp_path, text, says):  # noqa: F811
    (tmp_path / "log.csv").write_text(text)
    assert says in str(imported("csv", tmp_path / "log.csv", code=3))


def test_a_table_sorted_by_newest_ends_with_its_greatest_step(imported, tmp_path):  # noqa: F811
    (tmp_path / "log.csv").write_text("step,loss,\n" + "".join(f"{step},{step / 100},\n" for step in range(500, 0, -100)))
    imported("csv", tmp_path / "log.csv", "--split", "valid=loss")
    assert [(each["step"], each["final"]) for each in rows_of(imported.runs.evaluations("loss"))][-1] == (500, True)
    assert len(rows_of(imported.runs.evaluations("loss"))) == 5


def test_names_that_become_one_stay_two(imported, tmp_path):  # noqa: F811
    lines = [{"step": step, "val/loss": 2.5, "eval_loss": 9.5, "lr decay": 0.1 * step, "lr_decay": 1} for step in (1, 2)]
    settings = ["--settings", "lr decay,lr_decay", "--run", "step"]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.warns(RuntimeWarning, match="'eval_loss' and 'val/loss' are both called 'valid.loss'"):
        imported("jsonl", tmp_path / "log.jsonl", "--split", "valid=val/*", "--split", "valid=eval_*", *settings)
    rows = rows_of(imported.runs.frame())
    assert {(row["options.lr_decay"], row["options.lr_decay_2"]) for row in rows} == {(1, 0.1), (1, 0.2)}
    assert all((row["valid.loss"], row["valid.val.loss"]) == (9.5, 2.5) for row in rows)
    reasons = [row["reason"] for row in rows]
    assert all(reason.startswith("warning: ") and "'lr decay' is 'lr_decay_2'" in reason for reason in reasons)


def test_folders_of_event_files_that_are_parts_of_a_run(imported, tmp_path):  # noqa: F811
    pytest.importorskip("tensorboard", reason="[readers] TensorBoard is not installed: make readers test-skipped")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    def write(folder, tag, number, settings=None):
        writer = EventFileWriter(str(tmp_path / "logs" / folder))
        values = [Summary.Value(tag=tag, simple_value=number)]
        if settings:
            data = HParamsPluginData()
            data.session_start_info.hparams["lr"].number_value = settings["lr"]
            values.append(Summary.Value(tag="_hparams_/session_start_info"))
            values[-1].metadata.plugin_data.plugin_name = "hparams"
            values[-1].metadata.plugin_data.content = data.SerializeToString()
        writer.add_event(Event(wall_time=1.7e9, step=1, summary=Summary(value=values)))
        writer.close()

    for seed in (1, 2):
        write(f"s{seed}/train", "epoch_loss", 2.0)  # Keras
        write(f"s{seed}/validation", "epoch_loss", 3.0)
        write(f"s{seed}", "other", 1.0)
        write(f"s{seed}/run_loss_test", "run/loss", 4.0)  # add_scalars of torch
        write(f"s{seed}/1700000000.123", "hparam/acc", 0.5, {"lr": 0.25})  # and its add_hparams
        write(f"s{seed}/later", "other", 1.5)
    assert counts(imported("tensorboard", tmp_path / "logs", "--split", "valid=validation/*", "--split", "test=test/*")) == (4, 0, 0, 0)
    columns = ["imported.id", "valid.epoch_loss", "test.run.loss", "options.lr"]
    rows = {row["imported.id"]: [row[name] for name in columns[1:]] for row in rows_of(imported.runs.frame(columns=columns))}
    assert rows["logs/s1"] == rows["logs/s2"] == [3.0, 4.0, 0.25]
    assert set(rows) == {"logs/s1", "logs/s2", "logs/s1/later", "logs/s2/later"}
    assert {each["value"] for each in rows_of(imported.runs.series("epoch_loss"))} == {2.0}


def test_points_of_neptune_between_whole_steps_are_counted(imported, tmp_path):  # noqa: F811
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    rows = [
        {"project_id": "p", "run_id": "r", "attribute_path": "val/loss", "attribute_type": "float_series", "step": step, "float_value": value}
        for step, value in ((0.5, 3.0), (1.0, 2.5), (1.5, 2.0))
    ]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "runs.parquet")
    with pytest.warns(RuntimeWarning, match="'val/loss' has the step 0.5, no whole number, so its points are counted instead"):
        imported("neptune", tmp_path / "runs.parquet", "--split", "valid=val/*")
    assert [(each["step"], each["value"]) for each in rows_of(imported.runs.evaluations("loss"))] == [(1, 3.0), (2, 2.5), (3, 2.0)]


def test_data_of_mlflow_are_settings_and_commits_are_said(imported, tmp_path, executable):  # noqa: F811
    foreign_runs.mlflow_store(tmp_path / "mlflow.db", seeds=(1, 2, 3))
    with sqlite3.connect(tmp_path / "mlflow.db") as store:
        store.executescript(
            "CREATE TABLE datasets (dataset_uuid TEXT, experiment_id INTEGER, name TEXT, digest TEXT);"
            "CREATE TABLE inputs (input_uuid TEXT, source_type TEXT, source_id TEXT, destination_type TEXT, destination_id TEXT);"
            "CREATE TABLE input_tags (input_uuid TEXT, name TEXT, value TEXT);"
            "INSERT INTO datasets VALUES ('d1', 1, 'wiki', 'aa'), ('d2', 1, 'code', 'bb');"
        )
        for seed in (1, 2, 3):
            store.execute("INSERT INTO inputs VALUES (?, 'DATASET', ?, 'RUN', ?)", (f"i{seed}", "d2" if seed == 3 else "d1", f"{seed:032x}"))
            store.execute("INSERT INTO input_tags VALUES (?, 'mlflow.data.context', 'training')", (f"i{seed}",))
        store.execute("UPDATE tags SET value = 'beef' WHERE key = 'mlflow.source.git.commit' AND run_uuid = ?", (f"{2:032x}",))
    imported("mlflow", tmp_path / "mlflow.db", "--seed", "seed", "--split", "test=test_loss")
    rows = {row["seed"]: row["options.dataset.training"] for row in rows_of(imported.runs.frame())}
    assert rows == {1: "wiki@aa", 2: "wiki@aa", 3: "code@bb"}
    (tmp_path / "table.yaml").write_text("table: T\nrows: options.dataset.training\ncolumns: [{label: loss, value: test.loss}]\n")
    said = subprocess.run([str(executable), "table", str(tmp_path / "table.yaml"), "--runs", str(tmp_path / "runs")],
                          stdout=subprocess.PIPE, check=True, text=True)  # fmt: skip
    assert "Imported runs are of 2 commits (imported.code)." in said.stdout


def test_rows_of_several_tasks_are_told(imported, tmp_path):  # noqa: F811
    rows = "model,task,test_score\nbase,Lcc,59.1\nbase,Norec,57.2\nlarge,Norec,62.4\n"
    (tmp_path / "long.csv").write_text(rows)
    with pytest.warns(RuntimeWarning, match=r"base: its rows differ in 'task' \(Lcc, Norec\), and the number of the last counts"):
        imported("csv", tmp_path / "long.csv", "--run", "model", "--split", "test=test_score")
    (tmp_path / "times.csv").write_text("time,loss\n2026-11-30 10:00,3\n2026-11-30 10:01,2\n")
    imported("csv", tmp_path / "times.csv")


def test_rows_and_columns_that_are_not_what_they_seem_are_told(imported, tmp_path):  # noqa: F811
    (tmp_path / "short.csv").write_text("step,loss,acc\n1,2.5,0.5\n2,2.0\n")
    with pytest.warns(RuntimeWarning, match=r"1 row of short.csv, the first in line 3, has fewer cells than the first line"):
        imported("csv", tmp_path / "short.csv")
    (tmp_path / "nearly.csv").write_text("train/step,loss\n100,3\n200,2\n")
    with pytest.warns(RuntimeWarning, match=r"'train/step' rises as a step does, and the rows are counted instead; --step 'train/step' takes it"):
        imported("csv", tmp_path / "nearly.csv")
    (tmp_path / "marked.csv").write_text("# step,loss\n100,3\n200,2\n")
    imported("csv", tmp_path / "marked.csv")
    assert (100, 3.0) in steps_of(imported.runs, "loss")
    (tmp_path / "note.csv").write_text("# run of monday\nstep,loss\n1,2\n")
    assert "leave out lines before the one with the names" in str(imported("csv", tmp_path / "note.csv", code=3))
    (tmp_path / "packed.csv").write_bytes(b"\x1f\x8b\x08")
    assert "is packed with gzip" in str(imported("csv", tmp_path / "packed.csv", code=3))


def test_settings_that_ended_at_other_steps_are_told(imported, tmp_path):  # noqa: F811
    for method, last in (("base", 40), ("short", 5)):
        rows = [f"{method},{step},{1 / step}" for step in range(1, last + 1)]
        (tmp_path / f"{method}.csv").write_text("\n".join(["method,epoch,test_loss", *rows]) + "\n")
    imported("csv", tmp_path, "--split", "test=test_loss")
    (tmp_path / "table.yaml").write_text("table: T\nrows: options.method\ncolumns: [{value: test.loss}]\n")
    words = ["table", str(tmp_path / "table.yaml"), "--runs", str(tmp_path / "runs")]
    assert "Settings ended at other steps, from 5 to 40." in str(xlm.call(words))
