"""Writes runs for other trackers with the trackers' own libraries. Everything stays on this machine.

`Runs.export` calls it, and the program contains this file, which `xlm runs export` starts with `python3 -c`. Then it reads one line of
JSON, {"kind": "mlflow", "place": PATH, "tables": FOLDER, "costs": [NAME, …]} with the tables that `--format jsonl` writes and the columns
there that runs did not begin with, and answers with {"made": PATH} or {"error": …}, with "package" if one is missing.
"""
from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.path[:] = [folder for folder in sys.path if folder]  # a file json.py of the current folder is not the library's

import contextlib
import datetime
import importlib
import json
import math
import os
import pathlib
from typing import Any, Callable, Collection, Dict, Iterator, List, Mapping

Row = Dict[str, Any]
_STATES = {"done": "FINISHED", "failed": "FAILED", "diverged": "FAILED"}
_RUN_FIELDS = (
    "run_id", "experiment", "status", "reason", "created", "started", "finished", "seed_group", "tag", "note", "bad", "step", "parent",
    "parent_step", "threads",
)  # fmt: skip
STATUS = "xlm_status"  # a setting of runs that are not done, which trackers know fewer kinds of; `xlm runs import` reads it


class ExportProblem(Exception):
    """What the user can mend: an unknown kind, or a library that is missing."""

    def __init__(self, message: str, package: str = "") -> None:
        super().__init__(message)
        self.package = package


class ExportedRun:
    """A run as other trackers take it: settings, and by step what was reported; evaluations are called `valid/loss`, and costs are of the end."""

    def __init__(self, row: Row, series: List[Row], evaluations: List[Row], *, costs: Collection[str]) -> None:
        self.id = str(row["run_id"])
        self.project = str(row.get("experiment") or "runs")
        self.status = str(row["status"])
        self.note = str(row.get("note") or "")
        self.tags = [tag.strip() for tag in str(row.get("tag") or "").split(",") if tag.strip()]
        self.created, self.finished = _seconds(row.get("created")), _seconds(row.get("finished"))
        self.steps: Dict[int, Dict[str, float]] = {}
        results = {f"{each['split']}.{each['metric']}" for each in evaluations}
        self.settings = {key: value for key, value in row.items() if key not in (*_RUN_FIELDS, *costs, *results) and not _is_nothing(value)}
        if self.status != "done":
            self.settings[STATUS] = self.status
        for each in series:
            self._add(each, str(each["name"]))
        for each in evaluations:
            if not each["at"]:  # of other corpora, say: trackers have one number for a name and step
                self._add(each, f"{each['split']}/{each['metric']}")
        names = {str(each["name"]) for each in series}
        last = max([int(row.get("step") or 0), *self.steps])
        for name in costs:
            if name not in (*names, *_RUN_FIELDS) and not _is_nothing(row.get(name)):
                self._add({"step": last, "value": row[name]}, name)

    def _add(self, each: Row, name: str) -> None:
        value = each["value"]
        self.steps.setdefault(int(each["step"]), {})[name] = math.nan if value is None else float(value)


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value)) or str(value) == "NaT"


def _seconds(date: Any) -> float:
    if isinstance(date, str):
        date = datetime.datetime.fromisoformat(date.replace("Z", "+00:00"))
    return 0.0 if _is_nothing(date) else float(date.timestamp())


def _plain(value: Any) -> Any:
    """A setting without numpy's types."""
    return value.item() if hasattr(value, "item") else value


