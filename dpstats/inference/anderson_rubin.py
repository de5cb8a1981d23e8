"""Invert tests of Anderson and Rubin (1949), which hold however weak instruments are."""

import math
from dataclasses import dataclass

import numpy as np

# Roots whose imaginary part is below this are tried as ends; one too many changes nothing.
_REAL = 1e-6
# Combinations of instruments with less than this part of the largest variance are none.
_COLLINEAR = 1e-9


@dataclass(frozen=True)
class ConfidenceSet:
    """Hold a confidence set of a coefficient: closed intervals in increasing order.

    There may be none, one, or several, and the outer ends may be infinite.

    >>> print(ConfidenceSet(((-math.inf, -0.4), (0.1, math.inf)), 0.95))
    (-inf, -0.4] or [0.1, inf)
    >>> 0.0 in ConfidenceSet(((-1.0, 2.0),), 0.95), str(ConfidenceSet((), 0.95))
    (True, 'empty')
    """

    intervals: tuple[tuple[float, float], ...]
    level: float

    @property
    def is_bounded(self) -> bool:
        """Tell whether all ends are finite."""
        return all(math.isfinite(end) for pair in self.intervals for end in pair)

    def __contains__(self, value: float) -> bool:
        return any(low <= value <= high for low, high in self.intervals)

    def __str__(self) -> str:
        return " or ".join(map(_written, self.intervals)) or "empty"

    __repr__ = __str__


def _written(ends: tuple[float, float]) -> str:
    low, high = ends
    left, right = "(" if math.isinf(low) else "[", ")" if math.isinf(high) else "]"
    return f"{left}{low:.4g}, {high:.4g}{right}"


def first_stage_f(coefficients: np.ndarray, cov: np.ndarray) -> float:
    """Return the Wald statistic that no instrument moves the regressor, over their number k.

    ``coefficients`` (2, k) are those of the response and of the regressor, ``cov`` (2 k, 2 k) is
    their covariance. NaN where they are.
    """
    if np.isnan(coefficients).any():
        return math.nan
    coefficients, cov = _independent(coefficients, cov)
    k = coefficients.shape[1]
    return float(coefficients[1] @ np.linalg.solve(cov[k:, k:], coefficients[1])) / k


def anderson_rubin(
    coefficients: np.ndarray, cov: np.ndarray, level: float, degrees: float = math.inf
) -> ConfidenceSet:
    """Return all b that the reduced forms are compatible with, at a level in (0, 1).

    Where b is the effect of the regressor, g = coefficients[0] - b coefficients[1] has mean zero
    and the covariance V(b) = V_yy - b (V_yd + V_dy) + b^2 V_dd. The set is g' V(b)^-1 g <= q, q the
    quantile of chi-squared with k degrees of freedom, or k times that of F where the covariance has
    finite ``degrees``, as of few clusters. Its ends are among the roots of the determinant of
    [[V(b), g], [g', q]], a polynomial of degree 2 k. The whole line where the coefficients (2, k),
    and ``cov`` (2 k, 2 k), are NaN.
    """
    from scipy.linalg import eigvals
    from scipy.special import chdtri, fdtri

    if np.isnan(coefficients).any():
        return ConfidenceSet(((-math.inf, math.inf),), level)
    coefficients, cov = _independent(coefficients, cov)
    k = coefficients.shape[1]
    sizes = np.sqrt([np.diag(cov)[:k].mean(), np.diag(cov)[k:].mean()])
    (y, d), apart = coefficients / sizes[:, None], np.repeat(sizes, k)
    V = cov / np.outer(apart, apart)
    q = float(k * fdtri(k, degrees, level) if math.isfinite(degrees) else chdtri(k, 1 - level))
    terms = [
        _bordered(V[:k, :k], y, q),
        _bordered(-V[:k, k:] - V[k:, :k], -d, 0.0),
        _bordered(V[k:, k:], np.zeros(k), 0.0),
    ]
    one, none = np.eye(k + 1), np.zeros((k + 1, k + 1))
    left = np.block([[none, one], [-terms[0], -terms[1]]])
    roots = np.asarray(eigvals(left, np.block([[one, none], [none, terms[2]]])))
    roots = roots[np.isfinite(roots)]
    ends = np.sort(np.real(roots[np.abs(np.imag(roots)) <= _REAL * (1 + np.abs(roots))]))

    def holds(b: float) -> bool:
        at = terms[0] + b * terms[1] + b**2 * terms[2]
        g = at[:k, k]
        return float(g @ np.linalg.solve(at[:k, :k], g)) <= q

    found = _joined(ends, holds)
    unit = float(sizes[0] / sizes[1])
    return ConfidenceSet(tuple((low * unit, high * unit) for low, high in found), level)


def _independent(coefficients: np.ndarray, cov: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients and covariance of combinations of instruments that are not collinear."""
    k = coefficients.shape[1]
    of_y, of_d = cov[:k, :k], cov[k:, k:]
    units = 1 / np.sqrt(np.diag(of_d))
    both = (of_d + of_y * (np.trace(of_d) / np.trace(of_y))) * np.outer(units, units)
    values, vectors = np.linalg.eigh(both)
    to = (vectors[:, values > _COLLINEAR * values[-1]] * units[:, None]).T
    twice = np.kron(np.eye(2), to)
    return coefficients @ to.T, twice @ cov @ twice.T


def _bordered(square: np.ndarray, column: np.ndarray, corner: float) -> np.ndarray:
    """Return [[square, column], [column', corner]]."""
    return np.block([[square, column[:, None]], [column[None], np.full((1, 1), corner)]])


def _joined(ends: np.ndarray, holds) -> list[tuple[float, float]]:
    """Return the intervals between ends (m,) on which a condition holds, neighbours joined."""
    if not len(ends):
        return [(-math.inf, math.inf)] if holds(0.0) else []
    inner = (ends[1:] + ends[:-1]) / 2
    points = [ends[0] - 1 - abs(ends[0]), *inner, ends[-1] + 1 + abs(ends[-1])]
    cuts, found = [-math.inf, *ends.tolist(), math.inf], []
    for low, high, point in zip(cuts[:-1], cuts[1:], points, strict=True):
        if not holds(float(point)):
            continue
        joins = bool(found) and found[-1][1] == low
        found[-1:] = [(found[-1][0], high)] if joins else [*found[-1:], (low, high)]
    return found
