"""Hold the rows of a plan: forecasts, notes on methods, and the minimum epsilon of each."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpstats.call import Request


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


def forecasts_of(terms: Sequence[str], trials: Mapping) -> tuple[Forecast, ...]:
    """Summarise trials in a forecast per method, epsilon and term."""
    return tuple(
        Forecast(method, epsilon, term, *values, intervals=intervals)
        for (method, epsilon), runs in trials.items()
        for term, values, intervals in zip(
            terms, runs.numbers().tolist(), runs.released().tolist(), strict=True
        )
    )


def remarks(
    requests: Mapping[str, Request], trials: Mapping, chosen: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Collect notes on each method, by label; of texts that differ in numbers only the last.

    ``chosen`` says what a label of "auto" stands for.
    """
    notes = {label: [chosen[label]] if label in chosen else [] for label in requests}
    for label, request in requests.items():
        notes[label] += _meaning(request)
    for (label, _), runs in trials.items():
        notes.setdefault(label, []).extend(runs.reasons)
    distinct = {name: {re.sub(r"\d+", "", t): t for t in texts} for name, texts in notes.items()}
    return {label: tuple(texts.values()) for label, texts in distinct.items() if texts}


def _meaning(request: Request) -> list[str]:
    """Explain the meaning of epsilon where it is not that of (epsilon, delta)."""
    if request.method.guarantee != "zcdp":
        return []
    return [
        "epsilon stands for rho = epsilon^2 / 2, a weaker promise: the largest one here is "
        f"({request.epsilon:.3g}, {request.delta:g})-DP"
    ]
