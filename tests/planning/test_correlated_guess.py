"""Residuals of rows of one group have the correlation that is guessed."""

import numpy as np
import pytest

from dpstats.errors import ArgumentError
from dpstats.planning.cluster_guess import ClusterGuess
from dpstats.planning.correlated_guess import checked_icc


@pytest.mark.parametrize("icc", [0.0, 0.3, 1.0])
def test_the_share_of_a_group_is_the_correlation(icc):
    """Of 20,000 pairs the correlation has a standard error below .007; the seed is fixed."""
    pairs = ClusterGuess("pair", 20_000, {}, icc, np.full(20_000, 1 / 20_000))
    generator, n = np.random.default_rng(5), 40_000
    own = 2.0 * pairs.row_share**0.5 * generator.normal(size=n)
    errors = own + pairs.effects("y", 2.0, n, generator)
    assert np.std(errors) == pytest.approx(2.0, rel=0.02)
    order = np.argsort(pairs.labels(n), kind="stable")
    labels = pairs.labels(n)[order]
    both = np.flatnonzero(labels[1:] == labels[:-1])
    first, second = errors[order][both], errors[order][both + 1]
    assert np.corrcoef(first, second)[0, 1] == pytest.approx(icc, abs=0.03)


def test_a_correlation_is_half_by_default_and_within_its_range():
    assert checked_icc(None) == 0.5
    with pytest.raises(ArgumentError, match=r"icc in \[0, 1\], got 2"):
        checked_icc(2)
