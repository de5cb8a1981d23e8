"""Inference from few clusters: Student's t with one less than their number of degrees."""

import numpy as np
import pytest
from scipy.stats import t

from dpstats.inference import ClusterWald, Wald


def made(clusters, hidden=None):
    groups = len(clusters)
    params, cov = np.tile([1.0, -2.0], (groups, 1)), np.tile(np.diag([4.0, 0.25]), (groups, 1, 1))
    bounded = np.zeros(groups, dtype=bool)
    return ClusterWald(params, cov, bounded, hidden, clusters=np.array(clusters))


def test_intervals_have_a_length_of_students_t_for_each_group():
    found = made([10.5, 3.0]).intervals(np.eye(2), 0.1)
    for g, degrees in enumerate([9.5, 2.0]):
        half = t.isf(0.05, degrees) * np.array([2.0, 0.5])
        np.testing.assert_allclose(found[g].T, [[1, -2] - half, [1, -2] + half])


def test_p_values_are_those_of_students_t():
    found = made([10.5, 3.0]).p_values(np.eye(2), np.array([0.0, -2.0]))
    np.testing.assert_allclose(found[:, 0], 2 * t.sf(0.5, [9.5, 2.0]))
    assert found[:, 1].tolist() == [1.0, 1.0]


def test_one_cluster_has_one_degree_at_least_and_many_are_as_good_as_normal():
    assert made([0.5]).degrees().tolist() == [1.0]
    many, rows = made([1e9]), np.array([[1.0, 1.0]])
    normal = Wald(many.params, many.cov, many.unbounded)
    assert normal.degrees().tolist() == [np.inf]
    np.testing.assert_allclose(many.intervals(rows, 0.05), normal.intervals(rows, 0.05), rtol=1e-7)


def test_a_fit_whose_errors_are_not_clustered_has_normal_ones():
    mixed, rows = made([np.nan, 10.5]), np.eye(2)
    assert mixed.degrees().tolist() == [np.inf, 9.5]
    normal = Wald(mixed.params, mixed.cov, mixed.unbounded).intervals(rows, 0.05)
    np.testing.assert_allclose(mixed.intervals(rows, 0.05)[0], normal[0])
    assert mixed.p_values(rows, np.zeros(2))[0, 0] == pytest.approx(0.617, abs=1e-3)


def test_what_noise_hides_has_no_interval():
    hidden = np.tile(np.diag([4.0, 0.0]), (1, 1, 1))
    found = made([30.0], hidden)
    assert np.isinf(found.intervals(np.eye(2), 0.05)).tolist() == [[[True, True], [False, False]]]
    assert np.isnan(found.errors(np.eye(2))).tolist() == [[True, False]]
    assert found.p_values(np.eye(2), np.zeros(2))[0, 1] == pytest.approx(2 * t.sf(4, 29))
