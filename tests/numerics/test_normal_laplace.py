"""The tail of a normal plus a Laplace variable."""

import numpy as np
import pytest
from scipy.stats import laplace, norm

from dpstats.numerics.normal_laplace import critical_value, tail


@pytest.mark.parametrize("g", [0.3, 1.0, 2.5])
def test_the_tail_of_a_normal_or_a_laplace_variable(g):
    assert tail(g, 1.0, np.zeros(2)) == pytest.approx(2 * norm.sf(g), abs=1e-9)
    assert tail(g, 0.0, np.array([1.0, 0.0])) == pytest.approx(2 * laplace.sf(g), abs=2e-6)


def test_the_tail_of_a_sum_agrees_with_simulation():
    rng, parts = np.random.default_rng(1), np.array([0.5, -1.5, 0.2])
    draws = 0.7 * rng.normal(size=400_000) + rng.laplace(size=(400_000, 3)) @ parts
    for g in (0.5, 2.0, 5.0):
        assert tail(g, 0.7, parts) == pytest.approx(np.mean(np.abs(draws) > g), abs=0.003)
    assert tail(critical_value(0.1, 0.7, parts), 0.7, parts) == pytest.approx(0.1, abs=1e-6)
