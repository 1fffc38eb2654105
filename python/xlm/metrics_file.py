"""The lines that a program writes about itself: JSON objects in the file $XLM_METRICS (docs/python.md).

Each line is one write to a file that is opened for appending, so lines of several processes do not mix.
"""
from __future__ import annotations

import decimal
import errno
import json
import math
import numbers
import os
import pathlib
import re
from typing import Any, Dict, Iterable, Mapping, Optional, Union

Number = Union[int, float]
RESERVED = ("step", "split", "final", "costs", "grid", "warning")  # keys of a line that are not quantities
SPLITS = ("train", "valid", "test")
_NAME = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_-]|\.(?!\.|$))*")
_MAX_NAME_BYTES = 100


def checked_name(name: Any) -> str:
    """`name` if a quantity can be called so. Raises TypeError for what is no text, ValueError for another name."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a quantity is {name!r}, which is no text")
    if len(name) <= _MAX_NAME_BYTES and _NAME.fullmatch(name):
        return name
    better = storable_name(name)
    raise ValueError(
        f"no quantity can be called {name!r:.200}\na name has letters, digits, '_', '-' and dots, begins with a letter, and "
        f"has {_MAX_NAME_BYTES} bytes at most{f' (for example {better!r})' if better else ''}"
    )


def storable_name(name: str) -> str:
    """A name for what another library calls `name`: "train/loss (mean)" is train.loss_mean. Empty if nothing is left."""
    words = [re.sub(r"[^A-Za-z0-9-]+", "_", word).strip("_") for word in re.split(r"[./]+", name)]
    joined = ".".join(word for word in words if word)[:_MAX_NAME_BYTES - 1].rstrip(".")
    return joined if not joined or joined[0].isalpha() else f"_{joined}"


def checked_split(split: Any) -> str:
    """`split` if the store has it. Raises ValueError otherwise."""
    if split in SPLITS:
        return str(split)
    raise ValueError(f"a split is {', '.join(SPLITS[:-1])} or {SPLITS[-1]}, but this is {split!r}")


def checked_step(step: Any) -> int:
    """`step` as an integer that is not negative. Raises TypeError or ValueError."""
    value = step.item() if callable(getattr(step, "item", None)) else step
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"a step is a whole number, but this is {step!r}")
    if value < 0:
        raise ValueError(f"a step is not negative, but this is {step!r}")
    return value


def number_of(name: str, value: Any) -> Optional[Number]:
    """A number as JSON can hold it; None for NaN and infinities, which are null in a journal.

    Takes ints, floats, truth values (1 and 0), and what has `item()`: scalars and arrays of one element of numpy,
    torch and jax. Raises TypeError for anything else.
    """
    given = value
    if callable(getattr(value, "item", None)):
        try:
            value = value.item()
        except (TypeError, ValueError, RuntimeError):
            raise TypeError(f"'{name}' has more than one element: {_shape(given)}\nlog its mean, such as {name}.mean()") from None
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, (numbers.Real, decimal.Decimal)):
        return float(value) if math.isfinite(value) else None
    raise TypeError(f"'{name}' is {type(given).__name__} {given!r:.100}, which is no number")


def numbers_of(values: Mapping[str, Any]) -> Dict[str, Optional[Number]]:
    """The quantities of a line. Raises ValueError if there are none, or for a name that means something else there."""
    if not values:
        raise ValueError("there is no quantity to log: name one, such as loss=2.1")
    for name in values:
        if name in RESERVED:
            raise ValueError(
                f"a quantity cannot be called '{name}': that names a part of the line\nuse another name, such as {name}_value"
            )
    return {checked_name(name): number_of(name, value) for name, value in values.items()}


def grid_of(name: Any, rows: Iterable[Iterable[Any]], columns: Optional[Iterable[int]]) -> Dict[str, Any]:
    """A table of numbers as a line has it. Raises ValueError if a row is longer than `columns`, or these do not rise."""
    numbers = [[None if value is None else number_of(str(name), value) for value in row] for row in rows]
    grid: Dict[str, Any] = {"name": checked_name(name), "rows": numbers}
    if columns is None:
        return grid
    grid["columns"] = [checked_step(column) for column in columns]
    rising = all(low < high for low, high in zip(grid["columns"], grid["columns"][1:]))
    if not rising or any(len(row) > len(grid["columns"]) for row in numbers):
        raise ValueError(f"the columns of '{name}' must rise, and there must be one for every number of a row")
    return grid


class MetricsFile:
    """A file that lines are appended to. It is opened with the first line."""

    def __init__(self, path: Union[str, "os.PathLike[str]"]) -> None:
        self.path = os.fspath(path)
        self._file: Optional[int] = None
        self._torn = False  # the last line was not written whole

    def append(self, record: Mapping[str, Any]) -> None:
        """One line, in one write. Raises OSError if the file cannot be written, or the disk is full."""
        if self._file is None:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._file = os.open(self.path, flags, 0o666)
        line = json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace") + b"\n"
        if self._torn:  # what was left of a line must not join the next
            line = b"\n" + line
        written = os.write(self._file, line)
        self._torn = written < len(line)
        if self._torn:
            raise OSError(errno.ENOSPC, "the line was not written whole", self.path)


def _shape(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"its shape is {tuple(shape)}" if shape is not None else repr(value)[:100]


def newest_step(file: pathlib.Path) -> int:
    """The last step that the lines of the file say; -1 if there is none, or no file."""
    newest = -1
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if '"step"' not in line:
                    continue
                try:
                    newest = int(json.loads(line)["step"])
                except (ValueError, KeyError, TypeError):  # one that was cut off by a kill
                    continue
    except FileNotFoundError:
        pass
    return newest
