"""Reads runs that another tracker recorded: the part of `xlm runs import` that is Python.

The program contains this file and starts it with `python3 -c`, so an installed program needs no module `xlm`. It reads
lines of JSON on standard input, and answers each with one line on standard output:

1. {"kind": "wandb", "place": PATH, "options": {"split": ["NAME=PATTERN", …], "unit": ["PATTERN=UNIT", …], "seed": [KEY], "data": [NAME],
   "name": [NAME], "run": [COLUMN], "step": [COLUMN], "settings": ["COLUMN,…", …], "without": [PATTERN, …]}}, of which each list may be
   empty, is answered by {"ready": true}, or by {"error": …}, with "package" if one is missing, and "usage" if it is the request that is
   wrong.
2. "next" is answered by a run, by {"error": …}, or after the last run by {"warnings": [TEXT, …]}. A run is {"project": TEXT,
   "config": {…}, "remarks": [{"type": "remark", …}, …], "created": SECONDS, "ended": SECONDS, "state": TEXT,
   "reason": TEXT, "better": {NAME: "higher" or "lower"}, "is_part": whether numbers that were here before may be missing,
   "formerly": the id that it had in earlier versions, "no_settings": keys that were settings there,
   "numbers": [{"name": …, "split": …, "settings": {…}, "final": …, "steps": […], "values": […]}, …], "more": …}. A
   number that is not finite is the text NaN, Infinity or -Infinity. After a run with "more", "next" is answered by the rest of
   its numbers, which may have "more" in turn.

The libraries of wandb, tensorboard and neptune's export (pyarrow) are used; other files need the standard library alone.
"""
from __future__ import annotations

import sys

sys.path[:] = [folder for folder in sys.path if folder]  # a file json.py of the current folder is not the library's

import csv
import datetime
import fnmatch
import hashlib
import importlib
import json
import math
import os
import pathlib
import re
import sqlite3
import struct
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

STEP_NAMES = ("step", "_step", "global_step", "steps", "iteration", "iter", "epoch")
POINTS_OF_A_LINE = 100_000
_MOST_DOUBTS = 20
UNITS = {  # how many of the store's unit one of them is
    "bits": math.log(2), "nats": 1.0, "percent": 0.01, "fraction": 1.0, "us": 1e-6, "ms": 1e-3, "seconds": 1.0, "minutes": 60.0,
    "hours": 3600.0, "days": 86400.0, "bytes": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30,
}  # fmt: skip
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
MISSING = ("NA", "N/A", "n/a", "None", "none", "null", "NULL", "-", "<NA>", "")  # cells that hold nothing
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "infinity": math.inf, "-inf": -math.inf, "-infinity": -math.inf}

Series = Dict[int, float]


class ImportProblem(Exception):
    """What cannot be read, in words for the user."""

    def __init__(self, text: str, package: str = "", usage: bool = False) -> None:
        super().__init__(text)
        self.answer: Dict[str, Any] = {"error": text, **({"package": package} if package else {}), **({"usage": True} if usage else {})}


@dataclass
class ForeignRun:
    """A run as its tracker has it."""

    id: str
    project: str = ""
    name: str = ""
    state: str = "done"  # as in journals; preempted: it had not ended
    reason: str = ""
    created: Optional[float] = None
    ended: Optional[float] = None
    settings: Dict[str, Any] = field(default_factory=dict)
    series: Dict[str, Series] = field(default_factory=dict)
    summary: Dict[str, float] = field(default_factory=dict)  # what belongs to the end of the run
    evaluations: List[Dict[str, Any]] = field(default_factory=list)  # as in the answer
    origin: Dict[str, Any] = field(default_factory=dict)  # what else is known: code, machine, user
    tags: Sequence[str] = ()
    note: str = ""
    seen: float = 0  # when its file changed last
    repeated_steps: int = 0  # rows whose step another row has, too
    replaced: int = 0  # numbers instead of which a later one of the same step counts
    newest: Dict[str, int] = field(default_factory=dict)  # the step of each name that came last
    left: Dict[str, Dict[int, int]] = field(default_factory=dict)  # steps of each name that were there when it went back, and to where
    doubts: List[str] = field(default_factory=list)  # what may have changed its numbers
    better: Dict[str, str] = field(default_factory=dict)  # of names: "higher" or "lower"
    is_part: bool = False  # its numbers come in several files, which need not all be there
    formerly: str = ""  # the id that earlier versions gave it
    no_settings: List[str] = field(default_factory=list)  # names that earlier versions took for settings

    def add(self, name: str, step: int, value: Any) -> None:
        """A number; later ones of the same step count."""
        number = number_of(value)
        if number is None:
            return
        series = self.series.setdefault(name, {})
        before = series.get(step, number)
        self.replaced += before != number and not (math.isnan(before) and math.isnan(number))
        series[step] = number
        if step < self.newest.get(name, step):
            self.left.setdefault(name, {}).update((later, step) for later in series if later > step)
        if name in self.left:
            self.left[name].pop(step, None)
        self.newest[name] = step

    def leave_attempts_before(self) -> Optional[str]:
        """
        Where most names went back to an earlier step, the run began again there: what stood behind that, and did not come
        again, is of a path that was left. Where few did, numbers came late, as of evaluations next to training. In words.
        """
        many = [name for name, series in self.series.items() if len(series) > 1]
        if 2 * len(self.left) <= len(many):
            late = [(name, step) for name, step in self.newest.items() if step < max(self.series[name])]
            return f"'{late[0][0]}' ends at step {late[0][1]}, and has numbers behind that" if late else None
        left = 0
        for name, steps in self.left.items():
            left += len(steps)
            for step in steps:
                del self.series[name][step]
        if not left:
            return None
        name, steps = next((name, steps) for name, steps in self.left.items() if steps)
        back = min(steps.values())
        return f"'{name}' went back to step {back}: {counted(left, 'number')} of an attempt before {'is' if left == 1 else 'are'} left out"

    def know(self, **facts: str) -> None:
        """What else is known of it; an empty text is nothing."""
        self.origin.update({key: fact for key, fact in facts.items() if fact})


@dataclass
class Request:
    """What the user asks for."""

    kind: str
    place: pathlib.Path
    splits: List[List[str]]
    units: List[List[str]]
    seed: str
    data: str
    name: str
    run: str
    step: str
    settings: List[str]
    without: List[str]


def request_of(asked: Dict[str, Any]) -> Request:
    """The request of the first line."""
    words: Dict[str, List[str]] = asked["options"]

    def last(name: str) -> str:
        return words[name][-1] if words.get(name) else ""

    def pairs(name: str, what: str) -> List[List[str]]:
        for word in words.get(name, []):
            if not all(word.partition("=")):
                raise ImportProblem(f"--{name} {word}: write --{name} {what}", usage=True)
        return [list(word.partition("=")[::2]) for word in words.get(name, [])]

    return Request(
        kind=asked["kind"],
        place=pathlib.Path(asked["place"]),
        splits=pairs("split", "NAME=PATTERN"),
        units=pairs("unit", "PATTERN=UNIT"),
        seed=last("seed"),
        data=last("data"),
        name=last("name"),
        run=last("run"),
        step=last("step"),
        settings=[name.strip() for word in words.get("settings", []) for name in word.split(",")],
        without=words.get("without", []),
    )


