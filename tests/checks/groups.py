"""Fit with a seed, and read texts whatever their line breaks."""

import numpy as np
import pytest

import dpstats as dp

AREAS = ["a0", "a1", "a2"]


def words(text) -> str:
    """A text in one line."""
    return " ".join(str(text).split())


def squeezed(text) -> str:
    """A text without white space, so that breaks after hyphens do not matter."""
    return "".join(str(text).split())


def check_groups_spend():
    """What is released once for all groups and what each has add up to the budget."""
    rng = np.random.default_rng(1)
    data = {"area": np.repeat(AREAS, 400), "x": rng.normal(size=1200), "z": rng.normal(size=1200)}
    data["y"] = data["x"] + rng.normal(size=1200)
    with dp.testing.insecure_seed(1):
        report = dp.dp_ols("y ~ x + z", data, by="area", groups=AREAS, epsilon=20).privacy
    assert report.limit.covers([event.cost for event in report.events])
    assert report.spent == pytest.approx((report.epsilon, report.delta), rel=1e-4)


def seeded(fit, *arguments, seed=6, **keywords):
    with dp.testing.insecure_seed(seed):
        return fit(*arguments, **keywords)
