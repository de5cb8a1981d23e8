"""Shrink slopes and effects of levels from sums in indicators by estimates of their risk."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.least_squares.factors.basis import BlockBasis
from dpstats.estimators.least_squares.factors.elimination import score_noise
from dpstats.estimators.least_squares.factors.sums import NoisyBlockSums
from dpstats.estimators.least_squares.factors.system import BlockSystem, Eliminated, Levels

# Standard deviations by which the estimated gain over a constant must exceed zero.
_MARGIN = 2.0
# The penalties tried, as powers of four times the squared norm of the noise on X'X.
_POWERS = range(-4, 14)
# The standard deviations of the effects of levels tried, as powers of two, in units of v.
_SPREADS = range(-12, 2)


@dataclass(frozen=True)
class Means:
    """Hold the number of rows and the means of all coordinates and of v, from all blocks.

    Each block tells the sums over all rows, with noise on each of its codes. They are averaged with
    inverse numbers of codes as weights.

    Parameters
    ----------
    rows : float
        No smaller than twice its noise.
    rest : numpy.ndarray, shape (p,)
    response : float
    codes : float
        By which the variance of the noise is multiplied.
    """

    rows: float
    rest: np.ndarray
    response: float
    codes: float

    @classmethod
    def of(cls, sums: NoisyBlockSums, basis: BlockBasis) -> "Means":
        """Average the blocks' totals."""
        weights = 1 / np.array(basis.sizes)
        codes = 1 / weights.sum()
        rows = codes * sum(w * c.sum() for w, c in zip(weights, sums.counts, strict=True))
        totals = codes * sum(w * s.sum(axis=0) for w, s in zip(weights, sums.levels, strict=True))
        rows = max(float(rows), 2 * sums.gram_sd * math.sqrt(codes))
        others = [sums.counts[k] for k in basis.others]
        all_of_rest = np.concatenate([*others, totals[: basis.numbers]])
        means = np.clip(all_of_rest / rows, -1.0, 1.0) @ basis.rest
        return cls(rows, means, float(np.clip(totals[-1] / rows, -1.0, 1.0)), float(codes))


@dataclass(frozen=True)
class Shrunken:
    """Hold effects alpha (L,) of codes and gamma (p,) of the rest, and whether either varies."""

    alpha: np.ndarray
    gamma: np.ndarray
    is_constant: bool


def shrunken_blocks(sums: NoisyBlockSums, basis: BlockBasis) -> Shrunken:
    r"""Fit slopes and effects with the penalties of least estimated risk, or a constant.

    A function of released values. First the codes of the largest block are eliminated, as in
    :func:`~dpstats.estimators.least_squares.factors.elimination.solve`, which leaves S gamma = t
    for the rest. With an eigenvalue v of S its coordinate is t v / (v^2 + k): the noise on t is
    about the same in all directions, so a direction needs the less shrinkage the larger v is, and
    one with few rows behind it does not shrink the others. Let C(gamma) be the covariance of the
    noise in t - S gamma and M the matrix of these factors. Against zero, gamma changes the sum of
    squared errors by gamma'S gamma - 2 gamma't without noise, which

        gamma'S gamma - 2 gamma't + 2 tr(M C(gamma))

    estimates, to first order in the noise and without what it gains from k being chosen by it: the
    estimate of :func:`~dpstats.estimators.least_squares.dense.shrinkage.shrunken_slopes` for noise
    that is not the same in all entries. k is where that is least, and gamma is zero unless the gain
    exceeds two of its own standard deviations.

    Then the effect of a code with n_l rows is m + d_l about the mean m of all rows. The sum of
    residuals of its rows about m, D_l, has noise of variance s^2, whatever n_l is. For effects of
    standard deviation T the best linear estimate of d_l is D_l n_l T^2 / (n_l^2 T^2 + s^2), which
    is drawn to zero where there are few rows. T is chosen by the same estimate of risk and the same
    margin (empirical Bayes by Stein's estimate): codes that the noise hides take part with what
    their noisy sums say, and get about the mean.
    """
    if basis.saturated is None:
        return _without_saturation(sums, basis)
    system, means = BlockSystem.of(sums, basis), Means.of(sums, basis)
    levels = Levels.of(system.rows, system.rest, system.response, system.sd)
    gamma = np.zeros(len(means.rest))
    if len(levels.rows):
        gamma = _slopes(Eliminated.of(system, levels), system, basis.rest, basis.free)
    mean = means.response - float(means.rest @ gamma)
    deviations = _effects(system, gamma, mean)
    is_constant = not gamma.any() and not deviations.any()
    return Shrunken(mean + deviations, gamma, is_constant)


