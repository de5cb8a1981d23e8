"""Sums over rows for noisy Newton steps: exact, and the same however the rows are cut."""

import pickle
from functools import partial

import numpy as np
import pytest

from dpstats.mechanisms.shared import IndicatorBasis, newton_sums
from dpstats.privacy import ADD_REMOVE
from tests.mechanisms.test_noisy_newton import ENDS, factor_case, rows


def worker_parts(case):
    """What a pass over the rows sends to a worker, one of each."""
    basis = IndicatorBasis.of(case.problem)
    map_, eta = basis.span, np.linspace(-1, 1, basis.span.shape[1])
    scores = basis, map_, case.problem.reference, eta, 1.5
    return {
        "rough": partial(newton_sums.rough_products, basis, 8.0),
        "leverages": partial(newton_sums.leverage_counts, basis, map_, 2.0),
        "whitened": partial(newton_sums.whitened_products, basis, map_, 3.0),
        "scores": partial(newton_sums.score_sums, *scores, 0.3),
        "norms": partial(newton_sums.score_counts, *scores),
    }


@pytest.mark.parametrize("part", ["rough", "leverages", "whitened", "scores", "norms"])
def test_a_pass_is_the_sum_of_its_rows_and_crosses_to_a_worker(part):
    """Exactly: so a row has the same part in it whatever rows stand beside it, and where."""
    work = worker_parts(factor_case(ADD_REMOVE))[part]
    X, y = rows(np.random.default_rng(3), 203, ENDS)
    whole = work(X, y)
    alone = sum(work(X[i : i + 1], y[i : i + 1]) for i in range(len(y)))
    sent = pickle.loads(pickle.dumps(work))(np.asfortranarray(X[::-1]), y[::-1])
    assert whole.tolist() == alone.tolist() == sent.tolist()
    assert (work(X[:0], y[:0]) == 0).all()
    assert all(isinstance(value, int) for value in whole.ravel().tolist())
