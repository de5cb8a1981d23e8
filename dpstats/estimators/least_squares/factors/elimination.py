"""Solve least squares from noisy sums in indicators by eliminating the largest block.

The products of one block's indicators form a diagonal matrix, so that what is left, in the other
blocks and the numbers, is a small system whatever the number of codes.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.least_squares.factors.basis import BlockBasis
from dpstats.estimators.least_squares.factors.sampling import NoisyScores, Sampling
from dpstats.estimators.least_squares.factors.sums import NoisyBlockSums
from dpstats.estimators.least_squares.factors.system import BlockSystem, Eliminated, Levels
from dpstats.numerics.ridge import lowered


@dataclass(frozen=True)
class Solution:
    """Hold effects alpha (L,) of codes, gamma (p,) of the rest, and their covariance in parts.

    alpha errs by a - slope gamma's error: ``own`` is the variance of a (L,), or its covariance
    (L, L), ``slope`` (L, p), ``both`` (L, p) the covariance of a with gamma's error, ``gamma_cov``
    (p, p). Of these,
    ``hidden`` (L,) tells the codes that noise hides and ``hidden_cov`` (p, p) is the part of
    gamma's that comes from directions which noise could account for. ``rows`` is the number of rows
    or units, ``total`` the sum of their weights. ``lost`` is by how much the fit to noisy sums
    understates their residual sum of squares on average.
    """

    alpha: np.ndarray
    gamma: np.ndarray
    own: np.ndarray
    slope: np.ndarray
    both: np.ndarray
    gamma_cov: np.ndarray
    hidden: np.ndarray
    hidden_cov: np.ndarray
    rows: float
    total: float
    sigma2: float
    sampling: Sampling
    lost: float

    def covariance(self, to_alpha, to_gamma: np.ndarray, part: str = "whole") -> np.ndarray:
        """Return the covariance (S, S) of to_alpha @ alpha + to_gamma @ gamma, or a part of it."""
        from scipy import sparse

        own, gamma_cov, both = self.own, self.gamma_cov, self.both
        if part == "hidden":
            own = self.hidden * (own if own.ndim == 1 else np.diag(own))
            gamma_cov, both = self.hidden_cov, 0 * both
        if own.ndim == 1:
            direct = (to_alpha @ sparse.diags(own) @ to_alpha.T).toarray()
        else:
            direct = to_alpha @ (to_alpha @ own).T
        through = to_gamma - to_alpha @ self.slope
        mixed = (to_alpha @ both) @ through.T
        return direct + through @ gamma_cov @ through.T + mixed + mixed.T


def solve(sums: NoisyBlockSums, basis: BlockBasis, squared: NoisyScores | None = None) -> Solution:
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

    Errors have one variance, or with weights one that is inverse to them, unless there are
    ``squared`` scores, of rows or units.
    """
    left, W = BlockSystem.of(sums, basis).eliminated(), basis.rest
    levels, sd, cross_sd = left.levels, sums.gram_sd, sums.cross_sd
    values, vectors, edge, weak = left.values, left.vectors, left.edge, left.weak
    gamma = left.gamma
    effects = levels.effects(gamma)
    alpha, rows, total = levels.of_codes(effects), sums.number, sums.total
    energy, columns = _energy(sums, left, effects, gamma), len(effects) + len(gamma)
    variance = energy / max(rows - columns, 1.0)
    sampling = Sampling.of_one_variance(left, variance)
    if squared is not None:
        sampling = Sampling.of_scores(left, squared, energy, rows, columns)
    noise = score_noise(levels, effects, gamma, W, basis.free, sd, cross_sd)
    own_noise = levels.codes * (cross_sd**2 + sd**2 * (effects**2 + gamma @ gamma))
    between = max(sums.square / max(total, 1.0), 0.0)
    scores = sampling.rest + between * levels.scatter
    safe = np.where(weak, np.inf, lowered(np.maximum(values, edge), edge, left.spread))
    bread = (vectors / safe) @ vectors.T
    prior = max(1.0, between * total / edge.max()) if weak.any() else 0.0
    hidden_cov = prior * vectors[:, weak] @ vectors[:, weak].T
    safe_rows = levels.lowered
    scale = levels.rows / safe_rows
    means = levels.means
    covered = sd**2 * (levels.codes * effects)[:, None] * gamma - means * own_noise[:, None]
    both = ((sampling.both + covered) @ bread) / safe_rows[:, None]
    own = _own(sampling.own, own_noise, safe_rows, levels, max(1.0, between))
    spread_out = levels.spread_out
    return Solution(
        alpha=alpha,
        gamma=gamma,
        own=own,
        slope=spread_out(means * scale[:, None]) * ~levels.hidden[:, None],
        both=spread_out(both) * ~levels.hidden[:, None],
        gamma_cov=bread @ (scores + noise) @ bread + hidden_cov,
        hidden=levels.hidden,
        hidden_cov=hidden_cov,
        rows=rows,
        total=total,
        sigma2=variance if sums.rows is None else energy / max(total, 1.0),
        sampling=sampling,
        lost=float((own_noise / levels.rows).sum() + np.sum(bread * noise)),
    )


