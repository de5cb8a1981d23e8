"""Clustered standard errors of Newton's steps: sensitivities, and the sums they are made of."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.estimators import METHODS
from dpstats.estimators.newton.steps.clusters import (
    clipped_products,
    labels,
    moved,
    raised,
    score_sums,
    sizes,
)
from dpstats.numerics import Rows
from dpstats.privacy import RELATIONS
from dpstats.testing import insecure_seed
from tests.checks.joint_clusters import MODELS, check_random, check_worst
from tests.checks.newton_clusters import check_clusters
from tests.checks.newton_queries import X, Y, queries
from tests.checks.noisy_newton import coded


@pytest.mark.parametrize("name", ["noisy_newton", "noisy_newton_pure"])
@pytest.mark.parametrize("kind", [{}, {"weighted": True}, {"by_unit": True}])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_no_row_or_unit_moves_the_sums_of_clusters_further_than_stated(neighbors, kind, name):
    assert check_clusters(neighbors, METHODS[name], **kind) is None


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", [{}, {"weighted": True}, {"by_unit": True}])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_same_of_logits_counts_and_two_responses(neighbors, kind, model):
    assert check_random(model, neighbors, **kind) is None
    assert check_worst(model, neighbors, **kind) is None


@pytest.mark.parametrize("length", [1.5015, 2.0, 5.0])
def test_a_row_moves_clipped_products_by_at_most_what_is_stated(length):
    """Every pair of a sum and a score on a grid of directions and lengths, where 99% is reached."""
    one, angles = 2.0**20, np.linspace(0, 2 * np.pi, 25)
    lengths = np.array([0, 0.5, 1 - 1 / length, 1, 1.2]) * length * one
    sums = [size * np.array([np.cos(a), np.sin(a)]) for size, a in product(lengths, angles)]
    scores = [size * np.array([np.cos(a), np.sin(a)]) for size in (one / 2, one) for a in angles]
    furthest, most = 0.0, moved(length, 2)
    for u, s in product(np.trunc(sums), np.trunc(scores)):
        change = clipped_products((u + s)[None], length) - clipped_products(u[None], length)
        furthest = max(furthest, np.linalg.norm(change.astype(float)) * 2.0**-40)
    assert 0.99 * most < furthest <= most


def test_sums_are_exact_in_any_order_and_in_batches():
    at = queries(1e6).at(np.eye(7)[:, :4], np.array([0.1, -0.2, 0.3, 0.0]))
    keys = np.random.default_rng(1).integers(0, 5, len(Y)).astype(float)
    given = coded(X, Y)
    whole = Rows(given.numbers, given.response, given.codes, clusters=keys)
    order = np.random.default_rng(2).permutation(len(Y))
    for count in (lambda rows: score_sums(partial(at.clipped, 3.0), 4, rows), sizes):
        found, moved_rows = count(whole), count(whole[order])
        batches = count(whole[:1500]) + count(whole[1500:])
        for other in (moved_rows, batches):
            np.testing.assert_array_equal(found.keys, other.keys)
            np.testing.assert_array_equal(found.sums, other.sums)
    assert sizes(whole).sums.ravel().tolist() == [n << 20 for n in np.bincount(keys.astype(int))]


def test_a_unit_is_in_the_cluster_of_most_of_its_rows():
    units = np.array([3, 3, 3, 4, 4, 9, 9, 9, 9])
    keys = np.array([5.0, 2.0, 5.0, 8.0, 1.0, 7.0, 7.0, 2.0, 2.0])
    given = Rows(np.zeros((9, 1)), np.zeros(9), parts=np.full(9, 0.25), units=units, clusters=keys)
    assert labels(given).tolist() == [5.0, 1.0, 2.0]
    found = sizes(given)
    assert found.keys.tolist() == [1.0, 2.0, 5.0]
    assert found.sums.ravel().tolist() == [2 << 18, 4 << 18, 3 << 18]
    assert labels(given[:0]).tolist() == [] and sizes(given[:0]).sums.shape == (0, 1)


def test_no_direction_has_less_variance_than_its_noise():
    generator = np.random.default_rng(3)
    noisy = generator.normal(size=(4, 4))
    noisy = noisy + noisy.T
    found = raised(noisy, 0.5)
    assert np.linalg.eigvalsh(found).min() >= 0.5 - 1e-12
    assert np.linalg.eigvalsh(found - noisy).min() > -1e-12
    np.testing.assert_allclose(raised(np.diag([3.0, 4.0]), 0.0), np.diag([3.0, 4.0]))


def panel(n=6000, clusters=40, seed=5):
    """Rows of clusters of different sizes, in which x and errors are correlated."""
    generator = np.random.default_rng(seed)
    sizes_of = np.arange(1, clusters + 1)
    group = generator.choice(clusters, n, p=sizes_of / sizes_of.sum())
    shared = generator.normal(size=(2, clusters))[:, group]
    x, errors = 0.4 * shared + generator.normal(size=(2, n))
    frame = pd.DataFrame({"x": x, "z": generator.normal(size=clusters)[group], "g": group})
    frame["w"] = generator.choice([0.5, 1.0, 2.0], n)
    return frame.assign(y=1 + 0.5 * x + 0.2 * frame["z"] + errors)


@pytest.mark.parametrize("delta", [None, 0])
@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("formula", ["y ~ x + z", "y ~ x + I(x**2)"])
def test_as_epsilon_grows_errors_are_those_of_statsmodels(formula, weights, delta):
    """Up to the factor for few clusters, G / (G - 1), in which G is the effective number."""
    data = panel()
    given = {} if weights is None else {"weights": "w", "bounds": {"w": (0, 2)}}
    given |= {"delta": delta}
    with insecure_seed(1):
        fit = dp.dp_ols(formula, data, epsilon=1e7, cov_type="cluster", cluster="g", **given)
    model = smf.ols(formula, data) if weights is None else smf.wls(formula, data, weights=data["w"])
    theirs = model.fit(cov_type="cluster", cov_kwds={"groups": data["g"]})
    totals = data.groupby("g")["w"].sum() if weights else data["g"].value_counts()
    number = totals.sum() ** 2 / (totals**2).sum()
    G = data["g"].nunique()
    factor = np.sqrt(number / (number - 1) * (G - 1) / G)
    np.testing.assert_allclose(fit.params, theirs.params, atol=2e-4)
    np.testing.assert_allclose(fit.bse, factor * theirs.bse, rtol=0.01)
    assert fit.fit_statistics.loc["clusters", "estimate"] == pytest.approx(number, rel=1e-3)


def test_a_cluster_of_one_row_each_has_the_errors_of_hc1():
    data = panel(3000).assign(row=np.arange(3000))
    with insecure_seed(1):
        fit = dp.dp_ols("y ~ x + z", data, epsilon=1e7, cov_type="cluster", cluster="row")
    theirs = smf.ols("y ~ x + z", data).fit(cov_type="HC1")
    np.testing.assert_allclose(fit.bse, theirs.bse, rtol=0.01)


def test_persons_in_clusters_have_the_errors_of_clusters():
    """Of persons with two rows each, all in one cluster; weights are those of a row of two."""
    data = panel(8000)
    data = data.assign(id=data.groupby("g").cumcount() // 2 + 1000 * data["g"])
    given = {"unit": "id", "max_rows": 2, "cov_type": "cluster", "cluster": "g"}
    with insecure_seed(1):
        fit = dp.dp_ols("y ~ x + z", data, epsilon=1e7, **given)
    theirs = smf.ols("y ~ x + z", data).fit(cov_type="cluster", cov_kwds={"groups": data["g"]})
    np.testing.assert_allclose(fit.bse, theirs.bse, rtol=0.02)
    assert "count for the g that most of them are in" in " ".join(fit.privacy.assumptions)


def test_below_six_clusters_no_interval_is_shown_and_below_twenty_it_is_said():
    few, some = panel(clusters=5), panel(clusters=15)
    with insecure_seed(1):
        none = dp.dp_ols("y ~ x", few, epsilon=8, cov_type="cluster", cluster="g")
        fit = dp.dp_ols("y ~ x", some, epsilon=8, cov_type="cluster", cluster="g")
    assert none.status == "not_identified" and "below 6" in none.reasons["conf_int"]
    assert "degrees of freedom" not in none.summary().as_text()
    assert np.isinf(none.conf_int()).all(axis=None) and none.bse.isna().all()
    assert fit.status == "ok" and np.isfinite(fit.conf_int()).all(axis=None)
    text = str(fit.summary())
    assert "Clusters:" in text and "with fewer than 20" in text and "P>|t|" in text


def test_intervals_and_tests_are_those_of_students_t():
    from scipy.stats import f, t

    with insecure_seed(1):
        fit = dp.dp_ols("y ~ x + z", panel(), epsilon=8, cov_type="cluster", cluster="g")
    degrees = fit.fit_statistics.loc["clusters", "estimate"] - 1
    half = (fit.conf_int()[1] - fit.conf_int()[0]) / 2
    np.testing.assert_allclose(half, t.isf(0.025, degrees) * fit.bse)
    np.testing.assert_allclose(fit.pvalues, 2 * t.sf(fit.tvalues.abs(), degrees), atol=1e-12)
    joint = fit.f_test("x = 0.5, z = 0.2")
    assert joint.pvalue == pytest.approx(f.sf(joint.fvalue, 2, degrees))


@pytest.mark.parametrize(("epsilon", "least"), [(1.0, 0.92), (100.0, 0.90)])
def test_intervals_cover_the_true_coefficient(epsilon, least):
    """60 fits of fixed seeds; least squares' own clustered intervals hold it in 93%."""
    held = []
    for seed in range(60):
        with insecure_seed(seed):
            fit = dp.dp_ols("y ~ x + z", panel(seed=seed), epsilon=epsilon, cov_type="cluster",
                            cluster="g")  # fmt: skip
        low, high = fit.conf_int().loc["x"]
        held.append(low <= 0.5 <= high)
    assert np.mean(held) >= least
