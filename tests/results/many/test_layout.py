"""Stars, labels, terms and notes of a table: what is taken and what is refused."""

import pytest

import dpstats as dp
from dpstats.results.many.layout import STARS, Layout, checked_layout

TERMS = ["Intercept", "x", "p25"]


def checked(stars=False, labels=None, keep=None, order=None, notes=None) -> Layout:
    return checked_layout(TERMS, stars, labels, keep, order, notes)


def test_the_lowest_level_above_a_p_value_gives_its_stars():
    stars = checked(stars=True)
    assert [stars.symbol(p) for p in (0.2, 0.1, 0.07, 0.05, 0.03, 0.001, 0.0)] == [
        "", "", "*", "*", "**", "***", "***",
    ]  # fmt: skip
    own = checked(stars={0.01: "b", 0.05: "a"})
    assert [own.symbol(p) for p in (0.05, 0.02, 0.009)] == ["", "a", "b"]
    assert own.legend() == "a p < 0.05, b p < 0.01"
    assert stars.symbol(float("nan")) == "" == checked().symbol(0.0)
    assert checked(stars=True).stars == STARS


def test_terms_are_kept_and_ordered():
    assert checked().terms(TERMS) == TERMS
    assert checked(keep=["p25", "x"]).terms(TERMS) == ["x", "p25"]
    assert checked(order=["p25"]).terms(TERMS) == ["p25", "Intercept", "x"]
    assert checked(keep=["x", "p25"], order=["p25"]).terms(TERMS) == ["p25", "x"]


def test_terms_have_labels_and_one_note_is_a_list():
    layout = checked(labels={"x": "Parent's rank"}, notes="One.")
    assert [layout.label(term) for term in TERMS] == ["Intercept", "Parent's rank", "p25"]
    assert layout.notes == ("One.",) and checked(notes=["a", "b"]).notes == ("a", "b")


@pytest.mark.parametrize("stars", [None, 1, "yes", {}, {5: "*"}, {1.0: "*"}, {0.05: ""}, [0.05]])
def test_other_stars_are_refused(stars):
    with pytest.raises(dp.ArgumentError, match="stars to be True, False or symbols by level"):
        checked(stars=stars)


@pytest.mark.parametrize("argument", ["keep", "order"])
def test_unknown_terms_are_refused_by_name(argument):
    for listed in ("x", [], ["x", "x"], ["x", 1], {"x": 1}, 3):
        with pytest.raises(dp.ArgumentError, match=f"expected {argument} to list different terms"):
            checked(**{argument: listed})
    with pytest.raises(dp.ArgumentError, match=f"no {argument}='intercept'; did you mean 'Inter"):
        checked(**{argument: ["intercept"]})


def test_other_labels_and_notes_are_refused():
    with pytest.raises(dp.ArgumentError, match="no labels='intercept'; did you mean 'Intercept'"):
        checked(labels={"x": "X", "intercept": "Constant"})
    for labels in ("x", ["x"], {"x": 1}, {1: "x"}, {"x": ""}):
        with pytest.raises(dp.ArgumentError, match="labels to map terms to texts"):
            checked(labels=labels)
    for notes in (3, [3], {"a": "b"}, [""]):
        with pytest.raises(dp.ArgumentError, match="notes to be a text or a list of texts"):
            checked(notes=notes)
