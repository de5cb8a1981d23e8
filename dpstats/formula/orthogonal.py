"""Find columns that are functions of one variable, and orthogonal ones of the same span."""

import numpy as np
from numpy.polynomial.legendre import leggauss

from dpstats.formula.design import Design
from dpstats.numerics import ColumnBasis
from dpstats.schema import Numeric

# Nodes at which polynomials are integrated exactly, and points that show the range of a column.
_NODES, _POINTS = 64, 2001
# A range is extended by this part of its width on both sides, more than its extremes are off.
_MARGIN = 1e-3
# The smallest eigenvalue must grow by half, or columns stay as they are.
_GAIN = 1.5
# Columns whose remainder is this part of them, or less, are combinations of others.
_RANK = 1e-10


def orthogonal_basis(design: Design) -> ColumnBasis | None:
    r"""Make the columns that are functions of one variable orthogonal on its public range.

    Columns such as x and I(x**2), or those of a spline, are combined so that they are uncorrelated
    for x uniform on its range [a, b]: of the powers 1 to k these are Legendre's polynomials,
    P_1(t) to P_k(t) with t = x mapped to [-1, 1], up to constants. In a model without a constant
    they are orthogonal without one. Columns stay as they are where that would not help, as those
    of poly() are uncorrelated, and where a term has declared bounds.

    How large they are. The range of a column q_j is that of q_j(x) for x in [a, b], read off 2,001
    points and extended by a thousandth, and the coordinate u_j maps it to [-1, 1]. Between points
    at distance h on [-1, 1] a polynomial rises by at most h^2 / 8 sup |P_k''| = h^2 (k - 1) k (k +
    1) (k + 2) / 64 more, 10^-5 for k = 5, so no row is clipped there. Whether a range is right has
    no part in privacy: every coordinate is clipped to [-1, 1] row by row, so |u_j| <= 1 and ||u||^2
    <= S. Nothing smaller holds for powers: at x = b all |P_j(1)| = 1, so sup sum_j u_j^2 = k, which
    is reached there.

    Returns
    -------
    ColumnBasis or None
        None where all columns stay as they are. A function of the public schema alone.

    Examples
    --------
    >>> from dpstats.formula import Formula
    >>> schema = {"y": Numeric(0, 1), "x": Numeric(0, 4)}
    >>> basis = orthogonal_basis(Formula.parse("y ~ x + I(x**2)").design(schema))
    >>> (basis.matrix[:, 2] / basis.matrix[2, 2]).round(3) + 0
    array([ 0., -4.,  1.])
    >>> orthogonal_basis(Formula.parse("y ~ poly(x, 2)").design(schema)) is None
    True
    """
    groups = [
        (name, places)
        for name, places in design.columns_of_one_variable().items()
        if len(places) > 1
    ]
    matrix, low, high = np.eye(len(design.names)), design.low.copy(), design.high.copy()
    for name, places in groups:
        combined = _combined(design, name, places)
        if combined is not None:
            matrix[np.ix_(places, places)], low[places], high[places] = combined
    if np.array_equal(matrix, np.eye(len(matrix))):
        return None
    return ColumnBasis(matrix, low, high)


def _combined(design: Design, name: str, places: list[int]):
    """Return the matrix (k, k) of one variable's columns and the ranges of what it makes of them.

    None where that does not help.
    """
    kind, constant = design.schema[name], design.has_constant
    assert isinstance(kind, Numeric), "columns of one variable are numeric"
    nodes, weights = leggauss(_NODES)
    t = np.concatenate([nodes, np.linspace(-1, 1, _POINTS)])
    x = kind.low + (kind.high - kind.low) * (t + 1) / 2
    F, weights = design.columns_at(name, x)[:, places], weights / 2
    centred = F - weights @ F[:_NODES] if constant else F
    sizes = np.sqrt(weights @ centred[:_NODES] ** 2)
    if not (sizes > 0).all():
        return None
    triangle = np.linalg.qr(np.sqrt(weights)[:, None] * centred[:_NODES] / sizes, mode="r")
    if np.abs(np.diag(triangle)).min() < _RANK:
        return None
    # columns of a unit leading coefficient, in units of the first one of them
    matrix = np.linalg.inv(triangle) / sizes[:, None]
    matrix = np.triu(matrix / np.diag(matrix))
    ends = _ranges(F @ matrix)
    before = _least(F[:_NODES], design.low[places], design.high[places], weights, constant)
    after = _least(F[:_NODES] @ matrix, *ends, weights, constant)
    return (matrix, *ends) if after > _GAIN * before else None


def _ranges(Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ranges (k,) and (k,) of columns, a little extended."""
    low, high = Q.min(axis=0), Q.max(axis=0)
    more = _MARGIN * (high - low)
    return low - more, high + more


def _least(F: np.ndarray, low, high, weights: np.ndarray, constant: bool) -> float:
    """Return the smallest eigenvalue of the moments of columns scaled from their ranges to [-1, 1].

    The noise on sums of scaled columns is the same in any basis, so this says what it hides.
    """
    center = (low + high) / 2 if constant else np.zeros(len(low))
    U = (F - center) / np.maximum(np.abs(low - center), np.abs(high - center))
    U = U - weights @ U if constant else U
    return float(np.linalg.eigvalsh(U.T @ (weights[:, None] * U))[0])
