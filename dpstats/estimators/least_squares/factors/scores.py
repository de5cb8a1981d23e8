"""Release squared scores of designs with factors, for robust standard errors in indicators.

A score is phi e, with the indicators and numbers phi of a row and its residual e. That of a row
has one entry in each block that is not zero, as phi has, so that products of two codes of one
block are zero again. That of a privacy unit, the sum over its rows, may have several.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from dpstats.estimators.contract import Passes, Problem, Release
from dpstats.estimators.least_squares.dense import robust_covariance
from dpstats.estimators.least_squares.factors.basis import BlockBasis
from dpstats.estimators.least_squares.factors.elimination import solve
from dpstats.estimators.least_squares.factors.fit import least_squares_of
from dpstats.estimators.least_squares.factors.goodness import coefficients
from dpstats.estimators.least_squares.factors.sums import (
    BlockSums,
    NoisyBlockSums,
    gram_values,
)
from dpstats.evidence import BlockEvidence
from dpstats.noise import Noise, Query
from dpstats.numerics import GridRows, Moments, Rows
from dpstats.numerics.clipping import BLOCK, ENTRY_BITS
from dpstats.numerics.cross_products import PRODUCT_UNIT, exact_sum, whole_weights
from dpstats.privacy import Cost

_ONE = 2.0**ENTRY_BITS


@dataclass(frozen=True)
class ScoreRule:
    """Hold what a first release decides: the coefficients of all coordinates, and the cut.

    Parameters
    ----------
    basis : BlockBasis
    theta : numpy.ndarray, shape (M,)
        Of the indicators and numbers, in units of v.
    cut : float
        Residuals beyond it count as it, in units of v.
    """

    basis: BlockBasis
    theta: np.ndarray
    cut: float

    @classmethod
    def after(cls, first: Release, problem: Problem, cost: Cost) -> "ScoreRule":
        """Read it off the first release, or its companion."""
        known, basis = _sums_of(first), BlockBasis.of(problem)
        solution = solve(NoisyBlockSums.restored(basis, known), basis)
        theta, _ = coefficients(solution, basis)
        cut = robust_covariance.cut_of(known, basis.norm, basis.box.y_scale, problem, cost)
        return cls(basis, theta, float(cut))

    def scores(self, given: Rows) -> Iterator[tuple[GridRows, np.ndarray, int]]:
        """Yield blocks of scores s = w phi e / c, |e| <= c, cut toward zero to whole numbers.

        Row by row. Of each block: scores of the numbers, (d, m), with the codes of the rows; the
        entry that a row has at each of its codes, (m,); half of w (e / c)^2, added up.
        """
        from dpstats.numerics.kernels import clipped_residuals, cut_rows

        ends = np.cumsum([0, *self.basis.sizes])
        slopes = np.ascontiguousarray(self.theta[ends[-1] :])
        for block in self.basis.blocks(given):
            columns, parts = block.columns, whole_weights(block.weights) / _ONE
            for start, code in zip(ends[:-1], block.codes, strict=True):
                columns[-1] -= self.theta[start + code] * _ONE
            scale = robust_covariance.KEPT / PRODUCT_UNIT
            sizes, kept = clipped_residuals(columns, slopes, self.cut * _ONE, parts, scale)
            columns[-1] = _ONE
            whole = cut_rows(columns, sizes)
            yield GridRows(whole[:-1], codes=block.codes), whole[-1], int(kept)

    def squares(self, rows: Rows) -> BlockSums | Moments:
        """Sum s s' over the scores of rows, or of units, and half of w min(e^2 / c^2, 1).

        All in units of 2^-40, and those of rows without a response; the latter is ``extra``.
        """
        return self.of_rows(rows) if rows.units is None else self.of_units(rows)

    def of_rows(self, rows: Rows) -> BlockSums:
        """Sum s s' over the scores of rows."""
        total = 0

        def parts():
            nonlocal total
            for block, one, kept in self.scores(rows):
                total += kept
                yield block, one * one, one * block.columns

        sums = BlockSums.summed(parts(), self.basis, self.basis.numbers, wide=True)
        return replace(sums, numbers=replace(sums.numbers, extra=total))

    def of_units(self, rows: Rows) -> Moments:
        """Sum s s' over the scores of units: sums over their rows."""
        from scipy import sparse

        starts, M = np.cumsum([0, *self.basis.sizes]), len(self.theta)
        found = list(self.scores(rows))
        if not found:
            return Moments(np.zeros((M, M), dtype=object), 0)
        numbers, one, kept = zip(*found, strict=True)
        at_codes = np.hstack([block.codes for block in numbers]) + starts[:-1, None]
        at_numbers = np.broadcast_to(np.arange(starts[-1], M)[:, None], (M - starts[-1], len(rows)))
        of_numbers = np.hstack([block.columns for block in numbers])
        values = np.vstack([*[np.hstack(one)] * len(self.basis.sizes), of_numbers])
        run, number = np.broadcast_to(rows.unit_order, values.shape), rows.count
        places = run.ravel(), np.vstack([at_codes, at_numbers]).ravel()
        # entries at the same place, those of rows of one unit, are added up
        scores = sparse.csr_matrix((values.ravel(), places), (number, M))
        blocks = (scores[i : i + BLOCK] for i in range(0, number, BLOCK))
        products = exact_sum(((s.T @ s).toarray() for s in blocks), (M, M))
        return Moments(products, sum(kept))


