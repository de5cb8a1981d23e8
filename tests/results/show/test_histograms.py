"""Pictures of descriptions: what is drawn is what is tabulated."""

from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import dpstats as dp


def patch_widths(ax) -> np.ndarray:
    return np.array([patch.get_width() for patch in ax.patches])


def described(**more) -> dp.DPDescription:
    rng = np.random.default_rng(0)
    people = pd.DataFrame({
        "a_$%": rng.normal(size=5000), "hours": rng.integers(0, 80, 5000),
        "g": pd.Categorical(rng.choice(["x_$", "y"], 5000)), "f": rng.random(5000) < 0.5,
    })  # fmt: skip
    with dp.testing.insecure_seed(1):
        return dp.dp_describe(people, ["a_$%", "hours", "g"], epsilon=1, **more)


@pytest.mark.parametrize("by, shape", [(None, (1, 3)), ("f", (3, 2))])
def test_bars_and_lines_are_the_counts_and_intervals(by, shape):
    found = described(by=by, histogram=True, bounds={"hours": (0, 80)})
    figure = Figure(layout="constrained")
    axes = found.plot(figure)
    assert axes.shape == shape and axes[0, 0].figure is figure
    table = found.histogram
    keys = ["variable"] if by is None else ["variable", by]
    pairs = [rows for _, rows in table.groupby(keys, sort=False)]
    for ax, rows in zip(axes.flat, pairs, strict=True):
        heights = [patch.get_height() for patch in ax.patches]
        np.testing.assert_allclose(heights, rows["count"])
        lines = np.array([s[:, 1] for s in ax.collections[0].get_segments()])
        np.testing.assert_allclose(lines, rows[["lower", "upper"]])
        pale = [patch.get_alpha() < 0.5 for patch in ax.patches]
        assert pale == (rows["right"] - rows["left"] > 1.1 * patch_widths(ax)).tolist()
        middles = np.array([patch.get_x() + patch.get_width() / 2 for patch in ax.patches])
        assert np.isfinite(middles).all() and (np.diff(middles) > 0).all()
    figure.savefig(BytesIO())


def test_a_wide_outer_bin_is_pale_and_the_picture_says_what_it_holds():
    """Within bounds an outer bin reaches them, and was drawn like one as narrow as the others."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"wide": rng.beta(8, 8, 5000), "even": rng.random(5000)})
    with dp.testing.insecure_seed(1):
        found = dp.dp_describe(people, ["wide", "even"], epsilon=4, histogram=True,
                               bounds={"wide": (0, 1), "even": (0, 1)})  # fmt: skip
    table = found.histogram.set_index("variable")
    widths = (table["right"] - table["left"])["wide"]
    assert widths.iloc[0] > 2 * widths.iloc[1]
    figure = Figure()
    wide, even = found.plot(figure).flat
    assert wide.patches[0].get_alpha() < 0.5 < wide.patches[1].get_alpha()
    assert figure.get_supxlabel().startswith("pale bars hold all beyond")
    assert all(patch.get_alpha() > 0.5 for patch in even.patches)


def test_the_picture_speaks_of_no_pale_bars_where_there_are_none():
    people = pd.DataFrame({"f": np.arange(4000) % 2 == 0})
    with dp.testing.insecure_seed(1):
        found = dp.dp_describe(people, ["f"], epsilon=4, histogram=True)
    figure = Figure()
    found.plot(figure)
    assert figure.get_supxlabel() == "lines are intervals that hold the noise"


def test_what_was_not_asked_for_is_not_drawn():
    found = described()
    with pytest.raises(dp.NotReleasedError, match="histogram=True"):
        _ = found.histogram
    with pytest.raises(dp.NotReleasedError, match="histogram=True"):
        found.plot(Figure())


def test_axes_are_no_figure():
    found = described(histogram=True)
    for wrong in (Figure().subplots(), "a.png"):
        with pytest.raises(dp.ArgumentError, match="expected figure to be a Figure of matplotlib"):
            found.plot(wrong)


def test_a_histogram_is_restored_and_recorded(tmp_path):
    found = described(histogram=True)
    again = dp.DPDescription.from_json(found.to_json())
    pd.testing.assert_frame_equal(again.histogram, found.histogram)
    found.record(tmp_path / "with")
    described().record(tmp_path / "without")
    assert len([*(tmp_path / "with").glob("*.png")]) == 1
    assert not [*(tmp_path / "without").glob("*.png")]


def test_the_name_of_the_method_says_how_to_call_it():
    assert repr(described(histogram=True).plot).startswith("call .plot(figure=None)")
