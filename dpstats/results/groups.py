"""Hold private regressions by group."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from dpstats.atomic_write import replacing
from dpstats.errors import ArgumentError, NotReleasedError
from dpstats.formula import Formula
from dpstats.inference import Sums, Uncertainty, uncertainty
from dpstats.option_checks import checked_alpha
from dpstats.privacy import PrivacyReport
from dpstats.request.group_labels import columns_of, label_columns
from dpstats.results.error_bounds import checked_q, checked_trials, from_reference, from_sums
from dpstats.schema import Schema


@dataclass(frozen=True, repr=False)
class DPGroupResults:
    """Hold private regressions by group; every requested group is present.

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
    stack : mapping of str to numpy.ndarray, shape (G, ...)
        Released numbers and public facts for inference, by name.
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
    cov_type : str
        "nonrobust" or "HC1", as in statsmodels: whether errors are taken as of one variance.
    labels_present : bool
        Whether the labels were read off the data, which makes them public.
    """

    by: str | tuple[str, ...]
    labels: tuple
    formula: str
    method: str
    names: tuple[str, ...]
    estimates: np.ndarray
    stack: Mapping[str, np.ndarray]
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

    @property
    def method_report(self) -> str:
        """Explain which method ``method="auto"`` chose and why."""
        return self.plan

    @property
    def frame(self) -> pd.DataFrame:
        """Tabulate a row per group and quantity (tidy).

        Columns: by, ``term``, ``estimate``, ``std_error``, ``lower`` and ``upper`` (the 95%
        interval; infinite where the noise could account for the estimate) and ``status``.
        """
        return self.conf_int().assign(status=np.repeat(self.statuses, len(self.names)))

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Tabulate intervals of level 1 - alpha of every quantity, as :attr:`frame` does."""
        terms = len(self.names)
        ends = self.uncertainty.intervals(self._rows(), checked_alpha(alpha))
        return pd.DataFrame(
            {
                **{name: column.repeat(terms) for name, column in self._labels().items()},
                "term": list(self.names) * len(self.labels),
                "estimate": self.estimates.ravel(),
                "std_error": self.errors.ravel(),
                "lower": ends[..., 0].ravel(),
                "upper": ends[..., 1].ravel(),
            }
        )

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
        q, trials = checked_q(q), checked_trials(trials)
        if reference is not None and not {*columns_of(self.by)} <= {*reference}:
            raise ArgumentError(f"expected reference to have the group column {self.by!r}")
        bounds = [self._error_bound(g, q, reference, trials, options) for g in range(len(self))]
        return pd.DataFrame(
            {
                **{name: column.repeat(len(self.names)) for name, column in self._labels().items()},
                "term": list(self.names) * len(self),
                "error_bound": np.concatenate([*bounds, np.zeros(0)]),
            }
        )

    def _error_bound(self, g: int, q, reference, trials, options) -> np.ndarray:
        """Bound the errors of one group's quantities, (S + q,)."""
        params = self.estimates[g, : self.size]
        sums = None if "companion" in self.stack else Sums.of(self.stack, g)
        if sums is not None and reference is None:
            return from_sums(sums, self._rows(), q, trials)
        if np.isnan(params).any():
            return np.full(len(self.names), np.nan)
        group = None if reference is None else reference[self._has_label(reference, g)]
        return from_reference(self, params, group, self._rows(), None, q, trials, options)

    def _has_label(self, table: pd.DataFrame, g: int) -> np.ndarray:
        """Mark the rows of a table that belong to group number g."""
        label = [self.labels[g]] if isinstance(self.by, str) else self.labels[g]
        pairs = zip(columns_of(self.by), label, strict=True)
        return np.logical_and.reduce([table[name] == value for name, value in pairs])

    @cached_property
    def uncertainty(self) -> Uncertainty:
        """Derive from the releases the distributions of their errors."""
        return uncertainty(self.stack)

    @cached_property
    def errors(self) -> np.ndarray:
        """Compute standard errors of all quantities, (G, S + q); NaN where there is none."""
        return self.uncertainty.errors(self._rows())

    @cached_property
    def statuses(self) -> tuple[str, ...]:
        """List by group "ok", a released failure, or "not_identified" (unbounded intervals)."""
        pairs = zip(self.released, self.uncertainty.unbounded, strict=True)
        return tuple("not_identified" if s == "ok" and wide else s for s, wide in pairs)

    def _rows(self) -> np.ndarray:
        """Write all quantities as combinations of the coefficients, (S + q, S)."""
        return np.vstack([np.eye(self.size), self.x_new])

    @property
    def params(self) -> pd.DataFrame:
        """Tabulate coefficients, a row per group."""
        return self._wide(self.estimates, slice(None, self.size))

    @property
    def bse(self) -> pd.DataFrame:
        """Tabulate standard errors of the coefficients, a row per group."""
        return self._wide(self.errors, slice(None, self.size))

    @property
    def predictions(self) -> pd.DataFrame:
        """Tabulate predictions at x_new, a row per group."""
        return self._wide(self.estimates, slice(self.size, None))

    @property
    def status(self) -> pd.Series:
        """Return by group "ok", a released failure, or "not_identified"."""
        return pd.Series(self.statuses, self._index(), name="status")

    @property
    def p25(self) -> pd.Series:
        """Return the prediction at 25% of the range of the only regressor, by group."""
        return self._point("p25")

    @property
    def p75(self) -> pd.Series:
        """Return the prediction at 75% of the range of the only regressor, by group."""
        return self._point("p75")

    def to_csv(self, path) -> None:
        """Write :attr:`frame` to a CSV file, which appears whole or not at all."""
        with replacing(path) as temporary:
            self.frame.to_csv(temporary, index=False)

    def record(self, path, publication=None):
        """Write this release as a folder for output checkers, archives and registries.

        See :func:`dpstats.results.record.write_record` for the files, the parameters and what is
        raised; ``dpstats verify`` checks such a folder later.
        """
        from dpstats.results.record import write_record

        return write_record({str(self.formula): self}, path, publication)

    def summary(self) -> str:
        """Summarise as text: counts by status, percentiles over the groups, the privacy block."""
        from dpstats.results.summary import summarise_groups

        return summarise_groups(self)

    def plot(self, ax=None):
        """Draw p25 against p75 over the groups; needs matplotlib."""
        from dpstats.results.plot import groups

        return groups(self, ax)

    def __repr__(self) -> str:
        return self.summary()

    def __len__(self) -> int:
        return len(self.labels)

    def _labels(self) -> dict:
        """Return a column of labels for each group column."""
        return label_columns(self.by, self.labels)

    def _index(self) -> pd.Index:
        """Index tables by group label."""
        if isinstance(self.by, str):
            return pd.Index(self.labels, name=self.by, tupleize_cols=False)
        return pd.MultiIndex.from_tuples(self.labels, names=self.by)

    def _wide(self, values: np.ndarray, columns: slice) -> pd.DataFrame:
        """Tabulate some columns of values (G, S + q) by group."""
        return pd.DataFrame(values[:, columns], self._index(), self.names[columns])

    def _point(self, label: str) -> pd.Series:
        """Return the predictions at a labelled point, NaN where they need absorbed effects."""
        if Formula.parse(self.formula).absorbed is not None:
            return pd.Series(np.nan, self._index())
        if label not in self.predictions:
            raise NotReleasedError(
                f"{label} exists for one numeric regressor and the default x_new; pass x_new= as "
                'a data frame with the index ["p25", "p75"]'
            )
        return self.predictions.loc[:, label]
