"""Tables made from a guess: what was guessed, within the bounds."""

import numpy as np
import pytest

from dpstats.evaluate.public_rows import request_for
from dpstats.planning.assumptions import Guess

UNIT = {"x": (0, 1), "y": (0, 1)}


def guess_of(n=20_000, truth=None, sd=None, x_sd=None):
    """A guess of y ~ x on the unit square."""
    no_rows = {"x": np.empty(0), "y": np.empty(0)}
    request = request_for("y ~ x", no_rows, bounds=UNIT, levels=None, x_new=None)
    return Guess.of(request, n, truth, sd, x_sd)


@pytest.mark.parametrize(
    ("more", "mean", "sd"),
    [({}, 0.5, 1 / 12**0.5), ({"x_sd": {"x": 0.1}}, 0.5, 0.1)],
)
def test_simulated_tables_are_what_was_guessed(more, mean, sd):
    guess = guess_of(truth={"x": 0.5}, sd=0.05, **more)
    X, y = guess.rows(np.random.default_rng(1))
    assert X.shape == (20_000, 2) and (X[:, 0] == 1).all()
    assert np.mean(X[:, 1]) == pytest.approx(mean, abs=0.01)
    assert np.std(X[:, 1]) == pytest.approx(sd, rel=0.03)
    residuals = y - guess.truth @ X.T
    assert np.std(residuals) == pytest.approx(0.05, rel=0.03)
    assert np.mean(residuals) == pytest.approx(0, abs=0.002)


def test_simulated_tables_stay_within_the_bounds():
    guess = guess_of(truth={"x": 3}, x_sd={"x": 5})
    X, y = guess.rows(np.random.default_rng(1))
    assert (X.min(), X.max(), y.min(), y.max()) == (0, 1, 0, 1)
    assert guess.sd == pytest.approx(1 / 6)
    clipped = [text for text in guess.sentences(np.random.default_rng(1)) if "outside" in text]
    assert float(clipped[0].split(";")[1].split("%")[0]) > 30
