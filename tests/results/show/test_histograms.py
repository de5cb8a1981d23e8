"""Pictures of descriptions: what is drawn is what is tabulated."""

from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import dpstats as dp


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
        assert pale == np.isinf(rows[["left", "right"]]).any(axis=1).tolist()
        middles = np.array([patch.get_x() + patch.get_width() / 2 for patch in ax.patches])
        assert np.isfinite(middles).all() and (np.diff(middles) > 0).all()
    figure.savefig(BytesIO())


def test_what_was_not_asked_for_is_not_drawn():
    found = described()
    with pytest.raises(dp.NotReleasedError, match="histogram=True"):
        _ = found.histogram
    with pytest.raises(dp.NotReleasedError, match="histogram=True"):
        found.plot(Figure())


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
