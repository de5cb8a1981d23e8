"""What limits cut off, beside the same by numpy."""

import numpy as np
import pytest

from dpstats.numerics.tail_loops import squared_losses


@pytest.mark.parametrize("most", [np.inf, 3.0])
def test_losses_are_those_of_each_hypothesis_by_its_weight(most):
    rng = np.random.default_rng(1)
    sizes, counts = np.sort(rng.exponential(2, 30))[::-1].copy(), rng.uniform(0, 5, (8, 30))
    weights = np.append(rng.dirichlet(np.ones(7)), 0.0)
    limits = np.array([0.0, 0.3, 1.0, sizes[3], 5.0, 100.0])
    over = np.maximum(sizes - limits[:, None], 0)
    each = counts @ (over**2).T + (0.4 * (counts @ over.T)) ** 2
    wanted = weights @ np.minimum(each, most)
    found = squared_losses(counts, sizes, weights, limits, np.full(6, most), 0.4)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
    assert found[-1] == 0
