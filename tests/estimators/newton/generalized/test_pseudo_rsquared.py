"""McFadden's pseudo R-squared from released sums: the identity, and its first-order error."""

import numpy as np
import pytest
from scipy.special import expit

from dpstats.estimators.newton.generalized.logistic_sums import entropies
from dpstats.estimators.newton.generalized.pseudo_rsquared import Released, mcfadden

RNG = np.random.default_rng(4)
A = RNG.normal(size=(4000, 3))
A[:, 0] = 1.0
Y = (RNG.random(4000) < expit(A @ [-1.0, 0.8, 0.4])) * 1.0
NONE, SHARE = np.zeros((3, 3)), float(Y.mean())


def best():
    """The maximum of the likelihood by Newton's steps, and the Hessian there."""
    b = np.zeros(3)
    for _ in range(30):
        mean = expit(A @ b)
        information = A.T @ (A * (mean * (1 - mean))[:, None])
        b = b + np.linalg.solve(information, A.T @ (Y - mean))
    return b, information


B, INFORMATION = best()


def at(b, entropy_noise=0.0, moved=NONE, cut=0.0, share=(SHARE, 0.0), rows=(4000.0, 0.0)):
    entropy = Released(entropies(expit(A @ b)).sum(), entropy_noise)
    return mcfadden(entropy, Released(*share), Released(*rows), b, INFORMATION, moved, cut)


def test_at_the_maximum_the_entropies_are_the_log_likelihood():
    mean, share = expit(A @ B), Y.mean()
    fit = (Y * np.log(mean) + (1 - Y) * np.log(1 - mean)).sum()
    null = 4000 * (share * np.log(share) + (1 - share) * np.log(1 - share))
    assert at(B).value == pytest.approx(1 - fit / null, abs=1e-12) and at(B).noise == 0


def test_noise_of_a_position_moves_it_by_as_much_as_is_stated():
    """2,000 positions about the best one; a mean square has the relative deviation .03."""
    moved = 4 * np.linalg.inv(INFORMATION)
    found = [at(b, moved=moved) for b in RNG.multivariate_normal(B, moved, 2000)]
    missed = np.array([one.value for one in found]) - at(B).value
    stated = np.sqrt(np.mean([one.noise**2 for one in found]))
    assert np.sqrt(np.mean(missed**2)) == pytest.approx(stated, rel=0.1)
    assert abs(np.mean(missed)) < 0.15 * stated


@pytest.mark.parametrize(
    "noise", [{"entropy_noise": 20.0}, {"share": (SHARE, 0.02)}, {"rows": (4000.0, 30.0)},
              {"cut": 0.2}],
)  # fmt: skip
def test_each_noise_is_an_error(noise):
    assert at(B, **noise).noise > 1e-4


def test_it_is_nan_where_noise_leaves_it_open_and_never_beyond_0_and_1():
    assert np.isnan(at(B, entropy_noise=1000.0)).all()
    assert np.isnan(at(B, share=(1.1, 0.0))).all() and np.isnan(at(B, share=(0.0, 0.0))).all()
    assert at(B, rows=(3000.0, 0.0)).value == 0.0
