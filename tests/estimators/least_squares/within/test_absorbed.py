"""y ~ x | state: equal to least squares with dummies, private about the groups, the same anywhere.

All seeds are fixed. Where a coverage is refused, the docstring states the rate of false alarms.
"""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import dpstats as dp
from dpstats import cli
from dpstats.estimators import ABSORBING, METHODS
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE
from tests.checks.absorbed import EXACT, UNIT, check_batches, check_least_squares, fitted, panel
from tests.checks.leaks import (
    check_holds_nothing,
    check_reaches_no_rows,
    confidential,
    pickled,
    printed,
)
from tests.checks.totality import STATUSES, TABLES, form, statuses, watched
from tests.checks.within_groups import SUMS


def test_without_noise_it_is_least_squares_with_dummies():
    check_least_squares()


FACTORS = ("h", "C(h, Sum)", "C(h, Poly)", "h:x", "h * z")


@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    st.integers(0, 10**6),
    st.integers(1, 60),
    st.sampled_from(["z", "np.exp(z)", *FACTORS]),
    st.sampled_from(SUMS),
    st.sampled_from([ADD_REMOVE, REPLACE_ONE]),
)
def test_any_design_equals_least_squares_with_dummies(seed, groups, term, method, neighbors):
    """To 1e-6 of the ranges: entries are whole multiples of 2^-20 of half a range."""
    rng = np.random.default_rng(seed)
    n = 3000
    data = panel(n, groups, seed).assign(
        z=rng.uniform(-1, 2, n), h=pd.Categorical(rng.choice(list("abc"), n))
    )
    bounds = {**UNIT, "z": (-1, 2)} if "z" in term else UNIT
    found = fitted(data, f"y ~ x + {term} | g", bounds=bounds, method=method, neighbors=neighbors)
    ols = smf.ols(f"y ~ x + {term} + C(g)", data).fit()
    names = list(found.params.index)
    np.testing.assert_allclose(found.params, ols.params[names], atol=2e-6)
    np.testing.assert_allclose(found.bse, ols.bse[names], rtol=1e-3)


@pytest.mark.parametrize("groups", [10, 3000])
def test_privacy_noise_is_that_of_a_target_whatever_the_number_of_groups(groups):
    """s.d. over 50 seeds at most .0025 for n = 100,000 and epsilon 1; OLS has a s.e. of .0016."""
    data = panel(100_000, groups, 3)
    exact = fitted(data)
    errors, covered = [], 0
    for seed in range(50):
        found = fitted(data, epsilon=1, seed=seed)
        errors.append(found.params["x"] - exact.params["x"])
        low, high = found.conf_int().loc["x"]
        covered += bool(low <= 0.5 <= high)
    assert np.std(errors) <= 0.0025 and exact.bse["x"] == pytest.approx(0.0016, rel=0.1)
    assert covered >= 40


def test_intervals_cover_given_that_they_are_shown():
    """300 tables a cell; refused below the 10^-4 quantile of a binomial with 95%."""
    for groups, epsilon, n in ((20, 4, 4000), (400, 8, 2000), (5, 2, 10_000)):
        shown, covered = 0, 0
        for seed in range(300):
            found = fitted(panel(n, groups, 1000 + seed), epsilon=epsilon, seed=seed)
            low, high = found.conf_int().loc["x"]
            shown += bool(np.isfinite([low, high]).all())
            covered += bool(np.isfinite([low, high]).all() and low <= 0.5 <= high)
        assert shown >= 200 and covered >= binom.ppf(1e-4, shown, 0.95), (groups, epsilon, n)


def test_few_rows_a_group_are_counted():
    """The residual variance divides by n - G - S: here G is half of n."""
    data = panel(20_000, 10_000, 5)
    found = fitted(data, epsilon=50)
    degrees = len(data) - data["g"].nunique()
    assert found.release.evidence.rows == pytest.approx(degrees, abs=40)
    within = data - data.groupby("g").transform("mean").assign(g=0)
    rss = np.sum((within["y"] - found.params["x"] * within["x"]) ** 2)
    assert found.release.evidence.sigma2 == pytest.approx(rss / (degrees - 1), rel=0.05)


LABELS = {
    "string": lambda g: pd.array([f"s{i}" for i in g], dtype="string"),
    "object": lambda g: np.array([f"s{i}" for i in g], dtype=object),
    "category": lambda g: pd.Categorical(g),
    "real": lambda g: g / 7,
    "date": lambda g: pd.Timestamp("2020-01-01") + pd.to_timedelta(g, unit="D"),
}


