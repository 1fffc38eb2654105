"""Names of other libraries, by the rule that the files of a program follow, too; and adapters without their libraries."""
import json
import sys
import types

import pytest
from conftest import SOURCE, lines_of

import xlm
from xlm.adapters import by_split


@pytest.mark.parametrize("theirs, ours", json.loads((SOURCE / "tests/names_of_others.json").read_text()))
def test_names_are_those_of_files(theirs, ours):
    ((split, numbers),) = by_split({theirs: 1.0}).items()
    assert [f"{split}.{name}" if split else name for name in numbers] == [ours]


def adapter(monkeypatch, name, **modules):
    """An adapter, with empty classes in place of the library's."""
    for path, classes in modules.items():
        module = types.ModuleType(path.replace("__", "."))
        for one in classes:
            setattr(module, one, type(one, (), {}))
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delitem(sys.modules, f"xlm.adapters.{name}", raising=False)
    module = __import__(f"xlm.adapters.{name}", fromlist=["x"])
    monkeypatch.delitem(sys.modules, f"xlm.adapters.{name}")
    return module


@pytest.fixture
def callback(inside, monkeypatch):
    module = adapter(monkeypatch, "hugging_face", transformers=["TrainerCallback"])
    return module.XlmCallback(xlm.run())


STATE = types.SimpleNamespace(global_step=7)


def test_a_trainer_evaluates_under_any_prefix(callback, inside):
    for metrics in (
        {"eval_loss": 2.0, "epoch": 1.0},
        {"test_loss": 1.5, "test_runtime": 3.0, "epoch": 1.0},
        {"heldout_loss": 1.25},
        {"epoch": 1.0},
        {},
    ):
        callback.on_log(None, STATE, None, logs=metrics)
        callback.on_evaluate(None, STATE, None, metrics=metrics)
    found = [line for line in lines_of(inside) if "split" in line]
    assert [(line["split"], line["step"], line.get("final", False)) for line in found] == [
        ("valid", 7, False),
        ("test", 7, True),
        ("valid", 7, False),
    ]
    assert [line.get("loss", line.get("heldout_loss")) for line in found] == [2.0, 1.5, 1.25]


def test_what_a_trainer_logs_of_training_keeps_its_name(callback, inside):
    callback.on_log(None, STATE, None, logs={"loss": 3.0, "learning_rate": 0.1, "epoch": 0.5})
    callback.on_log(None, STATE, None, logs={"train_loss": 3.5, "train_runtime": 9.0, "epoch": 1.0})
    callback.on_log(None, STATE, None, logs={"test_loss": 3.5, "epoch": 1.0})
    assert lines_of(inside) == [
        {"step": 7, "loss": 3.0, "learning_rate": 0.1, "epoch": 0.5},
        {"step": 7, "train_loss": 3.5, "train_runtime": 9.0, "epoch": 1.0},
    ]


def test_lightning_names_as_its_csv_logger(inside, monkeypatch):
    module = adapter(
        monkeypatch, "lightning", lightning=[], lightning__pytorch=["Callback"], lightning__pytorch__loggers=["Logger"]
    )
    logger = module.XlmLogger(xlm.run())
    logger.log_metrics({"train/loss": 3.0, "epoch": 0}, 1)
    logger.log_metrics({"val/loss": 2.5, "epoch": 0}, 1)
    logger.log_metrics({"Val_Acc": 0.5}, 2)
    logger.log_metrics({"test_loss": 2.0}, 3)
    assert lines_of(inside) == [
        {"step": 1, "loss": 3.0, "epoch": 0},
        {"step": 1, "split": "valid", "loss": 2.5},
        {"step": 2, "split": "valid", "acc": 0.5},
        {"step": 3, "split": "test", "loss": 2.0, "final": True},
    ]


