"""Define the loss of a Poisson regression, and add up its curvatures over rows."""

from dataclasses import dataclass

import numpy as np

from dpstats.estimators.contract import Reference
from dpstats.estimators.newton.row_sums import Residuals, Scores
from dpstats.estimators.newton.row_sums.indicator_basis import FAR
from dpstats.estimators.newton.row_sums.sums import (
    MARGIN,
    capped_curvature,
    parts_of,
    starts_of,
    whitened_blocks,
)
from dpstats.numerics import Rows
from dpstats.numerics.clipping import ENTRY_BITS
from dpstats.numerics.cross_products import exact_sum

_ONE = 2.0**ENTRY_BITS
# Means count as e to the power of so many of their unit at most.
_MOST = 20.0


@dataclass(frozen=True)
class PoissonLoss(Residuals):
    """Take the mean of a row for exp(``center`` + a'eta + o) ``unit``, o its offset if it has one.

    Responses are cut below at 0. Residuals are in ``unit``, about the mean of the response.
    """

    center: float
    unit: float

    def residuals(
        self, rows: Rows, reference: Reference, columns: np.ndarray, eta: np.ndarray
    ) -> np.ndarray:
        """Return responses, cut far out, less their means."""
        with np.errstate(over="ignore"):  # on any thread, whatever the caller has set
            y = np.fmin(np.fmax(rows.response / self.unit, 0.0), FAR)
        return y - self.curvatures(rows, columns, eta)

    def curvatures(self, rows: Rows, columns: np.ndarray, eta: np.ndarray) -> np.ndarray:
        """Return the means of rows, which are the curvatures of their losses, (m,)."""
        from dpstats.numerics.logistic_loops import rates

        return rates(starts_of(self.center, rows), columns, eta, _MOST)


def score_sums(at: Scores, limit: float, rows: Rows) -> np.ndarray:
    """Add up scores clipped to the length ``limit``, in units of 2^-20 of it, (p,)."""
    from dpstats.numerics.score_loops import cut_sums

    return exact_sum((cut_sums(*terms) for terms in at.factors(limit, rows)), (len(at.eta),))


def hessian(at: Scores, limit: float, bound: float, rows: Rows) -> np.ndarray:
    """Add up the slopes mu a a' of scores, each of a norm of at most ``bound``, (p, p).

    A score that is longer than ``limit`` is clipped, and has none. They are in units of 2^-40 of
    the bound.
    """
    from dpstats.numerics.kernels import cut_rows, products
    from dpstats.numerics.score_loops import norms

    loss, parts = at.loss, parts_of(rows)
    assert isinstance(loss, PoissonLoss)

    def of(columns: np.ndarray, squares: np.ndarray, own: slice) -> np.ndarray:
        left = loss.residuals(rows[own], at.reference, columns, at.eta)
        is_whole = norms(squares, left) * parts[own] <= limit
        slopes = loss.curvatures(rows[own], columns, at.eta) * is_whole
        slopes = capped_curvature(slopes, squares, bound, parts[own])
        return products(cut_rows(columns, _ONE * MARGIN * np.sqrt(slopes)))

    blocks = whitened_blocks(at.basis, at.map, rows)
    return exact_sum((of(*block) for block in blocks), (len(at.eta),) * 2)


def responses(limit: float, rows: Rows) -> np.ndarray:
    """Add up responses cut to [0, ``limit``], times parts, in units of 2^-20 of it, (1,)."""
    y = np.fmin(np.fmax(rows.response / limit, 0.0), 1.0)
    return np.array([int(np.trunc(y * parts_of(rows) * _ONE).sum())], dtype=object)
