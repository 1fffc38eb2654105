"""The run that this process is: what xlm has set, and what the process reports."""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
from typing import Any, Callable, Dict, Iterable, Iterator, Mapping, NoReturn, Optional

from .checkpoints import newest, saving
from .errors import STOPPED, UsageError
from .metrics_file import RESERVED, MetricsFile, checked_split, checked_step, grid_of, newest_step, numbers_of
from .options import Options
from .stop_signal import STOP


class Run:
    """The run that this process is, made by `xlm.run()`.

    config       the resolved configuration, with every default; empty outside of xlm
    options      the options that the run's file or the sweep set, over the defaults of `xlm.run(defaults)`
    seed         the run's seed; 1 outside of xlm
    data         the prepared data folder or file that `data.path` names, absolute; None if the run has none
    folder       the run's folder; outside of xlm the current one
    checkpoints  the folder for what training resumes from; outside of xlm `checkpoints` in the current one
    resuming     whether an earlier part of this run left something to resume from
    inside       whether xlm started this process; otherwise reports are printed
    is_main      whether this process reports: rank 0 of those that torchrun started (the variable RANK), or the only one
    """

    def __init__(
        self,
        *,
        config: Mapping[str, Any],
        defaults: Mapping[str, Any],
        environment: Mapping[str, str],
        write: Callable[[Mapping[str, Any]], None],
        metrics: Optional[pathlib.Path] = None,
        inside: bool,
        every_rank: bool,
    ) -> None:
        self.config = Options(config)
        self.options = Options({**defaults, **_options_of(config)})
        self.seed = _seed_of(environment)
        self.data = pathlib.Path(environment["XLM_DATA"]) if environment.get("XLM_DATA") else None
        self.folder = pathlib.Path(environment.get("XLM_RUN") or pathlib.Path.cwd())
        self.checkpoints = pathlib.Path(environment.get("XLM_CHECKPOINTS") or self.folder / "checkpoints")
        self.resuming = environment.get("XLM_RESUME", "") not in ("", "0")
        self.inside = inside
        self.is_main = every_rank or environment.get("RANK", "0") in ("", "0")
        self._write = write
        self._metrics = metrics

    def log(self, step: Any, /, **values: Any) -> None:
        """Reports quantities of a step, such as `run.log(100, loss=2.1)`.

        step    a whole number from 0; of a step that is reported again the later values count
        values  numbers: ints, floats, scalars and arrays of one element of numpy, torch or jax. NaN and infinities
                become null. Names with dots go by `**{"train.loss": 2.1}`

        Other ranks than 0 report nothing. Raises TypeError for what is no number, ValueError for a name that the store
        cannot keep, OSError if the disk is full.
        """
        if self.is_main:
            self._write({"step": checked_step(step), **numbers_of(values)})

    def evaluation(self, split: str, /, final: bool = False, step: Any = None, **values: Any) -> None:
        """Reports an evaluation of a split, such as `run.evaluation("valid", step=1000, bpc=1.31)`.

        split   train, valid or test
        final   whether it is the run's result: the column `split.NAME` of the store
        step    of the weights; None: the newest that was reported

        Values and errors are those of `log`.
        """
        if self.is_main:
            record: Dict[str, Any] = {} if step is None else {"step": checked_step(step)}
            record["split"] = checked_split(split)
            record.update(numbers_of(values))
            if final:
                record["final"] = True
            self._write(record)

    def costs(self, **values: Any) -> None:
        """Reports what the run costs: `params`, `flops_per_token`, or any other number of the whole run."""
        if self.is_main:
            self._write({"costs": numbers_of(values)})

    def warn(self, text: str) -> None:
        """Says what a reader of the run's numbers must know: lists, tables and claims show it once the run is done."""
        if self.is_main:
            self._write({"warning": text})

    def _last_step(self) -> int:
        """The newest step that this run has reported, in earlier attempts, too; -1 if there is none."""
        return newest_step(self._metrics) if self._metrics else -1

    def grid(
        self, step: Any, name: str, rows: Iterable[Iterable[Any]], columns: Optional[Iterable[int]] = None
    ) -> None:
        """Reports a table of numbers, such as the span of every head: a row for each layer.

        rows     lists (or a 2-d array) of numbers, or None for no number; they may differ in length
        columns  what the columns stand for, whole numbers that rise; None: 1, 2, …
        """
        if self.is_main:
            self._write({"step": checked_step(step), "grid": grid_of(name, rows, columns)})

    def should_stop(self) -> bool:
        """Whether xlm asks this program to stop (SIGTERM): save, then call `stop()`.

        Ask between two steps, in the main thread. A program that never asks is ended by the signal at once. With
        several processes each hears the signal for itself, maybe a step apart: agree on it first, for example by a
        broadcast from rank 0.
        """
        return STOP.received()

    def stop(self) -> NoReturn:
        """Ends the program with the exit code 75: it stopped on request, and the run resumes later."""
        raise SystemExit(STOPPED)

    def save(self, name: str) -> "contextlib.AbstractContextManager[pathlib.Path]":
        """A path to write a checkpoint to, which becomes `checkpoints/NAME` whole, or not at all (`xlm.saving`)."""
        return saving(self.checkpoints / name)

    def newest_checkpoint(self, pattern: str = "*") -> Optional[pathlib.Path]:
        """The newest file or folder in `checkpoints` that matches; None if there is none, or the run begins."""
        return newest(self.checkpoints, pattern) if self.resuming else None

    def __repr__(self) -> str:
        where = f"in {self.folder}" if self.inside else "outside of xlm"
        return f"<xlm.Run {where}, seed {self.seed}, {self.options!r}>"


