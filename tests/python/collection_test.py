"""Results of run folders as frames, against numbers that are computed here."""
import statistics

import pytest
import xlm
from conftest import bpc_of, make_run
from xlm import frames

SEEDS = (1, 2, 3)


@pytest.fixture
def runs(executable, made_runs):
    return xlm.Runs(made_runs)


@pytest.fixture(params=["all libraries", "no pyarrow", "neither"])
def libraries(request, monkeypatch):
    """What is installed: every method works without pandas and without pyarrow."""
    missing = {"all libraries": (), "no pyarrow": ("pyarrow",), "neither": ("pyarrow", "pandas")}[request.param]
    for name in ("pandas", "pyarrow"):
        if name not in missing:
            pytest.importorskip(name)
    monkeypatch.setattr(frames, "has", lambda library: library not in missing)
    monkeypatch.setattr("xlm.collection.has", lambda library: library not in missing)
    monkeypatch.setattr("xlm.table.has", lambda library: library not in missing)
    return request.param


def rows_of(frame):
    """A frame as a list of dictionaries, whatever it is."""
    return frame if isinstance(frame, list) else frame.to_dict("records")


def test_a_frame_has_all_columns_with_their_types(runs, libraries):
    rows = rows_of(runs.frame())
    assert len(rows) == 6
    by_setting = {(row["model.span"], row["seed"]): row for row in rows}
    assert sorted(by_setting) == [(span, seed) for span in (64, 256) for seed in SEEDS]
    for (span, seed), row in by_setting.items():
        assert row["test.bpc"] == bpc_of(span, seed) and row["flops_per_token"] == 1e6 * span
        assert row["status"] == "done" and row["experiment"] == "spans" and row["data.name"] == "text8"
        assert row["train.tf32"] is False or row["train.tf32"] == False  # noqa: E712 (numpy has its own type)
        assert row["created"].year == 1970 and row["created"].utcoffset().total_seconds() == 0


def test_a_frame_of_columns_keeps_their_order(runs, libraries):
    rows = rows_of(runs.frame(where="model.span=256", columns=["seed", "test.bpc", "=2*test.bpc", "created"]))
    assert [list(row) for row in rows] == [["seed", "test.bpc", "=2*test.bpc", "created"]] * 3
    for row in rows:
        assert row["test.bpc"] == bpc_of(256, row["seed"]) and row["=2*test.bpc"] == 2 * row["test.bpc"]
        assert row["created"].year == 1970
    assert list(rows_of(runs.frame(columns=["run_id", "seed"]))[0]) == ["run_id", "seed"]
    assert list(rows_of(runs.frame(columns="seed,test.bpc"))[0]) == ["seed", "test.bpc"]


def test_missing_values_stay_missing(runs, made_runs, libraries):
    make_run(made_runs / "adaptive-span-text8-00000000000000ff", span=1024, seed=1, time=9000.0, state="failed")
    for frame in (runs.frame(), runs.frame(columns=["model.span", "test.bpc"])):
        values = [row["test.bpc"] for row in rows_of(frame) if row["model.span"] == 1024]
        assert len(values) == 1 and (values[0] is None or values[0] != values[0])


@pytest.mark.parametrize(
    "where, count",
    [
        ("seed=1", 2),
        (["seed=1", "model.span=64"], 1),
        ({"seed": [1, 2], "model.span": 64}, 2),
        ({"experiment": "spans", "train.tf32": False}, 6),
        ({"status": ["done", "failed"]}, 6),
        ("test.bpc<1.9", 3),
        ("seed=9", 0),
        ({"data.name": "no, such=data"}, 0),
    ],
)
def test_conditions(runs, libraries, where, count):
    for frame in (runs.frame(where), runs.frame(where, columns=["run_id"])):
        assert len(frame) == count
    assert len(runs.series("loss", where=where)) == 2 * count
    assert len(runs.evaluations("bpc", where=where)) == 2 * count


def test_a_new_run_is_there_at_once(runs, made_runs):
    assert len(runs.frame()) == 6
    make_run(made_runs / "adaptive-span-text8-00000000000000ff", span=64, seed=9, time=9000.0)
    assert len(runs.frame()) == 7


def test_series(runs, libraries):
    rows = rows_of(runs.series("loss", where={"model.span": 64, "seed": 2}))
    assert [(row["name"], row["step"], row["value"]) for row in rows] == [
        ("loss", 50, bpc_of(64, 2) + 0.5),
        ("loss", 100, bpc_of(64, 2) + 0.25),
    ]
    assert list(rows[0]) == ["run_id", "name", "step", "value"]
    assert {row["name"] for row in rows_of(runs.series())} == {"loss", "lr"}
    with pytest.raises(xlm.UsageError, match="did you mean 'loss'"):
        runs.series("los")


def test_evaluations(runs, libraries):
    rows = rows_of(runs.evaluations("bpc", where={"model.span": 64, "seed": 2}))
    assert {row["split"]: row["value"] for row in rows} == {"test": bpc_of(64, 2), "valid": bpc_of(64, 2) - 0.1}
    assert all(row["final"] == 1 and row["step"] == 100 and row["time"].year == 1970 for row in rows)


