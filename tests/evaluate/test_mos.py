"""The maximum observed sensitivity estimator, against its definition."""

import numpy as np
import pytest

import dpstats as dp
from dpstats.evaluate import (
    mos,
)

BOUNDS = {"kid_rank": (0, 1), "parent_rank": (0, 1)}


FORMULA = "kid_rank ~ parent_rank"


def observed_sensitivity(x, y, point):
    """n times the largest change of the OLS prediction when a grid point is added."""
    changes = [
        np.polyval(np.polyfit(np.r_[x, a], np.r_[y, b], 1), point)
        - np.polyval(np.polyfit(x, y, 1), point)
        for a in np.linspace(0, 1, 11)
        for b in np.linspace(0, 1, 11)
    ]
    return len(x) * np.max(np.abs(changes))


def test_mos_by_hand():
    people = dp.simulate.atlas(tracts=12, seed=4)
    ours = mos(
        FORMULA, people, by="tract", epsilon=8, x_new=[0.25], bounds=BOUNDS, seed=1, public=True
    )
    median, cells, kept = people["parent_rank"].median(), people.groupby("tract"), []
    for tract, rows in cells:
        x = rows["parent_rank"]
        if len(x) >= 20 and min((x < median).mean(), (x > median).mean()) >= 0.1:
            kept.append(tract)
    chi = max(
        observed_sensitivity(
            *cells.get_group(tract)[["parent_rank", "kid_rank"]].to_numpy().T, 0.25
        )
        for tract in kept
    )
    ours = ours.set_index("tract")
    assert 0 < len(kept) < 12 and list(ours.index[ours["status"] == "ok"]) == kept
    np.testing.assert_allclose(ours.loc[kept, "scale"], chi / (8 * cells.size()[kept]))
    assert ours.loc[~ours.index.isin(kept), "estimate"].isna().all()
    assert set(ours["method"]) == {"mos (not private)"}


def test_mos_in_other_units_and_with_two_points():
    people = dp.simulate.atlas(tracts=12, seed=4)
    call = {"by": "tract", "epsilon": 8, "seed": 1, "public": True}
    unit = mos(FORMULA, people, bounds=BOUNDS, **call)
    one = mos(FORMULA, people, x_new=[0.25], bounds=BOUNDS, **call)
    wide = mos("y ~ x", people.assign(x=4 + people["parent_rank"], y=10 * people["kid_rank"]),
               bounds={"x": (4, 5), "y": (0, 10)}, **call)  # fmt: skip
    np.testing.assert_allclose(wide[["estimate", "scale"]], 10 * unit[["estimate", "scale"]])
    # the points share epsilon
    np.testing.assert_allclose(unit.query("term == 'p25'")["scale"], 2 * one["scale"])


def test_mos_needs_people():
    few = {"g": np.array([1, 1, 2]), "x": [0.1, 0.5, 0.2], "y": [0.1, 0.2, 0.3]}
    bounds = {"x": (0, 1), "y": (0, 1)}
    assert set(mos("y ~ x", few, by="g", epsilon=1, bounds=bounds, public=True)["status"]) == {
        "suppressed"
    }
    with pytest.raises(dp.ArgumentError, match="public=True"):
        mos("y ~ x", few, by="g", epsilon=1, bounds=bounds)
