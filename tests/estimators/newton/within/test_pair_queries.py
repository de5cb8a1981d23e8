"""How far rows and labels move what is released of pairs."""

import numpy as np
import pytest

from dpstats.privacy import ADD_REMOVE, RELATIONS, REPLACE_ONE
from tests.checks.pairs_within import (
    PURE,
    check_random,
    check_tiny,
    check_tiny_weights,
    check_worst,
    check_worst_laplace,
    check_worst_weights,
    queries_of,
)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_worst_rows_reach_the_stated_sensitivities(neighbors):
    check_worst(neighbors)
    check_worst_weights(neighbors)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_so_they_do_with_delta_0(neighbors):
    check_worst(neighbors, PURE)
    check_worst_laplace(neighbors)
    check_worst_weights(neighbors, PURE)
    check_tiny(neighbors, PURE)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_no_tiny_table_has_a_neighbour_that_is_farther(neighbors):
    check_tiny(neighbors)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_nor_has_one_of_rows_that_count_for_less(neighbors):
    check_tiny_weights(neighbors)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("cov_type", [None, "cluster", "nonrobust"])
def test_strange_rows_move_nothing_farther_with_bounds_or_without(neighbors, cov_type):
    check_random(neighbors, cov_type)
    check_random(neighbors, cov_type, x=(-(2.0**60), 2.0**60), y=(-(2.0**60), 2.0**60))
    check_random(neighbors, cov_type and "HC1", weighted=True)
    check_random(neighbors, cov_type, name="noisy_newton_pure")
    check_random(neighbors, cov_type and "HC1", weighted=True, name="noisy_newton_pure")


def test_sensitivities_are_those_of_the_proof():
    one, two = (queries_of(np.zeros((2, 3)), np.zeros(2), n) for n in (ADD_REMOVE, REPLACE_ONE))
    assert one.positive_sensitivity == pytest.approx(1.25**0.5)
    assert two.positive_sensitivity == pytest.approx(4.5**0.5)
    assert one.score_sensitivity == pytest.approx((2.25 + 0.09) ** 0.5, rel=1e-5)
    assert two.score_sensitivity == pytest.approx((9 + 2.25 * 0.09) ** 0.5, rel=1e-5)
