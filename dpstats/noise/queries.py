"""Define the queries of mechanisms: exact values and how far one person moves them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Query:
    """State exact integers to release and how far one person can move them.

    ``values`` are Python integers in multiples of ``unit``; ``l1`` and ``l2`` bound the
    L1 and L2 norm of the change of ``values`` between neighbours, in the same units
    (None where the mechanism has derived no bound). With ``any_noise`` noise of an epsilon alone
    may be Laplace or spherical, whichever is less; else it is Laplace.
    """

    step: str
    values: Sequence | np.ndarray
    l1: float | None = None
    l2: float | None = None
    unit: float = 1.0
    any_noise: bool = False


@dataclass(frozen=True)
class RankQuery:
    """State a choice among ``size`` public points with utility -|imbalance(i)| / divisor.

    ``imbalance`` is an integer function, nonincreasing in i; ``sensitivity`` bounds the
    change of imbalance(i) / divisor between neighbours at every i. ``divisor``, at least 1, may
    differ between neighbours and is not recorded.
    """

    step: str
    imbalance: Callable[[int], int]
    size: int
    sensitivity: float
    divisor: int = 1


@dataclass(frozen=True)
class RankTable:
    """State a :class:`RankQuery` about each of G groups that share no row.

    Group g has the entries ``edges[g]`` to ``edges[g + 1]`` of a list of real numbers z. With
    I(r) the number of its entries above r less that below, its imbalance at the grid point
    r = first + i is the number nearest to zero between I(r + reach) and I(r - reach).

    Parameters
    ----------
    doubled : numpy.ndarray of int32, shape (N,)
        2 z where z is a whole number, else 2 floor(z) + 1: so z > r says ``doubled`` > 2 r for
        whole r, and the same for <. At most 2^29 in magnitude, as 2 (r +- reach) is.
    edges : numpy.ndarray of int64, shape (G + 1,)
        Fewer than 2^31 entries per group.
    first, size, reach : int
    sensitivities : numpy.ndarray, shape (G,)
    divisors : numpy.ndarray of int64, shape (G,), or 1 for all
    """

    step: str
    doubled: np.ndarray
    edges: np.ndarray
    first: int
    size: int
    reach: int
    sensitivities: np.ndarray
    divisors: np.ndarray | int = 1


@dataclass(frozen=True)
class SmoothQuery:
    """State a point of a public grid whose sensitivity is smoothed over nearby data.

    ``index`` is the exact value, 0..size-1, at most 2^30, in grid steps of ``unit``.
    ``bound(t)`` is a t-smooth upper bound on its local sensitivity in grid steps (Nissim,
    Raskhodnikova and Smith 2007, Definition 2.1): between neighbours the index moves by
    at most bound(t), and bound(t) by a factor of at most e^t. It lies in [1, size).
    """

    step: str
    index: int
    size: int
    bound: Callable[[float], float]
    unit: float = 1.0


@dataclass(frozen=True)
class ScoreQuery:
    """State a choice of the item with the largest of some integer scores.

    ``scores`` are Python integers in multiples of ``unit``. ``spread`` bounds, between
    neighbours, by how much more one score can rise than another, in the same units: twice
    the sensitivity when scores may move either way, less when they tend to move together.
    """

    step: str
    scores: Sequence[int]
    spread: int
    unit: float = 1.0


@dataclass(frozen=True)
class DepthQuery:
    """State a choice of a lattice point, likelier the deeper it lies in nested boxes.

    Box q, for q = 0, 1, ..., Q, holds the lattice points between the rows ``lower[q]``
    and ``upper[q]`` of integers, shape (Q + 1, d); box 0 is the public lattice. The depth
    of a point is the largest q whose box holds it, and one person moves the depth of every
    point by at most 1. Points of depth below ``cutoff`` in 1..Q are left out.
    """

    step: str
    lower: Sequence[Sequence[int]]
    upper: Sequence[Sequence[int]]
    cutoff: int


@dataclass(frozen=True)
class PosteriorQuery:
    """State one sample of the coefficients of least squares with a ridge.

    ``cross`` holds the exact cross-products of the rows (u, v), shape (S + 1, S + 1), Python
    integers in multiples of ``unit``, and H = U'U + ``ridge`` I. For every row that could be
    added to the smaller of two neighbours, u'H^-1 u is at most ``leverage`` and its residual at
    most ``residual`` there; both follow from earlier releases, and given those they are wrong
    with probability ``failure`` at most.
    """

    step: str
    cross: np.ndarray
    unit: float
    ridge: float
    leverage: float
    residual: float
    failure: float


@dataclass(frozen=True)
class BallQuery:
    """State one sample of the coefficients of ridge regression with ||theta|| <= ``radius``.

    ``cross``, ``unit`` and ``ridge`` are as in :class:`PosteriorQuery`. Between neighbours the
    objective changes by a function whose values in the ball differ by at most ``spread``.
    """

    step: str
    cross: np.ndarray
    unit: float
    ridge: float
    radius: float
    spread: float


@dataclass(frozen=True)
class ObjectiveQuery:
    """State the minimiser of least squares with a ridge over ||theta|| <= ``radius``.

    ``cross``, ``unit`` and ``ridge`` are as in :class:`PosteriorQuery`. Neighbours differ by a row
    (u, v) more or less, with ||u||^2 at most ``curvature`` and the norm of its gradient
    (u'theta - v) u within the ball at most ``gradient``.
    """

    step: str
    cross: np.ndarray
    unit: float
    ridge: float
    radius: float
    gradient: float
    curvature: float
