#!/usr/bin/env bash
# Most would expect: in JSON, "0012" and "12e3456" in quotation marks are text, so names and hashes of runs stay as they are.
# What happens: pandas turns a column of such texts into numbers. The hash 12e3456 becomes infinity, 0012 becomes 12, and
#   two runs share a name. polars, DuckDB and Arrow keep the text.
# Version: pandas 3.1.1, polars 2.1.0, duckdb 2.0.1, pyarrow 26.0.1
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install pandas==3.1.1 numpy==2.4.6 polars==2.1.0 duckdb==2.0.1 pyarrow==26.0.1
observe <<'PYTHON'
import json
import duckdb, pandas, polars
from pyarrow.json import read_json

with open("runs.jsonl", "w") as file:
    for run in ("12e3456", "98e7654", "0012"):
        file.write(json.dumps({"run": run, "loss": 1.5}) + "\n")
print("pandas", pandas.read_json("runs.jsonl", lines=True)["run"].tolist())
print("polars", polars.read_ndjson("runs.jsonl")["run"].to_list())
print("DuckDB", [run for run, in duckdb.sql("SELECT run FROM 'runs.jsonl'").fetchall()])
print("Arrow ", read_json("runs.jsonl")["run"].to_pylist())
PYTHON
expect <<'TEXT'
pandas [inf, inf, 12.0]
polars ['12e3456', '98e7654', '0012']
DuckDB ['12e3456', '98e7654', '0012']
Arrow  ['12e3456', '98e7654', '0012']
TEXT
