"""Person effects under person-level privacy: ``y ~ x | id`` with ``unit="id"``.

All seeds are fixed; a test that could fail by chance states how likely that is.
"""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import dpstats as dp
from dpstats.estimators.least_squares.within import absorbed_units
from dpstats.estimators.least_squares.within import units as within_units
from dpstats.rows import PrivacyUnit
from dpstats.rows.privacy_unit import ONE
from tests.checks.absorbed_units import (
    BOUNDS,
    SLOPES,
    check_least_squares,
    check_order,
    fit,
    panel,
    within,
)  # fmt: skip

METHODS = ["adassp", "ssp"]


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    st.integers(0, 10**6),
    st.floats(0, 0.95),
    st.sampled_from(METHODS),
    st.sampled_from(["add_remove", "replace_one"]),
    st.sampled_from([1, 2, 5, 20]),
)
def test_as_epsilon_grows_it_is_the_within_estimator_and_clustered(
    seed, icc, method, neighbors, max_rows
):
    check_least_squares(seed, icc, method, neighbors, max_rows)


def test_years_as_a_factor_are_second_effects():
    data = panel(4000, 3)
    params, errors = within(data, factor=True)
    found = fit(data, "y ~ C(t) + x + z | id", levels={"t": list(range(8))})
    np.testing.assert_allclose(found.params, params, atol=1e-4)
    np.testing.assert_allclose(found.bse, errors, rtol=5e-3)


def test_the_report_says_whom_it_protects():
    found = fit(panel(500), epsilon=5)
    assert found.privacy.unit == "id"
    said = " ".join(found.privacy.assumptions)
    assert "all rows with one value of id together" in said
    assert "a row that has no value in it is left out" in said
    again = dp.DPResults.from_json(found.to_json())
    assert again == found and again.cov_type == "cluster"


def test_the_order_of_rows_changes_no_bit():
    check_order()


def test_files_give_the_release_of_the_table_in_memory(tmp_path):
    data = panel(400)
    data.to_parquet(tmp_path / "rows.parquet")
    data.to_csv(tmp_path / "rows.csv", index=False)
    one = fit(data, epsilon=60)
    for name in ("rows.parquet", "rows.csv"):
        other = fit(tmp_path / name, epsilon=60)
        assert other.params.equals(one.params) and other.bse.equals(one.bse)


def test_persons_of_one_row_add_nothing():
    """Not to a sum, to the last bit; nor do rows without an id, which are left out."""
    data = panel(600, 2)
    rows = data.groupby("id")["y"].transform("size")
    several = data[rows > 1]
    assert 0 < (rows == 1).sum()
    assert fit(several, epsilon=60).to_json() == fit(data, epsilon=60).to_json()
    strangers = several.astype({"id": "Int64"})
    strangers = pd.concat([strangers, strangers.head(200).assign(id=pd.NA)], ignore_index=True)
    one, other = fit(several, epsilon=60), fit(strangers, epsilon=60)
    assert other.params.equals(one.params) and other.bse.equals(one.bse)
    alone = fit(data.drop_duplicates("id"), epsilon=60)
    assert alone.bse.isna().all() and "so all are 0" in alone.reasons["bse"]


def test_the_noise_is_that_of_one_row_whatever_the_number_of_persons():
    """Events have the same scales for 50 and 5,000 persons, a quarter of those at row level."""
    scales = [
        {event.step: event.scale for event in fit(panel(persons), epsilon=9).privacy.events}
        for persons in (600, 4000)
    ]
    assert scales[0] == scales[1]
    rows = fit(panel(4000), epsilon=9, unit=None)
    ratios = {
        e.step: e.scale / scales[0][e.step] for e in rows.privacy.events if e.step in scales[0]
    }
    assert ratios["X'X within groups"] == pytest.approx(4 * 0.9**0.5, rel=1e-3)


