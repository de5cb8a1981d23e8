"""Tables made from a guess: what was guessed, within the bounds."""

from types import SimpleNamespace

import numpy as np
import pytest

import dpstats as dp
from dpstats.evaluate.public_rows import request_for
from dpstats.planning.assumptions import Guess
from dpstats.planning.simulation import Simulation, _of_rows
from dpstats.planning.trials import Trials
from dpstats.testing import insecure_seed
from tests.checks.plans import UNIT, guess_of


@pytest.mark.parametrize(
    ("more", "mean", "sd"),
    [({}, 0.5, 1 / 12**0.5), ({"x_sd": {"x": 0.1}}, 0.5, 0.1)],
)
def test_simulated_tables_are_what_was_guessed(more, mean, sd):
    guess = guess_of(truth={"x": 0.5}, sd=0.05, **more)
    X, y = guess.rows(np.random.default_rng(1))
    assert X.shape == (20_000, 2) and (X[:, 0] == 1).all()
    assert np.mean(X[:, 1]) == pytest.approx(mean, abs=0.01)
    assert np.std(X[:, 1]) == pytest.approx(sd, rel=0.03)
    residuals = y - guess.truth @ X.T
    assert np.std(residuals) == pytest.approx(0.05, rel=0.03)
    assert np.mean(residuals) == pytest.approx(0, abs=0.002)


def test_simulated_tables_stay_within_the_bounds():
    guess = guess_of(truth={"x": 3}, x_sd={"x": 5})
    X, y = guess.rows(np.random.default_rng(1))
    assert (X.min(), X.max(), y.min(), y.max()) == (0, 1, 0, 1)
    assert guess.sd == pytest.approx(1 / 6)
    clipped = [text for text in guess.sentences(np.random.default_rng(1)) if "outside" in text]
    assert float(clipped[0].split(";")[1].split("%")[0]) > 30


PLANNED = {"n": 300, "bounds": UNIT, "truth": {"x": 0.3}, "sd": 0.1, "epsilon": [2, 8],
           "methods": ["adassp", "noisy_moments", "exp_theil_sen"]}  # fmt: skip


def test_with_a_precision_trials_end_when_widths_are_known():
    whole = dp.plan("y ~ x", **PLANNED, repetitions=300)
    part = dp.plan("y ~ x", **PLANNED, repetitions=300, precision=0.05)
    assert whole.fewest == whole.repetitions == 300
    assert part.fewest == 9 and 9 < part.repetitions < 300 and part.width_error <= 0.05
    kept = whole.frame["width"].notna() & whole.frame["term"].isin(["Intercept", "x"])
    ratio = (part.frame["width"] / whole.frame["width"])[kept]
    assert len(ratio) == 2 * (2 * 2 + 1) and abs(np.log(ratio)).max() < 0.08
    assert f"From 9 to {part.repetitions} synthetic tables" in " ".join(str(part).split())
    assert f"uncertain by up to {part.width_error:.1%}; percentages are uncertain by up to 33" in (
        " ".join(str(part).split())
    )


@pytest.mark.parametrize("spread", [0.03, 0.1, 0.3])
def test_a_median_width_is_rarely_further_off_than_the_precision(spread):
    """Several looks make misses likelier and the longer side of an interval less likely: 2%."""
    settings = SimpleNamespace(precision=0.05, repetitions=1000)
    looks = [*sorted(Simulation._looks(settings)), settings.repetitions]
    assert looks[:4] == [9, 14, 21, 32]
    generator, missed, drawn = np.random.default_rng(3), [], []
    for _ in range(600):
        widths = np.exp(spread * generator.normal(size=settings.repetitions))
        for after in looks:
            ends = np.stack([np.zeros(after), widths[:after]], axis=-1)[:, None]
            trials = Trials(np.zeros((after, 1)), ends, np.zeros(1))
            if trials.width_error()[0] <= settings.precision:
                break
        missed.append(abs(trials.width()[0] - 1) > settings.precision)
        drawn.append(after)
    assert np.mean(missed) < 0.05 and np.mean(drawn) < 0.9 * settings.repetitions


FACTOR = {"bounds": UNIT, "levels": {"g": ["a", "b", "c"]}, "methods": ["noisy_newton", "adassp"],
          "epsilon": 2, "repetitions": 20}  # fmt: skip


def test_labels_of_a_planned_table_are_not_read_cell_by_cell(monkeypatch):
    """Methods read their rows more than ten times, and cells of text take most of that time."""
    expected = dp.plan("y ~ x + g", n=300, **FACTOR).frame
    monkeypatch.delattr("dpstats.engines.columns.python_columns.PythonColumn.located")
    assert dp.plan("y ~ x + g", n=300, **FACTOR).frame.equals(expected)
    assert not expected["failed"].any()


@pytest.mark.parametrize("levels", [["a", "b", "c"], [1, 2.5, "x"], [False, True]])
def test_a_planned_fit_is_that_of_the_same_rows_as_labels(levels):
    call = {"bounds": UNIT, "levels": {"g": levels}}
    rows = {"x": np.empty(0), "g": np.empty(0, object), "y": np.empty(0)}
    request = request_for("y ~ x + g", rows, method="noisy_newton", epsilon=2, x_new=None, **call)
    guess = Guess.of(request, 400, truth={"x": 0.3}, sd=0.1, x_sd={})
    columns, _, y = guess.table(np.random.default_rng(1))
    with insecure_seed(3):
        planned = _of_rows(request, 400, {**columns, "y": y})
    labels = {**columns, "g": columns["g"].astype(object), "y": y}
    with insecure_seed(3):
        fit = dp.dp_ols("y ~ x + g", labels, method="noisy_newton", epsilon=2, **call)
    np.testing.assert_array_equal(planned.params, fit.params)
    assert np.isfinite(planned.params).all()
