"""Compute standard errors, intervals and tests of one fit from its release."""

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError, shown
from dpstats.estimators.contract import Release
from dpstats.evidence import Evidence, Stack
from dpstats.formula import Design, Formula, linear_constraints
from dpstats.inference import (
    PARTLY_UNBOUNDED,
    UNBOUNDED,
    ClusterWald,
    TTest,
    Uncertainty,
    slopes_of,
    statuses,
)
from dpstats.option_checks import checked_alpha
from dpstats.results.one.offsets import added_to
from dpstats.schema import Schema
from dpstats.spelling import check_word

# What predict() gives: means, or the sums of coefficients times columns that they follow from.
WHICH = ("mean", "linear")


def held(ends: np.ndarray, declared: tuple[float, float]) -> np.ndarray:
    """Clip the finite ends of intervals of predictions to the declared bounds of the response.

    Predictions are clipped to them too. Infinite ends stay, as they say that nothing is known.
    """
    return np.where(np.isinf(ends), ends, np.clip(ends, *declared))


def by_t(errors: Uncertainty) -> bool:
    """Tell whether intervals are of Student's t, as with few clusters."""
    return isinstance(errors, ClusterWald) and bool(np.isfinite(errors.degrees()).any())


def _tabulated(mean, errors: np.ndarray, ends: np.ndarray, index) -> pd.DataFrame:
    """Tabulate predictions, their standard errors and intervals (q, 2) in statsmodels' columns."""
    low, high = ends.T
    columns = {"mean": mean, "mean_se": errors, "mean_ci_lower": low, "mean_ci_upper": high}
    return pd.DataFrame(columns, index)


