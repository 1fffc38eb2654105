"""For transformers.Trainer: its numbers, a stop with a checkpoint, and where to resume."""
from __future__ import annotations

from typing import Any, Mapping, Optional

from transformers import TrainerCallback  # type: ignore[import-not-found, unused-ignore]

from ..current_run import Run, run as current_run
from . import quantities

_OF_EVALUATION = "eval_"


class XlmCallback(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Reports to xlm what a Trainer logs: `Trainer(…, callbacks=[XlmCallback(run)])`.

    What it logs becomes metrics, what it evaluates an evaluation of `split`, without "eval_" before the names. If xlm asks
    to stop, the Trainer saves, and the program ends with exit code 75 once training has ended.
    """

    def __init__(self, run: Optional[Run] = None, split: str = "valid") -> None:
        self.run = run or current_run()
        self.split = split
        self.run.should_stop()  # SIGTERM is watched for from now on

    def on_log(self, args: Any, state: Any, control: Any, logs: Optional[Mapping[str, Any]] = None, **kwargs: Any) -> None:
        values = {name: value for name, value in (logs or {}).items() if not name.startswith(_OF_EVALUATION)}
        if set(values) > {"epoch"}:
            self.run.log(state.global_step, **quantities(values))

    def on_evaluate(
        self, args: Any, state: Any, control: Any, metrics: Optional[Mapping[str, Any]] = None, **kwargs: Any
    ) -> None:
        values = {name[len(_OF_EVALUATION) :]: value for name, value in (metrics or {}).items() if name.startswith(_OF_EVALUATION)}
        self.run.evaluation(self.split, step=state.global_step, **quantities(values))

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.run.should_stop():
            control.should_save = control.should_training_stop = True

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.run.should_stop() and state.global_step < state.max_steps:
            self.run.stop()


def newest_checkpoint(run: Run) -> Optional[str]:
    """For `trainer.train(resume_from_checkpoint=…)`: the newest whole checkpoint, with `output_dir=run.checkpoints`.

    A folder that a kill left unfinished is passed over: the Trainer writes its state last.
    """
    found = list(run.checkpoints.glob("checkpoint-*/trainer_state.json")) if run.resuming else []
    folders = sorted((state.parent for state in found), key=lambda folder: int(folder.name.rpartition("-")[2]))
    return str(folders[-1]) if folders else None
