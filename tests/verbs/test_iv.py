"""Regressions with instruments as users call them: columns, sources, refusals."""

import traceback
import warnings

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.estimators.newton import absorbed_instruments, noisy_instruments
from tests.checks.leaks import (
    check_holds_nothing,
    check_reaches_no_rows,
    confidential,
    pickled,
    printed,
)

RNG = np.random.default_rng(1)
N = 4000
FRAME = pd.DataFrame({"x": RNG.normal(size=N), "z": RNG.normal(size=N)})
U = RNG.normal(size=N)
FRAME["d"] = FRAME.z + U + RNG.normal(size=N)
FRAME["y"] = FRAME.d + FRAME.x + U
FRAME["took"] = FRAME.d > 0
FRAME["near"] = FRAME.z > 0
FRAME["twice"] = 2 * FRAME.z
FRAME["g"] = pd.Categorical(RNG.choice(["a", "b"], N))
FRAME["state"] = RNG.choice(["p", "q"], N)


def fit(formula="y ~ x + [d ~ z]", data=FRAME, epsilon=4, **more):
    with dp.testing.insecure_seed(1):
        return dp.dp_iv(formula, data, epsilon=epsilon, **more)


def test_a_column_of_true_and_false_is_0_and_1():
    assert fit("y ~ x + [took ~ near]").params.index.tolist() == ["Intercept", "x", "took"]
    numbers = FRAME.assign(took=FRAME.took.astype(float))
    bounded = {"bounds": {"took": (0, 1)}}
    found = fit("y ~ [took ~ z]", numbers, **bounded)
    assert fit("y ~ [took ~ z]").params.tolist() == found.params.tolist()


@pytest.mark.parametrize(
    "formula",
    ["y ~ [d ~ z]", "y ~ g + I(x**2) + [d ~ z]", "y ~ x + [d ~ g * z]", "np.exp(-y**2) ~ [d ~ z]",
     "y ~ 0 + g + [d ~ z]", "y ~ x + [d ~ z] - 1", "y ~ x + [d ~ z] | state",
     "y ~ poly(x, 2) + [np.exp(d / 9) ~ near + g]"],
)  # fmt: skip
def test_terms_are_those_of_dp_ols(formula):
    found = fit(formula)
    assert np.isfinite(found.params).all() and found.anderson_rubin().intervals
    assert found.privacy.epsilon == 4


def test_files_budgets_subsets_and_schemas_work(tmp_path):
    FRAME[["x", "z", "d", "y"]].to_parquet(tmp_path / "rows.parquet")
    assert fit(data=tmp_path / "rows.parquet").params.tolist() == fit().params.tolist()
    budget = dp.Budget(epsilon=5, delta=1e-5)
    fit(budget=budget)
    with pytest.raises(dp.BudgetError):
        fit(budget=budget)
    assert fit(subset='g == "a"').nobs_noisy < 0.7 * N
    bounds = {"d": (-9, 9), "y": (-15, 15)}
    assert fit(schema=dp.Schema(bounds=bounds)) == fit(bounds=bounds) != fit()


def test_a_ledger_knows_the_instruments(tmp_path):
    """An equal call is answered from the store, and one with another instrument is not."""
    named = {"dataset": "people", "fingerprint": "2024", "epsilon": 20, "delta": 1e-4}
    ledger = dp.Ledger.create(tmp_path / "people.ledger", **named)
    data = FRAME.assign(z2=FRAME.z)
    first, again, other = (
        dp.dp_iv(formula, data, epsilon=4, budget=ledger)
        for formula in ("y ~ x + [d ~ z]", "y ~ x + [d ~ z]", "y ~ x + [d ~ z2]")
    )
    assert first == again and first != other
    shown = ["y ~ x + [d ~ z]", "y ~ x + [d ~ z2]"]
    assert ledger.requests()["formula"].tolist() == shown
    assert [ledger.request(number)["formula"] for number in (1, 2)] == shown


