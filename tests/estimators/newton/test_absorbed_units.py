"""Person effects under person-level privacy by noisy Newton steps; all seeds are fixed."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import dpstats as dp
from dpstats.estimators.newton import absorbed_units
from tests.checks.absorbed_units import (
    BOUNDS,
    SLOPES,
    check_least_squares,
    check_order,
    fit,
    panel,
    within,
)
from tests.checks.persons import less_all_means

BOTH = pytest.mark.parametrize("method", ["noisy_newton", "noisy_newton_pure"])


@BOTH
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("max_rows", [1, 5])
def test_as_epsilon_grows_it_is_the_within_estimator_and_clustered(method, neighbors, max_rows):
    bounds = BOUNDS if max_rows > 1 else None
    check_least_squares(
        method=method, neighbors=neighbors, max_rows=max_rows, bounds=bounds, most=(1e-3, 0.02)
    )


def test_auto_takes_it_and_the_result_comes_back_from_json():
    found = fit(panel(500), epsilon=5, method="auto", bounds=None)
    assert found.method == "noisy_newton" and found.privacy.unit == "id"
    assert fit(panel(500), epsilon=5, method="auto", delta=0).method == "noisy_newton_pure"
    assert "a row that has no value in it is left out" in " ".join(found.privacy.assumptions)
    assert dp.DPResults.from_json(found.to_json()) == found
    assert "absorbed and not released" in found.reasons["predictions"]
    with_norm = fit(panel(500), epsilon=5, method="auto", row_norm=2.0)
    assert with_norm.method == "adassp"


def test_years_as_a_factor_are_second_effects():
    data = panel(4000, 3)
    params, errors = within(data, factor=True)
    years = {"t": list(range(8))}
    found = fit(data, "y ~ C(t) + x + z | id", method="noisy_newton", levels=years, bounds=None)
    np.testing.assert_allclose(found.params, params, atol=2e-3)
    np.testing.assert_allclose(found.bse, errors, rtol=0.03)


def test_the_order_of_rows_changes_no_bit():
    check_order("noisy_newton")


def test_files_give_the_release_of_the_table_in_memory(tmp_path):
    data = panel(400)
    data.to_parquet(tmp_path / "rows.parquet")
    one = fit(data, epsilon=60, method="noisy_newton")
    other = fit(tmp_path / "rows.parquet", epsilon=60, method="noisy_newton")
    assert other.params.equals(one.params) and other.bse.equals(one.bse)


def test_persons_of_one_row_add_nothing():
    """Not to a sum, to the last bit; nor do rows without an id, which are left out."""
    data = panel(600, 2)
    several = data[data.groupby("id")["y"].transform("size") > 1]
    assert len(several) < len(data)
    one, other = (fit(rows, epsilon=60, method="noisy_newton") for rows in (several, data))
    assert one.to_json() == other.to_json()
    alone = fit(data.drop_duplicates("id"), epsilon=60, method="noisy_newton")
    assert alone.bse.isna().all() and alone.status == "not_identified"


def test_groups_of_by_are_fitted_each_with_its_own_persons():
    data = panel(6000).assign(g=lambda rows: rows["id"] % 3)
    found = fit(data, by="g", method="noisy_newton", bounds=None)
    for label, rows in data.groupby("g"):
        params, errors = within(rows)
        np.testing.assert_allclose(found.params.loc[label], params, atol=2e-3)
        np.testing.assert_allclose(found.bse.loc[label], errors, rtol=0.03)


@pytest.mark.parametrize("epsilon", [1, 4])
def test_intervals_cover_given_that_they_are_shown(epsilon):
    """30 tables of 4,000 persons, errors within persons correlated by .7, without bounds.

    The number of intervals that cover is refused below its 10^-4 quantile at 95%.
    """
    shown = covered = 0
    truth = np.array(list(SLOPES.values()))
    for seed in range(30):
        data = panel(4000, 100 + seed)
        found = fit(data, epsilon=epsilon, seed=seed, method="noisy_newton", bounds=None)
        low, high = found.conf_int().to_numpy().T
        finite = np.isfinite(low) & np.isfinite(high)
        shown += finite.sum()
        covered += (finite & (low <= truth) & (truth <= high)).sum()
        assert found.bse[finite].max() < 0.05 / epsilon**0.5
    assert shown >= 55
    assert covered >= binom.ppf(1e-4, shown, 0.95)


def test_columns_of_few_ones_have_intervals_that_hold():
    """1 in 3% of the rows each; six fixed seeds, of which none was shown before."""
    for seed in range(6):
        data, rng = panel(4000, seed), np.random.default_rng(seed)
        for name, slope in SLOPES.items():
            rare = (rng.random(len(data)) < 0.03) * 1.0
            data["y"] += slope * (rare - data[name])
            data[name] = rare
        exact, errors = within(data)
        found = fit(data, epsilon=4, seed=seed, method="noisy_newton", bounds=None)
        low, high = found.conf_int().to_numpy().T
        assert ((low <= exact) & (exact <= high)).all()
        assert (found.bse < 10 * errors).all()


REFUSED = {
    "compares rows of several persons": {"formula": "y ~ x + z | g"},
    "leave weights and trim_weights out": {"weights": "w", "bounds": BOUNDS | {"w": (0, 1)}},
    'expected cov_type="cluster"|takes the rows of a person': {"cov_type": "HC1"},
    "leave x_new out": {"x_new": {"x": [0], "z": [0]}},
    "at most 200 columns": {"formula": "y ~ C(t) | id", "levels": {"t": list(range(300))}},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_does_not_go_with_person_effects_is_refused_for_nothing(message):
    budget = dp.Budget(epsilon=10, delta=1e-4)
    with pytest.raises(dp.ArgumentError, match=message):
        fit(
            panel(50).assign(g=1, w=1.0), epsilon=1, budget=budget, method="noisy_newton",
            **REFUSED[message],
        )  # fmt: skip
    assert budget.spent == (0.0, 0.0)


def test_rows_without_their_persons_mean_are_seen(monkeypatch):
    monkeypatch.setattr(absorbed_units, "deviations", less_all_means)
    with pytest.raises(AssertionError):
        check_least_squares(method="noisy_newton", most=(1e-3, 0.02))


def test_where_scores_of_a_person_are_less_alike_intervals_are_shorter():
    """Of 8 rows with independent errors, which are 1/7 of what they would be if they were alike."""
    widths = {}
    for rows in (2, 8):
        rng = np.random.default_rng(rows)
        person = np.repeat(np.arange(4000), rows)
        x = rng.normal(size=len(person))
        data = pd.DataFrame({"id": person, "x": x, "y": 0.3 * x + rng.normal(size=len(person))})
        found = fit(data, "y ~ x | id", epsilon=8, method="noisy_newton", bounds=None)
        widths[rows] = float(found.bse["x"])
    assert widths[8] < 0.55 * widths[2]
