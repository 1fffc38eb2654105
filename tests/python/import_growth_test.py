"""What an import gains later: further files of results, settings and states that came since, folders of files."""
import json

import xlm
from import_runs_test import counts, imported, rows_of  # noqa: F401  (imported is a fixture)
from xlm.import_runs import Answers, ForeignRun, request_of


def write_lm_eval(file, task, value, date, **more):
    """A result file; `more`: backend, shots, git_hash, version."""
    content = {
        "results": {task: {"alias": task, "acc,none": value}},
        "config": {"model": more.get("backend", "hf"), "model_args": "pretrained=m"},
        "date": date,
        "git_hash": more.get("git_hash", "abc"),
        "versions": {task: more.get("version", 1.0)},
        "n-shot": {task: more.get("shots", 0)},
        "higher_is_better": {task: {"acc": True}},
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content))


def test_backends_of_lm_eval_are_runs_of_their_own(imported, tmp_path):  # noqa: F811
    write_lm_eval(tmp_path / "lm" / "1.json", "arc", 0.3, 1.0)
    write_lm_eval(tmp_path / "lm" / "2.json", "arc", 0.4, 2.0, backend="vllm")
    assert counts(imported("lm-eval", tmp_path / "lm")) == (2, 0, 0, 0)
    columns = ["options.model", "test.acc@data.name=arc"]
    rows = {row[columns[0]]: row[columns[1]] for row in rows_of(imported.runs.frame(columns=columns))}
    assert rows == {"hf": 0.3, "vllm": 0.4}


def test_files_of_lm_eval_may_come_one_by_one_in_any_order(imported, tmp_path):  # noqa: F811
    later, earlier = tmp_path / "b" / "2.json", tmp_path / "a" / "1.json"
    write_lm_eval(later, "wiki", 0.9, 2.0, git_hash="def")
    write_lm_eval(earlier, "arc", 0.3, 1.0)
    assert counts(imported("lm-eval", later, "--name", "all")) == (1, 0, 0, 0)
    assert counts(imported("lm-eval", earlier, "--name", "all")) == (0, 1, 0, 0)
    assert counts(imported("lm-eval", earlier, "--name", "all")) == (0, 0, 1, 0)
    columns = ["imported.code", "test.acc@data.name=arc", "test.acc@data.name=wiki"]
    (row,) = rows_of(imported.runs.frame(columns=columns))
    assert [row[name] for name in columns] == ["def, abc", 0.3, 0.9]
    write_lm_eval(earlier, "arc", 0.35, 1.0)
    assert counts(imported("lm-eval", earlier, "--name", "all", code=1).output) == (0, 0, 0, 1)


def test_another_version_of_a_task_is_said(imported, tmp_path):  # noqa: F811
    write_lm_eval(tmp_path / "1.json", "arc", 0.3, 1.0)
    imported("lm-eval", tmp_path)
    write_lm_eval(tmp_path / "2.json", "arc", 0.4, 2.0, version=2.0)
    said = imported("lm-eval", tmp_path, code=1)
    assert said.output["noted"][0]["note"] == "test.acc at step 0 is of one version of its task here, and of several there"


def test_a_part_does_not_hide_that_there_are_versions(imported, tmp_path):  # noqa: F811
    for version, value in ((1.0, 0.3), (2.0, 0.4)):
        write_lm_eval(tmp_path / "lm" / f"{version}.json", "arc", value, version, version=version)
    imported("lm-eval", tmp_path / "lm", "--name", "all")
    said = imported("lm-eval", tmp_path / "lm" / "2.0.json", "--name", "all", code=1)
    assert said.output["noted"][0]["note"] == "test.acc at step 0 is of several versions of its task here, and of one there"


