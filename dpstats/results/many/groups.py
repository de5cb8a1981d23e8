"""Hold private regressions by group."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError, shown
from dpstats.escaping import save_csv
from dpstats.evidence import Stack
from dpstats.privacy import PrivacyReport
from dpstats.results.many.group_error_bounds import group_error_bounds
from dpstats.results.many.group_inference import GroupInference
from dpstats.results.many.group_member import member
from dpstats.results.many.shrunken_groups import ShrunkenGroups, shrink_groups
from dpstats.results.one import DPResults
from dpstats.results.one.other_names import refusal
from dpstats.results.record import Published
from dpstats.results.show.plot_method import plot_method
from dpstats.results.store.groups import group_fields, groups_to_dict
from dpstats.results.store.shapes import GROUPS
from dpstats.schema import Numeric, Schema

# So many labels are named in an error.
_LISTED = 5


@dataclass(frozen=True, repr=False, eq=False)
class DPGroupResults(Published, GroupInference):
    """Hold private regressions by group; every requested group is present.

    It is used like a mapping from labels to fits: ``by[label]``, ``label in by``, ``by.items()``.

    Parameters
    ----------
    by : str or tuple of str
        Name of the group column, or names of several.
    labels : tuple
        The G group labels; tuples where there are several columns.
    formula, method : str
    names : tuple of str
        The S coefficients and then the q prediction points.
    estimates : numpy.ndarray, shape (G, S + q)
        Released values, NaN where there is none.
    stack : Stack
        What intervals are about: coefficients, covariances and evidence of all groups.
    x_new : numpy.ndarray, shape (q, S)
        Design rows of the prediction points.
    released : tuple of str
        ``"ok"`` or the released failure of each group.
    reasons : tuple of str
        The reasons for NaN that occur.
    size : int
        Number of coefficients S.
    schema, term_bounds : mapping
        The public schema the design was built on.
    privacy : PrivacyReport
        Holds for the whole table: the groups share no row. Of each step the event with
        the most noise over the groups is listed.
    selected : tuple of str or None
        Terms kept by ``select=``, chosen once for all groups, in the order of their choice.
    share : float
        Fraction of each group's budget that the method itself got.
    plan : str
        Which method ``"auto"`` chose and why, and notes on estimated ranges.
    cov_type : str
        "nonrobust" (errors of one variance), "HC1" or "cluster", as in statsmodels.
    labels_present : bool
        Whether the labels were read off the data, which makes them public.
    sizes : numpy.ndarray, shape (G,), or None
        Number of complete rows of each group, with units that of the units, where it is public
        (replace-one), else None.
    clipping, estimated
        As in :class:`DPResults`: ranges that values were clipped to, and estimated ranges.
    limited : bool
        Whether predictions are of clipped rows and lie in the range of the response.

    Examples
    --------
    >>> import dpstats as dp
    >>> df = dp.simulate.line(3000, x_sd=0.2, seed=1).assign(area=["a", "b", "c"] * 1000)
    >>> with dp.testing.insecure_seed(1):
    ...     by = dp.dp_ols("y ~ x", df, by="area", groups=["a", "b", "c"], method="noisy_moments",
    ...                    epsilon=8, bounds={"x": (0, 1), "y": (0, 1)})
    >>> by["a"].params.round(1).to_dict()
    {'Intercept': 0.2, 'x': 0.5}
    >>> by.predict({"x": [0, 1]}).shape, by.nobs.tolist()
    ((3, 2), [1000, 1000, 1000])
    >>> bool(by.t_test("x = 0.5").loc[("a", "c0"), "coef"] == by.params.loc["a", "x"])
    True
    >>> dp.DPGroupResults.from_json(by.to_json()).frame.equals(by.frame)
    True
    """

    _shape = GROUPS

    by: str | tuple[str, ...]
    labels: tuple
    formula: str
    method: str
    names: tuple[str, ...]
    estimates: np.ndarray
    stack: Stack
    x_new: np.ndarray
    released: tuple[str, ...]
    reasons: tuple[str, ...]
    size: int
    schema: Schema
    term_bounds: Mapping[str, tuple[float, float]]
    privacy: PrivacyReport
    selected: tuple[str, ...] | None = None
    plan: str = ""
    share: float = 1.0
    cov_type: str = "nonrobust"
    labels_present: bool = False
    sizes: np.ndarray | None = None
    clipping: Mapping[str, Numeric] = field(default_factory=dict)
    estimated: tuple[str, ...] = ()
    limited: bool = False

    @property
    def method_report(self) -> str:
        """Explain which method ``method="auto"`` chose and why."""
        return self.plan

    def error_bound(
        self, q: float = 68, *, reference=None, trials: int = 400, **options
    ) -> pd.DataFrame:
        """Bound the distance of each group's release from least squares on the group's rows.

        As :meth:`DPResults.error_bound`, group by group: from released sums, or from the
        rows of ``reference``, a data frame, that carry the group's label.

        Returns
        -------
        pandas.DataFrame
            Tidy; columns: by, ``term`` and ``error_bound``, NaN where nothing was released or
            the reference has no rows.
        """
        rows = self._rows()
        bounds = group_error_bounds(self, rows, q, reference, trials, options)
        return pd.DataFrame({**self._long(self.names), "error_bound": bounds.ravel()})

    def shrink(self, term: str, alpha: float = 0.05) -> ShrunkenGroups:
        """Shrink the estimates of a term toward the mean of the groups; costs no budget.

        The estimator is the empirical Bayes one for normal means, which for equal standard errors
        is that of James and Stein: see :func:`dpstats.inference.empirical_bayes.normal_posterior`
        for the formulas and sources. On average over the groups it is closer to the true values
        than the released estimates, most where noise is large beside the differences of groups; a
        group unlike the others may be farther off. Its assumptions are printed below its table.

        Parameters
        ----------
        term : str
            A coefficient or a prediction point, such as ``"p25"``.
        alpha : float
            One minus the level of the intervals.

        Returns
        -------
        ShrunkenGroups
            Its ``frame`` has a row per group, NaN where a group has no standard error or is not
            identified. Where an auxiliary fit supplies the intervals, its estimates are shrunken.

        Raises
        ------
        ArgumentError
            For an unknown term, or unless 0 < alpha < 1.
        NotReleasedError
            Where fewer than four groups have a standard error.

        Examples
        --------
        >>> import dpstats as dp
        >>> atlas = dp.simulate.atlas(tracts=50, seed=1)
        >>> by = dp.dp_ols("kid_rank ~ parent_rank", atlas, by="tract", method="noisy_moments",
        ...                epsilon=16, bounds={"kid_rank": (0, 1), "parent_rank": (0, 1)})
        >>> frame = by.shrink("p25").frame
        >>> bool(frame["shrunken"].std() < frame["estimate"].std())
        True
        """
        return shrink_groups(self, term, alpha)

    def to_csv(self, path) -> None:
        """Write :attr:`frame` to a CSV file, which appears whole or not at all."""
        save_csv(self.frame, path)

    def to_dict(self) -> dict:
        """Convert the result to numbers, labels, strings, lists and dicts; NaN becomes None."""
        return groups_to_dict(self)

    @classmethod
    def _fields(cls, content: Mapping) -> dict[str, Any]:
        return group_fields(content)

    def _derived(self) -> tuple:
        points = len(self.names) - self.size
        by_group = [self.estimates, self.released, self.stack.params, self.stack.cov]
        by_group += self.stack.evidence.values().values()
        by_group += [] if self.sizes is None else [self.sizes]
        if len(self.x_new) != points or any(len(values) != len(self) for values in by_group):
            raise ValueError("the number of groups or of points")
        first = [self[label]._derived() for label in self.labels[:1]]
        return self.errors, *first

    def summary(self) -> str:
        """Summarise as text: counts by status, percentiles over the groups, the privacy block."""
        from dpstats.results.show.group_summary import summarise_groups

        return summarise_groups(self)

    @plot_method
    def plot(self, ax=None):
        """Draw p25 against p75 over the groups; needs matplotlib."""
        from dpstats.results.show.group_plot import groups

        return groups(self, ax)

    @plot_method
    def map(self, shapes, term: str, on=None, ax=None):
        """Colour the shapes of groups by their estimates; needs geopandas and matplotlib.

        Groups that are not identified are hatched, since the noise may account for all of their
        estimate; those that were not released are crossed out. The colours span the estimates
        within three interquartile ranges of the quartiles, and the ends of the scale stand for the
        values beyond.

        Parameters
        ----------
        shapes : geopandas.GeoDataFrame
            Public shapes; several may have one label. Those of no group are white.
        term : str
            A coefficient or a prediction point, such as ``"p25"``.
        on : str or list of str, optional
            The columns of ``shapes`` that hold the labels; by default those named as in ``by``.
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes

        Raises
        ------
        ArgumentError
            For an unknown term or column, shapes of another type, or where no label agrees.
        """
        from dpstats.results.show.group_map import draw_map

        return draw_map(self, shapes, term, on, ax)

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        from dpstats.results.show.group_summary import groups_html

        return groups_html(self)

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator:
        """Iterate over the labels, as a mapping does."""
        return iter(self.labels)

    def __getitem__(self, label) -> DPResults:
        """Return one group as the result of a fit of its own.

        Its guarantee is that of the whole table. ``reasons`` are those of all groups.

        Raises
        ------
        ArgumentError
            For a label that is not among ``labels``.
        """
        number = self._number(label)
        if number is None:
            listed = ", ".join(map(repr, self.labels[:_LISTED]))
            more = ", ..." if len(self) > _LISTED else ""
            raise ArgumentError(f"there is no group {shown(label)} among {listed}{more}")
        return self._member(number)

    def _member(self, number: int) -> DPResults:
        """Return the group of this number as a result of its own."""
        return member(self, number)

    def __getattr__(self, name: str):
        raise refusal(self, name)

    def __contains__(self, label) -> bool:
        return self._number(label) is not None

    def _number(self, label) -> int | None:
        """Return the place of a label, None of what is none."""
        try:
            return self._numbers.get(label)
        except TypeError:  # a list or a frame is no key
            return None

    def keys(self) -> Iterator:
        """Iterate over the labels, as a mapping does."""
        return iter(self.labels)

    def items(self) -> Iterator[tuple[Any, DPResults]]:
        """Iterate over labels and groups, as a mapping does."""
        return ((label, self[label]) for label in self.labels)

    @cached_property
    def _numbers(self) -> dict:
        """Return the number of each group by its label."""
        return {label: g for g, label in enumerate(self.labels)}
