"""Ends that were bought, of which some are infinite, and groups that bought none."""

import numpy as np

from dpstats.evidence import EndsEvidence, Evidence

NONE = np.nan


def test_an_end_that_could_not_be_bought_is_infinite_and_a_group_without_any_has_none():
    stack = EndsEvidence(
        level=[0.95, 0.95, NONE],
        points=[np.eye(2), np.eye(2), np.full((2, 2), NONE)],
        ends=[[[0.0, 1.0], [2.0, 3.0]], [[NONE, NONE], [2.0, 3.0]], [[NONE, NONE]] * 2],
    )
    params, cov = np.zeros((3, 2)), np.full((3, 2, 2), NONE)
    ends = stack.uncertainty(params, cov).intervals(np.eye(2), 0.05)
    assert ends[0].tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert ends[1].tolist() == [[-np.inf, np.inf], [2.0, 3.0]]
    assert np.isnan(ends[2]).all()
    assert isinstance(stack[1], EndsEvidence) and type(stack[2]) is Evidence


def test_ends_that_are_all_infinite_are_kept():
    """They are NaN in the store, which elsewhere says that nothing was released."""
    stack = EndsEvidence(level=[0.95], points=[np.eye(1)], ends=[[[NONE, NONE]]])
    alone = stack[0]
    assert isinstance(alone, EndsEvidence) and np.isnan(alone.ends).all()
