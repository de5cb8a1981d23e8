"""Plans of absorbed effects: the groups are as guessed, and fits come out as forecast."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.evaluate.public_rows import request_for
from dpstats.planning.assumptions import Guess
from dpstats.planning.panel_guess import PanelGuess

BOX = {"x": (0, 1), "z": (-4, 4), "y": (0, 1)}
CALL = {"bounds": BOX, "methods": "adassp", "epsilon": 4, "groups": 40, "repetitions": 200,
        "truth": {"x": 0.1, "z": -0.02}, "sd": 0.06, "x_sd": {"z": 1}}  # fmt: skip
SHARES = {"x": 0.3, "z": 0.6, "y": 0.5}


def guess_of(n, groups, within_share, **more):
    """Return a guess of y ~ x + z | g."""
    no_rows = {"x": np.empty(0), "z": np.empty(0), "y": np.empty(0), "g": np.empty(0, object)}
    request = request_for("y ~ x + z | g", no_rows, bounds=BOX, x_new=None, method="adassp",
                          absorbing=True)  # fmt: skip
    return Guess.of(request, n, more.pop("truth", None), more.pop("sd", None), {"z": 1}, None,
                    None, groups, within_share)  # fmt: skip


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


def panel(generator, n=8000, groups=40):
    """Draw a panel of unequal groups, on its own, whose moments are those of the guess."""
    g = generator.integers(groups, size=n)
    mixed = generator.normal(size=groups)[g] * 0.7**0.5 + generator.normal(size=n) * 0.3**0.5
    x = np.clip(0.5 + mixed / 12**0.5, 0, 1)
    z = generator.normal(size=groups)[g] * 0.4**0.5 + generator.normal(size=n) * 0.6**0.5
    effects = generator.normal(size=groups)[g] * 0.06
    y = 0.45 + 0.1 * x - 0.02 * z + effects + generator.normal(size=n) * 0.06
    return {"x": x, "z": z, "y": y, "g": g}


def check_forecast_of_a_panel():
    """Errors and widths of 200 fits differ from the forecast by less than a factor of 1.57.

    The median of 200 absolute errors has a standard error of 8%, so that the logarithm of the
    quotient of two has one of .12: a tolerance of .45 has a false alarm in 5,000. Widths are far
    more certain. A forecast that is wrong by a factor of 2 is off by .69.
    """
    frame = dp.plan("y ~ x + z | g", n=8000, within_share=SHARES, **CALL).frame
    forecast = frame[frame["method"] == "adassp"].set_index("term")
    errors, widths = [], []
    for i in range(200):
        data = panel(np.random.default_rng([3, i]))
        with dp.testing.insecure_seed(20_000 + i):
            fit = dp.dp_ols("y ~ x + z | g", data, method="adassp", epsilon=4, bounds=BOX)
        errors.append(abs(fit.params - pd.Series({"x": 0.1, "z": -0.02})))
        ends = fit.conf_int()
        widths.append(ends.iloc[:, 1] - ends.iloc[:, 0])
    for name in ("x", "z"):
        error = pd.DataFrame(errors)[name].median() / forecast.loc[name, "error"]
        width = pd.DataFrame(widths)[name].median() / forecast.loc[name, "width"]
        assert abs(np.log(error)) < 0.45, name
        assert abs(np.log(width)) < 0.2, name


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