def _library(name: str, package: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ExportProblem(f"the export is written by {package} itself: {error}", package) from None


@contextlib.contextmanager
def _variables(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def to_mlflow(runs: List[ExportedRun], place: pathlib.Path) -> pathlib.Path:
    """An SQLite store of mlflow. Metrics of a run have the time of its end, as only steps are known of them."""
    mlflow = _library("mlflow", "mlflow")
    entities = importlib.import_module("mlflow.entities")
    file = place / "mlflow.db"
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{file}")
    for run in runs:
        experiment = client.get_experiment_by_name(run.project)
        experiment_id = experiment.experiment_id if experiment else client.create_experiment(run.project)
        tags = {"mlflow.note.content": run.note, **{f"tag.{tag}": "true" for tag in run.tags}}
        made = client.create_run(experiment_id, start_time=int(run.created * 1000), run_name=run.id, tags=tags).info.run_id
        end = int((run.finished or run.created) * 1000)
        params = [entities.Param(key, _word(value)) for key, value in run.settings.items()]
        metrics = [entities.Metric(name, value, end, step) for step, values in sorted(run.steps.items()) for name, value in values.items()]
        for begin in range(0, len(params), 100):  # the most that mlflow takes at once
            client.log_batch(made, params=params[begin : begin + 100])
        for begin in range(0, len(metrics), 1000):
            client.log_batch(made, metrics=metrics[begin : begin + 1000])
        client.set_terminated(made, _STATES.get(run.status, "KILLED"), end_time=end)
    return file


def _word(value: Any) -> str:
    plain = _plain(value)
    return plain if isinstance(plain, str) else json.dumps(plain)


def to_trackio(runs: List[ExportedRun], place: pathlib.Path) -> pathlib.Path:
    """A project of trackio for each experiment; TRACKIO_DIR=PLACE shows them."""
    with _variables(TRACKIO_DIR=str(place)):
        storage: Any = _library("trackio.sqlite_storage", "trackio")
        names: Any = importlib.import_module("trackio.utils")
        storage.TRACKIO_DIR = names.TRACKIO_DIR = place
        for run in runs:
            steps = sorted(run.steps)
            when = datetime.datetime.fromtimestamp(run.finished or run.created, datetime.timezone.utc).isoformat()
            created = datetime.datetime.fromtimestamp(run.created, datetime.timezone.utc).isoformat()
            config = {**{key: _plain(value) for key, value in run.settings.items()}, "_Created": created}
            numbers = [run.steps[step] for step in steps]
            times = [when] * len(steps)
            storage.SQLiteStorage.bulk_log(run.project, run.id, numbers, steps=steps, timestamps=times, config=config, run_id=run.id)
    return place


def to_wandb(runs: List[ExportedRun], place: pathlib.Path) -> pathlib.Path:
    """Offline runs of W&B, which `wandb sync` takes; nothing is sent before."""
    wandb = _library("wandb", "wandb")
    with _variables(WANDB_MODE="offline", WANDB_SILENT="true"):
        for run in runs:
            config = {key: _plain(value) for key, value in run.settings.items()}
            about = {"project": run.project, "name": run.id, "id": run.id, "notes": run.note, "tags": run.tags}
            made = wandb.init(**about, config=config, dir=str(place), mode="offline", reinit="finish_previous")
            for step, values in sorted(run.steps.items()):
                made.log(values, step=step)
            made.finish(exit_code=0 if run.status == "done" else 1)
    return place / "wandb"


WRITERS: Mapping[str, Callable[[List[ExportedRun], pathlib.Path], pathlib.Path]] = {
    "mlflow": to_mlflow,
    "trackio": to_trackio,
    "wandb": to_wandb,
}


def export_runs(
    kind: str, place: pathlib.Path, rows: List[Row], series: List[Row], evaluations: List[Row], *, costs: Collection[str]
) -> pathlib.Path:
    """Writes the runs below `place`, without those that are marked as bad, and returns what was made. Raises ExportProblem."""
    if kind not in WRITERS:
        raise ExportProblem(f"'{kind}' is none of {', '.join(WRITERS)}")
    place.mkdir(parents=True, exist_ok=True)
    by_run: Dict[str, List[List[Row]]] = {str(row["run_id"]): [[], []] for row in rows}
    for which, table in enumerate((series, evaluations)):
        for each in table:
            by_run[str(each["run_id"])][which].append(each)
    good = [ExportedRun(row, *by_run[str(row["run_id"])], costs=costs) for row in rows if _is_nothing(row.get("bad"))]
    return WRITERS[kind](good, place.resolve())


def _rows(table: pathlib.Path) -> List[Row]:
    with table.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _answer(asked: Dict[str, Any]) -> Dict[str, str]:
    tables = (_rows(pathlib.Path(asked["tables"]) / f"{name}.jsonl") for name in ("runs", "series", "evaluations"))
    try:
        return {"made": str(export_runs(asked["kind"], pathlib.Path(asked["place"]), *tables, costs=asked["costs"]))}
    except ExportProblem as problem:
        return {"error": str(problem), "package": problem.package}
    except Exception as error:  # whatever the library throws
        return {"error": f"{asked['kind']} cannot write to {asked['place']}: {type(error).__name__}: {error}"}


def main() -> int:
    out, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    print(json.dumps(_answer(json.loads(sys.stdin.readline()))), file=out, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