def library(name: str, package: str, kind: str) -> Any:
    """A module of another package. Raises ImportProblem that says which one is missing."""
    try:
        return importlib.import_module(name)
    except Exception as error:  # a broken installation is as good as none
        text = f"runs of {kind} are read by its own library: {sys.executable} cannot import {name}: {error}"
        raise ImportProblem(text.splitlines()[0], package) from None


def number_of(value: Any) -> Optional[float]:
    """A number, also as some trackers write those that JSON does not have; None for anything else."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, (int, float)):
        return float(value)
    return NOT_FINITE.get(value.lower()) if isinstance(value, str) else None


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def matches(pattern: str, name: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern)


def value_of_text(text: str) -> Any:
    """A setting that was kept as text: a whole or real number as programs write them (1.10 may be a version), a truth value, or the text."""
    if text in ("True", "true", "False", "false"):
        return text in ("True", "true")
    if not NUMBER.fullmatch(text):
        return text
    if re.fullmatch(r"-?\d+", text):
        return int(text) if abs(int(text)) < 2**63 else text
    is_written_so = not re.search(r"\.\d*[^.]0$", text)
    return float(text) if is_written_so and math.isfinite(float(text)) else text


def flat(value: Any, prefix: str = "") -> Dict[str, Any]:
    """Nested maps as dotted keys."""
    if not isinstance(value, dict) or (prefix and not value):
        return {prefix: value} if prefix else {}
    found: Dict[str, Any] = {}
    for key, item in value.items():
        found.update(flat(item, f"{prefix}.{key}" if prefix else str(key)))
    return found


def key_of(theirs: str) -> str:
    """A setting's name as columns may have it."""
    return re.sub(r"[^\w.-]+", "_", theirs.replace("/", "."), flags=re.ASCII).strip(".") or "_"


def seconds_of(text: Any) -> Optional[float]:
    """Seconds since 1970 of a date in ISO 8601, which is UTC unless it says otherwise."""
    if isinstance(text, datetime.datetime):
        date = text
    else:
        try:
            date = datetime.datetime.fromisoformat(str(text).replace("Z", "+00:00"))
        except ValueError:
            return None
    return (date if date.tzinfo else date.replace(tzinfo=datetime.timezone.utc)).timestamp()


def files_below(place: pathlib.Path, patterns: Sequence[str]) -> List[pathlib.Path]:
    """The file, or the files below the folder that match."""
    if place.is_file():
        return [place]
    return sorted(file for pattern in patterns for file in place.rglob(pattern) if file.is_file())


class Grouped:
    """Rows in the order of their first value, asked for group by group in that order."""

    def __init__(self, rows: Iterable[Any]) -> None:
        self._rows = iter(rows)
        self._next: Any = next(self._rows, None)

    def of(self, name: str) -> Iterator[Any]:
        while self._next is not None and self._next[0] <= name:
            row, self._next = self._next, next(self._rows, None)
            if row[0] == name:
                yield row


def open_database(file: pathlib.Path) -> sqlite3.Connection:
    """An SQLite file, for reading. Raises ImportProblem for another one."""
    connection = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        raise ImportProblem(f"{file} cannot be read as SQLite: {error}") from None
    connection.row_factory = sqlite3.Row
    return connection


def has_columns(database: sqlite3.Connection, table: str, columns: Sequence[str]) -> bool:
    return set(columns) <= {row["name"] for row in database.execute(f"PRAGMA table_info({table})")}


# Weights & Biases: offline runs are logs of records, as LevelDB writes them, of which each is a message of protobuf.

_BLOCK = 32768


def records_of_log(content: bytes) -> Iterator[bytes]:
    """The records of a LevelDB log behind its seven bytes of W&B's. What a kill cut off ends it."""
    place, part = 7, b""
    while place + 7 <= len(content):
        if _BLOCK - place % _BLOCK < 7:
            place += _BLOCK - place % _BLOCK
            continue
        _, length, kind = struct.unpack_from("<IHB", content, place)
        piece = content[place + 7 : place + 7 + length]
        place += 7 + length
        if len(piece) < length or kind not in (1, 2, 3, 4):
            return
        part = piece if kind in (1, 2) else part + piece
        if kind in (1, 4):  # whole, or the last of several
            yield part


class LoggedRows:
    """The numbers of a run as its script logged them, together. The step of one of them is what --step says, or else the number
    that the run itself names as its step; a row without that belongs to its last one. Without either, or where that is no
    whole number, the tracker's own count is the step."""

    def __init__(self, asked: str) -> None:
        self._asked = asked
        self._names: Dict[str, str] = {}  # of steps by pattern, the newest first
        self._rows: List[Tuple[int, Dict[str, Any]]] = []

    def define(self, pattern: str, step: str) -> None:
        self._names = {pattern: step, **{key: value for key, value in self._names.items() if key != pattern}}

    def row(self, values: Dict[str, Any], own: int) -> None:
        self._rows.append((own, values))

    def add_to(self, run: ForeignRun) -> None:
        unfit = {"": 0.0}
        known = {self._asked, *self._names.values()} - {""}
        found = set()
        for _, values in self._rows:
            for name in known.intersection(values):
                number = number_of(values[name])
                if number is not None:
                    found.add(name)
                    if number != int(number):
                        unfit.setdefault(name, number)
        if self._asked and self._asked not in found and self._rows:
            raise ImportProblem(f"--step: the run '{run.name or run.id}' has no numbers '{self._asked}'", usage=True)
        for name in sorted(unfit)[1:]:
            run.doubts.append(f"'{name}' is {unfit[name]}, no whole number, so the tracker's own counts are the steps")
        last: Dict[str, int] = {}
        for own, values in self._rows:
            last.update({name: int(number) for name in found - set(unfit) for number in [number_of(values.get(name))] if number is not None})
            for name, value in values.items():
                if not name.startswith("_"):
                    run.add(name, last.get(self._name_for(name), own), value)

    def _name_for(self, name: str) -> str:
        if self._asked or name in self._names:
            return self._asked or self._names[name]
        return next((step for pattern, step in self._names.items() if matches(pattern, name)), "")


def wandb_runs(request: Request) -> Iterator[ForeignRun]:
    messages = library("wandb.proto.wandb_internal_pb2", "wandb", "wandb")
    by_id: Dict[str, ForeignRun] = {}
    for file in files_below(request.place, ["*.wandb"]):
        content = file.read_bytes()
        if content[:4] != b":W&B":
            raise ImportProblem(f"{file} is no run of wandb: it does not begin with :W&B")
        run = ForeignRun(id="", state="preempted", seen=file.stat().st_mtime)
        summary: Dict[str, Any] = {}
        rows = LoggedRows(request.step)
        for text in records_of_log(content):
            record = messages.Record()
            record.ParseFromString(text)
            _add_wandb_record(run, record, summary, rows)
        if not run.id:
            raise ImportProblem(f"{file} is no run of wandb: it does not say which run it is\nif it was killed at its start, move its folder away")
        rows.add_to(run)
        if run.state != "preempted":
            numbers = {name: number_of(value) for name, value in summary.items() if name not in run.series}
            run.summary = {name: value for name, value in numbers.items() if value is not None and not name.startswith("_")}
        if run.id in by_id:  # a resumed run has a file for each part
            run = _joined(by_id[run.id], run)
        by_id[run.id] = run
    yield from by_id.values()


