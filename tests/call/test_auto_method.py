"""method="auto": what it chooses, and what the default releases on strange tables."""

import math

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.call.auto_method import CROSSING, choose
from dpstats.errors import ArgumentError
from dpstats.formula import Formula
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from dpstats.testing import insecure_seed
from tests.checks.shrunken import LAWS, LINE, NOISE, STRANGE, squeezed

UNIT = {"x": (0, 1), "y": (0, 1)}
PURE, PUBLIC = {"delta": 0}, {"neighbors": REPLACE_ONE}


def fitted(data, formula="y ~ x1 + x2", seed=1, **call):
    """The default method with noise that repeats."""
    with insecure_seed(seed):
        return dp.dp_ols(formula, data, **{"epsilon": 1, **call})


def test_the_shortest_call_has_intervals_without_bounds():
    result = fitted(LINE)
    assert (result.method, result.status) == ("noisy_newton", "ok")
    np.testing.assert_allclose(result.params, [3, 2, -1], rtol=0.1)
    low, high = result.conf_int().to_numpy().T
    assert np.all((low < [3, 2, -1]) & ([3, 2, -1] < high) & (high - low < 1))
    assert "noisy_newton" in result.method_report and result.method_report in squeezed(result)
    assert dp.DPResults.from_json(result.to_json()) == result


CHOICES = [
    ("y ~ x", UNIT, {}, "noisy_newton"),
    ("y ~ x", UNIT, {"delta": 1e-6}, "noisy_newton"),
    ("y ~ x", UNIT, {"neighbors": ADD_REMOVE}, "noisy_newton"),
    ("y ~ x", UNIT, {"rows": math.inf}, "noisy_newton"),
    ("y ~ x", UNIT, {"alone": False}, "exp_theil_sen"),
    ("y ~ x", UNIT, {"alone": False, "delta": 1e-6}, "noisy_newton"),
    ("y ~ x", UNIT, PUBLIC, "exp_theil_sen"),
    ("y ~ x", UNIT, PUBLIC | {"rows": CROSSING}, "noisy_newton"),
    *(("y ~ x", UNIT, PURE | {"rows": n}, "noisy_newton_pure") for n in (0, 10**6, math.inf)),
    ("y ~ x", UNIT, PURE | {"rows": 10**6, "alone": False}, "exp_theil_sen"),
    ("y ~ x", UNIT, {"alone": False, "neighbors": ADD_REMOVE}, "exp_theil_sen"),
    ("y ~ x", UNIT, PURE | PUBLIC, "exp_theil_sen"),
    ("y ~ x", UNIT, PURE | PUBLIC | {"rows": CROSSING - 1}, "exp_theil_sen"),
    ("y ~ x", UNIT, PURE | PUBLIC | {"rows": CROSSING}, "noisy_newton_pure"),
    *(
        ("y ~ x", UNIT, {"options": {"cov_type": "HC1"}, **more}, method)
        for more, method in (
            ({}, "noisy_newton"),
            (PURE, "noisy_newton_pure"),
            ({"alone": False}, "noisy_newton"),
            (PUBLIC, "noisy_newton"),
        )
    ),
    ("y ~ x + z", {}, {"options": {"cov_type": "HC1"}}, "noisy_newton"),
    ("y ~ x + z", {}, {"options": {"cov_type": "HC1"}, "weighted": True}, "noisy_newton"),
    ("y ~ x + z", {}, {"options": {"cov_type": "HC1"}, "levels": 400}, "adassp"),
    ("y ~ x", {"x": (0, 1)}, {}, "noisy_newton"),
    ("y ~ x + z", {**UNIT, "z": (0, 1)}, PURE, "noisy_newton_pure"),
    ("y ~ x + z", {}, PURE | {"levels": 400}, "shrunken_pure"),
    *((f, UNIT, PURE, "noisy_newton_pure") for f in ("y ~ x - 1", "y ~ C(x)", "np.log(y) ~ x")),
]


@pytest.mark.parametrize(("formula", "bounds", "more", "method"), CHOICES)
def test_the_choice_follows_from_public_facts(formula, bounds, more, method):
    facts = {"epsilon": 1, "delta": None, "neighbors": None, "rows": 100, "alone": True}
    facts["options"] = {}
    name, why = choose(Formula.parse(formula), bounds, **{**facts, **more})
    assert name == method and why.startswith(f"auto took {method}")


def test_groups_of_one_line_get_medians():
    people = dp.datasets.oi_microdata()
    bounds = {"kid_rank": (0, 1), "parent_rank": (0, 1)}
    result = dp.dp_ols("kid_rank ~ parent_rank", people, by="cell", epsilon=16, bounds=bounds)
    assert result.method == "exp_theil_sen" and "in groups" in result.summary()


