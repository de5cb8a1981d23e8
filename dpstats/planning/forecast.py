"""Hold the rows of a plan: forecasts, and the minimum epsilon of each method."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Forecast:
    """Hold the forecast of one quantity by one method at one epsilon.

    Attributes
    ----------
    method : str
        A label; "ols (not private)" is least squares on the same synthetic tables.
    epsilon : float
        Infinite for least squares.
    term : str
        A coefficient, or a prediction point.
    truth : float
        Its assumed value.
    error, error_90 : float
        Median and 90th percentile of |estimate - truth|; infinite where at least so many fits fail.
    width : float
        Median width of the interval: infinite where half are unbounded, NaN without any.
    coverage : float
        Proportion of the intervals that hold the truth; NaN without any.
    unbounded : float
        Proportion of the repetitions without a bounded interval; NaN without any.
    failed : float
        Proportion of the repetitions that release no estimate.
    intervals : int
        Number of repetitions with an interval, of which ``coverage`` is a proportion.
    """

    method: str
    epsilon: float
    term: str
    truth: float
    error: float
    error_90: float
    width: float
    coverage: float
    unbounded: float
    failed: float
    intervals: int = 0


@dataclass(frozen=True)
class MinimumEpsilon:
    """Hold the minimum epsilon of a grid at which a method's median interval is narrow enough.

    Attributes
    ----------
    method : str
    epsilon : float
        Infinite when none of the grid is enough, NaN when the method has no intervals.
    low, high : float
        The minimum epsilon lies between them with 95% confidence: the Monte Carlo error.
    """

    method: str
    epsilon: float
    low: float
    high: float
