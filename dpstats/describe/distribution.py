"""Read quantiles with intervals off noisy cumulative counts."""

import math
from dataclasses import dataclass

import numpy as np

from dpstats.describe.column_parts import NumberPart
from dpstats.describe.cumulative import prefix_sums


@dataclass(frozen=True)
class Distribution:
    """Hold the cumulative counts of a column, which increase, and the noise on each.

    Parameters
    ----------
    points, cumulative, deviation : numpy.ndarray, shape (k,)
    rows : float
    rows_variance : float
    """

    points: np.ndarray
    cumulative: np.ndarray
    deviation: np.ndarray
    rows: float
    rows_variance: float

    @classmethod
    def of(
        cls, part: NumberPart, noisy: np.ndarray, rows: float, rows_variance: float, s: float
    ) -> "Distribution":
        """Combine cumulative counts with the number of rows, and make them increase.

        The last of the cumulative counts is the number of rows too, so the difference of the two
        tells of the noise on all of them.
        """
        from scipy.optimize import isotonic_regression

        deviation, with_last = part.spread
        sums = prefix_sums(noisy, part.weights)
        own, shared = (s * deviation) ** 2, s**2 * with_last
        p = np.clip(sums / rows, 0.0, 1.0)
        weight = (shared + p * rows_variance) / (own[-1] + rows_variance)
        sums = sums - weight * (sums[-1] - rows)
        variance = own - 2 * weight * shared + weight**2 * own[-1]
        variance = variance + (weight - p) ** 2 * rows_variance
        increasing = isotonic_regression(sums).x
        cumulative = np.clip(increasing, 0.0, rows)
        cumulative[-1] = rows
        deviation = np.sqrt(np.maximum(variance, 0.0))
        return cls(part.limits.points, cumulative, deviation, rows, rows_variance)

    def quantile(self, q: float, z: float) -> tuple[float, float, float]:
        """Return a quantile and the ends of its interval, by inverting noisy ranks.

        A point is in the interval unless the rows up to it are fewer, or those below it more, than
        noise and sampling allow; an end is infinite where only values beyond the grid remain.
        """
        wanted = q * self.rows
        reach = z * np.sqrt(self.deviation**2 + self.rows * q * (1 - q))
        last = len(self.points) - 1
        found = int(np.argmax(self.cumulative >= wanted))
        low = int(np.argmax(self.cumulative + reach >= wanted))
        above = self.cumulative - reach >= wanted
        high = int(np.argmax(above)) if above.any() else last
        ends = (
            -np.inf if low == 0 else float(self.points[low]),
            np.inf if high == last else float(self.points[high]),
        )
        return float(self.points[found]), *ends

    def beyond(self, low: float, high: float, z: float) -> tuple[float, float]:
        """Return which shares of the rows may lie at ``low`` or below and at ``high`` or above.

        They are those of the bins that the two lie in and of all farther out, and z deviations of
        their noise.
        """
        half, last = (self.points[1] - self.points[0]) / 2, len(self.points) - 1
        first = min(int(np.searchsorted(self.points + half, low, "right")), last)
        end = int(np.searchsorted(self.points - half, high, "left")) - 1
        below = self.cumulative[first] + z * self.deviation[first]
        above, noise = self.rows, math.sqrt(self.rows_variance)
        if end > 0:
            above, noise = self.rows - self.cumulative[end - 1], self.deviation[end - 1]
        return min(below / self.rows, 1.0), min((above + z * noise) / self.rows, 1.0)

    def moment(self, center: float, power: int) -> float:
        """Return the mean power of distances from a center, of values on the grid."""
        held = np.diff(self.cumulative, prepend=0.0) / self.rows
        return float(held @ (self.points - center) ** power)
