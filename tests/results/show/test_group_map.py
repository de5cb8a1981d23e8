"""Maps of groups: which shape has which colour, and what is said of those without one."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

import dpstats as dp
from tests.checks.groups import AREAS, seeded
from tests.checks.plots import squares

pytest.importorskip("geopandas")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture
def groups(fit, line):
    """A release of the three areas."""
    return seeded(fit, line, "noisy_moments", epsilon=50, by="area", groups=AREAS)


def colours(ax) -> dict[float, tuple]:
    """The colour of each coloured square, by its left edge."""
    (shapes,) = [c for c in ax.collections if c.get_array() is not None]
    shapes.update_scalarmappable()
    lefts = [path.vertices[:, 0].min() for path in shapes.get_paths()]
    return dict(zip(lefts, map(tuple, shapes.get_facecolor()), strict=True))


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_each_square_has_the_colour_of_its_group(groups):
    ax = groups.map(squares(AREAS[::-1]), "x")
    ax.figure.canvas.draw()
    (shapes,) = [c for c in ax.collections if c.get_array() is not None]
    np.testing.assert_allclose(shapes.get_array(), groups.params["x"][AREAS[::-1]])
    assert list(colours(ax)) == [0, 1, 2] and len({*colours(ax).values()}) == 3
    assert ax.get_legend() is None and "NOT PRIVATE" in ax.get_title()
    assert ax.figure.axes[1].get_ylabel() == "x"


def test_shapes_without_a_value_are_told_apart(fit, line):
    by = seeded(fit, line, "noisy_moments", epsilon=50, by="area", groups=[*AREAS, "none", "far"])
    ax = by.map(squares(["a0", "none", "a1", "elsewhere"], "tract"), "p25", on="tract")
    ax.figure.canvas.draw()
    assert list(colours(ax)) == [0, 2]
    assert legend(ax) == ["1 not released", "1 no group", "2 without a shape"]


def test_groups_that_are_not_identified_are_hatched(fit, line):
    by = seeded(fit, line, "noisy_moments", epsilon=0.7, by="area", groups=AREAS)
    assert "not_identified" in set(by.status)
    ax = by.map(squares(AREAS), "x")
    ax.figure.canvas.draw()
    hatched = [c for c in ax.collections if c.get_hatch() == "///"]
    lefts = {path.vertices[:, 0].min() for c in hatched for path in c.get_paths()}
    marked = np.flatnonzero(by.status[AREAS] == "not_identified")
    assert lefts == {*marked} and f"{len(marked)} not identified" in legend(ax)


def test_several_columns_and_shapes_of_one_label(fit, line):
    labels = [("a0", "u"), ("a1", "v")]
    by = seeded(fit, line, "noisy_moments", epsilon=80, by=["area", "kind"], groups=labels)
    shapes = squares(["a0", "a0", "a1", "a1"]).assign(sort=["u", "u", "u", "v"])
    _, ax = plt.subplots()
    assert by.map(shapes, "x", on=["area", "sort"], ax=ax) is ax
    assert list(colours(ax)) == [0, 1, 3] and colours(ax)[0] == colours(ax)[1]


def test_wrong_calls_are_refused(groups):
    shapes = squares(AREAS)
    for term in ("z", np.array(["x", "p25"])):
        with pytest.raises(dp.ArgumentError, match="term to be one of Intercept, x, p25, p75"):
            groups.map(shapes, term)
    with pytest.raises(dp.ArgumentError, match="GeoDataFrame.*got a DataFrame"):
        groups.map(groups.frame, "x")
    with pytest.raises(dp.ArgumentError, match="on to name what of tract, geometry holds area"):
        groups.map(squares(AREAS, "tract"), "x")
    with pytest.raises(dp.ArgumentError, match=r"area is such as \['a0'\] and tract such as \[1\]"):
        groups.map(squares([1, 2], "tract"), "x", on="tract")
    assert repr(groups.map).startswith("call .map(shapes, term: str, on=None, ax=None): colour")
