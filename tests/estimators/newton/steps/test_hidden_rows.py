"""Rows far out that noise could hide: their share, and which declared bounds rule them out."""

import re

import numpy as np
import pandas as pd
import pytest

import dpstats as dp

_SAID = re.compile(r"for missing ones, in up to ([\d.]+)% of the rows")
CLOSE = {"x": (-4, 4), "z": (-4, 4), "y": (-6, 8)}


def table(n: int) -> pd.DataFrame:
    """Draw two regressors, years, a response, whether it is positive, and 40 groups."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["x", "z"])
    frame["y"] = 1 + 0.5 * frame["x"] - 0.3 * frame["z"] + rng.normal(size=n)
    frame["one"] = (frame["y"] > 1).astype(float)
    return frame.assign(year=rng.integers(2000, 2020, n), g=rng.integers(40, size=n))


def share(formula: str, n: int = 4000, verb=dp.dp_ols, epsilon: float = 1.0, **options) -> float:
    """Return the share, in percent, that a fit says the noise could hide, 0 if it says none."""
    with dp.testing.insecure_seed(1):
        found = verb(formula, table(n), epsilon=epsilon, progress=False, **options)
    said = _SAID.search(found.method_report)
    return float(said[1]) if said else 0.0


@pytest.mark.parametrize("options", [{}, {"cov_type": "HC1"}, {"delta": 0}], ids=str)
@pytest.mark.parametrize("wide", [None, *CLOSE])
def test_a_fit_says_it_unless_the_bounds_of_all_columns_are_close(wide, options):
    bounds = CLOSE | ({} if wide is None else {wide: (-40, 4)})
    assert (share("y ~ x + z", bounds=bounds, **options) > 0) == (wide is not None)
    if wide is not None:
        del bounds[wide]
        assert share("y ~ x + z", bounds=bounds, **options) > 0


def test_the_share_is_six_deviations_of_the_noise_on_the_last_histogram_of_scores():
    with dp.testing.insecure_seed(1):
        found = dp.dp_ols("y ~ x + z", table(4000), epsilon=1, progress=False)
    noise = min(e.scale for e in found.privacy.events if e.step == "score norms")
    said = _SAID.search(found.method_report)
    assert said is not None
    assert float(said[1]) == pytest.approx(100 * 6 * noise / found.evidence.fit_rows, rel=0.05)


def test_it_falls_with_rows_and_with_epsilon_and_stays_a_share():
    few, many, sure = share("y ~ x", 4000), share("y ~ x", 20_000), share("y ~ x", epsilon=4.0)
    assert few / many == pytest.approx(5, rel=0.15) and few / sure == pytest.approx(4, rel=0.15)
    assert share("y ~ x", 150, epsilon=3.0) <= 100


def test_differences_and_columns_through_the_origin_are_measured_by_their_range():
    """2,000 is far from zero, and no year is far from the others."""
    bounds = CLOSE | {"year": (2000, 2020)}
    assert share("y ~ x + year | g", bounds=bounds) == 0
    assert share("y ~ 0 + x + year", bounds=bounds) == 0
    assert share("y ~ x + year | g", bounds=bounds | {"year": (2000, 9999)}) > 0


def test_a_logit_has_no_response_far_out():
    assert share("one ~ x + z", verb=dp.dp_logit, bounds={"x": (-4, 4), "z": (-4, 4)}) == 0
    assert share("one ~ x + z", verb=dp.dp_logit, bounds={"x": (-4, 4)}) > 0


def test_codes_in_fewer_rows_than_that_are_neither_seen_nor_held():
    """1% of 4,000 rows at epsilon 1 have x = 99, of up to 2% or more that could be hidden."""
    rows = table(4000)
    rows.loc[:39, "x"] = 99.0
    slope = float(np.polyfit(rows["x"], rows["y"], 1)[0])
    with dp.testing.insecure_seed(1):
        found = dp.dp_ols("y ~ x", rows, epsilon=1, progress=False)
    said = _SAID.search(found.method_report)
    assert said is not None and float(said[1]) > 1.0
    low, high = found.conf_int().loc["x"]
    assert found.status == "ok" and not low <= slope <= high
