"""Asks Optuna for the settings of a search: the part of `xlm sweep` with `sweep.search` that is Python.

The program contains this file and starts it with `python3 -c`, so an installed program needs no module `xlm`. It reads
lines of JSON on standard input, and answers each with one line on standard output:

1. {"sampler": "tpe", "generator": 0, "higher": false, "keys": [{"name": …, "low": …, "high": …, "log": …, "step": …,
   "whole": …} or {"name": …, "choices": COUNT}]} is answered by {"versions": {"optuna": …, …}} or {"error": …}.
2. {"tell": [OUTCOME, …], "ask": [KNOWN, …]} is answered by {"settings": [[value of each key, …], …]}, one for each of
   "ask": the known setting itself, or a new one for null. The outcomes are those of the settings of the last answer, in
   order: {"value": 1.3}; {"step": 1000, "value": 1.5} of a setting that was stopped early; {} of one that failed or
   diverged. The value of a key with choices is a place in its list.

The same lines get the same answers, from the same versions of Optuna and of what it computes with.
"""
from __future__ import annotations

import sys

sys.path[:] = [folder for folder in sys.path if folder]  # a file json.py of the current folder is not the library's

import json
import warnings
from typing import Any, Dict, List, Optional, Tuple

SAMPLERS = ("tpe", "cmaes", "random")


def _missing(package: str, error: BaseException) -> Dict[str, str]:
    return {"error": f"{sys.executable} cannot import {package}: {error}", "package": package}


def _distribution(optuna: Any, key: Dict[str, Any]) -> Any:
    if "choices" in key:
        return optuna.distributions.CategoricalDistribution(list(range(key["choices"])))
    if key["whole"]:
        return optuna.distributions.IntDistribution(key["low"], key["high"], log=key["log"], step=key["step"] or 1)
    return optuna.distributions.FloatDistribution(key["low"], key["high"], log=key["log"], step=key["step"])


def _sampler(optuna: Any, name: str, generator: int) -> Any:
    if name == "tpe":  # settings without an outcome count as bad, so that those of one round differ
        return optuna.samplers.TPESampler(seed=generator, constant_liar=True)
    if name == "cmaes":
        return optuna.samplers.CmaEsSampler(seed=generator)
    return optuna.samplers.RandomSampler(seed=generator)


def open_study(description: Dict[str, Any]) -> Tuple[Optional[Any], Dict[str, Any], Dict[str, Any]]:
    """The study of a description, the distributions of its keys, and the answer to the description."""
    versions = {}
    for package in ("optuna", "numpy") + (("cmaes",) if description["sampler"] == "cmaes" else ()):
        try:
            module = __import__(package)
        except Exception as error:  # a broken installation is as good as none
            return None, {}, _missing(package, error)
        versions[package] = getattr(module, "__version__", "")
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    study = optuna.create_study(
        sampler=_sampler(optuna, description["sampler"], description["generator"]),
        direction="maximize" if description["higher"] else "minimize",
    )
    return study, {key["name"]: _distribution(optuna, key) for key in description["keys"]}, {"versions": versions}


def tell(study: Any, trial: Any, outcome: Dict[str, Any]) -> None:
    """Tells the study how a trial ended. The samplers rank a pruned trial without a value last."""
    from optuna.trial import TrialState

    if "step" in outcome:
        trial.report(outcome["value"], outcome["step"])
    if "value" in outcome and "step" not in outcome:
        study.tell(trial, outcome["value"])
    else:
        study.tell(trial, state=TrialState.PRUNED)


def _with_values(study: Any, outcomes: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """The outcomes for CMA-ES, which sees no trial without a value: those that did not end have the worst of all."""
    from optuna.study import StudyDirection

    ended = [outcome["value"] for outcome in outcomes if "value" in outcome and "step" not in outcome]
    ended += [trial.value for trial in study.trials if trial.state.name == "COMPLETE"]
    if not ended:
        return outcomes
    is_maximized = study.direction == StudyDirection.MAXIMIZE
    told = []
    for outcome in outcomes:
        values = [*ended, outcome["value"]] if "value" in outcome else ended
        has_ended = "value" in outcome and "step" not in outcome
        told.append(outcome if has_ended else {"value": min(values) if is_maximized else max(values)})
    return told


def next_trial(study: Any, distributions: Dict[str, Any], known: Optional[List[float]]) -> Any:
    """Asks for a trial. Where another one is known, that takes its place; the samplers do not see the one asked for."""
    from optuna.distributions import FloatDistribution
    from optuna.trial import TrialState

    trial = study.ask(distributions)
    if known is None or known == [trial.params[name] for name in distributions]:
        return trial
    study.tell(trial, state=TrialState.FAIL)
    params = {}
    for (name, distribution), value in zip(distributions.items(), known):
        params[name] = value if isinstance(distribution, FloatDistribution) else int(value)
    study.enqueue_trial(params)
    return study.ask(distributions)


def main() -> int:
    answers, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    study: Optional[Any] = None
    distributions: Dict[str, Any] = {}
    trials: List[Any] = []
    is_cmaes = False
    for line in sys.stdin:
        request = json.loads(line)
        if study is None:
            study, distributions, answer = open_study(request)
            is_cmaes = request["sampler"] == "cmaes"
        else:
            outcomes = request["tell"]
            if is_cmaes:
                outcomes = _with_values(study, outcomes)
            for trial, outcome in zip(trials, outcomes):
                tell(study, trial, outcome)
            trials = [next_trial(study, distributions, known) for known in request["ask"]]
            answer = {"settings": [[trial.params[name] for name in distributions] for trial in trials]}
        print(json.dumps(answer), file=answers, flush=True)
        if study is None:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
