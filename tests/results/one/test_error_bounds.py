"""Error bounds from a release alone, against those measured on public data."""

from dataclasses import replace

import numpy as np
import pytest

import dpstats as dp

UNIT = {"x": (0, 1), "y": (0, 1)}


def test_error_bounds_with_a_companion_are_those_of_the_first_method():
    data = dp.simulate.line(600, seed=1).assign(g=[i % 2 for i in range(600)])
    call = {"method": "noisy_stats", "epsilon": 8, "bounds": UNIT, "companion": "noisy_moments"}
    with dp.testing.insecure_seed(1):
        groups = dp.dp_ols("y ~ x", data, by="g", **call)
        single = dp.dp_ols("y ~ x", data, **call)
    for result in (groups, single):
        with pytest.raises(dp.NotReleasedError, match="reference="):
            result.error_bound()
    bound = single.error_bound(reference=data, trials=60)
    whole = replace(single, share=1.0).error_bound(reference=data, trials=60)
    assert single.share == groups.share == 0.5 and (bound > whole).all()
    by_group = groups.error_bound(reference=data, trials=20)["error_bound"]
    alone = replace(groups, share=1.0).error_bound(reference=data, trials=20)["error_bound"]
    assert (by_group > alone).all()
    assert dp.DPResults.from_json(single.to_json()).share == 0.5


@pytest.mark.parametrize("method", ["noisy_moments", "adassp"])
def test_error_bounds_are_those_measured_on_public_data(method):
    data = dp.simulate.line(3000, x_sd=0.2, seed=1)
    call = {"epsilon": 1, "bounds": UNIT}
    with dp.testing.insecure_seed(1):
        result = dp.dp_ols("y ~ x", data, method=method, **call)
    own = result.error_bound(q=68)
    measured = dp.evaluate.error_bounds(
        "y ~ x", data, methods=[method], trials=400, seed=1, public=True, **call
    )
    np.testing.assert_allclose(own[["p25", "p75"]], measured["c_hat"], rtol=0.25)
    assert (result.error_bound(q=95) > own).all()
    assert dp.DPResults.from_json(result.to_json()).error_bound(q=68).equals(own)


def test_other_methods_need_a_reference_for_their_error_bounds():
    data = dp.simulate.line(300, x_sd=0.2, seed=1)
    result = dp.dp_ols("y ~ x", data, method="noisy_stats", epsilon=4, bounds=UNIT)
    with pytest.raises(dp.NotReleasedError, match="reference="):
        result.error_bound()
    with pytest.raises(dp.ArgumentError, match="no complete row"):
        result.error_bound(reference=dp.simulate.line(5, seed=9).assign(x=np.nan))
    own = result.error_bound(reference=dp.simulate.line(500, x_sd=0.2, seed=9))
    measured = dp.evaluate.error_bounds("y ~ x", data, methods=["noisy_stats"], trials=400, seed=1,
                                        epsilon=4, bounds=UNIT, public=True)  # fmt: skip
    np.testing.assert_allclose(own[["p25", "p75"]], measured["c_hat"], rtol=0.35)


@pytest.mark.parametrize("method", ["adassp", "noisy_newton", "noisy_moments"])
def test_what_an_error_bound_would_ignore_is_refused(method):
    data = dp.simulate.line(400, seed=1).assign(g=["a", "b"] * 200)
    call = {"method": method, "epsilon": 8, "bounds": UNIT, "progress": False}
    single = dp.dp_ols("y ~ x", data, **call)
    groups = dp.dp_ols("y ~ x", data, by="g", groups=["a", "b"], **call)
    with pytest.raises(dp.ArgumentError, match="leave reference out"):
        single.error_bound(reference=data)
    for result in (single, groups):
        with pytest.raises(dp.ArgumentError, match="tau= is an option of a fit to public rows"):
            result.error_bound(tau=3)
    with pytest.raises(dp.ArgumentError, match="reference to be a data frame, got a dict"):
        groups.error_bound(reference={"x": [1]})


def test_error_bounds_by_group():
    data = dp.simulate.line(900, seed=1).assign(g=[i % 3 for i in range(900)])
    call = {"by": "g", "groups": [0, 1, 2, 9], "epsilon": 8, "bounds": UNIT}
    bounds = dp.dp_ols("y ~ x", data, method="noisy_moments", **call).error_bound()
    assert list(bounds) == ["g", "term", "error_bound"] and len(bounds) == 16
    assert bounds["error_bound"][:12].notna().all() and bounds["error_bound"][12:].isna().all()
    stats = dp.dp_ols("y ~ x", data, method="noisy_stats", **call)
    again = stats.error_bound(reference=data, trials=40)
    assert again["error_bound"][:12].notna().all()
    with pytest.raises(dp.ArgumentError, match="group column"):
        stats.error_bound(reference=data[["x", "y"]])