def test_a_companion_of_a_method_with_intervals_is_refused_beforehand():
    with pytest.raises(ArgumentError, match="noisy_newton has intervals of its own"):
        fitted(LINE, companion="adassp")


@pytest.mark.parametrize("seed", range(5))
def test_where_there_is_no_slope_intervals_hold_zero(seed):
    """Ten intervals of 95%: none misses by chance more often than once in a thousand runs."""
    result = fitted(LINE.assign(y=5 + NOISE), seed=seed)
    low, high = result.conf_int(alpha=1e-4).loc[["x1", "x2"]].to_numpy().T
    assert np.all((low < 0) & (0 < high)) and abs(result.params["Intercept"] - 5) < 0.3


@pytest.mark.parametrize("call", [{"epsilon": e} for e in (1e-3, 0.1, 1, 10)] + [PUBLIC], ids=str)
@pytest.mark.parametrize("name", STRANGE)
def test_there_is_always_an_answer_near_the_released_range(name, call):
    result = fitted(STRANGE[name], **call)
    assert np.isfinite(result.params).all()
    far = pd.DataFrame({"x1": [-1e300, 0, 1e300], "x2": [1e300, 0, 1e300]})
    low, high = result.release.evidence.response_range
    values = result.predict(far).to_numpy()
    assert np.all((low <= values) & (values <= high))


@pytest.mark.parametrize("name", LAWS)
def test_with_500_rows_a_prediction_at_the_mean_is_nearly_the_mean(name):
    """The median over 15 tables of what its error takes of R^2, at epsilon = 1."""
    rng, lost = np.random.default_rng(4), []
    for seed in range(15):
        y = LAWS[name](rng, 500)
        result = fitted(pd.DataFrame({"x1": rng.normal(size=len(y)), "y": y}), "y ~ x1", seed)
        lost.append((result.predict({"x1": 0.0})[0] - y.mean()) ** 2 / y.var())
    assert np.median(lost) < 0.08


@pytest.mark.parametrize("columns", [1, 3])
def test_with_few_rows_nothing_wrong_is_called_ok(columns):
    """100 rows at epsilon 1 tell nothing; of 20 seeded fits none is "ok" or shows an interval."""
    rng = np.random.default_rng(7)
    for seed in range(20):
        data = pd.DataFrame(rng.uniform(size=(100, columns))).rename(columns="x{}".format)
        formula = f"y ~ {' + '.join(data)}"
        data["y"] = 0.2 + 0.6 * data.sum(axis=1) + 0.1 * rng.normal(size=100)
        result = fitted(data, formula, seed)
        assert result.status != "ok"
        assert np.isinf(result.conf_int().to_numpy()).all()


KINDS = {
    "default": {},
    "delta=0": {"delta": 0},
    "groups": {"by": "area"},
    "groups, delta=0": {"by": "area", "delta": 0},
    "cov_type": {"cov_type": "HC1"},
}


@pytest.mark.parametrize("rows", [50, 5000])
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_change_no_relation_and_one_budget_serves_all(rows, kind):
    data, budget = dp.simulate.line(rows, seed=1), dp.Budget(4, 1e-3, composition="sum")
    data["area"] = pd.Categorical(["a", "b"] * (rows // 2))
    fits = [fitted(data, "y ~ x", bounds=bounds, budget=budget, **KINDS[kind])
            for bounds in (None, UNIT, {"x": (0, 1)}, {"y": (0, 1)})]  # fmt: skip
    assert {fit.privacy.neighbors for fit in fits} == {budget.neighbors} == {ADD_REMOVE}
    assert budget.spent[0] == pytest.approx(4)


def test_a_relation_that_is_named_is_obeyed():
    data = dp.simulate.line(300, seed=1)
    for call in ({"bounds": UNIT, "delta": 0}, {"bounds": UNIT}, {}):
        for name in (ADD_REMOVE, REPLACE_ONE):
            assert fitted(data, "y ~ x", neighbors=name, **call).privacy.neighbors == name


@pytest.mark.parametrize("rows", [50, 5000])
def test_bounds_do_not_change_the_guarantee_of_the_default(rows):
    """One relation, one delta and one budget serve y ~ x with all bounds, with some and without."""
    data, budget = dp.simulate.line(rows, seed=1), dp.Budget(4, 4e-6, composition="sum")
    declared = [None, UNIT, {"x": (0, 1)}, {"y": (0, 1)}]
    fits = [fitted(data, "y ~ x", bounds=bounds, budget=budget) for bounds in declared]
    assert (
        len({(fit.privacy.neighbors, fit.privacy.epsilon, fit.privacy.delta) for fit in fits}) == 1
    )
    assert {fit.method for fit in fits} == {"noisy_newton"}
    assert budget.spent == pytest.approx((4, 4e-6))
    assert budget.neighbors == ADD_REMOVE
