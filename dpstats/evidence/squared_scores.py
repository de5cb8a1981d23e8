"""Hold released squares of scores beside the sums that a fit was made from."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from dpstats.evidence.evidence import Evidence, Matrix, Number
from dpstats.numerics import Meat


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredEvidence(Evidence):
    """Hold what robust standard errors need: the sum of s s' over scores s = u min(|e|, c) / c.

    Parameters
    ----------
    squares : (S, S)
    squares_cut
        c^2, in squared units of v.
    squares_deviation
        Standard deviation of the noise on an entry of ``squares``.
    squares_kept
        Where rows have weights w, the sum of w min(e^2 / c^2, 1).
    """

    squares: Matrix = None
    squares_cut: Number = None
    squares_deviation: Number = None
    squares_kept: Number = None

    def with_squares(self, squares, cut, deviation, kept=None) -> Self:
        """Return the evidence with released squares of scores, whose residuals were cut at c."""
        return replace(
            self, squares=squares, squares_cut=cut**2, squares_deviation=deviation,
            squares_kept=kept,
        )  # fmt: skip

    def meat_of(self, columns: int) -> Meat:
        """Return the sum of u u' min(e^2, c^2), zero where there is no release."""
        if self.squares is None:
            return Meat(np.zeros((columns, columns)), np.zeros(()), np.ones(columns))
        cut, kept = self.squares_cut, self.squares_kept
        deviation = cut * self.squares_deviation
        kept = None if kept is None else np.maximum(cut * kept, deviation)
        return Meat(cut[..., None, None] * self.squares, deviation, np.ones(columns), kept)
