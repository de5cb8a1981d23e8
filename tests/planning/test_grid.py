"""Grids of plans: each cell is a call of plan, and widths that have no design are left out."""

import numpy as np
import pytest

import dpstats as dp
from dpstats.planning import page, plan_grid

UNIT = {"x": (0, 1), "y": (0, 1)}
CALL = {"n": 400, "bounds": UNIT, "methods": ["adassp"], "epsilon": [1, 4], "repetitions": 20}


@pytest.fixture(scope="module")
def grid():
    return plan_grid("y ~ x", truth={"x": 0.5}, progress=False, **CALL)


def test_the_cell_that_was_asked_for_is_the_plan(grid):
    expected = dp.plan("y ~ x", truth={"x": 0.5}, **CALL)
    assert grid.plans[400, 1].frame.equals(expected.frame)
    stated = dp.plan("y ~ x", **grid.calls[400, 1])
    np.testing.assert_array_equal(stated.frame["width"], expected.frame["width"])


@pytest.mark.parametrize("cell", [(100, 1), (1600, 3)])
def test_every_cell_is_the_call_that_it_states(grid, cell):
    assert grid.calls[cell]["n"] == cell[0]
    assert dp.plan("y ~ x", **grid.calls[cell]).frame.equals(grid.plans[cell].frame)


def test_the_assumed_data_stay_as_they_are_when_bounds_widen(grid):
    assert grid.calls[400, 2]["bounds"] == {"x": (-0.5, 1.5), "y": (-0.5, 1.5)}
    narrow, wide = grid.plans[400, 1], grid.plans[400, 2]
    assert (
        (wide.truth, wide.sd) == (narrow.truth, narrow.sd) == ({"Intercept": 0.25, "x": 0.5}, 1 / 6)
    )
    assert "x uniform on [0, 1]" in " ".join(wide.guesses)

    def of(plan, method):
        frame = plan.frame
        return frame[(frame["method"] == method) & (frame["term"] == "x")]["width"].to_numpy()

    # wider bounds clip nothing more, so least squares sees nearly the same rows
    ols = of(wide, "ols (not private)") / of(narrow, "ols (not private)")
    assert ols == pytest.approx(1, rel=0.1)
    assert (of(wide, "adassp") > 1.5 * of(narrow, "adassp")).all()


def test_more_rows_make_intervals_narrower(grid):
    widths = [grid.plans[n, 1].frame.query("term == 'x' and epsilon == 4")["width"].item()
              for n in grid.rows]  # fmt: skip
    assert grid.rows == (100, 200, 400, 800, 1600) and (np.diff(widths) < 0).all()


def test_widths_without_a_design_are_left_out_with_their_reason():
    call = {**CALL, "bounds": {"x": (1, 3), "y": (0, 1)}}
    grid = plan_grid("y ~ np.log(x)", progress=False, **call)
    assert grid.widths == (1, 1.5) and len(grid.plans) == 5 * 2
    assert any("bounds times 3" in text and "log" in text for text in grid.left_out)


def test_bounds_of_weights_do_not_widen():
    call = {**CALL, "n": 200, "bounds": {**UNIT, "w": (0, 50)}, "weights": "w", "weights_mean": 2}
    grid = plan_grid("y ~ x", progress=False, **call)
    assert grid.widths == (1, 1.5, 2, 3) and len(grid.plans) == 5 * 4 and not grid.left_out
    assert {tuple(each["bounds"]["w"]) for each in grid.calls.values()} == {(0, 50)}
    assert grid.calls[200, 3]["bounds"]["x"] == (-1, 2)


def test_a_width_to_search_for_is_refused():
    with pytest.raises(dp.ArgumentError, match="target_width searches for one epsilon"):
        plan_grid("y ~ x", **CALL, target_width=0.2)


def test_wrong_guesses_are_refused():
    for more in (
        {"truth": {"z": 1}},
        {"methods": ["nosuch"]},
        {"n": 0},
        {"x_range": {"z": (0, 1)}},
    ):
        with pytest.raises(dp.ArgumentError):
            plan_grid("y ~ x", **{**CALL, **more})


BAD_RANGES = [{"z": (0, 1)}, {"x": (0, 2)}, {"x": (0.5, 0.5)}, {"x": 3}, {"x": ("a", 1)}, 7]


@pytest.mark.parametrize("ranges", BAD_RANGES, ids=str)
def test_ranges_of_regressors_lie_within_their_bounds(ranges):
    with pytest.raises(dp.ArgumentError, match="x_range"):
        dp.plan("y ~ x", x_range=ranges, **CALL)
    with pytest.raises(dp.ArgumentError, match="^x_sd and x_range both name 'x'; leave"):
        dp.plan("y ~ x", x_range={"x": (0, 1)}, x_sd={"x": 0.1}, **CALL)


def test_a_grid_keeps_absorbed_groups_and_refuses_those_of_by():
    call = {"bounds": {"x": (0, 1), "y": (0, 1)}, "methods": "adassp", "epsilon": [1, 4],
            "repetitions": 20, "progress": False}  # fmt: skip
    grid = plan_grid("y ~ x | firm", n=200, groups=60, within_share=0.4, **call)
    assert grid.rows == (100, 200, 400, 800) and grid.calls[400, 2]["groups"] == 60
    assert "groups to be a whole number in 1..49, got 60" in grid.left_out[0]
    again = dp.plan("y ~ x | firm", **{**grid.calls[400, 2], "progress": False})
    assert again.frame.equals(grid.plans[400, 2].frame)
    assert "groups=60, within_share=0.4" in page(grid)
    with pytest.raises(dp.ArgumentError, match=r"one regression, got by='town'; leave by out"):
        plan_grid("y ~ x", n=[50, 60], by="town", **call)
