"""What every mechanism is: a frozen description, a summary of rows and a release."""

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpstats.noise import Noise
from dpstats.privacy import GDP, ApproxDP, Cost, PureDP

# Why a release from privately estimated ranges has no standard errors.
CLIPPED = (
    "the privately estimated ranges clip an unknown part of the rows, which biases any "
    "interval; declare bounds= for standard errors"
)


@dataclass(frozen=True)
class Problem:
    """The public facts a mechanism works under.

    Parameters
    ----------
    low, high : numpy.ndarray, shape (S,)
        Bounds of the design columns.
    y_low, y_high : float
        Bounds of the response.
    intercept : int or None
        Index of the constant column.
    neighbors : str
        The relation the release must be private for.
    row_norm : float or None
        Declared bound on the Euclidean norm of a design row, in place of the column bounds.
    estimated : bool
        Whether any bound was itself released, so that ranges may be generous.
    x_new : numpy.ndarray, shape (q, S)
        Design rows at which predictions are wanted.
    """

    low: np.ndarray
    high: np.ndarray
    y_low: float
    y_high: float
    intercept: int | None
    neighbors: str
    row_norm: float | None
    estimated: bool
    x_new: np.ndarray


@dataclass(frozen=True)
class Release:
    """What a mechanism publishes, in the design's units; every number is a release.

    ``params`` (S,) and ``predictions`` (q,) hold NaN where nothing was released, and
    ``reasons`` says why, by the name of the result's attribute. ``cov`` is the
    covariance of the coefficients (S, S), noise included, or None. ``statistics`` are
    further released numbers by name, floats or nested lists of them, and public facts,
    from which :mod:`dpstats.inference` starts; it starts from ``companion``, a second
    release from the same rows and budget, where there is one. ``note`` is a sentence
    on what was released, made of releases. ``limited`` says that predictions are of rows
    clipped to the columns' ranges and lie in the range of the response.
    """

    params: np.ndarray
    predictions: np.ndarray
    cov: np.ndarray | None = None
    status: str = "ok"
    reasons: Mapping[str, str] = field(default_factory=dict)
    statistics: Mapping[str, Any] = field(default_factory=dict)
    companion: "Release | None" = None
    note: str = ""
    limited: bool = False

    def __post_init__(self):
        for values in (self.params, self.predictions, self.cov):
            if values is not None:
                values.flags.writeable = False

    @classmethod
    def nothing(cls, problem: Problem, status: str, reason: str) -> "Release":
        """A release without numbers: a released failure and its reason."""
        return cls(
            params=np.full(len(problem.low), np.nan),
            predictions=np.full(len(problem.x_new), np.nan),
            status=status,
            reasons=dict.fromkeys(("params", "predictions", "bse"), reason),
        )


@dataclass(frozen=True)
class Releases:
    """The releases of G groups that share no row, in columns; NaN where nothing was released.

    Parameters
    ----------
    params, predictions : numpy.ndarray, shapes (G, S) and (G, q)
    statuses : sequence of str, length G
    reasons : tuple of str
        Why something is NaN, each reason once.
    stack : mapping of str to numpy.ndarray, shape (G, ...)
        What they hold for inference, as :func:`dpstats.inference.stacked` of each would have it.
    """

    params: np.ndarray
    predictions: np.ndarray
    statuses: Sequence[str]
    reasons: tuple[str, ...]
    stack: Mapping[str, np.ndarray]


def over(X: np.ndarray, y: np.ndarray) -> Callable:
    """A pass over rows that are all at hand: ``total(each)`` is ``each(X, y)``."""
    return lambda each: each(X, y)


@dataclass(frozen=True)
class Again:
    """A second release, from the rows and what the first one published.

    Parameters
    ----------
    option : str
        The method's option that asks for it.
    asked : callable
        ``(value of the option, problem) -> bool``.
    share : float
        Share of the cost that is kept for it.
    summary_after : callable
        ``(first, problem) -> summarise`` for ``summarise(X, y)``, whose values for disjoint rows
        add up. What it needs of the first release is worked out once for all rows.
    release : callable
        ``(summary, first, problem, cost, noise) -> Release``, where ``first`` has standard errors.
    release_each : callable
        ``(X, y, edges, first, problem, cost, noise) -> Releases``, as in :class:`Method`.
    """

    option: str
    asked: Callable[[Any, Problem], bool]
    share: float
    summary_after: Callable[[Release, Problem], Callable[[np.ndarray, np.ndarray], Any]]
    release: Callable[..., Release]
    release_each: Callable[..., Releases]