@pytest.mark.parametrize(
    "formula, more, why",
    [
        ("y ~ x", {}, "instruments in brackets"),
        ("y ~ x + [d ~ z]", {"by": "d"}, "by='d' is in the formula"),
        ("y ~ x + [d ~ z]", {"weights": "x"}, "it must be public"),
        ("y ~ x + [d ~ z]", {"cov_type": "nonrobust"}, "'HC1' or 'cluster'"),
        ("y ~ x + [d ~ z]", {"robust": True}, "robust .HC1. always"),
        ("y ~ x + [d ~ z]", {"cluster": "state"}, 'add cov_type="cluster"'),
        ("y ~ x + [d ~ z]", {"cov_type": "cluster"}, "needs what to cluster by"),
        ("y ~ x + [d ~ z]", {"method": "auto"}, "one method"),
        ("y ~ x + [d ~ z]", {"x_new": {"x": 1}}, "result.predict"),
        ("y ~ x + [d ~ z]", {"instruments": "z"}, "write them as in"),
        ("y ~ x + [d ~ z] | state", {"unit": "state"}, "not proven for instruments"),
        ("y ~ x + [d ~ z] | state", {"cov_type": "nonrobust"}, "expected"),
        ("y ~ x + [g ~ z]", {}, "numbers as the response and the endogenous regressor, got g;"),
        ("g ~ x + [d ~ z]", {}, "numbers as the response and the endogenous regressor, got g;"),
        ("y ~ x + [I(g == 'a') ~ z]", {}, r"must be a number; for a condition write I\(\(d > 0\)"),
        ("y ~ x + [d > 0 ~ z]", {}, "the endogenous regressor d > 0 must be a number"),
        ("y ~ x + [d ~ state]", {}, "levels of state must be declared"),
        ("y ~ x + [d ~ zz]", {}, "zz"),
        ("y ~ x + [dd ~ z]", {}, "dd"),
        ("y ~ x + [d ~ z]", {"bounds": {"nope": (0, 1)}}, "nope"),
        ("y ~ x + [d ~ z]", {"epsilon": -1}, "epsilon"),
        ("y ~ x + [d ~ z]", {"delta": 0}, "delta"),
        (["y ~ x + [d ~ z]"], {}, "expected a formula, as in"),
        (dp.RFormula("y ~ x + d | x + z"), {}, r"as in y ~ x \| d ~ z"),
        (dp.RFormula("y ~ x | d ~ z"), {"method": "auto"}, "one method"),
    ],
)
def test_what_cannot_be_fitted_is_refused_before_a_row_is_read(formula, more, why):
    with pytest.raises(dp.ArgumentError, match=why):
        dp.dp_iv(formula, FRAME, **({"epsilon": 1} | more))


