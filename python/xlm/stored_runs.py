"""The store of a folder of runs, read without the program: SQLite is part of Python (docs/store.md lists its tables)."""
from __future__ import annotations

import datetime
import json
import operator
import pathlib
import re
import sqlite3
import warnings
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

from .errors import DataError, UsageError
from .frames import TIMES

FIELDS = (
    "run_id", "experiment", "status", "reason", "step", "created", "started", "finished", "seed_group", "is_evaluation", "parent",
    "parent_step", "tag", "note", "bad",
)  # fmt: skip
SPLITS = ("train", "valid", "test")
USUAL_KEYS = ("model.type", "data.name", "seed")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
ORDERS: Dict[str, Callable[[Any, Any], bool]] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

Row = Dict[str, Any]


class Condition(NamedTuple):
    """`column` in one of the relations = != < <= > >= to one of the values; each as it is meant, and as it is written."""

    column: str
    sign: str
    values: List[Tuple[Any, Optional[str]]]


class StoredRuns:
    """Reads the store of a folder of runs; nothing is written.

    Raises DataError if there is no store. Warns if runs have changed since the store was written: only the program brings it
    up to date.
    """

    def __init__(self, folder: pathlib.Path, store: Optional[pathlib.Path] = None) -> None:
        self._file = store or folder / "results.db"
        if not self._file.exists():
            text = f"there is no store {self._file}; the program xlm is neither in this package nor on PATH"
            raise DataError(f"{text}\nwhere it is installed, `xlm runs sync` makes the store")
        self._database = sqlite3.connect(f"{self._file.resolve().as_uri()}?mode=ro", uri=True)
        try:
            self._runs = {number: name for name, number in self._all("SELECT run_id, number FROM stored_runs ORDER BY run_id")}
        except sqlite3.DatabaseError as error:
            raise DataError(f"{self._file} is no store of results: {error}") from None
        self._warn_of_changes(folder)

    def __del__(self) -> None:
        if hasattr(self, "_database"):
            self._database.close()  # Python 3.13 and later warn of open ones

    def frame(self, conditions: Sequence[str], columns: Optional[Sequence[str]]) -> List[Row]:
        """A row for each run that fulfils the conditions: the columns, newest first; None: all, in the order of ids."""
        chosen = self._chosen(conditions)
        names = self._with_values(chosen) if columns is None else [name for each in columns for name in _listed(each)]
        if columns is not None:
            created = self._column("created")
            chosen = sorted(chosen, key=lambda number: (-(created.get(number) or 0), self._runs[number]))
        values = [self._column(name) for name in names]
        return [_with_dates(dict(zip(names, (column.get(number) for column in values)))) for number in chosen]

    def series(self, conditions: Sequence[str], quantities: Sequence[str]) -> List[Row]:
        """Quantities over training, run by run."""
        return self._rows("SELECT run_id, name, step, value FROM metrics", "name", "name, step", conditions, quantities)

    def evaluations(self, conditions: Sequence[str], quantities: Sequence[str]) -> List[Row]:
        """Evaluations, run by run."""
        columns = "run_id, split, metric, step, value, final, main, at, settings, time"
        order = "split, metric, step, settings"
        return self._rows(f"SELECT {columns} FROM evaluations", "metric", order, conditions, quantities)

    def sql(self, text: str) -> List[Row]:
        """What a SELECT gives."""
        try:
            found = self._database.execute(text)
            names = [column[0] for column in found.description or ()]
            return [dict(zip(names, row)) for row in found]
        except sqlite3.OperationalError as error:
            raise UsageError(f"{text}\n{error}") from None

    def show(self, run: str) -> Row:
        """What the store has of one run, which an id names or the beginning of one, or of its hash."""
        called = [name for name in self._runs.values() if name == run] or [
            name for name in self._runs.values() if name.startswith(run) or name.rpartition("-")[2].startswith(run)
        ]
        if len(called) != 1:
            raise DataError(f"no run is called '{run}'" if not called else f"'{run}' may be any of {', '.join(sorted(called)[:5])}")
        shown = self.sql(f"SELECT * FROM runs WHERE run_id = '{called[0]}'")[0]
        shown["params"] = {row["key"]: row["value"] for row in self.sql(f"SELECT * FROM params WHERE run_id = '{called[0]}'")}
        of_run = [f"run_id={json.dumps(called[0])}"]
        shown.update(evaluations=self.evaluations(of_run, []), metrics=self.series(of_run, []))
        return _with_dates(shown)

    def _all(self, text: str, *values: Any) -> List[Tuple[Any, ...]]:
        return self._database.execute(text, values).fetchall()

    def _rows(self, select: str, name: str, order: str, conditions: Sequence[str], quantities: Sequence[str]) -> List[Row]:
        view = select.rsplit(" ", 1)[-1]
        for quantity in quantities:
            if not self._all(f"SELECT 1 FROM {view} WHERE {name} = ? LIMIT 1", quantity):
                raise UsageError(f"no run reports '{quantity}'")
        rows: List[Row] = []
        for number in self._chosen(conditions):
            for quantity in quantities or [""]:
                text = f"{select} WHERE run_id = ?{f' AND {name} = ?' if quantity else ''} ORDER BY {order}"
                found = self._database.execute(text, [self._runs[number], *([quantity] if quantity else [])])
                names = [column[0] for column in found.description]
                rows.extend(dict(zip(names, row)) for row in found)
        if view == "evaluations":
            rows = [_with_dates({**row, "final": bool(row["final"]), "main": bool(row["main"])}) for row in rows]
        return rows

    def _with_values(self, chosen: Sequence[int]) -> List[str]:
        """All columns in which one of the runs has a value."""
        costs = [row[0] for row in self._all("SELECT DISTINCT name FROM stored_numbers WHERE split = '' ORDER BY name")]
        numbers = self._all("SELECT DISTINCT split, name FROM stored_numbers WHERE split <> '' ORDER BY split, name")
        keys = [row[0] for row in self._all("SELECT DISTINCT key FROM stored_settings ORDER BY key")]
        names = [*FIELDS, *costs, *(f"{split}.{name}" for split, name in numbers), *keys]
        return [name for name in dict.fromkeys(names) if any(self._column(name).get(number) is not None for number in chosen)]

    def _column(self, name: str) -> Dict[int, Any]:
        """A column's values by the number of the run; raises UsageError for one that no run has."""
        if name.startswith("=") or name.startswith("at."):
            raise UsageError(f"'{name}' is computed by the program xlm, which is neither in this package nor on PATH")
        if "@" in name:
            return self._elsewhere(name)
        if name in FIELDS:
            return dict(self._all(f"SELECT number, {name} FROM stored_runs"))
        if name == "is_bad":
            return dict(self._all("SELECT number, bad IS NOT NULL FROM stored_runs"))
        split, dot, metric = name.partition(".")
        settings = "SELECT r.number, s.value FROM stored_settings s CROSS JOIN stored_run_settings r USING (settings) WHERE s.key = ?"
        found = self._all(settings, name) if split == "train" else []
        if found:  # settings such as train.tokens have the names of numbers
            return dict(_with_booleans(found))
        of_split = (split, metric) if dot and metric and split in SPLITS else ("", name)
        for place in dict.fromkeys((of_split, ("", name))):
            numbers = self._all("SELECT number, value FROM stored_numbers WHERE split = ? AND name = ?", *place)
            if numbers:
                return dict(numbers)
        found = self._all(settings, name)
        if not found and name not in USUAL_KEYS and self._runs:
            raise UsageError(f"no run in the store has a column '{name}'")
        return dict(_with_booleans(found) if not name.startswith("data.") else found)

    def _elsewhere(self, name: str) -> Dict[int, Any]:
        """COLUMN@KEY=VALUE@…: of the newest evaluation with these settings, otherwise the run's own."""
        column, *asked = _split(name, "@")
        split, _, metric = column.partition(".")
        wanted = [condition_of(text) for text in asked]
        values = {}
        own = [self._column(condition.column) for condition in wanted]
        for number, value in self._column(column).items() if self._has(column) else ():
            if all(_holds(condition, column_of.get(number)) for condition, column_of in zip(wanted, own)):
                values[number] = value
        settings: Dict[Tuple[int, str], Row] = {}
        for number, at, key, value in self._all("SELECT number, at, key, value FROM stored_evaluation_settings"):
            settings.setdefault((number, at), {})[key] = value
        found = self._all(
            "SELECT e.number, e.at, CAST(v.value AS REAL) FROM stored_evaluations e, json_each(e.\"values\") v "
            "WHERE e.split = ? AND e.at <> '' AND v.key = ? ORDER BY e.number, e.time",
            split,
            metric,
        )
        for number, at, value in found:
            made_with = settings.get((number, at), {})
            is_meant = all(_holds(one, made_with.get(one.column)) for one in wanted)
            if is_meant and set(made_with) <= {one.column for one in wanted}:
                values[number] = value
        return values

    def _has(self, name: str) -> bool:
        try:
            self._column(name)
            return True
        except UsageError:
            return False

    def _chosen(self, conditions: Sequence[str]) -> List[int]:
        chosen = list(self._runs)
        for condition in (each for text in conditions for each in conditions_in(text)):
            if condition.column == "experiment":
                members = self._members(condition)
                chosen = [number for number in chosen if (number in members) == (condition.sign == "=")]
            else:
                column = self._column(condition.column)
                holds = _holds_for_tags if condition.column == "tag" else _holds
                chosen = [number for number in chosen if holds(condition, column.get(number))]
        return chosen

    def _members(self, condition: Condition) -> Set[int]:
        if condition.sign not in ("=", "!="):
            raise UsageError("an experiment is compared by = and !=")
        members: Set[int] = set()
        for value, written in condition.values:
            members.update(row[0] for row in self._all("SELECT number FROM stored_experiments WHERE experiment = ?", written or value))
            if value is None:
                members.update(set(self._runs) - {row[0] for row in self._all("SELECT number FROM stored_experiments")})
        return members

    def _warn_of_changes(self, folder: pathlib.Path) -> None:
        """Whether journals are longer than they were, and which runs are new or gone."""
        if not folder.is_dir():
            return
        known = dict(self._all("SELECT run_id, journal_bytes FROM stored_runs"))
        changed = 0
        for entry in folder.iterdir():
            journal = entry / "journal.jsonl"
            if not entry.name.startswith(".") and journal.is_file():
                changed += known.pop(entry.name, None) != journal.stat().st_size
            elif (entry / "config.yaml").is_file():
                changed += known.pop(entry.name, None) != -1
        if changed + len(known):
            text = f"{changed + len(known)} runs changed after {self._file} was written: `xlm runs sync` brings it up to date"
            warnings.warn(text, RuntimeWarning, stacklevel=4)