def run(defaults: Optional[Mapping[str, Any]] = None, *, every_rank: bool = False) -> Run:
    """The run that this process is.

    defaults    options that the run's file need not set: `xlm.run({"lr": 0.001})`
    every_rank  every process reports, not only rank 0

    In a process that xlm did not start it is a stand-in that prints what is reported, so the same script runs by itself.
    Raises UsageError if the environment is not as xlm sets it.
    """
    environment = os.environ
    inside = bool(environment.get("XLM_METRICS"))
    return Run(
        config=_read_config(environment.get("XLM_CONFIG", "")) if inside else {},
        defaults=defaults or {},
        environment=environment if inside else {"RANK": environment.get("RANK", "")},
        write=MetricsFile(environment["XLM_METRICS"]).append if inside else _print,
        metrics=pathlib.Path(environment["XLM_METRICS"]) if inside else None,
        inside=inside,
        every_rank=every_rank,
    )


def _read_config(given: str) -> Mapping[str, Any]:
    """The variable holds JSON, or names a file of it."""
    if not given:
        return {}
    try:
        text = given if given.lstrip().startswith("{") else pathlib.Path(given).read_text(encoding="utf-8")
        config = json.loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"XLM_CONFIG is neither JSON nor a file of JSON: {given:.200}\n{error}", 2) from None
    if not isinstance(config, dict):
        raise UsageError(f"XLM_CONFIG is no map of keys: {given:.200}", 2)
    return config


def _options_of(config: Mapping[str, Any]) -> Mapping[str, Any]:
    options = config.get("options") or {}
    if not isinstance(options, Mapping):
        raise UsageError(f"options in XLM_CONFIG are no map of keys: {options!r:.200}", 2)
    return options


def _seed_of(environment: Mapping[str, str]) -> int:
    given = environment.get("XLM_SEED") or "1"
    try:
        return int(given)
    except ValueError:
        raise UsageError(f"XLM_SEED is no whole number: {given!r}", 2) from None


def _print(record: Mapping[str, Any]) -> None:
    print("  ".join(_words_of(record)), flush=True)


def _words_of(record: Mapping[str, Any]) -> Iterator[str]:
    if "split" in record:
        yield f"{record['split']}{' (final)' if record.get('final') else ''}"
    if "step" in record:
        yield f"step {record['step']}"
    if "costs" in record:
        yield "costs"
    if "warning" in record:
        yield f"warning: {record['warning']}"
    if "grid" in record:
        yield f"grid {record['grid']['name']}, {len(record['grid']['rows'])} rows"
    for name, value in (record.get("costs") or record).items():
        if name not in RESERVED:
            yield f"{name} {'nan' if value is None else format(value, '.6g')}"