def _joined(first: ForeignRun, later: ForeignRun) -> ForeignRun:
    """A resumed run: of each name the later part takes the place of the first from its beginning on."""
    for name, series in first.series.items():
        own = later.series.get(name, {})
        begin = min(own, default=math.inf)
        left = [step for step in series if step >= begin and step not in own]
        if left:
            later.doubts.append(f"'{name}' went back to step {begin:g}: {counted(len(left), 'number')} of the part before left out")
        later.series[name] = {**{step: value for step, value in series.items() if step < begin}, **own}
    later.settings = {**first.settings, **later.settings}
    later.summary = {**first.summary, **later.summary}
    later.created, later.name = first.created, later.name or first.name
    return later


def _add_wandb_record(run: ForeignRun, record: Any, summary: Dict[str, Any], rows: LoggedRows) -> None:
    kind = record.WhichOneof("record_type")
    if kind == "run":
        run.id = f"{record.run.project}/{record.run.run_id}"
        run.project, run.name, run.note = record.run.project, record.run.display_name, record.run.notes
        run.tags = list(record.run.tags)
        run.created = record.run.start_time.seconds + record.run.start_time.nanos / 1e9
        run.know(host=record.run.host, group=record.run.run_group, code=record.run.git.commit)
        _add_wandb_settings(run, record.run.config)
    elif kind == "config":
        _add_wandb_settings(run, record.config)
    elif kind == "environment":
        run.know(program=record.environment.code_path or record.environment.program, host=record.environment.host)
    elif kind == "history":
        values = {".".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item}
        rows.row(flat(values), int(values.get("_step", record.history.step.num)))
        run.ended = max(run.ended or 0, float(values.get("_timestamp", 0))) or None
    elif kind == "metric" and record.metric.step_metric:
        rows.define(record.metric.name or record.metric.glob_name, record.metric.step_metric)
    elif kind == "summary":
        summary.update({".".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.summary.update})
    elif kind == "exit":
        run.state = "done" if record.exit.exit_code == 0 else "failed"
        run.reason = "" if record.exit.exit_code == 0 else f"exit code {record.exit.exit_code}"
        if record.exit.runtime and run.created:
            run.ended = max(run.ended or 0, run.created + record.exit.runtime)


def _add_wandb_settings(run: ForeignRun, config: Any) -> None:
    for item in config.update:
        key = ".".join(item.nested_key) or item.key
        if not key.startswith("_wandb"):
            run.settings.update(flat(json.loads(item.value_json), key) or {key: None})


# MLflow: its SQLite store, and the files of `mlruns`.

_MLFLOW_STATES = {"FINISHED": "done", "FAILED": "failed", "KILLED": "failed", "3": "done", "4": "failed", "5": "failed"}
_MLFLOW_LARGEST = 1.79e308  # stands for infinity in its SQLite stores


def _mlflow_run(run_id: str, name: str, project: str, status: str) -> ForeignRun:
    state = _MLFLOW_STATES.get(status, "preempted")
    return ForeignRun(run_id, project, name, state, "killed" if status in ("KILLED", "5") else "")


def _add_mlflow_tags(run: ForeignRun, tags: Dict[str, str]) -> None:
    run.note = tags.pop("mlflow.note.content", "")
    run.name = run.name or tags.get("mlflow.runName", "")
    run.know(code=tags.get("mlflow.source.git.commit", ""), program=tags.get("mlflow.source.name", ""))
    run.know(user=tags.get("mlflow.user", ""), parent=tags.get("mlflow.parentRunId", ""))
    run.settings.update({f"tag.{key}": value_of_text(value) for key, value in tags.items() if not key.startswith("mlflow.")})


_MLFLOW_DATA = """
SELECT i.destination_id, d.name, d.digest, t.value FROM inputs i JOIN datasets d ON d.dataset_uuid = i.source_id
LEFT JOIN input_tags t ON t.input_uuid = i.input_uuid AND t.name = 'mlflow.data.context' ORDER BY i.destination_id, d.name, d.digest"""


def _add_mlflow_data(run: ForeignRun, inputs: Iterable[Tuple[str, str, Optional[str]]]) -> None:
    """Data are a setting: runs of other data are no seeds of one another."""
    found: Dict[str, List[str]] = {}
    for name, digest, context in inputs:
        found.setdefault(f"dataset.{context}" if context else "dataset", []).append(f"{name}@{digest}")
    run.settings.update({key: ", ".join(texts) for key, texts in found.items()})


def mlflow_runs(request: Request) -> Iterator[ForeignRun]:
    place = request.place
    if place.is_dir() and (place / "mlruns").is_dir() and not list(place.glob("*.db")):
        place = place / "mlruns"
    if place.is_dir() and not list(place.glob("*.db")):
        yield from _mlflow_files(place)
        return
    for file in [place] if place.is_file() else sorted(place.glob("*.db")):
        yield from _mlflow_database(file)


def _mlflow_database(file: pathlib.Path) -> Iterator[ForeignRun]:
    database = open_database(file)
    if not has_columns(database, "metrics", ["key", "value", "timestamp", "run_uuid", "step", "is_nan"]):
        raise ImportProblem(f"{file} is no store of mlflow: it has no table metrics with keys, values, steps and run_uuid")
    # One walk over each table in the order of runs: its indices differ from version to version.
    numbers = Grouped(
        database.execute("SELECT run_uuid, key, step, value, is_nan FROM metrics ORDER BY run_uuid, key, timestamp, step, value")
    )
    params = Grouped(database.execute("SELECT run_uuid, key, value FROM params ORDER BY run_uuid"))
    tags = Grouped(database.execute("SELECT run_uuid, key, value FROM tags ORDER BY run_uuid"))
    data = Grouped(database.execute(_MLFLOW_DATA) if has_columns(database, "inputs", ["source_id", "destination_id"]) else ())
    experiments = {row["experiment_id"]: row for row in database.execute("SELECT * FROM experiments")}
    for row in database.execute("SELECT * FROM runs ORDER BY run_uuid").fetchall():
        experiment = experiments.get(row["experiment_id"])
        if row["lifecycle_stage"] == "deleted" or (experiment and experiment["lifecycle_stage"] == "deleted"):
            continue
        run = _mlflow_run(row["run_uuid"], row["name"] or "", experiment["name"] if experiment else "", row["status"])
        run.created = row["start_time"] / 1e3 if row["start_time"] else None
        run.ended = row["end_time"] / 1e3 if row["end_time"] else None
        run.seen = file.stat().st_mtime
        run.settings = {key: value_of_text(value) for _, key, value in params.of(run.id)}
        _add_mlflow_tags(run, {key: value for _, key, value in tags.of(run.id)})
        _add_mlflow_data(run, ((name, digest, context) for _, name, digest, context in data.of(run.id)))
        for _, key, step, value, is_nan in numbers.of(run.id):
            if abs(value) > _MLFLOW_LARGEST:
                value = math.copysign(math.inf, value)
            run.add(key, int(step), math.nan if is_nan else value)
        yield run


