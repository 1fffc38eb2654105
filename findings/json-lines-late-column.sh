#!/usr/bin/env bash
# Most would expect: a log in JSON lines has every field that any line has. An evaluation every 200 steps is one.
# What happens: polars takes the fields of the first 100 lines, and DuckDB those of the first 20,480. Both leave a field
#   that begins later out, without a warning. pandas and Arrow have it.
# Version: polars 2.1.0, duckdb 2.0.1, pandas 3.1.1, pyarrow 26.0.1
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install polars==2.1.0 duckdb==2.0.1 pandas==3.1.1 pyarrow==26.0.1 numpy==2.4.6
observe <<'PYTHON'
import json
import duckdb, pandas, polars
from pyarrow.json import read_json

for every in (200, 30000):
    with open("log.jsonl", "w") as log:
        for step in range(1, every + 1):
            line = {"step": step, "loss": 1.5}
            if step % every == 0:
                line["valid"] = 1.25
            log.write(json.dumps(line) + "\n")
    print(f"first evaluation at line {every}:")
    print("  polars", polars.read_ndjson("log.jsonl").columns)
    print("  DuckDB", duckdb.sql("SELECT * FROM 'log.jsonl'").columns)
    print("  pandas", list(pandas.read_json("log.jsonl", lines=True).columns))
    print("  Arrow ", read_json("log.jsonl").column_names)
PYTHON
expect <<'TEXT'
first evaluation at line 200:
  polars ['step', 'loss']
  DuckDB ['step', 'loss', 'valid']
  pandas ['step', 'loss', 'valid']
  Arrow  ['step', 'loss', 'valid']
first evaluation at line 30000:
  polars ['step', 'loss']
  DuckDB ['step', 'loss']
  pandas ['step', 'loss', 'valid']
  Arrow  ['step', 'loss', 'valid']
TEXT
