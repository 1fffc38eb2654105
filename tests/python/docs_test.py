"""docs/python.md: its programs run, print what stands there, and name what there is."""
import os
import pathlib
import re
import subprocess
import sys

import pytest
import xlm
from conftest import SOURCE, environment, lines_of

PAGE = (SOURCE / "docs" / "python.md").read_text(encoding="utf-8")


def blocks(heading, language="python"):
    """The blocks of a language below a heading, up to the next."""
    section = PAGE.split(f"\n{heading}\n")[1] if heading else PAGE
    found = re.findall(r"^```(\w*)\n(.*?)^```$", section.split("\n## ")[0], re.MULTILINE | re.DOTALL)
    return [text for of, text in found if of == language]


def test_the_version_is_that_of_the_program():
    assert f"project(xlm VERSION {xlm.__version__} " in (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")


def run_program(script, folder, **variables):
    inherited = {name: value for name, value in os.environ.items() if name not in ("XLM_METRICS", "XLM_RUN", "RANK")}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env={**inherited, **variables}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_program_prints_what_stands_there(tmp_path):
    script, shown = blocks("")[0], blocks("", "")[0]
    assert run_program(script, tmp_path) == shown
    assert list(tmp_path.iterdir()) == []


def test_the_first_program_reports_the_same_inside(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    inside = {**environment(folder), "XLM_CONFIG": "{}", "XLM_SEED": "1"}
    assert run_program(blocks("")[0], tmp_path, **inside) == ""
    lines = lines_of(folder)
    assert [line.get("step") for line in lines] == [50, 100, 150, 200, None]
    assert lines[-1]["final"] is True and format(lines[-1]["loss"], ".6g") in blocks("", "")[0]


@pytest.mark.parametrize("heading", ["## Inside a program", "## Adapters"])
def test_programs_that_save_resume(heading, tmp_path):
    for script in blocks(heading):
        folder = tmp_path / heading.replace(" ", "")
        (folder / "checkpoints").mkdir(parents=True)
        inside = {**environment(folder), "XLM_CONFIG": "{}"}
        run_program(script, tmp_path, **inside)
        first = sorted(path.name for path in (folder / "checkpoints").iterdir())
        assert len(first) == 1
        run_program(script, tmp_path, **inside, XLM_RESUME="1")
        assert sorted(path.name for path in (folder / "checkpoints").iterdir()) == first
    if heading == "## Adapters":
        assert [line["sum"] for line in lines_of(folder)] == [sum(range(251))] * 2


def test_runs_are_started_and_read_as_it_says(tmp_path, executable):
    pytest.importorskip("pandas")
    fake = os.environ.get("XLM_TEST_FAKE")
    if not fake or not pathlib.Path(fake).exists():
        pytest.skip("XLM_TEST_FAKE does not name the program with a core that needs no torch")
    (tmp_path / "text.txt").write_text("".join(f"line {i} of a text that says little\n" for i in range(200)))
    subprocess.run([fake, "prepare-data", "text", "--from", "text.txt", "--out", "data"], cwd=tmp_path, check=True)
    started = run_program(blocks("## Starting runs")[0], tmp_path, XLM_EXECUTABLE=fake)
    assert started.count(" done\n") == 6
    read = run_program(blocks("## Results")[0], tmp_path, XLM_EXECUTABLE=executable)
    assert "count" in read and re.search(r"\n8 .* 3\n", read) and "(" in read


def test_the_tables_name_what_there_is():
    inside = PAGE.split("## Inside a program")[1].split("\n## ")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", inside, re.M) for name in re.findall(r"`(\w+)", row)}
    attributes = {name for name in vars(xlm.run()) if not name.startswith("_")}
    methods = {name for name in vars(xlm.Run) if not name.startswith("_")}
    assert named == attributes | methods
    results = PAGE.split("## Results")[1].split("\n## ")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", results, re.M) for name in re.findall(r"`(\w+)\(", row)}
    assert named == {name for name in vars(xlm.Runs) if not name.startswith("_")}
