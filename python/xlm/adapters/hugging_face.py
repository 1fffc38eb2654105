"""For transformers.Trainer: its numbers, a stop with a checkpoint, and where to resume."""
from __future__ import annotations

from typing import Any, Mapping, Optional

from transformers import TrainerCallback  # type: ignore[import-not-found, unused-ignore]

from ..current_run import Run, run as current_run
from . import by_split


class XlmCallback(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Reports to xlm what a Trainer logs: `Trainer(…, callbacks=[XlmCallback(run)])`.

    What it logs becomes metrics, what it evaluates an evaluation of `split`, or the final one of test if names begin with
    "test_" (`metric_key_prefix`). If xlm asks to stop, the Trainer saves, and the program ends with exit code 75 once
    training has ended.
    """

    def __init__(self, run: Optional[Run] = None, split: str = "valid") -> None:
        self.run = run or current_run()
        self.split = split
        self.run.should_stop()  # SIGTERM is watched for from now on

    def on_log(self, args: Any, state: Any, control: Any, logs: Optional[Mapping[str, Any]] = None, **kwargs: Any) -> None:
        values = by_split(logs or {}).get("", {})  # the others come to on_evaluate
        if set(values) > {"epoch"}:
            self.run.log(state.global_step, **values)

    def on_evaluate(
        self, args: Any, state: Any, control: Any, metrics: Optional[Mapping[str, Any]] = None, **kwargs: Any
    ) -> None:
        values = by_split(metrics or {})
        others = {name: value for name, value in values.pop("", {}).items() if name != "epoch"}
        if not values and others:  # under a prefix of the user's own
            values = {"valid": others}
        for split, numbers in values.items():
            self.run.evaluation(self.split if split == "valid" else split, step=state.global_step, final=split == "test", **numbers)

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