def _with_dates(row: Row) -> Row:
    """Seconds since 1970 as dates, as the program gives them."""
    for name in TIMES:
        if isinstance(row.get(name), (int, float)):
            row[name] = datetime.datetime.fromtimestamp(row[name], datetime.timezone.utc)
    return row


def _with_booleans(found: List[Tuple[Any, ...]]) -> List[Tuple[Any, ...]]:
    """Truth values are the words true and false, of a key that has nothing else."""
    if not all(value in ("true", "false", None) for _, value in found):
        return found
    return [(number, None if value is None else value == "true") for number, value in found]


def _split(text: str, sign: str) -> List[str]:
    """The parts between signs that stand in no quotes, brackets or braces."""
    parts, depth, quote, escaped = [""], 0, "", False
    for letter in text:
        if quote:
            quote = "" if letter == quote and not escaped else quote
            escaped = letter == "\\" and not escaped
        elif letter in "\"'" and parts[-1].rstrip()[-1:] in ("", *"=<>[,"):  # it's is a word
            quote = letter
        elif letter in "[{(":
            depth += 1
        elif letter in "]})":
            depth -= 1
        if letter == sign and not quote and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _listed(columns: str) -> List[str]:
    return [part.strip() for part in _split(columns, ",")]


def _asked(word: str) -> Tuple[Any, Optional[str]]:
    """A value of a condition, and how it is written unless it is in quotes."""
    word = word.strip()
    if word[:1] == '"':
        try:
            return json.loads(word), None
        except ValueError:
            raise UsageError(f"{word} is no word in quotes") from None
    if word[:1] == "'" and word[-1:] == "'" and len(word) > 1:
        return word[1:-1].replace("''", "'"), None
    if word[:1] == "[":
        try:
            return json.dumps(json.loads(word), separators=(",", ":"), ensure_ascii=False), word
        except ValueError:
            return word, word
    if word in ("null", "~", ""):
        return None, word
    if word in ("true", "false"):
        return word == "true", word
    if NUMBER.fullmatch(word):
        return (int(word) if re.fullmatch(r"[+-]?\d+", word) else float(word)), word
    return word, word