@pytest.mark.parametrize("kind", LABELS)
def test_any_labels_sort_rows_alike(kind):
    data = panel(2000, 30, 6)
    other = data.assign(g=LABELS[kind](data["g"].to_numpy()))
    assert fitted(other, epsilon=5).release.params == fitted(data, epsilon=5).release.params


def test_files_read_in_parts_give_the_same_release():
    check_batches()


def test_rows_without_a_label_are_left_out_and_the_report_says_so():
    data = panel(2000, 30, 8)
    labels = pd.array(data["g"], dtype="Int64")
    labels[::3] = None
    found = fitted(data.assign(g=labels), epsilon=5)
    assert found.params.equals(fitted(data[np.arange(2000) % 3 > 0], epsilon=5).params)
    assert any("label is missing is left out" in said for said in found.privacy.assumptions)


def test_groups_of_by_are_fitted_each_with_its_own_effects():
    data = panel(6000, 30, 9).assign(area=lambda rows: np.array(["n", "s"])[rows.index % 2])
    found = fitted(data, by="area", groups=["n", "s"], epsilon=EXACT)
    for area, rows in data.groupby("area"):
        ols = smf.ols("y ~ x + C(g)", rows).fit()
        assert found.params.loc[area, "x"] == pytest.approx(ols.params["x"], abs=1e-5)
        assert found.bse.loc[area, "x"] == pytest.approx(ols.bse["x"], rel=1e-3)
    assert found.p25.isna().all() and list(found.p25.index) == ["n", "s"]
    assert (found.error_bound()["error_bound"] < 1e-4).all()
    with pytest.raises(dp.NotReleasedError, match="leave reference= out"):
        found.error_bound(reference=data)
    with pytest.raises(dp.ArgumentError, match="in the formula"):
        fitted(data, by="g", groups=[1, 2])


def test_ranges_that_were_not_declared_are_estimated_and_intervals_say_why_there_are_none():
    data = panel(50_000, 30, 10)
    found = fitted(data, epsilon=20, bounds=None)
    assert found.params["x"] == pytest.approx(0.5, abs=0.1)
    assert found.bse.isna().all() and "clip an unknown part" in found.reasons["bse"]


@pytest.mark.parametrize("method", ["adassp", "ssp"])
def test_little_data_has_no_intervals_or_no_fit(method):
    found = fitted(panel(60, 5, 11), epsilon=0.5, method=method)
    assert found.bse.isna().all()
    assert found.status == "not_identified" and (found.params == 0).all()
    assert "so all are 0" in found.reasons["bse"] and np.isinf(found.error_bound()).all()


def test_predictions_are_nan_and_say_that_effects_are_not_released():
    found = fitted(panel(2000, 5, 12), epsilon=8)
    assert np.isnan(found.p25) and np.isnan(found.p75) and len(found.predictions) == 0
    table = found.predict({"x": [0.2, 0.7]}, interval=True)
    assert table.isna().all(axis=None) and table.shape == (2, 4)
    assert "effect of its group" in found.reasons["predictions"]
    assert "effect of its group" in " ".join(str(found.summary()).split())
    (drawn,) = found.plot().get_yticklabels()  # no line, but its coefficient
    assert drawn.get_text() == "x"
    difference = found.t_test("0.5 * x = 0.25")
    assert np.isfinite(difference.effect).all() and np.isfinite(difference.sd).all()


def test_what_is_computed_from_releases_works_without_the_data():
    found = fitted(panel(20_000, 50, 13).assign(z=lambda d: d["x"] ** 2), "y ~ x + z | g",
                   epsilon=20, bounds={**UNIT, "z": (0, 1)})  # fmt: skip
    again = dp.DPResults.from_json(found.to_json())
    assert again == found and again.conf_int().equals(found.conf_int())
    assert (again.error_bound() > 0).all() and again.f_test("x = 0, z = 0").pvalue < 0.05
    near = 1.2 * again.bse.max()
    np.testing.assert_allclose(again.bootstrap(0.05, 400), again.conf_int(), atol=near)


def test_a_subset_is_that_of_the_rows_where_the_condition_holds():
    data = panel(2000, 30, 18).assign(z=lambda rows: rows.index % 7)
    found = fitted(data, subset="z > 2", epsilon=5)
    assert found.release.params == fitted(data[data["z"] > 2], epsilon=5).release.params
    found = fitted(data, subset="z > 2", by="z", groups=[2, 3])
    ols = smf.ols("y ~ x + C(g)", data[data["z"] == 3]).fit()
    assert found.params.loc[3, "x"] == pytest.approx(ols.params["x"], abs=1e-4)


