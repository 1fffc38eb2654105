"""Training and sweeps, started from Python as from the shell."""
from __future__ import annotations

import json
import os
from typing import Any, List, Mapping, Optional, Sequence, Union

from .conditions import settings_of
from .executable import call

StrPath = Union[str, "os.PathLike[str]"]
Configuration = Union[StrPath, Mapping[str, Any]]


def train(
    configuration: Configuration,
    *,
    profile: Optional[str] = None,
    runs: StrPath = "runs",
    retry: bool = False,
    anyway: bool = False,
    executable: Optional[str] = None,
    **settings: Any,
) -> Any:
    """Trains one run, or resumes it: `xlm train`.

    configuration  a YAML file, or its content as a map
    settings       values that override it: `**{"train.steps": 100}`
    profile, retry, anyway  as `xlm train` has them

    Returns {"run_id", "experiment", "status", "evaluations": [{"split", "step", "loss", …}]}. Progress appears on
    sys.stderr. Raises the Error of the run's exit code: DivergedError, Stopped (the same call resumes), …
    """
    flags = _flags({"--retry": retry, "--anyway": anyway})
    return _do("train", configuration, [*_option("--profile", profile), *flags, "--runs", os.fspath(runs)], settings, executable)


def sweep(
    configuration: Configuration,
    *,
    launcher: str = "local",
    profile: Optional[str] = None,
    jobs: Optional[int] = None,
    runs: StrPath = "runs",
    dry_run: bool = False,
    wait: bool = False,
    retry: bool = False,
    anyway: bool = False,
    executable: Optional[str] = None,
    **settings: Any,
) -> Any:
    """Does all unfinished runs of a sweep: `xlm sweep`.

    configuration  a YAML file with a sweep, or its content as a map
    launcher       local, slurm or manual; with the latter two it returns when the runs are queued, unless `wait`
    settings       values that override it: `**{"train.steps": 100}`
    profile, jobs, dry_run, retry, anyway  as `xlm sweep` has them

    Returns a list with a map for each run: its id, status and evaluations, or with `dry_run` what would be done and why.
    If the runs are only queued: {"sweep", "runs", "queued", "running", …}. Progress appears on sys.stderr. Raises Error if
    runs failed (`error.output` is the list all the same), Stopped if it was stopped: the same call resumes.
    """
    flags = _flags({"--dry-run": dry_run, "--wait": wait, "--retry": retry, "--anyway": anyway})
    options = ["--launcher", launcher, *_option("--profile", profile), *_option("--jobs", jobs), *flags]
    return _do("sweep", configuration, [*options, "--runs", os.fspath(runs)], settings, executable)


def _do(
    command: str,
    configuration: Configuration,
    options: Sequence[str],
    settings: Mapping[str, Any],
    executable: Optional[str],
) -> Any:
    given = isinstance(configuration, Mapping)
    file = "/dev/stdin" if isinstance(configuration, Mapping) else os.fspath(configuration)
    return call(
        [command, file, *settings_of(settings), *options],
        executable=executable,
        stdin=json.dumps(configuration) if given else None,
        show_progress=True,
    )


def _option(name: str, value: Any) -> List[str]:
    return [] if value is None else [name, str(value)]


def _flags(chosen: Mapping[str, bool]) -> List[str]:
    return [name for name, wanted in chosen.items() if wanted]