def _mlflow_files(place: pathlib.Path) -> Iterator[ForeignRun]:
    for experiment in sorted(place.iterdir()):
        if not (experiment / "meta.yaml").is_file() or experiment.name == ".trash":
            continue
        about = _plain_yaml(experiment / "meta.yaml")
        for folder in sorted(experiment.iterdir()):
            meta = _plain_yaml(folder / "meta.yaml") if (folder / "meta.yaml").is_file() else {}
            if "run_id" not in meta or "deleted" in (meta.get("lifecycle_stage"), about.get("lifecycle_stage")):
                continue
            run = _mlflow_run(meta["run_id"], meta.get("run_name", ""), about.get("name", ""), meta.get("status", ""))
            run.created = _milliseconds(meta.get("start_time"))
            run.ended = _milliseconds(meta.get("end_time"))
            run.seen = (folder / "meta.yaml").stat().st_mtime
            run.settings = {key: value_of_text(text) for key, text in _texts_below(folder / "params").items()}
            _add_mlflow_tags(run, _texts_below(folder / "tags"))
            inputs = [_plain_yaml(file).get("source_id", "") for file in sorted(folder.glob("inputs/*/meta.yaml"))]
            data = [_plain_yaml(file) for file in (experiment / "datasets" / each / "meta.yaml" for each in inputs) if file.is_file()]
            _add_mlflow_data(run, ((each.get("name", ""), each.get("digest", ""), None) for each in data))
            for key, text in _texts_below(folder / "metrics").items():
                lines = [line.split() for line in text.splitlines() if len(line.split()) >= 2]
                for when, value, *step in sorted(lines, key=lambda words: int(words[0])):
                    run.add(key, int(step[0]) if step else 0, float(value))
            yield run


def _milliseconds(text: Optional[str]) -> Optional[float]:
    return int(text) / 1e3 if text and text.isdigit() else None


def _texts_below(folder: pathlib.Path) -> Dict[str, str]:
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()] if folder.is_dir() else []
    return {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in files}


def _plain_yaml(file: pathlib.Path) -> Dict[str, str]:
    """The lines KEY: VALUE of a file that mlflow wrote; they are not nested."""
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        key, sign, value = line.partition(": ")
        if sign and not key.startswith((" ", "-", "#")):
            value = value.strip()
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
            found[key] = value[1:-1].replace("''", "'") if quoted else "" if value == "null" else value
    return found


# Trackio: an SQLite file for each project.

_TRANSFORMERS_STEP = "train/global_step"  # with it transformers logs; Trackio itself counts calls


def trackio_runs(request: Request) -> Iterator[ForeignRun]:
    for file in files_below(request.place, ["*.db"]):
        database = open_database(file)
        if not has_columns(database, "metrics", ["timestamp", "run_name", "step", "metrics"]):
            raise ImportProblem(f"{file} is no project of trackio: it has no table metrics with run_name, step and metrics")
        by_id = "run_id" if has_columns(database, "metrics", ["run_id"]) else "run_name"
        configs = {}
        if has_columns(database, "configs", ["run_name", "config"]):
            key = by_id if has_columns(database, "configs", [by_id]) else "run_name"
            configs = {row[key]: json.loads(row["config"]) for row in database.execute("SELECT * FROM configs ORDER BY id")}
        runs: Dict[str, ForeignRun] = {}
        rows: Dict[str, LoggedRows] = {}
        for row in database.execute("SELECT * FROM metrics ORDER BY id"):
            run = runs.get(row[by_id])
            values = flat(json.loads(row["metrics"]))
            if run is None:
                rows[row[by_id]] = LoggedRows(request.step or (_TRANSFORMERS_STEP if _TRANSFORMERS_STEP in values else ""))
                run = ForeignRun(f"{file.stem}/{row[by_id]}", file.stem, row["run_name"], seen=file.stat().st_mtime)
                _add_trackio_settings(run, configs.get(row[by_id], {}))
                runs[row[by_id]] = run
            when = seconds_of(row["timestamp"])
            run.created = run.created or when
            run.ended = max(run.ended or 0, when or 0) or None
            rows[row[by_id]].row(values, int(row["step"]))
        for key, run in runs.items():
            rows[key].add_to(run)
            yield run


def _add_trackio_settings(run: ForeignRun, config: Dict[str, Any]) -> None:
    run.created = seconds_of(config.get("_Created")) if config.get("_Created") else None
    run.know(user=config.get("_Username") or "", group=config.get("_Group") or "")
    run.settings = flat({key: value for key, value in config.items() if not key.startswith("_")})


# TensorBoard: a folder with event files is a run, or a part of the run of the folder above it.

_SPLIT_FOLDERS = ("train", "training", "val", "valid", "validation", "eval", "evaluation", "dev", "test")


def tensorboard_runs(request: Request) -> Iterator[ForeignRun]:
    events = library("tensorboard.backend.event_processing.event_accumulator", "tensorboard", "tensorboard")
    arrays = library("tensorboard.util.tensor_util", "tensorboard", "tensorboard")
    place = request.place if request.place.is_dir() else request.place.parent
    folders = {file.parent for file in files_below(request.place, ["*tfevents*"])}
    runs: Dict[pathlib.Path, ForeignRun] = {}
    for folder in sorted(folders):
        read = events.EventAccumulator(str(folder), size_guidance={events.SCALARS: 0, events.TENSORS: 0})
        read.Reload()
        tags = read.Tags()
        tensors = [tag for tag in tags["tensors"] if read.SummaryMetadata(tag).plugin_data.plugin_name == "scalars"]
        part = None if folder == place else _name_of_part(folder, folder.parent in folders, [*tags["scalars"], *tensors])
        before, behind = part or ("", "")
        of_run = folder if part is None else folder.parent
        inside = of_run.relative_to(place).as_posix()
        run = runs.setdefault(of_run, ForeignRun(place.name if inside == "." else f"{place.name}/{inside}", place.name, inside))
        run.seen = max(run.seen, *(file.stat().st_mtime for file in folder.glob("*tfevents*")))
        times = []
        for tag in tags["scalars"]:
            for event in read.Scalars(tag):
                run.add(f"{before}{tag}{behind}", int(event.step), event.value)
                times.append(event.wall_time)
        for tag in tensors:
            for event in read.Tensors(tag):
                run.add(f"{before}{tag}{behind}", int(event.step), arrays.make_ndarray(event.tensor_proto).item())
                times.append(event.wall_time)
        if times:
            run.created, run.ended = min(run.created or times[0], *times), max(run.ended or 0, *times)
        _add_hparams(run, read)
    yield from runs.values()


