"""Plans of absorbed effects: the groups are as guessed, and fits come out as forecast."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.evaluate.public_rows import request_for
from dpstats.planning.assumptions import Guess
from dpstats.planning.panel_guess import PanelGuess
from tests.checks.panel_guess import BOX, CALL, SHARES, check_forecast_of_a_panel


def guess_of(n, groups, within_share, **more):
    """Return a guess of y ~ x + z | g."""
    no_rows = {"x": np.empty(0), "z": np.empty(0), "y": np.empty(0), "g": np.empty(0, object)}
    request = request_for("y ~ x + z | g", no_rows, bounds=BOX, x_new=None, method="adassp",
                          absorbing=True)  # fmt: skip
    guessed = {"truth": None, "sd": None, "x_sd": {"z": 1}, **more}
    return Guess.of(request, n, groups=groups, within_share=within_share, **guessed)


def test_shares_of_variance_and_distributions_are_those_guessed():
    """3,000 groups of 20 rows, fixed seed: shares have a standard error of about .01."""
    guess = guess_of(60_000, 3000, SHARES, truth={"x": 0.1}, sd=0.1)
    columns, X, y = guess.table(np.random.default_rng(1))
    residual = y - X @ guess.truth
    for name, values in (("x", columns["x"]), ("z", columns["z"]), ("y", residual)):
        within = values - pd.Series(values).groupby(columns["g"]).transform("mean")
        share = np.sum(within**2) / (60_000 - 3000) / np.var(values)
        assert share == pytest.approx(SHARES[name], abs=0.03), name
    assert np.std(columns["z"]) == pytest.approx(1, abs=0.02)
    ranks = np.quantile(columns["x"], [0.1, 0.5, 0.9])
    np.testing.assert_allclose(ranks, [0.1, 0.5, 0.9], atol=0.02)
    assert np.bincount(columns["g"]).tolist() == [20] * 3000
    assert np.mean(y) == pytest.approx(0.5, abs=0.01)


def test_deviations_are_those_from_group_means():
    guess = PanelGuess("g", 4, {})
    values = np.random.default_rng(2).normal(size=(10, 2))
    expected = pd.DataFrame(values) - pd.DataFrame(values).groupby(np.arange(10) % 4).transform(
        "mean"
    )
    np.testing.assert_allclose(guess.deviations(values), expected, atol=1e-15)
    np.testing.assert_allclose(guess.deviations(values[:, 0]), expected[0], atol=1e-15)


def test_fits_of_a_panel_come_out_as_forecast():
    check_forecast_of_a_panel()


def test_a_forecast_that_ignores_the_groups_is_noticed(monkeypatch):
    """Regressors that vary within groups only give a forecast that fits contradict."""
    monkeypatch.setattr(PanelGuess, "_normal", lambda self, common, n, g: g.normal(size=n))
    with pytest.raises(AssertionError):
        check_forecast_of_a_panel()


def test_least_squares_is_that_with_dummies(monkeypatch):
    """The forecast's own least squares has the estimates and errors of regression on dummies."""
    import statsmodels.api as sm

    tables, fits = [], []
    inside = PanelGuess.least_squares
    monkeypatch.setattr(
        PanelGuess,
        "least_squares",
        lambda groups, problem, X, y: (
            tables.append((X, y)) or fits.append(inside(groups, problem, X, y)) or fits[-1]
        ),
    )
    dp.plan("y ~ x + z | g", n=300, within_share=0.4, **{**CALL, "repetitions": 20})
    X, y = tables[0]
    dummies = pd.get_dummies(np.arange(300) % 40).to_numpy(float)
    fit = sm.OLS(y, np.column_stack([X, dummies])).fit()
    np.testing.assert_allclose(fits[0], np.column_stack([fit.params, fit.bse])[:2], rtol=1e-9)


WRONG = {
    "no groups": ({"groups": None}, "expected groups=, the guessed number of groups of g"),
    "too many": ({"groups": 300}, r"groups to be a whole number in 1\.\.299, got 300"),
    "share 0": ({"within_share": 0}, r"within_share in \(0, 1\], got 0"),
    "share of none": ({"within_share": {"g": 0.5}}, "names 'g'; expected names among: x, z, y"),
    "share text": ({"within_share": {"x": "a"}}, r"within_share\['x'\] in"),
    "no bar": ({"formula": "y ~ x + z"}, "groups and within_share describe the column after"),
    "points": ({"x_new": {"x": [0], "z": [0]}}, "leave x_new out"),
    "method": ({"methods": "shrunken"}, "shrunken cannot absorb g"),
    "by": ({"by": "h"}, "leave by out, with n= and groups= of a typical group"),
}


@pytest.mark.parametrize(("wrong", "message"), WRONG.values(), ids=WRONG)
def test_wrong_guesses_of_groups_are_refused(wrong, message):
    call = {"formula": "y ~ x + z | g", "n": 300, **CALL, **wrong}
    with pytest.raises(dp.ArgumentError, match=message):
        dp.plan(**call)
