"""Compute predictions of one fit and their intervals from its release."""

from abc import abstractmethod

import numpy as np
import pandas as pd

from dpstats.option_checks import flag
from dpstats.results.one.inference_mixin import Inferred
from dpstats.results.one.offsets import added_to
from dpstats.spelling import check_word

# What predict() gives: means, or the sums of coefficients times columns that they follow from.
WHICH = ("mean", "linear")


def held(ends: np.ndarray, declared: tuple[float, float], mean: np.ndarray) -> np.ndarray:
    """Keep intervals (..., 2) of predictions within declared bounds and around the predictions.

    Finite ends are clipped to the declared bounds of the response, as predictions are; infinite
    ones stay, as they say that nothing is known. An interval reaches to its prediction, which
    may have been moved to where the response is seen, or be of another fit than a companion's
    interval.
    """
    low, high = np.moveaxis(np.where(np.isinf(ends), ends, np.clip(ends, *declared)), -1, 0)
    return np.stack([np.minimum(low, mean), np.maximum(high, mean)], axis=-1)


def _tabulated(mean, errors: np.ndarray, ends: np.ndarray, index) -> pd.DataFrame:
    """Tabulate predictions, their standard errors and intervals (q, 2) in statsmodels' columns."""
    low, high = ends.T
    columns = {"mean": mean, "mean_se": errors, "mean_ci_lower": low, "mean_ci_upper": high}
    return pd.DataFrame(columns, index)


class Predicted(Inferred):
    """Compute predictions at ``x_new`` and at new data, and the polynomials they follow."""

    points: tuple[str, ...]
    x_new: np.ndarray

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

    @property
    def predictions(self) -> pd.Series:
        """Return the private predictions at x_new, by label."""
        return pd.Series(self.release.predictions, self.points, copy=True)

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
        ends of intervals. Predictions of ``noisy_newton`` end, beside that, where the response is
        seen to, within 2 to 5 standard deviations of its mean, and intervals of the sum that do not
        reach to there are extended to the prediction. Standard errors are those of the
        sum. Of a logit all are probabilities: ends are those of the sum's interval, and standard
        errors are by the delta method. Variables that lie farther out than those that a fit by
        ``noisy_newton`` saw are clipped as these were, those of ``shrunken`` at the ranges. Of
        ``y ~ x | state`` predictions are NaN, as those of fixest are for a group whose effect it
        does not know: effects are not released.

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
        interval = flag("interval")(interval)
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
        ends = held(self.evidence.means(ends.T), self.declared_range, mean.to_numpy())
        slopes = self.evidence.slopes(rows @ self.release.params + added)
        with np.errstate(invalid="ignore"):  # infinite times zero
            errors = self._errors(rows) * slopes
        return _tabulated(mean, errors, ends, mean.index)
