"""The program `xlm`: where it is, and calls of it whose errors are exceptions."""
from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any, Dict, List, Optional, Sequence

from .errors import DONE, Error, error_of

_IN_WHEEL = pathlib.Path(__file__).resolve().parent / "bin" / "xlm"


def environment() -> Dict[str, str]:
    """The environment for the program: it finds the libtorch of the torch wheel that is installed."""
    variables = dict(os.environ)
    torch = importlib.util.find_spec("torch")  # found, not imported: that takes seconds
    if torch is not None and torch.submodule_search_locations:
        variables.setdefault("XLM_LIBTORCH", os.path.join(torch.submodule_search_locations[0], "lib"))
    return variables


def replace_this_process(arguments: Sequence[str]) -> None:
    """Becomes the program of the wheel, for the command `xlm` of a Python environment."""
    os.execve(_IN_WHEEL, [str(_IN_WHEEL), *arguments], environment())


def find_executable(given: Optional[str] = None) -> str:
    """The program: `given`, else what XLM_EXECUTABLE names, else that of this package's wheel, else that on PATH.

    Raises Error if there is none.
    """
    named = given or os.environ.get("XLM_EXECUTABLE")
    if named:
        found = shutil.which(named)
        if not found:
            raise Error(f"{named} is no program\nset XLM_EXECUTABLE to the program xlm, such as build/release/bin/xlm")
        return found
    found = str(_IN_WHEEL) if _IN_WHEEL.exists() else shutil.which("xlm")
    if not found:
        raise Error(
            "the program xlm is neither in this package nor on PATH; without it, xlm.run() works, and xlm.Runs reads its store\n"
            "set XLM_EXECUTABLE to it, or install the wheel that has it (docs/python.md)"
        )
    return found


def has_program(given: Optional[str] = None) -> bool:
    """Whether find_executable finds one: what is named counts, whether or not it is there."""
    return bool(given or os.environ.get("XLM_EXECUTABLE") or _IN_WHEEL.exists() or shutil.which("xlm"))


def call(
    arguments: Sequence[str], *, executable: Optional[str] = None, stdin: Optional[str] = None, show_progress: bool = False
) -> Any:
    """What `xlm ARGUMENTS --json` prints, as Python values; None if it prints nothing.

    With `show_progress` its messages appear on sys.stderr as they come. Otherwise its warnings become Python's, and the
    rest is passed over. Raises the Error of its exit code. Ctrl-C reaches the program too: this waits until it has
    stopped, then raises KeyboardInterrupt.
    """
    command = [find_executable(executable), "--json", *arguments]
    with subprocess.Popen(
        command,
        env=environment(),
        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process, ThreadPoolExecutor(2) as readers:  # both pipes are read at once, so that the program never waits
        assert process.stdout and process.stderr
        output_text = readers.submit(process.stdout.read)
        message_lines = readers.submit(_read_messages, process.stderr, show_progress)
        if process.stdin is not None:
            _feed(process.stdin, stdin or "")
        interrupted = _wait(process)
        text, messages = output_text.result(), message_lines.result()
    if interrupted:
        raise KeyboardInterrupt
    output = _parsed(text, command)
    if process.returncode != DONE:
        raise error_of(process.returncode, _error_text(messages, output, process.returncode, arguments), output)
    if not show_progress:
        for line in messages:
            if line.startswith("warning: "):
                warnings.warn(line[len("warning: "):].rstrip(), RuntimeWarning, stacklevel=3)
    return output


def _wait(process: "subprocess.Popen[str]") -> bool:
    """Waits for the program's end. Returns whether Ctrl-C was pressed, which the terminal sends to the program as well."""
    interrupted = False
    while True:
        try:
            process.wait()
            return interrupted
        except KeyboardInterrupt:
            interrupted = True


def _feed(pipe: IO[str], text: str) -> None:
    try:
        with pipe:
            pipe.write(text)
    except BrokenPipeError:
        pass  # it ended before it had read all, and says why


def _read_messages(pipe: IO[str], show: bool) -> List[str]:
    """The lines of the program's standard error, which are shown as they come if wanted."""
    lines = []
    for line in pipe:
        lines.append(line)
        if show:
            sys.stderr.write(line)
            sys.stderr.flush()
    return lines


def _parsed(text: str, command: Sequence[str]) -> Any:
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except ValueError:
        raise Error(f"{' '.join(command)} printed no JSON: {text:.200}") from None


def _error_text(messages: Sequence[str], output: Any, exit_code: int, arguments: Sequence[str]) -> str:
    """The program's message; of a sweep, which ends without one, the runs that are not done."""
    begin = next((i for i, line in enumerate(messages) if line.startswith("error: ")), None)
    if begin is not None:
        return "".join(messages[begin:])[len("error: "):].strip()
    if isinstance(output, list):
        left = [each for each in output if isinstance(each, dict) and each.get("status") not in ("done", "pruned")]
        lines = [f"{each.get('run_id')}: {each.get('status')}, {each.get('reason', 'no reason is known')}" for each in left]
        if lines:
            return f"{len(lines)} of {len(output)} runs are not done\n" + "\n".join(lines[:5])
    last = "".join(messages[-3:]).strip()
    return last or f"xlm {' '.join(arguments)} ended with exit code {exit_code}"
