"""Several group columns: the combinations there are, in tables and in files."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp

BOUNDS = {"x": (0, 1), "y": (0, 1), "z": (0, 1)}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(5)
    n = 600
    frame = pd.DataFrame({"x": rng.uniform(size=n)})
    frame["y"], frame["z"] = 0.2 + 0.5 * frame["x"], 0.9 - 0.5 * frame["x"]
    frame["state"] = rng.choice(["A", "B"], n)
    frame["tract"] = rng.integers(1, 4, n)
    return frame[(frame["state"] != "B") | (frame["tract"] != 3)]


def fit(data, formula="y ~ x", method="noisy_moments", epsilon=1e6, **more):
    return dp.dp_ols(formula, data, method=method, epsilon=epsilon, **more)


def test_groups_of_several_columns_are_the_combinations_present(people):
    one = people.assign(both=people["state"] + people["tract"].astype(str))
    both = fit(people, by=["state", "tract"], bounds={"x": (0, 1), "y": (0, 1)})
    joined = fit(one, by="both", bounds={"x": (0, 1), "y": (0, 1)})
    assert both.by == ("state", "tract")
    assert both.labels == (("A", 1), ("A", 2), ("A", 3), ("B", 1), ("B", 2))
    assert [f"{state}{tract}" for state, tract in both.labels] == list(joined.labels)
    assert np.allclose(both.estimates, joined.estimates, atol=1e-3)
    assert both.privacy.events == joined.privacy.events
    assert any("state x tract present" in text for text in both.privacy.assumptions)


def test_results_by_several_columns_are_tidy(people, tmp_path):
    res = fit(people, by=["state", "tract"], bounds={"x": (0, 1), "y": (0, 1)})
    assert list(res.frame.columns[:4]) == ["state", "tract", "term", "estimate"]
    assert res.frame["tract"].dtype.kind == "i" and len(res.frame) == 5 * 4
    assert res.params.index.names == ["state", "tract"]
    assert abs(res.params.loc[("A", 2), "x"] - 0.5) < 0.01
    assert "regressions by state x tract" in res.summary()
    res.to_csv(tmp_path / "out.csv")
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "out.csv"), res.frame, check_dtype=False, rtol=1e-12
    )


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_are_grouped_by_several_columns(people, ending, tmp_path):
    for i, part in enumerate((people[:200], people[200:])):
        path = tmp_path / f"part-{i}.{ending}"
        part.to_csv(path, index=False) if ending == "csv" else part.to_parquet(path)
    by, bounds = ["state", "tract"], {"x": (0, 1), "y": (0, 1)}
    files, types = str(tmp_path / f"*.{ending}"), {"tract": "integer"}
    here, there = (fit(data, by=by, bounds=bounds, types=types) for data in (people, files))
    assert here.labels == there.labels and here.privacy == there.privacy
    assert np.allclose(here.estimates, there.estimates, atol=1e-3)


@pytest.mark.parametrize("kind", [np.int64, int])
def test_listed_combinations_are_all_there_whatever_the_data(people, kind):
    groups = [("B", kind(3)), ("A", kind(2)), ("C", kind(9))]
    res = fit(people, by=["state", "tract"], groups=groups, bounds={"x": (0, 1), "y": (0, 1)})
    assert res.labels == (("B", 3), ("A", 2), ("C", 9))
    assert res.statuses == ("too_few_rows", "ok", "too_few_rows")
    own = people[(people["state"] == "A") & (people["tract"] == 2)]
    alone = fit(own, bounds={"x": (0, 1), "y": (0, 1)})
    assert np.allclose(res.params.loc[("A", 2)], alone.params, atol=1e-3)


def test_missing_labels_leave_a_row_out(people):
    some = people.assign(state=people["state"].where(people["x"] < 0.9))
    res = fit(some, by=["state", "tract"], bounds={"x": (0, 1), "y": (0, 1)})
    assert len(res) == 5


@pytest.mark.parametrize(
    ("by", "groups", "message"),
    [
        ([], None, "name one column or a list"),
        (["state", "state"], None, "name one column or a list"),
        ({"state"}, None, "name one column or a list"),
        (["state", 1], None, "name one column or a list"),
        (["state", "x"], None, "in the formula"),
        (["state", "tract"], ["A", "B"], "tuple"),
        (["state", "tract"], [("A",)], "tuple"),
    ],
)
def test_unusable_columns_are_refused(people, by, groups, message):
    with pytest.raises(dp.ArgumentError, match=message):
        fit(people, by=by, groups=groups, bounds={"x": (0, 1), "y": (0, 1)})
