"""For Lightning's Trainer: a logger, and a callback that stops with a checkpoint."""
from __future__ import annotations

from typing import Any, Mapping, Optional

try:
    from lightning.pytorch import Callback  # type: ignore[import-not-found, unused-ignore]
    from lightning.pytorch.loggers import Logger  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # the package under its other name
    from pytorch_lightning import Callback  # type: ignore[import-not-found, no-redef, assignment, unused-ignore]
    from pytorch_lightning.loggers import Logger  # type: ignore[import-not-found, no-redef, assignment, unused-ignore]

from ..current_run import Run, run as current_run
from ..errors import STOPPED
from . import by_split


class XlmLogger(Logger):  # type: ignore[misc, unused-ignore]
    """Reports to xlm what a module logs: `Trainer(logger=XlmLogger(run))`.

    `val_loss` (or `val/loss`) becomes an evaluation of the split valid, `test_loss` the final one of test, anything else
    a metric, `train/loss` that of the name loss (xlm.adapters.place_of).
    """

    def __init__(self, run: Optional[Run] = None) -> None:
        super().__init__()
        self.run = run or current_run()

    @property
    def name(self) -> str:
        return "xlm"

    @property
    def version(self) -> str:
        return self.run.folder.name

    def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None:
        """The options of the run are in its configuration already."""

    def log_metrics(self, metrics: Mapping[str, Any], step: Optional[int] = None) -> None:
        at = step or 0
        values = by_split(metrics)
        trained = values.pop("", {})
        for split, numbers in values.items():
            self.run.evaluation(split, step=at, final=split == "test", **numbers)
        if trained and not (values and set(trained) == {"epoch"}):
            self.run.log(at, **trained)


class XlmStop(Callback):  # type: ignore[misc, unused-ignore]
    """Stops when xlm asks to: saves `checkpoints/last.ckpt` and ends the program with exit code 75.

    `Trainer(callbacks=[XlmStop(run)])`, and `trainer.fit(…, ckpt_path=run.newest_checkpoint("*.ckpt"))` to resume.
    """

    def __init__(self, run: Optional[Run] = None) -> None:
        self.run = run or current_run()
        self.run.should_stop()  # SIGTERM is watched for from now on

    def on_train_batch_end(self, trainer: Any, *args: Any, **kwargs: Any) -> None:
        if self.run.should_stop():
            self._stop(trainer)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        # Lightning exits by itself if it sees SIGTERM first: after an epoch, during evaluation.
        if isinstance(exception, SystemExit) and exception.code != STOPPED and self.run.should_stop():
            self._stop(trainer)

    def _stop(self, trainer: Any) -> None:
        with self.run.save("last.ckpt") as file:
            trainer.save_checkpoint(file)
        self.run.stop()
