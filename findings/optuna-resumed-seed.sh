#!/usr/bin/env bash
# Most would expect: a study that is loaded again continues its search, also with the seed that makes it reproducible.
# What happens: the sampler begins its random numbers again, so the same settings are tried a second time, unnoticed.
# Version: optuna 5.0.0
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install optuna==5.0.0 numpy==2.4.6 sqlalchemy==2.1.9
observe <<'PYTHON'
import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)


def loss(trial):
    return (trial.suggest_float("lr", 1e-4, 1e-1, log=True) - 0.01) ** 2


def search(sampler, trials):
    study = optuna.create_study(storage="sqlite:///study.db", study_name=type(sampler).__name__, load_if_exists=True,
                                sampler=sampler)
    study.optimize(loss, n_trials=trials)
    return [trial.params["lr"] for trial in study.trials]


for sampler in (optuna.samplers.RandomSampler, optuna.samplers.TPESampler):
    search(sampler(seed=1), 4)
    rates = search(sampler(seed=1), 4)
    print(f"{sampler.__name__}: {len(rates)} trials, {len(set(rates))} settings, resumed alike: {rates[:4] == rates[4:]}")
PYTHON
expect <<'TEXT'
RandomSampler: 8 trials, 4 settings, resumed alike: True
TPESampler: 8 trials, 4 settings, resumed alike: True
TEXT
