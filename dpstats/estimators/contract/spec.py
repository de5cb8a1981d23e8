"""Define what every mechanism is: a frozen description and a release from passes over rows."""

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpstats.estimators.contract.release import Problem, Releases
from dpstats.numerics import Layout
from dpstats.privacy import GDP, ApproxDP, Cost, PureDP


@dataclass(frozen=True)
class Ranges:
    """State what a method needs to know of where values lie.

    Parameters
    ----------
    share : float
        Fraction of the budget that buys missing bounds.
    everywhere : bool
        Whether quantile-based ranges suffice, so that columns get one however few the rows.
    widened : bool
        Whether ranges are estimated such that they hold the tails which noise hides, for a method
        whose fit is bent by rows beyond them.
    needed : bool
        Whether it needs the range of every column; without, ranges left out are neither
        asked for nor estimated but stand at :data:`~dpstats.schema.UNLIMITED`.
    marginals : bool
        Whether it works from estimated distributions of the columns, within declared bounds where
        there are any; it then takes rows as codes of factors and numbers.
    response : float
        How many times the budget of a regressor's distribution the response's takes then; 0 leaves
        it out.
    lognormal_tails : bool
        Whether tails that noise hides, the response's too, go on as lognormal ones; else those of
        columns that are seen to have one go on as power laws.
    grouped : float, optional
        The fraction ``share`` for groups, which share what it buys.
    """

    share: float = 0.2
    everywhere: bool = False
    widened: bool = False
    needed: bool = True
    marginals: bool = False
    response: float = 1.0
    lognormal_tails: bool = False
    grouped: float | None = None

    def bought(self, grouped: bool) -> float:
        """Return the fraction of the budget that buys missing bounds, for groups or one fit."""
        return self.share if self.grouped is None or not grouped else self.grouped


@dataclass(frozen=True)
class Each:
    """Release many groups in one call, as ``release`` does one by one.

    Parameters
    ----------
    release : callable
        ``(rows, edges, problem, cost, noise, **options) -> Releases``: what the method's release
        would give for the rows ``edges[g]`` to ``edges[g + 1]`` of each group g.
    sizes : tuple of int
        The smallest number of rows of a group that it takes under replace-one, and the largest;
        the method's release serves the others. Where there is a largest, both release the same
        with the same probabilities, so that it tells nothing of a private number of rows.
    without : tuple of str
        Options that it does not support: the method's release serves where one is given.
    """

    release: Callable[..., Releases]
    sizes: tuple[int, int] = (2, sys.maxsize)
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Method:
    """Describe one mechanism and what is proven about it.

    Parameters
    ----------
    name, paper : str
    guarantee : str
        ``"pure"`` (delta = 0), ``"gdp"`` or ``"approx"`` (delta > 0), or ``"zcdp"``:
        the epsilon asked for means rho = epsilon^2 / 2.
    neighbors : tuple of str
        Proven relations, the default first.
    single_regressor : bool
        Whether it fits an intercept and one numeric column only.
    standard_errors : str
        What the standard errors are, or why there are none.
    release : callable
        ``(passes, problem, cost, noise, **options) -> Release``, or a tuple of them of a method
        for several responses, where ``passes.sum`` is all that
        is seen of rows (:class:`~dpstats.estimators.contract.passes.Passes`).
    fixed_size_summary : bool
        Whether each sum is of one size for any number of rows; else one holds the rows, and these
        must fit into memory. Those of an absorbed column may come by label instead.
    options : mapping
        Name to (default, check); ``check(value)`` returns the value to use or raises
        ArgumentError.
    check : callable
        ``check(problem, options)`` raises ArgumentError for what the method cannot serve, such as
        options that are not proven for the relation.
    assumptions : tuple of str
        Sentences the privacy report of every release must carry.
    ranges : Ranges
    takes : frozenset of str
        What it serves beside plain rows: ``"weights"``, ``"units"`` (privacy units of several
        rows), ``"basis"`` (combinations of the columns that are orthogonal on the public ranges),
        ``"codes"`` (rows of designs with factors as codes and numbers), ``"clusters"`` (standard
        errors clustered by a column that is not the unit), ``"absorbed clusters"`` (by the column
        that is absorbed).
    each : Each or None
    binary : bool
        Whether the response has two outcomes, which count as 0 and 1.
    counts : bool
        Whether the response is a number from 0 on, so that a negative one is missing.
    instrumental : bool
        Whether it fits an endogenous regressor with instruments.
    """

    name: str
    paper: str
    guarantee: str
    neighbors: tuple[str, ...]
    single_regressor: bool
    standard_errors: str
    release: Callable[..., Any]
    fixed_size_summary: bool = False
    options: Mapping[str, tuple[Any, Callable[[Any], Any]]] = field(default_factory=dict)
    check: Callable[[Problem, Mapping[str, Any]], None] = lambda problem, options: None
    assumptions: tuple[str, ...] = ()
    ranges: Ranges = Ranges()
    takes: frozenset[str] = frozenset()
    each: Each | None = None
    binary: bool = False
    counts: bool = False
    instrumental: bool = False

    def takes_codes(self, layout: Layout, row_norm: float | None = None) -> bool:
        """Tell whether the rows of designs with a layout are to be codes and numbers."""
        with_factors = bool(layout.blocks) and row_norm is None
        return self.ranges.marginals or ("codes" in self.takes and with_factors)

    def cost(self, epsilon: float, delta: float) -> Cost:
        """Return the cost that makes the release (epsilon, delta)-DP, or (epsilon^2 / 2)-zCDP.

        Gaussian noise that is mu-GDP is (mu^2 / 2)-zCDP (Bun and Steinke 2016, Proposition
        1.6, for a standard deviation of l2 / mu), so there mu = epsilon.
        """
        if self.guarantee == "pure":
            return PureDP(epsilon)
        if self.guarantee == "zcdp":
            return GDP(epsilon)
        return GDP.of(epsilon, delta) if self.guarantee == "gdp" else ApproxDP(epsilon, delta)

    def share(self, epsilon: float, delta: float, parts: int) -> tuple[float, float]:
        """Return (epsilon, delta) for each of ``parts`` calls that together cost as one does.

        Each has the same part of :meth:`cost`. Under mu-GDP a part has mu / sqrt(parts) and the
        same delta; its epsilon is rounded down by more than the error of the conversion.
        """
        if parts == 1:
            return epsilon, delta
        if self.guarantee in ("pure", "approx"):
            return epsilon / parts, delta / parts
        if self.guarantee == "zcdp":
            return epsilon / math.sqrt(parts), delta
        return self.cost(epsilon, delta).part(1 / parts).guarantee(delta)[0] * (1 - 1e-7), delta

    def promise(self, epsilon: float, delta: float) -> tuple[float, float]:
        """Return (epsilon, delta) of the release: as requested, or what zCDP implies at delta.

        The relative margin exceeds the error of the conversion.
        """
        if self.guarantee != "zcdp":
            return epsilon, delta
        implied, delta = self.cost(epsilon, delta).guarantee(delta)
        return implied * (1 + 1e-8), delta
