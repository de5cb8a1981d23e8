"""Squared scores are stored in units of the cut, and read as sums of squares."""

import numpy as np

from dpstats.evidence.squared_scores import ScoredEvidence


def test_they_are_read_in_squared_units_of_the_response():
    known = ScoredEvidence(rows=9.0).with_squares(np.eye(2), np.array(3.0), np.array(0.5))
    meat = known.meat_of(2)
    assert known.rows == 9.0 and np.array_equal(meat.products, 9 * np.eye(2))
    assert meat.deviation == 4.5 and meat.kept is None and np.array_equal(meat.unit, np.ones(2))


def test_what_was_kept_of_weighted_rows_is_at_least_its_noise():
    squares = np.eye(2), np.array(2.0), np.array(0.5)
    kept = [ScoredEvidence().with_squares(*squares, part).meat_of(2).kept for part in (3.0, -1.0)]
    assert kept == [12.0, 2.0]


def test_without_a_release_they_are_zero():
    meat = ScoredEvidence().meat_of(3)
    assert not meat.products.any() and meat.products.shape == (3, 3) and meat.deviation == 0


def test_those_of_groups_have_a_cut_each():
    known = ScoredEvidence().with_squares(np.ones((2, 3, 3)), np.array([1.0, 2.0]), np.ones(2))
    meat = known.meat_of(3)
    assert meat.products[:, 0, 0].tolist() == [1.0, 4.0] and meat.deviation.tolist() == [1.0, 4.0]