def _without_saturation(sums: NoisyBlockSums, basis: BlockBasis) -> Shrunken:
    """Fit a design in which no block is eliminated: about the mean where there is a constant.

    Of the rest's coordinates these are the constant o and what is orthogonal to it, and the mean of
    all rows is eliminated as if it were a level.
    """
    system, W = BlockSystem.of(sums, basis), basis.rest
    none = np.zeros(0)
    if basis.layout.intercept is None:
        left = system.eliminated()
        gamma = _slopes(left, system, W, basis.free)
        return Shrunken(none, gamma, not gamma.any())
    means = Means.of(sums, basis)
    ones = np.zeros(len(W))
    ones[: basis.sizes[0]] = 1.0
    constant = W.T @ ones
    vectors = np.linalg.svd(constant[None])[2][1:].T  # (p, p - 1)
    rows, response = np.array([means.rows]), np.array([means.rows * means.response])
    rest = means.rows * means.rest[None] @ vectors
    gram, cross = vectors.T @ system.gram @ vectors, vectors.T @ system.cross
    reduced = BlockSystem(rows, rest, response, gram, cross, system.sd, system.cross_sd)
    levels = Levels(
        np.zeros(1, dtype=int), np.zeros(1, dtype=bool), rows, response, rest,
        np.array([means.codes]), np.zeros((len(cross),) * 2), system.sd,
    )  # fmt: skip
    slopes = _slopes(Eliminated.of(reduced, levels), reduced, W @ vectors, basis.free)
    mean = means.response - float(means.rest @ vectors @ slopes)
    return Shrunken(none, mean * constant + vectors @ slopes, not slopes.any())


def _slopes(left: Eliminated, system: BlockSystem, W: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return gamma with the penalty of least estimated risk, zeros where it does not pay."""
    levels, sd, cross_sd = left.levels, system.sd, system.cross_sd
    if not len(left.values):
        return np.zeros(0)
    rotated, none = left.vectors.T @ left.target, np.zeros(len(left.values))
    values, before = np.maximum(left.values, 0.0), levels.effects(none)

    def tried(penalty: float):
        factors = values / (np.maximum(values, left.edge) ** 2 + penalty)
        gamma = left.vectors @ (factors * rotated)
        effects = levels.effects(gamma)
        noise = score_noise(levels, effects, gamma, W, free, sd, cross_sd)
        along = ((noise @ left.vectors) * left.vectors).sum(axis=0)
        fit = gamma @ left.schur @ gamma - 2 * gamma @ left.target
        return fit + 2 * float(factors @ along), gamma, effects

    unit = float(np.max(left.edge)) ** 2
    risk, gamma, effects = min(
        (tried(unit * 4.0**power) for power in _POWERS), key=lambda one: one[0]
    )
    codes, length = levels.codes, float(gamma @ gamma)
    moved = 4 * cross_sd**2 * (codes @ (effects - before) ** 2 + length)
    quadratic = codes @ (effects**2 - before**2) ** 2 + 4 * (codes @ effects**2) * length
    variance = moved + sd**2 * (quadratic + 2 * length**2)
    return gamma if -risk > _MARGIN * math.sqrt(variance) else none


def _effects(system: BlockSystem, gamma: np.ndarray, mean: float) -> np.ndarray:
    """Return the deviations d (L,) of the codes' effects from the mean."""
    rows = np.maximum(system.rows, 0.0)
    sums = system.response - system.rest @ gamma - system.rows * mean
    variance = system.cross_sd**2 + system.sd**2 * (mean**2 + float(gamma @ gamma))

    def tried(spread: float):
        factors = rows * spread**2 / ((rows * spread) ** 2 + variance)
        deviations = factors * sums
        fit = rows @ deviations**2 - 2 * deviations @ sums
        return fit + 2 * factors.sum() * variance, deviations

    risk, deviations = min((tried(2.0**power) for power in _SPREADS), key=lambda one: one[0])
    gain = 4 * variance * (deviations @ deviations) + system.sd**2 * (deviations**4).sum()
    return deviations if -risk > _MARGIN * math.sqrt(gain) else np.zeros(len(rows))
