"""Steps of a logistic regression and what they leave unsure."""

import numpy as np
import pytest

from dpstats.estimators.newton.generalized.logistic_position import (
    Hessian,
    Position,
    normal_curvature,
)

NONE = np.zeros((2, 2))


def test_without_noise_a_step_is_newtons():
    hessian = Hessian.guessed(np.diag([100.0, 50.0]), 0.1, NONE)
    found = Position.start(2, 0.0).stepped(hessian, np.array([30.0, -20.0]), 0.0)
    assert found.eta == pytest.approx([0.3, -0.4])
    assert found.moved == pytest.approx(0.25) and 0 < np.trace(found.cov) < 0.05


def test_steps_are_combined_by_their_precision():
    """Two noisy steps of one noise have little more than half the variance of one."""
    hessian, rng = Hessian.guessed(1e4 * np.eye(2), 0.0, NONE), np.random.default_rng(1)
    errors, stated = [], []
    for _ in range(400):
        position = Position.start(2, 0.0)
        for _ in range(2):
            noisy = 1e4 * (0.0 - position.eta) + rng.normal(0, 200, 2)
            position = position.stepped(hessian, noisy, 200.0)
        errors.append(position.eta)
        stated.append(np.trace(position.cov) / 2)
    once = (200 / 1e4) ** 2
    assert 0.45 * once < np.var(errors) < 0.75 * once
    assert np.var(errors) < 1.1 * np.mean(stated) < 0.8 * once


def test_a_guess_without_curvature_leaves_a_position_where_it_is():
    hessian = Hessian.guessed(np.zeros((2, 2)), 0.5, NONE)
    found = Position.start(2, 0.0).stepped(hessian, np.array([500.0, -3.0]), 1.0)
    assert np.linalg.norm(found.eta) < 1e-4 and np.isfinite(found.cov).all()


def test_noise_alone_does_not_move_a_position_far():
    hessian = Hessian.guessed(np.eye(2), 0.0, NONE)
    start = Position.start(2, 0.0)
    found = start.stepped(hessian, np.array([500.0, 0.0]), 500.0)
    assert np.linalg.norm(found.eta) < 0.1
    assert found.cov[0, 0] == pytest.approx(start.prior, rel=0.05)


def test_no_step_is_longer_than_two():
    found = Position.start(2, 0.0).stepped(
        Hessian.guessed(np.eye(2), 0.0, NONE), np.array([30.0, 40.0]), 0.0
    )
    assert found.eta == pytest.approx([1.2, 1.6])


def test_steps_that_do_not_shrink_leave_as_much_of_the_way():
    """So it is where ones and zeros are separated: each step is as long as the one before."""
    hessian, position = Hessian.guessed(1e6 * np.eye(2), 0.01, NONE), Position.start(2, 0.0)
    for _ in range(3):
        position = position.stepped(hessian, np.array([1e6, 0.0]), 1.0)
    assert position.eta == pytest.approx([3.0, 0.0])
    assert np.trace(position.left) == pytest.approx(1.0, rel=0.01)
    shrinking = Position.start(2, 0.0)
    for length in (1.0, 0.1, 0.001):
        shrinking = shrinking.stepped(hessian, np.array([1e6 * length, 0.0]), 1.0)
    assert np.trace(shrinking.left) < 1e-6 and shrinking.beyond < 1e-3


def test_noise_in_products_of_rows_leaves_a_part_of_a_step_where_it_is():
    """The first direction is off by what a whitening that is wrong turned into the second."""
    errors, hessian = np.array([[0.0, 0.04], [0.0, 0.0]]), 1e4 * np.eye(2)
    sums = np.array([0.0, 5e3])
    right, wrong = (
        Position.start(2, 0.0).stepped(Hessian.guessed(hessian, 0.1, each), sums, 1.0)
        for each in (NONE, errors)
    )
    assert wrong.eta == pytest.approx(right.eta)
    assert wrong.cov - right.cov == pytest.approx(np.diag([0.04 * 0.25, 0.0]), rel=0.01, abs=1e-6)
    assert np.trace(wrong.left - right.left) == pytest.approx(0.01, rel=0.01)


def test_a_released_hessian_is_inverted_without_what_noise_hides():
    found = Hessian.released(np.diag([-5.0, 400.0]), 10.0)
    assert found.raised == pytest.approx([10 * np.sqrt(2), 400])
    assert np.diag(found.inverse) == pytest.approx([1 / (10 * np.sqrt(2)), 1 / 400])
    assert np.diag(found.sampling) == pytest.approx([1 / (5 * np.sqrt(2)), 1 / 390])


@pytest.mark.parametrize("center", [0.0, -3.0])
def test_the_curvature_of_normal_directions_is_their_mean(center):
    rng, constant = np.random.default_rng(2), np.array([1.0, 0.0, 0.0])
    a = np.column_stack([np.ones(400_000), rng.normal(size=(400_000, 2))])
    eta = np.array([-0.5, 1.2, 0.6])
    mu = 1 / (1 + np.exp(-center - a @ eta))
    mean = (a * (mu * (1 - mu))[:, None]).T @ a / len(a)
    assert normal_curvature(center, eta, constant) == pytest.approx(mean, abs=3e-3)
    flat = normal_curvature(center, np.zeros(3), constant)
    assert flat == pytest.approx(np.exp(center) / (1 + np.exp(center)) ** 2 * np.eye(3))
