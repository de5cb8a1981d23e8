"""Hold the result of one fit: releases and public facts, under statsmodels' names."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpstats.estimators.contract import Release
from dpstats.formula import Design
from dpstats.privacy import PrivacyReport
from dpstats.results.one.other_names import refusal
from dpstats.results.one.tables_mixin import Tabulated
from dpstats.results.record import Published
from dpstats.results.show.plot_method import plot_method
from dpstats.results.store.shapes import SINGLE
from dpstats.results.store.single import fields_of, to_plain
from dpstats.schema import Numeric, Schema
from dpstats.spelling import refuse_others


@dataclass(frozen=True, repr=False, eq=False)
class DPResults(Published, Tabulated):
    """Hold a private regression: released numbers, public facts and the privacy report.

    It holds no row of the data and nothing computed from the data without noise, so it
    may be printed, pickled and published. Quantities that were not released are NaN, and
    ``reasons`` says why.

    Attributes
    ----------
    formula, method, status : str
        ``status`` is ``"ok"`` where every slope has a bounded interval or the method has none at
        all, ``"imprecise"`` where some slope has an unbounded one or the noise is large,
        ``"not_identified"`` where no slope has a bounded one, or another released outcome.
    release : Release
        Coefficients, predictions and covariance as released.
    names : tuple of str
        Design columns, in the order of ``params``.
    points : tuple of str
        Labels of the prediction points.
    x_new : numpy.ndarray, shape (q, S)
        Their design rows.
    public_rows : int or None
        Number of complete rows where it is public (replace-one), else None; ``nobs`` is the
        released number where it is not.
    schema, term_bounds : mapping
        The public schema the design was built on.
    privacy : PrivacyReport
    selected : tuple of str or None
        Terms kept by ``select=``, in the order of their choice; ``formula`` holds only these.
    plan : str
        Which method ``"auto"`` chose and why, and notes on estimated ranges.
    share : float
        Fraction of the budget that the method itself got, beside ranges, terms and an auxiliary
        fit.
    clipping : mapping
        Ranges that values of some variables were clipped to, where not those of ``schema``.
    estimated : tuple of str
        Variables whose ranges in ``schema`` were estimated.
    rows_seen : tuple of two floats, or None
        The number of rows as released with the ranges, and its standard deviation.

    Examples
    --------
    >>> import dpstats as dp
    >>> df = dp.simulate.line(2000, seed=1)
    >>> with dp.testing.insecure_seed(1):
    ...     res = dp.dp_ols("y ~ x", df, method="exp_theil_sen", epsilon=8,
    ...                     bounds={"x": (0, 1), "y": (0, 1)})
    >>> round(res.p75 - res.p25, 1)
    0.2
    >>> dp.DPResults.from_json(res.to_json()).params.equals(res.params)
    True
    """

    _shape = SINGLE

    formula: str
    method: str
    release: Release
    names: tuple[str, ...]
    points: tuple[str, ...]
    x_new: np.ndarray
    public_rows: int | None
    schema: Schema
    term_bounds: Mapping[str, tuple[float, float]]
    privacy: PrivacyReport
    selected: tuple[str, ...] | None = None
    plan: str = ""
    share: float = 1.0
    clipping: Mapping[str, Numeric] = field(default_factory=dict)
    estimated: tuple[str, ...] = ()
    rows_seen: tuple[float, float] | None = None

    @property
    def method_report(self) -> str:
        """Explain which method ``method="auto"`` chose and why, with the notes of the release."""
        companion = self.release.companion
        notes = self.plan, self.release.note, companion and companion.note
        return "; ".join(filter(None, notes))

    @property
    def limits(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the bounds (S,) that design rows are clipped to in predictions, or None.

        A fit of ``shrunken`` saw rows clipped to these bounds; so do its predictions.
        """
        if not self.release.limited:
            return None
        design = self.design()
        return design.low, design.high

    @property
    def response_range(self) -> tuple[float, float]:
        """Return the ends of the range that predictions keep to, infinite where there is none."""
        if self.release.limited:
            low, high = self.design().response_bounds
            return low, high
        known = self.release.evidence.response_range
        low, high = (-np.inf, np.inf) if known is None else known.tolist()
        first, last = self.declared_range
        return max(low, first), min(high, last)

    @property
    def declared_range(self) -> tuple[float, float]:
        """Return the declared bounds of the response, infinite where its range was estimated."""
        return self.design().response_ends(self.estimated)

    def design(self) -> Design:
        """Build the design of the formula from the public schema."""
        return self._learned_design

    @cached_property
    def _learned_design(self) -> Design:
        return self.parsed_formula.design(self.schema, self.term_bounds, self.clipping)

    @property
    def p25(self) -> float:
        """Return the prediction at 25% of the declared range of the only regressor.

        NaN with a reason where it needs an absorbed effect, as :meth:`predict` says.
        """
        return self._point("p25")

    @property
    def p75(self) -> float:
        """Return the prediction at 75% of the declared range of the only regressor."""
        return self._point("p75")

    def _point(self, label: str) -> float:
        """Return the prediction at a labelled point, NaN where it needs an absorbed effect."""
        if self._absorbs:
            return float("nan")
        if label not in self.points:
            raise AttributeError(label)  # Python then asks __getattr__, which gives the reason
        return float(self.release.predictions[self.points.index(label)])

    def __getattr__(self, name: str):
        raise refusal(self, name)

    def summary(self, alpha: float = 0.05, **others):
        """Build a statsmodels Summary with a privacy block; print it or call ``as_latex()``."""
        refuse_others("summary", others, "dpstats.compare(result, labels={...}) names terms anew")
        from dpstats.results.show.summary import summarise

        return summarise(self, alpha)

    def __repr__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()

    @plot_method
    def plot(self, ax=None):
        """Draw the line of one numeric regressor, else the coefficients; needs matplotlib.

        The line is over the declared range, with its pointwise 95% interval. Coefficients, of any
        number, have their 95% intervals; those of a line are drawn by ``compare(fit).plot()``.
        """
        from dpstats.results.show.coefficient_plot import coefficients
        from dpstats.results.show.plot import has_line, line

        return line(self, ax) if has_line(self) else coefficients(self, ax)

    def to_dict(self) -> dict:
        """Convert the result to plain numbers, strings, lists and dicts; NaN becomes None."""
        return to_plain(self)

    @classmethod
    def _fields(cls, content: Mapping) -> dict[str, Any]:
        return fields_of(content)

    def _derived(self) -> tuple:
        if self.design().names != self.names:
            raise ValueError("the schema, whose levels and columns params are of,")
        predicted = self.response_range, self.prediction_intervals()
        return self.cov_params(), self.bse, self.fit_statistics, *predicted