def _own(
    sampling: np.ndarray, noise: np.ndarray, rows: np.ndarray, levels: Levels, prior: float
) -> np.ndarray:
    """Return variances (L,) of the means of codes, or their covariance; ``prior`` if hidden."""
    if sampling.ndim == 1:
        return np.where(levels.hidden, prior, levels.spread_out((sampling + noise) / rows**2))
    of_sums = sampling / np.outer(rows, rows) + np.diag(noise / rows**2)
    own = levels.spread_out(levels.spread_out(of_sums).T)
    own[levels.hidden], own[:, levels.hidden] = 0.0, 0.0
    return own + np.diag(prior * levels.hidden)


def _energy(sums: NoisyBlockSums, left: Eliminated, effects, gamma) -> float:
    """Estimate the residual sum of squares, and add one standard deviation of its noise to it."""
    sd, cross_sd, levels = sums.gram_sd, sums.cross_sd, left.levels
    explained = ((levels.response**2 - levels.codes * cross_sd**2) / levels.rows).sum()
    rest = sums.square - explained - 2 * gamma @ left.target + gamma @ left.schur @ gamma
    length, squares = float(gamma @ gamma), levels.codes @ effects**2
    quadratic = levels.codes @ effects**4 + 4 * squares * length + 2 * length**2
    noise = sums.square_sd**2 + 4 * cross_sd**2 * (squares + length) + sd**2 * quadratic
    return max(rest, 0.0) + math.sqrt(noise)


def score_noise(
    levels: Levels, effects, gamma, W: np.ndarray, free: np.ndarray, sd: float, cross_sd: float
) -> np.ndarray:
    """Return the covariance (p, p) of the noise in the scores of gamma.

    They err by w - sum E_l alpha_l - E gamma - sum (b_l / n_l) (w_l - e_l alpha_l - E_l'gamma),
    with independent noise w on X'y, E on the rest's X'X, E_l on b_l and e_l on n_l.
    """
    phi = W @ gamma
    own = sd**2 * np.where(free, np.outer(phi, phi), 0.0)
    np.fill_diagonal(own, sd**2 * (free @ phi**2))
    total = W.T @ own @ W
    p, means = len(gamma), levels.means
    squares = levels.codes @ effects**2
    total += (cross_sd**2 + sd**2 * squares) * np.eye(p)
    by_code = levels.codes * (cross_sd**2 + sd**2 * (effects**2 + gamma @ gamma))
    total += (means.T * by_code) @ means
    mixed = sd**2 * np.outer(means.T @ (levels.codes * effects), gamma)
    return total - mixed - mixed.T
