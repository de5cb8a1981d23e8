"""The simulated Atlas has the shape and the statistics that its docstring gives."""

import numpy as np
import pandas as pd
import pytest

from dpstats.errors import ArgumentError
from dpstats.simulate import STATES, atlas, census_tracts


@pytest.fixture(scope="module")
def illinois():
    return atlas(seed=20)


def slopes(people):
    """Least-squares slopes by tract and n var(x), the weight of each."""
    centred = people - people.groupby("tract").transform("mean").assign(tract=0)
    centred = centred.assign(
        xx=centred["parent_rank"] ** 2, xy=centred["parent_rank"] * centred["kid_rank"]
    )
    sums = centred.groupby("tract")[["xx", "xy"]].sum()
    return sums["xy"] / sums["xx"], sums["xx"]


def test_rows_and_columns(illinois):
    assert list(illinois.columns) == ["tract", "parent_rank", "kid_rank"]
    assert illinois["tract"].drop_duplicates().tolist() == list(range(1, 3109))
    # floor(Exp(52)) is geometric: mean 1/(e^(1/52) - 1), s.d. sqrt(mean (1 + mean))
    mean = 1 / np.expm1(1 / 52)
    sd = np.sqrt(mean * (1 + mean))
    assert abs(len(illinois) - 3108 * (20 + mean)) < 3 * sd * np.sqrt(3108)
    sizes = illinois.groupby("tract").size()
    assert sizes.min() == 20
    assert 300 < sizes.max() < 700
    assert abs(sizes.std() / sd - 1) < 0.1


@pytest.mark.parametrize("column", ["parent_rank", "kid_rank"])
def test_ranks_are_uniform_hundredths(illinois, column):
    ranks = illinois[column]
    counts = ranks.value_counts().sort_index()
    assert counts.index.tolist() == [i / 100 for i in range(1, 101)]
    assert counts.max() - counts.min() <= 1


def test_slopes_are_the_published_ones(illinois):
    slope, weight = slopes(illinois)
    assert abs(np.average(slope, weights=weight) - STATES["IL"].rank_slope) < 0.02
    assert (slope > 0).mean() > 0.9
    pooled = np.polyfit(illinois["parent_rank"], illinois["kid_rank"], 1)[0]
    assert 0.38 < pooled < 0.46


def test_spread_within_tracts_is_the_papers(illinois):
    """Section 3.1.1: n var(x) lies between 0 and about 25, in most tracts below 5."""
    spread = slopes(illinois)[1]
    assert 0.6 < (spread < 5).mean() < 0.9
    assert 20 < spread.max() < 40


def test_parents_income_has_the_papers_moments():
    """Appendix A.1: mean mu_t, and variance 4 Var(mu_t) in every tract."""
    place, rng = STATES["IL"], np.random.default_rng(5)
    means = np.exp(rng.normal(place.log_income_mean, place.log_income_sd, 10**6))
    centre = np.full(1, place.log_income_mean)
    family = np.zeros(10**6, dtype=int)
    income = np.exp(census_tracts._log_parent_income(place, centre, family, rng))
    assert abs(income.mean() / np.exp(centre[0]) - 1) < 0.01
    assert abs(income.var() / means.var() / 4 - 1) < 0.05


def test_richer_tracts_have_richer_children(illinois):
    means = illinois.groupby("tract")[["parent_rank", "kid_rank"]].mean()
    assert means["parent_rank"].std() > 0.1
    assert means.corr().iloc[0, 1] > 0.4


def test_a_seed_repeats():
    pd.testing.assert_frame_equal(atlas(5, seed=3), atlas(5, seed=np.random.default_rng(3)))
    assert not atlas(5, seed=3).equals(atlas(5, seed=4))
    assert not atlas(5).equals(atlas(5))


@pytest.mark.parametrize("state", STATES)
def test_states(state):
    people = atlas(1000, seed=1, state=state)
    slope, weight = slopes(people)
    assert abs(np.average(slope, weights=weight) - STATES[state].rank_slope) < 0.03


def test_one_tract_and_many():
    assert set(atlas(1, seed=1)["tract"]) == {1}
    assert atlas(20_000, seed=1, state="US")["tract"].nunique() == 20_000


def test_bad_arguments():
    with pytest.raises(ArgumentError, match="one of IL, NC, US, got 'XX'"):
        atlas(state="XX")
    with pytest.raises(ArgumentError, match="one of IL, NC, US, got \\['IL'\\]"):
        atlas(state=["IL"])
    for bad in (0, -1, 2.5, "5", float("nan")):
        with pytest.raises(ArgumentError, match="tracts to be a whole number in 1.."):
            atlas(bad)
