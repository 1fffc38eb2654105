"""What the tests of the module share: programs, the environment of a run, and run folders."""
import json
import os
import pathlib
import subprocess
import sys
import time

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """This process as a program that xlm started; returns the run's folder."""
    folder = tmp_path / "runs" / "spans-text8-0123456789abcdef"
    (folder / "checkpoints").mkdir(parents=True)
    for name, value in environment(folder).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.delenv("XLM_RESUME", raising=False)
    return folder


def environment(folder):
    """The variables that xlm sets for a program (docs/python.md)."""
    config = {"experiment": "spans", "seed": 3, "options": {"lr": 0.1, "steps": 5, "layers": [1, 2], "name": "a b"}}
    return {
        "XLM_RUN": str(folder),
        "XLM_CONFIG": json.dumps(config),
        "XLM_SEED": "3",
        "XLM_DATA": "/data/text8",
        "XLM_CHECKPOINTS": str(folder / "checkpoints"),
        "XLM_METRICS": str(folder / "metrics.jsonl"),
    }


def lines_of(folder):
    """What a program has reported."""
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def python(script, *arguments, env=None, **settings):
    """Starts a script in another process."""
    variables = {**os.environ, **(env or {})}
    return subprocess.Popen([sys.executable, "-c", script, *arguments], env=variables, **settings)


def until(condition, seconds=120):
    """Waits for what another process does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.005)


@pytest.fixture
def executable():
    """The program; the test is skipped if there is none."""
    found = os.environ.get("XLM_EXECUTABLE")
    if not found:
        pytest.skip("XLM_EXECUTABLE does not name the program")
    return found


@pytest.fixture
def made_runs(tmp_path):
    """A folder of six runs: two spans with three seeds each, as a worker writes them."""
    runs = tmp_path / "runs"
    number = 0
    for span in (64, 256):
        for seed in (1, 2, 3):
            number += 1
            make_run(runs / f"adaptive-span-text8-{number:016x}", span=span, seed=seed, time=1000.0 * number)
    return runs


def bpc_of(span, seed):
    """The result of a run: it falls with the span, and the seeds differ."""
    return 2.0 - 0.001 * span + 0.01 * seed * (1 if span == 64 else 1.5)


def make_run(folder, *, span, seed, time, experiment="spans", state="done"):
    """One run folder with two metrics at two steps, and final evaluations."""
    folder.mkdir(parents=True)
    bpc = bpc_of(span, seed)
    (folder / "config.yaml").write_text(
        f"experiment: {experiment}\ndata: {{path: data/text8}}\n"
        f"model: {{type: adaptive-span, layers: 2, heads: 2, span: {span}, span_type: adaptive}}\n"
        f"optimizer: {{lr: 0.07}}\ntrain: {{steps: 100, tf32: false}}\nseed: {seed}\n"
    )
    (folder / "environment.json").write_text(json.dumps({"dataset": "text8", "language": "", "fingerprint": "f00d"}))
    records = [
        {"type": "state", "state": "queued", "experiment": experiment},
        {"type": "state", "state": "running", "host": "here", "pid": 42},
        {"type": "metric", "step": 50, "values": {"loss": bpc + 0.5, "lr": 0.07}},
        {"type": "metric", "step": 100, "values": {"loss": bpc + 0.25, "lr": 0.035}},
    ]
    if state == "done":
        for split, shift in (("valid", -0.1), ("test", 0.0)):
            values = {"bpc": bpc + shift}
            records.append({"type": "evaluation", "step": 100, "split": split, "final": True, "values": values})
        records.append({"type": "costs", "values": {"params": 38100000.0, "flops_per_token": 1e6 * span}})
    records.append({"type": "state", "state": state})
    with (folder / "journal.jsonl").open("w") as journal:
        for i, record in enumerate(records):
            journal.write(json.dumps({**record, "time": time + i, "token": 1}) + "\n")
