"""Release the distribution of one column, with noise of a fixed seed."""

import numpy as np

from dpstats.noise import Noise
from dpstats.privacy import GDP
from dpstats.range_estimation.marginals import estimate_marginals
from dpstats.schema import Numeric
from dpstats.testing import insecure_seed


def released(values: np.ndarray, mu: float, limit: Numeric | None = None, seed: int = 1):
    """The marginal of a column, with noise of a fixed seed."""
    with insecure_seed(seed):
        found = estimate_marginals(
            lambda each: each({"x": values}), {"x": limit}, {"x": 1.0}, GDP(mu),
            Noise(GDP(mu)), "add_remove", (),
        )  # fmt: skip
    return found["x"]
