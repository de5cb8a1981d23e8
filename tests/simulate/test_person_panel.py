"""The simulated panel has the rows, the line and the correlation that were asked for."""

import numpy as np
import pandas as pd
import pytest

from dpstats.errors import ArgumentError
from dpstats.simulate import panel
from dpstats.simulate.person_panel import PANEL_LINE, PANEL_SD


def sizes(slips):
    return slips.groupby("person").size()


def errors(slips):
    line = PANEL_LINE["Intercept"] + slips[["education", "hours"]] @ [
        PANEL_LINE["education"],
        PANEL_LINE["hours"],
    ]
    return slips["log_wage"] - line


@pytest.mark.parametrize("icc", [0.0, 0.5, 0.9, 1.0])
def test_errors_have_the_correlation(icc):
    slips = panel(20_000, 4, icc=icc, seed=1)
    by_person = errors(slips).to_numpy().reshape(-1, 4)
    assert abs(by_person.std() - PANEL_SD) < 0.01
    # s.e. of each of the six correlations: at most 1 / sqrt(20,000) = .007
    correlations = np.corrcoef(by_person.T)[np.triu_indices(4, 1)]
    assert np.abs(correlations - icc).max() < 0.035


def test_a_person_keeps_education_and_changes_hours():
    slips = panel(5000, 10, seed=2)
    assert slips.groupby("person")["education"].nunique().max() == 1
    assert set(slips["education"]) == set(range(8, 21))
    hours = slips["hours"].to_numpy().reshape(-1, 10)
    assert abs(slips["hours"].mean() - 38) < 0.5
    assert abs(hours.var(axis=1, ddof=1).mean() - 36) < 1
    assert abs(hours.mean(axis=1).var() - 36 * 1.1) < 4


def test_fixed_numbers_of_rows():
    slips = panel(300, 7, seed=3)
    assert slips["person"].tolist() == np.repeat(np.arange(1, 301), 7).tolist()


def test_poisson_numbers_of_rows():
    rows = sizes(panel(20_000, 10, shape="poisson", seed=4))
    assert abs(rows.mean() - 10) < 0.12 and abs(rows.var() - 10) < 0.5
    assert rows.min() >= 1


def test_pareto_numbers_of_rows():
    rows = sizes(panel(20_000, 9, shape="pareto", seed=5))
    assert rows.min() == 3 and rows.max() == 50
    # half of Pareto's numbers lie below 3 * 2^(2/3) = 4.76, and 1 in 68 above 50
    assert abs((rows < 5).mean() - (1 - (3 / 5) ** 1.5)) < 0.02
    assert abs((rows == 50).mean() - (3 / 50) ** 1.5) < 0.005


def test_numbers_of_rows_tell_nothing_about_errors():
    slips = panel(20_000, 8, shape="pareto", seed=6)
    means = errors(slips).groupby(slips["person"]).mean()
    assert abs(np.corrcoef(means, sizes(slips))[0, 1]) < 0.035


def test_a_seed_repeats():
    pd.testing.assert_frame_equal(panel(5, seed=3), panel(5, seed=np.random.default_rng(3)))
    assert not panel(5, seed=3).equals(panel(5, seed=4))
    assert not panel(5).equals(panel(5))


def test_bad_arguments():
    for bad in (0, 1.5, "9"):
        with pytest.raises(ArgumentError, match="persons to be a whole number in 1.."):
            panel(bad)
    for bad in (0, 51, 2.5):
        with pytest.raises(ArgumentError, match=r"rows to be a whole number in 1..50"):
            panel(5, bad)
    with pytest.raises(ArgumentError, match=r"rows in \[1, 50\], got 0.5"):
        panel(5, 0.5, shape="poisson")
    with pytest.raises(ArgumentError, match=r"icc in \[0, 1\], got 1.1"):
        panel(5, icc=1.1)
    with pytest.raises(ArgumentError, match="'fixed' or 'poisson' or 'pareto', got 'zipf'"):
        panel(5, shape="zipf")
    with pytest.raises(ArgumentError, match="'fixed' or 'poisson' or 'pareto', got a ndarray"):
        panel(5, shape=np.array(["fixed", "pareto"]))
