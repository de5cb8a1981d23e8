"""Factors with weights, persons and robust errors: equality with statsmodels, and what they tell.

All seeds are fixed.
"""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dpstats as dp
from dpstats.estimators.least_squares.factors import BlockBasis, BlockSums
from dpstats.estimators.least_squares.factors import scores as block_scores
from dpstats.estimators.least_squares.factors import sums as block_sums
from dpstats.estimators.least_squares.factors.scores import ScoreRule
from dpstats.numerics import Moments, cross_products
from dpstats.privacy import ADD_REMOVE, RELATIONS
from tests.checks.block_least_squares import BOUNDS, DESIGNS, RICH, fit, many, rare, table
from tests.checks.block_scores import (
    FORMS,
    check_call,
    check_mutant,
    moved,
    with_parts,
    with_slopes,
)
from tests.checks.block_sums import coded, phi_of, problem_of, rows
from tests.checks.block_sums import moved as distances
from tests.checks.replay import Violation

STEP = "sum of e^2 x x'"
KINDS = ("HC1", "weights", "weights HC1", "unit", "unit weights")


def fitted(formula, frame, kind, epsilon=RICH, **more):
    """Fit with weights up to 2, with persons or robust errors."""
    bounds = {name: BOUNDS[name] for name in ("x", "z", "y") if name != "z" or "z" in formula}
    call: dict = {"bounds": {**bounds, "w": (0, 2)}}
    if "weights" in kind:
        call["weights"] = "w"
    if "unit" in kind:
        call["unit"] = "id"
    elif "HC1" in kind:
        call["cov_type"] = "HC1"
    return fit(formula, frame, epsilon, **call, **more)


def panel(frame, seed):
    """Rows with weights, and persons of one to five rows whose errors hang together."""
    generator = np.random.default_rng(seed)
    frame = frame.assign(w=generator.uniform(0.1, 2, len(frame)))
    ids = np.repeat(np.arange(len(frame)), generator.integers(1, 6, len(frame)))[: len(frame)]
    own = generator.normal(0, 0.1, ids[-1] + 1)[ids]
    return frame.assign(id=ids, y=(frame["y"] + own * (0.5 + frame["x"])).clip(-0.5, 1.5))


def reference(formula, frame, kind):
    """The same by statsmodels."""
    weights = frame["w"] if "weights" in kind else pd.Series(1.0, frame.index)
    if "unit" not in kind:
        cov_type = "HC1" if "HC1" in kind else "nonrobust"
        return smf.wls(formula, frame, weights=weights).fit(cov_type=cov_type)
    weights = weights / frame.groupby("id")["id"].transform("size")
    fitted = smf.wls(formula, frame, weights=weights)
    return fitted.fit(cov_type="cluster", cov_kwds={"groups": frame["id"]})


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    **DESIGNS,
    kind=st.sampled_from(KINDS),
    method=st.sampled_from(("adassp", "ssp", "shrunken")),
)
def test_at_a_huge_budget_it_is_what_statsmodels_says(
    terms, factor, coding, intercept, seed, kind, method
):
    """Residuals beyond 4 standard deviations are spread over the rows, hence 2%."""
    assume(intercept or "unit" not in kind)
    right = " + ".join([factor, *terms]).format(a=coding)
    formula, frame = f"y ~ {int(intercept)} + {right}", panel(table(2000, seed), seed)
    theirs = reference(formula, frame, kind)
    # else which of all solutions is taken is arbitrary
    assume(np.linalg.matrix_rank(theirs.model.exog) == len(theirs.params))
    ours = fitted(formula, frame, kind, method=method)
    assert ours.cov_type == (
        "cluster" if "unit" in kind else "HC1" if "HC1" in kind else "nonrobust"
    )
    np.testing.assert_allclose(ours.params, theirs.params, atol=4e-5 if "x:" in right else 6e-6)
    # statsmodels multiplies by (n - 1) / (n - k) too, where n is the number of rows
    factor = math.sqrt((2000 - len(ours.params)) / 1999) if "unit" in kind else 1.0
    persons = frame["id"].nunique()
    if "unit" in kind:
        factor *= math.sqrt((persons - 1) / (persons - len(ours.params)))
    robust = "HC1" in kind or "unit" in kind
    np.testing.assert_allclose(ours.bse, factor * theirs.bse, rtol=0.02 if robust else 1e-3)
    if intercept:
        np.testing.assert_allclose(ours.rsquared, theirs.rsquared, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_level_that_the_noise_hides_is_not_identified_alone(kind):
    frame = panel(rare(50_000, 1), 1)
    result = fitted("y ~ x + g + h", frame, kind, 2.0)
    shown = np.isfinite(result.conf_int().to_numpy()).all(axis=1)
    hidden = set(result.params.index[~shown])
    assert "g[T.c]" in hidden and hidden <= {"g[T.c]", "g[T.d]", "g[T.e]"}
    assert abs(result.params["x"] - 0.5) < 0.05 and result.params.notna().all()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "weights"])
