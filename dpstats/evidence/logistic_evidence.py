"""Hold what noisy Newton steps tell of a logistic regression."""

from dataclasses import dataclass

import numpy as np

from dpstats.evidence.by_coefficient import NewtonEvidence
from dpstats.evidence.evidence import Number, Vector
from dpstats.inference import Estimate, GoodnessOfFit

_NO_LIKELIHOOD = "no log-likelihood was released, so a logit has no pseudo R-squared here"


@dataclass(frozen=True, kw_only=True, eq=False)
class LogisticEvidence(NewtonEvidence):
    """Hold the same as of least squares; means of the response are probabilities.

    Parameters
    ----------
    mean_slope, mean_slope_error
        The mean of mu (1 - mu) over the rows, and the noise on it.
    slope_gradient : (S,)
        Its derivative by the coefficients.
    """

    mean_slope: Number
    mean_slope_error: Number
    slope_gradient: Vector

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

    def goodness(
        self, columns: int, constant: np.ndarray | None, public: Estimate
    ) -> GoodnessOfFit:
        """Return the number of rows alone."""
        rows = self.counted(public, self.fit_rows, self.fit_rows_error)
        is_centred = constant is not None
        return GoodnessOfFit(rows, columns=columns, is_centred=is_centred, reason=_NO_LIKELIHOOD)


@dataclass(frozen=True, kw_only=True, eq=False)
class PoissonEvidence(LogisticEvidence):
    """Poisson."""

    @property
    def model(self) -> str:
        """Return statsmodels' name of the model."""
        return "Poisson"

    def means(self, predictor: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.exp(predictor)

    def slopes(self, predictor: np.ndarray) -> np.ndarray:
        return self.means(predictor)
