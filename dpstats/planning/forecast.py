"""What a plan holds: forecasts by method, epsilon and term, and the least epsilon by method."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Forecast:
    """What one method at one epsilon would say about one quantity.

    Attributes
    ----------
    method : str
        A label; "ols (not private)" is least squares on the same made-up tables.
    epsilon : float
        Infinite for least squares.
    term : str
        A coefficient, or a prediction point.
    truth : float
        Its guessed value.
    error, error_90 : float
        Median and 90th percentile of |estimate - truth|; infinite where so many fits fail.
    width : float
        Median width of the interval: infinite where so many are unbounded, NaN without any.
    coverage : float
        Share of the intervals that hold the truth; NaN without any.
    unbounded : float
        Share of the repetitions without a bounded interval; NaN without any.
    failed : float
        Share of the repetitions that release no estimate.
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


@dataclass(frozen=True)
class Least:
    """The least epsilon of a grid at which a method's median interval is narrow enough.

    Attributes
    ----------
    method : str
    epsilon : float
        Infinite when none of the grid is enough, NaN when the method has no intervals.
    low, high : float
        The least epsilon lies between them with 95% confidence: the Monte Carlo error.
    """

    method: str
    epsilon: float
    low: float
    high: float
