"""xlm.run() inside a program that xlm started, and outside."""
import copy
import decimal
import fractions
import json
import math
import pickle

import pytest
import xlm
from conftest import lines_of


def test_has_what_xlm_set(inside):
    run = xlm.run()
    assert run.inside and run.seed == 3 and run.folder == inside and run.checkpoints == inside / "checkpoints"
    assert str(run.data) == "/data/text8" and not run.resuming
    assert run.options == {"lr": 0.1, "steps": 5, "layers": [1, 2], "name": "a b"}
    assert run.options.lr == run.options["lr"] == 0.1
    assert run.config["experiment"] == "spans" and run.config.options.steps == 5


def test_the_configuration_may_be_a_file(inside, monkeypatch, tmp_path):
    (tmp_path / "config.json").write_text('{"options": {"lr": 7}}')
    monkeypatch.setenv("XLM_CONFIG", str(tmp_path / "config.json"))
    assert xlm.run().options == {"lr": 7}


@pytest.mark.parametrize("config", ["{", "no-such-file.json", "[]", '{"options": 3}'])
def test_a_broken_configuration_is_an_error(inside, monkeypatch, tmp_path, config):
    if config == "[]":
        (tmp_path / "list.json").write_text(config)
        config = str(tmp_path / "list.json")
    monkeypatch.setenv("XLM_CONFIG", config)
    with pytest.raises(xlm.UsageError, match="XLM_CONFIG") as error:
        xlm.run()
    assert error.value.exit_code == 2


def test_a_seed_that_is_no_number_is_an_error(inside, monkeypatch):
    monkeypatch.setenv("XLM_SEED", "one")
    with pytest.raises(xlm.UsageError, match="XLM_SEED is no whole number: 'one'"):
        xlm.run()


def test_defaults_are_below_what_the_run_sets(inside):
    run = xlm.run({"lr": 5, "width": 8})
    assert run.options.lr == 0.1 and run.options.width == 8


def test_options_cannot_be_changed_and_name_the_nearest_key(inside):
    options = xlm.run().options
    with pytest.raises(AttributeError, match="cannot be changed"):
        options.lr = 3
    with pytest.raises(TypeError):
        options["lr"] = 3
    with pytest.raises(KeyError, match="did you mean 'steps'"):
        options["step"]
    with pytest.raises(AttributeError, match="there is no option 'rate'"):
        options.rate
    assert "lr" in dir(options) and options.get("rate", 2) == 2
    assert copy.deepcopy(options) == options and pickle.loads(pickle.dumps(options)).lr == 0.1
    assert xlm.Options({"a": {"b": 1}}).a.b == 1


def test_reports_lines_as_the_contract_has_them(inside):
    run = xlm.run()
    run.log(100, loss=2.1, **{"train.bpc": 3})
    run.evaluation("valid", step=1000, bpc=1.31)
    run.evaluation("test", bpc=1.3, final=True)
    run.costs(params=12e6, flops_per_token=24e6)
    assert lines_of(inside) == [
        {"step": 100, "loss": 2.1, "train.bpc": 3},
        {"step": 1000, "split": "valid", "bpc": 1.31},
        {"split": "test", "bpc": 1.3, "final": True},
        {"costs": {"params": 12e6, "flops_per_token": 24e6}},
    ]


class Scalar:
    """As numpy, torch and jax have them."""

    def __init__(self, value):
        self.value = value

    def item(self):
        if isinstance(self.value, list):
            raise RuntimeError("a Tensor with 2 elements cannot be converted to Scalar")
        return self.value


def test_takes_every_number(inside):
    run = xlm.run()
    run.log(Scalar(7), a=True, b=Scalar(1.5), c=decimal.Decimal("0.5"), d=fractions.Fraction(1, 4), e=10**20)
    run.log(8.0, a=math.nan, b=math.inf, c=Scalar(-math.inf), d=decimal.Decimal("NaN"))
    assert lines_of(inside) == [
        {"step": 7, "a": 1, "b": 1.5, "c": 0.5, "d": 0.25, "e": 10**20},
        {"step": 8, "a": None, "b": None, "c": None, "d": None},
    ]
    assert "NaN" not in (inside / "metrics.jsonl").read_text(), "which is no JSON"


def test_takes_scalars_of_numpy(inside):
    numpy = pytest.importorskip("numpy")
    xlm.run().log(numpy.int64(2), a=numpy.float32(0.5), b=numpy.array([[3]]), c=numpy.bool_(True), d=numpy.float64("nan"))
    assert lines_of(inside) == [{"step": 2, "a": 0.5, "b": 3, "c": 1, "d": None}]
    with pytest.raises(TypeError, match=r"'a' has more than one element: its shape is \(2,\)"):
        xlm.run().log(1, a=numpy.zeros(2))


