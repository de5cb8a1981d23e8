"""Arguments made to stop a call, or to keep it busy, are refused in words and cost nothing."""

from decimal import Decimal
from inspect import signature

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from tests.checks.totality import closed

HUGE, LONG, SPLIT = 10**400, "9" * 400, "a\ud800"
LETTERS = "abcdefhijklmn"
BOUNDS = {"x": (0, 1), "y": (0, 1)}
MANY = [" + ".join(["x"] * 20_000), " + ".join(f"x{i}" for i in range(20_000)), "-" * 19_000 + "x"]
SUMS = [" + ".join(["x"] * 4000), "I(" + " + ".join(["x"] * 4000) + ")", ":".join(["x"] * 4000)]
DEEP = ["np.exp(" * 900 + "x" + ")" * 900, "I(" + "(" * 3000 + "x" + ")" * 3000 + ")"]
PRODUCTS = [
    f"({' + '.join(LETTERS)})**14",
    " * ".join(LETTERS),
    ":".join([f"({' + '.join(LETTERS)})"] * 6),
    f"({' + '.join(LETTERS)})**6 - x",
]
NUMBERS = [f"I(x > {LONG})", f"I(x * {LONG})", f"I(x * {'9' * 5000})", f"I(2**{LONG} * x)",
           "I(((9**300)**300)**300 * x)", "I(9**9**9 * x)"]  # fmt: skip
SPLINES = [f"poly(x, {LONG})", f"bs(x, df={LONG})", "bs(x, df=10000000)", "cr(x, df=100000)",
           "bs(x, df=90001, degree=90000)", f"bs(x, knots=({LONG},))"]  # fmt: skip
IN_R = [*MANY[:2], *SUMS[:2], f"({' + '.join(LETTERS)})^14", "*".join(LETTERS),
        "-" * 19_000 + "x", "%in%".join(["x"] * 3000), "(" * 3000 + "x" + ")" * 3000,
        f"I(x * {LONG})", f"(x + y)^{LONG}",
        "I(x * 1e400)", f"poly(x, {LONG})", "exp(" * 900 + "x" + ")" * 900]  # fmt: skip
CONDITIONS = [" | ".join(["x > 1"] * 20_000), "~" * 20_000 + "(x > 1)", f"x > {LONG}",
              "(" * 3000 + "x > 1" + ")" * 3000, "+".join(["x"] * 5000) + " > 1"]  # fmt: skip
FORMULAS = [f"(x + z)**{'9' * 5000}", *MANY, *SUMS[1:], *DEEP, *PRODUCTS, *NUMBERS, *SPLINES]
NO_LABEL = Decimal("sNaN")
HOSTILE = [
    *({"formula": f"y ~ {text}"} for text in FORMULAS),
    *({"formula": dp.RFormula(f"y ~ {text}")} for text in IN_R),
    *({"subset": text} for text in CONDITIONS),
    *({"subset": dp.RFormula(text)} for text in CONDITIONS[2:]),
    *({"epsilon": value} for value in (HUGE, 10**5000, Decimal("1e400"), NO_LABEL, LONG)),
    *({"delta": value, "method": "adassp"} for value in (HUGE, 10**5000, NO_LABEL)),
    *({"bounds": {"x": (0, value)}} for value in (HUGE, 10**5000, NO_LABEL, 1j, np.complex128(1j))),
    *({"bounds": {"x": pair}} for pair in ({0, 1}, {0: 1, 1: 2}, b"ab", (0, np.timedelta64(1)))),
    *({name: np.timedelta64(1)} for name in ("epsilon", "delta")),
    *({"x_new": value} for value in (np.array([1j]), {"x": [np.complex64(1j)]})),
    {"schema": ""},
    *({"formula": "y ~ x + s", "levels": {"s": [value, "a"]}} for value in (NO_LABEL, HUGE, SPLIT)),
    *({"by": "s", "groups": [value]} for value in (NO_LABEL, HUGE, 10**5000, SPLIT)),
    *({"by": ["s", "known"], "groups": [(value, "a")]} for value in (NO_LABEL, 10**5000)),
    *({"x_new": [value]} for value in (HUGE, 10**5000, NO_LABEL)),
    *({"cov_type": np.array(["HC1", "cluster"]), name: "s"} for name in ("unit", "cluster")),
    {"method": "adassp", "cov_type": np.array(["HC1", "cluster"])},
    *({"x_new": value} for value in ({1}, {"x": set()})),
    {"by": "s", "groups": pd.DataFrame({"s": ["a", "b"]})},
    {"formula": "y ~ x + known", "x_new": {"x": [0.5], "known": [NO_LABEL]}},
    *({"row_norm": value, "bounds": None} for value in (HUGE, 10**5000)),
    *({"select": "lasso", "formula": "y ~ x + z", "k": value} for value in (HUGE, 10**5000)),
    {"method": "wide_theil_sen", "output_range": (0, HUGE)},
    {"unit": "s", "max_rows": 10**5000},
    {"unit": "s", "by": "known", "max_groups": HUGE},
    *({name: SPLIT} for name in ("by", "unit", "weights", "method", "select", "data", "subset")),
    {"formula": f"y ~ Q('{SPLIT}')"},
    {"formula": f"y ~ {SPLIT}"},
    {"data": "a\0.csv"},
]