def test_sql(runs, libraries):
    rows = rows_of(runs.sql("SELECT run_id AS z, test_bpc AS a FROM results ORDER BY test_bpc LIMIT 2"))
    assert [list(row) for row in rows] == [["z", "a"]] * 2
    assert [row["a"] for row in rows] == [bpc_of(256, 1), bpc_of(256, 2)]
    assert len(runs.sql("SELECT 1 WHERE 0")) == 0
    with pytest.raises(xlm.Error, match="no such table"):
        runs.sql("SELECT * FROM no_table")


def test_compare(runs):
    comparison = runs.compare("model.span=64", "model.span=256", value="test.bpc")
    differences = [bpc_of(64, seed) - bpc_of(256, seed) for seed in SEEDS]
    sd = statistics.stdev(differences)
    assert comparison.pairs == 3 and comparison.differ_in == ["model.span"]
    assert comparison.test == "paired-t" and comparison.freedom == 2
    assert comparison.difference == pytest.approx(statistics.mean(differences), rel=1e-12)
    assert comparison.half_width == pytest.approx(4.302652729749462 * sd / 3**0.5, rel=1e-9)  # Student's t, 2 degrees
    assert comparison.effect == pytest.approx(statistics.mean(differences) / sd, rel=1e-9)
    assert comparison.interval == (
        comparison.difference - comparison.half_width,
        comparison.difference + comparison.half_width,
    )
    assert comparison.a.mean == pytest.approx(statistics.mean(bpc_of(64, seed) for seed in SEEDS)) and comparison.a.n == 3
    assert comparison.documents is None, "no run kept the losses of documents"
    one = runs.compare("model.span=64", "model.span=256", where="seed=1", level=90)
    assert one.pairs == 1 and one.interval is None and one.p is None
    chosen = runs.compare("model.span=64", "model.span=256", choose=["optimizer.lr"], by="valid.bpc")
    assert chosen.pairs == 3 and chosen.difference == comparison.difference
    with pytest.raises(xlm.DataError, match="no run"):
        runs.compare("model.span=64", "model.span=3")


RECIPE = """
tables:
  spans: {table: Bits by span, rows: model.span, columns: seed, cells: {value: test.bpc, digits: 3}}
  losses: {table: Parameters, rows: model.span, cells: {value: params}}
"""


def test_tables(runs, libraries, tmp_path):
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    table = runs.table(tmp_path / "recipe.yaml", "spans")
    assert table.title == "Bits by span" and table.rows == ["64", "256"] and table.columns == ["1", "2", "3"]
    assert table.cells[1][0]["value"] == bpc_of(256, 1) and table.cells[1][0]["n"] == 1
    frame = table.frame()
    if isinstance(frame, list):
        assert frame[0] == {"row": "64", **{str(seed): bpc_of(64, seed) for seed in SEEDS}}
    else:
        assert frame.loc["256", "3"] == bpc_of(256, 3) and frame.shape == (2, 3)
    assert [each.name for each in runs.tables(tmp_path / "recipe.yaml")] == ["spans", "losses"]
    with pytest.raises(ValueError, match="2 tables: spans, losses"):
        runs.table(tmp_path / "recipe.yaml")
    with pytest.raises(xlm.Error):
        runs.table(tmp_path / "recipe.yaml", "none")


def test_show(runs, made_runs):
    run = runs.show("adaptive-span-text8-0000000000000001")
    assert run["run_id"] == "adaptive-span-text8-0000000000000001" and run["params"]["model.span"] == 64


def test_errors_have_the_programs_message_and_code(runs, tmp_path):
    with pytest.raises(xlm.UsageError, match=r"column 'tst.bpc' \(did you mean 'test.bpc'\?\)") as usage:
        runs.frame(columns=["tst.bpc"])
    assert usage.value.exit_code == 2 and not str(usage.value).startswith("error")
    with pytest.raises(xlm.DataError, match="there is no folder of runs") as data:
        xlm.Runs(tmp_path / "none").frame()
    assert data.value.exit_code == 3
    with pytest.raises(xlm.UsageError):
        runs.frame(where="modl.span=3")


def test_a_folder_without_runs_is_an_empty_frame(executable, tmp_path, libraries):
    (tmp_path / "empty").mkdir()
    assert len(xlm.Runs(tmp_path / "empty").frame()) == 0
    assert len(xlm.Runs(tmp_path / "empty").frame(columns=["seed"])) == 0


def test_a_store_may_lie_elsewhere(executable, made_runs, tmp_path):
    assert len(xlm.Runs(made_runs, store=tmp_path / "my.db").frame()) == 6
    assert (tmp_path / "my.db").exists() and not (made_runs / "results.db").exists()


def test_warnings_of_the_program_are_pythons(runs, made_runs):
    with (made_runs / "adaptive-span-text8-0000000000000001" / "journal.jsonl").open("a") as journal:
        journal.write("no json\n")
    with pytest.warns(RuntimeWarning, match="journal"):
        runs.frame()


def test_the_program_is_sought_and_named(executable, made_runs, monkeypatch, tmp_path):
    monkeypatch.delenv("XLM_EXECUTABLE")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(xlm.Error, match="neither in this package nor on PATH"):
        xlm.Runs(made_runs).frame()
    (tmp_path / "xlm").symlink_to(executable)
    assert len(xlm.Runs(made_runs).frame()) == 6
    monkeypatch.setenv("XLM_EXECUTABLE", str(tmp_path / "none"))
    with pytest.raises(xlm.Error, match="is no program"):
        xlm.Runs(made_runs).frame()
    assert len(xlm.Runs(made_runs, executable=executable).frame()) == 6
