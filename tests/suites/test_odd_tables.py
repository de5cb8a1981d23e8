"""Odd tables: whatever the rows are, a fit and all that can be asked of it end without a surprise.

test_totality.py asks for a result of the same form; here everything is asked of the result too:
summaries, intervals, tests, predictions, and the way to JSON and back. Tables come from hypothesis,
always the same ones, after a few that are odd in a known way.
"""

import contextlib
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import dpstats as dp
from tests.checks.totality import STATUSES

LEVELS = ["a", "b", "c"]
UNIT = {"x": (0, 1), "y": (0, 1)}
WEIGHTED = {"weights": "w", "bounds": {**UNIT, "w": (0, 2)}}
FACTOR = {"formula": "y ~ x + C(c)", "levels": {"c": LEVELS}}
SETTINGS = {
    "estimated": {"bounds": {}},
    "polynomials": {"formula": dp.RFormula("y ~ poly(x, 3)")},
    "factor": FACTOR,
    "weights": WEIGHTED,
    "weights, robust": {**FACTOR, **WEIGHTED, "cov_type": "HC1"},
    "absorbed": {"formula": "y ~ x + C(c) | g", "levels": {"c": LEVELS}},
    "absorbed, estimated": {"formula": "y ~ x | g", "bounds": {}},
    "groups": {"by": "g", "groups": ["a", "d"]},
    "weighted groups": {"by": "g", "groups": ["a", "d"], **WEIGHTED},
    "no row in the subset": {"subset": "z > 7"},
    "some rows in the subset": {"subset": "z > 0.5 & c == 'a'", "bounds": {}},
    "companion": {"companion": "noisy_moments"},
}
BY = {"by": "g", "groups": ["a", "d"]}
GROUPS = {
    "logits": (dp.dp_logit, BY),
    "logits, factor": (dp.dp_logit, {**BY, **FACTOR}),
    "logits, weights": (dp.dp_logit, {**BY, "weights": "w", "bounds": {"w": (0, 2)}}),
    "logits, robust": (dp.dp_logit, {**BY, "cov_type": "HC1", "offset": "z"}),
    "logits of persons": (dp.dp_logit, {**BY, "unit": "c"}),
    "logits, present groups": (dp.dp_logit, {"by": "g"}),
    "counts": (dp.dp_poisson, BY),
    "counts, exposure": (dp.dp_poisson, {**BY, "exposure": "z"}),
}
NEW = pd.DataFrame({"x": [0.2, 0.8], "c": ["a", "c"]})
NUMBERS = [0.0, 0.5, 1.0, 2.0**-30, 5e-324, -3.0, 1e9, 1e300, -1e300, np.inf, -np.inf, np.nan]
LABELS = [*LEVELS, "no level", None]
SERVED: dict[str, list[str]] = {}  # methods by setting, from the first table on


def table(n: int, **columns) -> pd.DataFrame:
    """n rows; a column is what is named, again and again, by default spread over its range."""
    spread = {name: np.linspace(0, 1, max(n, 2)) for name in "xyzw"} | {"c": LEVELS, "g": LEVELS}
    cells = {name: np.resize(np.array(v, object), n) for name, v in (spread | columns).items()}
    kinds = {name: "string" if name in "cg" else "float64" for name in cells}
    return pd.DataFrame(cells).astype(kinds)


column = st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=4)
labels = st.lists(st.sampled_from(LABELS), min_size=1, max_size=3)
tables = st.builds(
    table, st.sampled_from([0, 1, 2, 3, 30]), x=column, y=column, z=column, w=column, c=labels,
    g=labels,
)  # fmt: skip

TABLES = settings(
    max_examples=2, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


def ask(result) -> None:
    """Ask a result for everything; what was not released is NaN, or refused with a reason."""
    shown = repr(result)  # which is its summary
    assert shown and str(result.privacy)
    if isinstance(result, dp.DPGroupResults):
        assert set(result.statuses) <= STATUSES and len(result.frame) >= len(result.labels)
        return
    assert result.status in STATUSES
    names = list(result.params.index)
    assert list(result.conf_int().index) == list(result.cov_params().index) == names
    for series in (result.bse, result.tvalues, result.pvalues, result.fit_statistics):
        assert len(series) > 0
    assert len(result.predict(NEW)) == len(result.predict(NEW, interval=True)) == 2
    for question in (lambda: result.f_test(np.eye(len(names))), result.error_bound):
        with contextlib.suppress(dp.NotReleasedError):
            assert str(question())
    text = result.to_json()
    again = dp.DPResults.from_json(text)
    assert again.to_json() == text and str(again.summary()) == shown


@pytest.mark.parametrize("setting", SETTINGS)
@TABLES
@given(data=tables, epsilon=st.sampled_from([0.5, 300.0]))
@example(data=table(0), epsilon=1.0)
@example(data=table(1), epsilon=1.0)
@example(data=table(30, x=[0.5], y=[0.5]), epsilon=300.0)
@example(data=table(30, x=[np.nan], y=[np.nan]), epsilon=1.0)
@example(data=table(30, x=[1e300], y=[-1e300], c=["b"], g=["b"]), epsilon=300.0)
def test_whatever_the_rows_are_everything_can_be_asked(setting, data, epsilon):
    call = {"formula": "y ~ x", "bounds": UNIT, "epsilon": epsilon} | SETTINGS[setting]
    served = []
    with warnings.catch_warnings(), dp.testing.insecure_seed(1):
        warnings.simplefilter("error")
        for method in dp.METHODS:
            try:
                result = dp.dp_ols(data=data, method=method, **call)
            except dp.ArgumentError:
                continue  # public facts alone refuse a method: see test_totality.py
            served.append(method)
            ask(result)
    # the rows decide over no refusal
    assert served and served == SERVED.setdefault(setting, served)


@pytest.mark.parametrize("setting", GROUPS)
@TABLES
@given(data=tables, epsilon=st.sampled_from([0.5, 300.0]))
@example(data=table(0), epsilon=1.0)
@example(data=table(1), epsilon=1.0)
@example(data=table(30, x=[0.5], y=[1.0]), epsilon=300.0)
@example(data=table(30, x=[0.0, 1.0], y=[0.0, 1.0], g=["a"]), epsilon=300.0)
@example(data=table(30, x=[np.nan], y=[np.nan]), epsilon=1.0)
@example(data=table(30, x=[1e300, -1e300], y=[1.0, 0.0], c=["b"], g=["a", "a", "d"]), epsilon=300.0)
def test_whatever_the_rows_are_groups_of_other_models_can_be_asked(setting, data, epsilon):
    """Separated outcomes, groups of one outcome and groups without rows are statuses."""
    verb, more = GROUPS[setting]
    with warnings.catch_warnings(), dp.testing.insecure_seed(1):
        warnings.simplefilter("error")
        result = verb(**{"formula": "y ~ x", "data": data, "epsilon": epsilon, **more})
        assert set(result.statuses) <= STATUSES
        ask(result)
        ask_groups(result)


def ask_groups(result: dp.DPGroupResults) -> None:
    """Ask groups of a model with a link for predictions, their stored form and each group's own."""
    assert list(result.predict(NEW).index) == list(result.params.index) == list(result.bse.index)
    again = dp.DPGroupResults.from_json(result.to_json())
    assert again.to_json() == result.to_json() and str(again.summary()) == str(result.summary())
    for label in result.labels:
        one = result[label]
        ask(one)
        assert len(one.get_margeff().summary_frame()) >= 1