def _name_of_part(folder: pathlib.Path, is_above: bool, tags: Sequence[str]) -> Optional[Tuple[str, str]]:
    """
    What stands before and behind the tags of a folder that is a part of the run above: Keras writes a folder for each split,
    add_scalars one for each key, add_hparams one that is called by the time. None: it is a run itself.
    """
    if folder.name.lower() in _SPLIT_FOLDERS:
        return f"{folder.name}/", ""
    if is_above and re.fullmatch(r"\d{9,}\.\d+", folder.name):
        return "", ""
    begins = {f"{tag.replace('/', '_')}_" for tag in tags}
    begin = begins.pop() if len(begins) == 1 else ""
    if is_above and begin and folder.name.startswith(begin):
        key = folder.name[len(begin) :]
        return (f"{key}/", "") if key.lower() in _SPLIT_FOLDERS else ("", f"_{key}")
    return None


def _add_hparams(run: ForeignRun, read: Any) -> None:
    try:
        content = read.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    except KeyError:
        return
    data = library("tensorboard.plugins.hparams.plugin_data_pb2", "tensorboard", "tensorboard").HParamsPluginData()
    data.ParseFromString(content)
    for key, value in data.session_start_info.hparams.items():
        kind = value.WhichOneof("kind")
        number = getattr(value, kind) if kind else None
        is_whole = isinstance(number, float) and number.is_integer() and abs(number) < 2**53
        run.settings[key] = int(number) if is_whole and number is not None else number


# CSV and JSON lines: a file is a run, or a column names it.


def csv_runs(request: Request) -> Iterator[ForeignRun]:
    for file in files_below(request.place, ["*.csv"]):
        with file.open("rb") as packed:
            if packed.read(2) == b"\x1f\x8b":
                raise ImportProblem(f"{file} is packed with gzip\nunpack it first")
        with file.open(encoding="utf-8-sig", newline="") as lines:
            first = lines.readline()
            lines.seek(0)
            rows = csv.DictReader(lines, delimiter=_separator_of(first))
            names = rows.fieldnames = [name.strip().lstrip("# ") for name in rows.fieldnames or ()]
            twice = next((name for name in names if name and names.count(name) > 1), None)
            if twice:
                raise ImportProblem(f"{file} has two columns '{twice}'")
            short = []
            try:
                known = []
                for row in rows:
                    if None in row.values():
                        short.append(rows.line_num)
                    known.append(_csv_row(file, rows.line_num, row))
            except csv.Error as error:
                raise ImportProblem(f"{file}, line {rows.line_num}: {error}") from None
        for run in _runs_of_rows(file, known, request):
            if short:
                what = f"{counted(len(short), 'row')} of {file.name}, the first in line {short[0]},"
                run.doubts.append(f"{what} {'has' if len(short) == 1 else 'have'} fewer cells than the first line has names")
            yield run


def _separator_of(header: str) -> str:
    """A tab, which no name has, or else what stands more often between names; names in quotes may hold it."""
    between = re.sub(r'"[^"]*"', "", header)
    return "\t" if "\t" in between else max(",;", key=between.count)


def _csv_row(file: pathlib.Path, line: int, row: Dict[Optional[str], Any]) -> Dict[str, Any]:
    """The cells of a row that hold something. Raises ImportProblem if there are more of them than names."""
    more = row.pop(None, [])
    if any(more):
        found = f"{file}, line {line}: the row has {len(row) + len(more)} cells, and the first line has {len(row)} names"
        remedy = "write numbers with a point, and a cell that has a comma in quotes"
        raise ImportProblem(f"{found}\n{'leave out lines before the one with the names' if len(row) == 1 else remedy}")
    return {key: _cell(text) for key, text in row.items() if key and text not in (None, "")}


def _cell(text: str) -> Any:
    number = NOT_FINITE.get(text.strip().lower())
    if number is not None:
        return number
    value = value_of_text(text.strip())
    if isinstance(value, str):
        try:
            return float(value)  # "1.", "+3", "1e5"
        except ValueError:
            return text
    return value


def jsonl_runs(request: Request) -> Iterator[ForeignRun]:
    for file in files_below(request.place, ["*.jsonl", "*.ndjson"]):
        known = []
        with file.open(encoding="utf-8") as lines:
            for place, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except ValueError as error:
                    if line.endswith("\n"):
                        raise ImportProblem(f"{file}, line {place}: no JSON: {error}") from None
                    continue  # a line that a kill cut off
                if not isinstance(row, dict):
                    raise ImportProblem(f"{file}, line {place}: no JSON object")
                known.append({key: _not_finite(value) for key, value in flat(row).items() if value is not None})
        yield from _runs_of_rows(file, known, request)


def _not_finite(value: Any) -> Any:
    return NOT_FINITE.get(value.lower(), value) if isinstance(value, str) else value


def _runs_of_rows(file: pathlib.Path, rows: List[Dict[str, Any]], request: Request) -> Iterator[ForeignRun]:
    project = file.stem if request.run or request.place.is_file() else request.place.name
    own = file.stem if request.place.is_file() else file.relative_to(request.place).with_suffix("").as_posix()
    groups: Dict[str, List[Dict[str, Any]]] = {}
    for place, row in enumerate(rows, 1):
        if request.run and request.run not in row:
            columns = ", ".join(row)
            raise ImportProblem(f"{file}, row {place}: no column '{request.run}' that names the run; there are {columns}")
        groups.setdefault(str(row[request.run]) if request.run else own, []).append(row)
    known = {column for row in rows for column in row}
    for name in request.settings:
        if name and name not in known:
            raise ImportProblem(f"{file} has no column '{name}' for --settings; there are {', '.join(known)}", usage=True)
    for name, of_run in groups.items():
        run = ForeignRun(f"{request.name or project}/{name}", project, name, seen=file.stat().st_mtime)
        if name == own != file.stem and not request.run:
            run.formerly = f"{request.name or project}/{file.stem}"
        _add_rows(run, of_run, request)
        yield run


def _add_rows(run: ForeignRun, rows: List[Dict[str, Any]], request: Request) -> None:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    if any(name.endswith("__MIN") for name in columns):
        what = f"{run.project} is a chart that W&B's page exports, whose columns are runs"
        raise ImportProblem(f"{what}\nexport the table of runs there, or import the folder wandb/")
    step_name = request.step or next((column for name in STEP_NAMES for column in columns if column.lower() == name), "")
    if not step_name:
        run.doubts.extend(_taken_for_no_step(rows, columns))
    of_splits = all(isinstance(row.get("split"), str) for row in rows)
    places = [(row["split"] if of_splits else "", _step_in(row, step_name, place)) for place, row in enumerate(rows, 1)]
    steps = [step for _, step in places]
    if len(set(steps)) > 2 and steps == sorted(steps, reverse=True):  # a table that is sorted by newest, not a run that goes back
        rows, places = rows[::-1], places[::-1]
    run.repeated_steps += len(places) - len(set(places))
    for name in columns:
        if name in (step_name, request.run, "split" if of_splits else None):
            continue
        values = [row[name] for row in rows if name in row]
        is_named = name in request.settings or name == request.seed
        numbers = {} if is_named else _numbers_of_column(run, name, rows)
        is_setting = not numbers
        if is_setting and all(value == values[0] for value in values):
            run.settings[name] = values[0]
        elif is_named:
            different = ", ".join(sorted({str(value) for value in values})[:3])
            found = f"the run '{run.name}' has several values of the setting '{name}': {different}"
            raise ImportProblem(f"{found}\n--run names a column that tells runs apart", usage=True)
        elif is_setting:
            if not step_name and not all(_TIME.match(str(value)) for value in values):
                shown = ", ".join(dict.fromkeys(str(value) for value in values[:3]))
                rest = ", …" if len(values) > 3 else ""
                run.doubts.append(
                    f"its rows differ in '{name}' ({shown}{rest}), and the number of the last counts; "
                    "give each a column, or --run a column that tells them apart"
                )
        else:
            is_summary = not step_name and len(rows) == 1
            for place, number in numbers.items():
                split, step = places[place]
                theirs = f"{split}/{name}" if split else name
                if is_summary:
                    run.summary[theirs] = number
                else:
                    run.add(theirs, step, number)
    for name in ("State", "state", "Status", "status"):
        word = str(run.settings.get(name, ""))
        if word.lower() in _TABLE_STATES:
            run.state = _TABLE_STATES[word.lower()]
            run.reason = f"its state was {word}" if run.state == "failed" else ""
            if name not in request.settings:
                del run.settings[name]
                run.no_settings.append(name)


