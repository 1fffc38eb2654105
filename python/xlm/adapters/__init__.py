"""What other libraries report, as xlm takes it. Each module needs the library that it is for:

xlm.adapters.loop          a plain loop that saves, stops and resumes; needs none
xlm.adapters.hugging_face  a callback for transformers.Trainer
xlm.adapters.lightning     a logger and a callback for Lightning's Trainer
"""
from __future__ import annotations

from typing import Any, Dict, Mapping

from ..metrics_file import RESERVED, storable_name


def quantities(values: Mapping[str, Any]) -> Dict[str, Any]:
    """The numbers among `values`, under names that the store can keep."""
    numbers = {name: value for name, value in values.items() if isinstance(value, (int, float)) or hasattr(value, "item")}
    return {_name_of(name): value for name, value in numbers.items()}


def _name_of(name: str) -> str:
    storable = storable_name(name)
    return f"{storable}_value" if storable in RESERVED or not storable else storable
