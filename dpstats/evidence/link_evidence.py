"""Hold what noisy Newton steps tell of a logistic or a Poisson regression."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpstats.evidence.by_coefficient import NewtonEvidence
from dpstats.evidence.evidence import Number, Vector, estimate
from dpstats.inference import Estimate, GoodnessOfFit


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkEvidence(NewtonEvidence):
    """Hold the same as of least squares, of means mu that are a function of the linear predictor.

    Parameters
    ----------
    mean_slope, mean_slope_error
        The mean of mu' over the rows, and the noise on it; NaN where it was not released.
    slope_gradient : (S,)
        Its derivative by the coefficients.
    """

    # Why there is no R-squared.
    no_rsquared: ClassVar[str]

    mean_slope: Number
    mean_slope_error: Number
    slope_gradient: Vector

    def goodness(
        self, columns: int, constant: np.ndarray | None, public: Estimate
    ) -> GoodnessOfFit:
        """Return the number of rows alone."""
        rows = self.counted(public, self.fit_rows, self.fit_rows_error)
        return GoodnessOfFit(
            rows, columns=columns, is_centred=constant is not None, reason=self.no_rsquared
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class LogisticEvidence(LinkEvidence):
    """Hold that of a logistic regression: means are probabilities.

    Parameters
    ----------
    fit_prsquared, fit_prsquared_error
        McFadden's pseudo R-squared, and its standard error; None where the noise leaves it open.
    """

    no_rsquared: ClassVar[str] = "a logit has a pseudo R-squared, prsquared, in its place"

    fit_prsquared: Number = None
    fit_prsquared_error: Number = None

    @property
    def pseudo_rsquared(self) -> Estimate:
        """Return McFadden's pseudo R-squared, NaN where it is not seen."""
        return estimate(self.fit_prsquared, self.fit_prsquared_error)

    @property
    def model(self) -> str:
        """Return statsmodels' name of the model."""
        return "Logit"

    def means(self, predictor: np.ndarray) -> np.ndarray:
        """Return the probabilities of 1 at values of the linear predictor."""
        return 0.5 * (1 + np.tanh(0.5 * np.asarray(predictor)))

    def slopes(self, predictor: np.ndarray) -> np.ndarray:
        """Return mu (1 - mu)."""
        mean = self.means(predictor)
        return mean * (1 - mean)


@dataclass(frozen=True, kw_only=True, eq=False)
class PoissonEvidence(LinkEvidence):
    """Hold that of a Poisson regression: the predictor is the logarithm of the mean."""

    no_rsquared: ClassVar[str] = (
        "the log-likelihood of counts has no bound and was not released, so a Poisson regression "
        "has no pseudo R-squared here"
    )

    @property
    def model(self) -> str:
        """Return statsmodels' name of the model."""
        return "Poisson"

    def means(self, predictor: np.ndarray) -> np.ndarray:
        """Return means at values of the linear predictor; infinite beyond doubles."""
        with np.errstate(over="ignore"):
            return np.exp(np.asarray(predictor))

    def slopes(self, predictor: np.ndarray) -> np.ndarray:
        """Return the means, which are their own slopes."""
        return self.means(predictor)
