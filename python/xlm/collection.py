"""The results of a folder of runs: the store, read through the program `xlm`, or as it is where there is no program."""
from __future__ import annotations

import os
import pathlib
import tempfile
from typing import Any, List, Optional, Sequence, Union

from .comparison import Comparison, comparison_of
from .conditions import Where, conditions_of, where_arguments
from .errors import BAD_DATA, Error, UsageError
from .executable import call, has_program
from .export_runs import ExportProblem, export_runs
from .frames import frame_of_file, frame_of_rows, has, rows_of_frame
from .stored_runs import StoredRuns
from .table import Table, table_of

StrPath = Union[str, "os.PathLike[str]"]


class Runs:
    """The runs in a folder. Every method brings the store up to date first, as each command of `xlm` does.

    Where there is no program, `frame`, `series`, `evaluations`, `sql` and `show` read the store as it is, on any system; a warning
    says if runs have changed since it was written. Formulas, `compare` and `table` need the program.

    folder      the folder of runs
    store       the store's file; None: `results.db` in the folder
    executable  the program; None: what XLM_EXECUTABLE names, that of this package's wheel, or that on PATH

    Where a method returns a frame it is a pandas DataFrame; without pandas a list of dictionaries, a row each. The
    methods raise Error with the program's message and exit code: UsageError for a column that the store does not know,
    DataError for a folder that does not exist.
    """

    def __init__(self, folder: StrPath = "runs", *, store: Optional[StrPath] = None, executable: Optional[str] = None):
        self.folder = pathlib.Path(folder)
        self.store = pathlib.Path(store) if store is not None else None
        self._executable = executable

    def frame(self, where: Where = None, columns: Optional[Sequence[str]] = None) -> Any:
        """A row for each run that fulfils `where`.

        where    "experiment=spans", a list of such conditions that must all hold, or a map {"seed": [1, 2]}
        columns  columns of the store or formulas, as `xlm runs ls --columns` takes them ("test.bpc", "options.lr",
                 "=1e3*step_seconds"), newest run first. None: every column in which a run has a value, in the order of ids

        Shape: [runs, columns]. Numbers, truth values and times have their types; missing values are NaN or None.
        """
        if not has_program(self._executable):
            names = None if columns is None else [columns] if isinstance(columns, str) else list(columns)
            found = self._stored().frame(conditions_of(where), names)
            return frame_of_rows(found, columns=None if found else names or _COLUMNS["runs"])
        if columns is None:
            return self._exported("runs", where)
        names = [columns] if isinstance(columns, str) else list(columns)
        # A column that is the id is named once in JSON, whether or not it was asked for.
        chosen = [argument for name in names for argument in ("--columns", name)] or ["--all"]
        rows = self._call("runs", "ls", "--limit", "0", *chosen, *where_arguments(where))
        return frame_of_rows(rows or [], columns=_in_order(rows or [], names))

    def series(self, *quantities: str, where: Where = None) -> Any:
        """Quantities over training: columns run_id, name, step, value; a row for each run, quantity and step.

        Without quantities: all. Raises UsageError for one that no run reports.
        """
        return self._exported("series", where, quantities)

    def evaluations(self, *quantities: str, where: Where = None) -> Any:
        """Evaluations: columns run_id, split, metric, step, value, final, main, at, settings, time (docs/store.md).

        Without quantities: all. Raises UsageError for one that no run reports.
        """
        return self._exported("evaluations", where, quantities)

    def sql(self, text: str) -> Any:
        """What a SELECT over the store's tables and views gives, which docs/store.md lists. Shape: [rows, columns]."""
        rows = self._call("runs", "sql", text) if has_program(self._executable) else self._stored().sql(text)
        return frame_of_rows(rows or [])

    def show(self, run: str) -> Any:
        """All about one run, as `xlm runs show RUN --json` prints it. `run` is an id, or the beginning of one."""
        return self._call("runs", "show", run) if has_program(self._executable) else self._stored().show(run)

    def export(self, kind: str, place: StrPath, *, where: Where = None) -> pathlib.Path:
        """Writes runs for another tracker with its own library, on this machine alone, and returns the file or folder.

        kind  "mlflow": an SQLite store; "trackio": a project for each experiment; "wandb": offline runs, for `wandb sync`

        Settings become parameters, series metrics, evaluations metrics `valid/loss`, costs metrics of the end. Runs that are marked
        as bad are left out. Raises UsageError if the library is missing.
        """
        costs = [str(row["name"]) for row in rows_of_frame(self.sql("SELECT DISTINCT name FROM costs"))]
        rows, series, evaluations = (rows_of_frame(each) for each in (self.frame(where), self.series(where=where), self.evaluations(where=where)))
        try:
            return export_runs(kind, pathlib.Path(place), rows, series, evaluations, costs=costs)
        except ExportProblem as problem:
            raise UsageError(f"{problem}\npip install {problem.package}" if problem.package else str(problem)) from None

    def compare(
        self,
        a: str,
        b: str,
        value: str = "test.bpc",
        *,
        where: Where = None,
        over: str = "seed",
        level: float = 95,
        choose: Sequence[str] = (),
        by: Optional[str] = None,
    ) -> Comparison:
        """Whether two settings differ, by a paired t-test over the seeds that both have, or by Welch's if they have no
        two in common.

        a, b   conditions ("model.span=64"), or runs, which stand for all their seeds
        value  the column that is compared
        over   the column that pairs runs
        level  of the interval, in percent
        choose keys over which each side is the best setting by the column `by`, such as "valid.bpc"

        Raises DataError if no run fits, or nothing can be tested.
        """
        settings = ["--value", value, "--over", over, "--level", str(level)]
        for key in choose:
            settings += ["--choose", key]
        if by is not None:
            settings += ["--by", by]
        return comparison_of(self._call("compare", a, b, *settings, *where_arguments(where)))

    def tables(self, recipe: StrPath, *, profile: Optional[str] = None, experiment: Optional[str] = None) -> List[Table]:
        """The tables that a recipe or table file describes. Raises DataError if one has nothing to show."""
        return self._tables(recipe, None, profile, experiment)

    def table(
        self,
        recipe: StrPath,
        name: Optional[str] = None,
        *,
        profile: Optional[str] = None,
        experiment: Optional[str] = None,
    ) -> Table:
        """The table called `name`, or the only one. Raises ValueError if there are several and none is named."""
        found = self._tables(recipe, name, profile, experiment)
        if len(found) != 1:
            raise ValueError(f"{os.fspath(recipe)} has {len(found)} tables: {', '.join(table.name for table in found)}\nname one")
        return found[0]

    def _tables(
        self, recipe: StrPath, name: Optional[str], profile: Optional[str], experiment: Optional[str]
    ) -> List[Table]:
        chosen = [("--name", name), ("--profile", profile), ("--experiment", experiment)]
        arguments = [word for option, value in chosen if value is not None for word in (option, value)]
        return [table_of(each) for each in self._call("table", os.fspath(recipe), *arguments)]

    def _call(self, *arguments: str) -> Any:
        return call([*arguments, *self._place()], executable=self._executable)

    def _stored(self) -> StoredRuns:
        return StoredRuns(self.folder, self.store)

    def _place(self) -> List[str]:
        return ["--runs", str(self.folder), *(["--store", str(self.store)] if self.store else [])]

    def _exported(self, table: str, where: Where, quantities: Sequence[str] = ()) -> Any:
        """A table that `xlm runs export` writes: Parquet where pyarrow reads it, else JSON lines."""
        if not has_program(self._executable):
            read = self._stored().series if table == "series" else self._stored().evaluations
            return frame_of_rows(read(conditions_of(where), quantities), columns=_COLUMNS[table])
        ending = "parquet" if has("pyarrow") else "jsonl"
        chosen = [word for quantity in quantities for word in ("--quantity", quantity)]
        with tempfile.TemporaryDirectory(prefix="xlm-") as folder:
            arguments = ["--format", ending, "--only", table, "--out", folder, *chosen, *where_arguments(where)]
            try:
                self._call("runs", "export", *arguments)
            except Error as error:
                if error.exit_code != BAD_DATA or self._any(where):
                    raise
                return frame_of_rows([], columns=_COLUMNS[table])
            return frame_of_file(pathlib.Path(folder) / f"{table}.{ending}")

    def _any(self, where: Where) -> bool:
        """Whether any run fulfils the conditions: an export of no run is an error, but a frame may be empty."""
        return bool(self._call("runs", "ls", "--limit", "1", "--columns", "run_id", *where_arguments(where)))

    def __repr__(self) -> str:
        return f"xlm.Runs({str(self.folder)!r})"


_COLUMNS = {
    "runs": ["run_id"],
    "series": ["run_id", "name", "step", "value"],
    "evaluations": ["run_id", "split", "metric", "step", "value", "final", "main", "at", "settings", "time"],
}


def _in_order(rows: Sequence[Any], names: Sequence[str]) -> List[str]:
    """The columns as they were asked for. The program splits lists at commas, so it says what they are."""
    if not rows:
        return list(names)
    given = list(rows[0])
    return given if "run_id" in ",".join(names).split(",") else given[1:]
