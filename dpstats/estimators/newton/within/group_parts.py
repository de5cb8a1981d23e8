"""Divide groups into parts by labels that rows draw, where pairs are many or groups few."""

import math
from dataclasses import replace

import numpy as np

from dpstats.estimators.newton.steps import Clusters
from dpstats.numerics import Rows
from dpstats.numerics.mixing import mixed

# All pairs are taken up to this number; with more, the rows of a group are divided until they meet
# about so many others.
_MOST_PAIRS, _MET = 1 << 21, 32
# Rows draw one of so many labels at most: where noise is far larger than all rows, what is released
# of groups names no number that fits in memory.
_MOST_LABELS = 1 << 20
# With so many groups of one size, or more, those are the clusters of robust errors too.
_ENOUGH = 50
# Hashes of equal rows are so far apart, as numbers of splitmix64 are: an odd number near 2^64 over
# the golden ratio.
_STEP = np.uint64(0x9E3779B97F4A7C15)


def labels_for_pairs(norm: float, weight: float) -> int:
    """Return how many labels rows draw, a power of 2, for there to be not too many pairs.

    ``norm`` is that of the sizes of groups and ``weight`` that of all pairs, as released, so one
    number serves all groups, and no group is divided for its own size, which a row may change.
    """
    excess = norm**2 / 2 / max(_MOST_PAIRS, _MET * weight)
    return min(2 ** max(math.ceil(math.log2(excess)), 0), _MOST_LABELS)


def labels_for_variances(groups: Clusters, norm: float, weight: float) -> int:
    r"""Return how many labels rows draw for parts of groups to be clusters of robust errors.

    Each part is fitted as a group of its own. Given the regressors and the labels, which are drawn
    without regard to the rows, its score is T = sum_i (a_i - m) e_i over its rows, m their mean.
    For independent errors of any variances so are the scores, and T T' has the expectation
    sum_i (a_i - m)(a_i - m)' var(e_i), which is the covariance of T, in parts of any size: of two
    rows too, where squares of residuals about means fail (Stock and Watson 2008). So errors that
    are clustered by part are HC errors. They need parts enough; where rows would meet fewer than
    ``_MET`` others, groups stay whole.
    """
    if groups.number >= _ENOUGH:
        return 1
    return min(2 ** max(math.floor(math.log2(norm**2 / 2 / (_MET * weight))), 0), _MOST_LABELS)


def in_parts(labels: int, key: int, rows: Rows) -> Rows:
    """Sort rows of whole groups by these, and by which of the labels they draw by a key.

    Their ``keys`` are the numbers of groups. Of the rows that are returned ``units`` are, and
    ``keys`` are those of parts. Of one label groups are whole.
    """
    from dpstats.numerics.group_sort import by_group

    keys = rows.keys
    assert keys is not None, "rows come with keys"
    drawn = labels_of(rows, labels, key) if labels > 1 else np.zeros(len(rows), np.int64)
    order, _ = by_group(drawn, labels)
    order = order[by_group(keys[order], int(keys.max(initial=-1)) + 1)[0]]
    units = keys[order]
    # a gather from columns that are contiguous, which stay so
    numbers = np.take(rows.numbers.T, order, axis=1).T
    others = replace(rows, numbers=np.empty((len(rows), 0)), clusters=None)[order]
    return replace(others, numbers=numbers, keys=units * labels + drawn[order], units=units)


def labels_of(rows: Rows, labels: int, key: int) -> np.ndarray:
    """Return the label that each row draws, int64 (n,), from 0.

    It is a hash of the key, the row with the key of its group, and how many rows that are equal to
    it are counted before it. So the rows that two tables have in common draw the same labels in
    both, in whatever order and in whatever pieces they come, and labels of different rows, and of
    equal ones, are as if independent of each other and of the rows.
    """
    columns = _columns(rows)
    found = _hashed(columns, key)
    copies = _counted(columns, found)
    return (mixed(found + copies * _STEP) % np.uint64(labels)).astype(np.int64)


def _columns(rows: Rows) -> list[np.ndarray]:
    """Return all that sums over pairs see of rows, and the keys of groups, as columns of bits."""
    roles = [*rows.numbers.T, rows.response, rows.parts, rows.clusters]
    others = [] if rows.others is None else [*rows.others.T]
    given = (role for role in (*roles, *others) if role is not None)
    return [np.ascontiguousarray(role, np.float64).view(np.uint64) for role in given]


def _hashed(columns: list[np.ndarray], key: int) -> np.ndarray:
    """Return a hash of the key and of each row, uint64 (n,)."""
    found = np.full(len(columns[0]), key, np.uint64)
    for column in columns:
        found = mixed(found ^ column)
    return found


def _counted(columns: list[np.ndarray], hashes: np.ndarray) -> np.ndarray:
    """Number the rows that are equal, uint64 (n,), from 0."""
    order = np.argsort(hashes)
    alike = 1 + np.flatnonzero(np.diff(hashes[order]) == 0)
    equal = _equal(columns, order, alike)
    if len(equal) < len(alike):
        order = np.lexsort(columns)  # different rows have one hash, and equal ones may lie apart
        equal = _equal(columns, order, np.arange(1, len(order)))
    firsts, numbers = np.arange(len(order)), np.empty(len(order), np.uint64)
    firsts[equal] = 0
    numbers[order] = np.arange(len(order)) - np.maximum.accumulate(firsts)
    return numbers


def _equal(columns: list[np.ndarray], order: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the places in an order, of those given, with a row equal to the one before."""
    for column in columns:
        places = places[column[order[places]] == column[order[places - 1]]]
    return places