def condition_of(text: str) -> Condition:
    """KEY=VALUE, KEY!=VALUE, KEY<VALUE, …"""
    found = re.match(r"\s*([^=!<>]+?)\s*(!=|<=|>=|=|<|>)(.*)", text, re.DOTALL)
    if not found:
        raise UsageError(f"'{text}' is not a condition (for example model.span=256, or seed<4)")
    condition = Condition(found[1], found[2], [_asked(found[3])])
    value = condition.values[0][0]
    if condition.sign in ORDERS and not (isinstance(value, (int, float)) and not isinstance(value, bool)):
        raise UsageError(f"'{text}': {condition.sign} needs a number")
    return condition


def conditions_in(text: str) -> List[Condition]:
    """The conditions of a text: behind a comma stands a further value, or the next condition."""
    found: List[Condition] = []
    for part in _split(text, ","):
        bare = re.sub(r"\"(\\.|[^\"\\])*\"|'[^']*'|\[[^]]*\]", "", part)
        if re.search("[=<>]", bare):
            found.append(condition_of(part))
        elif found:
            found[-1].values.append(_asked(part))
        else:
            raise UsageError(f"'{text}' is not a condition (for example model.span=256, or seed<4)")
    return found


def _same(value: Any, asked: Any) -> bool:
    if isinstance(value, bool) or isinstance(asked, bool):
        words = {True: "true", False: "false"}
        return words.get(value, value) == words.get(asked, asked) if type(value) is not type(asked) else bool(value == asked)
    if isinstance(value, (int, float)) and isinstance(asked, (int, float)):
        return value == asked
    return type(value) is type(asked) and bool(value == asked)


def _holds(condition: Condition, value: Any) -> bool:
    if condition.sign in ORDERS:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and ORDERS[condition.sign](value, condition.values[0][0])
    is_one = any(_same(value, asked) or (isinstance(value, str) and written == value) for asked, written in condition.values)
    return is_one == (condition.sign == "=")


def _holds_for_tags(condition: Condition, value: Any) -> bool:
    if value is None:
        return _holds(condition, None)
    held = [_holds(condition, tag.strip()) for tag in str(value).split(",")]
    return all(held) if condition.sign == "!=" else any(held)
