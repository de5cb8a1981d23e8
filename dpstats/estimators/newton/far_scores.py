"""Tell from noisy counts whether rows lie so far out that no limit on scores holds their bias."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpstats.estimators.newton.queries import Counted

# Counts are told apart from noise at so many of its deviations. One row in a hundred, which a code
# for a missing value may well have, is not to be hidden by noise; fewer than this part of the rows
# are ordinary (benchmarks/poisson.py, heavy tails).
_CLEAR, _CODED, _ORDINARY = 2.0, 0.01, 0.0005
_SEEN = (
    "about {:,.0f} rows lie so far out, as codes for missing values do, that they decide the "
    "coefficients, so intervals are unbounded; leave them out by subset= or declare bounds="
)
_HIDDEN = (
    "the noise could hide 1% of the rows far out, as codes for missing values are, so intervals "
    "are unbounded; raise epsilon or n"
)


@dataclass(frozen=True)
class FarScores:
    """Hold a number of rows whose scores are far out, with its noise, among ``rows``."""

    number: float
    noise: float
    rows: float

    @classmethod
    def of(cls, counts: Sequence[Counted], rows: float) -> "FarScores":
        """Average noisy counts, each in the measure that it is known."""
        shares = np.array([count.noise**-2.0 for count in counts])
        number = float(shares @ [count.total for count in counts] / shares.sum())
        return cls(number, float(shares.sum() ** -0.5), rows)

    @property
    def failure(self) -> str:
        """Say why no interval holds the bias of rows far out; empty where there is none."""
        if self.number > _ORDINARY * self.rows + _CLEAR * self.noise:
            return _SEEN.format(self.number)
        return _HIDDEN if self.number + _CLEAR * self.noise > _CODED * self.rows else ""
