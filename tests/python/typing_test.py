"""The hints hold, as mypy --strict reads them, and users get them."""
import subprocess
import sys

import pytest
from conftest import SOURCE

USE = """
import pathlib
import xlm
from xlm.adapters import loop

run = xlm.run({"lr": 0.1})
run.log(1, loss=2.0)
seed: int = run.seed
data: "pathlib.Path | None" = run.data
for step in loop.steps(run, 10, save=lambda path: path.write_text(""), load=print):
    whole: int = step
half_width: "float | None" = xlm.Runs("runs").compare("seed=1", "seed=2").half_width
"""

WRONG = USE + """
run.seed + "text"
run.evaluation(step=3)
"""


@pytest.fixture
def check(tmp_path, tmp_path_factory):
    pytest.importorskip("mypy")
    cache = tmp_path_factory.getbasetemp() / "mypy"  # shared, as reading the libraries takes most of the time

    def run_mypy(*arguments):
        command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    return run_mypy


def test_the_package_passes(check):
    done = check(str(SOURCE / "python" / "xlm"))
    assert done.returncode == 0, done.stdout


def test_programs_that_use_it_are_checked(check, tmp_path):
    (tmp_path / "use.py").write_text(USE)
    done = check("use.py")
    assert done.returncode == 0, done.stdout
    (tmp_path / "wrong.py").write_text(WRONG)
    done = check("wrong.py")
    assert done.returncode == 1 and "[operator]" in done.stdout and "[call-arg]" in done.stdout, done.stdout


def test_the_package_says_that_it_is_typed():
    assert (SOURCE / "python" / "xlm" / "py.typed").exists()
    assert "py.typed" in (SOURCE / "pyproject.toml").read_text()
