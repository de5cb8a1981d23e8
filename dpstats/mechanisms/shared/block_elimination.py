"""Solve least squares from noisy sums in indicators by eliminating the largest block.

The products of one block's indicators form a diagonal matrix, so that what is left, in the other
blocks and the numbers, is a small system whatever the number of codes.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.mechanisms.shared.block_basis import BlockBasis
from dpstats.mechanisms.shared.block_sums import NoisyBlockSums
from dpstats.numerics.ridge import lowered

# A code is hidden by the noise unless its number of rows exceeds so many standard deviations.
_CLEAR = 4.0


@dataclass(frozen=True)
class Levels:
    """Hold the sums of each code of the eliminated block; hidden codes are taken together.

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
    lowered : numpy.ndarray, shape (G,)
        Numbers of rows that are not overstated by being clear of the noise.
    scatter : numpy.ndarray, shape (p, p)
        Sum over hidden codes of the products of their sums of the rest's coordinates.
    """

    group: np.ndarray
    hidden: np.ndarray
    rows: np.ndarray
    response: np.ndarray
    rest: np.ndarray
    codes: np.ndarray
    lowered: np.ndarray
    scatter: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, rest: np.ndarray, response: np.ndarray, sd: float) -> "Levels":
        """Take the codes together whose number of rows the noise of deviation ``sd`` may hide."""
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
        spread = sd * np.sqrt(codes)
        safe = lowered(total, _CLEAR * spread, spread)
        around = rest[hidden]
        return cls(group, hidden, total, sums(response), sums(rest), codes, safe, around.T @ around)

    @property
    def means(self) -> np.ndarray:
        """Return the means of the rest's coordinates, (G, p)."""
        return self.rest / self.rows[:, None]


@dataclass(frozen=True)
class Solution:
    """Hold effects alpha (L,) of codes, gamma (p,) of the rest, and their covariance in parts.

    alpha errs by a - slope gamma's error: ``own`` (L,) is the variance of a, ``slope`` (L, p),
    ``both`` (L, p) the covariance of a with gamma's error, ``gamma_cov`` (p, p). Of these,
    ``hidden`` (L,) tells the codes that noise hides and ``hidden_cov`` (p, p) is the part of
    gamma's that comes from directions which noise could account for. The ``privacy`` parts are
    what the noise alone contributes.
    """

    alpha: np.ndarray
    gamma: np.ndarray
    own: np.ndarray
    slope: np.ndarray
    both: np.ndarray
    gamma_cov: np.ndarray
    hidden: np.ndarray
    hidden_cov: np.ndarray
    own_privacy: np.ndarray
    gamma_privacy: np.ndarray
    rows: float
    sigma2: float

    def covariance(self, to_alpha, to_gamma: np.ndarray, part: str = "whole") -> np.ndarray:
        """Return the covariance (S, S) of to_alpha @ alpha + to_gamma @ gamma, or a part of it."""
        from scipy import sparse

        own, gamma_cov, both = self.own, self.gamma_cov, self.both
        if part == "hidden":
            own, gamma_cov, both = own * self.hidden, self.hidden_cov, 0 * both
        elif part == "privacy":
            own, gamma_cov = self.own_privacy, self.gamma_privacy
        direct = (to_alpha @ sparse.diags(own) @ to_alpha.T).toarray()
        through = to_gamma - to_alpha @ self.slope
        mixed = (to_alpha @ both) @ through.T
        return direct + through @ gamma_cov @ through.T + mixed + mixed.T


def solve(sums: NoisyBlockSums, basis: BlockBasis) -> Solution:
    """Solve for least squares and its covariance, sampling and noise, to first order in the noise.

    Let n_l and b_l be the number of rows and the sum of the rest's coordinates at code l, and c_l
    that of v. gamma solves (A - sum b_l b_l' / n_l) gamma = c - sum b_l c_l / n_l, and
    alpha_l = (c_l - b_l'gamma) / n_l. Noise of variance s^2 on the entries of b_l adds
    sum s^2 / n_l to the diagonal of the sum of products, which is taken out again.

    Codes whose noisy number of rows is below four standard deviations of its noise are hidden: they
    have one common effect, so that other coefficients hardly depend on them, and theirs have no
    interval. Nor have coefficients of which directions with small eigenvalues hold half the
    variance. As in :func:`~dpstats.numerics.ridge.lowered_eigenvalues` numbers of rows and
    eigenvalues near those limits count as smaller, so that intervals cover given that they are
    shown. The noise that structural zeros do not have is left out.
    """
    A, c, pairs_of = _system(sums, basis)
    W, sd, cross_sd = basis.rest, sums.gram_sd, sums.cross_sd
    levels = _levels(sums, basis, pairs_of)
    weight = (1 - levels.codes * (sd / levels.rows) ** 2) / levels.rows
    schur = W.T @ A @ W - (levels.rest.T * weight) @ levels.rest
    schur += sd**2 * (levels.codes * weight).sum() * np.eye(len(schur))
    target = W.T @ c - levels.rest.T @ (weight * levels.response)
    values, vectors = np.linalg.eigh(schur)
    spread = _spread(vectors, levels, sd)
    edge = max(math.sqrt(2 * max(len(values), 1)), 3.0) * spread
    weak = values <= edge
    gamma = vectors @ ((vectors.T @ target) / np.maximum(values, edge))
    effects = (levels.response - levels.rest @ gamma) / levels.rows
    alpha, rows = _effects(levels, effects), _number_of_rows(sums)
    energy = _energy(sums, levels, effects, gamma, W, schur, target)
    sigma2 = energy / max(rows - len(effects) - len(gamma), 1.0)
    noise = _score_noise(levels, effects, gamma, basis, sd, cross_sd)
    own_noise = levels.codes * (cross_sd**2 + sd**2 * (effects**2 + gamma @ gamma))
    between = max(sums.square / max(rows, 1.0), 0.0)
    scores = sigma2 * (vectors * np.maximum(values, 0)) @ vectors.T + between * levels.scatter
    safe = np.where(weak, np.inf, lowered(np.maximum(values, edge), edge, spread))
    bread = (vectors / safe) @ vectors.T
    prior = max(1.0, between * rows / edge.max()) if weak.any() else 0.0
    hidden_cov = prior * vectors[:, weak] @ vectors[:, weak].T
    scale = levels.rows / levels.lowered
    means = levels.means
    covered = sd**2 * (levels.codes * effects)[:, None] * gamma - means * own_noise[:, None]
    both = (covered @ bread) / levels.lowered[:, None]
    own = (sigma2 * levels.rows + own_noise) / levels.lowered**2
    privacy = bread @ noise @ bread
    spread_out = _spread_out(levels)
    prior_effect = max(1.0, between)
    return Solution(
        alpha=alpha,
        gamma=gamma,
        own=np.where(levels.hidden, prior_effect, spread_out(own)),
        slope=spread_out(means * scale[:, None]) * ~levels.hidden[:, None],
        both=spread_out(both) * ~levels.hidden[:, None],
        gamma_cov=bread @ (scores + noise) @ bread + hidden_cov,
        hidden=levels.hidden,
        hidden_cov=hidden_cov,
        own_privacy=np.where(
            levels.hidden, prior_effect, spread_out(own_noise / levels.lowered**2)
        ),
        gamma_privacy=privacy + hidden_cov,
        rows=rows,
        sigma2=sigma2,
    )


