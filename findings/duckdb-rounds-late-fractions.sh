#!/usr/bin/env bash
# Most would expect: a column whose first values are whole, such as a metric or an option, keeps the fractions behind them.
# What happens: DuckDB decides by the first lines or the first file that the column has whole numbers, and rounds all
#   others without an error: 2.5 becomes 2 or 3, by the format. polars reports an error for the same files.
# Version: duckdb 2.0.1, polars 2.1.0, pyarrow 26.0.1
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install duckdb==2.0.1 polars==2.1.0 pyarrow==26.0.1
observe <<'PYTHON'
import json
import duckdb, polars, pyarrow
from pyarrow.parquet import write_table

values = [1] * 30000 + [2.5]
with open("log.jsonl", "w") as log:
    log.writelines(json.dumps({"value": value}) + "\n" for value in values)
with open("log.csv", "w") as log:
    log.write("value\n" + "".join(f"{value}\n" for value in values))
write_table(pyarrow.table({"value": [1]}), "part-1.parquet")
write_table(pyarrow.table({"value": [2.5]}), "part-2.parquet")

readers = {"log.jsonl": polars.read_ndjson, "log.csv": polars.read_csv, "part-*.parquet": polars.read_parquet}
for files, read in readers.items():
    greatest = duckdb.sql(f"SELECT max(value), typeof(max(value)) FROM '{files}'").fetchall()[0]
    try:
        other = read(files)["value"].max()
    except polars.exceptions.PolarsError as error:
        other = type(error).__name__
    print(f"{files}: the greatest of 1, …, 2.5 is {greatest[0]} ({greatest[1]}) for DuckDB, {other} for polars")
PYTHON
expect <<'TEXT'
log.jsonl: the greatest of 1, …, 2.5 is 2 (BIGINT) for DuckDB, ComputeError for polars
log.csv: the greatest of 1, …, 2.5 is 3 (BIGINT) for DuckDB, ComputeError for polars
part-*.parquet: the greatest of 1, …, 2.5 is 2 (BIGINT) for DuckDB, SchemaError for polars
TEXT