@pytest.mark.parametrize(
    "values, error, said",
    [
        ({}, ValueError, "no quantity to log"),
        ({"loss": "2.1"}, TypeError, "'loss' is str '2.1', which is no number"),
        ({"loss": None}, TypeError, "no number"),
        ({"loss": Scalar([1, 2])}, TypeError, "more than one element"),
        ({"a b": 1}, ValueError, "no quantity can be called 'a b'.*\n.*for example 'a_b'"),
        ({"train/loss": 1}, ValueError, "for example 'train.loss'"),
        ({"9lives": 1}, ValueError, "for example '_9lives'"),
        ({"a..b": 1}, ValueError, "for example 'a.b'"),
        ({"a.": 1}, ValueError, "for example 'a'"),
        ({"größe": 1}, ValueError, "no quantity can be called"),
        ({"": 1}, ValueError, "no quantity can be called ''"),
        ({"a" * 101: 1}, ValueError, "100 bytes at most"),
        ({"split": 1}, ValueError, "cannot be called 'split'"),
        ({"costs": 1}, ValueError, "cannot be called 'costs'"),
    ],
)
def test_names_what_cannot_be_reported(inside, values, error, said):
    with pytest.raises(error, match=said):
        xlm.run().log(1, **values)
    assert not (inside / "metrics.jsonl").exists()


@pytest.mark.parametrize(
    "step, error", [(-1, ValueError), (1.5, TypeError), ("1", TypeError), (True, TypeError), (None, TypeError)]
)
def test_a_step_is_a_whole_number(inside, step, error):
    with pytest.raises(error, match="a step is"):
        xlm.run().log(step, loss=1)


@pytest.mark.parametrize("split", ["", "dev", "test.bpc", 3, None])
def test_a_split_is_one_of_three(inside, split):
    with pytest.raises(ValueError, match="a split is train, valid or test, but this is"):
        xlm.run().evaluation(split, bpc=1)


def test_only_rank_0_reports(inside, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    run = xlm.run()
    assert not run.is_main
    run.log(1, loss=1)
    run.evaluation("valid", bpc=1)
    run.costs(params=1)
    assert not (inside / "metrics.jsonl").exists()
    xlm.run(every_rank=True).log(1, loss=1)
    monkeypatch.setenv("RANK", "0")
    xlm.run().log(2, loss=1)
    assert [line["step"] for line in lines_of(inside)] == [1, 2]


def test_stops_with_the_documented_code(inside):
    with pytest.raises(SystemExit) as stop:
        xlm.run().stop()
    assert stop.value.code == 75


def test_outside_it_prints(monkeypatch, capsys, tmp_path):
    for name in ("XLM_METRICS", "XLM_RUN", "XLM_RESUME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    run = xlm.run({"lr": 0.1})
    run.log(10, loss=2.123456789, lr=math.nan)
    run.evaluation("valid", step=10, bpc=1.5)
    run.evaluation("test", bpc=1, final=True)
    run.costs(params=12e6)
    assert capsys.readouterr().out.splitlines() == [
        "step 10  loss 2.12346  lr nan",
        "valid  step 10  bpc 1.5",
        "test (final)  bpc 1",
        "costs  params 1.2e+07",
    ]
    assert not run.inside and run.seed == 1 and run.data is None and run.options.lr == 0.1
    assert run.checkpoints == tmp_path / "checkpoints" and not run.resuming and run.newest_checkpoint() is None
    assert list(tmp_path.iterdir()) == [], "nothing is written"
    with pytest.raises(ValueError):
        run.log(1)
    assert "outside of xlm" in repr(run)


def test_lines_are_whole_json(inside):
    run = xlm.run()
    run.log(1, **{"train.loss-2": 1})
    text = (inside / "metrics.jsonl").read_bytes()
    assert text.endswith(b"\n") and json.loads(text) == {"step": 1, "train.loss-2": 1}


def test_reports_grids(inside):
    run = xlm.run()
    run.grid(5, "spans", [[1, 2.5], [None, math.nan, 3]])
    run.grid(6, "attention", [[1, 2]], columns=[1, 8])
    assert lines_of(inside) == [
        {"step": 5, "grid": {"name": "spans", "rows": [[1, 2.5], [None, None, 3]]}},
        {"step": 6, "grid": {"name": "attention", "rows": [[1, 2]], "columns": [1, 8]}},
    ]
    for columns in ([1], [2, 1], [1, 1]):
        with pytest.raises(ValueError, match="must rise"):
            run.grid(7, "attention", [[1, 2]], columns=columns)
    with pytest.raises(ValueError, match="no quantity can be called"):
        run.grid(7, "a b", [[1]])
