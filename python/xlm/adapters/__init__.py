"""What other libraries report, as xlm takes it. Each module needs the library that it is for:

xlm.adapters.loop          a plain loop that saves, stops and resumes; needs none
xlm.adapters.hugging_face  a callback for transformers.Trainer
xlm.adapters.lightning     a logger and a callback for Lightning's Trainer
"""
from __future__ import annotations

import re
from typing import Any, Dict, Mapping, Tuple

from ..metrics_file import RESERVED, storable_name

_SPLITS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("valid", "validation", "val", "eval", "evaluation", "dev"), "valid"),
    **dict.fromkeys(("test", "testing"), "test"),
}


def place_of(theirs: str) -> Tuple[str, str]:
    """The split that a name of another library speaks of, "" for a series of training, and the quantity.

    "train/loss" and "Loss/train" are loss, "val/loss" and "eval_loss" the loss of valid, as in the files that `metrics` of a
    program names (quantity_name_from in experiments/programs, and tests/names_of_others.json for both).
    """
    first = re.match("([^/_.]*)([/_.])(.*)", theirs, re.DOTALL)
    split, rest = (_SPLITS.get(first[1].lower(), ""), first[3]) if first else ("", "")
    if first and split == "train" and first[2] != "/":
        split = ""
    if not split and "/" in theirs:
        rest, _, last = theirs.rpartition("/")
        split = _SPLITS.get(last.lower(), "")
    if not split or not storable_name(rest):
        return "", theirs
    return ("" if split == "train" else split), rest.lower()


def by_split(values: Mapping[str, Any]) -> Dict[str, Dict[str, Any]]:
    """The numbers among `values` by split, under names that the store can keep."""
    found: Dict[str, Dict[str, Any]] = {}
    for theirs, value in values.items():
        if isinstance(value, (int, float)) or hasattr(value, "item"):
            split, name = place_of(theirs)
            found.setdefault(split, {})[_name_of(name)] = value
    return found


def _name_of(name: str) -> str:
    storable = storable_name(name)
    return f"{storable}_value" if storable in RESERVED or not storable else storable
