"""Simulate points around a line, as Alabi et al. (2022) do."""

import numpy as np
import pandas as pd

from dpstats.option_checks import finite, number, seeded_generator, whole, word


def line(
    n, slope=0.5, intercept=0.2, x_mean=0.5, x_sd=0.1, noise_sd=0.1, *, shape="normal", seed=None
) -> pd.DataFrame:
    """Simulate points around a line, clipped to the unit square.

    A simulation, not a release: y = slope x + intercept + N(0, noise_sd^2), then both clipped to
    [0, 1]. Alabi et al. draw x from a normal distribution where they study hyperparameters
    (figure 18) and from a uniform one with the same mean and s.d. elsewhere (section 3.1.5,
    figures 10 and 11).

    Parameters
    ----------
    n : int
        Number of points, at least 1.
    slope, intercept : float
        The line, before clipping.
    x_mean, x_sd, noise_sd : float
        Mean and s.d. of x, and s.d. of the noise in y, before clipping. The paper's x_sd goes from
        0.055 to 0.17.
    shape : {"normal", "uniform"}
        The distribution of x.
    seed : int, numpy.random.Generator, optional
        Seed or source of randomness; fresh by default.

    Returns
    -------
    pandas.DataFrame
        (n, 2), columns ``x`` and ``y`` in [0, 1].

    Raises
    ------
    ArgumentError
        For a count below 1, a negative s.d., an unknown shape, or another type.

    References
    ----------
    Alabi, McMillan, Sarathy, Smith and Vadhan (2022), section 3.1.5 and appendix D.

    Examples
    --------
    >>> points = line(10_000, noise_sd=0.01, seed=1)
    >>> np.polyfit(points["x"], points["y"], 1).round(2).tolist()
    [0.5, 0.2]
    """
    n = whole("n", 1, 10**9)(n)
    x_sd, noise_sd = (
        number(name, 0, np.inf, "[)")(sd) for name, sd in (("x_sd", x_sd), ("noise_sd", noise_sd))
    )
    slope, intercept = finite("slope")(slope), finite("intercept")(intercept)
    x_mean = finite("x_mean")(x_mean)
    shape = word("shape", "normal", "uniform")(shape)
    rng = seeded_generator(seed)
    if shape == "normal":
        standard = rng.normal(size=n)
    else:
        standard = rng.uniform(-np.sqrt(3), np.sqrt(3), n)
    x = x_mean + x_sd * standard
    y = slope * x + intercept + rng.normal(0, noise_sd, n)
    return pd.DataFrame({"x": np.clip(x, 0, 1), "y": np.clip(y, 0, 1)})
