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