_TIME = re.compile(r"\d{1,4}[-:/.]\d\d")  # how a time begins, which differs from row to row


def _taken_for_no_step(rows: List[Dict[str, Any]], columns: List[str]) -> Iterator[str]:
    """What to say of columns that rise as a step does, and are called nearly so."""
    for name in columns:
        last = re.split(r"[/.]", name.lower())[-1].replace(" ", "_")
        values = [value for value in (row.get(name) for row in rows) if isinstance(value, int)]
        rises = len(values) == len(rows) > 1 and values == sorted(set(values))
        if rises and last.endswith(STEP_NAMES):
            yield f"'{name}' rises as a step does, and the rows are counted instead; --step '{name}' takes it"
            return


# Of tables of runs that pages of W&B and MLflow export.
_TABLE_STATES = {"finished": "done", "crashed": "failed", "failed": "failed", "killed": "failed", "running": "preempted",
                 "queued": "preempted", "pending": "preempted", "preempting": "preempted", "preempted": "preempted"}  # fmt: skip


def _numbers_of_column(run: ForeignRun, name: str, rows: List[Dict[str, Any]]) -> Dict[int, float]:
    """The numbers of a column by row, if most of its cells are numbers; what is none among them is said. Else it is a setting."""
    numbers: Dict[int, float] = {}
    texts = []
    for place, row in enumerate(rows):
        cell = row.get(name)
        value = _cell(cell) if isinstance(cell, str) else cell
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            numbers[place] = float(value)
        elif cell not in MISSING and cell is not None:
            texts.append(cell)
    if not numbers or len(texts) >= len(numbers) or (len(rows) == 1 and isinstance(rows[0][name], str)):
        if numbers and texts:
            run.doubts.append(f"'{name}' is left out: {len(texts)} of its {counted(len(texts) + len(numbers), 'cell')} are no numbers ('{texts[0]}')")
        return {}
    if texts:
        run.doubts.append(f"{counted(len(texts), 'cell')} of '{name}' {'is' if len(texts) == 1 else 'are'} no number ('{texts[0]}'): left out")
    return numbers


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _step_in(row: Dict[str, Any], name: str, place: int) -> int:
    step = row.get(name, place) if name else place
    if not _is_number(step) or step != int(step):
        raise ImportProblem(f"row {place}: the step is {step!r}, no whole number; --step names the column with it")
    return int(step)


# Neptune's export: rows of one attribute of one run in Parquet.


def neptune_runs(request: Request) -> Iterator[ForeignRun]:
    parquet = library("pyarrow.parquet", "pyarrow", "neptune")
    runs: Dict[Tuple[str, str], ForeignRun] = {}
    points: Dict[Tuple[str, str], Dict[str, List[Tuple[float, float]]]] = {}
    for file in files_below(request.place, ["*.parquet"]):
        try:
            table = parquet.read_table(file, partitioning=None)
        except Exception as error:  # of any of its classes
            raise ImportProblem(f"{file} cannot be read as Parquet: {error}") from None
        wanted = {"project_id", "run_id", "attribute_path", "attribute_type", "step", "float_value"}
        if not wanted <= set(table.column_names):
            lacking = ", ".join(sorted(wanted - set(table.column_names)))
            raise ImportProblem(f"{file} is no export of neptune-exporter: it has no columns {lacking}")
        for batch in table.to_batches():
            for row in batch.to_pylist():
                key = (row["project_id"], row["run_id"])
                run = runs.get(key)
                if run is None:
                    project = str(row["project_id"]).rsplit("/", 1)[-1]
                    run = runs[key] = ForeignRun(f"{row['project_id']}/{row['run_id']}", project, row["run_id"])
                    run.seen = file.stat().st_mtime
                if row["attribute_type"] != "float_series":
                    _add_neptune_row(run, row)
                elif row["step"] is not None:
                    points.setdefault(key, {}).setdefault(row["attribute_path"], []).append((float(row["step"]), row["float_value"]))
    for key, run in runs.items():
        if run.settings.pop("sys/trashed", False):
            continue
        for path, of_path in points.get(key, {}).items():
            unfit = next((step for step, _ in of_path if step != int(step)), None)
            if unfit is not None:
                run.doubts.append(f"'{path}' has the step {unfit:g}, no whole number, so its points are counted instead")
                of_path = [(place, value) for place, (_, value) in enumerate(sorted(of_path, key=lambda point: point[0]), 1)]
            for step, value in of_path:
                run.add(path, int(step), value)
        yield run


def _add_neptune_row(run: ForeignRun, row: Dict[str, Any]) -> None:
    path, kind = row["attribute_path"], row["attribute_type"]
    columns = {"int": "int_value", "float": "float_value", "string": "string_value", "bool": "bool_value"}
    columns.update(datetime="datetime_value", string_set="string_set_value")
    value = row.get(columns.get(kind, ""))
    if value is None:
        return
    if path == "sys/creation_time":
        run.created = seconds_of(value)
    elif path in ("sys/modification_time", "sys/ping_time"):
        run.ended = max(run.ended or 0, seconds_of(value) or 0)
    elif path == "sys/name":
        run.name = value
    elif path == "sys/description":
        run.note = value
    elif path == "sys/tags":
        run.tags = sorted(value)
    elif path == "sys/failed":
        run.state = "failed" if value else run.state
    elif path == "sys/owner":
        run.origin["user"] = value
    elif path == "sys/hostname":
        run.origin["host"] = value
    elif path == "source_code/git/commit_id" or path.endswith("git/commit"):
        run.origin["code"] = value
    elif path == "sys/trashed":
        run.settings[path] = value
    elif not path.startswith(("sys/", "monitoring/", "source_code/")):
        run.settings[path] = value if kind != "datetime" else str(value)
        if kind == "float":
            run.summary[path] = value


# lm-eval: files of results are evaluations of a model.