def _system(sums: NoisyBlockSums, basis: BlockBasis):
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


def _levels(sums: NoisyBlockSums, basis: BlockBasis, pairs) -> Levels:
    """Return the sums by code of the eliminated block; none without one."""
    k, d = basis.saturated, basis.numbers
    p = basis.rest.shape[1]
    if k is None:
        none = np.zeros(0)
        return Levels.of(none, np.zeros((0, p)), none, sums.gram_sd)
    with_rest = np.hstack([*(pairs(k, j) for j in basis.others), sums.levels[k][:, :d]])
    return Levels.of(sums.counts[k], with_rest @ basis.rest, sums.levels[k][:, d], sums.gram_sd)


def _spread(vectors: np.ndarray, levels: Levels, sd: float) -> np.ndarray:
    """Return the standard deviation (p,) of the noise on each eigenvalue.

    Along a unit vector a the noise is a'E a - 2 sum m_l e_l'a + sum m_l^2 e_l, m_l = a'b_l / n_l,
    with noise e_l on b_l and n_l, and the squares of e_l'a over n_l.
    """
    along = (levels.means @ vectors) ** 2
    first = 2 + levels.codes @ (4 * along + along**2)
    return sd * np.sqrt(first + 2 * sd**2 * ((levels.codes / levels.rows) ** 2).sum())


def _effects(levels: Levels, effects: np.ndarray) -> np.ndarray:
    """Return the effect of each code; the mean effect for those that are part of no sum."""
    mean = float(np.average(effects, weights=levels.rows)) if len(effects) else 0.0
    return np.append(effects, mean)[levels.group]


def _spread_out(levels: Levels):
    """Return the function that gives each code what its sum has, 0 where it is part of none."""

    def values_of_codes(values: np.ndarray) -> np.ndarray:
        return np.concatenate([values, np.zeros((1, *values.shape[1:]))])[levels.group]

    return values_of_codes


def _number_of_rows(sums: NoisyBlockSums) -> float:
    """Estimate the number of rows by the block with the fewest codes."""
    return float(min(sums.counts, key=len).sum())


def _energy(sums, levels: Levels, effects, gamma, W, schur, target) -> float:
    """Estimate the residual sum of squares, and add one standard deviation of its noise to it."""
    sd, cross_sd = sums.gram_sd, sums.cross_sd
    explained = ((levels.response**2 - levels.codes * cross_sd**2) / levels.rows).sum()
    left = sums.square - explained - 2 * gamma @ target + gamma @ schur @ gamma
    length, squares = float(gamma @ gamma), levels.codes @ effects**2
    quadratic = levels.codes @ effects**4 + 4 * squares * length + 2 * length**2
    noise = sums.square_sd**2 + 4 * cross_sd**2 * (squares + length) + sd**2 * quadratic
    return max(left, 0.0) + math.sqrt(noise)


def _score_noise(levels: Levels, effects, gamma, basis: BlockBasis, sd, cross_sd) -> np.ndarray:
    """Return the covariance (p, p) of the noise in the scores of gamma.

    They err by w - sum E_l alpha_l - E gamma - sum (b_l / n_l) (w_l - e_l alpha_l - E_l'gamma),
    with independent noise w on X'y, E on the rest's X'X, E_l on b_l and e_l on n_l.
    """
    W = basis.rest
    phi = W @ gamma
    own = sd**2 * np.where(basis.free, np.outer(phi, phi), 0.0)
    np.fill_diagonal(own, sd**2 * (basis.free @ phi**2))
    total = W.T @ own @ W
    p, means = len(gamma), levels.means
    squares = levels.codes @ effects**2
    total += (cross_sd**2 + sd**2 * squares) * np.eye(p)
    by_code = levels.codes * (cross_sd**2 + sd**2 * (effects**2 + gamma @ gamma))
    total += (means.T * by_code) @ means
    mixed = sd**2 * np.outer(means.T @ (levels.codes * effects), gamma)
    return total - mixed - mixed.T
