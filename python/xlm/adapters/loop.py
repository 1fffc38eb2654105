"""A plain loop that saves, stops on request, and resumes where it was."""
from __future__ import annotations

import pathlib
import shutil
from typing import Any, Callable, Iterator

from ..current_run import Run


def steps(
    run: Run, total: int, *, save: Callable[[pathlib.Path], Any], load: Callable[[pathlib.Path], Any], every: int = 0
) -> Iterator[int]:
    """The steps that are left, of 1 … `total`.

    save   writes a file or folder with all that a step changes: weights, optimiser, random numbers, place in the data
    load   reads one; called before the first step if the run resumes
    every  saves every so many steps, besides the last one and a stop; 0: not

    If xlm asks to stop, it saves after the step and ends the program (exit code 75). It keeps the newest checkpoint,
    `checkpoints/step-NUMBER`. Of several processes only rank 0 saves.
    """
    checkpoint = run.newest_checkpoint("step-*")
    if checkpoint is not None:
        load(checkpoint)
    done = int(checkpoint.name[len("step-") :]) if checkpoint is not None else 0
    for step in range(done + 1, total + 1):
        yield step
        stopping = run.should_stop() and step < total
        if run.is_main and (stopping or step == total or (every > 0 and step % every == 0)):
            _save(run, f"step-{step:09d}", save)
        if stopping:
            run.stop()


def _save(run: Run, name: str, save: Callable[[pathlib.Path], Any]) -> None:
    with run.save(name) as path:
        save(path)
    for older in run.checkpoints.glob("step-*"):
        if older.name != name:
            shutil.rmtree(older) if older.is_dir() else older.unlink()
