"""SSP beside AdaSSP: the same releases, no ridge, and nothing where it would be needed."""

import numpy as np
import pytest

import dpstats as dp


def test_without_a_ridge_it_is_adassp(fit, line):
    results = []
    for method in ("ssp", "adassp"):
        with dp.testing.insecure_seed(1):
            results.append(fit(line, method, epsilon=100))
    plain, adaptive = results
    assert plain.params.equals(adaptive.params) and plain.bse.equals(adaptive.bse)
    assert np.isfinite(plain.bse).all()


def test_where_noise_covers_the_smallest_eigenvalue_nothing_is_published(fit, line):
    result = fit(line, "ssp", epsilon=0.1)
    assert result.status == "not_identified"
    assert result.params.isna().all() and result.predictions.isna().all()
    assert "raise epsilon" in result.reasons["params"]
    assert len(result.privacy.events) == 3 and result.privacy.spent[0] == pytest.approx(0.1)