def scored(first: Release, passes: Passes, problem: Problem, cost: Cost, noise: Noise) -> Release:
    """Release the squared scores of rows, in indicators where there are factors."""
    if not problem.coded:
        return robust_covariance.scored(first, passes, problem, cost, noise)
    squares = passes.sum(ScoreRule.after(first, problem, cost).squares)
    return release_squares(squares, first, problem, cost, noise)


def release_squares(
    summary: BlockSums | Moments, first: Release, problem: Problem, cost: Cost, noise: Noise
) -> Release:
    """Release the sum of s s' and add it, with what follows from it, to the first release.

    Guarantee. The cost, given the first release, by one Gaussian release. The coefficients and the
    cut are released numbers, so the score of a row is a function of that row, and no entry of it is
    larger than that of phi: |s_j| <= |phi_j| <= 1 and |s| <= |phi| <= R, R^2 = K + d. What is
    released is part of the upper triangle of s s', whose L2 sensitivity is that of phi phi'
    (:meth:`~dpstats.estimators.least_squares.factors.basis.BlockBasis.sensitivity`), for any number
    of codes. For weighted rows half of w min(e^2 / c^2, 1), a number in [0, 1/2], is one more
    value, and its square adds 1/4 to that of the sensitivity.

    The score of a unit is the sum over its rows of scores multiplied by weights that add up to at
    most 1, so that |s_j| <= 1 and |s| <= R hold for it too. It may have entries at several codes of
    a block, so all of the triangle of s s' is released.
    """
    basis = BlockBasis.of(problem)
    l2 = basis.sensitivity(problem.neighbors).l2[0] / PRODUCT_UNIT
    if isinstance(summary, BlockSums):
        values, name = gram_values(summary, basis.numbers, one=1), "scores"
        kept = summary.numbers.extra
    else:
        values, name = summary.cross[np.triu_indices(len(summary.cross))].tolist(), "unit_scores"
        kept = summary.extra
    size = len(values)
    if problem.in_parts:
        values = [*values, kept]
        l2 = math.hypot(l2, robust_covariance.KEPT / PRODUCT_UNIT)
    released = noise.add(Query("sum of e^2 x x'", values, l2=l2, unit=PRODUCT_UNIT), cost)
    known = replace(
        _sums_of(first),
        scores_cut=ScoreRule.after(first, problem, cost).cut,
        scores_deviation=released.deviation,
        scores_kept=released.values[-1] / robust_covariance.KEPT if problem.in_parts else None,
        **{name: released.values[:size]},
    )
    fit, _ = least_squares_of(NoisyBlockSums.restored(basis, known), basis, problem, known)
    robust = replace(
        first.basis,
        params=fit.params,
        predictions=fit.predictions,
        cov=fit.cov,
        status=fit.status,
        reasons=fit.reasons,
        evidence=fit.evidence,
        cov_type=robust_covariance.type_of(problem),
    )
    return robust if first.companion is None else replace(first, companion=robust)


def _sums_of(first: Release) -> BlockEvidence:
    """Return the sums of a first release."""
    known = first.basis.evidence
    assert isinstance(known, BlockEvidence), "a first release with standard errors has sums"
    return known
