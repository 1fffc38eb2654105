"""xlm from Python.

Inside a program that xlm started, `xlm.run()` has its options, seed, data and checkpoints, and takes what it reports.
Outside, `xlm.Runs("runs")` has the results of a folder of runs as frames, and `xlm.train` and `xlm.sweep` start runs.
docs/python.md shows both. The standard library is all that this package needs; pandas and pyarrow are used if installed.
"""
from __future__ import annotations

import sys

from .checkpoints import newest, saving
from .collection import Runs
from .commands import sweep, train
from .comparison import Comparison, Setting
from .current_run import Run, run
from .errors import DataError, DivergedError, Error, ResourceError, Stopped, UsageError
from .executable import call
from .options import Options
from .table import Table, read_tables

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "DataError",
    "DivergedError",
    "Error",
    "Options",
    "ResourceError",
    "Run",
    "Runs",
    "Setting",
    "Stopped",
    "Table",
    "UsageError",
    "call",
    "newest",
    "read_tables",
    "run",
    "saving",
    "sweep",
    "train",
]


def main() -> None:
    """The command `xlm` of a Python environment: the program of this package's wheel."""
    from .executable import replace_this_process

    replace_this_process(sys.argv[1:])
