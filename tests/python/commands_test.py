"""xlm.train and xlm.sweep, with a core that needs no torch."""
import json
import os
import pathlib
import signal
import subprocess

import pytest
import xlm
from conftest import python, until

CONFIG = {
    "data": {"path": "data"},
    "model": {"type": "adaptive-span", "width": 16, "heads": 2, "feed_forward": 32, "layers": 1, "span": 16},
    "train": {"steps": 4, "batch": 2, "block": 8},
    "device": "cpu",
}


@pytest.fixture
def place(tmp_path, monkeypatch, executable):
    """A folder with prepared data, and the stand-in for the program."""
    fake = os.environ.get("XLM_TEST_FAKE")
    if not fake or not pathlib.Path(fake).exists():
        pytest.skip("XLM_TEST_FAKE does not name the program with a core that needs no torch")
    monkeypatch.setenv("XLM_EXECUTABLE", fake)
    monkeypatch.chdir(tmp_path)
    pathlib.Path("text.txt").write_text("".join(f"line {i} of a text that says little\n" for i in range(200)))
    xlm.call(["prepare-data", "text", "--from", "text.txt", "--out", "data"])
    return tmp_path


def test_train_returns_what_came_out(place, capsys):
    run = xlm.train(CONFIG, experiment="from python")
    assert run["status"] == "done" and run["experiment"] == "from python"
    assert {"valid", "test"} <= {evaluation["split"] for evaluation in run["evaluations"]}
    assert run["run_id"] in capsys.readouterr().err, "progress appears as it comes"
    frame = xlm.Runs().frame(columns=["run_id", "train.steps"])
    assert len(frame) == 1


def test_settings_are_as_on_the_command_line(place):
    pathlib.Path("run.yaml").write_text(
        "data: {path: data}\nmodel: {type: adaptive-span, width: 16, heads: 2, feed_forward: 32, layers: 1, span: 16}\n"
        "train: {steps: 4, batch: 2, block: 8}\ndevice: cpu\n"
    )
    xlm.train("run.yaml", runs="elsewhere", seed=7, experiment='a, "b" #3', **{"train.steps": 3, "train.tf32": False})
    rows = xlm.Runs("elsewhere").show(next(p.name for p in pathlib.Path("elsewhere").iterdir() if p.name.startswith("adaptive")))
    assert rows["experiment"] == 'a, "b" #3' and rows["params"]["train.steps"] == 3 and rows["params"]["seed"] == 7


def test_texts_beyond_sixteen_bits_arrive(place):
    title = "\N{MATHEMATICAL SCRIPT SMALL L} of \N{CJK UNIFIED IDEOGRAPH-20000}"  # JSON has pairs of surrogates for them
    assert xlm.train(CONFIG, experiment=title)["experiment"] == title


def test_sweeps(place):
    swept = {**CONFIG, "sweep": {"grid": {"seed": [1, 2]}}}
    planned = xlm.sweep(swept, dry_run=True)
    assert [run["values"]["seed"] for run in planned] == [1, 2] and not pathlib.Path("runs").exists()
    done = xlm.sweep(swept, jobs=1)
    assert [run["status"] for run in done] == ["done", "done"]
    assert [run["run_id"] for run in done] == [run["run_id"] for run in planned]
    queued = xlm.sweep(swept, launcher="manual", **{"train.steps": 5})
    assert queued["queued"] == 2
    assert [run["run_id"] for run in xlm.sweep(swept, jobs=1)] == [run["run_id"] for run in done]


def test_a_sweep_of_failed_runs_is_an_error_with_their_reasons(place, monkeypatch):
    monkeypatch.setenv("XLM_FAKE_CORE", "fail-at=2")
    with pytest.raises(xlm.Error) as failed:
        xlm.sweep({**CONFIG, "sweep": {"grid": {"seed": [1, 2]}}}, jobs=1)
    assert failed.value.exit_code == 1 and "2 of 2 runs are not done" in str(failed.value)
    assert [run["status"] for run in failed.value.output] == ["failed", "failed"]


def test_wrong_usage_is_an_error(place):
    with pytest.raises(xlm.UsageError, match="'stps'"):
        xlm.train(CONFIG, **{"train.stps": 3})
    with pytest.raises(xlm.UsageError, match="nowhere"):
        xlm.sweep({**CONFIG, "sweep": {"grid": {"seed": [1]}}}, launcher="nowhere")
    with pytest.raises(ValueError, match="finite"):
        xlm.train(CONFIG, **{"optimizer.lr": float("nan")})
    with pytest.raises(xlm.Error, match="none.yaml"):
        xlm.train("none.yaml")


INTERRUPTED = """
import json, pathlib, xlm
try:
    xlm.train(json.loads(pathlib.Path("config.json").read_text()))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_stops_the_run_with_a_checkpoint(place):
    config = {**CONFIG, "train": {**CONFIG["train"], "steps": 300}}
    (place / "config.json").write_text(json.dumps(config))
    environment = {"XLM_FAKE_CORE": "pace=20"}
    process = python(INTERRUPTED, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True, cwd=place)
    until(lambda: list(place.glob("runs/*/steps.log")))
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the program hears it too
    assert process.communicate(timeout=60)[0] == "interrupted\n"
    assert xlm.Runs().frame(columns=["status"]).to_dict("records") == [{"status": "preempted"}]
    assert xlm.train(config)["status"] == "done"
