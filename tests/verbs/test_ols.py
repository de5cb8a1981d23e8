"""Several group columns, and several formulas in one call."""

import math

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.privacy import GDP

BOUNDS = {"x": (0, 1), "y": (0, 1), "z": (0, 1)}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    n = 600
    frame = pd.DataFrame({"x": rng.uniform(size=n)})
    frame["y"], frame["z"] = 0.2 + 0.5 * frame["x"], 0.9 - 0.5 * frame["x"]
    frame["state"] = pd.array(rng.choice(["A", "B"], n), dtype="string")
    frame["tract"] = rng.integers(1, 4, n)
    return frame[(frame["state"] != "B") | (frame["tract"] != 3)]


def fit(data, formula="y ~ x", method="noisy_moments", epsilon=1e6, **more):
    return dp.dp_ols(formula, data, method=method, epsilon=epsilon, **more)


FORMULAS = ["y ~ x", "z ~ x"]
PARTS = {"noisy_moments": 0, "adassp": 1e-6, "tukey": 1e-6, "gd_zcdp": 1e-6}


@pytest.mark.parametrize("method", PARTS)
def test_several_formulas_cost_what_one_call_costs(people, method):
    one = fit(people, method=method, epsilon=3, bounds={"x": (0, 1), "y": (0, 1)})
    both = fit(people, FORMULAS, method=method, epsilon=3, bounds=BOUNDS)
    assert list(both) == FORMULAS
    limits = [res.privacy.limit for res in both.values()]
    whole = one.privacy.limit
    if isinstance(whole, GDP):
        assert math.isclose(sum(each.mu**2 for each in limits), whole.mu**2, rel_tol=1e-5)
        assert sum(each.mu**2 for each in limits) <= whole.mu**2
    else:
        assert sum(each.epsilon for each in limits) == whole.epsilon
    assert whole.covers([event.cost for res in both.values() for event in res.privacy.events])
    said = [text for text in both["z ~ x"].privacy.assumptions if "one of 2 formulas" in text]
    assert len(said) == 1 and f"epsilon={one.privacy.epsilon:.3g}"[:10] in said[0]


def test_a_budget_is_charged_once_for_all_formulas(people):
    budget = dp.Budget(epsilon=2)
    fit(people, FORMULAS, epsilon=2, bounds=BOUNDS, budget=budget)
    assert budget.spent == (2.0, 0.0)
    with pytest.raises(dp.BudgetError):
        fit(people, FORMULAS, epsilon=0.1, bounds=BOUNDS, budget=budget)


def test_formulas_may_have_names_and_go_with_groups(people):
    res = fit(people, {"first": "y ~ x", "second": "z ~ x"}, bounds=BOUNDS,
              by=["state", "tract"])  # fmt: skip
    assert list(res) == ["first", "second"]
    assert np.allclose(res["first"].params["x"], 0.5, atol=0.01)
    assert np.allclose(res["second"].params["x"], -0.5, atol=0.01)


@pytest.mark.parametrize("formula", [[], {}, ["y ~ x", "y ~ x"], [5], [["y ~ x"]], 5, {"y"}])
def test_unusable_lists_of_formulas_are_refused(people, formula):
    budget = dp.Budget(epsilon=5)
    with pytest.raises(dp.ArgumentError):
        fit(people, formula, epsilon=1, bounds=BOUNDS, budget=budget)
    assert budget.spent == (0.0, 0.0)


def test_all_formulas_are_checked_before_a_budget_is_charged(people):
    budget = dp.Budget(epsilon=5)
    with pytest.raises(dp.ArgumentError, match="nosuch"):
        fit(people, ["y ~ x", "nosuch ~ x"], epsilon=1, bounds={"x": (0, 1)}, budget=budget)
    assert budget.spent == (0.0, 0.0)


def test_formulas_whose_methods_cannot_share_a_budget_are_refused(people):
    budget = dp.Budget(epsilon=2, delta=1e-5)
    with pytest.raises(dp.ArgumentError, match="exp_theil_sen, noisy_newton .* name one method"):
        formulas = ["y ~ x", "y ~ x + z"]
        fit(people, formulas, "auto", 1, by="state", bounds=BOUNDS, budget=budget)
    assert budget.spent == (0, 0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "narwhals"])
@pytest.mark.parametrize("formula", ["y ~ x", "y ~ x + state"])
def test_points_of_prediction_are_any_data_frame(people, library, formula):
    points, levels = {"x": [0.2, 0.7], "state": ["A", "B"]}, {"state": ["A", "B"]}
    frame = {
        "pandas": lambda: pd.DataFrame(points),
        "polars": lambda: pytest.importorskip("polars").DataFrame(points),
        "pyarrow": lambda: pytest.importorskip("pyarrow").table(points),
        "narwhals": lambda: pytest.importorskip("narwhals").from_native(pd.DataFrame(points)),
    }[library]()
    call = {"method": "adassp", "bounds": BOUNDS, "levels": levels}
    with dp.testing.insecure_seed(1):
        found = fit(people, formula, x_new=frame, **call).predictions
    with dp.testing.insecure_seed(1):
        pd.testing.assert_series_equal(
            found, fit(people, formula, x_new=points, **call).predictions
        )
    with pytest.raises(dp.ArgumentError, match="a data frame with the columns x.*a LazyFrame"):
        lazy = pytest.importorskip("polars").DataFrame(points).lazy()
        fit(people, formula, x_new=lazy, **call)