WANDB_SCRIPT = """
import sys
import wandb
run = wandb.init(project="lab", config={"lr": 0.5, "steps": 3})
assert (run.config.lr, wandb.config["steps"], wandb.config.get("none")) == (0.1, 5, None), dict(run.config)
wandb.config.update({"width": 8, "lr": 7}, allow_val_change=True)
assert (wandb.config.width, wandb.config.lr) == (8, 0.1)
for step in range(2):
    wandb.log({"train/loss": 2.0 - step, "picture": object()}, commit=False)
    wandb.log({"val/loss": 3.0 - step, "nested": {"depth": step}})
run.log({"loss": 0.25}, step=10)
run.summary["test/acc"] = 0.75
print(sys.argv[1:])
"""


def test_a_script_of_wandb_runs_unchanged(inside, tmp_path):
    import subprocess

    (tmp_path / "train.py").write_text(WANDB_SCRIPT)
    command = [sys.executable, "-m", "xlm.adapters.wandb", str(tmp_path / "train.py"), "--flag"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "['--flag']\n"), done.stderr
    assert lines_of(inside) == [
        {"step": 0, "loss": 2.0, "nested.depth": 0},
        {"step": 0, "split": "valid", "loss": 3.0},
        {"step": 1, "loss": 1.0, "nested.depth": 1},
        {"step": 1, "split": "valid", "loss": 2.0},
        {"step": 10, "loss": 0.25},
        {"split": "test", "acc": 0.75, "final": True},
    ]


def test_a_script_of_wandb_that_fails_has_no_result(inside, tmp_path):
    import subprocess

    (tmp_path / "train.py").write_text("import wandb\nwandb.init().summary['test/acc'] = 1.0\nraise SystemExit(3)\n")
    command = [sys.executable, "-m", "xlm.adapters.wandb", str(tmp_path / "train.py")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 3 and (not (inside / "metrics.jsonl").exists() or lines_of(inside) == [])


def test_a_script_of_wandb_that_resumes_counts_on(inside, tmp_path, monkeypatch):
    import subprocess

    (inside / "metrics.jsonl").write_text('{"step": 0, "loss": 5}\n{"step": 6, "loss": 4}\n{"ste')
    monkeypatch.setenv("XLM_RESUME", "1")
    script = "import wandb\nwandb.init()\nfor loss in (3, 2): wandb.log({'loss': loss})\nwandb.log({'loss': 9}, step=4)\n"
    (tmp_path / "train.py").write_text(script + "wandb.run.summary['best_loss'] = 1.5\n")
    done = subprocess.run([sys.executable, "-m", "xlm.adapters.wandb", str(tmp_path / "train.py")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = (inside / "metrics.jsonl").read_text().splitlines()[2:]
    records = [json.loads(line[4:] if line.startswith('{"ste{') else line) for line in lines if line]
    assert [each["warning"] for each in records if "warning" in each] == [
        "wandb.log counts steps by itself, after a resume from the last one on; log(…, step=STEP) says which they are",
        "wandb.log counts steps by itself, after a resume from the last one on; log(…, step=STEP) says which they are",
        "wandb.log: step 4 lies behind step 9, so what it logged is left out",
    ]
    assert [each for each in records if "warning" not in each] == [
        {"step": 7, "loss": 3}, {"step": 8, "loss": 2}, {"costs": {"best_loss": 1.5}},
    ]


def test_a_script_of_wandb_that_resumes_and_says_its_steps_is_right(inside, tmp_path, monkeypatch):
    import subprocess

    (inside / "metrics.jsonl").write_text('{"step": 6, "loss": 4}\n')
    monkeypatch.setenv("XLM_RESUME", "1")
    (tmp_path / "train.py").write_text("import wandb\nwandb.init()\nfor step in (5, 6): wandb.log({'loss': step}, step=step)\n")
    done = subprocess.run([sys.executable, "-m", "xlm.adapters.wandb", str(tmp_path / "train.py")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert lines_of(inside)[1:] == [{"step": 5, "loss": 5}, {"step": 6, "loss": 6}]
