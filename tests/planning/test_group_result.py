"""Plans of groups as table, text and picture."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest

import dpstats as dp

CALL = {"bounds": {"x": (0, 1), "y": (0, 1)}, "epsilon": 2, "truth": {"x": 0.3}, "sd": 0.1}


def test_summary_csv_and_picture(tmp_path):
    plan = dp.plan("y ~ x", by="town", n=list(range(40, 60)), methods="adassp",
                   **{**CALL, "repetitions": 20})  # fmt: skip
    text = plan.summary()
    assert text == repr(plan) and text.startswith("Forecast of y ~ x by town")
    assert "20 groups, 990 rows: a table is one group" in text
    assert "The 20 sizes are put into 8 classes" in text
    assert max(map(len, text.splitlines())) <= 100
    assert list(plan.frame)[:3] == ["rows", "groups", "method"]
    plan.to_csv(tmp_path / "plan.csv")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "plan.csv"), plan.frame)
    size = list(plan.plans)[4]
    drawn = plan.plot(rows=size).lines[0].get_data()[1]
    frame = plan.plans[size].frame
    assert (
        drawn.tolist()
        == frame[(frame["term"] == "x") & (frame["method"] == "adassp")]["error"].tolist()
    )
    with pytest.raises(dp.ArgumentError, match="expected rows to be one of 41, .*got 7"):
        plan.plot(rows=7)
    with pytest.raises(dp.ArgumentError, match="expected rows to be a whole number"):
        plan.plot(rows=[41])


def test_the_minimum_epsilon_of_each_size():
    call = {**CALL, "epsilon": [0.1, 1, 10], "repetitions": 40}
    plan = dp.plan("y ~ x", by="g", n=[100, 5000], methods="adassp", target_width=0.1, **call)
    assert plan.least[["rows", "epsilon"]].to_numpy().tolist() == [[100, np.inf], [5000, 1]]
    assert "not enough" in plan.summary()
