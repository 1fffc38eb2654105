"""The options of a run: a mapping that cannot be changed, with its keys as attributes."""
from __future__ import annotations

import difflib
from typing import Any, Dict, Iterator, List, Mapping


class Options(Mapping[str, Any]):
    """Values by key: numbers, texts, truth values, lists, and maps of them, which are Options too.

    `options["lr"]` and `options.lr` are the same. An unknown key raises KeyError (AttributeError), with the nearest
    key that is there. A key that is the name of a method of mappings (`keys`, `items`, …) is found by [] alone.
    """

    __slots__ = ("_values",)
    _values: Dict[str, Any]

    def __init__(self, values: Mapping[str, Any]) -> None:
        frozen = {key: Options(value) if isinstance(value, Mapping) else value for key, value in values.items()}
        object.__setattr__(self, "_values", frozen)

    def __getitem__(self, key: str) -> Any:
        try:
            return self._values[key]
        except KeyError:
            raise KeyError(self._unknown(key)) from None

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__"):  # asked for by copy, pickle and the like
            raise AttributeError(key)
        try:
            return self._values[key]
        except KeyError:
            raise AttributeError(self._unknown(key)) from None

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError(f"options cannot be changed: {key}\nset options.{key} in the run's file, or on the command line")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._values]

    def __repr__(self) -> str:
        return f"Options({self._values!r})"

    def __reduce__(self) -> Any:  # to processes of a data loader
        return Options, (self._values,)

    def _unknown(self, key: str) -> str:
        near = difflib.get_close_matches(key, self._values, n=1)
        hint = f" (did you mean '{near[0]}'?)" if near else ""
        return f"there is no option '{key}'{hint}; there are {', '.join(self._values) or 'none'}"