REFUSED = [
    ({"cov_type": "HC1", "method": "adassp"}, "group means are private"),
    ({"cov_type": "HC3"}, "expected cov_type"),
    ({"x_new": [0.5]}, "leave x_new out"),
    ({"formula": "y ~ x | g + h"}, "first column after"),
    ({"formula": "y ~ x + z | g", "select": "kendall", "k": 1}, "leave select out"),
    ({"companion": "adassp"}, "intervals of its own"),
    ({"formula": "y ~ x | missing"}, "no column 'missing'"),
    ({"delta": 0, "method": "adassp"}, "needs delta > 0"),
    (
        {"weights": "w", "bounds": {**UNIT, "w": (0, 9)}, "method": "adassp"},
        r"C\(g\) with levels= instead of \|",
    ),
    ({"trim_weights": 3}, "add weights="),
    ({"subset": "g > 3"}, "reads g, whose labels are private"),
    *(
        ({"method": name}, "cannot absorb g")
        for name in METHODS
        if name not in ABSORBING
    ),
]  # fmt: skip


@pytest.mark.parametrize("bad", REFUSED, ids=lambda bad: str(bad[0]))
def test_what_does_not_go_with_absorbed_effects_is_refused_for_nothing(bad):
    arguments, reason = bad
    data = panel(50, 5, 14).assign(z=0.5, h=1, w=2.0)
    budget = dp.Budget(epsilon=1, delta=1e-6)
    bounds = {**UNIT, "z": (0, 1)} if "z" in arguments.get("formula", "") else UNIT
    call = {"formula": "y ~ x | g", "epsilon": 1, "bounds": bounds, "budget": budget, **arguments}
    with pytest.raises(dp.ArgumentError, match=reason):
        dp.dp_ols(data=data, **call)
    assert budget.spent[0] == 0


def test_evaluations_are_made_without_absorbed_effects():
    with pytest.raises(dp.ArgumentError, match=r"leave \| g out"):
        dp.evaluate.error_bounds(
            "y ~ x | g", panel(50, 5, 15), methods=["adassp"], epsilon=1, bounds=UNIT, public=True
        )


def test_a_ledger_tells_absorbed_columns_apart(tmp_path):
    """An equal call is answered from the records, one about another column is not."""
    data = panel(3000, 20, 16).assign(h=lambda rows: rows.index % 4)
    path = tmp_path / "rows.parquet"
    data.to_parquet(path)
    described = {"dataset": "rows", "fingerprint": "version 1"}
    budget = dp.Ledger.create(tmp_path / "a.ledger", epsilon=10, delta=1e-5, **described)
    call = {"data": path, "epsilon": 1, "bounds": UNIT, "budget": budget}
    first = dp.dp_ols("y ~ x | g", **call)
    again, other = dp.dp_ols("y ~ x | g", **call), dp.dp_ols("y ~ x | h", **call)
    assert again == first and other.params["x"] != first.params["x"]
    assert dp.dp_ols("y ~ x", method="adassp", **call).params["x"] != first.params["x"]


def test_the_command_line_takes_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    panel(900, 9, 17).to_csv("rows.csv", index=False)
    call = ["fit", "rows.csv", "y ~ x | g", "--epsilon", "8", "--bounds", "x=0,1"]
    assert cli.main([*call, "--bounds", "y=-0.5,1.5"]) == 0
    assert "norm of group sizes" in capsys.readouterr().out
    assert cli.main([*call, "--bounds", "y=-0.5,1.5", "--plot", "a.png"]) == 0
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_nothing_of_a_row_survives(fit):
    data = confidential()
    for more in ({}, {"bounds": None}, {"by": "area", "groups": ["n", "s"]}):
        rows = data.assign(area=np.array(["n", "s"])[np.arange(len(data)) % 2])
        for method in ("adassp", "noisy_newton"):
            result = fit(rows, method, formula="y ~ x | place", epsilon=50, **more)
            check_holds_nothing(printed(result))
            check_holds_nothing(pickled(result))
            check_reaches_no_rows(result)


SETTINGS = {
    "declared": {},
    "estimated": {"bounds": None},
    "grouped": {"by": "kind", "groups": ["u", "v", "w"]},
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("name", ABSORBING)
def test_every_table_gives_a_result_of_the_same_form(name, setting, fit, caplog, capfd):
    tables = {
        label: data.assign(kind=pd.array(["u", "v"] * len(data), dtype="string")[: len(data)])
        for label, data in TABLES.items()
    }
    more = SETTINGS[setting] | {"formula": "y ~ x | group", "epsilon": 20}
    expected = form(fit(tables["plain"], name, **more))
    for label, data in tables.items():
        with watched(caplog, capfd):
            result = fit(data, name, **more)
            assert form(result) == expected and statuses(result) <= STATUSES, label
            assert str(result.summary())