def test_groups_of_by_are_fitted_each_with_its_own_persons():
    data = panel(6000).assign(g=lambda rows: rows["id"] % 3)
    found = fit(data, by="g")
    for label, rows in data.groupby("g"):
        params, errors = within(rows)
        np.testing.assert_allclose(found.params.loc[label], params, atol=1e-4)
        np.testing.assert_allclose(found.bse.loc[label], errors, rtol=5e-3)
    assert found.cov_type == "cluster"


def test_without_bounds_or_data_there_are_no_intervals():
    found = fit(panel(6000), epsilon=50, bounds=None)
    assert found.params["x"] == pytest.approx(0.4, abs=0.1)
    assert found.bse.isna().all() and "clip an unknown part" in found.reasons["bse"]
    for method in METHODS:
        little = fit(panel(30), epsilon=0.5, method=method)
        assert little.status == "not_identified" and little.bse.isna().all()
        assert (little.params == 0).all()
    assert fit(panel(30).head(0), epsilon=0.5).bse.isna().all()


@pytest.mark.parametrize("epsilon", [1, 4])
def test_intervals_cover_given_that_they_are_shown(epsilon):
    """80 tables of 5,000 persons, errors within persons correlated by .7; see the fraction shown.

    At 95% the number of intervals that cover is refused below its 10^-4 quantile, which is also
    above 86% of those shown; row-level standard errors are not meant to pass.
    """
    shown = covered = 0
    for seed in range(80):
        table = fit(panel(5000, 100 + seed), epsilon=epsilon, seed=seed).conf_int().to_numpy()
        finite = np.isfinite(table).all(axis=1)
        truth = np.array(list(SLOPES.values()))
        shown += finite.sum()
        covered += (finite & (table[:, 0] <= truth) & (truth <= table[:, 1])).sum()
    assert shown >= 120
    assert covered >= 0.93 * shown and covered >= binom.ppf(1e-4, shown, 0.95)


REFUSED = {
    "compares rows of several persons": {"formula": "y ~ x + z | g"},
    "leave weights and trim_weights out": {"weights": "w", "bounds": BOUNDS | {"w": (0, 1)}},
    "takes the rows of a person for independent": {"cov_type": "HC1"},
    "shrunken cannot absorb id": {"method": "shrunken"},
    "leave x_new out": {"x_new": {"x": [0], "z": [0]}},
    "leave select out": {"select": "kendall", "k": 1},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_does_not_go_with_person_effects_is_refused_for_nothing(message):
    budget = dp.Budget(epsilon=10, delta=1e-4)
    with pytest.raises(dp.ArgumentError, match=message):
        fit(panel(50).assign(g=1, w=1.0), epsilon=1, budget=budget, **REFUSED[message])
    assert budget.spent == (0.0, 0.0)


def centred(center):
    """Deviations from another centre than the mean of the unit."""

    def scaled(self, rows):
        z = self.box.integers(rows.numbers, rows.response)
        return (z - center(z)).T, ORIGINAL(self, rows)[1]

    return scaled


ORIGINAL = within_units.UnitDeviations.scaled
MUTANTS = {
    "sums are not centred": (
        within_units.UnitDeviations, "scaled", centred(lambda z: 0.0), check_least_squares,
    ),
    "all rows have one centre": (
        within_units.UnitDeviations, "scaled", centred(lambda z: np.rint(z.mean(axis=0))),
        check_least_squares,
    ),
    "parts are ignored": (
        PrivacyUnit, "parts", lambda unit, units: np.full(len(units), ONE >> 4),
        check_least_squares,
    ),
    "scores are those of rows": (
        absorbed_units, "sums_by_unit", lambda scores, units: scores, check_least_squares,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_what_breaks_the_estimate_is_seen(name, monkeypatch):
    module, attribute, mutant, check = MUTANTS[name]
    monkeypatch.setattr(module, attribute, mutant)
    with pytest.raises(AssertionError):
        check()
