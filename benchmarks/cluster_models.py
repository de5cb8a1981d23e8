"""Tables of clusters for other models than least squares, and their non-private fits.

Responses have the model's mean given the regressors, and are correlated in clusters by a Gaussian
copula, so that the coefficients of the model are the truth.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr
from scipy.stats import poisson, t

import dpstats as dp

Clustered = tuple[np.ndarray, np.ndarray]


def correlated(labels, clusters: int, correlation: float, rng) -> np.ndarray:
    """Draw normal values of variance 1 that are correlated inside of clusters."""
    of_clusters = rng.normal(size=clusters)[labels]
    own = rng.normal(size=len(labels))
    return np.sqrt(correlation) * of_clusters + np.sqrt(1 - correlation) * own


@dataclass(frozen=True)
class Model:
    """What is fitted, which two coefficients are printed, the truth, and what draws and fits."""

    fit: Callable
    formula: str
    names: tuple[str, str]
    truth: np.ndarray
    response: Callable
    clustered: Callable[[pd.DataFrame], Clustered]

    def table(self, labels: np.ndarray, clusters: int, correlation: float, rng) -> pd.DataFrame:
        """Draw rows: x and errors have the correlation in clusters, z one value in each."""
        x, errors = (correlated(labels, clusters, correlation, rng) for _ in range(2))
        data = {"x": x, "z": rng.normal(size=clusters)[labels], "state": labels}
        return pd.DataFrame({**data, **self.response(data["x"], data["z"], errors, rng)})


def _linear(x, z, errors, rng) -> dict:
    return {"y": 1 + 0.5 * x + 0.3 * z + errors}


def _binary(x, z, errors, rng) -> dict:
    return {"y": (ndtr(errors) < expit(-0.5 + 0.5 * x + 0.3 * z)) * 1}


def _counts(x, z, errors, rng) -> dict:
    return {"y": poisson.ppf(ndtr(errors), np.exp(0.5 + 0.3 * x + 0.2 * z))}


def _instrumented(x, z, errors, rng) -> dict:
    """An endogenous d, moved by x; z stands beside them."""
    d = 0.5 * x + 0.3 * z + errors + rng.normal(size=len(x))
    return {"d": d, "y": 0.5 * d + 0.3 * z + errors + rng.normal(size=len(x))}


def _by_newton(mean: Callable, slope: Callable) -> Callable[[pd.DataFrame], Clustered]:
    """Maximum likelihood with its clustered intervals, of two regressors."""

    def fitted(data: pd.DataFrame) -> Clustered:
        X, y = _columns(data, "x", "z"), data["y"].to_numpy()
        params = np.zeros(3)
        for _ in range(30):
            left = np.linalg.inv(X.T @ (X * slope(X @ params)[:, None]))
            params = params + left @ (X.T @ (y - mean(X @ params)))
        scores = X * (y - mean(X @ params))[:, None]
        return _clustered(params, left, scores, data["state"])

    return fitted


def _two_stages(data: pd.DataFrame) -> Clustered:
    """Two-stage least squares with its clustered intervals."""
    Z, X, y = _columns(data, "z", "x"), _columns(data, "z", "d"), data["y"].to_numpy()
    left = np.linalg.inv(Z.T @ X)
    params = left @ (Z.T @ y)
    return _clustered(params, left, Z * (y - X @ params)[:, None], data["state"])


def _columns(data: pd.DataFrame, *names: str) -> np.ndarray:
    return np.column_stack([np.ones(len(data)), data[list(names)]])


def _clustered(params, left, scores, labels) -> Clustered:
    """Half the length of intervals by the sums of scores of clusters, as statsmodels has them."""
    n, p = scores.shape
    sums = np.stack([np.bincount(labels, column) for column in scores.T])
    G = labels.nunique()
    cov = left @ (sums @ sums.T) @ left.T * G / (G - 1) * (n - 1) / (n - p)
    return params, t.isf(0.025, G - 1) * np.sqrt(np.diag(cov))


def _logistic_slope(predictor: np.ndarray) -> np.ndarray:
    return expit(predictor) * expit(-predictor)


MODELS = {
    "ols": Model(
        dp.dp_ols, "y ~ x + z", ("x", "z"), np.array([1.0, 0.5, 0.3]), _linear,
        _by_newton(lambda eta: eta, np.ones_like),
    ),
    "logit": Model(
        dp.dp_logit, "y ~ x + z", ("x", "z"), np.array([-0.5, 0.5, 0.3]), _binary,
        _by_newton(expit, _logistic_slope),
    ),
    "poisson": Model(
        dp.dp_poisson, "y ~ x + z", ("x", "z"), np.array([0.5, 0.3, 0.2]), _counts,
        _by_newton(np.exp, np.exp),
    ),
    "iv": Model(
        dp.dp_iv, "y ~ z + [d ~ x]", ("z", "d"), np.array([0.0, 0.3, 0.5]), _instrumented,
        _two_stages,
    ),
}  # fmt: skip
