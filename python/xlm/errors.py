"""What goes wrong, with the exit codes of the program (docs/glossary.md#exit-code)."""
from __future__ import annotations

from typing import Any, Dict, Optional, Type

DONE = 0
FAILED = 1
USAGE = 2
BAD_DATA = 3
DIVERGED = 4
OUT_OF_RESOURCES = 5
STOPPED = 75


class Error(RuntimeError):
    """Base of all errors of this package. Its text says what failed, the value, and what to do.

    exit_code  the exit code of the program; 1 for an error that is not the program's
    output     the JSON that the program printed all the same, such as the states of a sweep's runs; else None
    """

    def __init__(self, message: str, exit_code: int = FAILED, output: Optional[Any] = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.output = output


class UsageError(Error):
    """Wrong usage or configuration (exit code 2)."""


class DataError(Error):
    """Data that are missing, malformed or damaged (exit code 3)."""


class DivergedError(Error):
    """The loss became NaN or infinite (exit code 4)."""


class ResourceError(Error):
    """No disk, memory or other resource is left (exit code 5)."""


class Stopped(Error):
    """It was stopped on request (exit code 75). The same call resumes it."""


_BY_CODE: Dict[int, Type[Error]] = {
    USAGE: UsageError,
    BAD_DATA: DataError,
    DIVERGED: DivergedError,
    OUT_OF_RESOURCES: ResourceError,
    STOPPED: Stopped,
}


def error_of(exit_code: int, message: str, output: Optional[Any] = None) -> Error:
    """The error that stands for an exit code of the program."""
    return _BY_CODE.get(exit_code, Error)(message, exit_code, output)
