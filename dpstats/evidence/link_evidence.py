"""Hold what noisy Newton steps tell of a logistic or a Poisson regression."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpstats.evidence.by_coefficient import NewtonEvidence
from dpstats.evidence.evidence import Number, Vector
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

    # What results call the model in a sentence.
    noun: ClassVar[str]

    mean_slope: Number
    mean_slope_error: Number
    slope_gradient: Vector

    def goodness(
        self, columns: int, constant: np.ndarray | None, public: Estimate
    ) -> GoodnessOfFit:
        """Return the number of rows alone."""
        rows = self.counted(public, self.fit_rows, self.fit_rows_error)
        reason = f"no log-likelihood was released, so {self.noun} has no pseudo R-squared here"
        return GoodnessOfFit(rows, columns=columns, is_centred=constant is not None, reason=reason)


@dataclass(frozen=True, kw_only=True, eq=False)
class LogisticEvidence(LinkEvidence):
    """Hold that of a logistic regression: means are probabilities."""

    noun: ClassVar[str] = "a logit"

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

    noun: ClassVar[str] = "a Poisson regression"

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
