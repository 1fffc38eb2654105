#!/usr/bin/env bash
# Most would expect: a run's value of a metric is the one that was logged last, and its history has the order of logging.
# What happens: of values with the same step and millisecond the largest counts as the latest, and the history is sorted. A
#   falling loss that is logged in one batch without steps ends with its first value.
# Version: mlflow-skinny 3.17.2
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install mlflow-skinny==3.17.2 sqlalchemy==2.1.9 alembic==1.20.1 pandas==3.1.1 numpy==2.4.6
export MLFLOW_DISABLE_TELEMETRY=true DO_NOT_TRACK=true
observe <<'PYTHON'
import logging
import mlflow
from mlflow.entities import Metric

logging.disable(logging.WARNING)
mlflow.set_tracking_uri("sqlite:///runs.db")
mlflow.set_experiment("losses")
client = mlflow.MlflowClient()
with mlflow.start_run() as run:
    losses = [Metric("loss", loss, timestamp=1_700_000_000_000, step=0) for loss in (4.0, 1.5, 2.0)]
    client.log_batch(run.info.run_id, metrics=losses)
print("logged:", [loss.value for loss in losses])
print("history:", [point.value for point in client.get_metric_history(run.info.run_id, "loss")])
print("latest:", client.get_run(run.info.run_id).data.metrics["loss"])
PYTHON
expect <<'TEXT'
logged: [4.0, 1.5, 2.0]
history: [1.5, 2.0, 4.0]
latest: 4.0
TEXT
