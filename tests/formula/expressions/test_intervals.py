"""Ranges of expressions: exact where they can be, and they hold everywhere."""

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from dpstats.formula import schema_frame
from dpstats.formula.expressions.intervals import FUNCTIONS, interval
from dpstats.schema import Numeric
from tests.checks.design import SCHEMA


@pytest.mark.parametrize(
    ("code", "low", "high"),
    [
        ("np.log(x)", np.log(0.5), np.log(8)),
        ("z**2", 0, 9),
        ("z**3", -8, 27),
        ("z**0", 1, 1),
        ("x**-2", 1 / 64, 4),
        ("abs(z)", 0, 3),
        ("np.maximum(np.log(u), -1)", -1, np.log(8)),
        ("2**z", 0.25, 8),
        ("x**z", 1 / 64, 512),
        ("z / x", -4, 6),
        ("x * z", -16, 24),
        ("sin(x)", -1, 1),
        ("sin(z / 2)", np.sin(-1), 1.0 if np.pi / 2 <= 1.5 else np.sin(1.5)),
        ("cos(z)", np.cos(3), 1),
        ("x - u", -7.5, 8),
        ("(z > 0) + 1", 1, 2),
        ("where(z > 0, x, -x)", -8, 8),
        ("clip(z, -1, 1)", -1, 1),
        ("round(x)", 0, 8),
    ],
)
def test_ranges_are_exact_where_they_can_be(code, low, high):
    ranges = {n: (k.low, k.high) for n, k in SCHEMA.items() if isinstance(k, Numeric)}
    np.testing.assert_allclose(interval(code, ranges), (low, high), rtol=1e-15)


def _combine(parts):
    binary = st.builds("({} {} {})".format, parts, st.sampled_from("+-*/"), parts)
    powers = st.builds("({})**{}".format, parts, st.sampled_from(["2", "3", "-1", "0.5", "-2"]))
    one = sorted(name for name, function in FUNCTIONS.items() if 1 in function.arity)
    calls = st.builds("{}({})".format, st.sampled_from(one), parts)
    pairs = st.builds("minimum({}, {})".format, parts, parts)
    return binary | powers | calls | pairs | st.builds("(-{})".format, parts)


EXPRESSIONS = st.recursive(st.sampled_from(["x", "z", "1.5", "-2", "(x > z)"]), _combine)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    EXPRESSIONS,
    st.tuples(st.floats(-3, 3), st.floats(0.01, 4)),
    st.tuples(st.floats(-3, 3), st.floats(0.01, 4)),
)
def test_ranges_hold_for_any_expression(code, x_range, z_range):
    ranges = {n: (a, a + width) for n, (a, width) in {"x": x_range, "z": z_range}.items()}
    low, high = interval(code, ranges)
    assume(np.isfinite(low) and np.isfinite(high))
    rng = np.random.default_rng(11)
    points = {n: np.concatenate([r, rng.uniform(*r, 50)]) for n, r in ranges.items()}
    try:
        with np.errstate(all="ignore"):
            values = eval(code, dict(schema_frame.NAMESPACE), points)  # as patsy would
    except (TypeError, ValueError):  # NumPy: no -True, and no whole number to the power of -1
        reject()
    slack = 1e-9 * (1 + max(abs(low), abs(high)))
    assert np.all((low - slack <= values) & (values <= high + slack))