def test_runs_that_earlier_versions_imported_are_known_again(imported, tmp_path):  # noqa: F811
    for folder, loss in (("a", 2.5), ("b", 2.6)):
        (tmp_path / "logs" / folder).mkdir(parents=True)
        (tmp_path / "logs" / folder / "log.csv").write_text(f"State,step,loss\nfinished,1,{loss}\n")
    assert counts(imported("csv", tmp_path / "logs" / "a" / "log.csv", "--name", "logs")) == (1, 0, 0, 0)
    (run,) = [row["run_id"] for row in rows_of(imported.runs.frame())]
    config = imported.runs.folder / run / "config.yaml"  # as it was before: the state was a setting, too
    config.write_text(config.read_text() + "options:\n  State: finished\n")
    assert counts(imported("csv", tmp_path / "logs", "--name", "logs")) == (1, 1, 0, 0), "one is the file of before"
    assert len(rows_of(imported.runs.frame())) == 2


def test_lm_eval_says_which_way_a_number_is_better(imported, tmp_path):  # noqa: F811
    write_lm_eval(tmp_path / "1.json", "arc", 0.3, 1.0)
    write_lm_eval(tmp_path / "2.json", "arc", 0.4, 2.0, backend="vllm")
    imported("lm-eval", tmp_path)
    (tmp_path / "t.yaml").write_text("table: T\nrows: options.model\ncells: {value: test.acc@data.name=arc, best: true}\ncolumns: imported.source\n")
    (table,) = xlm.call(["table", str(tmp_path / "t.yaml"), "--runs", str(imported.runs.folder)])
    assert [cell["best"] for row in table["rows"] for cell in row["cells"]] == [False, True]


def test_settings_that_came_later_are_taken(imported, tmp_path):  # noqa: F811
    file = tmp_path / "runs.csv"
    options = ["--run", "name", "--settings", "lr,width", "--seed", "seed"]
    file.write_text("name,State,lr,seed,step,loss\na,running,0.1,1,0,2.5\n")
    assert counts(imported("csv", file, *options[:3], "lr", *options[4:])) == (1, 0, 0, 0)
    file.write_text("name,State,lr,width,seed,step,loss\na,finished,0.1,8,1,0,2.5\na,finished,0.1,8,1,10,2.2\n")
    assert counts(imported("csv", file, *options)) == (0, 1, 0, 0)
    assert counts(imported("csv", file, *options)) == (0, 0, 1, 0)
    (row,) = rows_of(imported.runs.frame())
    assert (row["status"], row["step"], row["options.width"], row["options.lr"]) == ("done", 10, 8, 0.1)
    assert "options.State" not in row, "it says how the run ended"
    file.write_text("name,State,lr,width,seed,step,loss\na,finished,0.1,16,1,0,2.5\na,finished,0.1,16,1,10,2.2\n")
    said = imported("csv", file, *options, code=1)
    assert said.output["noted"][0]["note"] == "options.width is 8 here and 16 there"


def test_files_of_one_name_in_several_folders_are_runs(imported, tmp_path):  # noqa: F811
    for version, loss in ((0, 1.0), (1, 1.1)):
        folder = tmp_path / "logs" / f"version_{version}"
        folder.mkdir(parents=True)
        (folder / "metrics.csv").write_text(f"epoch;step;train_loss;val_loss\n0;9;{loss};\n0;9;;1.2\n")
    said = imported("csv", tmp_path / "logs")
    assert counts(said) == (2, 0, 0, 0) and not [each for each in said["noted"] if each["note"]]
    names = {row["imported.name"] for row in rows_of(imported.runs.frame(columns=["imported.name"]))}
    assert names == {"version_0/metrics", "version_1/metrics"}
    assert sorted(each["value"] for each in rows_of(imported.runs.series("train_loss"))) == [1.0, 1.1]


def test_a_result_of_neptune_is_no_setting_if_the_user_says_so():
    run = ForeignRun("r", settings={"test/acc": 0.8, "parameters/lr": 0.1}, summary={"test/acc": 0.8, "parameters/lr": 0.1})
    asked = {"kind": "neptune", "place": "x", "options": {"split": ["test=test/*"]}}
    (answer,) = Answers(request_of(asked)).lines(run)
    assert answer["config"]["options"] == {"parameters.lr": 0.1}
    assert [(each["name"], each["split"], each["values"]) for each in answer["numbers"]] == [("acc", "test", [0.8])]
