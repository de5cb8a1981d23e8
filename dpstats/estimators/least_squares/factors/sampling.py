"""Estimate the covariance of least squares' scores in indicators, from one variance or scores."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpstats.estimators.least_squares.factors.basis import BlockBasis
from dpstats.estimators.least_squares.factors.sums import NoisyBlockSums
from dpstats.estimators.least_squares.factors.system import BlockSystem, Eliminated
from dpstats.evidence import BlockEvidence
from dpstats.numerics.ridge import symmetric
from dpstats.numerics.sandwich import positive_part, raised


@dataclass(frozen=True)
class NoisyScores:
    """Hold released sums of s s' over scores s, in squared units of v.

    Parameters
    ----------
    codes : numpy.ndarray, shape (L,) or (L, L)
        Products of the codes of the eliminated block; those of two are zero for scores of rows.
    mixed, rest : numpy.ndarray, shapes (L, p) and (p, p)
        Products with and of the rest's coordinates.
    deviation : float
        Standard deviation of the noise on an entry.
    kept : float
        Weighted sum of the squared residuals, each clipped as in the scores.
    """

    codes: np.ndarray
    mixed: np.ndarray
    rest: np.ndarray
    deviation: float
    kept: float

    @classmethod
    def restored(cls, basis: BlockBasis, known: BlockEvidence) -> "NoisyScores | None":
        """Restore the squared scores of a release, None where it has none."""
        if known.scores_cut is None or known.scores_deviation is None:
            return None
        square, deviation = float(known.scores_cut) ** 2, float(known.scores_deviation)
        kept = known.scores_kept
        if known.unit_scores is not None:
            parts = _of_units(basis, known.unit_scores)
        else:
            assert known.scores is not None, "scores are of rows or of units"
            none = np.zeros(sum(basis.sizes) + basis.numbers)
            sums = NoisyBlockSums.of(basis, known.scores, none, 0.0, (deviation, 0.0, 0.0))
            system = BlockSystem.of(sums, basis)
            parts = system.rows, system.rest, system.gram
            kept = sums.total if kept is None else kept
        assert kept is not None, "units have weights"
        codes, mixed, rest = (square * part for part in parts)
        kept = square * max(float(kept), deviation)
        return cls(codes, mixed, rest, square * deviation, kept)


def _of_units(basis: BlockBasis, triangle: np.ndarray):
    """Reduce the products of all coordinates (M, M) to codes of the eliminated block and rest."""
    ends = np.cumsum([0, *basis.sizes, basis.numbers])
    places = [np.arange(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]
    own = np.arange(0) if basis.saturated is None else places[basis.saturated]
    others = np.concatenate([*(places[k] for k in basis.others), places[-1]])
    products, W = symmetric(triangle, ends[-1]), basis.rest
    mixed = products[np.ix_(own, others)] @ W
    return products[np.ix_(own, own)], mixed, W.T @ products[np.ix_(others, others)] @ W


@dataclass(frozen=True)
class Sampling:
    """Hold the covariance of the scores that least squares solves, at its solution.

    With s_g the sum of u e over the rows of each of G sums of codes, that of the rest's coordinates
    and b_g / n_g their means: scores are s_g and r = s - sum (b_g / n_g) s_g.

    Parameters
    ----------
    own : numpy.ndarray, shape (G,) or (G, G)
        Variances of s_g, or their covariance.
    both, rest : numpy.ndarray, shapes (G, p) and (p, p)
        Covariance of s_g with r, and that of r.
    """

    own: np.ndarray
    both: np.ndarray
    rest: np.ndarray

    @classmethod
    def of_one_variance(cls, left: Eliminated, variance: float) -> "Sampling":
        """Estimate it for errors of this variance: u'u times it."""
        schur = (left.vectors * np.maximum(left.values, 0)) @ left.vectors.T
        rows = left.levels.rows
        return cls(variance * rows, np.zeros((len(rows), len(schur))), variance * schur)

    @classmethod
    def of_scores(
        cls, left: Eliminated, scores: NoisyScores, energy: float, rows: float, columns: int
    ) -> "Sampling":
        """Estimate it from squared scores, as :meth:`~dpstats.numerics.sandwich.Meat.covariance`.

        Noise may leave the sums with negative eigenvalues, which are set to 0, and its standard
        deviation is added in all directions, of r in those of X'X. Covariances of s_g with r are
        shortened to what the other two allow, as they have noise too.
        """
        levels, means, deviation = left.levels, left.levels.means, scores.deviation
        own = levels.summed(scores.codes)
        if own.ndim == 2:
            own = levels.summed(own.T).T
        mixed = levels.summed(scores.mixed)
        through = _times(own, means)
        rest = scores.rest - means.T @ mixed - mixed.T @ means + means.T @ through
        own = _raised(own, deviation * levels.codes)
        spread = deviation * _noise_along(own.ndim == 2, left)
        rest = positive_part(rest) + (left.vectors * spread) @ left.vectors.T
        rest, both = (rest + rest.T) / 2, _shortened(mixed - through, own, rest)
        factor = rows / max(rows - columns, 1.0)
        factor *= float(raised(np.asarray(energy), np.asarray(scores.kept)))
        return cls(factor * own, factor * both, factor * rest)

    @cached_property
    def _roots(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return roots of the covariances of s_g and of r given s_g, and the map from s_g to r."""
        to_rest = _solved(self.own, self.both)
        left = self.rest - self.both.T @ to_rest
        own = np.sqrt(self.own) if self.own.ndim == 1 else _root(self.own)
        return own, _root(left), to_rest

    def scores(self, of_sums: np.ndarray, of_rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores s_g (G,) and r (p,) that standard normal numbers stand for."""
        own, left, to_rest = self._roots
        scores = _times(own, of_sums[:, None])[:, 0]
        return scores, to_rest.T @ scores + left @ of_rest


def _times(own: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Multiply a matrix, or a diagonal one, with (G, p)."""
    return own[:, None] * values if own.ndim == 1 else own @ values


def _solved(own: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Divide (G, p) by a matrix, or a diagonal one."""
    return values / own[:, None] if own.ndim == 1 else np.linalg.solve(own, values)


def _raised(own: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Set what is negative to 0, and add the noise on each of G sums."""
    if own.ndim == 1:
        return np.maximum(own, 0.0) + math.sqrt(2) * deviations
    return positive_part(own) + math.sqrt(2) * np.diag(deviations)


def _noise_along(dense: bool, left: Eliminated) -> np.ndarray:
    """Return how many deviations the noise on r's variance has along each eigenvector of X'X.

    Along a it is that of a'E a - 2 sum m_g e_g'a + sum m_g e_gh m_h, m_g = a'b_g / n_g, with e_gh
    zero for scores of rows unless g = h. For those of units it is at most sqrt 2 times the squared
    length of all coefficients.
    """
    along = (left.levels.means @ left.vectors) ** 2
    if dense:
        return math.sqrt(2) * (1 + left.levels.codes @ along)
    return np.sqrt(2 + left.levels.codes @ (4 * along + along**2))


def _shortened(both: np.ndarray, own: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Shorten the covariance (G, p) of s_g with r until no combination has a negative variance."""
    if not both.size:
        return both
    root = np.linalg.cholesky(rest)
    explained = np.linalg.solve(root, both.T @ _solved(own, both))
    largest = np.linalg.eigvalsh(np.linalg.solve(root, explained.T))[-1]
    return both / math.sqrt(max(largest * (1 + 1e-9), 1.0))


def _root(matrix: np.ndarray) -> np.ndarray:
    """Return a root of a symmetric matrix whose negative eigenvalues count as 0."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return vectors * np.sqrt(np.maximum(values, 0.0))
