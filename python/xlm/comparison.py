"""Whether two settings differ, as `xlm compare --json` says it."""
from __future__ import annotations

import dataclasses
from typing import Any, List, Mapping, Optional, Tuple


@dataclasses.dataclass(frozen=True)
class Setting:
    """One side of a comparison: `mean` and sample standard deviation `sd` over the `n` seeds of `runs`; `mixes` are
    keys other than the seed in which its runs differ."""

    setting: str
    mean: float
    sd: Optional[float]
    n: int
    runs: List[str]
    mixes: List[str]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """`difference` is the mean of A − B over `pairs`, and `half_width` half of its interval by Student's t at `level`
    (0.95). `p` is that of a two-sided paired t-test, `effect` the difference in standard deviations of the differences.
    All three are None with one pair. If too few seeds are in common, `test` is "welch" instead of "paired-t", `pairs` is
    0, and all is of both means; if neither is possible it is None. `freedom` are the degrees of freedom. `differ_in` are
    the keys in which A and B differ. If runs kept the losses of documents (eval.by_document), `documents` has the
    comparison over these: "parts", "effective", "difference", "low", "high" and "p", or "problem"."""

    value: str
    a: Setting
    b: Setting
    differ_in: List[str]
    pairs: int
    difference: float
    level: float
    half_width: Optional[float]
    p: Optional[float]
    effect: Optional[float]
    test: Optional[str]
    freedom: float
    documents: Optional[Mapping[str, Any]] = None

    @property
    def interval(self) -> Optional[Tuple[float, float]]:
        """The ends of the interval, lowest first; None with one pair."""
        if self.half_width is None:
            return None
        return self.difference - self.half_width, self.difference + self.half_width


def comparison_of(json: Mapping[str, Any]) -> Comparison:
    """A comparison from the program's JSON. Keys that this version does not know are passed over."""
    return Comparison(**{**_known(Comparison, json), "a": _setting_of(json["a"]), "b": _setting_of(json["b"])})


def _setting_of(json: Mapping[str, Any]) -> Setting:
    return Setting(**_known(Setting, json))


def _known(of: Any, json: Mapping[str, Any]) -> Mapping[str, Any]:
    fields = dataclasses.fields(of)
    return {field.name: json[field.name] for field in fields if field.name in json or field.default is dataclasses.MISSING}