def lm_eval_runs(request: Request) -> Iterator[ForeignRun]:
    contents = []
    for file in files_below(request.place, ["*.json"]):
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ImportProblem(f"{file} is no JSON: {error}") from None
        if isinstance(content, dict) and isinstance(content.get("results"), dict) and "config" in content:
            contents.append((content.get("date") or file.stat().st_mtime, file, content))
        elif request.place.is_file():
            raise ImportProblem(f"{file} has no results of lm-eval: there are no keys results and config")
    runs: Dict[str, ForeignRun] = {}
    found: Dict[str, Dict[Tuple[str, str, str], float]] = {}
    for date, file, content in sorted(contents, key=lambda each: (each[0], str(each[1]))):
        config = content["config"]
        arguments = config.get("model_args")
        words = flat(arguments) if isinstance(arguments, dict) else dict(_argument_words(arguments or ""))
        name = content.get("model_name") or words.get("pretrained") or config.get("model") or file.stem
        backend = config.get("model")
        parts = [str(name), json.dumps(words, sort_keys=True, default=str), *([] if backend in (None, "hf") else [str(backend)])]
        run_id, formerly = "\n".join(parts), "\n".join(parts[:2])
        run = runs.setdefault(run_id, ForeignRun(run_id, "", str(name).rsplit("/", 1)[-1], created=date, is_part=True))
        run.formerly = formerly if formerly != run_id else ""
        run.ended = run.seen = date
        run.settings = {"model": backend, **{f"model_args.{key}": value for key, value in words.items()}}
        for fact, value in (("code", content.get("git_hash")), ("version", content.get("lm_eval_version"))):
            known = run.origin.get(fact, "")
            if value and str(value) not in known.split(", "):
                run.know(**{fact: f"{known}, {value}" if known else str(value)})
        for task, numbers in content["results"].items():
            for metric, value in numbers.items():
                number = number_of(value) if not isinstance(value, str) else None
                if number is not None and metric not in ("alias", "sample_len"):
                    settings = json.dumps(_lm_eval_settings(content, task, _lm_eval_shots(content, task)), sort_keys=True)
                    numbers_of_run = found.setdefault(run_id, {})
                    key = (task, _lm_eval_name(metric), settings)
                    if numbers_of_run.get(key, number) != number:
                        run.doubts.append(f"{file.name} has another {task}/{key[1]} with the same settings, which counts")
                    numbers_of_run[key] = number
                    is_higher = ((content.get("higher_is_better") or {}).get(task) or {}).get(metric.partition(",")[0])
                    if is_higher is not None:
                        run.better[key[1]] = "higher" if is_higher else "lower"
    for run_id, run in runs.items():
        numbers = found.get(run_id, {})
        versions = {(task, json.loads(settings)["task_version"]) for task, _, settings in numbers}
        several = [task for task, _ in versions]  # a task in it more than once was measured in several versions
        for (task, metric, settings), number in numbers.items():
            kept = json.loads(settings)
            if several.count(task) < 2:
                del kept["task_version"]
            at = {"split": "test", "settings": kept, "final": True, "steps": [0], "values": [number]}
            run.evaluations.append({"name": metric, **at})
        yield run


def _lm_eval_shots(content: Dict[str, Any], task: str) -> int:
    """Of a group they are those of its tasks: some versions name these alone."""
    known = content.get("n-shot") or {}
    if known.get(task) is not None:
        return int(known[task])
    inside = {_lm_eval_shots(content, each) for each in (content.get("group_subtasks") or {}).get(task) or () if each != task}
    return inside.pop() if len(inside) == 1 else int(content["config"].get("num_fewshot") or 0)


def _lm_eval_settings(content: Dict[str, Any], task: str, shots: int) -> Dict[str, Any]:
    """What a number of a task depends on. A template or an instruction is long, so its hash stands for it."""
    config = content["config"]
    settings: Dict[str, Any] = {"data.name": task}
    if shots:
        settings["shots"] = shots
        if config.get("fewshot_seed") not in (None, 1234):  # the seed that lm-eval takes by itself
            settings["fewshot_seed"] = config["fewshot_seed"]
    if config.get("limit"):
        settings["limit"] = config["limit"]
    if config.get("gen_kwargs"):
        settings["gen_kwargs"] = _text_or_hash(json.dumps(config["gen_kwargs"], sort_keys=True).strip('"'))
    for name, own in (("random_seed", 0), ("numpy_seed", 1234), ("torch_seed", 1234)):  # lm-eval's own
        if config.get(name) not in (None, own):
            settings[name] = config[name]
    for name in ("chat_template", "system_instruction"):
        if content.get(name):
            settings[name] = hashlib.sha256(str(content[name]).encode()).hexdigest()[:8]
    settings["task_version"] = (content.get("versions") or {}).get(task)
    return settings


def _text_or_hash(text: str) -> str:
    return text if len(text) <= 40 else hashlib.sha256(text.encode()).hexdigest()[:8]


def _argument_words(text: str) -> Iterable[Tuple[str, Any]]:
    for word in filter(None, text.split(",")):
        key, _, value = word.partition("=")
        yield key, value_of_text(value)


def _lm_eval_name(metric: str) -> str:
    name, _, filtered = metric.partition(",")
    return name if filtered in ("", "none") else f"{name}_{filtered}"


READERS: Dict[str, Callable[[Request], Iterator[ForeignRun]]] = {
    "wandb": wandb_runs,
    "mlflow": mlflow_runs,
    "trackio": trackio_runs,
    "tensorboard": tensorboard_runs,
    "csv": csv_runs,
    "jsonl": jsonl_runs,
    "neptune": neptune_runs,
    "lm-eval": lm_eval_runs,
}


# A run of any tracker as the program takes it.


