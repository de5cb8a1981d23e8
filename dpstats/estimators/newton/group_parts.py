"""Divide groups into parts by labels that rows draw, where pairs are many or groups few."""

import math
from dataclasses import replace

import numpy as np

from dpstats.estimators.newton.state import Clusters
from dpstats.noise import Noise
from dpstats.numerics import Rows

# All pairs are taken up to this number; with more, the rows of a group are divided until they meet
# about so many others.
_MOST_PAIRS, _MET = 1 << 21, 32
# With so many groups of one size, or more, those are the clusters of robust errors too.
_ENOUGH = 50


def labels_for_pairs(norm: float, weight: float) -> int:
    """Return how many labels rows draw, a power of 2, for there to be not too many pairs.

    ``norm`` is that of the sizes of groups and ``weight`` that of all pairs, as released, so one
    number serves all groups, and no group is divided for its own size, which a row may change.
    """
    excess = norm**2 / 2 / max(_MOST_PAIRS, _MET * weight)
    return 2 ** max(math.ceil(math.log2(excess)), 0)


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
    return 2 ** max(math.floor(math.log2(norm**2 / 2 / (_MET * weight))), 0)


def in_parts(rows: Rows, labels: int, noise: Noise) -> Rows:
    """Sort rows with the numbers of their groups by these, and by which of the labels they draw.

    Rows come back with the numbers of their group (``units``) and of its part (``keys``). Of one
    label groups are whole.
    """
    from dpstats.numerics.group_sort import by_group

    keys = rows.keys
    assert keys is not None, "rows come with keys"
    drawn = noise.assign(len(rows), labels) if labels > 1 else np.zeros(len(rows), np.int64)
    order, _ = by_group(drawn, labels)
    order = order[by_group(keys[order], int(keys.max(initial=-1)) + 1)[0]]
    units = keys[order]
    # a gather from columns that are contiguous, which stay so
    numbers = np.take(rows.numbers.T, order, axis=1).T
    others = replace(rows, numbers=np.empty((len(rows), 0)))[order]
    return replace(others, numbers=numbers, keys=units * labels + drawn[order], units=units)
