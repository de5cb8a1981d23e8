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
from dpstats.estimators.least_squares.dense.gram import sensitivities
from dpstats.estimators.least_squares.factors.basis import BlockBasis
from dpstats.estimators.least_squares.factors.elimination import solve
from dpstats.estimators.least_squares.factors.fit import least_squares_of
from dpstats.estimators.least_squares.factors.goodness import coefficients
from dpstats.estimators.least_squares.factors.sums import (
    BlockSums,
    NoisyBlockSums,
    coded_blocks,
    gram_values,
    norm_of,
)
from dpstats.evidence import BlockEvidence
from dpstats.noise import Noise, Query
from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import BLOCK, PRODUCT_UNIT, exact_sum, whole_weights
from dpstats.privacy import Cost

_ONE = 2.0**ENTRY_BITS


@dataclass(frozen=True)
class SquaredScores:
    """Hold exact sums of s s' over scores s, and of half of w min(e^2 / c^2, 1); they add up.

    ``products`` are :class:`BlockSums` of the scores of rows, without a response and all in units
    of 2^-40, or for those of units Python integers (M, M) in the same units.
    """

    products: BlockSums | np.ndarray
    kept: int

    def __add__(self, other: "SquaredScores") -> "SquaredScores":
        return SquaredScores(self.products + other.products, self.kept + other.kept)


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
        norm, y_scale = norm_of(basis), basis.box.y_scale
        cut = robust_covariance.cut_of(known, norm, y_scale, problem, cost)
        return cls(basis, theta, float(cut))

    def scores(self, given: Rows) -> Iterator[tuple[list[np.ndarray], np.ndarray, np.ndarray, int]]:
        """Yield blocks of scores s = w phi e / c, |e| <= c, cut toward zero to whole numbers.

        Row by row. Of each block: codes, (m,) for each of K; the entry that a row has at each of
        its codes (m,), and those of the numbers (m, d); half of w (e / c)^2, added up.
        """
        from dpstats.numerics.kernels import clipped_residuals, cut_rows

        basis = self.basis
        ends = np.cumsum([0, *basis.sizes])
        slopes = np.ascontiguousarray(self.theta[ends[-1] :])
        for codes, rows, parts in coded_blocks(given, basis):
            parts = np.ones(len(rows)) if parts is None else whole_weights(parts) / _ONE
            columns = np.ascontiguousarray(rows.T)
            for start, code in zip(ends[:-1], codes, strict=True):
                columns[-1] -= self.theta[start + code] * _ONE
            scale = robust_covariance.KEPT / PRODUCT_UNIT
            sizes, kept = clipped_residuals(columns, slopes, self.cut * _ONE, parts, scale)
            columns[-1] = _ONE
            whole = cut_rows(columns, sizes)
            yield codes, whole[-1], whole[:-1].T, int(kept)

    def squares(self, rows: Rows) -> SquaredScores:
        """Sum s s' over the scores of rows, or of units."""
        return self.of_rows(rows) if rows.units is None else self.of_units(rows)

    def of_rows(self, rows: Rows) -> SquaredScores:
        """Sum s s' over the scores of rows."""
        kept = 0

        def parts():
            nonlocal kept
            for codes, one, numbers, more in self.scores(rows):
                kept += more
                heavy = one[:, None] * np.column_stack([one, numbers])
                products = numbers.T @ numbers
                yield codes, heavy[:, :1], heavy[:, 1:], np.stack([0 * products, products])

        sums = BlockSums.summed(parts(), self.basis, self.basis.numbers, wide=True)
        return SquaredScores(sums, kept)

    def of_units(self, rows: Rows) -> SquaredScores:
        """Sum s s' over the scores of units: sums over their rows."""
        from scipy import sparse

        starts, M = np.cumsum([0, *self.basis.sizes]), len(self.theta)
        found = list(self.scores(rows))
        if not found:
            return SquaredScores(np.zeros((M, M), dtype=object), 0)
        codes, one, numbers, kept = zip(*found, strict=True)
        at_codes = np.hstack(codes) + starts[:-1, None]
        at_numbers = np.broadcast_to(np.arange(starts[-1], M)[:, None], (M - starts[-1], len(rows)))
        values = np.vstack([*[np.hstack(one)] * len(self.basis.sizes), np.vstack(numbers).T])
        run, number = np.broadcast_to(rows.unit_order, values.shape), rows.count
        places = run.ravel(), np.vstack([at_codes, at_numbers]).ravel()
        # entries at the same place, those of rows of one unit, are added up
        scores = sparse.csr_matrix((values.ravel(), places), (number, M))
        blocks = (scores[i : i + BLOCK] for i in range(0, number, BLOCK))
        products = exact_sum(((s.T @ s).toarray() for s in blocks), (M, M))
        return SquaredScores(products, sum(kept))


def scored(first: Release, passes: Passes, problem: Problem, cost: Cost, noise: Noise) -> Release:
    """Release the squared scores of rows, in indicators where there are factors."""
    if not problem.coded:
        return robust_covariance.scored(first, passes, problem, cost, noise)
    squares = passes.sum(ScoreRule.after(first, problem, cost).squares)
    return release_squares(squares, first, problem, cost, noise)


def release_squares(
    summary: SquaredScores, first: Release, problem: Problem, cost: Cost, noise: Noise
) -> Release:
    """Release the sum of s s' and add it, with what follows from it, to the first release.

    Guarantee. The cost, given the first release, by one Gaussian release. The coefficients and the
    cut are released numbers, so the score of a row is a function of that row, and no entry of it is
    larger than that of phi: |s_j| <= |phi_j| <= 1 and |s| <= |phi| <= R, R^2 = K + d. What is
    released is part of the upper triangle of s s', whose L2 sensitivity is that of phi phi'
    (:func:`~dpstats.estimators.least_squares.factors.sums.release_block_sums`), for any number of
    codes. For weighted rows half of w min(e^2 / c^2, 1), a number in [0, 1/2], is one more value,
    and its square adds 1/4 to that of the sensitivity.

    The score of a unit is the sum over its rows of scores multiplied by weights that add up to at
    most 1, so that |s_j| <= 1 and |s| <= R hold for it too. It may have entries at several codes of
    a block, so all of the triangle of s s' is released.
    """
    basis = BlockBasis.of(problem)
    l2 = sensitivities(norm_of(basis), problem.neighbors)[0] / PRODUCT_UNIT
    products = summary.products
    if isinstance(products, BlockSums):
        values, name = gram_values(products, basis.numbers, one=1), "scores"
    else:
        values, name = products[np.triu_indices(len(products))].tolist(), "unit_scores"
    size = len(values)
    if problem.weighted:
        values = [*values, summary.kept]
        l2 = math.hypot(l2, robust_covariance.KEPT / PRODUCT_UNIT)
    released = noise.add(Query("sum of e^2 x x'", values, l2=l2, unit=PRODUCT_UNIT), cost)
    known = replace(
        _sums_of(first),
        scores_cut=ScoreRule.after(first, problem, cost).cut,
        scores_deviation=released.deviation,
        scores_kept=released.values[-1] / robust_covariance.KEPT if problem.weighted else None,
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
