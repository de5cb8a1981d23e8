"""Pictures of groups: what they show, mark, say and leave out."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

import dpstats as dp
from dpstats.evaluate import ols_reference
from dpstats.results.show import group_plot
from tests.checks.plots import BOUNDS, FORMULA, drawn, fit, legend


@pytest.fixture(scope="module")
def people():
    return dp.datasets.oi_microdata()


@pytest.fixture(scope="module")
def weak():
    """Groups of which some are not identified."""
    return fit(dp.datasets.oi_microdata(), by="cell", method="noisy_moments", epsilon=3)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_every_group_is_a_point_inside_or_on_the_edge(people):
    ax = fit(people, by="cell", method="exp_theil_sen", epsilon=16).plot()
    drawn(ax)
    inside, outside = (len(drawn.get_offsets()) for drawn in ax.collections)
    assert inside + outside == 111
    assert legend(ax) == ["private estimate", f"{outside} outside the frame"]
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    edge = np.asarray(ax.collections[1].get_offsets())
    on_edge = np.isin(edge[:, 0], [left, right]) | np.isin(edge[:, 1], [bottom, top])
    assert on_edge.all()


def cross(ax) -> np.ndarray:
    """Half the width and half the height of the cross."""
    (container,) = ax.containers
    return np.array([np.ptp(bars.get_segments()[0], axis=0).max() / 2 for bars in container[2]])


def within(ax, result) -> np.ndarray:
    """Which groups lie in the frame."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    return result.p25.between(left, right) & result.p75.between(bottom, top)


def test_the_cross_is_the_typical_error_of_the_full_points_in_the_frame(people):
    for epsilon in (1.5, 3, 16):
        result = fit(people, by="cell", method="noisy_moments", epsilon=epsilon)
        ax = result.plot()
        drawn(ax)
        errors = result.frame.pivot(index="cell", columns="term", values="std_error")
        shown = within(ax, result) & (result.status == "ok")
        expected = errors.loc[shown, ["p25", "p75"]].median()
        np.testing.assert_allclose(cross(ax), expected)
        assert "±1 median standard error" in legend(ax)
        full = ax.collections[0].get_offsets()
        assert len(full) == shown.sum()


def test_groups_that_are_not_identified_are_hollow(weak):
    ax = weak.plot()
    drawn(ax)
    full, *_ = ax.collections
    assert full.get_facecolor().size and full.get_label() == "private estimate"
    hollow = [c for c in ax.collections if "not identified" in c.get_label()]
    assert hollow and not any(c.get_facecolor().size for c in hollow)
    marked = np.vstack([c.get_offsets() for c in hollow])
    assert len(marked) == (weak.status == "not_identified").sum() > 3


def test_groups_that_are_not_identified_do_not_set_the_frame(weak):
    ax = weak.plot()
    (left, right), known = ax.get_xlim(), weak.p25[weak.status == "ok"]
    assert right - left < 1.2 * np.ptp(known)


def test_without_any_identified_group_all_are_framed_and_there_is_no_cross(people):
    result = fit(people, by="cell", groups=[1, 2, 3], method="noisy_moments", epsilon=0.5)
    assert set(result.status) == {"not_identified"}
    ax = result.plot()
    drawn(ax)
    assert not ax.containers and "not identified" in legend(ax)
    assert within(ax, result).all()


def test_a_cross_that_speaks_for_some_points_counts_them():
    _, ax = plt.subplots()
    ax.scatter([0], [0])
    errors = np.array([0.1, np.nan, 0.3, 0.2])
    group_plot._cross(ax, errors, errors)
    np.testing.assert_allclose(cross(ax), 0.2)
    assert ax.containers[0].get_label() == "±1 median standard error of 3 of 4 points"


def test_cross_keeps_to_the_emptiest_corner():
    _, ax = plt.subplots()
    ax.set(xlim=(0, 10), ylim=(0, 10))
    ax.scatter([1, 1, 9], [1, 9, 9])
    group_plot._cross(ax, np.array([0.5]), np.array([0.5]))
    x, y = ax.containers[0][0].get_data()
    assert x[0] > 8 and y[0] < 2


def test_absent_groups_are_counted(people):
    ax = fit(people, by="cell", groups=[1, 2, 3, 999], method="exp_theil_sen").plot()
    drawn(ax)
    assert "1 of 4 not released" in legend(ax)


def test_nothing_released_is_an_empty_picture(people):
    ax = fit(people, by="cell", groups=[998, 999], method="exp_theil_sen").plot()
    drawn(ax)
    assert "2 of 2 not released" in legend(ax)


def test_many_groups_are_small_and_pale():
    atlas = dp.simulate.atlas(tracts=1001, seed=1)
    ax = fit(atlas, by="tract", method="noisy_stats", epsilon=16).plot()
    drawn(ax)
    assert ax.collections[0].get_alpha() == 0.3
    assert ax.get_legend().legend_handles[0].get_alpha() == 1


def test_groups_without_p25_are_refused(people):
    with pytest.raises(dp.NotReleasedError, match="p25"):
        fit(people, by="cell", x_new=0.5).plot()


def test_comparison_joins_each_group_to_its_reference(people):
    result = fit(people, by="cell", method="exp_theil_sen", epsilon=16)
    reference = ols_reference(FORMULA, people, by="cell", bounds=BOUNDS, public=True)
    shuffled = reference.sample(frac=1, random_state=1)
    ax = group_plot.comparison(result, shuffled)
    drawn(ax)
    x, y = ax.lines[3].get_data()
    ols = reference[reference["cell"] == 4].set_index("term")["estimate"]
    np.testing.assert_allclose(x, [result.p25[4], ols["p25"]])
    np.testing.assert_allclose(y, [result.p75[4], ols["p75"]])
    assert {"OLS, not private", "±1 median OLS standard error"} <= set(legend(ax))
