"""Reduce sums in indicators to few coordinates, eliminate the largest block, and solve."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.least_squares.factors.basis import BlockBasis
from dpstats.estimators.least_squares.factors.sums import NoisyBlockSums
from dpstats.numerics.ridge import lowered

# A code is hidden by the noise unless its number of rows exceeds so many standard deviations.
_CLEAR = 4.0


@dataclass(frozen=True)
class Levels:
    """Hold the sums of each code of the eliminated block; hidden codes are pooled.

    Parameters
    ----------
    group : numpy.ndarray of int, shape (L,)
        Which of the G sums each code is part of, G where it is part of none.
    hidden : numpy.ndarray of bool, shape (L,)
    rows, response : numpy.ndarray, shape (G,)
        Numbers of rows and sums of v.
    rest : numpy.ndarray, shape (G, p)
        Sums of the rest's coordinates.
    codes : numpy.ndarray, shape (G,)
        Number of codes in each, by which the variance of the noise is multiplied.
    scatter : numpy.ndarray, shape (p, p)
        Sum over hidden codes of the products of their sums of the rest's coordinates.
    sd : float
        Standard deviation of the noise on the number of rows of a code.
    """

    group: np.ndarray
    hidden: np.ndarray
    rows: np.ndarray
    response: np.ndarray
    rest: np.ndarray
    codes: np.ndarray
    scatter: np.ndarray
    sd: float

    @classmethod
    def of(cls, rows: np.ndarray, rest: np.ndarray, response: np.ndarray, sd: float) -> "Levels":
        """Pool the codes whose number of rows the noise of deviation ``sd`` may hide."""
        hidden = rows <= _CLEAR * sd
        group = np.where(hidden, 0, np.cumsum(~hidden) - 1)
        shown = int((~hidden).sum())
        count = int(hidden.sum())
        pooled = bool(rows[hidden].sum() > _CLEAR * sd * math.sqrt(max(count, 1))) and count > 0
        group[hidden] = shown

        def sums(values):
            own = values[~hidden]
            return np.concatenate([own, values[hidden].sum(axis=0)[None]]) if pooled else own

        total, codes = sums(rows), np.ones(shown + pooled)
        if pooled:
            codes[-1] = count
        around = rest[hidden]
        scatter = around.T @ around
        return cls(group, hidden, total, sums(response), sums(rest), codes, scatter, sd)

    @property
    def lowered(self) -> np.ndarray:
        """Correct the numbers of rows (G,) for having been selected above the noise."""
        spread = self.sd * np.sqrt(self.codes)
        return lowered(self.rows, _CLEAR * spread, spread)

    @property
    def means(self) -> np.ndarray:
        """Return the means of the rest's coordinates, (G, p)."""
        return self.rest / self.rows[:, None]

    def effects(self, gamma: np.ndarray) -> np.ndarray:
        """Return the effect of each sum (G,) beside coefficients gamma (p,) of the rest."""
        return (self.response - self.rest @ gamma) / self.rows

    def summed(self, values: np.ndarray) -> np.ndarray:
        """Add ``values`` of codes (L, ...) up to those of the sums, (G, ...)."""
        out = np.zeros((len(self.rows) + 1, *values.shape[1:]))
        np.add.at(out, self.group, values)
        return out[:-1]

    def spread_out(self, values: np.ndarray) -> np.ndarray:
        """Broadcast ``values`` (G, ...) of the sums to their codes, 0 for codes in none."""
        return np.concatenate([values, np.zeros((1, *values.shape[1:]))])[self.group]

    def of_codes(self, effects: np.ndarray) -> np.ndarray:
        """Broadcast effects to their codes, (L,), and the mean effect to codes in no sum."""
        mean = float(np.average(effects, weights=self.rows)) if len(effects) else 0.0
        return np.append(effects, mean)[self.group]


@dataclass(frozen=True)
class BlockSystem:
    """Hold noisy sums by code of the eliminated block and in the rest's coordinates.

    Parameters
    ----------
    rows, response : numpy.ndarray, shape (L,)
    rest : numpy.ndarray, shape (L, p)
    gram, cross : numpy.ndarray, shapes (p, p) and (p,)
        Products of the rest's coordinates with one another and with v.
    sd, cross_sd : float
        Standard deviation of the noise on an entry of the first sums, and on one with v.
    """

    rows: np.ndarray
    rest: np.ndarray
    response: np.ndarray
    gram: np.ndarray
    cross: np.ndarray
    sd: float
    cross_sd: float

    @classmethod
    def of(cls, sums: NoisyBlockSums, basis: BlockBasis) -> "BlockSystem":
        """Reduce released sums to the coordinates of a basis."""
        A, c, pairs_of = _products(sums, basis)
        W, k, d = basis.rest, basis.saturated, basis.numbers
        if k is None:
            none = np.zeros(0)
            by_code = none, np.zeros((0, W.shape[1])), none
        else:
            others = (pairs_of(k, j) for j in basis.others)
            with_rest = np.hstack([*others, sums.levels[k][:, :d]])
            by_code = sums.counts[k], with_rest @ W, sums.levels[k][:, d]
        return cls(*by_code, W.T @ A @ W, W.T @ c, sums.gram_sd, sums.cross_sd)

    def eliminated(self) -> "Eliminated":
        """Eliminate the codes and solve for the rest."""
        return Eliminated.of(self, Levels.of(self.rows, self.rest, self.response, self.sd))


