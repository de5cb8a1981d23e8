"""Where steps stand, and what the last one shows of the next."""

import numpy as np
import pytest

from dpstats.estimators.newton.steps.bias import Bias
from dpstats.estimators.newton.steps.state import NewtonState, prior_variance
from dpstats.estimators.newton.steps.whitening import Whitening

WHITENING = Whitening(np.eye(2), np.ones(2), np.zeros(2), np.ones(2), np.zeros((2, 2)))


def state(**changes) -> NewtonState:
    """A position of two directions whose scores were not cut."""
    return NewtonState(np.zeros(2), np.ones(2), Bias.none(2), **changes)


def test_what_a_step_left_over_shows_in_the_next_one():
    """The noise of both is 0.25, and so is its deviation, as there are two directions."""
    last = state(moved=4.0, moved_noise=0.1)
    assert last.left_over(np.array([1.0, 0.5]), 0.075) == pytest.approx(0.25 - 0.25 / 4)
    assert state(moved=4.0).left_over(np.array([1.0, 0.5]), 0.0) == pytest.approx(1.25 / 4)
    assert last.left_over(np.array([0.1, 0.1]), 0.075) == 0.0
    assert last.left_over(np.array([9.0, 9.0]), 0.075) == 1.0
    assert state().left_over(np.ones(2), 0.0) == 0.0


def test_sampling_is_the_mean_square_over_the_rows_or_what_products_say():
    np.testing.assert_allclose(
        state(square=0.5, hessian=0.8).sampling(WHITENING, 100.0), np.eye(2) * 0.5 / 64
    )
    products = np.array([[200.0, 30.0], [30.0, 100.0]])
    sampling = state(products=products, hessian=0.8).sampling(WHITENING, 100.0)
    np.testing.assert_allclose(sampling, products / 80**2)


def test_the_prior_of_a_direction_is_of_all_or_of_few_that_have_the_signal():
    assert [prior_variance(p) for p in (1, 2, 4, 50)] == [1.0, 1.0, 0.5, 0.15]