def test_units_weights_and_clusters():
    """Errors are clustered by persons and by a column; weights of 1 change no coefficient much."""
    data = FRAME.assign(person=np.arange(N) // 2, block=np.arange(N) % 40, w=1.0)
    persons = fit(data=data, unit="person", max_rows=2)
    assert persons.cov_type == "cluster" and persons.privacy.unit == "person"
    blocks = fit(data=data, cov_type="cluster", cluster="block")
    assert blocks.cov_type == "cluster" and "Clusters:" in str(blocks.summary())
    half = np.diff(blocks.conf_int())[1, 0] / 2 / blocks.bse.iloc[1]
    assert half > 1.96 and blocks.t_test("x = 1").by_t and not fit().t_test("x = 1").by_t
    assert dp.DPIVResults.from_json(blocks.to_json()) == blocks
    weighted = fit(data=data, weights="w", bounds={"w": (0, 1)})
    assert weighted.cov_type == "HC1" and weighted.status == "ok"
    assert weighted.params["d"] == pytest.approx(fit().params["d"], abs=0.1)
    few = fit(data=data.assign(block=np.arange(N) % 4), cov_type="cluster", cluster="block")
    assert np.isinf(few.conf_int()).all(axis=None) and "below 6" in few.reasons["conf_int"]
    assert str(few.anderson_rubin()) == "(-inf, inf)"


def test_dp_ols_says_where_instruments_are():
    with pytest.raises(dp.ArgumentError, match="dp_iv"):
        dp.dp_ols("y ~ x", FRAME, epsilon=1, instruments="z")


@pytest.mark.parametrize("effects, d", [("", "np.exp(d)"), (" | c", "d")])
def test_results_and_errors_hold_no_row(monkeypatch, effects, d):
    """One person's columns are a planted number, which no text, pickle or reference leads to."""
    data = confidential()
    data["c"] = np.arange(len(data)) % 9
    data["d"], data["z"] = data.x, data.y.to_numpy()[::-1]
    data.loc[17, ["d", "z"]] = data.x[17]
    found = dp.dp_iv(f"y ~ x + [{d} ~ z]{effects}", data, epsilon=4)
    check_holds_nothing(printed(found) + str(found.first_stage) + str(found.anderson_rubin()))
    check_holds_nothing(pickled(found))
    check_reaches_no_rows(found)
    method = absorbed_instruments if effects else noisy_instruments
    monkeypatch.setattr(method, "structural", lambda *_: 1 / 0)
    with pytest.raises(dp.InternalError, match="counts as spent") as caught:
        dp.dp_iv(f"y ~ x + [d ~ z]{effects}", data, epsilon=4)
    check_holds_nothing("".join(traceback.format_exception(caught.value)))


@pytest.mark.parametrize("effects", ["", " | state"])
@pytest.mark.parametrize("column", ["y", "d", "x", "z"])
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_one_strange_row_changes_nothing_but_numbers(column, neighbors, effects):
    """Neither names, steps nor their costs; no warning and no error, whatever the value is."""
    forms = []
    for value in (0.5, 1e300, -np.inf, np.inf, 5e-324):
        data = FRAME.copy()
        data.loc[7, column] = value
        with warnings.catch_warnings(action="error"):
            found = fit(f"y ~ x + [d ~ z]{effects}", data, neighbors=neighbors)
        steps = [(e.step, e.cost) for e in found.privacy.events if "magnitude" not in e.step]
        forms.append((found.params.index.tolist(), len(steps), steps[-9:], sorted(found.to_dict())))
        assert np.isfinite(found.params).all() and str(found.summary())
    assert all(form == forms[0] for form in forms)


@pytest.mark.parametrize("rows", [0, 1, 2, 30])
def test_every_table_gives_a_result_of_the_same_form(rows):
    """Also where an instrument, the response or the regressor never varies, or all are equal."""
    tables = [FRAME[:rows], FRAME[:rows].assign(z=1.0), FRAME[:rows].assign(d=0.0, y=0.0)]
    tables += [FRAME[:rows].assign(d=FRAME.z[:rows], y=FRAME.z[:rows])]
    for data in tables:
        for formula in ("y ~ x + [d ~ z]", "y ~ x + [d ~ z + twice + near]"):
            found = fit(formula, data, epsilon=1)
            assert found.params.index.tolist() == ["Intercept", "x", "d"]
            assert str(found.anderson_rubin()) and str(found.summary())
            assert dp.DPIVResults.from_json(found.to_json()) == found


@pytest.mark.parametrize("epsilon", [1e-6, 1e6])
def test_degenerate_columns_of_many_rows_are_no_error(epsilon):
    for more in ({"z": 1.0}, {"d": FRAME.z}, {"y": FRAME.d}, {"x": FRAME.z}, {"y": 0.0, "d": 0.0}):
        found = fit("y ~ x + [d ~ z + twice]", FRAME.assign(**more), epsilon=epsilon)
        assert str(found.summary()) and str(found.anderson_rubin())
