"""Solve least squares from noisy sums in indicators by eliminating the largest block.

The products of one block's indicators form a diagonal matrix, so that what is left, in the other
blocks and the numbers, is a small system whatever the number of codes.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.mechanisms.shared.block_basis import BlockBasis
from dpstats.mechanisms.shared.block_sums import NoisyBlockSums
from dpstats.mechanisms.shared.block_system import BlockSystem, Eliminated, Levels
from dpstats.numerics.ridge import lowered


@dataclass(frozen=True)
class Solution:
    """Hold effects alpha (L,) of codes, gamma (p,) of the rest, and their covariance in parts.

    alpha errs by a - slope gamma's error: ``own`` (L,) is the variance of a, ``slope`` (L, p),
    ``both`` (L, p) the covariance of a with gamma's error, ``gamma_cov`` (p, p). Of these,
    ``hidden`` (L,) tells the codes that noise hides and ``hidden_cov`` (p, p) is the part of
    gamma's that comes from directions which noise could account for. ``lost`` is by how much the
    fit to noisy sums understates their residual sum of squares on average.
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
    sigma2: float
    lost: float

    def covariance(self, to_alpha, to_gamma: np.ndarray, part: str = "whole") -> np.ndarray:
        """Return the covariance (S, S) of to_alpha @ alpha + to_gamma @ gamma, or a part of it."""
        from scipy import sparse

        own, gamma_cov, both = self.own, self.gamma_cov, self.both
        if part == "hidden":
            own, gamma_cov, both = own * self.hidden, self.hidden_cov, 0 * both
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
    left, W = BlockSystem.of(sums, basis).eliminated(), basis.rest
    levels, sd, cross_sd = left.levels, sums.gram_sd, sums.cross_sd
    values, vectors, edge, weak = left.values, left.vectors, left.edge, left.weak
    gamma = left.gamma
    effects = levels.effects(gamma)
    alpha, rows = levels.of_codes(effects), _number_of_rows(sums)
    energy = _energy(sums, left, effects, gamma)
    sigma2 = energy / max(rows - len(effects) - len(gamma), 1.0)
    noise = score_noise(levels, effects, gamma, W, basis.free, sd, cross_sd)
    own_noise = levels.codes * (cross_sd**2 + sd**2 * (effects**2 + gamma @ gamma))
    between = max(sums.square / max(rows, 1.0), 0.0)
    scores = sigma2 * (vectors * np.maximum(values, 0)) @ vectors.T + between * levels.scatter
    safe = np.where(weak, np.inf, lowered(np.maximum(values, edge), edge, left.spread))
    bread = (vectors / safe) @ vectors.T
    prior = max(1.0, between * rows / edge.max()) if weak.any() else 0.0
    hidden_cov = prior * vectors[:, weak] @ vectors[:, weak].T
    safe_rows = levels.lowered
    scale = levels.rows / safe_rows
    means = levels.means
    covered = sd**2 * (levels.codes * effects)[:, None] * gamma - means * own_noise[:, None]
    both = (covered @ bread) / safe_rows[:, None]
    own = (sigma2 * levels.rows + own_noise) / safe_rows**2
    spread_out = levels.spread_out
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
        rows=rows,
        sigma2=sigma2,
        lost=float((own_noise / levels.rows).sum() + np.sum(bread * noise)),
    )


def _number_of_rows(sums: NoisyBlockSums) -> float:
    """Estimate the number of rows by the block with the fewest codes."""
    return float(min(sums.counts, key=len).sum())


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
