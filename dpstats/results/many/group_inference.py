"""Compute standard errors, intervals, tests and predictions of groups from their releases."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from dpstats.evidence import Evidence, LinkEvidence, Stack
from dpstats.formula import Design, Formula, linear_constraints
from dpstats.inference import Uncertainty, slopes_of, statuses
from dpstats.option_checks import checked_alpha, flag
from dpstats.privacy import PrivacyReport
from dpstats.results.one import DPResults
from dpstats.results.one.inference_mixin import by_t
from dpstats.results.one.offsets import added_to
from dpstats.results.one.prediction_mixin import WHICH, held
from dpstats.results.one.tables_mixin import TIDY, facts
from dpstats.rows.group_labels import columns_of, label_columns
from dpstats.schema import Numeric, Schema
from dpstats.spelling import check_word


class GroupInference(ABC):
    """Compute tables about all groups at once, under the names of a single fit.

    It is the part of :class:`~dpstats.results.many.groups.DPGroupResults` that reads released
    numbers and public facts, and never the data.
    """

    by: str | tuple[str, ...]
    labels: tuple
    formula: str
    names: tuple[str, ...]
    estimates: np.ndarray
    stack: Stack
    x_new: np.ndarray
    released: tuple[str, ...]
    size: int
    schema: Schema
    term_bounds: Mapping[str, tuple[float, float]]
    clipping: Mapping[str, Numeric]
    estimated: tuple[str, ...]
    limited: bool
    sizes: np.ndarray | None
    privacy: PrivacyReport

    @abstractmethod
    def _member(self, number: int) -> DPResults:
        """Return the group of this number as a result of its own."""

    @cached_property
    def parsed_formula(self) -> Formula:
        """Return the formula as parsed."""
        return Formula.parse(self.formula)

    @cached_property
    def uncertainty(self) -> Uncertainty:
        """Derive from the releases the distributions of their errors."""
        return self.stack.uncertainty()

    @property
    def evidence(self) -> Evidence:
        """Return what the groups released beyond coefficients and their covariances."""
        return self.stack.evidence

    @property
    def centers(self) -> np.ndarray:
        """Compute the estimates that standard errors are about, (G, S + q).

        They are :attr:`estimates`, unless an auxiliary fit supplies the intervals or predictions
        were clipped.
        """
        centers = self._predictors(self._rows())
        centers[:, self.size :] = self.evidence.means(centers[:, self.size :])
        return centers

    @cached_property
    def errors(self) -> np.ndarray:
        """Compute standard errors of all quantities, (G, S + q); NaN where there is none."""
        errors = self.uncertainty.errors(self._rows())
        errors[:, self.size :] *= self.evidence.slopes(self._predictors(self.x_new))
        return errors

    def _predictors(self, rows: np.ndarray) -> np.ndarray:
        """Return linear predictors (G, m) at design rows (m, S), which intervals are about."""
        return self.stack.params @ rows.T

    @cached_property
    def statuses(self) -> tuple[str, ...]:
        """List by group "ok", a released outcome, or which slopes have a bounded interval.

        See :func:`dpstats.inference.statuses`.
        """
        slopes = slopes_of(self.size, self.parsed_formula.intercept)
        return statuses(self.released, self.uncertainty.unbounded_at(slopes))

    def _rows(self) -> np.ndarray:
        """Write all quantities as combinations of the coefficients, (S + q, S)."""
        return np.vstack([np.eye(self.size), self.x_new])

    @property
    def nobs(self) -> pd.Series | None:
        """Return the number of complete rows, or units, by group, as ``by[label].nobs`` does.

        Exact where it is public, else as released, with noise, and None where no group has one.
        """
        if self._rows_of_groups is None:
            return None
        return pd.Series(self._rows_of_groups, self._index(), name="nobs", copy=True)

    @cached_property
    def _rows_of_groups(self) -> np.ndarray | None:
        """Collect the numbers of rows (G,), NaN for a group without one."""
        if self.sizes is not None:
            return self.sizes
        rows = np.array([self._member(g).nobs for g in range(len(self.labels))], dtype=float)
        if np.isnan(rows).all():
            return None
        return rows if np.isnan(rows).any() else rows.astype(np.int64)

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
        """Return by group "ok", "imprecise", "not_identified", or a released failure."""
        return pd.Series(self.statuses, self._index(), name="status")

    @property
    def p25(self) -> pd.Series:
        """Return the prediction at 25% of the range of the only regressor, by group."""
        return self._point("p25")

    @property
    def p75(self) -> pd.Series:
        """Return the prediction at 75% of the range of the only regressor, by group."""
        return self._point("p75")

    @property
    def frame(self) -> pd.DataFrame:
        """Tabulate a row per group and quantity (tidy).

        Columns: by, ``term``, ``estimate``, ``std_error``, ``lower`` and ``upper`` (the 95%
        interval; infinite where the noise could account for the estimate) and ``status``.
        """
        return self.conf_int().assign(status=np.repeat(self.statuses, len(self.names)))

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Tabulate intervals of level 1 - alpha of every quantity, as :attr:`frame` does."""
        ends = self.uncertainty.intervals(self._rows(), checked_alpha(alpha))
        means = self.estimates[:, self.size :]
        ends[:, self.size :] = self._ends_of_means(ends[:, self.size :], means)
        return pd.DataFrame(
            {
                **self._long(self.names),
                "estimate": self.estimates.ravel(),
                "std_error": self.errors.ravel(),
                "lower": ends[..., 0].ravel(),
                "upper": ends[..., 1].ravel(),
            }
        )

    def tidy(self, alpha: float = 0.05) -> pd.DataFrame:
        """Tabulate every quantity of every group as R's broom does.

        Returns
        -------
        pandas.DataFrame
            Columns: by, ``term``, ``estimate``, ``std.error``, ``statistic`` and ``p.value`` (of
            the hypothesis 0, which predictions of a logit or of counts have none of),
            ``conf.low``, ``conf.high`` (of level 1 - alpha) and ``status``.
        """
        rows, table = self._rows(), self.conf_int(alpha)
        table.columns = [*columns_of(self.by), *TIDY[:3], *TIDY[5:]]
        statistic = self.centers / self.errors
        p = self.uncertainty.p_values(rows, np.zeros(len(rows)))
        if isinstance(self.evidence, LinkEvidence):
            statistic[:, self.size :] = p[:, self.size :] = np.nan
        statistic, p = statistic.ravel(), p.ravel()
        status = np.repeat(self.statuses, len(self.names))
        added = table.assign(**{"statistic": statistic, "p.value": p, "status": status})
        return added.reindex(columns=[*columns_of(self.by), *TIDY, "status"])

    def glance(self) -> pd.DataFrame:
        """Tabulate a row per group: labels, ``nobs`` (NaN if not released), status and guarantee.

        ``by[label].glance()`` adds R-squared and the like for one group, where released.
        """
        nobs = np.nan if self._rows_of_groups is None else self._rows_of_groups
        status = {"nobs": nobs, "status": list(self.statuses)}
        return pd.DataFrame({**self._labels(), **status, **facts(self)})

    def predict(
        self,
        newdata=None,
        interval: bool = False,
        alpha: float = 0.05,
        offset=None,
        exposure=None,
        which: str = "mean",
    ) -> pd.DataFrame:
        """Predict at public new data in every group; costs no budget.

        Parameters
        ----------
        newdata, interval, alpha, offset, exposure, which
            As of :meth:`DPResults.predict`.

        Returns
        -------
        pandas.DataFrame
            A row per group and a column per row of ``newdata``. With ``interval`` a row per group
            and row of ``newdata``; columns ``mean``, ``mean_se``, ``mean_ci_lower`` and
            ``mean_ci_upper``. NaN where a group released nothing, and for absorbed effects.

        Raises
        ------
        ArgumentError
            For a missing column, an unknown level or a missing value, and as
            :meth:`DPResults.predict` for an offset or exposure.
        """
        check_word("which", which, WHICH)
        interval = flag("interval")(interval)
        design = self._design
        rows = design.predictors(newdata)
        added = added_to(self.evidence.model, len(rows), offset, exposure)
        if self.limited:
            rows = np.clip(rows, design.low, design.high)
        if self.parsed_formula.absorbed is not None:
            rows = np.full_like(rows, np.nan)
        low, high = self.response_range
        predictors = self.estimates[:, : self.size] @ rows.T + added
        linear = which == "linear"
        mean = predictors if linear else np.clip(self.evidence.means(predictors), low, high)
        points = pd.RangeIndex(len(rows))
        points = newdata.index if isinstance(newdata, pd.DataFrame) else points
        if not interval:
            return pd.DataFrame(mean, self._index(), points)
        ends = self.uncertainty.intervals(rows, checked_alpha(alpha))
        ends, errors = ends + np.expand_dims(added, -1), self.uncertainty.errors(rows)
        if not linear:
            ends = self._ends_of_means(ends, mean)
            errors = errors * self.evidence.slopes(predictors)
        names = "mean", "mean_se", "mean_ci_lower", "mean_ci_upper"
        columns = mean, errors, ends[..., 0], ends[..., 1]
        return self._tall(list(points), str(points.name or "point"), names, columns)

    def _ends_of_means(self, ends: np.ndarray, means: np.ndarray) -> np.ndarray:
        """Return the ends of intervals of means from those of linear predictors."""
        return held(self.evidence.means(ends), self.declared_range, means)

    def t_test(self, hypotheses, alpha: float = 0.05) -> pd.DataFrame:
        """Test linear hypotheses about the coefficients in every group.

        Parameters
        ----------
        hypotheses, alpha
            As of :meth:`DPResults.t_test`: ``"x1 = x2"``, for example.

        Returns
        -------
        pandas.DataFrame
            A row per group and hypothesis (c0, c1 and so on), with the columns of statsmodels'
            ``summary_frame``. Over many groups some p-values are small by chance alone.

        Raises
        ------
        ArgumentError
            For hypotheses that cannot be read.
        """
        R, r = linear_constraints(self.names[: self.size], hypotheses)
        effect, sd = self.stack.params @ R.T, self.uncertainty.errors(R)
        ends = self.uncertainty.intervals(R, checked_alpha(alpha))
        p = self.uncertainty.p_values(R, r)
        columns = effect, sd, (effect - r) / sd, p, ends[..., 0], ends[..., 1]
        law = "t" if by_t(self.uncertainty) else "z"
        names = "coef", "std err", law, f"P>|{law}|", "Conf. Int. Low", "Conf. Int. Upp."
        return self._tall([f"c{i}" for i in range(len(r))], "hypothesis", names, columns)

    @cached_property
    def _design(self) -> Design:
        """Build the design from the public schema."""
        return self.parsed_formula.design(self.schema, self.term_bounds, self.clipping)

    @property
    def declared_range(self) -> tuple[float, float]:
        """Return the declared bounds of the response, infinite where its range was estimated."""
        return self._design.response_ends(self.estimated)

    @property
    def response_range(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends (G, 1) of the ranges that predictions keep to, infinite without one."""
        ends = self._design.response_bounds if self.limited else self.declared_range
        low, high = (np.full((len(self.labels), 1), end) for end in ends)
        known = self.stack.evidence.response_range
        if self.limited or known is None:
            return low, high
        first, last = np.hsplit(known, 2)
        return np.maximum(low, first), np.minimum(high, last)

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
        return pd.DataFrame(values[:, columns], self._index(), self.names[columns], copy=True)

    def _long(self, terms: Sequence[str]) -> dict:
        """Return the columns that name each group and, within it, each term."""
        labels = {name: column.repeat(len(terms)) for name, column in self._labels().items()}
        return {**labels, "term": list(terms) * len(self.labels)}

    def _tall(self, items: list, name: str, columns: Sequence[str], values) -> pd.DataFrame:
        """Tabulate values (G, m) with a row per group and item."""
        labels = [column.repeat(len(items)) for column in self._labels().values()]
        keys = [*labels, items * len(self.labels)]
        index = pd.MultiIndex.from_arrays(keys, names=[*columns_of(self.by), name])
        content = {column: part.ravel() for column, part in zip(columns, values, strict=True)}
        return pd.DataFrame(content, index)

    def _point(self, label: str) -> pd.Series:
        """Return the predictions at a labelled point, NaN where they need absorbed effects."""
        if self.parsed_formula.absorbed is not None:
            return pd.Series(np.nan, self._index())
        if label not in self.predictions:
            raise AttributeError(label)  # Python then asks __getattr__, which gives the reason
        return self.predictions.loc[:, label]
