"""The path of the lasso, against its conditions."""

import numpy as np

from dpstats.selection.path import standardised, sweep, term_weights
from tests.checks.selections import one_of_each


def test_the_path_solves_the_lasso():
    """The optimality conditions at a penalty, and k terms by the end."""
    rng = np.random.default_rng(9)
    X, y = one_of_each(rng, 80, 6)
    A = np.array([standardised(np.ascontiguousarray(c)) for c in X.T])
    r = standardised(y)
    gram, beta, penalty = A @ A.T, np.zeros(6), 0.1
    left = A @ r
    while sweep(gram, left, beta, penalty) > 1e-12:
        pass
    np.testing.assert_allclose(left, A @ (r - beta @ A), atol=1e-9)
    active = beta != 0
    np.testing.assert_allclose(left[active], penalty * np.sign(beta[active]), atol=1e-9)
    assert np.abs(left[~active]).max() <= penalty + 1e-9
    weights = term_weights(A, r, np.arange(6), 6, 2)
    assert set(np.argsort(-weights)[:2]) == {0, 1}
