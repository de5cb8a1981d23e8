"""Standard errors that are clustered by the absorbed column."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import dpstats as dp
from dpstats.estimators.newton.within.clusters_of_pairs import GroupScores, Limited, by_group, moved
from dpstats.privacy import ADD_REMOVE, RELATIONS
from tests.checks.pairs_within import (
    PURE,
    check_worst_clusters,
    check_worst_lengths,
    line,
    queries_of,
    stacked,
)


def test_products_of_two_vectors_that_are_near_are_as_near_as_is_derived():
    """Random vectors in a ball, among them those at its edge; the bound is reached."""
    generator, best = np.random.default_rng(1), {}
    for step in (0.3, 1.0, 2.0):
        for _ in range(4000):
            u = generator.normal(size=3)
            u *= generator.choice([1.0, generator.random()]) / np.linalg.norm(u)
            d = generator.choice([-u, generator.normal(size=3)], axis=0)
            v = u + d * step / np.linalg.norm(d) * generator.choice([1.0, generator.random()])
            v /= max(np.linalg.norm(v), 1.0)
            far = np.linalg.norm(np.outer(u, u) - np.outer(v, v))
            assert far <= moved(step, 1.0) + 1e-9
            best[step] = max(best.get(step, 0.0), far / moved(step, 1.0))
    assert best[0.3] > 0.99


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_worst_rows_reach_the_stated_sensitivity(neighbors):
    check_worst_clusters(neighbors)
    check_worst_clusters(neighbors, limit=PURE)
    check_worst_clusters(neighbors, units=(2.0, 0.5))
    check_worst_lengths(neighbors)


def test_scores_of_two_responses_stand_beside_each_other_in_their_units():
    """Those of d, which is y here, are a quarter as long in a unit of 4."""
    X, y = stacked(line(5, 1), line(9, 1, part=1), line(3, 2))
    queries = queries_of(X, y, ADD_REMOVE)
    at = queries.at(np.eye(2), np.zeros(2))
    both = GroupScores((Limited(at, 1.0), Limited(at, 1.0, 4.0)))
    sums = queries.total(both.sums) / 2**20 * both.limit
    np.testing.assert_allclose(sums, [[6, 0, 1.5, 0], [1, 0, 0.25, 0]], atol=1e-4)
    assert both.p == 4 and both.limit == np.hypot(1, 0.25)


def test_parts_of_a_group_are_added_up():
    """Pairs of a line have scores of length 1, so of n rows (n - 1) / 2 is their sum over n."""
    X, y = stacked(line(5, 1), line(9, 1, part=1), line(3, 2))
    queries = queries_of(X, y, ADD_REMOVE)
    at = queries.at(np.eye(2), np.zeros(2))
    sums = queries.total(lambda rows: by_group(at, 1.0, rows)) / 2**20
    np.testing.assert_allclose(sums, [[2 + 4, 0], [1, 0]], atol=1e-4)
    assert (
        queries_of(X[:0], y[:0], ADD_REMOVE).total(lambda rows: by_group(at, 1.0, rows)).size == 0
    )


def test_errors_of_few_large_groups_tend_to_clustered_ones():
    """Slopes of 100 groups of lognormal sizes that are the larger, the larger the group is."""
    rng = np.random.default_rng(1)
    sizes = rng.lognormal(0, 1.2, 100)
    g = rng.choice(100, 20_000, p=sizes / sizes.sum())
    frame = pd.DataFrame({"g": g, "x": rng.normal(size=len(g))})
    frame["y"] = (0.3 + 0.2 * np.log(sizes))[g] * frame["x"] + rng.normal(size=len(g))
    centred = frame - frame.groupby("g").transform("mean").assign(g=0)
    theirs = sm.OLS(centred["y"], centred[["x"]]).fit(
        cov_type="cluster", cov_kwds={"groups": frame["g"]}
    )
    with dp.testing.insecure_seed(1):
        fit = dp.dp_ols("y ~ x | g", frame, epsilon=1000)
    assert fit.bse["x"] == pytest.approx(theirs.bse["x"], rel=0.03)
