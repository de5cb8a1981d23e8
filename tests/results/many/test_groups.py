"""What the results of groups hold: a tidy frame, wide tables, a file, a summary and pictures."""

import os

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from tests.checks.groups import AREAS, seeded, squeezed, words


@pytest.fixture
def groups(fit, line):
    """A release of the three areas."""
    return seeded(fit, line, "adassp", epsilon=50, by="area", groups=AREAS)


def test_the_frame_is_tidy(groups):
    frame = groups.frame
    assert list(frame.columns) == [
        "area",
        "term",
        "estimate",
        "std_error",
        "lower",
        "upper",
        "status",
    ]
    assert frame["area"].tolist() == [area for area in AREAS for _ in range(4)]
    assert frame["term"].tolist() == ["Intercept", "x", "p25", "p75"] * 3
    assert [frame[name].dtype.kind for name in ("estimate", "std_error")] == ["f", "f"]
    assert (frame["status"] == "ok").all()
    assert groups.frame is not frame


def test_wide_tables_hold_the_numbers_of_the_frame(groups):
    tidy = groups.frame.pivot(index="area", columns="term", values="estimate")
    for wide in (groups.params, groups.predictions):
        assert list(wide.index) == AREAS and wide.index.name == "area"
        assert (wide == tidy[list(wide.columns)]).all(axis=None)
    assert list(groups.params.columns) == list(groups.bse.columns) == ["Intercept", "x"]
    assert groups.p25.equals(tidy["p25"]) and groups.p75.equals(tidy["p75"])
    errors = groups.frame.pivot(index="area", columns="term", values="std_error")
    assert (groups.bse == errors[["Intercept", "x"]]).all(axis=None)
    np.testing.assert_allclose(groups.predictions["p25"], groups.params @ [1, 0.25])


def test_errors_of_predictions_follow_from_the_covariance(fit, line):
    data = line.assign(area="a0")
    single = seeded(fit, data, "adassp", epsilon=50)
    result = seeded(fit, data, "adassp", epsilon=50, by="area", groups=["a0"])
    point = np.array([1, 0.25])
    expected = np.sqrt(point @ single.cov_params().to_numpy() @ point)
    errors = result.frame.set_index("term")["std_error"]
    assert errors["p25"] == pytest.approx(expected)


def test_groups_are_a_mapping(groups):
    assert list(groups.keys()) == list(groups) == AREAS
    fits = dict(groups)
    assert all(fits[label].params.equals(fit.params) for label, fit in groups.items())


def test_csv_holds_the_frame(groups, tmp_path):
    for name in ("out.csv", "out.csv.gz"):
        groups.to_csv(tmp_path / name)
        read = pd.read_csv(tmp_path / name)
        pd.testing.assert_frame_equal(read, groups.frame, check_dtype=False, rtol=1e-15)
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "out.csv.gz"]


def test_the_summary_counts_groups_and_shows_what_was_released(method, fit, line):
    result = fit(line[:31], method, by="area", groups=["none", *AREAS])
    text = words(result.summary())
    assert "4 groups: " in text and "y ~ x" in text and method in text
    counts = result.status.value_counts()
    assert all(f"{count} {status}" in text for status, count in counts.items())
    assert "Intercept" in text and "p75" in text and "privacy: step" in text
    assert all(squeezed(reason) in squeezed(text) for reason in result.reasons)
    assert repr(result) == result.summary()
    shown = "rows of a group: 0 to 11, median 10" in text
    assert shown == (result.privacy.neighbors == "replace_one")


def test_the_summary_of_many_groups_shows_percentiles(method, fit, line):
    result = fit(line, method, by="area", groups=[*AREAS, *"bcdefghij"])
    assert "5% 25% 50% 75% 95%" in words(result.summary())
    assert len(result.summary().splitlines()) < 60


def test_every_nan_of_a_group_has_a_reason(method, fit, line):
    result = fit(line[:31], method, by="area", groups=["none", *AREAS])
    assert "ok" not in set(result.status[result.params.isna().any(axis=1)])
    reasons = result.reasons or "not_identified" in result.statuses
    assert reasons or not np.isnan(result.errors).any()


def test_plots_of_groups_without_numbers_are_quiet(method, fit, line, recwarn):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    for rows in (0, 1, 300):
        assert fit(line[:rows], method, by="area", groups=AREAS).plot() is not None
        matplotlib.pyplot.close("all")
    assert not [w for w in recwarn if "dpstats" in str(w.filename)]


def test_a_table_for_a_folder_that_is_not_there_is_refused(groups, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder .*none to write a.csv to"):
        groups.to_csv(tmp_path / "none" / "a.csv")
    with pytest.raises(dp.ArgumentError, match="path to name a file, got the folder .*; name one"):
        groups.to_csv(tmp_path)
    for nothing in (None, "", "a\0.csv"):
        with pytest.raises(dp.ArgumentError, match="expected path to be the path of a file, got"):
            groups.to_csv(nothing)


def test_formulas_of_r_are_stored_as_such(fit, line):
    """Also read from content without a dialect, as it was written before there was one."""
    more = {"by": "area", "groups": AREAS}
    by = seeded(fit, line, "adassp", epsilon=50, formula=dp.RFormula("y ~ x + I(x^2)"), **more)
    again = dp.DPGroupResults.from_json(by.to_json())
    assert again == by and type(again.formula) is dp.RFormula
    assert again.predict({"x": [0.5]}).equals(by.predict({"x": [0.5]}))
    content = seeded(fit, line, "adassp", epsilon=50, **more).to_dict()
    assert content.pop("dialect") == "patsy"
    assert type(dp.DPGroupResults.from_dict(content).formula) is str
