"""Error bounds and the bootstrap of fits with factors, simulated from their released sums."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from tests.checks.block_least_squares import fit, many, rare


def errors_of(releases, exact):
    return np.abs(np.array([one.params for one in releases]) - exact.to_numpy())


@pytest.mark.parametrize("method", ["adassp", "ssp"])
def test_bounds_hold_as_often_as_they_say(method):
    """60 releases of one table: 68% bounds are within 45% to 88% for each coefficient.

    The chance that a share of 68% of 60 is outside is below 2e-4 for each of 7 coefficients.
    """
    frame, _ = many(20_000, 4, 2)
    frame["h"] = pd.Categorical.from_codes(np.arange(20_000) // 7 % 3, list("uvw"))
    exact = fit("y ~ x + g + h", frame, 1e9, method).params
    releases = [fit("y ~ x + g + h", frame, 1.0, method, seed) for seed in range(60)]
    held = errors_of(releases, exact) <= np.array(
        [one.error_bound(trials=100)[: len(exact)] for one in releases]
    )
    assert ((0.45 < held.mean(axis=0)) & (held.mean(axis=0) < 0.88)).all(), held.mean(axis=0)


def test_the_bootstrap_covers_and_is_as_wide_as_the_intervals():
    """100 tables: shares of 95% below 86% have a chance of about 3e-4."""
    hits, ratios = [], []
    truth = None
    for seed in range(100):
        frame, truth = many(8000, 5, seed)
        result = fit("y ~ x + g", frame, 1.0, seed=seed)
        ends, plain = result.bootstrap(draws=200).to_numpy(), result.conf_int().to_numpy()
        shown = np.isfinite(ends).all(axis=1)
        assert shown.all()
        hits.append((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        ratios.append(np.ptp(ends, axis=1) / np.ptp(plain, axis=1))
    assert (np.mean(hits, axis=0) >= 0.86).all(), np.mean(hits, axis=0)
    assert np.median(ratios) == pytest.approx(1, abs=0.1)


def test_what_the_noise_hides_has_no_bound_alone_and_a_reason():
    result = fit("y ~ x + g + h", rare(50_000, 1), 1.0)
    bound, ends = result.error_bound(), result.bootstrap(draws=100)
    hidden = result.bse.isna()
    assert 0 < hidden.sum() < 4 and "levels" in result.reasons["conf_int"]
    assert np.isinf(bound[hidden[hidden].index]).all()
    assert np.isfinite(bound[hidden[~hidden].index]).all()
    assert np.isinf(ends[hidden.to_numpy()]).all(axis=None)
    assert np.isfinite(ends[~hidden.to_numpy()]).all(axis=None)


def test_they_are_functions_of_the_release_and_come_back_with_it():
    result = fit(
        "y ~ x + z + I(z**2) + g", rare(20_000, 2).assign(z=lambda d: 4 * d["x"] ** 2), 4.0
    )
    again = dp.DPResults.from_json(result.to_json())
    for one in (result, again):
        assert one.error_bound(trials=50).equals(result.error_bound(trials=50))
        assert one.bootstrap(draws=50).equals(result.bootstrap(draws=50))
    larger = result.error_bound(95, trials=50)
    assert (larger >= result.error_bound(trials=50)).all()


def test_without_bounds_the_estimated_ranges_are_the_coordinates():
    result = fit("y ~ x + g", many(60_000, 6, 6)[0], 1.0, bounds=None)
    bound = result.error_bound(trials=100)
    ratio = bound / result.bse
    assert ((0.1 < ratio) & (ratio < 2)).all()
    center = result.bootstrap(draws=200).mean(axis=1)
    assert ((center - result.params).abs() < 0.5 * result.bse).all()


def test_bounds_of_groups_are_those_of_each():
    groups = fit("y ~ x + g", rare(20_000, 5), 20.0, by="h")
    table = groups.error_bound(trials=50).set_index(["h", "term"])["error_bound"]
    for label in "uvw":
        alone = groups[label].error_bound(trials=50)
        pd.testing.assert_series_equal(table[label], alone, check_names=False)


@pytest.mark.parametrize("method", ["shrunken", "shrunken_pure"])
def test_a_shrunken_fit_says_why_it_has_no_bound(method):
    """Its error is a bias too, which sums from which it would have to be simulated do not tell."""
    result = fit("y ~ x + g", rare(20_000, 3), 4.0, method)
    with pytest.raises(dp.NotReleasedError, match="reference="):
        result.error_bound()
    if method == "shrunken_pure":
        with pytest.raises(
            dp.NotReleasedError, match="no bootstrap of this fit: the fit is shrunken"
        ):
            result.bootstrap()
