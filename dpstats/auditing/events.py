"""Find events that distinguish two samples of outputs, and bound epsilon by their counts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

# Number of thresholds tried on each statistic.
_THRESHOLDS = 41
# Outputs are clipped to this many interquartile ranges from the median.
_CLIP = 4.0
# Keeps the linear statistic defined where outputs are constant or proportional.
_RIDGE = 1e-6


@dataclass(frozen=True)
class Event:
    """Describe a set of outputs: a statistic above a threshold, or not above it.

    Parameters
    ----------
    name : str
    statistic : callable
        From outputs (m, F) to numbers (m,).
    threshold : float
    above : bool
    swapped : bool
        True if the second input makes it likely, not the first.
    """

    name: str
    statistic: Callable[[np.ndarray], np.ndarray]
    threshold: float
    above: bool
    swapped: bool

    def counts(self, first: np.ndarray, second: np.ndarray) -> tuple[int, int]:
        """Count the event in outputs (m, F) of the input that makes it likely, and of the other."""
        likely, rare = (second, first) if self.swapped else (first, second)
        return self._count(likely), self._count(rare)

    def _count(self, outputs: np.ndarray) -> int:
        """Count the outputs (m, F) in which it happened."""
        return int(np.sum((self.statistic(outputs) > self.threshold) == self.above))

    def __str__(self) -> str:
        return f"{self.name} {'>' if self.above else '<='} {self.threshold:.6g}"


def lower_bound(likely, rare, trials: int, alpha: float, delta: float = 0.0, gaussian=False):
    """Bound the privacy loss from the counts of an event, with confidence 1 - alpha.

    Parameters
    ----------
    likely, rare : int or numpy.ndarray
        Counts of the event in ``trials`` releases from each of two neighbours.
    alpha : float
        Probability, at most, that the bound exceeds the true value.
    delta : float
    gaussian : bool
        Bound mu instead of epsilon, for a claim of mu-GDP.

    Returns
    -------
    float or numpy.ndarray
        The minimum epsilon with P(E) <= e^epsilon P'(E) + delta, or the minimum mu with
        z(P(E)) - z(P'(E)) <= mu (Dong, Roth and Su 2022, Definition 2.3), for all P(E),
        P'(E) within Clopper and Pearson's limits, which hold together with probability
        1 - alpha. A bound below zero is no evidence.
    """
    from scipy.special import betainccinv, betaincinv, ndtri

    likely, rare = np.asarray(likely, float), np.asarray(rare, float)
    p = betaincinv(np.maximum(likely, 0.5), trials - likely + 1, alpha / 2) * (likely > 0)
    q = betainccinv(rare + 1, np.maximum(trials - rare, 0.5), alpha / 2)
    q = np.where(rare < trials, q, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return ndtri(p) - ndtri(q) if gaussian else np.log(np.maximum(p - delta, 0.0) / q)


def best_event(
    first: np.ndarray, second: np.ndarray, names: Sequence[str], bound: Callable
) -> tuple[float, Event]:
    """Find the event with the largest bound from two samples of outputs (m, F), and the bound.

    Candidates are thresholds on every output, on the linear combination that separates the
    samples best and on a combination of distances from the medians. ``bound(likely, rare)``
    is the bound for given counts. The samples must not be used again to test the event.
    """
    statistics = _statistics(first, second, names)
    best: tuple[float, Event] | None = None
    for name, statistic in statistics.items():
        a, b = np.sort(statistic(first)), np.sort(statistic(second))
        thresholds = np.unique(
            np.quantile(np.r_[a, b], np.linspace(0, 1, _THRESHOLDS), method="lower")
        )
        above = [len(s) - np.searchsorted(s, thresholds, "right") for s in (a, b)]
        for is_above in (True, False):
            counts = above if is_above else [len(a) - count for count in above]
            for swapped in (False, True):
                bounds = bound(*counts[::-1] if swapped else counts)
                k = int(np.argmax(bounds))
                event = Event(name, statistic, float(thresholds[k]), is_above, swapped)
                if best is None or bounds[k] > best[0]:
                    best = float(bounds[k]), event
    assert best is not None, "there is a statistic for each name"
    return best


def _statistics(first, second, names) -> dict[str, Callable]:
    """Build the statistics for thresholds, as functions of outputs (m, F)."""
    both = np.vstack([first, second])
    low, median, high = _quartiles(both)
    scale = np.where(high > low, high - low, 1.0)
    statistics = {name: partial(_column, j) for j, name in enumerate(names)}
    for name, shape in (("linear statistic", np.asarray), ("distance statistic", np.abs)):
        shaped = partial(_shaped, shape, median, scale)
        weights = _separating(shaped(first), shaped(second))
        statistics[name] = partial(_combined, shaped, weights)
    return statistics


def _quartiles(outputs: np.ndarray) -> np.ndarray:
    """Compute quartiles (3, F) of released outputs; 0 for an output never released."""
    finite = np.where(np.isfinite(outputs), outputs, np.nan)
    finite[:, np.isnan(finite).all(axis=0)] = 0.0
    return np.nanquantile(finite, [0.25, 0.5, 0.75], axis=0)


def _column(j: int, outputs: np.ndarray) -> np.ndarray:
    """Return one output, -infinity where it was not released."""
    return np.where(np.isnan(outputs[:, j]), -np.inf, outputs[:, j])


def _shaped(shape: Callable, median, scale, outputs: np.ndarray) -> np.ndarray:
    """Scale outputs to interquartile ranges from the median, clipped; 0 if not released."""
    scaled = np.nan_to_num((outputs - median) / scale, nan=0.0, posinf=_CLIP, neginf=-_CLIP)
    return shape(np.clip(scaled, -_CLIP, _CLIP))


def _combined(shaped: Callable, weights: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Combine scaled outputs linearly."""
    return shaped(outputs) @ weights


def _separating(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Compute Fisher's linear discriminant of two samples (m, F)."""
    spread = np.atleast_2d(np.cov(first.T) + np.cov(second.T))
    ridge = _RIDGE * (1 + np.trace(spread)) * np.eye(len(spread))
    return np.linalg.solve(spread + ridge, first.mean(axis=0) - second.mean(axis=0))