class Inferred(ABC):
    """Compute coefficients, standard errors, intervals and tests under statsmodels' names.

    It is the part of :class:`~dpstats.results.one.single.DPResults` that reads ``release``,
    ``names``, ``points``, ``x_new`` and the public facts, and never the data.
    """

    method: str
    release: Release
    names: tuple[str, ...]
    points: tuple[str, ...]
    x_new: np.ndarray
    public_rows: int | None
    formula: str
    schema: Schema

    @property
    @abstractmethod
    def limits(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the bounds that design rows are clipped to in predictions, or None."""

    @property
    @abstractmethod
    def response_range(self) -> tuple[float, float]:
        """Return the ends of the range that predictions keep to."""

    @property
    @abstractmethod
    def declared_range(self) -> tuple[float, float]:
        """Return the declared bounds of the response, which ends of intervals keep to."""

    @abstractmethod
    def design(self) -> Design:
        """Build the design from the public schema."""

    @cached_property
    def parsed_formula(self) -> Formula:
        """Return the formula as parsed."""
        return Formula.parse(self.formula)

    @property
    def status(self) -> str:
        """Return "ok", a released outcome, or which slopes have a bounded interval.

        See :func:`dpstats.inference.statuses`.
        """
        return statuses([self.release.status], self._unbounded)[0]

    @cached_property
    def _unbounded(self) -> np.ndarray:
        """Tell the slopes, (1, k), whose intervals are unbounded."""
        slopes = slopes_of(len(self.names), self.design().intercept)
        return self.uncertainty.unbounded_at(slopes)

    @property
    def reasons(self) -> dict[str, str]:
        """Explain by attribute why a quantity is NaN or infinite."""
        reasons, status = dict(self.release.reasons), self.status
        if status == "not_identified":
            known = reasons.get("bse", reasons.get("conf_int", UNBOUNDED))
        elif status == "imprecise" and self._unbounded.any():
            known = reasons.get("conf_int", PARTLY_UNBOUNDED)
        else:
            return reasons
        return reasons | {"bse": known, "conf_int": known}

    @property
    def params(self) -> pd.Series:
        """Return the private coefficients, by name."""
        return pd.Series(self.release.params, self.names, copy=True)

    @property
    def predictions(self) -> pd.Series:
        """Return the private predictions at x_new, by label."""
        return pd.Series(self.release.predictions, self.points, copy=True)

    @cached_property
    def uncertainty(self) -> Uncertainty:
        """Derive from the release the distribution of its error."""
        return Stack.of([self.release], len(self.names)).uncertainty()

    @property
    def evidence(self) -> Evidence:
        """Return what was released beyond coefficients and their covariance."""
        return self.release.evidence

    @property
    def cov_type(self) -> str:
        """Return "nonrobust" (errors of one variance), "HC1" or "cluster", as statsmodels does."""
        return self.release.basis.cov_type

    def cov_params(self) -> pd.DataFrame:
        """Return the coefficients' covariance, privacy noise included; NaN when unavailable."""
        return pd.DataFrame(self.uncertainty.covariance()[0], self.names, self.names)

    @property
    def bse(self) -> pd.Series:
        """Return standard errors, privacy noise included; NaN when unavailable."""
        return pd.Series(self._errors(np.eye(len(self.names))), self.names)

    @property
    def tvalues(self) -> pd.Series:
        """Divide the coefficients (of the auxiliary fit, if any) by their standard errors."""
        return (self.params if self.companion is None else self.companion) / self.bse

    @property
    def companion(self) -> pd.Series | None:
        """Return the coefficients of the auxiliary fit, which the intervals cover, or None."""
        release = self.release.companion
        return None if release is None else pd.Series(release.params, self.names, copy=True)

    @property
    def pvalues(self) -> pd.Series:
        """Return the two-sided p-value of each coefficient = 0."""
        size = len(self.names)
        return pd.Series(self.uncertainty.p_values(np.eye(size), np.zeros(size))[0], self.names)

    def conf_int(self, alpha: float = 0.05, cols=None) -> pd.DataFrame:
        """Compute intervals of level 1 - alpha: a row per coefficient, columns 0 and 1.

        Intervals are about least squares on all rows, clipped at declared bounds only, or, where
        none are declared, at released ranges that ``summary()`` prints beside the noisy share of
        rows beyond them. Privacy noise is part of them. They are infinite where the release is
        compatible with coefficients of any size, and NaN where no valid interval exists (see
        ``reasons``). With ``cols``, a list of names or positions, they are of these coefficients.

        Raises
        ------
        ArgumentError
            Unless 0 < alpha < 1, and for ``cols`` that are no coefficients.
        """
        rows = np.eye(len(self.names))
        places = slice(None) if cols is None else self._places(cols)
        return pd.DataFrame(self._intervals(rows, alpha), self.names).iloc[places]

    def _places(self, cols) -> list[int]:
        """Return the positions of coefficients by name or position, or raise ArgumentError."""
        known = {
            **{i: i for i in range(len(self.names))},
            **{n: i for i, n in enumerate(self.names)},
        }
        try:
            return [known[one] for one in ([cols] if isinstance(cols, str) else cols)]
        except (KeyError, TypeError):
            raise ArgumentError(
                f"expected cols to list names or positions of coefficients, such as "
                f"[{self.names[-1]!r}], got {shown(cols)}"
            ) from None

    def _intervals(self, rows: np.ndarray, alpha: float) -> np.ndarray:
        """Compute intervals (q, 2) of linear combinations (q, S) of the coefficients."""
        return self.uncertainty.intervals(rows, checked_alpha(alpha))[0]

    def _errors(self, rows: np.ndarray) -> np.ndarray:
        """Compute standard errors (q,) of linear combinations (q, S) of the coefficients."""
        return self.uncertainty.errors(rows)[0]

    def predict(
        self,
        newdata=None,
        interval: bool = False,
        alpha: float = 0.05,
        offset=None,
        exposure=None,
        which: str = "mean",
    ):
        """Predict at public new data; costs no budget.

        Within the ranges of the schema a prediction is the sum of coefficients times columns, and
        where that is beyond the declared bounds of the response it is the bound; so are the finite
        ends of intervals. Standard errors are those of the sum. Of a logit all are probabilities:
        ends are those of the sum's interval, and standard errors are by the delta method.
        Variables that lie farther out than those that a fit by ``noisy_newton`` saw are clipped as
        these were, those of ``shrunken`` at the ranges. Of ``y ~ x | state`` predictions are NaN,
        as those of fixest are for a group whose effect it does not know: effects are not released.

        Parameters
        ----------
        newdata : mapping or data frame
            A column for each variable on the right-hand side of the formula. It is needed: there
            are no predictions at the confidential rows, which other packages have without it.
        interval : bool
            Also the standard error and the interval of each mean.
        alpha : float
            One minus the level of the intervals.
        offset, exposure : float or array_like, shape (q,), optional
            Of a logit an offset, of a Poisson regression one or both: public numbers for the rows,
            by default 0 and 1.
        which : str
            ``"mean"``, or ``"linear"`` for the sum alone: of a logit log odds.

        Returns
        -------
        pandas.Series or pandas.DataFrame
            With ``interval`` the columns ``mean``, ``mean_se``, ``mean_ci_lower`` and
            ``mean_ci_upper``, as of statsmodels' ``get_prediction().summary_frame()``.

        Raises
        ------
        ArgumentError
            For a missing column, an unknown level, a missing value, or an offset or exposure that
            is no finite number, or that the model has not.
        """
        check_word("which", which, WHICH)
        rows = self.design().predictors(newdata)
        added = added_to(self.evidence.model, len(rows), offset, exposure)
        if self.limits is not None:
            rows = np.clip(rows, *self.limits)
        index = newdata.index if isinstance(newdata, pd.DataFrame) else None
        if self._absorbs:  # NaN stays NaN in means, standard errors and intervals
            rows = np.full_like(rows, np.nan)
        predictors = rows @ self.release.params + added
        if which == "linear":
            if not interval:
                return pd.Series(predictors, index)
            ends = (self._intervals(rows, alpha).T + added).T
            return _tabulated(predictors, self._errors(rows), ends, index)
        mean = pd.Series(np.clip(self.evidence.means(predictors), *self.response_range), index)
        return self._with_intervals(mean, rows, alpha, added) if interval else mean

    @property
    def _absorbs(self) -> bool:
        """Tell whether predictions need the effects of an absorbed column."""
        return self.parsed_formula.absorbed is not None

    def raw_powers(self, variable: str, alpha: float = 0.05) -> pd.DataFrame:
        """Convert the coefficients of ``poly(variable, k)`` to those of raw powers; costs nothing.

        Parameters
        ----------
        variable : str
            A column of which the formula holds one polynomial, outside of products.
        alpha : float
            One minus the level of the intervals.

        Returns
        -------
        pandas.DataFrame
            A row for the intercept, which takes up the polynomial's constant, and for each power
            of the variable; columns ``estimate``, ``std_error``, ``lower`` and ``upper``.

        Raises
        ------
        ArgumentError
            Where the formula has no such term, or unless 0 < alpha < 1.

        Examples
        --------
        >>> import dpstats as dp
        >>> df = dp.simulate.line(5000, seed=1)
        >>> with dp.testing.insecure_seed(1):
        ...     res = dp.dp_ols("y ~ poly(x, 2)", df, method="adassp", epsilon=8,
        ...                     bounds={"x": (0, 1), "y": (0, 1)})
        >>> res.raw_powers("x").index.tolist()
        ['Intercept', 'x', 'I(x**2)']
        """
        design = self.design()
        powers, weights = design.raw_powers(variable)
        if design.intercept is not None:
            weights[0, design.intercept] = 1.0
        low, high = self._intervals(weights, alpha).T
        return pd.DataFrame(
            {
                "estimate": weights @ self.release.params,
                "std_error": self._errors(weights),
                "lower": low,
                "upper": high,
            },
            index=["Intercept", *powers],
        )

    def prediction_intervals(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return the predictions at x_new with their standard errors and intervals."""
        return self._with_intervals(self.predictions, self.x_new, alpha)

    def _with_intervals(
        self, mean: pd.Series, rows: np.ndarray, alpha: float, added: np.ndarray | float = 0.0
    ) -> pd.DataFrame:
        """Add standard errors and intervals to predictions at design rows (q, S) and offsets."""
        ends = self._intervals(rows, alpha).T + added
        ends = held(self.evidence.means(ends.T), self.declared_range)
        slopes = self.evidence.slopes(rows @ self.release.params + added)
        with np.errstate(invalid="ignore"):  # infinite times zero
            errors = self._errors(rows) * slopes
        return _tabulated(mean, errors, ends, mean.index)

    def t_test(self, hypotheses, alpha: float = 0.05) -> TTest:
        """Test each of several linear hypotheses about the coefficients.

        Parameters
        ----------
        hypotheses : str, sequence, mapping or array
            As in statsmodels: ``"x1 = x2"``, ``"x1 + x2 = 1, x3 = 0"``, or a matrix with a row of
            weights for each hypothesis that a combination of coefficients is 0.
        alpha : float
            One minus the level of the intervals.

        Raises
        ------
        ArgumentError
            For hypotheses that cannot be read or follow from each other.
        """
        R, r = linear_constraints(self.names, hypotheses)
        effect, sd = R @ self.release.basis.params, self._errors(R)
        return TTest(
            names=tuple(f"c{i}" for i in range(len(r))),
            effect=effect,
            sd=sd,
            tvalue=(effect - r) / sd,
            pvalue=self.uncertainty.p_values(R, r)[0],
            intervals=self._intervals(R, alpha),
            alpha=float(alpha),
            reasons=self._why_no_errors(R),
            by_t=by_t(self.uncertainty),
        )

    def _why_no_errors(self, rows: np.ndarray) -> tuple[str, ...]:
        """Explain why standard errors of linear combinations are NaN; empty where none is."""
        reason = self.reasons.get("bse", "")
        return (reason,) * bool(reason and np.isnan(self._errors(rows)).any())
