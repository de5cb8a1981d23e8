"""What summaries say of weights, and of levels that the noise hides."""

import numpy as np

import dpstats as dp
from dpstats.testing import insecure_seed


def weighted(high: float):
    """A fit of the default by weights from 50 to 500, declared to lie in (0, high)."""
    rng = np.random.default_rng(5)
    data = dp.simulate.line(4000, seed=1).assign(w=rng.uniform(50, 500, 4000))
    with insecure_seed(6):
        return dp.dp_ols(
            "y ~ x", data, method="noisy_newton", epsilon=4, weights="w", bounds={"w": (0, high)}
        )


def test_weights_that_nearly_all_reach_their_bound_are_said():
    high = weighted(1)
    assert 0.97 < high.evidence.mean_weight < 1.03 and high.evidence.sigma2 is None
    note = next(note for note in high.summary().notes if "weights" in note)
    assert "of the largest one on average" in note and "units of the column" in note
    assert note in type(high).from_json(high.to_json()).summary().notes


def test_weights_below_their_bound_are_not():
    usual = weighted(500)
    assert 0.5 < usual.evidence.mean_weight < 0.6
    assert not any("weights are" in note for note in usual.summary().notes)


def test_levels_that_the_noise_hides_are_said_of_a_quoted_response_too():
    data = dp.simulate.line(2000, seed=1).assign(g=["a", "b"] * 1000)
    levels = {"g": ["a", "b", "misspelt"]}
    for name, formula in (("y", "y ~ x + g"), ("y 1", "Q('y 1') ~ x + g")):
        with insecure_seed(2):
            fit = dp.dp_ols(
                formula, data.rename(columns={"y": name}), method="adassp", epsilon=8,
                bounds={"x": (0, 1), name: (0, 1)}, levels=levels,
            )  # fmt: skip
        said = " ".join(fit.summary().notes)
        assert "the noise hides the effects of g[T.misspelt]" in said
