"""Several results in one table: what stands where, and what is said below."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp

UNIT = {"x": (0, 1), "y": (0, 1)}


@pytest.fixture(scope="module")
def fits():
    """A fit with standard errors, one without, one of another formula, one of nothing."""
    points = dp.simulate.line(4000, x_sd=0.2, seed=1)
    calls = [
        ("y ~ x", points, "adassp", 4),
        ("y ~ x", points, "exp_theil_sen", 4),
        ("y ~ I(x < 0.5)", points, "adassp", 4),
        ("y ~ x", points.head(1), "exp_theil_sen", 4),
    ]
    with dp.testing.insecure_seed(1):
        return [
            dp.dp_ols(formula, rows, method=method, epsilon=epsilon, bounds=UNIT)
            for formula, rows, method, epsilon in calls
        ]


def row(text: str, label: str) -> list[str]:
    """The cells of the only line that starts with a label."""
    (line,) = [line for line in text.splitlines() if line.split()[:1] == [label]]
    return line.split()[1:]


def test_the_frame_holds_what_was_released(fits):
    frame = dp.compare(*fits, names=["a", "b", "c", "d"]).frame
    assert list(frame) == ["result", "term", "estimate", "std_error", "status"]
    first = frame[frame["result"] == "a"].set_index("term")
    assert list(first.index) == ["Intercept", "x", "p25", "p75"]
    expected = pd.concat([fits[0].params, fits[0].predictions])
    np.testing.assert_array_equal(first["estimate"], expected)
    errors = pd.concat([fits[0].bse, fits[0].prediction_intervals()["mean_se"]])
    np.testing.assert_array_equal(first["std_error"], errors)
    assert errors.notna().all()
    assert set(frame.loc[frame["result"] == "d", "status"]) == {fits[3].status} != {"ok"}


def test_each_number_stands_in_its_column(fits):
    text = str(dp.compare(*fits[:3]))
    assert row(text, "x") == [f"{fit.params['x']:#.4g}" for fit in fits[:2]]
    assert f"({fits[0].bse['x']:#.3g})" in text
    assert row(text, "method") == ["adassp", "exp_theil_sen", "adassp"]
    assert row(text, "epsilon") == ["4", "4", "4"]
    assert row(text, "delta") == ["1e-06", "0", "1e-06"]
    rows, errors = fits[0].fit_statistics.loc["nobs"]
    assert row(text, "n")[:3] == [f"{rows:.0f}", f"({errors:.0f})", "4000"]
    assert row(text, "neighbours") == ["add_remove", "replace_one", "add_remove"]


def test_coefficients_come_before_predictions(fits):
    lines = str(dp.compare(*fits[:3])).splitlines()
    starts = [line.split()[0] for line in lines if line.split()]
    assert starts.index("I(x") < starts.index("p25") < starts.index("response")


def test_gaps_have_their_reason_and_seeded_noise_its_stamp(fits):
    text = " ".join(str(dp.compare(*fits)).split())
    assert f"(2): {fits[1].reasons['bse']}" in text
    assert f"(4): {fits[3].reasons['params']}" in text
    assert "(1), (2), (3), (4): NOT PRIVATE" in text
    assert fits[3].status in text and "nan" in text


def test_a_private_result_bears_no_stamp(fits):
    points = dp.simulate.line(100, seed=1)
    real = dp.dp_ols("y ~ x", points, method="noisy_stats", epsilon=1, bounds=UNIT)
    text = str(dp.compare(fits[0], real))
    assert "(1): NOT PRIVATE" in text and "(2): NOT PRIVATE" not in text
    assert row(text, "private") == ["NO", "(seeded)", "yes"]
    assert "NOT PRIVATE" not in str(dp.compare(real))


def test_html_is_escaped_and_shown_in_notebooks(fits):
    table = dp.compare(*fits, names=["<b>", "2", "3", "4"])
    page = table.to_html()
    assert table._repr_html_() == page
    assert "&lt;b&gt;" in page and "<b>" not in page
    assert "I(x &lt; 0.5)[T.True]" in page
    assert page.count("<tr>") == page.count("</tr>") > 10


def test_latex_is_escaped(fits):
    text = dp.compare(*fits).to_latex()
    assert r"\begin{tabular}{ccccc}" in text and r"exp\_theil\_sen" in text
    assert r"I(x $<$ 0.5)[T.True]" in text
    assert r"insecure\_seed" in text and "insecure_seed" not in text


def test_restored_results_compare_alike(fits):
    restored = [dp.DPResults.from_json(fit.to_json()) for fit in fits]
    assert str(dp.compare(*restored)) == str(dp.compare(*fits))


def test_wrong_calls_are_refused(fits):
    with pytest.raises(dp.ArgumentError, match="at least one result"):
        dp.compare()
    with pytest.raises(dp.ArgumentError, match="compare\\(first, second\\), got a list"):
        dp.compare(fits)
    by = dp.dp_ols("y ~ x", {"x": [0.5], "y": [0.5], "g": [1]}, by="g", method="noisy_stats",
                   epsilon=1, bounds=UNIT, groups=[1])  # fmt: skip
    with pytest.raises(dp.ArgumentError, match="without by=.*DPGroupResults"):
        dp.compare(by)
    for names in ("ab", ["a"], ["a", "a"], ["a", 2], 3):
        with pytest.raises(dp.ArgumentError, match="names to list 2 different texts"):
            dp.compare(*fits[:2], names=names)
