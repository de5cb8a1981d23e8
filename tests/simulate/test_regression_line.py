"""The simulated points have the line and the spread that were asked for."""

import numpy as np
import pytest

from dpstats.errors import ArgumentError
from dpstats.simulate import line


@pytest.mark.parametrize("shape", ["normal", "uniform"])
def test_line(shape):
    points = line(20_000, 0.3, 0.4, x_mean=0.45, x_sd=0.05, noise_sd=0.02, shape=shape, seed=1)
    slope, intercept = np.polyfit(points["x"], points["y"], 1)
    assert abs(slope - 0.3) < 0.012 and abs(intercept - 0.4) < 0.006
    assert abs(points["x"].mean() - 0.45) < 0.002
    assert abs(points["x"].std() - 0.05) < 0.001
    assert abs((points["y"] - 0.3 * points["x"] - 0.4).std() - 0.02) < 0.0005
    kurtosis = points["x"].kurt()
    assert abs(kurtosis - (0 if shape == "normal" else -1.2)) < 0.15


def test_line_is_clipped():
    points = line(1000, x_sd=1, noise_sd=1, seed=1)
    assert points.to_numpy().min() == 0 and points.to_numpy().max() == 1
    assert (points == 0).any().all() and (points == 1).any().all()


def test_bad_arguments():
    for bad in (0, -1, 2.5, "5", float("nan")):
        with pytest.raises(ArgumentError, match="n to be a whole number in 1.."):
            line(bad)
    with pytest.raises(ArgumentError, match=r"x_sd in \[0, inf\), got -1"):
        line(5, x_sd=-1)
    for bad in ("cauchy", np.array(["normal", "uniform"])):
        with pytest.raises(ArgumentError, match="shape"):
            line(5, shape=bad)
    for name in ("slope", "intercept", "x_mean"):
        for value in ("a", None, [1, 2], np.nan, 10**400):
            with pytest.raises(ArgumentError, match=f"expected {name} to be a finite number"):
                line(5, **{name: value})
    with pytest.raises(ArgumentError, match="x_sd in"):
        line(5, x_sd=10**400)
    for bad in ("a", -1, 1.5):
        with pytest.raises(ArgumentError, match="seed to be a whole number >= 0 or a numpy Gen"):
            line(5, seed=bad)
