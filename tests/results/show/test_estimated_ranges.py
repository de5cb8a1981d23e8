"""Estimated ranges in summaries, beside the share of rows beyond them."""

import numpy as np
import pandas as pd

import dpstats as dp
from dpstats.results.show.estimated_ranges import note_on_ranges


def fitted(**call):
    generator = np.random.default_rng(1)
    frame = pd.DataFrame(generator.normal(size=(20_000, 2)), columns=["x1", "x2"])
    frame["y"] = frame.sum(axis=1) + generator.normal(size=len(frame))
    frame["part"] = ["a", "b"] * 10_000
    with dp.testing.insecure_seed(1):
        return dp.dp_ols("y ~ x1 + x2", frame, epsilon=2, **call)


def plain(text) -> str:
    return " ".join(str(text).split())


def test_ranges_stand_beside_the_share_of_rows_beyond_them():
    fit = fitted(method="adassp", bounds={"x2": (-5, 5)})
    (note,) = note_on_ranges(fit)
    kind, share = fit.schema["x1"], fit.release.evidence.clipped_share
    assert f"x1 [{kind.low:.4g}, {kind.high:.4g}]" in note and "x2" not in note
    assert f"about {share:.1%} of the rows" in note and "lie beyond one of them" in note
    assert note in plain(fit.summary())


def test_groups_say_it_of_the_median_one():
    groups = fitted(method="adassp", by="part")
    (note,) = note_on_ranges(groups)
    share = np.median(groups.stack.evidence.clipped_share)
    assert f"; in the median group about {share:.1%} of the rows" in note
    assert note in plain(groups.summary())


def test_a_method_that_releases_no_share_has_ranges_alone():
    (note,) = note_on_ranges(fitted(method="shrunken"))
    assert "x1 [" in note and "beyond one of them" not in note


def test_declared_ranges_need_no_note():
    bounds = dict.fromkeys(("x1", "x2", "y"), (-5, 5))
    assert note_on_ranges(fitted(method="adassp", bounds=bounds)) == []