@dataclass(frozen=True)
class Method:
    """One mechanism and what is proven about it.

    Parameters
    ----------
    name, paper : str
    guarantee : str
        ``"pure"`` (delta = 0), ``"gdp"`` or ``"approx"`` (delta > 0), or ``"zcdp"``:
        the epsilon asked for means rho = epsilon^2 / 2.
    neighbors : tuple of str
        Proven relations, the default first.
    simple : bool
        Whether it fits an intercept and one numeric column only.
    errors : str
        What the standard errors are, or why there are none.
    summarise : callable
        ``(X, y, problem) -> summary``; summaries of disjoint rows add up.
    release : callable
        ``(summary, problem, cost, noise, **options) -> Release``.
    sums : bool
        Whether the summary is a few sums, of one size for any number of rows; else it holds
        the rows, and these must fit into memory.
    options : mapping
        Name to (default, check); ``check(value)`` returns the value to use or raises
        ArgumentError.
    check : callable
        ``check(problem)`` raises ArgumentError for a problem the method cannot serve.
    remarks : tuple of str
        Sentences the privacy report of every release must carry.
    bounds_share : float
        Share of the budget that buys missing bounds.
    ranges_everywhere : bool
        Whether it can do with rough ranges, so that columns get one however few the rows.
    release_each : callable or None
        ``(X, y, edges, problem, cost, noise, **options) -> Releases``: what ``release``
        would give for the rows ``edges[g]`` to ``edges[g + 1]`` of each group g, in one go.
    each_rows : tuple of int
        Under replace-one, how many rows a group has at least and at most that
        ``release_each`` takes; ``release`` serves the others.
    each_without : tuple of str
        Options that ``release_each`` does nothing about: ``release`` serves where one is given.
    again : Again or None
        A second pass over the rows, which an option asks for.
    companion_share : float
        Share of the cost that a companion takes.
    bounded : bool
        Whether it needs the range of every column; without, ranges left out are neither
        asked for nor estimated but stand at :data:`~dpstats.schema.UNLIMITED`.
    """

    name: str
    paper: str
    guarantee: str
    neighbors: tuple[str, ...]
    simple: bool
    errors: str
    summarise: Callable[[np.ndarray, np.ndarray, Problem], Any]
    release: Callable[..., Release]
    sums: bool = False
    options: Mapping[str, tuple[Any, Callable[[Any], Any]]] = field(default_factory=dict)
    check: Callable[[Problem], None] = lambda problem: None
    remarks: tuple[str, ...] = ()
    bounds_share: float = 0.2
    ranges_everywhere: bool = False
    release_each: Callable[..., Releases] | None = None
    each_rows: tuple[int, int] = (2, sys.maxsize)
    each_without: tuple[str, ...] = ()
    again: Again | None = None
    companion_share: float = 0.0
    bounded: bool = True

    def cost(self, epsilon: float, delta: float) -> Cost:
        """The cost that makes the release (epsilon, delta)-DP, or (epsilon^2 / 2)-zCDP.

        Gaussian noise that is mu-GDP is (mu^2 / 2)-zCDP (Bun and Steinke 2016, Proposition
        1.6, for a standard deviation of l2 / mu), so there mu = epsilon.
        """
        if self.guarantee == "pure":
            return PureDP(epsilon)
        if self.guarantee == "zcdp":
            return GDP(epsilon)
        return GDP.of(epsilon, delta) if self.guarantee == "gdp" else ApproxDP(epsilon, delta)

    def share(self, epsilon: float, delta: float, parts: int) -> tuple[float, float]:
        """(epsilon, delta) to ask for in each of several calls that together cost as one does.

        Each has the same part of :meth:`cost`. What is mu-GDP in parts of mu / sqrt(parts)
        keeps its delta, rounded down by more than its conversion errs.
        """
        if parts == 1:
            return epsilon, delta
        if self.guarantee in ("pure", "approx"):
            return epsilon / parts, delta / parts
        if self.guarantee == "zcdp":
            return epsilon / math.sqrt(parts), delta
        return self.cost(epsilon, delta).part(1 / parts).guarantee(delta)[0] * (1 - 1e-7), delta

    def promise(self, epsilon: float, delta: float) -> tuple[float, float]:
        """(epsilon, delta) of the release: as asked for, or what zCDP implies at delta.

        The relative margin exceeds the error of the conversion.
        """
        if self.guarantee != "zcdp":
            return epsilon, delta
        implied, delta = self.cost(epsilon, delta).guarantee(delta)
        return implied * (1 + 1e-8), delta

    def fit(self, X, y, *, problem: Problem, cost: Cost, noise: Noise, **options) -> Release:
        """Summarise and release rows that are all at hand."""
        summary = self.summarise(X, y, problem)
        return self.conclude(summary, over(X, y), problem, cost, noise, **options)

    def conclude(
        self, summary, total: Callable, problem: Problem, cost: Cost, noise: Noise, **options
    ) -> Release:
        """Release from a summary of all rows, and once more where that is asked for.

        ``total(each)`` is the sum of ``each(X, y)`` over all rows.

        A first release without standard errors remains the only one, and the share that was
        kept is not spent.

        Guarantee. The cost: the second release is private for any value of the first, and
        their costs add up to it.
        """
        again = self._again(problem, options)
        if again is None:
            return self.release(summary, problem, cost, noise, **options)
        first = self.release(summary, problem, cost.part(1 - again.share), noise, **options)
        if "bse" in first.reasons:
            return first
        found = total(again.summary_after(first, problem))
        return again.release(found, first, problem, cost.part(again.share), noise)

    def fit_each(self, X, y, edges, problem, cost: Cost, noise: Noise, **options) -> Releases:
        """:meth:`fit` of every group in one go, by ``release_each``."""
        again = self._again(problem, options)
        if again is None:
            return self.release_each(X, y, edges, problem, cost, noise, **options)
        first = cost.part(1 - again.share)
        releases = self.release_each(X, y, edges, problem, first, noise, **options)
        second = cost.part(again.share)
        return again.release_each(X, y, edges, releases, problem, second, noise)

    def _again(self, problem: Problem, options: dict) -> Again | None:
        """The second release if it is asked for; takes its option out of the others."""
        if self.again is None:
            return None
        value = options.pop(self.again.option, self.options[self.again.option][0])
        return self.again if self.again.asked(value, problem) else None
