"""Forecasts of weighted fits: the guessed weights, what their bounds cost, and what is refused."""

import numpy as np
import pytest

import dpstats as dp
from dpstats import cli
from dpstats.planning.weight_guess import WeightGuess
from dpstats.rows import Weights

CALL = {
    "n": 20_000, "bounds": {"x": (0, 1), "y": (0, 1), "w": (0, 20)}, "epsilon": 4,
    "truth": {"x": 0.3}, "sd": 0.1, "repetitions": 60, "weights": "w", "weights_mean": 1.5,
}  # fmt: skip


def row(plan, method, term="x"):
    frame = plan.frame
    return frame[(frame["method"] == method) & (frame["term"] == term)].iloc[0]


@pytest.mark.parametrize("mean, high", [(1.5, 20.0), (0.9, 1.0), (1.0, 1e4)])
def test_guessed_weights_have_the_mean_and_a_thousandth_at_the_bound(mean, high):
    weights = WeightGuess.of(Weights("w", 0.0, high), mean).draw(10**6, np.random.default_rng(1))
    assert weights.max() <= high and weights.min() > 0
    if high < 118 * mean:
        assert weights.mean() == pytest.approx(mean, rel=0.02)
        assert np.mean(weights >= high) == pytest.approx(0.001, rel=0.2)


def test_the_bound_of_the_weights_decides_over_the_noise():
    """The same rows, weighted and not; a lower bound costs less."""
    wide = dp.plan("y ~ x", methods=["adassp"], **CALL)
    trimmed = dp.plan("y ~ x", methods=["adassp"], trim_weights=4, **CALL)
    bounds = {name: CALL["bounds"][name] for name in "xy"}
    plain = {k: v for k, v in CALL.items() if "weights" not in k} | {"bounds": bounds}
    none = dp.plan("y ~ x", methods=["adassp"], **plain)
    widths = [row(plan, "adassp")["width"] for plan in (none, trimmed, wide)]
    assert widths == sorted(widths) and widths[2] > 1.5 * widths[1]
    assert "noise is 13.3 times that of rows that all weigh the mean" in " ".join(str(wide).split())


def test_robust_intervals_cover_where_residuals_do_not_depend_on_the_weights():
    methods = {"plain": {"method": "ssp"}, "robust": {"method": "ssp", "cov_type": "HC1"}}
    plan = dp.plan("y ~ x", methods=methods, **{**CALL, "epsilon": 50, "repetitions": 200})
    assert row(plan, "robust")["coverage"] > 0.9 > row(plan, "plain")["coverage"]


def test_auto_is_what_the_default_would_take():
    plan = dp.plan("y ~ x", method="auto", **CALL)
    named = dp.plan("y ~ x", methods=["noisy_newton"], **CALL)
    assert row(plan, "auto")["error"] == row(named, "noisy_newton")["error"]
    sums = dp.plan("y ~ x", methods=["adassp"], **CALL)
    assert row(plan, "auto")["error"] < row(sums, "adassp")["error"]


REFUSED = {
    "both": ({"methods": ["adassp"], "method": "ssp"}, "expected methods= or method=, got"),
    "mean": ({"methods": ["adassp"], "weights_mean": 30}, r"expected weights_mean in \(0, 20\)"),
    "alone": ({"methods": ["adassp"], "weights": None, "bounds": {"x": (0, 1), "y": (0, 1)}},
              "weights_mean is for weights"),
    "method": ({"methods": ["tukey"]}, "tukey is not proven for rows of different weights"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_forecast_is_refused_in_one_sentence(case):
    more, message = REFUSED[case]
    with pytest.raises(dp.ArgumentError, match=message):
        dp.plan("y ~ x", **{**CALL, **more})


def test_the_command_line_forecasts_and_fits_weighted_rows(tmp_path, capsys):
    bounds = [f"--bounds={name}" for name in ("x=0,1", "y=0,1", "w=0,20")]
    call = ["plan", "y ~ x", "--n", "5000", "--methods", "adassp", "--epsilon", "4", *bounds]
    more = ["--weights", "w", "--weights-mean", "2", "--trim-weights", "5", "--repetitions", "20"]
    assert cli.main([*call, *more]) == 0
    assert "guessed weights w: lognormal with mean 2" in " ".join(capsys.readouterr().out.split())
    rng, path = np.random.default_rng(1), tmp_path / "rows.csv"
    rows = np.column_stack([rng.uniform(size=(500, 2)), rng.uniform(0.1, 9, 500)])
    np.savetxt(path, rows, delimiter=",", header="x,y,w", comments="")
    call = ["fit", str(path), "y ~ x", "--epsilon", "4", "--method", "adassp", *bounds]
    assert cli.main([*call, "--weights", "w", "--subset", "x > 0.2 & w < 8"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "rows are used where x > 0.2 & w < 8" in printed and "weighted by w" in printed
