"""unit=: what a fit for persons tends to, what it refuses, and what its report says.

All seeds are fixed.
"""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dp
from dpstats.call.arguments import make_request
from dpstats.call.facts import request_facts
from dpstats.estimators import METHODS
from dpstats.rows import PrivacyUnit
from dpstats.rows.privacy_unit import ONE

BOUNDS = {"y": (-8, 8), "x": (-1, 1), "z": (-1, 1)}
ABLE = [name for name, method in METHODS.items() if "units" in method.takes]
SUMS = ("adassp", "ssp", "shrunken")


def panel(persons=3000, seed=1, icc=0.5):
    """A line in a regressor of persons and one of rows, whose errors a person shares."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 9, persons)
    person = np.repeat(np.arange(persons), rows)
    z, shared = rng.uniform(-1, 1, persons)[person], rng.normal(size=persons)[person]
    x = rng.uniform(-1, 1, len(person))
    own = rng.normal(size=len(person))
    y = 0.3 + 0.4 * x - 0.2 * z + np.sqrt(icc) * shared + np.sqrt(1 - icc) * own
    frame = pd.DataFrame({"id": person * 7, "x": x, "z": z, "y": np.clip(y, -8, 8)})
    return frame.sample(frac=1, random_state=seed, ignore_index=True)


def fit(data, method="adassp", epsilon=1e9, formula="y ~ x + z", **more):
    used = {name: pair for name, pair in BOUNDS.items() if name in formula}
    bounds = None if method == "noisy_newton" else used
    with dp.testing.insecure_seed(1):
        return dp.dp_ols(
            formula, data, **{"method": method, "epsilon": epsilon, "bounds": bounds, "unit": "id"}
            | more,
        )  # fmt: skip


def clustered(data, formula="y ~ x + z", max_rows=1, by="id"):
    """Weighted least squares with the errors of clusters; G / (G - S) is the only correction."""
    rows = data.groupby(by)["y"].transform("size")
    weights = np.minimum(1, max_rows / rows)
    wls = smf.wls(formula, data, weights=weights)
    plain = wls.fit(
        cov_type="cluster", cov_kwds={"groups": data["id"], "use_correction": False}, use_t=False
    )
    groups = data["id"].nunique()
    return plain.params, plain.bse * np.sqrt(groups / (groups - len(plain.params)))


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    icc=st.floats(0, 0.95),
    formula=st.sampled_from(["y ~ x", "y ~ x + z", "y ~ x * z"]),
    neighbors=st.sampled_from(["add_remove", "replace_one"]),
    max_rows=st.sampled_from([1, 2, 5]),
)
def test_as_epsilon_grows_it_is_weighted_and_clustered(seed, icc, formula, neighbors, max_rows):
    data = panel(4000, seed, icc)
    params, errors = clustered(data, formula, max_rows)
    for method in SUMS:
        result = fit(data, method, formula=formula, neighbors=neighbors, max_rows=max_rows)
        np.testing.assert_allclose(result.params, params, atol=1e-5)
        np.testing.assert_allclose(result.bse, errors, rtol=5e-3)
        assert result.cov_type == "cluster"


def test_row_level_errors_are_too_small_where_a_person_has_one_value():
    """That is why they come with unit= and are no choice."""
    data = panel(4000, icc=0.9)
    rows = fit(data, unit=None)
    assert fit(data).bse["z"] > 1.4 * rows.bse["z"]


@pytest.mark.parametrize("method", ABLE)
@pytest.mark.parametrize("bounds", [BOUNDS, None])
def test_the_order_of_rows_changes_no_bit(method, bounds):
    data = panel(300)
    one = fit(data, method, 2, bounds=bounds)
    for seed in range(3):
        other = fit(data.sample(frac=1, random_state=seed), method, 2, bounds=bounds)
        assert other.to_json() == one.to_json()


@pytest.mark.parametrize("method", ABLE)
def test_persons_of_one_row_are_rows(method):
    """The sums are those of rows then, up to what parts are rounded to."""
    data = panel(3000).drop_duplicates("id")
    rows = fit(data, method, 1e6, unit=None)
    np.testing.assert_allclose(fit(data, method, 1e6).params, rows.params, atol=0.02)


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_row_without_an_id_is_a_person_of_its_own(missing):
    data = panel(200)
    ids = data["id"].astype(object)
    alone = ids.mask(data.index < 50, missing)
    named = ids.where(data.index >= 50, [f"row {i}" for i in data.index])
    one, other = (fit(data.assign(id=own), epsilon=5) for own in (alone, named))
    np.testing.assert_allclose(one.params, other.params, rtol=1e-12)
    assert any("without a id" in text for text in one.privacy.assumptions)


@pytest.mark.parametrize("kind", [str, float, "category", "datetime64[s]", object])
def test_any_kind_of_id_names_the_same_persons(kind):
    data = panel(150)
    ids = data["id"].astype(str).astype("category") if kind == "category" else data["id"]
    one, other = fit(data, epsilon=5), fit(data.assign(id=ids.astype(kind)), epsilon=5)
    assert other.params.equals(one.params) and other.bse.equals(one.bse)


def test_rows_that_are_left_out_have_no_part():
    data = panel(400)
    data.loc[data.index % 3 == 0, "x"] = np.nan
    kept = data.dropna()
    assert fit(data, epsilon=5).params.equals(fit(kept, epsilon=5).params)
    assert fit(data, epsilon=5, subset="z > 0").params.equals(
        fit(kept[kept["z"] > 0], epsilon=5).params
    )


def test_parts_of_a_person_add_up_to_at_most_one_row():
    rng = np.random.default_rng(0)
    for max_rows in (1, 3, 50):
        units = np.sort(rng.integers(0, 40, 500))
        parts = PrivacyUnit("id", max_rows).parts(units)
        totals = np.bincount(units, parts)
        rows = np.bincount(units)
        assert totals.max() <= ONE
        np.testing.assert_allclose(
            totals[rows > 0] / ONE, np.minimum(rows[rows > 0] / max_rows, 1), atol=1e-4
        )


def test_a_group_uses_the_persons_that_have_most_rows_there():
    data = panel(2000)
    rng = np.random.default_rng(3)
    data["g"] = np.where(rng.random(len(data)) < 0.8, data["id"] % 3, rng.integers(0, 3, len(data)))
    size = data.groupby(["id", "g"])["y"].transform("size")
    order = data.assign(size=-size).sort_values(["id", "size", "g"])
    main = order.drop_duplicates("id").set_index("id")["g"]
    kept = data[data["g"] == data["id"].map(main)]
    groups = fit(data, by="g")
    several = fit(data, by="g", max_groups=3)
    for label in range(3):
        params, _ = clustered(kept[kept["g"] == label])
        np.testing.assert_allclose(groups.params.loc[label], params, atol=1e-4)
        params, _ = clustered(data[data["g"] == label])
        np.testing.assert_allclose(several.params.loc[label], params, atol=1e-4)
    assert groups.cov_type == "cluster"
    assert any("in one g alone" in text for text in groups.privacy.assumptions)
    assert any("at most 3 g" in text for text in several.privacy.assumptions)
    assert several.privacy.spent[0] == pytest.approx(1e9, rel=1e-3)


def test_terms_are_chosen_by_votes_of_persons():
    """A person's rows vote in one subset, so that one person changes one vote for each term."""
    data = panel(3000, icc=0.2)
    rng = np.random.default_rng(4)
    data = data.assign(**{f"w{i}": rng.uniform(-1, 1, len(data)) for i in range(6)})
    formula = "y ~ " + " + ".join(["x", *(f"w{i}" for i in range(6))])
    with dp.testing.insecure_seed(1):
        result = dp.dp_ols(
            formula, data, method="adassp", epsilon=20, select="lasso", k=1, unit="id"
        )
    assert result.selected == ("x",)
    assert result.privacy.events[0].step == "number of rows for the votes"