@dataclass(frozen=True)
class Eliminated:
    """Hold what is left of a system without its codes, and its least-squares solution.

    Parameters
    ----------
    levels : Levels
    schur, target : numpy.ndarray, shapes (p, p) and (p,)
        gamma solves schur @ gamma = target.
    values, vectors, spread : numpy.ndarray, shapes (p,), (p, p) and (p,)
        Eigenvalues and vectors of ``schur``, and the standard deviation of their noise.
    edge : numpy.ndarray, shape (p,)
        Eigenvalues at or below it are ``weak``: the noise could account for them.
    """

    levels: Levels
    schur: np.ndarray
    target: np.ndarray
    values: np.ndarray
    vectors: np.ndarray
    spread: np.ndarray
    edge: np.ndarray

    @classmethod
    def of(cls, system: BlockSystem, levels: Levels) -> "Eliminated":
        """Eliminate these sums of codes.

        Noise of variance s^2 on the entries of b_l adds sum s^2 / n_l to the diagonal of the sum of
        products, which is taken out again.
        """
        sd = system.sd
        weight = (1 - levels.codes * (sd / levels.rows) ** 2) / levels.rows
        schur = system.gram - (levels.rest.T * weight) @ levels.rest
        schur += sd**2 * (levels.codes * weight).sum() * np.eye(len(schur))
        target = system.cross - levels.rest.T @ (weight * levels.response)
        values, vectors = np.linalg.eigh(schur)
        spread = _spread(vectors, levels, sd)
        edge = max(math.sqrt(2 * max(len(values), 1)), 3.0) * spread
        return cls(levels, schur, target, values, vectors, spread, edge)

    @property
    def weak(self) -> np.ndarray:
        """Tell the directions (p,) that the noise could account for."""
        return self.values <= self.edge

    @property
    def gamma(self) -> np.ndarray:
        """Return the coefficients (p,) of the rest."""
        rotated = self.vectors.T @ self.target
        return self.vectors @ (rotated / np.maximum(self.values, self.edge))


def _products(sums: NoisyBlockSums, basis: BlockBasis):
    """Return X'X and X'y of the rest's coordinates, and a function for pairs of blocks."""

    def pairs(j: int, k: int) -> np.ndarray:
        return sums.pairs[j, k] if j < k else sums.pairs[k, j].T

    d = basis.numbers
    others = basis.others
    starts = np.concatenate([[0], np.cumsum([basis.sizes[k] for k in others])]).astype(int)
    size = starts[-1] + d
    A, c = np.zeros((size, size)), np.zeros(size)
    for i, k in enumerate(others):
        own = slice(starts[i], starts[i + 1])
        A[own, own] = np.diag(sums.counts[k])
        A[own, starts[-1] :] = sums.levels[k][:, :d]
        A[starts[-1] :, own] = sums.levels[k][:, :d].T
        c[own] = sums.levels[k][:, d]
        for i2, k2 in enumerate(others[:i]):
            other = slice(starts[i2], starts[i2 + 1])
            A[other, own] = pairs(k2, k)
            A[own, other] = A[other, own].T
    A[starts[-1] :, starts[-1] :] = sums.gram
    c[starts[-1] :] = sums.cross
    return A, c, pairs


def _spread(vectors: np.ndarray, levels: Levels, sd: float) -> np.ndarray:
    """Return the standard deviation (p,) of the noise on each eigenvalue.

    Along a unit vector a the noise is a'E a - 2 sum m_l e_l'a + sum m_l^2 e_l, m_l = a'b_l / n_l,
    with noise e_l on b_l and n_l, and the squares of e_l'a over n_l.
    """
    along = (levels.means @ vectors) ** 2
    first = 2 + levels.codes @ (4 * along + along**2)
    return sd * np.sqrt(first + 2 * sd**2 * ((levels.codes / levels.rows) ** 2).sum())
