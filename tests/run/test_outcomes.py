"""Several outcomes in one release: rows in common, least squares, one report, one charge."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

import dpstats as dp
from dpstats.privacy import GDP, REPLACE_ONE
from tests.checks.leaks import (
    check_holds_nothing,
    check_reaches_no_rows,
    confidential,
    pickled,
    printed,
)

N = 6000
RNG = np.random.default_rng(3)
FRAME = pd.DataFrame({name: RNG.normal(size=N) for name in "xz"})
FRAME["g"] = pd.Categorical(RNG.choice(["u", "v", "w"], N))
FRAME["a"] = 1 + FRAME.x + RNG.standard_t(5, N) * np.exp(0.2 * FRAME.z)
FRAME["b"] = np.exp(0.3 * FRAME.z - 0.2 * FRAME.x + 0.5 * RNG.normal(size=N))
FRAME["c"] = RNG.random(N) < 0.3 + 0.1 * (FRAME.g == "v")
FRAME["w"] = RNG.uniform(0.5, 2, N)
FRAME["firm"] = RNG.integers(0, 300, N)
FRAME["person"] = np.repeat(np.arange(N // 2), 2)
RIGHT = "x + z + g"
FORMULAS = {"level": f"a ~ {RIGHT}", "log": f"np.log(b) ~ {RIGHT}", "share": f"c ~ {RIGHT}"}
CALLS = {
    "plain": {},
    "replaced": {"neighbors": REPLACE_ONE},
    "robust": {"cov_type": "HC1"},
    "weights": {"weights": "w", "bounds": {"w": (0, 2)}},
    "clusters": {"cov_type": "cluster", "cluster": "firm"},
    "persons": {"unit": "person", "max_rows": 2},
    "pure": {"delta": 0},
}


def fitted(data=FRAME, formulas=FORMULAS, epsilon: float = 2.0, seed: int = 1, **more):
    with dp.testing.insecure_seed(seed):
        return dp.dp_ols(formulas, data, epsilon=epsilon, missing="listwise", **more)


def usual(text: str, data=FRAME, call: str = "plain"):
    """The fit without privacy, with its own errors."""
    data = data.assign(c=data["c"].astype(float))
    if call == "weights":
        return smf.wls(text, data, weights=data["w"]).fit(cov_type="HC1")
    groups = {"clusters": "firm", "persons": "person"}.get(call)
    if groups:
        return smf.ols(text, data).fit(cov_type="cluster", cov_kwds={"groups": data[groups]})
    return smf.ols(text, data).fit(cov_type="HC1" if call == "robust" else "nonrobust")


@pytest.mark.parametrize("call", CALLS)
def test_as_epsilon_grows_each_is_least_squares(call):
    """What is left are scores between a limit and the middle of its bin: .03 standard errors."""
    fits = fitted(epsilon=1e8, **CALLS[call])
    assert [*fits] == [*FORMULAS]
    for name, fit in fits.items():
        other = usual(FORMULAS[name], call=call)
        difference = (fit.params.to_numpy() - other.params.to_numpy()) / other.bse.to_numpy()
        assert difference == pytest.approx(0, abs=0.03), name
        assert fit.bse.to_numpy() == pytest.approx(other.bse.to_numpy(), rel=0.04), name
        assert fit.status == "ok" and fit.formula == FORMULAS[name]


def test_rows_without_one_of_the_outcomes_are_left_out_of_all():
    holes = FRAME.copy()
    holes["c"] = holes["c"].astype("boolean")
    for i, name in enumerate("xabc"):
        holes.loc[100 * i : 100 * i + 49 + i, name] = pd.NA if name == "c" else np.nan
    fits = fitted(holes, epsilon=1e8, neighbors=REPLACE_ONE)
    left = holes.dropna()
    assert len(left) == N - 206
    for name, fit in fits.items():
        other = usual(FORMULAS[name], left)
        assert fit.nobs == len(left)
        difference = (fit.params.to_numpy() - other.params.to_numpy()) / other.bse.to_numpy()
        assert difference == pytest.approx(0, abs=0.03)


@pytest.mark.parametrize("call", CALLS)
def test_events_add_up_to_the_budget_and_are_those_of_all(call):
    budget = dp.Budget(epsilon=2.0, delta=0.0 if call == "pure" else 1e-6)
    fits = fitted(budget=budget, **CALLS[call])
    reports = {id(fit.privacy) for fit in fits.values()}
    report = fits["level"].privacy
    assert len(reports) == 1 and report.together == 3
    assert report.spent == pytest.approx((2.0, 0.0 if call == "pure" else 1e-6), rel=1e-6)
    assert budget.spent == pytest.approx((2.0, 0.0 if call == "pure" else 1e-6))
    assert sum(event.step == "mean and mean square of y" for event in report.events) == 3
    assert any("3 formulas are one release" in said for said in report.assumptions)


def test_what_scores_have_of_the_budget_is_more_than_a_third_of_one_fit():
    def of_scores(fits):
        events = [event for event in fits["log"].privacy.events if event.step == "scores"]
        return sum(event.cost.mu**2 for event in events[:3]) / GDP.of(2.0, 1e-6).mu ** 2

    with dp.testing.insecure_seed(1):
        split = dp.dp_ols(FORMULAS, FRAME, epsilon=2)
    assert of_scores(split) == pytest.approx(0.38 / 3, rel=1e-4)
    assert of_scores(fitted()) == pytest.approx(0.163, abs=1e-3)


def test_results_have_their_own_columns_alone_and_predict():
    fits = fitted(bounds={"a": (-9, 9), "np.log(b)": (-4, 4)})
    new = pd.DataFrame({"x": [0.5], "z": [0.1], "g": ["v"]})
    for name, variable in {"level": "a", "log": "b", "share": "c"}.items():
        fit = fits[name]
        assert set(fit.schema) == {variable, "x", "z", "g"}
        other = usual(FORMULAS[name])
        found = float(np.ravel(fit.predict(new))[0])
        assert found == pytest.approx(float(other.predict(new).iloc[0]), abs=0.15)
    assert [*fits["log"].term_bounds] == ["np.log(b)"] and not fits["level"].term_bounds


def test_stored_results_cost_what_the_release_did():
    fits = fitted()
    again = {name: dp.DPResults.from_json(fit.to_json()) for name, fit in fits.items()}
    for name, fit in fits.items():
        pd.testing.assert_frame_equal(again[name].conf_int(), fit.conf_int())
        assert again[name].privacy == fit.privacy
    both = dp.compare(fits), dp.compare(again)
    assert str(both[0]) == str(both[1])
    assert both[1].joint_guarantee == pytest.approx((2.0, 1e-6), rel=1e-6)
    other = dp.compare(again["level"], fitted(seed=2)["level"]).joint_guarantee
    assert other[0] > 2.5


def test_a_ledger_is_charged_once_and_answers_an_equal_call(tmp_path):
    ledger = dp.Ledger.create(tmp_path / "ledger.db", dataset="people", epsilon=4, fingerprint="1")
    call = dict(epsilon=1, missing="listwise", budget=ledger)
    path = tmp_path / "people.csv"
    FRAME.drop(columns="c").to_csv(path, index=False)
    formulas = ["a ~ x + z", "b ~ x + z"]
    first, again = (dp.dp_ols(formulas, path, **call, bounds={n: (-9, 9) for n in "abxz"})
                    for _ in range(2))  # fmt: skip
    assert ledger.spent == pytest.approx((1.0, 1e-6), rel=1e-6)
    assert [*again] == formulas
    for name in formulas:
        pd.testing.assert_series_equal(first[name].params, again[name].params)
    assert dp.compare(again).joint_guarantee == pytest.approx((1.0, 1e-6), rel=1e-6)


SOURCES = {
    "frame": lambda frame, folder: frame,
    "mapping": lambda frame, folder: {name: frame[name].to_numpy() for name in frame},
    "csv": lambda frame, folder: frame.to_csv(folder / "t.csv", index=False) or folder / "t.csv",
    "parquet": lambda frame, folder: frame.to_parquet(folder / "t.parquet") or folder / "t.parquet",
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("cell", [np.nan, np.inf, -1e300, 5e-324, 0.0])
def test_a_cell_of_another_outcome_changes_its_own_row_alone(source, cell, tmp_path):
    from dpstats.call.arguments import make_requests
    from dpstats.codebook import Schema

    seen = []
    for value in (0.25, cell):
        frame = FRAME[["x", "a", "b"]].head(9).copy()
        frame.loc[4, "b"] = value
        (request,) = make_requests(
            ["a ~ x", "b ~ x"], SOURCES[source](frame, tmp_path), missing="listwise",
            declared=Schema().updated({n: (-9, 9) for n in "abx"}, None, None), method="auto",
            epsilon=1, delta=None, x_new=None, neighbors=None, row_norm=None, options={},
        ).values()  # fmt: skip
        passes = [rows for rows, _ in request.rows_in_use.batches(request.table, request.read_rows)]
        rows = passes[0] + passes[1] if len(passes) == 2 else passes[0]
        numbers = np.column_stack([rows.numbers, rows.response, rows.others])
        kept = np.delete(numbers, 4, axis=0) if len(numbers) == 9 else numbers
        seen.append(kept.tobytes())
    assert seen[0] == seen[1]


def test_results_hold_only_releases():
    data = confidential()
    data["z"] = 1 - data["x"]
    levels, formulas = {"place": ["north", "south", "east"]}, [f"{y} ~ place" for y in "xyz"]
    for call in ({"epsilon": 2}, {"epsilon": 1e-3}, {"epsilon": 2, "cov_type": "HC1"}):
        fits = dp.dp_ols(formulas, data, missing="listwise", levels=levels, **call)
        for fit in fits.values():
            check_holds_nothing(printed(fit))
            check_holds_nothing(pickled(fit))
            check_reaches_no_rows(fit)


@pytest.mark.parametrize("rows", [0, 1, 30])
def test_few_rows_give_results_of_the_same_form(rows):
    fits = fitted(FRAME.head(rows), epsilon=1.0)
    assert [*fits] == [*FORMULAS]
    for fit in fits.values():
        assert len(fit.params) == 5 and np.isinf(fit.conf_int().to_numpy()).all()
        assert "too few" in fit.reasons["conf_int"]


def test_one_outcome_far_out_leaves_the_others_as_they_are():
    """Far values of one response are cut in its own scores alone."""
    far = FRAME.copy()
    far.loc[:20, "a"] = 1e6
    fits = fitted(far, epsilon=8.0)
    for name in ("log", "share"):
        other = usual(FORMULAS[name])
        difference = (fits[name].params.to_numpy() - other.params.to_numpy()) / other.bse.to_numpy()
        assert difference == pytest.approx(0, abs=1) and fits[name].status == "ok"


def test_intervals_hold_least_squares_and_the_truth():
    """60 intervals of each of two outcomes; fewer than 52 of 60 happen once in 700 times."""
    held = []
    for seed in range(20):
        rng = np.random.default_rng([7, seed])
        x, z, u = rng.normal(size=(3, 4000))
        data = {"x": x, "z": z, "p": 1 + 0.5 * x + u, "q": z - u + rng.standard_t(4, 4000)}
        fits = fitted(data, ["p ~ x + z", "q ~ x + z"], epsilon=1.0, seed=seed)
        truths = ([1, 0.5, 0], [0, 0, 1])
        for fit, truth in zip(fits.values(), truths, strict=True):
            low, high = fit.conf_int().to_numpy().T
            held.append((low <= truth) & (truth <= high))
    held = np.array(held).reshape(20, 2, 3)
    assert (held.sum(axis=(0, 2)) >= 52).all()
