"""weights=: what a weighted fit tends to, what it refuses, and what its report says.

All seeds are fixed.
"""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dp
from dpstats.estimators import METHODS
from dpstats.rows import RowsInUse, Weights
from dpstats.schema import Numeric
from tests.checks.leaks import (
    check_holds_nothing,
    check_reaches_no_rows,
    confidential,
    pickled,
    printed,
)
from tests.checks.totality import SETTINGS, STATUSES, TABLES, form, statuses, watched

BOUNDS = {"y": (-2, 2), "x": (-1, 1), "z": (-1, 1), "w": (0, 10)}
WEIGHTED = [name for name, method in METHODS.items() if "weights" in method.takes]
HC1 = {"cov_type": "HC1"}


def people(n=3000, seed=1, spread=0.8):
    """A line in two regressors with lognormal weights; values on a grid, so that none is cut."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.uniform(-1, 1, n), "z": rng.uniform(-1, 1, n)})
    frame["w"] = np.clip(np.exp(spread * rng.normal(size=n)), 0.05, 10)
    errors = rng.uniform(-0.5, 0.5, n) * (1 + frame["x"])
    frame["y"] = 0.3 + 0.4 * frame["x"] - 0.2 * frame["z"] + errors / np.sqrt(1 + frame["w"])
    frame[["x", "z"]] = np.round(frame[["x", "z"]] * 2**8) / 2**8
    return frame.assign(y=np.round(frame["y"] * 2**12) / 2**12)


def fit(data, method="adassp", epsilon=1e9, bounds=BOUNDS, formula="y ~ x + z", **more):
    bounds = {name: pair for name, pair in bounds.items() if name in ("w", *str(formula))}
    with dp.testing.insecure_seed(1):
        return dp.dp_ols(
            formula, data, method=method, epsilon=epsilon, bounds=bounds, **{"weights": "w"} | more
        )


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(10_000, 20_000),
    spread=st.floats(0.3, 1.2),
    formula=st.sampled_from(["y ~ x", "y ~ x + z", "y ~ x * z", "y ~ z + x:z"]),
    neighbors=st.sampled_from(["add_remove", "replace_one"]),
)
def test_as_epsilon_grows_it_is_weighted_least_squares(seed, n, spread, formula, neighbors):
    data = people(n, seed, spread)
    wls = smf.wls(formula, data, weights=data["w"]).fit()
    for method in ("adassp", "ssp", "shrunken"):
        result = fit(data, method, 1e9, formula=formula, neighbors=neighbors)
        np.testing.assert_allclose(result.params, wls.params, atol=1e-6)
        np.testing.assert_allclose(result.bse, wls.bse, atol=1e-6)


@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_the_unit_of_the_weights_does_not_matter(name, scale):
    data = people()
    scaled = data.assign(w=data["w"] * scale)
    one = fit(data, name, 5)
    other = fit(scaled, name, 5, {**BOUNDS, "w": (0, 10 * scale)})
    np.testing.assert_allclose(one.params, other.params, rtol=1e-4)


def test_equal_weights_change_nothing_but_the_noise():
    data = people().assign(w=10.0)
    plain = fit(data, weights=None, bounds={name: BOUNDS[name] for name in "xyz"})
    np.testing.assert_allclose(fit(data).params, plain.params, atol=1e-6)


@pytest.mark.parametrize("name", ["adassp", "ssp"])
def test_robust_errors_are_those_of_statsmodels(name):
    data = people(20_000)
    wls = smf.wls("y ~ x + z", data, weights=data["w"]).fit(**HC1)
    result, plain = fit(data, name, 1e7, **HC1), fit(data, name, 1e7)
    np.testing.assert_allclose(result.bse, wls.bse, rtol=5e-3)
    assert (np.abs(plain.bse / wls.bse - 1) > 0.03).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 0.0, -3.0])
@pytest.mark.parametrize("name", WEIGHTED)
def test_rows_without_a_weight_above_zero_are_left_out(bad, name):
    data = people(200)
    data.loc[::3, "w"] = bad
    kept = data.drop(index=data.index[::3])
    pd.testing.assert_series_equal(fit(data, name).params, fit(kept, name).params)


def test_weights_beyond_their_bounds_count_as_the_bound():
    data = people(500)
    low, high = {**BOUNDS, "w": (0.5, 2)}, data["w"].clip(0.5, 2)
    result = fit(data, bounds=low)
    pd.testing.assert_series_equal(result.params, fit(data.assign(w=high), bounds=low).params)
    note = next(text for text in result.privacy.assumptions if "weighted by w" in text)
    assert "weights above 2 count as 2, smaller ones as 0.5;" in note and "left out" in note


def test_trimmed_weights_are_those_of_a_lower_bound_and_said():
    data = people(500)
    trimmed, bounded = fit(data, trim_weights=1.5), fit(data, bounds={**BOUNDS, "w": (0, 1.5)})
    pd.testing.assert_series_equal(trimmed.params, bounded.params)
    assert "weights above 1.5 count as 1.5 (trim_weights)" in str(trimmed.privacy)


def test_the_weights_may_be_a_regressor_too():
    data = people(4000)
    wls = smf.wls("y ~ x + w", data, weights=data["w"]).fit()
    np.testing.assert_allclose(fit(data, formula="y ~ x + w").params, wls.params, atol=1e-5)


def test_a_parts_of_one_row_are_shares_of_the_largest_weight():
    weights = Weights("w", 0.5, 10.0, None)
    assert weights.parts(np.array([0.1, 5, 10, 1e300])).tolist() == [0.05, 0.5, 1, 1]
    assert weights.usable(np.array([0.0, -1, np.inf, 1e-300])).tolist() == [False] * 3 + [True]
    assert Weights("w", 0.0, 10.0, 2.0).parts(np.array([1.0, 3.0])).tolist() == [0.5, 1.0]
    rows = RowsInUse({"y": Numeric(0, 1)}, weights)
    batch = {"y": np.array([0.5, np.nan, 0.5]), "w": np.array([1.0, 1.0, 0.0])}
    assert rows.mask(batch).tolist() == [True, False, False]
    assert rows.columns == {"y": Numeric(0, 1), "w": Numeric(0.5, 10)}


def test_groups_are_fitted_with_their_own_weights():
    data = people(4000)
    data["g"] = np.where(data["z"] > 0.3, "a", "b")
    groups = fit(data, by="g", groups=["a", "b", "none"], **HC1)
    for g, rows in data.groupby("g"):
        wls = smf.wls("y ~ x + z", rows, weights=rows["w"]).fit()
        np.testing.assert_allclose(groups.params.loc[g], wls.params, atol=1e-5)
    assert groups.status["none"] == "not_identified" or groups.params.loc["none"].notna().all()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_give_what_frames_give(ending, tmp_path):
    data, path = people(500), tmp_path / f"rows.{ending}"
    data.to_csv(path, index=False) if ending == "csv" else data.to_parquet(path)
    pd.testing.assert_series_equal(fit(str(path)).params, fit(data).params)
    several = fit(str(path), formula=["y ~ x", "z ~ x"])
    assert {len(each.params) for each in several.values()} == {2}


@pytest.mark.parametrize("verb, response", [(dp.dp_ols, "y"), (dp.dp_logit, "I(x > 0)")])
def test_errors_of_one_variance_are_refused_where_they_would_be_robust(verb, response):
    given = {"data": people(), "epsilon": 1, "weights": "w", "bounds": BOUNDS}
    with pytest.raises(dp.ArgumentError, match="with weights= leave it out, which stands for .HC1"):
        verb(f"{response} ~ z", cov_type="nonrobust", **given)
    known = dp.dp_ols("y ~ z", method="adassp", cov_type="nonrobust", **given)
    assert known.cov_type == "nonrobust"


def test_auto_takes_the_default_with_robust_errors():
    result = fit(people(500), "auto", 4, formula="y ~ x")
    assert result.method == "noisy_newton" and result.cov_type == "HC1"
    assert "weighted by w" in str(result.summary())


REFUSED = {
    "no bounds": ({"bounds": {k: BOUNDS[k] for k in "xyz"}}, r'bounds=\{"w": \(low, high'),
    "negative": ({"bounds": {**BOUNDS, "w": (-1, 2)}}, "begin at 0 or above, got"),
    "another method": ({"method": "tukey"}, "tukey is not proven for rows of different weights"),
    "tukey": ({"method": "tukey"}, "tukey is not proven for rows of different"),
    "no column": ({"weights": "q"}, "no column 'q'"),
    "numbers": ({"weights": np.ones(9)}, "expected weights to name a column, .* got a ndarray"),
    "text": ({"weights": "g"}, "weights='g' is a column of type string"),
    "selection": ({"select": "lasso", "k": 1}, "select='lasso' counts each row once"),
    "trim above": ({"trim_weights": 11}, r"expected trim_weights in \(0, 10\), got 11"),
    "trim alone": ({"trim_weights": 1, "weights": None}, "trim_weights is for weights"),
    "reversed": ({"bounds": {**BOUNDS, "w": (3, 1)}}, "low < high"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_weighted_is_refused_in_one_sentence(case):
    more, message = REFUSED[case]
    data = people(9).assign(g="a").astype({"g": "string"})
    with pytest.raises(dp.ArgumentError, match=message):
        fit(data, **{"epsilon": 1, **more})


def test_a_ledger_tells_weighted_calls_apart(tmp_path):
    from dpstats.call.arguments import make_request
    from dpstats.call.facts import request_facts

    call = {"method": "adassp", "epsilon": 1, "delta": None, "bounds": BOUNDS, "levels": None,
            "x_new": None, "neighbors": None, "missing": "drop", "row_norm": None,
            "options": {}}  # fmt: skip
    facts = [
        request_facts({None: make_request("y ~ x + z", people(9), **call, **more)}, None, None)
        for more in ({"weights": "w"}, {"weights": "w", "trim_weights": 2.0})
    ]
    assert facts[0] != facts[1]
    assert facts[0]["call"]["formulas"][0][1]["weights"] == {
        "column": "w", "low": 0.0, "high": 10.0, "trim": None,
    }  # fmt: skip


UNIT = {"x": (0, 1), "y": (0, 1)}
CHOSEN = {"weights": "z", "subset": "z > 0.1 | x != 0.5", "bounds": {**UNIT, "z": (0, 1)}}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", WEIGHTED)
def test_every_table_gives_a_result_of_the_same_form(name, setting, caplog, capfd):
    """Whatever the weights and the values that the subset compares."""
    call = {"method": name, "epsilon": 20, **SETTINGS[setting], **CHOSEN}
    if "bounds" in SETTINGS[setting]:
        call["bounds"] = {"z": (0, 1)}
    if name in ("adassp", "ssp"):
        call |= HC1
    expected = form(dp.dp_ols("y ~ x", TABLES["plain"], **call))
    for label, data in TABLES.items():
        with watched(caplog, capfd):
            result = dp.dp_ols("y ~ x", data, **call)
            assert form(result) == expected and statuses(result) <= STATUSES, label
            assert str(result.summary())


@pytest.mark.parametrize("name", WEIGHTED)
def test_nothing_of_a_row_survives(name):
    data = confidential()
    data["z"] = data["x"]
    for more in ({}, {"by": "place", "groups": ["north", "south", "east"]}):
        result = dp.dp_ols("y ~ x", data, method=name, epsilon=50, **more, **CHOSEN)
        check_holds_nothing(printed(result))
        check_holds_nothing(pickled(result))
        check_reaches_no_rows(result)


@pytest.mark.parametrize("name", ["adassp", "ssp"])
def test_a_result_survives_json_and_the_data(name):
    result = dp.dp_ols("y ~ x", people(), method=name, epsilon=50, weights="w", **HC1,
                       bounds={k: BOUNDS[k] for k in "xyw"})  # fmt: skip
    again = dp.DPResults.from_json(result.to_json())
    assert again == result and again.conf_int().equals(result.conf_int())
    assert again.bootstrap(0.05).equals(result.bootstrap(0.05))
    assert again.error_bound().equals(result.error_bound())


def test_a_ledger_answers_a_weighted_call_again_and_no_other(tmp_path):
    data = people()
    ledger = dp.Ledger.create(tmp_path / "f.ledger", dataset="people", epsilon=9, delta=1e-5,
                              neighbors="add_remove", fingerprint="1")  # fmt: skip
    call = {"method": "adassp", "epsilon": 1, "budget": ledger, "weights": "w",
            "bounds": {k: BOUNDS[k] for k in "xyw"}}  # fmt: skip
    first = dp.dp_ols("y ~ x", data, subset="z > 0", **call)
    spent = ledger.spent
    assert dp.dp_ols("y ~ x", data, subset="z > 0", **call) == first and ledger.spent == spent
    for more in ({"subset": "z > 0.1"}, {}, {"subset": "z > 0", "trim_weights": 3}):
        assert dp.dp_ols("y ~ x", data, **call, **more) != first
        assert ledger.spent[0] > spent[0]
        spent = ledger.spent


positive = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(positive, max_size=9))
def test_every_row_counts_for_its_own_weight_alone(values):
    weights, values = Weights("w", 0.5, 10.0, 4.0), np.array(values, dtype=float)
    usable = weights.usable(values)
    assert usable.tolist() == [weights.usable(value[None])[0] for value in values]
    parts = weights.parts(values[usable])
    assert parts.tolist() == [weights.parts(value[None])[0] for value in values[usable]]
    assert ((parts >= 0.125) & (parts <= 1)).all()
