"""Noisy gradient descent: the clipped sums, the accounting by another library, the fit."""

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent, SelfComposedDpEvent
from dp_accounting.pld import PLDAccountant

import dpstats as dp
from tests.checks.recording import fit as fit_unit
from tests.checks.recording import line_data


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize("epsilon, delta, steps", [(1.0, 1e-6, 200), (0.2, 1e-9, 30)])
def test_dp_accounting_agrees_on_the_whole_run(neighbors, epsilon, delta, steps):
    """The noise in units of the sensitivity, step by step, costs epsilon and hardly less."""
    x, y = line_data(50)
    _, noise = fit_unit(
        "noisy_sgd", x, y, epsilon, delta=delta, steps=steps, neighbors=neighbors, clip=0.5
    )
    moved = 0.5 if neighbors == "add_remove" else 1.0
    multipliers = {event.scale / moved for event in noise.events}
    assert len(noise.events) == steps and len(multipliers) == 1
    accountant = PLDAccountant()
    accountant.compose(SelfComposedDpEvent(GaussianDpEvent(multipliers.pop()), steps))
    assert accountant.get_epsilon(delta) == pytest.approx(epsilon, rel=0.01)


def test_a_step_sums_gradients_clipped_one_by_one():
    """Against a plain loop; the direction of a clipped gradient stays."""
    x, y = line_data(40, noise=0.5)
    outputs = [np.array([30.0, -20.0]), np.zeros(2)]
    _, noise = fit_unit("noisy_sgd", x, y, steps=2, clip=0.3, learning_rate=0.2, outputs=outputs)
    theta, wanted = np.array([0.2, -0.2]), np.zeros((2, 2))
    for u, v in zip(2 * x - 1, 2 * y - 1, strict=True):
        row = np.array([1.0, u])
        for step, point in enumerate((np.zeros(2), theta)):
            gradient = (v - row @ point) * row
            wanted[step] += gradient * min(1, 0.3 / np.linalg.norm(gradient))
    for query, sums in zip(noise.queries, wanted, strict=True):
        found = np.array(query.values, dtype=float) * query.unit
        np.testing.assert_allclose(found, sums, atol=40 * 2.0**-18)


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_it_is_near_least_squares_as_epsilon_grows(neighbors):
    x, y = line_data(4000, seed=3)
    slope, intercept = np.polyfit(x, y, 1)
    gaps = []
    for epsilon in (0.1, 1, 1000):
        release, _ = fit_unit("noisy_sgd", x, y, epsilon, seed=1, neighbors=neighbors)
        gaps.append(np.abs(release.params - [intercept, slope]).max())
    assert gaps[2] < 2e-3 and gaps[2] < gaps[1] < gaps[0] < 0.3


@pytest.mark.parametrize(
    "name, value", [("steps", 0), ("steps", 1.5), ("clip", 0), ("clip", "1"), ("learning_rate", 11)]
)
def test_options_are_checked(name, value, fit, line):
    with pytest.raises(dp.ArgumentError, match=f"expected {name}"):
        fit(line, "noisy_sgd", **{name: value})
