"""Means of logistic and Poisson regressions, each row by itself."""

import numpy as np
import pytest
from scipy.special import expit

from dpstats.numerics.logistic_loops import probabilities, rates


def test_they_are_those_of_scipy():
    t = np.concatenate([np.linspace(-45, 45, 9001), [0.0, 1e300, -1e300]])
    found = probabilities(0.0, t[None], np.ones(1))
    assert found == pytest.approx(expit(np.clip(t, -40, 40)), rel=1e-10)
    assert ((found >= 0) & (found <= 1)).all()


def test_center_and_columns_add_up():
    rng = np.random.default_rng(1)
    columns, eta = rng.normal(size=(3, 50)), np.array([0.5, -1.0, 2.0])
    assert probabilities(0.3, columns, eta) == pytest.approx(expit(0.3 + eta @ columns), rel=1e-10)


def test_a_row_is_the_same_to_the_bit_whatever_rows_stand_beside_it():
    rng = np.random.default_rng(2)
    columns, eta = rng.normal(0, 9, (4, 1003)), rng.normal(size=4)
    together = probabilities(-1.0, columns, eta)
    alone = [
        probabilities(-1.0, np.ascontiguousarray(columns[:, [i]]), eta)[0] for i in range(1003)
    ]
    assert together.tolist() == alone


def test_rates_are_exponentials_up_to_where_they_are_cut():
    t = np.concatenate([np.linspace(-45, 45, 9001), [0.0, 1e300, -1e300]])
    found = rates(0.0, t[None], np.ones(1), 20.0)
    assert found == pytest.approx(np.exp(np.clip(t, -40, 20)), rel=1e-8)
    rng = np.random.default_rng(3)
    columns, eta = rng.normal(0, 3, (4, 1003)), rng.normal(size=4)
    together = rates(-1.0, columns, eta, 20.0)
    assert together == pytest.approx(np.exp(np.minimum(eta @ columns - 1, 20)), rel=1e-8)
    each = (np.ascontiguousarray(columns[:, [i]]) for i in range(1003))
    assert together.tolist() == [rates(-1.0, column, eta, 20.0)[0] for column in each]