class Answers:
    """Runs as answers, by what the user asks for."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._without_seed = 0
        self._empty = 0
        self._columns: Dict[str, str] = {}  # of settings, by what they are called there
        self._doubts: List[str] = []
        self._used: Dict[str, bool] = {pattern: False for _, pattern in request.splits}
        self._used.update({pattern: False for pattern, _ in request.units})
        for _, unit in request.units:
            if unit not in UNITS:
                raise ImportProblem(f"--unit: '{unit}' is no unit that is known; there are {', '.join(UNITS)}", usage=True)
        for split, _ in request.splits:
            if split not in ("train", "valid", "test"):
                raise ImportProblem(f"--split: '{split}' is none of train, valid and test", usage=True)

    def lines(self, run: ForeignRun) -> Iterator[Dict[str, Any]]:
        """The answers of one run: its first, and what is left of its numbers."""
        created = run.created or run.ended or run.seen
        status = str(run.settings.pop("xlm_status", ""))  # of a run that `xlm runs export` wrote
        if status:
            run.state = status if status in ("failed", "diverged", "pruned") else "preempted"
        before = run.leave_attempts_before()
        if before:
            run.doubts.append(before)
        numbers = self._numbers(run)
        config = self._config(run)
        self._empty += not numbers
        if run.replaced and run.repeated_steps:
            same = f"{counted(run.repeated_steps, 'row')} had a step that another row has"
            run.doubts.append(f"{same}: of two numbers the later one counts; --step names another column")
        elif run.replaced:
            run.doubts.append(f"{counted(run.replaced, 'number')} had a step that a later one has, which counts")
        self._doubts.extend(f"{run.name}: {doubt}" for doubt in run.doubts)
        reason = run.reason or ("it had not ended when it was imported" if run.state == "preempted" else "")
        answer: Dict[str, Any] = {
            "project": key_of(self._request.name or run.project).lower() if self._request.name or run.project else "",
            "config": config,
            "remarks": self._remarks(run),
            "created": created,
            "ended": max(created, run.ended or 0),
            "state": run.state,
            "reason": "; ".join([*filter(None, [reason]), *(f"warning: {doubt}" for doubt in run.doubts)]),
            "better": run.better,
            "is_part": run.is_part,
            "formerly": run.formerly,
            "no_settings": [f"options.{key_of(name)}" for name in run.no_settings],
        }
        lines: List[Dict[str, Any]] = [answer]
        size = 0
        for each in numbers:
            if size and size + len(each["steps"]) > POINTS_OF_A_LINE:
                lines.append({})
                size = 0
            lines[-1].setdefault("numbers", []).append(each)
            size += len(each["steps"])
        answer.setdefault("numbers", [])
        for line in lines[:-1]:
            line["more"] = True
        yield from lines

    def warnings(self) -> List[str]:
        found = []
        if self._without_seed:
            found.append(f"{counted(self._without_seed, 'run')} without the setting '{self._request.seed}': no seed is known")
        if self._empty:
            found.append(f"{counted(self._empty, 'run')} without numbers")
        found += self._doubts[:_MOST_DOUBTS]
        if len(self._doubts) > _MOST_DOUBTS:
            found.append(f"and {len(self._doubts) - _MOST_DOUBTS} more of these kinds")
        return found + [f"no number is called '{pattern}'" for pattern, used in self._used.items() if not used]

    def _config(self, run: ForeignRun) -> Dict[str, Any]:
        request = self._request
        origin = {"source": request.kind, "id": run.id, "name": run.name}
        if run.created:
            date = datetime.datetime.fromtimestamp(run.created, datetime.timezone.utc)
            origin["time"] = date.strftime("%Y-%m-%dT%H:%M:%SZ")
        for key in ("host", "code", "user", "group", "program", "parent", "version"):
            if run.origin.get(key):
                origin[key] = str(run.origin[key])
        config: Dict[str, Any] = {"imported": origin, "model": {"type": "imported"}}
        options = {}
        for key, value in sorted(run.settings.items(), key=lambda item: item[0] != key_of(item[0])):
            if key == request.seed:
                config["seed"] = value
            elif key in run.summary and self._split(key)[0]:
                run.no_settings.append(key)
            elif value is not None and not self._is_left_out(key):
                options[self._column_of(key, run)] = value if not isinstance(value, float) or math.isfinite(value) else _as_json(value)
        if request.seed and "seed" not in config:
            self._without_seed += 1
        if options:
            config["options"] = options
        if request.data:
            config["data"] = {"name": request.data}
        config["experiment"] = request.name or run.project or request.place.stem
        return config

    def _column_of(self, key: str, run: ForeignRun) -> str:
        """A setting's column, which is no other setting's: of two names that become one, one gets a number."""
        column = key_of(key)
        same = [other for other, known in self._columns.items() if key_of(other) == column and other != key]
        if key not in self._columns:
            self._columns[key] = f"{column}_{len(same) + 1}" if same else column
        if self._columns[key] != column:
            run.doubts.append(f"the settings '{same[0]}' and '{key}' are both called '{column}': '{key}' is '{self._columns[key]}'")
        return self._columns[key]

    @staticmethod
    def _remarks(run: ForeignRun) -> List[Dict[str, Any]]:
        remarks: List[Dict[str, Any]] = []
        for tag in run.tags:
            name = re.sub(r"[^A-Za-z0-9._-]+", "_", tag)
            remarks.append({"type": "remark", "tag": name, "given": True})
        if run.note.strip():
            remarks.append({"type": "remark", "note": " ".join(run.note.split())})
        return remarks

    def _is_left_out(self, name: str) -> bool:
        return any(matches(pattern, name) for pattern in self._request.without)

    def _numbers(self, run: ForeignRun) -> List[Dict[str, Any]]:
        last = max((max(series) for series in run.series.values()), default=0)
        series = dict(run.series)
        for name, value in run.summary.items():  # a number that is a setting, too, is one where the user says so
            if name not in series and (name not in run.settings or self._split(name)[0]):
                series[name] = {last: value}
        numbers = []
        called: Dict[Tuple[str, str], str] = {}
        for name in sorted(series):
            if self._is_left_out(name):
                continue
            factor = self._factor(name)
            points = sorted(series[name].items())
            split, inner = self._split(name)
            other = called.setdefault((split, inner), name)
            if other != name:
                run.doubts.append(f"'{other}' and '{name}' are both called '{split}.{inner}', which is '{other}': a longer --split tells them apart")
                inner = name
            for begin in range(0, len(points), POINTS_OF_A_LINE):
                some = points[begin : begin + POINTS_OF_A_LINE]
                is_end = begin + POINTS_OF_A_LINE >= len(points)
                each: Dict[str, Any] = {"name": inner, "steps": [step for step, _ in some]}
                each["values"] = [_as_json(value * factor if factor != 1.0 else value) for _, value in some]
                if split:
                    each.update(split=split, final=is_end and run.state == "done")
                numbers.append(each)
        for evaluation in run.evaluations:
            if not self._is_left_out(evaluation["name"]):
                factor = self._factor(evaluation["name"])
                numbers.append({**evaluation, "values": [_as_json(value * factor) for value in evaluation["values"]]})
        return numbers

    def _split(self, name: str) -> Tuple[str, str]:
        """The split that the user says, and the name; behind "test/" of a pattern "test/*" that is the rest."""
        for split, pattern in self._request.splits:
            if matches(pattern, name):
                self._used[pattern] = True
                begin = pattern[:-1]
                is_plain = pattern.endswith("*") and not any(sign in begin for sign in "*?[")
                return split, (name[len(begin) :] if is_plain else name) or name
        return "", name

    def _factor(self, name: str) -> float:
        for pattern, unit in self._request.units:
            if matches(pattern, name):
                self._used[pattern] = True
                return UNITS[unit]
        return 1.0


def _as_json(value: float) -> Any:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def answers(line: str) -> Iterator[Dict[str, Any]]:
    """The answers to the first line and to all that follow."""
    try:
        asked = json.loads(line)
        request = request_of(asked)
        made = Answers(request)
        runs = READERS[request.kind](request)
        first = next(runs, None)  # what is missing is said before anything is written
        yield {"ready": True}
        if first is not None:
            yield from made.lines(first)
        for run in runs:
            yield from made.lines(run)
        yield {"warnings": made.warnings()}
    except ImportProblem as problem:
        yield problem.answer
    except (OSError, UnicodeDecodeError, sqlite3.DatabaseError, ValueError, KeyError, TypeError) as error:
        yield {"error": f"{asked['place']} cannot be read as {asked['kind']}: {type(error).__name__}: {error}"}


def main() -> int:
    out, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    made: Optional[Iterator[Dict[str, Any]]] = None
    for line in sys.stdin:
        made = made or answers(line)
        answer: Dict[str, Any] = next(made, {"warnings": []})
        print(json.dumps(answer, default=str, allow_nan=False), file=out, flush=True)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.exit(main())
