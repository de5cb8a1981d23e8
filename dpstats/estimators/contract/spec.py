"""Define what every mechanism is: a frozen description, a summary of rows and a release."""

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpstats.estimators.contract.release import Problem, Release, Releases
from dpstats.noise import Noise
from dpstats.numerics import Layout, Rows
from dpstats.privacy import GDP, ApproxDP, Cost, PureDP


def over(rows: Rows) -> Callable:
    """Return ``total(summary)`` for rows held in memory: it is ``summary(rows)``."""
    return lambda summary: summary(rows)


@dataclass(frozen=True)
class SecondPass:
    """Describe a second release, from the rows and what the first one published.

    Parameters
    ----------
    option : str
        The method's option that asks for it.
    requested : callable
        ``(value of the option, problem) -> bool``.
    fraction : float
        Fraction of the cost that is kept for it.
    summary_after : callable
        ``(first, problem, cost) -> summarise`` for ``summarise(rows)``, whose values for disjoint
        rows add up. What it needs of the first release is computed once for all rows.
    release : callable
        ``(summary, first, problem, cost, noise) -> Release``, where ``first`` has standard errors.
    release_each : callable or None
        ``(rows, edges, first, problem, cost, noise) -> Releases``, as in :class:`Method`.
    """

    option: str
    requested: Callable[[Any, Problem], bool]
    fraction: float
    summary_after: Callable[[Release, Problem, Cost], Callable[[Rows], Any]]
    release: Callable[..., Release]
    release_each: Callable[..., Releases] | None = None


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
    summarise : callable
        ``(rows, problem) -> summary``; summaries of disjoint rows add up.
    release : callable
        ``(summary, problem, cost, noise, **options) -> Release``.
    fixed_size_summary : bool
        Whether the summary is a few sums, of one size for any number of rows; else it holds
        the rows, and these must fit into memory.
    options : mapping
        Name to (default, check); ``check(value)`` returns the value to use or raises
        ArgumentError.
    check : callable
        ``check(problem)`` raises ArgumentError for a problem the method cannot serve.
    check_options : callable
        ``check_options(neighbors, options)`` raises ArgumentError for options that are not proven
        for the relation.
    assumptions : tuple of str
        Sentences the privacy report of every release must carry.
    bounds_share : float
        Fraction of the budget that buys missing bounds.
    ranges_everywhere : bool
        Whether quantile-based ranges suffice, so that columns get one however few the rows.
    widened_ranges : bool
        Whether ranges are estimated such that they hold the tails which noise hides, for a method
        whose fit is bent by rows beyond them.
    release_each : callable or None
        ``(rows, edges, problem, cost, noise, **options) -> Releases``: what ``release``
        would give for the rows ``edges[g]`` to ``edges[g + 1]`` of each group g, in one call.
    each_rows : tuple of int
        The smallest number of rows of a group that ``release_each`` takes under replace-one, and
        the largest; ``release`` serves the others. Where there is a largest, both release the same
        with the same probabilities, so that it tells nothing of a private number of rows.
    each_without : tuple of str
        Options that ``release_each`` does not support: ``release`` serves where one is given.
    finish : callable
        ``(release, problem) -> Release``: what is made of all that was released, such as other
        coefficients where the noise hides a slope. Post-processing.
    finish_each : callable
        The same for all groups, ``(releases, problem) -> Releases``.
    second_pass : SecondPass or None
        A second pass over the rows, which an option asks for.
    companion_share : float
        Fraction of the cost that a companion, the auxiliary fit, takes.
    needs_bounds : bool
        Whether it needs the range of every column; without, ranges left out are neither
        asked for nor estimated but stand at :data:`~dpstats.schema.UNLIMITED`.
    needs_marginals : bool
        Whether it works from estimated distributions of the columns, within declared bounds where
        there are any; it then takes rows as codes of factors and numbers.
    takes_weights : bool
        Whether it serves a problem whose rows have weights.
    takes_units : bool
        Whether it is proven for privacy units of several rows.
    takes_basis : bool
        Whether it takes combinations of the columns that are orthogonal on the public ranges.
    rereads_rows : bool
        Whether ``release`` takes ``total`` after the summary, to sum over the rows again.
    reads_codes : bool
        Whether rows of designs with factors are to be codes and numbers.
    """

    name: str
    paper: str
    guarantee: str
    neighbors: tuple[str, ...]
    single_regressor: bool
    standard_errors: str
    summarise: Callable[[Rows, Problem], Any]
    release: Callable[..., Release]
    fixed_size_summary: bool = False
    options: Mapping[str, tuple[Any, Callable[[Any], Any]]] = field(default_factory=dict)
    check: Callable[[Problem], None] = lambda problem: None
    check_options: Callable[[str, Mapping], None] = lambda neighbors, options: None
    assumptions: tuple[str, ...] = ()
    bounds_share: float = 0.2
    ranges_everywhere: bool = False
    widened_ranges: bool = False
    release_each: Callable[..., Releases] | None = None
    each_rows: tuple[int, int] = (2, sys.maxsize)
    each_without: tuple[str, ...] = ()
    finish: Callable[[Release, Problem], Release] = lambda release, problem: release
    finish_each: Callable[[Releases, Problem], Releases] = lambda releases, problem: releases
    second_pass: SecondPass | None = None
    companion_share: float = 0.0
    needs_bounds: bool = True
    needs_marginals: bool = False
    takes_weights: bool = False
    takes_units: bool = False
    takes_basis: bool = False
    rereads_rows: bool = False
    reads_codes: bool = False

    def takes_codes(self, layout: Layout, row_norm: float | None = None) -> bool:
        """Tell whether the rows of designs with a layout are to be codes and numbers."""
        with_factors = bool(layout.blocks) and row_norm is None
        return self.needs_marginals or (self.reads_codes and with_factors)

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

    def fit(self, rows: Rows, *, problem: Problem, cost: Cost, noise: Noise, **options) -> Release:
        """Summarise rows held in memory and release the fit."""
        summary = self.summarise(rows, problem)
        return self.conclude(summary, over(rows), problem, cost, noise, **options)

    def conclude(
        self, summary, total: Callable, problem: Problem, cost: Cost, noise: Noise, **options
    ) -> Release:
        """Release from a summary of all rows, and a second time where an option asks for it.

        ``total(summary)`` is the sum of ``summary(rows)`` over all rows.

        A first release without standard errors remains the only one, and the fraction that was
        kept is not spent.

        Guarantee. The cost: the second release is private for any value of the first, and
        their costs add up to it.
        """
        release = self._passes(summary, total, problem, cost, noise, options)
        return self.finish(release, problem)

    def _passes(
        self, summary, total: Callable, problem: Problem, cost: Cost, noise: Noise, options: dict
    ) -> Release:
        """Release once, or a second time where an option asks for it."""
        second = self._second_pass(problem, options)
        if second is None:
            sums = (summary, total) if self.rereads_rows else (summary,)
            return self.release(*sums, problem, cost, noise, **options)
        first = self.release(summary, problem, cost.part(1 - second.fraction), noise, **options)
        if "bse" in first.reasons:
            return first
        second_cost = cost.part(second.fraction)
        second_summary = total(second.summary_after(first, problem, second_cost))
        return second.release(second_summary, first, problem, second_cost, noise)

    def fit_each(self, rows: Rows, edges, problem, cost: Cost, noise: Noise, **options) -> Releases:
        """Fit every group as :meth:`fit` does, all in one call, by ``release_each``."""
        releases = self._passes_each(rows, edges, problem, cost, noise, options)
        return self.finish_each(releases, problem)

    def _passes_each(
        self, rows: Rows, edges, problem, cost: Cost, noise: Noise, options
    ) -> Releases:
        """Release every group once, or a second time where an option asks for it."""
        second = self._second_pass(problem, options)
        assert self.release_each is not None, "callers ask whether there is one"
        if second is None:
            return self.release_each(rows, edges, problem, cost, noise, **options)
        first_cost = cost.part(1 - second.fraction)
        first = self.release_each(rows, edges, problem, first_cost, noise, **options)
        second_cost = cost.part(second.fraction)
        assert second.release_each is not None, "a method that fits groups together has both"
        return second.release_each(rows, edges, first, problem, second_cost, noise)

    def _second_pass(self, problem: Problem, options: dict) -> SecondPass | None:
        """Return the second pass if it is requested; take its option out of the others."""
        second = self.second_pass
        if second is None:
            return None
        value = options.pop(second.option, self.options[second.option][0])
        return second if second.requested(value, problem) else None
