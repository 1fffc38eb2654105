"""W&B's names for a script that cannot be changed: what it logs is reported to xlm, and nothing is sent anywhere.

`python -m xlm.adapters.wandb train.py …` runs the script; its `import wandb` finds this module. The options of the run's file
take the place of the script's configuration. What W&B has beyond `init`, `log`, `config`, `summary`, `watch`, `save`,
`define_metric`, `alert` and `finish` raises AttributeError.
"""
from __future__ import annotations

import runpy
import sys
from typing import Any, Dict, Iterator, Mapping, MutableMapping, Optional

from ..current_run import run as current_run
from . import by_split


class Settings(MutableMapping[str, Any]):
    """A map whose keys are attributes, too: W&B's `config` and `summary`. Keys in `fixed` keep their values."""

    def __init__(self, values: Optional[Mapping[str, Any]] = None, fixed: Optional[Mapping[str, Any]] = None) -> None:
        self.__dict__["_fixed"] = dict(fixed or {})
        self.__dict__["_values"] = {**(values or {}), **(fixed or {})}

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if key not in self._fixed:
            self._values[key] = value

    def __delitem__(self, key: str) -> None:
        del self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, key: str) -> Any:
        try:
            return self.__dict__["_values"][key]
        except KeyError:
            raise AttributeError(f"there is no '{key}'; there are {', '.join(self.__dict__['_values'])}") from None

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = value

    def update(self, *others: Any, **values: Any) -> None:
        """Takes values in; `allow_val_change`, which W&B has, means nothing here."""
        values.pop("allow_val_change", None)
        super().update(*others, **values)


class Run:
    """What `init` returns: `log` counts steps by itself where none is given, as W&B does."""

    def __init__(self, config: Mapping[str, Any], name: Optional[str]) -> None:
        self._run = current_run(dict(config))
        self.config = Settings(config, dict(self._run.options))
        self.summary = Settings()
        self.id = self._run.folder.name
        self.name = name or self.id
        self.dir = str(self._run.folder)
        self._step = self._run._last_step() + 1 if self._run.resuming else 0
        self._counts = False  # whether a step was counted here
        self._waiting: Dict[str, Any] = {}

    def log(self, data: Mapping[str, Any], step: Optional[int] = None, commit: Optional[bool] = None, **_: Any) -> None:
        """Reports the numbers of a step. What is no number is passed over, and so is a step that lies behind, as W&B does."""
        if step is not None and step > self._step:
            self._report()
            self._step = step
        elif step is not None and step < self._step and not (self._run.resuming and not self._counts):
            self._run.warn(f"wandb.log: step {step} lies behind step {self._step}, so what it logged is left out")
            return
        elif step is not None:
            self._step = step
        if step is None and self._run.resuming:
            self._run.warn("wandb.log counts steps by itself, after a resume from the last one on; log(…, step=STEP) says which they are")
        self._counts = True
        self._waiting.update(_flat(data))
        if commit or (commit is None and step is None):
            self._report()
            self._step += 1

    def finish(self, exit_code: Optional[int] = None, **_: Any) -> None:
        """Reports what is left, and the summary: `run.summary["test/loss"] = 1.5` is a final evaluation, others are costs."""
        self._report()
        if not exit_code:
            for split, numbers in by_split(_numbers(_flat(self.summary))).items():
                if split and numbers:
                    self._run.evaluation(split, final=True, **numbers)
                elif numbers:
                    self._run.costs(**numbers)
        global run
        if run is self:
            run = None

    def _report(self) -> None:
        for split, numbers in by_split(_numbers(self._waiting)).items():
            if split and numbers:
                self._run.evaluation(split, step=self._step, **numbers)
            elif numbers:
                self._run.log(self._step, **numbers)
        self._waiting = {}

    def watch(self, *_: Any, **__: Any) -> None:
        """Gradients are not recorded."""

    save = define_metric = alert = mark_preempting = unwatch = watch

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        self.finish(exit_code=int(kind is not None))


run: Optional[Run] = None
config = Settings()
summary = Settings()


def init(*_: Any, config: Any = None, name: Optional[str] = None, **__: Any) -> Run:
    """The run that this process is; project, entity, mode and the rest are passed over, as xlm knows the run."""
    global run
    run = Run({key: value for key, value in dict(config or {}).items()}, name)
    module = sys.modules[__name__]
    setattr(module, "config", run.config)
    setattr(module, "summary", run.summary)
    return run


def log(data: Mapping[str, Any], step: Optional[int] = None, commit: Optional[bool] = None, **others: Any) -> None:
    """As Run.log, of the run that `init` made."""
    _current().log(data, step, commit, **others)


def finish(exit_code: Optional[int] = None, **_: Any) -> None:
    """As Run.finish; without a run it does nothing."""
    if run is not None:
        run.finish(exit_code)


def login(*_: Any, **__: Any) -> bool:
    """Nothing is sent, so there is nothing to log in to."""
    return True


def watch(*_: Any, **__: Any) -> None:
    """Gradients are not recorded."""


save = define_metric = alert = unwatch = watch


def _current() -> Run:
    if run is None:
        raise RuntimeError("call wandb.init() before wandb.log()")
    return run


def _flat(values: Mapping[str, Any], before: str = "") -> Dict[str, Any]:
    found: Dict[str, Any] = {}
    for key, value in values.items():
        found.update(_flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {f"{before}{key}": value})
    return found


def _numbers(values: Mapping[str, Any]) -> Dict[str, Any]:
    """What is one number: images, tables and text are passed over."""
    return {key: value for key, value in values.items() if isinstance(value, (int, float)) or getattr(value, "size", None) == 1}


def main() -> None:
    """Runs the script that the arguments name, with this module as its `wandb`."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m xlm.adapters.wandb SCRIPT [ARGUMENT…]")
    from xlm.adapters import wandb  # once, under its own name: this file runs as __main__

    sys.modules["wandb"] = wandb
    del sys.argv[0]
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        wandb.finish(exit_code=int(end.code not in (None, 0)))
        raise
    except BaseException:
        wandb.finish(exit_code=1)
        raise
    wandb.finish()


if __name__ == "__main__":
    main()
