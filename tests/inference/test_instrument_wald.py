"""Inference with instruments: rejections in the worst case, intervals that agree with tests."""

from itertools import product

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import t

from dpstats.inference import InstrumentWald, Wald

F_SHOWN = 10.0


def made(strength, effect=1.0, error=0.5, clusters=np.nan):
    params, cov = np.array([[effect]]), np.array([[[error**2]]])
    given = {"clusters": np.array([clusters]), "strength": np.array([strength])}
    return InstrumentWald(params, cov, np.array([False]), None, **given)


def critical(alpha: float, f: np.ndarray) -> np.ndarray:
    """Half the length of an interval in standard errors."""
    ends = [made(strength, 0.0, 1.0).intervals(np.eye(1), alpha)[0, 0, 1] for strength in f]
    return np.array(ends)


def rejected(alpha: float, r: float, f0: float, c, v) -> float:
    """The chance of |t| > c(|f|) and f^2 >= 10, by quadrature over v, where f = f0 + v.

    t^2 > c^2 is A a^2 + B a > c^2, and given v the statistic a is normal about r v.
    """
    f = f0 + v
    weights = np.exp(-(v**2) / 2) * (f**2 >= F_SHOWN)
    f, size = np.where(f == 0, np.nan, f), np.interp(np.abs(f), *c)
    A, B = 1 - size**2 / f**2, 2 * r * size**2 / f
    if r == 1:
        chance = A * v**2 + B * v > size**2
    else:
        with np.errstate(invalid="ignore"):
            root, s = np.sqrt(B**2 + 4 * A * size**2), np.sqrt(1 - r**2)
        ends = np.sort(np.stack([-B - root, -B + root]) / (2 * A), axis=0)
        low, high = ndtr((ends - r * v) / s)
        chance = np.where(A > 0, low + 1 - high, np.where(np.isnan(root), 0.0, high - low))
    return float(weights @ chance / np.exp(-(v**2) / 2).sum())


@pytest.mark.parametrize(("alpha", "most"), [(0.01, 0.0112), (0.05, 0.0502), (0.1, 0.1003)])
def test_the_worst_case_rejects_as_often_as_it_says(alpha, most):
    grid = np.geomspace(F_SHOWN**0.5, 60, 2000)
    c = grid, critical(alpha, grid)
    coarse, fine = np.linspace(-9, 9, 1501), np.linspace(-9, 9, 60001)
    steps = np.arange(0.0, 40.0, 0.25)
    worst = {1.0: max(rejected(alpha, 1.0, f0, c, fine) for f0 in steps)}
    for r in (0.0, 0.5, 0.8, 0.95, 0.99):
        worst[r] = max(rejected(alpha, r, f0, c, coarse) for f0 in steps)
    assert max(worst, key=worst.__getitem__) == 1.0
    assert 0.98 * alpha < worst[1.0] <= most


def test_usual_critical_values_reject_more_often():
    """What makes the test above fail: with 1.96 the worst case is far above 5%."""
    v = np.linspace(-9, 9, 20001)
    c = np.array([0.0, 100.0]), np.full(2, 1.96)
    assert max(rejected(0.05, 1.0, f0, c, v) for f0 in np.arange(0.0, 10.0, 0.25)) > 0.08


def test_critical_values_are_those_of_the_paper():
    """3.43 at an F of 10, and the usual 1.96 from 104.67 on."""
    found = critical(0.05, np.sqrt([10.0, 104.6, 104.7, 1e6]))
    assert found[0] == pytest.approx(3.43, abs=0.005)
    assert found[1] > -ndtri(0.025) and found[2:] == pytest.approx(-ndtri(0.025), rel=1e-12)


def test_a_p_value_is_alpha_at_the_end_of_an_interval():
    for strength, clusters in product((3.3, 6.0, 9.0, 20.0), (np.nan, 8.0, 40.0)):
        for alpha in (0.2, 0.05, 0.01):
            errors = made(strength, clusters=clusters)
            ends = errors.intervals(np.eye(1), alpha)[0, 0]
            for end in ends:
                assert errors.p_values(np.eye(1), np.array([end]))[0, 0] == pytest.approx(alpha)


def test_with_clusters_quantiles_are_those_of_students_t():
    """The usual one where the first stage is strong, else as of the normal law."""
    found = made(1e6, 0.0, 1.0, clusters=9.0).intervals(np.eye(1), 0.05)[0, 0, 1]
    assert found == pytest.approx(t.isf(0.025, 8)) and made(1e6, clusters=9.0).degrees() == [8.0]
    weaker = made(4.0, 0.0, 1.0, clusters=9.0).intervals(np.eye(1), 0.05)[0, 0, 1]
    assert weaker == pytest.approx(t.isf(0.05, 8) / (1 - t.isf(0.05, 8) / 4))


def test_no_level_is_beyond_that_of_the_first_stage():
    errors = made(3.3, effect=1e9)
    assert errors.p_values(np.eye(1), np.zeros(1))[0, 0] == pytest.approx(ndtr(-3.3), rel=1e-4)
    assert np.isinf(errors.intervals(np.eye(1), 1e-4)).all()


def test_a_strong_instrument_leaves_the_normal_law():
    strong = made(1e6)
    normal = Wald(strong.params, strong.cov, strong.unbounded)
    np.testing.assert_allclose(
        strong.intervals(np.eye(1), 0.05), normal.intervals(np.eye(1), 0.05), rtol=1e-12
    )
    assert normal.strengths().tolist() == [np.inf]
