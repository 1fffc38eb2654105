#!/usr/bin/env bash
# Most would expect: a view of an SQLite store has the same numbers in DuckDB. SQLite's REAL has 64 bits.
# What happens: DuckDB takes the view's text as its own SQL, in which REAL has 32 bits. A table's column of the same type
#   keeps 64. Token counts and FLOPs are rounded without a word. CAST … AS DOUBLE has 64 bits in both.
# Version: duckdb 1.5.5, duckdb-extension-sqlite-scanner 1.5.5 (SQLite of the Python that runs it)
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install duckdb==1.5.5 duckdb-extension-sqlite-scanner==1.5.5 duckdb-extensions==1.5.5
observe <<'PYTHON'
import pathlib, sqlite3
import duckdb, duckdb_extension_sqlite_scanner as package

store = sqlite3.connect("store.db")
store.execute("CREATE TABLE costs (name TEXT, value REAL)")
store.execute("INSERT INTO costs VALUES ('tokens', 100000001)")
for kind in ("REAL", "DOUBLE"):
    store.execute(f"CREATE VIEW as_{kind.lower()} AS SELECT CAST(value AS {kind}) AS value FROM costs")
store.commit()
views = ("costs", "as_real", "as_double")
print("SQLite", [store.execute(f"SELECT value FROM {view}").fetchone()[0] for view in views])
extension = next(pathlib.Path(package.__file__).parent.rglob("*.duckdb_extension"))
duck = duckdb.connect()
duck.execute(f"LOAD '{extension}'")
duck.execute("ATTACH 'store.db' AS store (TYPE sqlite)")
print("DuckDB", [duck.execute(f"SELECT value FROM store.{view}").fetchone()[0] for view in views])
PYTHON
expect <<'TEXT'
SQLite [100000001.0, 100000001.0, 100000001.0]
DuckDB [100000001.0, 100000000.0, 100000001.0]
TEXT
