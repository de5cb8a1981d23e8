"""Several outcomes on one right-hand side: what is refused, what is described, which rows."""

import numpy as np
import pytest

import dpstats as dp
from dpstats.call.arguments import make_requests
from dpstats.call.facts import request_facts
from dpstats.call.outcomes import check_alike, for_several
from dpstats.codebook import Schema
from dpstats.estimators import METHODS, SEVERAL
from dpstats.formula import Formula, RFormula
from dpstats.schema import Numeric

TABLE = {name: np.arange(1.0, 4.0) for name in "abxz"}
TWO = {"first": "a ~ x + z", "second": "np.log(b) ~ x+z"}


def requests(formulas=TWO, missing: str = "listwise", **more):
    more = {"method": "auto", "options": {}, **more}
    return make_requests(
        formulas, TABLE, declared=Schema(), missing=missing, epsilon=2, delta=None, x_new=None,
        neighbors=None, row_norm=None, **more,
    )  # fmt: skip


def parsed(*texts: str) -> dict:
    return {text: Formula.parse(text) for text in texts}


def test_one_request_reads_all_columns_and_has_the_whole_cost():
    (request,) = requests().values()
    assert set(request.rows_in_use.columns) == set("abxz")
    assert request.method is SEVERAL["noisy_newton"]
    assert request.whole_call[0] == request.epsilon == 2
    assert request.cost == METHODS["noisy_newton"].cost(2, 1e-6)
    assert request.texts == ["a ~ x + z", "np.log(b) ~ x+z"]
    assert [design.response for _, design in request.regressions] == ["a", "np.log(b)"]
    split = requests(missing="drop").values()
    assert [set(each.rows_in_use.columns) for each in split] == [set("axz"), set("bxz")]


def test_declared_bounds_of_each_response_stand():
    declared = Schema().updated({"a": (0, 1), "np.log(b)": (-3, 2)}, None, None)
    arguments = dict(missing="listwise", method="auto", epsilon=1, delta=None, x_new=None,
                     neighbors=None, row_norm=None, options={})  # fmt: skip
    (request,) = make_requests(TWO, TABLE, declared=declared, **arguments).values()
    assert request.schema["a"] == Numeric(0.0, 1.0)
    assert [design.response_bounds for _, design in request.regressions] == [(0, 1), (-3, 2)]


def test_calls_that_differ_in_rows_or_names_are_described_differently():
    calls = [
        request_facts(requests(*given), None, None)
        for given in ((), (TWO, "drop"), ({"other": TWO["first"], "second": TWO["second"]},),
                      (dict(reversed(TWO.items())),))
    ]  # fmt: skip
    assert all(one["call"] != other["call"] for one in calls for other in calls if one is not other)
    assert calls[0] == request_facts(requests(), None, None)
    assert calls[0]["formula"] == "a ~ x + z; np.log(b) ~ x+z"


def test_formulas_that_differ_beside_their_responses_are_refused():
    check_alike(parsed("a ~ x + z", "b ~ x+z"))
    for others in (("a ~ x", "b ~ z"), ("a ~ x", "b ~ 0 + x"), ("a ~ x", "b ~ np.log(x)"),
                   ("a ~ x | z", "b ~ x"), ("a ~ x + z", "b ~ z + x")):  # fmt: skip
        with pytest.raises(dp.ArgumentError, match="one right-hand side"):
            check_alike(parsed(*others))
    mixed = {"a": Formula.parse("a ~ x"), "b": Formula.parse(RFormula("b ~ x"))}
    with pytest.raises(dp.ArgumentError, match="one right-hand side"):
        check_alike(mixed)
    with pytest.raises(dp.ArgumentError, match="each response once"):
        check_alike(parsed("a ~ x", "a ~  x"))
    with pytest.raises(dp.ArgumentError, match="is for several formulas"):
        check_alike(parsed("a ~ x"))


def test_what_goes_with_one_response_at_a_time_is_refused():
    plain = Formula.parse("a ~ x")
    assert for_several(METHODS["noisy_newton_pure"], plain, by=None).guarantee == "pure"
    with pytest.raises(dp.ArgumentError, match="goes without select='kendall'"):
        for_several(METHODS["noisy_newton"], plain, by=None, select="kendall")
    with pytest.raises(dp.ArgumentError, match=r"goes without \| z"):
        for_several(METHODS["noisy_newton"], Formula.parse("a ~ x | z"))
    with pytest.raises(dp.ArgumentError, match="use noisy_newton or noisy_newton_pure"):
        for_several(METHODS["adassp"], plain)


def test_other_verbs_take_no_listwise():
    for call in (lambda: dp.dp_logit("a ~ x", TABLE, epsilon=1, missing="listwise"),
                 lambda: dp.dp_poisson(["a ~ x", "b ~ x"], TABLE, epsilon=1, missing="listwise"),
                 lambda: dp.dp_iv("a ~ [x ~ z]", TABLE, epsilon=1, missing="listwise"),
                 lambda: dp.dp_ols("a ~ x", TABLE, epsilon=1, missing="pairwise")):  # fmt: skip
        with pytest.raises(dp.ArgumentError, match=r"missing|at a time"):
            call()
