"""Levels with one outcome have no interval, and others with a strong effect have one."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.testing import insecure_seed


def shown(effect: float, rows: int, epsilon: float, kind: str) -> list[bool]:
    """Tell of 12 tables whether a fifth of the rows, with such an effect, has an interval."""
    found = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x, level = rng.normal(size=rows), rng.random(rows) < 0.2
        chance = 1 / (1 + np.exp(1 - effect * level - 1.2 * x))
        table = pd.DataFrame({"y": rng.random(rows) < chance, "x": x})
        table["g"] = pd.Categorical(np.where(level, "b", "a")) if kind == "factor" else level * 1.0
        with insecure_seed(seed):
            fit = dp.dp_logit("y ~ x + g", table, epsilon=epsilon)
        found.append(bool(np.isfinite(fit.bse.filter(like="g")).all()))
    return found


@pytest.mark.parametrize("kind", ["factor", "number"])
@pytest.mark.parametrize(("rows", "epsilon"), [(3000, 4.0), (20000, 1.0)])
def test_a_level_with_one_outcome_has_no_interval(kind, rows, epsilon):
    """The effect is infinite: any interval that is shown misses it, as 2 of 12 did."""
    assert not any(shown(30.0, rows, epsilon, kind))


@pytest.mark.parametrize("kind", ["factor", "number"])
def test_a_level_in_which_few_have_the_other_outcome_has_an_interval(kind):
    assert all(shown(3.0, 20000, 4.0, kind))
