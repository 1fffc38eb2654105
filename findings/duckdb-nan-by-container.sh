#!/usr/bin/env bash
# Most would expect: the mean loss of the same numbers is the same, whichever table in Python holds them.
# What happens: DuckDB takes a NaN of pandas and numpy for NULL, and leaves a diverged run out of the mean. In a table of
#   Arrow or polars NaN stays NaN, and so does the mean.
# Version: duckdb 2.0.1, pandas 3.1.1, numpy 2.4.6, pyarrow 26.0.1, polars 2.1.0
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install duckdb==2.0.1 pandas==3.1.1 numpy==2.4.6 pyarrow==26.0.1 polars==2.1.0
observe <<'PYTHON'
import duckdb, numpy, pandas, polars, pyarrow

losses = [1.0, float("nan"), 3.0]
tables = {
    "numpy": {"loss": numpy.array(losses)},
    "pandas": pandas.DataFrame({"loss": losses}),
    "Arrow": pyarrow.table({"loss": losses}),
    "polars": polars.DataFrame({"loss": losses}),
}
for name, runs in tables.items():
    count, mean = duckdb.sql("SELECT count(loss), avg(loss) FROM runs").fetchall()[0]
    print(f"{name}: {count} losses, mean {mean}")
PYTHON
expect <<'TEXT'
numpy: 2 losses, mean 2.0
pandas: 2 losses, mean 2.0
Arrow: 3 losses, mean nan
polars: 3 losses, mean nan
TEXT
