"""Compare what cut scores may add to a position with cuts of rows that are known."""

from dataclasses import replace

import numpy as np
import pytest

from dpstats.estimators.newton.steps.bias import Bias
from dpstats.estimators.newton.steps.score_tails import Tail

ETA = np.array([0.6, -0.3, 0.0, 0.1])
# 40 rows of size 5, seen without doubt
TAIL = Tail(np.array([[900.0, 40.0]]), np.array([0.8, 5.0]), np.ones(1), systematic=0.8)


def made(limit=2.0, variance=None, whole=1000.0, flat=None) -> Bias:
    """The bias of a step at that limit; 40 rows lose 3 each."""
    unsure = np.zeros(4) if variance is None else variance
    return Bias.of(TAIL, limit, 4.0, ETA, unsure, whole, flat)


def test_nothing_is_biased_where_nothing_is_cut():
    assert made(limit=6.0).variance.tolist() == Bias.none(4).variance.tolist() == [0.0] * 4
    assert made(limit=6.0).shift == 0.0


def test_a_cut_of_all_rows_points_along_the_position():
    """Its square is .7 of (.8 x 120)^2, in whitened rows twice as long, over 1,000 rows."""
    bias = made()
    assert bias.along @ bias.along == pytest.approx(0.7 * 4 * (0.8 * 120) ** 2 / 1000**2)
    np.testing.assert_allclose(bias.along / np.linalg.norm(bias.along), ETA / np.linalg.norm(ETA))
    random = 4 * (40 * 9 + 0.3 * (0.8 * 120) ** 2) / 4 / 1000**2
    np.testing.assert_allclose(bias.even, random)
    assert bias.shift == pytest.approx(np.sqrt(0.7 * 4) * 0.8 * 120 / 1000)


def test_what_far_rows_of_a_column_lose_is_a_vector_for_each():
    """Of two columns, in whitened rows twice as long as sizes; the rest of it is as it was."""
    flat = np.array([[0.0, 30.0, 40.0, 0], [0, 0, 0, 2.5]])
    bias = made(flat=flat)
    np.testing.assert_allclose(bias.flat, 2 * flat / 1000)
    np.testing.assert_allclose(bias.variance, made().variance + (bias.flat**2).sum(axis=0))
    twice = bias.combined(bias, np.ones(4))
    np.testing.assert_allclose(twice.flat, bias.flat)
    cut = bias.at_most(1e-4)
    np.testing.assert_allclose(np.linalg.norm(cut.flat, axis=1), [0.01, 0.005])
    back = np.random.default_rng(2).normal(size=(3, 4))
    more = bias.covariance(back, np.ones(3), np.zeros(3)) - made().covariance(
        back, np.ones(3), np.zeros(3)
    )
    np.testing.assert_allclose(more, back @ bias.flat.T @ bias.flat @ back.T, atol=1e-12)


def test_a_position_that_is_noise_gives_no_direction():
    """Of the direction its square over that and the noise is known; the rest is even."""
    noisy, sure = made(variance=np.full(4, 1e6)), made()
    assert noisy.along @ noisy.along < 1e-5 * (sure.along @ sure.along)
    total = noisy.even.sum() - sure.even.sum()
    assert total == pytest.approx(sure.along @ sure.along, rel=1e-5)


def test_biases_of_steps_add_up():
    half = made().combined(made(whole=500.0), np.full(4, 0.5))
    np.testing.assert_allclose(half.along, made().along * 1.5)
    np.testing.assert_allclose(half.even, made().even * 1.5**2)
    assert half.shift == pytest.approx(made().shift * 1.5)
    kept = made().combined(made(limit=6.0), np.zeros(4))
    np.testing.assert_allclose(kept.variance, made().variance)


def test_of_the_last_vectors_a_bias_is_no_shorter_than_a_later_one():
    """Where it is, it has the later one's entries; the first vectors stay."""
    later = Bias(np.zeros(2), np.zeros(2), np.array([[5.0, 5.0], [-3.0, 1.0], [0.0, 2.0]]))
    early = replace(later, flat=np.array([[1.0, 1.0], [-1.0, 2.0], [0.0, 1.0]]))
    assert early.at_least(later, 2).flat.tolist() == [[1, 1], [-3, 2], [0, 2]]
    assert Bias.none(2).at_least(later, 2).flat.tolist() == [[0, 0], [-3, 1], [0, 2]]
    assert early.at_least(later, 0) is early


def test_a_bias_is_cut_to_what_a_position_may_be_off_by():
    """Along the position by all of it, in each of four other directions by a fourth."""
    cut = made(whole=10.0).at_most(0.04)
    assert cut.even.max() == pytest.approx(0.01) and cut.along @ cut.along == pytest.approx(0.04)
    assert cut.shift == pytest.approx(0.1)
    assert made().at_most(9.0).shift == made().shift


def test_the_covariance_is_that_of_its_parts():
    back, constant = np.random.default_rng(1).normal(size=(3, 4)), np.array([1.0, 0, 0])
    bias, tilt = made(), np.array([1.0, 2.0, 0.5])
    even = np.diag(tilt) @ (back * bias.even) @ back.T @ np.diag(tilt)
    along = np.outer(back @ bias.along, back @ bias.along)
    expected = even + along + np.diag(constant) * bias.shift**2
    np.testing.assert_allclose(bias.covariance(back, tilt, constant), expected)
