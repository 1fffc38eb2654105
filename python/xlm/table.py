"""A table of a paper, as `xlm table --json` says it."""
from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, Dict, List, Mapping, Union

from .frames import frame_of_rows, has


@dataclasses.dataclass(frozen=True)
class Table:
    """`cells[row][column]` are maps with `value`, `sd`, `n`, `printed`, `verdict`, `runs` and more (docs/results.md), in
    the order of the labels `rows` and `columns`; `notes` are the footnotes."""

    title: str
    name: str
    rows: List[str]
    columns: List[str]
    cells: List[List[Dict[str, Any]]]
    notes: List[str]

    def frame(self, of: str = "value") -> Any:
        """Shape: [rows, columns]; of every cell its `value`, or another of its keys, such as "sd" or "printed".

        A DataFrame whose index are the labels of the rows. Without pandas a list of dictionaries with the label under
        "row". Raises KeyError for a key that cells do not have.
        """
        columns = ["row", *self.columns]
        rows = [
            dict(zip(columns, [label, *(cell[of] for cell in cells)])) for label, cells in zip(self.rows, self.cells)
        ]
        frame = frame_of_rows(rows, columns)
        return frame.set_index("row") if has("pandas") else frame


def read_tables(path: Union[str, "os.PathLike[str]"]) -> List[Table]:
    """The tables that `xlm table RECIPE --json > FILE` wrote: without the program they are read as they were."""
    with open(path, encoding="utf-8") as file:
        return [table_of(each) for each in json.load(file)]


def table_of(json: Mapping[str, Any]) -> Table:
    """A table from the program's JSON."""
    return Table(
        title=json["table"],
        name=json["name"],
        rows=[row["label"] for row in json["rows"]],
        columns=[column["label"] for column in json["columns"]],
        cells=[row["cells"] for row in json["rows"]],
        notes=json["notes"],
    )