def test_a_ledger_tells_persons_from_rows():
    """An equal call that protects others is another call, and is not answered from the store."""
    call = {"method": "adassp", "epsilon": 1, "delta": None, "bounds": BOUNDS, "levels": None,
            "x_new": None, "neighbors": None, "missing": "drop", "row_norm": None,
            "options": {}}  # fmt: skip
    facts = [
        request_facts({None: make_request("y ~ x + z", panel(9), **call, **unit)}, None, None)
        for unit in ({}, {"unit": "id"}, {"unit": "id", "max_rows": 2}, {"unit": "z"})
    ]
    assert all(one != two for i, one in enumerate(facts) for two in facts[:i])


def test_the_report_says_whom_it_protects():
    result = fit(panel(500), epsilon=2, max_rows=4)
    text = str(result.summary())
    for said in ("No. of id", "all rows of one id", "count for 4 rows in all"):
        assert said in text
    restored = dp.DPResults.from_json(result.to_json())
    assert restored.privacy == result.privacy and restored.privacy.unit == "id"
    assert str(restored.summary()) == text
    assert str(fit(panel(500), epsilon=2, unit=None).summary()).count("one row") >= 1


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_a_table_without_rows_has_no_groups(neighbors):
    """Labels that are present are none then, and so are their persons."""
    rows = panel(9).assign(g="a").iloc[:0]
    groups = fit(rows, epsilon=1, by="g", neighbors=neighbors)
    listed = fit(rows, epsilon=1, by="g", groups=["a", "b"], neighbors=neighbors)
    assert len(groups) == 0 and len(listed) == 2
    assert str(groups.summary()) and groups.to_json() and listed.to_json()


def test_a_budget_is_for_persons_or_for_rows():
    data, budget = panel(200), dp.Budget(epsilon=10, delta=1e-4)
    call = {"method": "adassp", "epsilon": 1, "bounds": BOUNDS, "budget": budget}
    dp.dp_ols("y ~ x", data, unit="id", **call | {"bounds": {n: BOUNDS[n] for n in "xy"}})
    with pytest.raises(dp.BudgetError, match="of id"):
        dp.dp_ols("y ~ x", data, **call | {"bounds": {n: BOUNDS[n] for n in "xy"}})


REFUSED = {
    "no column 'nobody'": {"unit": "nobody"},
    "expected unit to name a column": {"unit": 3},
    "add unit=": {"unit": None, "max_rows": 2},
    "max_rows to be": {"max_rows": 0},
    "max_groups is for": {"max_groups": 2},
    "adaops is proven for persons of one row only": {"method": "adaops", "neighbors": "add_remove"},
    "cov_type='HC1' takes": {"cov_type": "HC1"},
    'cov_type="cluster" needs what': {"unit": None, "cov_type": "cluster"},
    "select='kendall' is": {"select": "kendall", "k": 1, "neighbors": "replace_one"},
    "needs the intercept": {"formula": "y ~ x + z - 1"},
    "absorb id itself": {"formula": "y ~ x | z", "bounds": None},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_not_proven_is_refused_before_the_budget_is_charged(message):
    budget = dp.Budget(epsilon=10, delta=1e-4)
    with pytest.raises(dp.ArgumentError, match=message):
        fit(panel(50), epsilon=1, budget=budget, **REFUSED[message])
    assert budget.spent == (0.0, 0.0)
