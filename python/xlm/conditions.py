"""Python values as the program's command line takes them (docs/configuration.md#quotes)."""
from __future__ import annotations

import json
import math
import os
from typing import Any, List, Mapping, Sequence, Union

Where = Union[None, str, Sequence[str], Mapping[str, Any]]


def word_of(value: Any) -> str:
    """A value behind `KEY=`: text in quotes, lists and maps as JSON. Raises TypeError, or ValueError for NaN."""
    if callable(getattr(value, "item", None)):  # a scalar of numpy
        value = value.item()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"a setting is a finite number, but this is {value}")
    return json.dumps(value, ensure_ascii=False)


def settings_of(values: Mapping[str, Any]) -> List[str]:
    """["train.steps=100", …] from {"train.steps": 100, …}."""
    return [f"{key}={word_of(value)}" for key, value in values.items()]


def where_arguments(where: Where) -> List[str]:
    """The arguments `--where CONDITION` of conditions that must all hold."""
    return [argument for condition in conditions_of(where) for argument in ("--where", condition)]


def conditions_of(where: Where) -> Sequence[str]:
    """Conditions that must all hold, as the command line has them.

    where  None, a condition ("seed=1"), several (["seed=1", "test.bpc<1.3"]), or a map of columns to a value, or to a
           list of values of which one must hold ({"seed": [1, 2]})
    """
    if where is None:
        return []
    if isinstance(where, str):
        return [where]
    if isinstance(where, Mapping):
        return [f"{key}={_alternatives(value)}" for key, value in where.items()]
    return list(where)


def _alternatives(value: Any) -> str:
    values = value if isinstance(value, (list, tuple, set, frozenset, range)) else [value]
    return ",".join(word_of(each) for each in values)
