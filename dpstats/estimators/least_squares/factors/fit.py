"""Fit least squares to designs with factors from noisy sums in indicators and numbers."""

from dataclasses import replace

import numpy as np

from dpstats.estimators.contract import Problem, Release
from dpstats.estimators.least_squares.dense import ClippedSums
from dpstats.estimators.least_squares.dense.clipped_rows import (
    cost_of_sums,
    rows_outside,
    with_share,
)
from dpstats.estimators.least_squares.dense.fit import ABOUT_LEAST_SQUARES
from dpstats.estimators.least_squares.dense.unidentified import hidden
from dpstats.estimators.least_squares.factors.basis import BlockBasis
from dpstats.estimators.least_squares.factors.elimination import solve
from dpstats.estimators.least_squares.factors.goodness import goodness
from dpstats.estimators.least_squares.factors.sampling import NoisyScores
from dpstats.estimators.least_squares.factors.shrinkage import shrunken_blocks
from dpstats.estimators.least_squares.factors.sums import (
    BlockSums,
    NoisyBlockSums,
    release_block_sums,
)
from dpstats.evidence import BlockEvidence, Evidence
from dpstats.inference import slopes_of
from dpstats.noise import Noise
from dpstats.numerics import Rows
from dpstats.privacy import GDP

# A coefficient is hidden where hidden directions have this part of its variance.
_HIDDEN = 0.5
_REASON = (
    "the noise could account for the rows of some levels or for directions that decide some "
    "coefficients, so their intervals are unbounded; raise epsilon or n, or merge rare levels"
)


def summarise_blocks(rows: Rows, problem: Problem) -> ClippedSums:
    """Sum over rows of codes and numbers, and count the clipped ones."""
    return ClippedSums(BlockSums.of(rows, BlockBasis.of(problem)), rows_outside(rows, problem))


def release_blocks(summary: ClippedSums, problem: Problem, cost: GDP, noise: Noise) -> Release:
    """Release the sums, and fit least squares with intervals coefficient by coefficient.

    Guarantee. mu-GDP for the given relation: three Gaussian releases for fractions of mu^2 that
    add up to one, by :func:`~dpstats.estimators.least_squares.factors.sums.release_block_sums`,
    whose sensitivities depend on the number of blocks and of numbers and not on that of levels;
    where ranges are estimated, a twentieth of mu^2 is for the share of clipped rows. The rest is
    post-processing.
    """
    basis = BlockBasis.of(problem)
    left = cost_of_sums(problem, cost)
    sums = release_block_sums(summary.sums, basis, problem.neighbors, left, noise, problem.counted)
    release, rows = least_squares_of(sums, basis, problem)
    return with_share(release, summary.clipped, rows, problem, cost, noise)


def least_squares_of(
    sums: NoisyBlockSums, basis: BlockBasis, problem: Problem, known: BlockEvidence | None = None
) -> tuple[Release, float]:
    """Fit least squares to released sums; return also the number of rows that they tell.

    ``known`` are the sums as evidence with squared scores, for robust standard errors. A function
    of released values, so it costs nothing. Intervals are shown coefficient by coefficient, and the
    sums stay in the release, for what is simulated from them. Where no slope has one the
    coefficients are those of
    :func:`~dpstats.estimators.least_squares.factors.shrinkage.shrunken_blocks`.
    """
    known = known or sums.evidence
    solution = solve(sums, basis, NoisyScores.restored(basis, known))
    to_alpha, to_gamma, _ = basis.to_design
    params = basis.back((solution.alpha, solution.gamma))
    cov = solution.covariance(to_alpha, to_gamma)
    evidence = replace(
        known,
        rows=solution.rows,
        sigma2=solution.sigma2 * basis.box.y_scale**2,
        unbounded=0.0,
        **goodness(sums, basis, solution, problem.intercept is not None),
    )
    seen = np.ones(len(params), dtype=bool)
    if solution.hidden.any() or solution.hidden_cov.any():
        part = solution.covariance(to_alpha, to_gamma, "hidden")
        evidence = replace(evidence, hidden_cov=part)
        seen = np.diag(part) < _HIDDEN * np.diag(cov)
    if not seen[slopes_of(len(params), problem.intercept)].any():
        found = hidden(*shrunken_params(sums, basis), problem, evidence)
        # robust standard errors, released next, may show what these do not
        return replace(found, reasons={"conf_int": found.reasons["conf_int"]}), solution.rows
    release = Release(
        params=params,
        predictions=problem.x_new @ params,
        cov=cov,
        reasons={} if seen.all() else {"conf_int": _REASON},
        evidence=evidence,
    )
    return release, solution.rows


def shrunken_params(sums: NoisyBlockSums, basis: BlockBasis) -> tuple[np.ndarray, bool]:
    """Return the coefficients of :func:`shrunken_blocks`, and whether any slope is not 0."""
    shrunken = shrunken_blocks(sums, basis)
    return basis.back((shrunken.alpha, shrunken.gamma)), not shrunken.is_constant


def with_block_intervals(shrunken: Release, sums: NoisyBlockSums, problem: Problem) -> Release:
    """Add the intervals of least squares on the same sums to a fit that is shrunken.

    They are about its own coefficients, so no shrinkage biases them. A function of released values.
    """
    plain, _ = least_squares_of(sums, BlockBasis.of(problem), problem)
    if plain.status == "not_identified":
        reasons = dict.fromkeys(("bse", "conf_int"), _REASON)
        return replace(shrunken, reasons=reasons, evidence=Evidence(unbounded=1.0))
    note = ABOUT_LEAST_SQUARES
    return replace(shrunken, reasons=plain.reasons, companion=replace(plain, reasons={}, note=note))
