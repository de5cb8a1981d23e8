"""What is said of an epsilon is true of the mechanisms that have it."""

import math
import re

import pytest
from scipy.stats import norm

from dpstats.privacy import ADD_REMOVE, GDP, REPLACE_ONE
from dpstats.study.plans.promise import promise


def chance(text: str) -> float:
    return float(re.search(r"at most ([\d.]+)%", text)[1]) / 100


@pytest.mark.parametrize("epsilon", [0.5, 1, 4, 8])
def test_the_chance_is_that_of_randomised_response_and_bounds_gaussian_noise(epsilon):
    """Randomised response is right with the chance e^epsilon / (1 + e^epsilon)."""
    said = chance(promise(epsilon))
    assert said == pytest.approx(1 / (1 + math.exp(-epsilon)), abs=0.005)
    delta = 1e-6
    best = norm.cdf(GDP.of(epsilon, delta).mu / 2)  # of telling N(0, 1) from N(mu, 1)
    assert best < chance(promise(epsilon, delta)) + 0.005


@pytest.mark.parametrize(
    ("epsilon", "factor"), [(0.5, "1.6"), (1, "2.7"), (4, "55"), (8, "3,000"), (16, "10^7")]
)
def test_the_factor_is_that_of_the_definition(epsilon, factor):
    assert f"a factor of at most {factor}." in promise(epsilon)


def test_delta_and_relation_are_said():
    text = promise(1, 5e-7, ADD_REMOVE)
    assert "in the table or not" in text and text.endswith("but for a chance of 5e-07.")
    assert "values of an income" in promise(1, 0, REPLACE_ONE)
    assert "equally likely, is right" in promise(1)
