"""Compute the scores of rows, or of privacy units, at a position, and add them up once clipped.

A row that counts for a part of one, by its weight, is a unit of that row alone. Sums are as in
:mod:`~dpstats.estimators.newton.row_sums.sums`: exact, and of functions of one row or unit.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.contract import Reference
from dpstats.estimators.newton.row_sums import pair_sums
from dpstats.estimators.newton.row_sums.indicator_basis import IndicatorBasis
from dpstats.estimators.newton.row_sums.loss import Residuals
from dpstats.estimators.newton.row_sums.mapped_rows import MappedRows
from dpstats.estimators.newton.row_sums.pair_rows import PairRows
from dpstats.estimators.newton.row_sums.sums import (
    MARGIN,
    SCORE_EDGES,
    counts,
    fits,
    in_blocks,
    slices,
    squared_lengths,
    whitened_blocks,
)
from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import exact_sum, whole_weights

_ONE = 2.0**ENTRY_BITS
# Parts of a score, in units of 2^-20 of its limit, are cut here: 2^20 of them add up exactly.
_FARTHEST = 2.0**33


@dataclass(frozen=True)
class Scores:
    """Compute scores s = a r of whitened rows a = phi @ ``map``, r the residual at ``eta`` (p,)."""

    loss: Residuals
    basis: IndicatorBasis
    map: np.ndarray
    reference: Reference
    eta: np.ndarray

    def blocks(self, rows: Rows) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield whitened rows as columns (p, m), their residuals (m,) and the norms of scores (m,).

        A row whose response is infinite in units of the reference has a score of finite length.
        """
        from dpstats.numerics.score_loops import norms

        for whitened, squares, own in whitened_blocks(self.basis, self.map, rows):
            some = rows if len(rows) == whitened.shape[1] else rows[own]
            left = self.loss.residuals(some, self.reference, whitened, self.eta)
            yield whitened, left, norms(squares, left)

    def counts(self, unit: float, rows: Rows, edges: np.ndarray = SCORE_EDGES) -> np.ndarray:
        """Count rows, or units, by the norm of scores over ``unit``, in the bins of ``edges``."""
        if isinstance(rows, PairRows):
            squares = (unit * edges) ** 2
            return pair_sums.counts(self._row_map, squares, rows, self.reference.y_scale, self.eta)
        if rows.parts is not None:
            return counts((norms for _, norms in self.pieces(unit, rows)), 1.0, edges)
        if isinstance(rows, MappedRows) or not self.basis.sizes:
            return counts((norms for _, _, norms in self.blocks(rows)), unit, edges)
        return counts(in_blocks(self._norms(rows)), unit, edges)

    def _norms(self, rows: Rows) -> np.ndarray:
        """Compute the norms of scores (m,) from lengths and fits, which few directions tell."""
        from dpstats.numerics.score_loops import norms

        fit = fits(self.basis, self.map @ self.eta, rows)
        left = self.loss.residuals(rows, self.reference, fit[None], np.ones(1))
        return norms(squared_lengths(self.basis, self.map, rows), left)

    def sums(self, limit: float, cut: float, weight: float, rows: Rows) -> np.ndarray:
        """Add up s' and w C min(|r| / cut, 1)^2 in units of 2^-20 C, as whole numbers (p + 1,).

        s' are scores clipped to the length C, ``limit``. Units, and rows of
        parts, have w |s'|^2 / C.
        """
        from dpstats.numerics.score_loops import clipped_sums, sums_and_squares

        p = len(self.eta)
        if isinstance(rows, PairRows):
            return self.by_group(limit, cut, weight, rows).sum(axis=0)
        if rows.parts is not None:
            unit = weight * 2.0**-ENTRY_BITS
            terms = (sums_and_squares(*terms, unit) for terms in self.factors(limit, rows))
            return exact_sum(terms, (p + 1,))
        given = limit, cut, weight, _ONE * MARGIN
        return exact_sum((clipped_sums(*block, *given) for block in self.blocks(rows)), (p + 1,))

    def by_group(self, limit: float, cut: float, weight: float, rows: PairRows) -> np.ndarray:
        """Add up the same over the pairs of each group of rows with keys, (G, p + 1)."""
        at = self._row_map, self.reference.y_scale, self.eta
        return pair_sums.scores(*at, limit, cut, weight, rows)

    @property
    def _row_map(self):
        return self.basis.row_map(self.map)

    def products(self, limit: float, rows: Rows) -> np.ndarray:
        """Add up s' s'' over scores s' clipped to C, ``limit``, in units of C^2 2^-40, (p, p)."""
        blocks = self.clipped(limit, rows)
        return exact_sum((block @ block.T for block in blocks), (len(self.eta),) * 2)

    def clipped(self, limit: float, rows: Rows) -> Iterator[np.ndarray]:
        """Yield scores of rows, or units, clipped to ``limit``, as whole 2^-20 of it (p, m)."""
        from dpstats.numerics.kernels import cut_rows

        yield from (cut_rows(*terms) for terms in self.factors(limit, rows))

    def factors(self, limit: float, rows: Rows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield columns (p, m), and factors (m,) that make them scores clipped to ``limit``.

        The products are in units of 2^-20 of it, and to be cut toward zero to whole numbers.
        Columns are rows, and where these count for parts the scores of rows or units.
        """
        if rows.units is not None:
            s = self.clipped_units(limit, rows)
            # contiguous, as loops are compiled for each layout, and all of it is no slice
            parts = (np.ascontiguousarray(s[:, own]) for own in slices(s.shape[1]))
            yield from ((part, np.ones(part.shape[1])) for part in parts)
            return
        if rows.parts is not None:
            for s, norms in self.pieces(limit, rows):
                yield s, MARGIN / np.maximum(norms, 1.0)
            return
        for whitened, left, norms in self.blocks(rows):
            yield whitened, left * (_ONE * MARGIN / np.maximum(norms, limit))

    def clipped_units(self, limit: float, rows: Rows) -> np.ndarray:
        """Clip the scores of units to the norm ``limit``; whole 2^-20 of it (p, units)."""
        from dpstats.numerics.kernels import cut_rows

        s, norms = self.of_units(limit, rows)
        return cut_rows(s, MARGIN / np.maximum(norms, 1.0))

    def of_units(self, scale: float, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Add up the scores of each unit's rows, times their parts, over ``scale``.

        Without units each row is one.
        Each row's are rounded to multiples of 2^-20 first, so that the sum is exact in any order of
        the rows, and cut to 2^13, far beyond where they are clipped.

        Returns
        -------
        sums : numpy.ndarray, shape (p, units)
            Whole numbers, in units of 2^-20.
        norms : numpy.ndarray, shape (units,)
            Their Euclidean norms, in units of 1.
        """
        from dpstats.numerics.kernels import lengths, sums_of_runs

        pieces = [np.empty((len(self.eta), 0)), *(s for s, _ in self._rounded(scale, rows))]
        sums = np.hstack(pieces)
        sums = sums if rows.units is None else sums_of_runs(sums, rows.units)
        return sums, lengths(sums) / _ONE

    def pieces(self, scale: float, rows: Rows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield what :meth:`of_units` returns, of rows that have no units few at a time."""
        if rows.units is not None:
            yield self.of_units(scale, rows)
            return
        yield from ((s, norms / _ONE) for s, norms in self._rounded(scale, rows))

    def _rounded(self, scale: float, rows: Rows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield scores times parts over ``scale``, in whole 2^-20 (p, m), and their norms (m,)."""
        from dpstats.numerics.kernels import round_rows

        assert rows.parts is not None, "rows of units have parts"
        for whitened, _, own in whitened_blocks(self.basis, self.map, rows):
            left = self.loss.residuals(rows[own], self.reference, whitened, self.eta)
            factors = left * (whole_weights(rows.parts[own]) / scale)
            yield whitened, round_rows(whitened, factors, _FARTHEST)


def whole_units(rows: Rows) -> Iterator[Rows]:
    """Cut rows into blocks of whole units: one where units have numbers, else few rows each."""
    if rows.units is not None:
        yield rows
        return
    for own in slices(len(rows)):
        yield rows[own]
