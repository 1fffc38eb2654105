#!/usr/bin/env bash
# Most would expect: the median pruner ends a trial whose loss has risen far above that of the others.
# What happens: a trial is judged by the best loss that it ever reported. One good early value protects it to the end.
# Version: optuna 5.0.0
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install optuna==5.0.0 numpy==2.4.6
observe <<'PYTHON'
import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
usual = [3.0, 2.5, 2.0, 1.8]
curves = {"usual": usual, "usual again": usual, "slow": [3.5, 3.0, 2.5, 2.3], "blows up": [1.5, 50.0, 900.0, 70000.0]}


def train(trial):
    curve = list(curves.values())[trial.number]
    for step, loss in enumerate(curve):
        trial.report(loss, step)
        if trial.should_prune():
            raise optuna.TrialPruned
    return curve[-1]


study = optuna.create_study(pruner=optuna.pruners.MedianPruner(n_startup_trials=2))
study.optimize(train, n_trials=len(curves))
for name, trial in zip(curves, study.trials):
    print(f"{name}: {trial.state.name.lower()} after {len(trial.intermediate_values)} of 4 reports")
PYTHON
expect <<'TEXT'
usual: complete after 4 of 4 reports
usual again: complete after 4 of 4 reports
slow: pruned after 1 of 4 reports
blows up: complete after 4 of 4 reports
TEXT
