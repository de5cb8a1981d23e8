"""Pictures of coefficients: each interval at its place, nothing shown that is not released."""

import warnings

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.results.show.coefficient_plot import Intervals, draw_intervals
from tests.checks.plots import drawn, legend


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(autouse=True)
def _no_warning():
    """A warning would depend on private values."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.normal(size=(4000, 9)), columns=[f"x{i}" for i in range(9)])
    return rows.assign(y=rows.sum(axis=1) + rng.normal(size=4000))


def fit(data, columns=9, epsilon=4.0, **more):
    formula = "y ~ " + " + ".join(f"x{i}" for i in range(columns))
    with dp.testing.insecure_seed(1):
        return dp.dp_ols(formula, data, epsilon=epsilon, **more)


def lines(ax) -> np.ndarray:
    """The ends and the height (k, 3) of all horizontal lines, from top to bottom."""
    segments = [path for found in ax.collections if hasattr(found, "get_segments")
                for path in found.get_segments()]  # fmt: skip
    ends = np.array([[path[0, 0], path[1, 0], path[0, 1]] for path in segments])
    return ends[np.argsort(ends[:, 2])]


def test_each_coefficient_has_its_interval(data):
    result = fit(data)
    ax = result.plot()
    drawn(ax)
    np.testing.assert_allclose(lines(ax)[:, :2], result.conf_int())
    assert [text.get_text() for text in ax.get_yticklabels()] == list(result.names)
    points = ax.collections[2].get_offsets()
    np.testing.assert_allclose(points, np.column_stack([result.params, np.arange(10)]))
    assert ax.get_legend() is None and "NOT PRIVATE" in ax.get_title()
    assert ax.get_ylim() == (9.5, -0.5), "the first at the top"


def test_what_is_unbounded_is_hollow_and_dotted_to_the_frame(data):
    few = fit(data.head(40), 2, epsilon=0.3)
    assert np.isinf(few.conf_int()).all(axis=None)
    ax = few.plot()
    drawn(ax)
    assert legend(ax) == ["hollow: no bounded interval"]
    np.testing.assert_allclose(lines(ax)[:, :2], [ax.get_xlim()] * 3)
    (hollow,) = [c for c in ax.collections if c.get_label() == legend(ax)[0]]
    assert len(hollow.get_offsets()) == 3 and hollow.get_facecolor().tolist()[0][:3] == [1, 1, 1]


def test_intervals_that_were_not_released_leave_hollow_estimates():
    line = dp.simulate.line(500, seed=1)
    with dp.testing.insecure_seed(1):
        result = dp.dp_ols("y ~ x", line, epsilon=4, method="exp_theil_sen",
                           bounds={"x": (0, 1), "y": (0, 1)})  # fmt: skip
    ax = dp.compare(result).plot()
    drawn(ax)
    assert legend(ax) == ["(1), NOT PRIVATE (seeded)", "hollow: no bounded interval"]
    assert not any(len(c.get_segments()) for c in ax.collections if hasattr(c, "get_segments"))


def test_an_estimate_without_interval_does_not_widen_the_frame():
    table = pd.DataFrame(
        {"estimate": [1.0, 1e9], "lower": [0.5, -np.inf], "upper": [1.5, np.inf]}, ["a", "b"]
    )
    ax = draw_intervals([Intervals("fit", table)], ["a", "b"], ["a", "b"], "title")
    drawn(ax)
    assert ax.get_xlim() == pytest.approx((-0.09, 1.59))


def test_a_fit_of_nothing_says_so():
    line = dp.simulate.line(3, seed=1)
    with dp.testing.insecure_seed(1):
        result = dp.dp_ols("y ~ x + z", line.assign(z=0.5), epsilon=0.1, method="boosted_adassp")
    assert result.params.isna().all()
    ax = result.plot()
    assert ax.texts[0].get_text() == f"nothing to draw: status {result.status}"
    drawn(dp.compare(result).plot())


def test_a_comparison_draws_what_it_prints_and_says_what_is_not_private(data):
    ols = smf.ols("y ~ x0 + x1 + x2", data).fit()
    real = dp.dp_ols("y ~ x0 + x1", data, epsilon=4)
    table = dp.compare(real, fit(data, 3), ols={"OLS": ols}, names=["two", "three"],
                       keep=["x2", "x0"], labels={"x0": "R&D $"})  # fmt: skip
    ax = table.plot()
    drawn(ax)
    assert legend(ax) == ["two", "three, NOT PRIVATE (seeded)", "OLS, not private"]
    assert [text.get_text() for text in ax.get_yticklabels()] == [r"R&D \$", "x2"]
    found = lines(ax)
    ends = pd.concat([each.conf_int() for each in (*table.results, ols)], keys=table.names)
    order = [("two", "x0"), ("three", "x0"), ("OLS", "x0"), ("three", "x2"), ("OLS", "x2")]
    np.testing.assert_allclose(found[:, :2], ends.loc[order])
    assert ax.get_title() == "Regressions, Private and Not Private"


def test_given_axes_are_used(data):
    figure, ax = plt.subplots()
    size = figure.get_size_inches().tolist()
    assert fit(data, 2).plot(ax) is ax and figure.get_size_inches().tolist() == size
    assert "call .plot(ax=None)" in repr(dp.compare(fit(data, 2)).plot)