def test_intervals_cover_where_variances_differ_and_errors_hang_together(kind):
    """Fewer than 91% of 60 x 5 have a chance below 1e-2 if 95% hold, and half of that here.

    Intervals are longer than they need be where there is noise on squared scores.
    """
    hits, wanted = [], [0.2, 0.3, 0.1, 0.2, 0.5]
    for seed in range(60):
        frame = panel(rare(8000, seed, (800, 900, 1000)), seed)
        ends = fitted("y ~ g + h + x", frame, kind, 6.0, seed=seed).conf_int()
        ends = ends.drop(index=["g[T.c]", "g[T.d]", "g[T.e]"]).to_numpy()
        assert np.isfinite(ends).all()
        hits += ((ends[:, 0] <= wanted) & (wanted <= ends[:, 1])).tolist()
    assert np.mean(hits) > 0.91


@pytest.mark.parametrize("kind", KINDS)
def test_bootstrap_and_stored_results_agree_with_the_errors(kind):
    result = fitted("y ~ x + g", panel(many(30_000, 6, 2)[0], 2), kind, 4.0)
    lengths = (np.ptp(ends.to_numpy(), axis=1) for ends in (result.bootstrap(), result.conf_int()))
    np.testing.assert_allclose(*lengths, rtol=0.2)
    restored = dp.DPResults.from_json(result.to_json())
    assert restored.conf_int().equals(result.conf_int()) and restored == result
    assert restored.error_bound().equals(result.error_bound())


@pytest.mark.parametrize("kind", KINDS)
def test_files_and_other_orders_of_rows_give_the_same(kind, tmp_path):
    frame = panel(rare(6000, 5), 5)
    path = tmp_path / "rows.parquet"
    frame.sample(frac=1, random_state=1).to_parquet(path)
    levels = {"g": list("abcde"), "h": list("uvw")}
    ours = fitted("y ~ x + g + h", frame, kind, 8.0)
    streamed = fitted("y ~ x + g + h", str(path), kind, 8.0, levels=levels)
    assert ours.params.equals(streamed.params) and ours.bse.equals(streamed.bse)


def rule(basis, cut=2.0):
    theta = np.random.default_rng(3).normal(0, 0.1, sum(basis.sizes) + basis.numbers)
    return ScoreRule(basis, theta, cut)


