"""NoisyIntercept: the mean of y with the paper's noise."""

import numpy as np
import pytest

from tests.checks.recording import fit, line_data


def test_intercept_noise_is_the_papers_under_replace_one():
    x, y = line_data(40)
    draws = [fit("noisy_intercept", x, y, epsilon=0.5, seed=s)[0].params[0] for s in range(4000)]
    expected = 1 / (0.5 * 40)
    assert np.abs(np.array(draws) - y.mean()).mean() == pytest.approx(expected, rel=0.08)
