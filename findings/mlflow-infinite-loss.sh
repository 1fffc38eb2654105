#!/usr/bin/env bash
# Most would expect: an infinite loss is stored as infinite, or refused. NaN is stored and read as NaN.
# What happens: mlflow's store in SQLite keeps the greatest double in its place. The run that diverged then has a finite
#   loss, which conditions and means take for a number.
# Version: mlflow-skinny 3.17.2
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install mlflow-skinny==3.17.2 sqlalchemy==2.1.9 alembic==1.20.1 pandas==3.1.1 numpy==2.4.6
export MLFLOW_DISABLE_TELEMETRY=true DO_NOT_TRACK=true
observe <<'PYTHON'
import logging, math
import mlflow

logging.disable(logging.WARNING)
mlflow.set_tracking_uri("sqlite:///runs.db")
mlflow.set_experiment("losses")
with mlflow.start_run() as run:
    for step, loss in enumerate((1.5, math.nan, math.inf), start=1):
        mlflow.log_metric("loss", loss, step=step)
client = mlflow.MlflowClient()
for point in client.get_metric_history(run.info.run_id, "loss"):
    print(f"step {point.step}: {point.value:g}, finite: {math.isfinite(point.value)}")
PYTHON
expect <<'TEXT'
step 1: 1.5, finite: True
step 2: nan, finite: False
step 3: 1.79769e+308, finite: True
TEXT
