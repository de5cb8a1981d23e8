"""Plans of one regression per group: sizes, and fits that come out as forecast."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.planning.group_sizes import group_sizes, size_classes

UNIT = {"x": (0, 1), "y": (0, 1)}
CALL = {"bounds": UNIT, "epsilon": 2, "truth": {"x": 0.3}, "sd": 0.1, "repetitions": 200}


def test_classes_keep_the_number_of_groups_and_their_rows_about():
    counts = group_sizes(np.random.default_rng(1).integers(20, 4000, size=3000).tolist(), None)
    classes = size_classes(counts)
    assert len(classes) == 8 and sum(classes.values()) == 3000
    rows = sum(size * count for size, count in counts.items())
    assert sum(size * count for size, count in classes.items()) == pytest.approx(rows, rel=0.01)


@pytest.mark.parametrize("method", ["adassp", "exp_theil_sen", "noisy_newton"])
def test_fits_of_groups_come_out_as_forecast(method):
    """Errors of 200 groups in real fits are near the forecast, also where ranges are shared.

    As in the test of panels, a logarithm of .45 has a false alarm in 5,000 per number.
    """
    sizes = [300] * 20 + [2400] * 20
    forecast = dp.plan("y ~ x", by="g", n=sizes, methods=method, **CALL)
    frame = forecast.frame
    frame = frame[frame["method"] == method].set_index(["rows", "term"])
    assert forecast.groups == {300: 20, 2400: 20} and forecast.n == 54_000
    errors = {name: [] for name in ("x", "p75")}
    g = np.repeat(np.arange(40), sizes)
    for i in range(10):
        generator = np.random.default_rng([4, i])
        x = generator.uniform(size=len(g))
        y = np.clip(0.35 + 0.3 * x + generator.normal(size=len(g)) * 0.1, 0, 1)
        with dp.testing.insecure_seed(i):
            fit = dp.dp_ols("y ~ x", {"x": x, "y": y, "g": g}, by="g", groups=range(40),
                            method=method, epsilon=2, bounds=UNIT, progress=False)  # fmt: skip
        table = fit.frame.set_index(["term", "g"])["estimate"]
        errors["x"].append(abs(table["x"] - 0.3).to_numpy())
        errors["p75"].append(abs(table["p75"] - 0.575).to_numpy())
    for name, values in errors.items():
        medians = np.median(np.array(values).reshape(10, 2, 20), axis=(0, 2))
        expected = frame.loc[[(300, name), (2400, name)], "error"].to_numpy()
        assert (abs(np.log(medians / expected)) < 0.45).all(), (name, medians, expected)


def test_auto_is_what_groups_get():
    plan = dp.plan("y ~ x", by=["a", "b"], n=100, groups=3, method="auto", **CALL)
    named = {"methods": ["exp_theil_sen"], "neighbors": "add_remove"}
    same = dp.plan("y ~ x", by=["a", "b"], n=100, groups=3, **named, **CALL)
    numbers = ["error", "error_90", "failed"]
    pd.testing.assert_frame_equal(plan.frame[numbers], same.frame[numbers])


WRONG = {
    "no number": ({"n": 100}, "expected groups=, how many groups of n=100 rows each"),
    "two numbers": ({"n": [1, 2], "groups": 2}, "n lists the rows of each group"),
    "no sizes": ({"n": []}, "expected n to list the rows of each group, got none"),
    "a size of 0": ({"n": [5, 0]}, "n to be a whole number in 1..10000000, got 0"),
    "by in the formula": ({"by": "x", "n": [9]}, "by='x' is in the formula"),
    "by of numbers": ({"by": [1], "n": [9]}, r"one column or a list of columns, got \[1\]"),
    "share": ({"n": [9], "within_share": 0.5}, "describe the column after"),
    "sizes without by": ({"by": None, "n": [9, 8]}, r"n to be a whole number.*got \[9, 8\]"),
}


@pytest.mark.parametrize(("wrong", "message"), WRONG.values(), ids=WRONG)
def test_wrong_sizes_are_refused(wrong, message):
    with pytest.raises(dp.ArgumentError, match=message):
        dp.plan(**{"formula": "y ~ x", "by": "g", "methods": "adassp", **CALL, **wrong})