def scores_of(X, y, weights, made):
    """Scores (n, M) by hand, in units of 2^-20."""
    phi = phi_of(X, y, made.basis)
    parts = np.trunc(weights * 2.0**20) / 2.0**20
    size = parts * np.clip((phi[:, -1] - phi[:, :-1] @ made.theta) / (made.cut * 2.0**20), -1, 1)
    return np.trunc(phi[:, :-1] * size[:, None])


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_squared_scores_are_those_of_the_rows_and_of_units_and_add_up(blocks):
    basis = BlockBasis.of(problem_of(blocks, 2))
    X, y = rows(blocks, 2, 20_000)
    generator = np.random.default_rng(1)
    weights, units = generator.uniform(0, 1, len(y)), np.arange(len(y)) // 3
    made = rule(basis, 0.7)
    s = scores_of(X, y, weights, made)
    cuts = (slice(None, 9000), slice(9000, None))
    table = coded(X, y, basis, parts=weights)
    one, two = (made.squares(table[cut]) for cut in cuts)
    found, whole = one + two, s.astype(np.int64).T @ s.astype(np.int64)
    starts = np.cumsum([0, *basis.sizes])
    M = starts[-1]
    assert isinstance(found, BlockSums)
    for k, size in enumerate(basis.sizes):
        place = slice(starts[k], starts[k] + size)
        # at the border of a whole number the order of additions may decide
        np.testing.assert_allclose(found.counts[k].astype(float), np.diag(whole)[place], 1e-6)
        np.testing.assert_allclose(found.levels[k].astype(float), whole[place, M:], 1e-3, 1e12)
    np.testing.assert_allclose(found.numbers.cross.astype(float), whole[M:, M:], 1e-6)
    sums = np.add.reduceat(s, np.arange(0, len(y), 3)).astype(np.int64)
    cuts = (slice(None, 9000), slice(9000, None))
    table = coded(X, y, basis, parts=weights / 3, units=units)
    one, two = (made.squares(table[cut]) for cut in cuts)
    np.testing.assert_allclose((one + two).cross.astype(float), sums.T @ sums / 9, 1e-3, 1e12)
    assert one.extra + two.extra == pytest.approx(found.numbers.extra / 3, rel=1e-3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("blocks, numbers", [(1, 1), (2, 2), (4, 1)])
def test_the_worst_row_reaches_the_sensitivity_of_squared_scores(blocks, numbers, neighbors, form):
    """A corner beyond the cut; under replace-one two corners share products of their numbers."""
    problem = replace(problem_of(blocks, numbers, neighbors), **FORMS[form])
    corner = np.array([[0.0] * blocks + [2.0] * numbers])
    other = np.array([[1.0] * blocks + [2.0, 0.0][:numbers]])
    far, near = np.array([-1.0]), np.array([3.0])
    one = with_parts(problem, corner, far, 1.0)
    two = with_parts(problem, other, near, 1.0)
    if neighbors == ADD_REMOVE:
        two = with_parts(problem, corner[:0], far[:0], 1.0)
    ratio = moved(problem, one, two)
    assert ratio <= 1 + 1e-12
    # kept is 1/2 in both, and the products of numbers move in part
    assert ratio > (0.99 if neighbors == ADD_REMOVE else 0.75), ratio


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_no_row_of_any_weight_and_no_unit_moves_them_further(neighbors, form):
    problem = replace(problem_of(3, 2, neighbors), **FORMS[form])
    X, y = rows(3, 2, 240, seed=3)
    X[::7, 3:], y[::5] = 1e300, np.inf
    X[::11, 4], y[::13] = np.nan, np.nan
    weights = np.random.default_rng(1).choice([0, 0.3, 1, 7, np.nan, -1, np.inf], 240)
    size = 4 if problem.by_unit else 1
    if problem.by_unit:
        weights = np.full(240, 0.25)
    for i in range(0, 200, 2 * size):
        cuts = slice(i, i + size), slice(i + size, i + 2 * size)
        one, two = (with_parts(problem, X[c], y[c], weights[c]) for c in cuts)
        if neighbors == ADD_REMOVE:
            two = two[0][:0], two[1][:0]
        assert moved(problem, one, two) <= 1 + 1e-12


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_worst_rows_reach_the_sensitivity_of_slopes(neighbors):
    """Two corners at other codes share nothing, whatever stands in columns that are zero there."""
    problem = with_slopes(problem_of(2, 2, neighbors))
    one = np.array([[0.0, 0.0, 2.0, np.inf]]), np.array([3.0])
    two = np.array([[1.0, 1.0, np.nan, 2.0]]), np.array([-1.0])
    if neighbors == ADD_REMOVE:
        two = two[0][:0], two[1][:0]
    basis = BlockBasis.of(problem)
    assert basis.norm == math.sqrt(3)
    in_sums = distances(basis, one, two, neighbors)
    assert in_sums[0] == pytest.approx(1, rel=1e-5)
    assert moved(problem, one, two) == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("method", ["adassp", "ssp", "shrunken", "shrunken_pure"])
def test_a_whole_fit_follows_from_its_releases(method, neighbors, form):
    steps = check_call(method, neighbors, form)
    number = {"weights": {"number of rows"}, "units": {"number of units"}}.get(form, set())
    assert steps == {"X'X", "X'y", "y'y"} | (number if neighbors == ADD_REMOVE else set())
    if method != "shrunken_pure":
        assert STEP in check_call(method, neighbors, form, cov_type="HC1")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("method", ["adassp", "shrunken_pure"])
def test_a_fit_of_slopes_follows_from_its_releases(method, neighbors, form):
    cov_type = None if method == "shrunken_pure" else "HC1"
    check_call(method, neighbors, form, cov_type=cov_type, slopes=True)


def unlimited(monkeypatch):
    """Weights beyond one count in full in the sums."""
    monkeypatch.setattr(cross_products, "whole_weights", lambda w: np.trunc(w * 2.0**20))
    monkeypatch.setattr(block_sums, "whole_weights", lambda w: np.trunc(w * 2.0**20))


def unlimited_scores(monkeypatch):
    monkeypatch.setattr(block_scores, "whole_weights", lambda w: np.trunc(w * 2.0**20))


def uncut(monkeypatch):
    """Residuals are not clipped."""
    original = ScoreRule.scores

    def scores(self, given):
        for block, one, kept in original(self, given):
            yield block._replace(columns=4 * block.columns), 4 * one, kept

    monkeypatch.setattr(ScoreRule, "scores", scores)


def blocks_off_by_one(monkeypatch):
    """The sensitivity is that of one block less."""
    norm = property(lambda basis: math.sqrt(basis.entries - 1))
    monkeypatch.setattr(BlockBasis, "norm", norm)


def free_number(monkeypatch):
    """The number of rows is published without noise."""

    def exact(rows, neighbors, cost, noise, counted):
        return None if rows is None else float(rows), 0.0, cost

    monkeypatch.setattr(block_sums, "release_number", exact)


MUTANTS = [
    (unlimited, "weights", None),
    (unlimited_scores, "weights", "HC1"),
    (uncut, "rows", "HC1"),
    (blocks_off_by_one, "rows", "HC1"),
    (free_number, "weights", None),
    (free_number, "units", None),
]


@pytest.mark.parametrize("mutant, form, cov_type", MUTANTS, ids=lambda x: getattr(x, "__name__", x))
def test_what_breaks_the_guarantee_is_seen(mutant, form, cov_type, monkeypatch):
    mutant(monkeypatch)
    with pytest.raises(Violation):
        check_mutant(form, cov_type)


def test_summaries_of_no_rows_add_nothing():
    made = rule(BlockBasis.of(problem_of(2, 1)))
    table = coded(*rows(2, 1, 5), made.basis, parts=np.full(5, 0.2), units=np.arange(5))
    units, none = made.squares(table), made.squares(table[:0])
    assert isinstance(none, Moments) and np.all((units + none).cross == units.cross)
