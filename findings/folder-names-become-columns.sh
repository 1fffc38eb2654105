#!/usr/bin/env bash
# Most would expect: a Parquet file has the columns that are stored in it, wherever it lies.
# What happens: below a folder called lr=0.1, which is how sweeps like to name folders, DuckDB and polars add a column lr.
#   If the file has one already, its values are replaced by the folder's name: by text for DuckDB.
# Version: duckdb 2.0.1, polars 2.1.0, pyarrow 26.0.1
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install duckdb==2.0.1 polars==2.1.0 pyarrow==26.0.1
observe <<'PYTHON'
import os
import duckdb, polars, pyarrow
from pyarrow.parquet import ParquetFile, read_table, write_table

os.makedirs("sweep/lr=0.1")
file = "sweep/lr=0.1/steps.parquet"
write_table(pyarrow.table({"loss": [2.0, 1.0], "lr": [0.05, 0.1]}), file)  # of each step: the rate rises
print("stored:", ParquetFile(file).read().to_pydict())
print("Arrow, the file:", read_table(file).to_pydict())
try:
    print("Arrow, the folder:", read_table("sweep").to_pydict())
except pyarrow.ArrowException as error:
    print("Arrow, the folder:", type(error).__name__)
print("polars, the folder:", polars.read_parquet("sweep").to_dict(as_series=False))
rows = duckdb.sql(f"SELECT loss, lr FROM '{file}'").fetchall()
print("DuckDB, the file:", {"loss": [loss for loss, _ in rows], "lr": [rate for _, rate in rows]})
PYTHON
expect <<'TEXT'
stored: {'loss': [2.0, 1.0], 'lr': [0.05, 0.1]}
Arrow, the file: {'loss': [2.0, 1.0], 'lr': [0.05, 0.1]}
Arrow, the folder: ArrowTypeError
polars, the folder: {'loss': [2.0, 1.0], 'lr': [0.1, 0.1]}
DuckDB, the file: {'loss': [2.0, 1.0], 'lr': ['0.1', '0.1']}
TEXT