def named(bad: dict) -> str:
    """The argument, and as much of it as can be read."""
    ((name, value),) = list(bad.items())[-1:]
    shown = "int" if isinstance(value, int) else ascii(value)[:30] if isinstance(value, str) else ""
    return f"{name} {shown}"


@pytest.mark.parametrize("bad", HOSTILE, ids=named)
def test_a_hostile_argument_is_refused_in_words(bad):
    """Each stopped with another error, was written out, crashed, or took up to minutes."""
    budget = dp.Budget(1000, 1e-3)
    call = {"formula": "y ~ x", "data": closed(), "bounds": BOUNDS, "method": "adassp"}
    with pytest.raises(dp.ArgumentError) as raised:
        dp.dp_ols(**{"epsilon": 1, "budget": budget, "progress": False, **call, **bad})
    assert 20 < len(str(raised.value).encode()) < 2500
    assert budget.spent == (0, 0)


def test_what_is_large_and_can_be_fitted_is_fitted():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.random((50, 14)), columns=["y", *LETTERS])
    for text in (f"({' + '.join(LETTERS[:6])})**3", "(a + b)**1000000", "I(2**64 * a)"):
        result = dp.dp_ols(f"y ~ {text}", frame, epsilon=1, method="adassp", progress=False,
                           bounds=dict.fromkeys(frame, (0, 1)))  # fmt: skip
        assert len(result.params) == {"(": 42, "I": 2}[text[0]] if "1000000" not in text else 4
    for count in (10**400, 10**5000, 0):
        for make in (dp.simulate.line, dp.simulate.atlas):
            with pytest.raises(dp.ArgumentError, match="whole number"):
                make(count)


@pytest.mark.parametrize("path", [f"{SPLIT}.ledger", "a\0.ledger", b"a\0", 3, None])
def test_a_path_that_no_file_can_have_is_refused(path):
    limit = {"dataset": "people", "epsilon": 1}
    for call in (dp.Ledger, lambda path: dp.Ledger.create(path, **limit)):
        with pytest.raises(dp.ArgumentError, match="expected path to be the path of a file"):
            call(path)


SECRET = 7.77777
COLUMN = pd.Series([SECRET] * 30)
COLUMNS = [COLUMN, COLUMN.to_frame(), COLUMN.to_numpy(), COLUMN.tolist(), {"x": COLUMN},
           pd.NA, np.array([])]  # fmt: skip
TAKE_LISTS = {"formula", "data", "x_new", "columns", "quantiles"}
VERBS = {
    dp.dp_ols: {"formula": "y ~ x"},
    dp.dp_logit: {"formula": "known ~ x"},
    dp.dp_poisson: {"formula": "y ~ x"},
    dp.dp_iv: {"formula": "y ~ [x ~ z]"},
    dp.dp_describe: {"columns": ["x"]},
}


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_a_column_in_the_place_of_an_argument_is_refused_without_its_values(verb):
    """Other packages take columns where a name is expected here; messages are seen and logged."""
    budget = dp.Budget(1000, 1e-3)
    call = {"data": closed(), "epsilon": 1, "budget": budget, **VERBS[verb]}
    for name in sorted(set(signature(verb).parameters) - TAKE_LISTS - {"options"}):
        for value in COLUMNS:
            with pytest.raises(dp.ArgumentError) as raised:
                verb(**{**call, name: value})
            message = str(raised.value)
            assert str(SECRET) not in message and "\n" not in message, name
    assert budget.spent == (0, 0)


FORECAST = {"n": 100, "bounds": BOUNDS, "epsilon": 1, "methods": "adassp", "repetitions": 20}
# A call each, and what takes lists of numbers or tables.
EXPERIMENTS = {
    dp.plan: ({"formula": "y ~ x", **FORECAST}, {"n", "epsilon", "x_new"}),
    dp.audit: ({"mechanism": "adassp", "epsilon": 4, "trials": 40}, {"pairs"}),
}


@pytest.mark.parametrize("call", EXPERIMENTS, ids=lambda call: call.__name__)
def test_a_table_in_the_place_of_an_argument_of_an_experiment_is_refused_by_name(call):
    """A table was printed into the message, with its rows, in place of a mapping or a list."""
    given, take_lists = EXPERIMENTS[call]
    for name in sorted(set(signature(call).parameters) - {"options", "others"} - take_lists):
        for value in COLUMNS[:5]:
            with pytest.raises(dp.ArgumentError) as raised:
                call(**{"progress": False, **given, name: value})
            message = str(raised.value)
            assert str(SECRET) not in message and "\n" not in message, name
            known = "method" if name == "mechanism" else name
            assert known.removesuffix("s") in message, (name, message)
    with pytest.raises(dp.ArgumentError, match="expected epsilon to list numbers > 0.*a DataFrame"):
        dp.plan("y ~ x", **{**FORECAST, "epsilon": COLUMN.to_frame()})


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_delta_may_be_a_number_of_numpy(kind):
    fit = dp.dp_ols(
        "y ~ x", dp.simulate.line(50, seed=1), epsilon=kind(1), delta=kind(2**-20), progress=False
    )
    assert (fit.privacy.epsilon, fit.privacy.delta) == (1, 2**-20)


@pytest.mark.filterwarnings("error")
def test_a_number_of_few_bits_is_compared_with_wide_ends_without_a_warning():
    fit = dp.dp_ols(
        "y ~ x", dp.simulate.line(50, seed=1), epsilon=1, row_norm=np.float16(2), progress=False
    )
    assert fit.method == "noisy_newton"
