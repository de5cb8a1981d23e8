"""A status says which slopes have a bounded interval, of one fit and of many."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.inference import slopes_of, statuses

OPEN = np.array([[False, False], [True, False], [True, True]])


@pytest.mark.parametrize("released", ["ok", "imprecise"])
def test_slopes_without_an_interval_are_named(released):
    found = statuses([released] * 3, OPEN)
    assert found == (released, "imprecise", "not_identified")


@pytest.mark.parametrize("released", ["constant", "failed", "no_range", "not_identified"])
def test_other_outcomes_stay(released):
    assert statuses([released] * 3, OPEN) == (released,) * 3


def test_the_intercept_is_no_slope_but_of_a_model_of_a_constant():
    assert slopes_of(3, 1).tolist() == [0, 2]
    assert slopes_of(2, None).tolist() == [0, 1]
    assert slopes_of(1, 0).tolist() == [0]


def table(n):
    """A regressor that hardly varies, one that follows another, levels with few rows or none."""
    draw = np.random.default_rng(n)
    x = draw.uniform(0, 1, n)
    z = np.where(draw.random(n) < 0.97, 0.0, draw.uniform(0, 1, n))
    g = draw.choice(list("abc"), n, p=[0.6, 0.385, 0.015])
    y = np.clip(0.2 + 0.4 * x + 0.2 * (g == "b") + draw.normal(0, 0.1, n), 0, 1)
    w = np.clip(x + draw.normal(0, 0.02, n), 0, 1)
    return pd.DataFrame({"x": x, "z": z, "w": w, "g": g, "y": y, "half": np.arange(n) % 2})


BOUNDS = dict.fromkeys(("x", "z", "w", "y"), (0, 1))
WIDE = ("y ~ x", "y ~ x + z", "y ~ x + w", "y ~ x + C(g)", "y ~ 0 + C(g) + x")


def calls():
    """Every method that has intervals, with each of its covariance types, and its formulas."""
    for name, method in dp.METHODS.items():
        formulas = ("y ~ x", "y ~ z") if method.single_regressor else WIDE
        more = {"m": 25} if name == "tukey" else {}
        more |= {"ci": True, "neighbors": "replace_one"} if "ci" in method.options else {}
        yield name, formulas, more
        if "cov_type" in method.options:
            yield name, formulas, {**more, "cov_type": "HC1"}


def expected(released, ends) -> set[str]:
    """The statuses that agree with the intervals (k, 2) of slopes and with what was released."""
    unbounded = np.isinf(ends).any(axis=1)
    if released not in ("ok", "imprecise"):
        return {released}
    if not unbounded.any():
        return {released}
    return {"not_identified"} if unbounded.all() else {"imprecise"}


@pytest.mark.parametrize(("name", "formulas", "more"), [*calls()], ids=str)
@pytest.mark.parametrize("epsilon", [0.5, 4])
def test_no_fit_is_ok_with_an_unbounded_slope(name, formulas, more, epsilon):
    data, levels = table(600), {"g": list("abcd")}
    for formula in formulas:
        call = {"method": name, "epsilon": epsilon, "bounds": BOUNDS, **more}
        if "C(g)" in formula:
            call["levels"] = levels
        with dp.testing.insecure_seed(1):
            fit = dp.dp_ols(formula, data, **call)
            by = dp.dp_ols(formula, data, by="half", groups=[0, 1, 2], **call)
        slopes = [name for name in fit.names if name != "Intercept"]
        ends = fit.conf_int().loc[slopes].to_numpy()
        assert fit.status in expected(fit.release.status, ends), (formula, fit.status)
        if np.isinf(ends).any():
            assert fit.status != "ok" and fit.reasons.get("conf_int", fit.reasons["bse"])
        for label, one in by.items():
            ends = one.conf_int().loc[slopes].to_numpy()
            released = by.released[by.labels.index(label)]
            assert by.status[label] == one.status
            assert one.status in expected(released, ends), (formula, label)
