"""Rows as a pandas DataFrame, or as a list of dictionaries if pandas is not installed."""
from __future__ import annotations

import datetime
import importlib
import importlib.util
import json
import pathlib
from typing import Any, Dict, List, Optional, Sequence

TIMES = ("created", "started", "finished", "time")  # columns of dates, which JSON has as text

Row = Dict[str, Any]


def has(library: str) -> bool:
    """Whether a library is installed."""
    return importlib.util.find_spec(library) is not None


def frame_of_rows(rows: List[Row], columns: Optional[Sequence[str]] = None) -> Any:
    """A DataFrame of the rows, or the rows. Dates in columns called so become aware times (UTC)."""
    names = list(columns if columns is not None else dict.fromkeys(key for row in rows for key in row))
    if not has("pandas"):
        return [{name: _value_of(name, row.get(name)) for name in names} for row in rows]
    pandas = importlib.import_module("pandas")
    frame = pandas.DataFrame.from_records(rows, columns=names)
    for name in TIMES:
        if name in names:
            frame[name] = pandas.to_datetime(frame[name], utc=True)
    return frame


def frame_of_file(path: pathlib.Path) -> Any:
    """The same of a file that `xlm runs export` wrote, by the library that its ending needs."""
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8") as lines:
            return frame_of_rows([json.loads(line) for line in lines])
    table = importlib.import_module("pyarrow.parquet").read_table(path)
    return table.to_pandas() if has("pandas") else table.to_pylist()


def rows_of_frame(frame: Any) -> List[Row]:
    """The rows of what frame_of_rows returns."""
    rows: List[Row] = frame if isinstance(frame, list) else frame.to_dict("records")
    return rows


def _value_of(column: str, value: Any) -> Any:
    if column in TIMES and isinstance(value, str):
        return datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
    return value
