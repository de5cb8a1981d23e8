"""Forecasts for clusters are near what fits of such tables give."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.call import Prepared
from dpstats.errors import ArgumentError
from dpstats.evaluate.public_rows import request_for
from dpstats.planning.cluster_guess import ClusterGuess

BOUNDS = {"x": (0, 1), "z": (-4, 4), "y": (0, 1)}
CALL = {"n": 4000, "bounds": BOUNDS, "epsilon": 4, "repetitions": 20, "sd": 0.1,
        "cov_type": "cluster", "cluster": "state"}  # fmt: skip
UNEVEN = [12.0] * 3 + [1.0] * 60


def clustered_rows(generator, shares, n=8000, icc=0.2):
    """Draw clustered rows on their own: z has one value in a cluster, x does not know them."""
    state = generator.choice(len(shares), size=n, p=shares)
    of_state = generator.normal(size=(2, len(shares)))[:, state]
    errors = 0.1 * (icc**0.5 * of_state[0] + (1 - icc) ** 0.5 * generator.normal(size=n))
    x = generator.uniform(size=n)
    return {"x": x, "z": of_state[1], "y": 0.45 + 0.1 * x + errors, "state": state}


@pytest.mark.parametrize("sizes", [40, UNEVEN], ids=["even", "uneven"])
def test_a_forecast_is_near_fits_of_clusters(sizes):
    """Of medians of 25 widths each, of which z's have a relative error of 5 to 8% by simulation.

    Of z the interval without clusters is a tenth as wide, and the even one is two thirds of the
    uneven one, so that a forecast which does not know them is seen.
    """
    shares = np.full(sizes, 1 / sizes) if isinstance(sizes, int) else np.divide(sizes, sum(sizes))
    plan = dp.plan(
        "y ~ x + z", **CALL | {"n": 8000, "repetitions": 25}, clusters=sizes, icc=0.2,
        truth={"x": 0.1}, x_sd={"z": 1}, within_share={"x": 1, "z": 0},
    )  # fmt: skip
    widths, without = [], []
    for seed in range(25):
        rows = pd.DataFrame(clustered_rows(np.random.default_rng([7, seed]), shares))
        with dp.testing.insecure_seed(seed):
            fit = dp.dp_ols("y ~ x + z", rows, epsilon=4, bounds=BOUNDS, cov_type="cluster",
                            cluster="state")  # fmt: skip
        ols = smf.ols("y ~ x + z", rows).fit(
            cov_type="cluster", cov_kwds={"groups": rows["state"]}, use_t=True
        )
        widths.append(fit.conf_int().diff(axis=1).iloc[:, 1])
        without.append(ols.conf_int().diff(axis=1)[1])
    forecast = plan.frame.set_index(["method", "term"])["width"]
    for label, fits in (("auto", widths), ("ols (not private)", without)):
        ratio = forecast[label][["x", "z"]] / pd.DataFrame(fits).median()[["x", "z"]]
        assert ratio.between(1 / 1.3, 1.3).all(), (label, ratio)


def test_standard_errors_are_those_of_statsmodels():
    guess = ClusterGuess("state", 63, {}, 0.5, np.divide(UNEVEN, sum(UNEVEN)))
    drawn = clustered_rows(np.random.default_rng(3), guess.shares)
    rows = pd.DataFrame(drawn | {"state": guess.labels(8000)})
    request = request_for("y ~ x", rows, bounds=BOUNDS, x_new={"x": [0.4]})
    X = np.column_stack([np.ones(8000), rows["x"]])
    fit = guess.least_squares(Prepared.of(request).problem, X, rows["y"].to_numpy())
    ols = smf.ols("y ~ x", rows)
    ols = ols.fit(cov_type="cluster", cov_kwds={"groups": rows["state"]})
    np.testing.assert_allclose(fit[:2], np.column_stack([ols.params, ols.bse]), rtol=1e-6)
    assert guess.freedom(8000, 2) == 62


def test_any_first_rows_are_shared_alike():
    """Of the first n rows each cluster has its share, to within 4 of them."""
    shares = np.divide(UNEVEN, sum(UNEVEN))
    guess = ClusterGuess("state", 63, {}, 0.5, shares)
    for n in (50, 1000, 30_000):
        counts = np.bincount(guess.labels(n), minlength=63)
        assert np.abs(counts - n * shares).max() < 4
    assert guess.effective == pytest.approx(96**2 / (3 * 144 + 60))


def test_groups_have_clusters_of_their_own_and_are_few_enough_to_tell():
    call = {**CALL, "n": [3000, 3000], "by": "town", "clusters": 4, "method": "noisy_newton"}
    frame = dp.plan("y ~ x", **call).frame.query("method == 'noisy_newton' and term == 'x'")
    assert (frame["unbounded"] == 1).all()
    frame = dp.plan("y ~ x", **call | {"clusters": 30}).frame
    assert (frame["unbounded"] == 0).all()


def test_the_plan_says_what_is_guessed():
    text = dp.plan("y ~ x", **CALL, clusters=[30, 10, 10, 10], icc=0.2).summary()
    said = " ".join(str(text).split())
    assert "guessed state: 4 clusters, effectively 3; intra-class correlation of the" in said
    assert "residuals 0.2; shares of variance within one of them: x 0.5" in said


def test_errors_clustered_by_an_absorbed_column_are_forecast():
    call = {**CALL, "groups": 40, "truth": {"x": 0.1}}
    frame = dp.plan("y ~ x | state", **call).frame.set_index("method")
    assert frame.loc["auto", "width"] < 3 * frame.loc["ols (not private)", "width"]
    with pytest.raises(ArgumentError, match="of state groups says how many.*leave clusters out"):
        dp.plan("y ~ x | state", **call, clusters=40)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({}, "expected clusters= with cluster='state'.*of 2 to n=4000 clusters, got None"),
        ({"clusters": "50"}, "or their relative sizes.*got '50'"),
        ({"clusters": 1}, "expected clusters to be a whole number in 2..4000, got 1"),
        ({"clusters": [3]}, r"relative sizes, of 2 to n=4000 clusters, got \[3\]"),
        ({"clusters": [3, 0]}, r"expected a finite clusters\[1\] > 0, got 0"),
        ({"clusters": 9, "icc": -1}, r"icc in \[0, 1\], got -1"),
        ({"clusters": 9, "groups": 5}, "with cluster= give clusters="),
        ({"clusters": 9, "within_share": {"w": 1}}, "within_share names 'w'"),
        ({"clusters": 9, "cluster": "x"}, "got cluster='x', which is in the formula"),
        ({"clusters": 9, "unit": "id", "rows_per_person": 2}, "persons or of clusters, got unit"),
        ({"clusters": 9, "cluster": None}, "needs what to cluster by"),
        ({"clusters": 9, "cov_type": "HC1"}, 'allow for clusters; add cov_type="cluster"'),
        ({"clusters": 9, "cov_type": None, "cluster": None}, "clusters describes the column"),
        ({"icc": 0.1, "cov_type": None, "cluster": None}, "icc describes the persons of unit="),
        ({"clusters": 9, "method": "adassp"}, "adassp has no standard errors clustered by"),
    ],
)
def test_a_bad_guess_is_refused(more, message):
    with pytest.raises(ArgumentError, match=message):
        dp.plan("y ~ x", **{**CALL, **more})
