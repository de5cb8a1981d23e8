"""Limits of formulas: the number of terms is counted before they are written out."""

import patsy
import pytest
from patsy.parse_formula import parse_formula

from dpstats.errors import FormulaError
from dpstats.formula import parsing
from dpstats.formula.expressions.limits import check_length, checked_terms, combined
from dpstats.formula.r import terms
from dpstats.formula.r.syntax import parse
from dpstats.formula.r.terms import Terms


@pytest.mark.parametrize(
    "text",
    ["(a + b + c)**2", "a * b * c", "(a + b):(c + d)", "(a + b) / c", "a + b - a", "(a + b)**9"],
)
def test_no_fewer_terms_are_counted_than_are_written_out(text):
    """The tree has the response, and what is written out the intercept."""
    model = patsy.ModelDesc.from_formula(f"y ~ {text}")
    counted = parsing._terms(text, parse_formula(f"y ~ {text}"))
    assert len(model.rhs_termlist) <= counted <= 9
    in_r = text.replace("**", "^")
    assert len(Terms.of(f"y ~ {in_r}").terms) <= terms._count(text, parse(in_r)) <= 8


def test_a_long_text_and_many_terms_are_refused():
    with pytest.raises(FormulaError, match="at most 20,000 characters, got 20,001 in 'xx"):
        check_length("x" * 20_001)
    assert check_length("x" * 20_000) is None and checked_terms("", 1000) == 1000
    with pytest.raises(FormulaError, match=r"a\*b stands for more than 1,000 terms"):
        checked_terms("a*b", 1001)
    assert [combined(sign, 3, 2) for sign in "+-:*/"] == [5, 3, 6, 11, 5]
    assert combined("**", 14, 0, 10**400) == 2**14 - 1
