#!/usr/bin/env bash
# Most would expect: a folder of Parquet shards reads alike whatever the shards are called.
# What happens: a shard whose column has no value gets the type null. If it is the first by name, Arrow, DuckDB and polars
#   take its type for all shards and refuse the texts of the others. If it is the last, all three read the folder.
# Version: pyarrow 26.0.1, duckdb 2.0.1, polars 2.1.0
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install pyarrow==26.0.1 duckdb==2.0.1 polars==2.1.0
observe <<'PYTHON'
import os
import duckdb, polars, pyarrow
import pyarrow.dataset, pyarrow.parquet

def outcome(read):
    try:
        return f"{len(read())} rows"
    except Exception as error:
        return type(error).__name__

for place in ("first", "last"):
    os.mkdir(place)
    empty, full = ("0", "1") if place == "first" else ("1", "0")
    pyarrow.parquet.write_table(pyarrow.table({"text": [None, None]}), f"{place}/{empty}.parquet")
    pyarrow.parquet.write_table(pyarrow.table({"text": ["once upon", "a time"]}), f"{place}/{full}.parquet")
    print(f"the shard without texts is the {place}:")
    print("  Arrow ", outcome(lambda: pyarrow.dataset.dataset(place).to_table()))
    print("  DuckDB", outcome(lambda: duckdb.sql(f"SELECT text FROM '{place}/*.parquet'").fetchall()))
    print("  polars", outcome(lambda: polars.read_parquet(f"{place}/*.parquet")))
PYTHON
expect <<'TEXT'
the shard without texts is the first:
  Arrow  ArrowNotImplementedError
  DuckDB ConversionException
  polars SchemaError
the shard without texts is the last:
  Arrow  4 rows
  DuckDB 4 rows
  polars 4 rows
TEXT
