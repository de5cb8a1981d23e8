"""A second method that pays for intervals: what it speaks about, costs and is refused."""

from dataclasses import replace

import numpy as np
import pytest

import dpstats as dp
from dpstats.estimators import METHODS, companion
from dpstats.privacy import REPLACE_ONE
from tests.checks.companion import check_pair
from tests.checks.pivot import close_line
from tests.checks.rank_margins import rows_of
from tests.checks.replay import (
    Case,
    check_budget,
    problem_of,
    run,
    table,
)

UNIT = {"x": (0, 1), "y": (0, 1)}


def test_a_companion_speaks_about_its_own_coefficients():
    result, _ = close_line(epsilon=5, method="boosted_adassp", companion="adassp")
    middle = result.conf_int().mean(axis=1)
    np.testing.assert_allclose(middle, result.companion)
    assert not np.allclose(result.params, result.companion, atol=1e-9)
    np.testing.assert_allclose(result.tvalues, result.companion / result.bse)
    shares = [share for _, share in result.privacy.shares()]
    assert sum(shares) == pytest.approx(1) and sum(shares[-3:]) == pytest.approx(0.5)
    assert "fit by adassp" in " ".join(result.privacy.assumptions)


def test_a_companion_with_a_ridge_has_the_intervals_of_its_own_auxiliary_fit():
    data = dp.simulate.line(300, seed=1)
    call = {"method": "boosted_adassp", "companion": "adassp", "companion_share": 0.3}
    with dp.testing.insecure_seed(3):
        result = dp.dp_ols("y ~ x", data, epsilon=8, bounds=UNIT, **call)
    assert result.status == "ok" and np.isfinite(result.conf_int()).all(axis=None)
    assert dp.DPResults.from_json(result.to_json()) == result


def test_the_share_of_the_method_is_what_ranges_terms_and_a_companion_leave():
    data = dp.simulate.line(2000, seed=1).assign(z=0.5)
    for more, share in (
        ({"method": "noisy_stats", "bounds": UNIT}, 1.0),
        ({"method": "noisy_stats", "bounds": None, "epsilon": 8}, 0.8),
        ({"method": "tukey", "formula": "y ~ x + z", "select": "kendall", "k": 1}, 0.95),
        ({"method": "boosted_adassp", "companion": "adassp", "companion_share": 0.3}, 0.8 * 0.7),
    ):
        call = {"formula": "y ~ x", "epsilon": 4, **more}
        assert dp.dp_ols(data=data, **call).share == pytest.approx(share)


def test_companions_that_cannot_share_a_budget_are_refused():
    data = dp.simulate.line(50, seed=1)
    for more, words in (
        ({"method": "gd_pure", "companion": "adassp"}, "write companion='noisy_moments', or leave"),
        ({"method": "boosted_adassp", "companion": "noisy_moments"},
         "cannot share the budget .* write companion='adassp' or 'ssp'"),
        ({"method": "gd_pure", "companion": "tukey"}, "expected companion to be one of"),
        ({"method": "gd_pure", "companion_share": 0.5}, "add companion="),
        ({"method": "noisy_moments", "companion": "noisy_moments"}, "intervals of its own"),
        ({"method": "gd_pure", "companion": "noisy_moments", "companion_share": 1},
         "expected companion_share in"),
        ({"method": "noisy_stats", "companion": "noisy_moments", "neighbors": "add_remove"},
         "proven for"),
    ):  # fmt: skip
        with pytest.raises(dp.ArgumentError, match=words):
            dp.dp_ols("y ~ x", data, epsilon=1, bounds=UNIT, **more)


@pytest.mark.parametrize("pair", [("gd_pure", "noisy_moments"), ("boosted_adassp", "adassp"),
                                  ("tukey", "noisy_moments"), ("gd_zcdp", "ssp")])  # fmt: skip
def test_with_a_companion_no_row_moves_a_query_further_than_stated(pair):
    check_pair(*pair)


def test_a_companion_beyond_its_share_is_caught():
    case = Case(
        companion.with_companion(METHODS["gd_pure"], METHODS["noisy_moments"], 0.4),
        problem_of(1, (0.0, 1.0), (0.0, 1.0), REPLACE_ONE),
        {"steps": 4},
        METHODS["gd_pure"].cost(2.0, 0.0),
    )
    transcript = run(case.fit(*table(rows_of(case), case.problem)), case.limit, seed=1)
    check_budget(transcript, case.limit)
    costs = [asked.event.cost.epsilon for asked in transcript.asked]
    assert costs[-1] == pytest.approx(0.8) and sum(costs) == pytest.approx(2.0)
    whole = companion.with_companion(METHODS["gd_pure"], METHODS["noisy_moments"], 1.0)
    late = replace(case, method=replace(whole, release=_twice(case.method.release)))
    with pytest.raises(dp.BudgetError):
        run(late.fit(*table(rows_of(case), case.problem)), case.limit, seed=1)


def _twice(release):
    """A release that asks everything again."""

    def again(*arguments, **options):
        release(*arguments, **options)
        return release(*arguments, **options)

    return again
