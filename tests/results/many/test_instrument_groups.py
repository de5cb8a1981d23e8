"""Regressions with instruments by group: what they answer, show and store."""

import pickle

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.results.restored_calls import from_text
from dpstats.results.store.calls import to_text

RNG = np.random.default_rng(3)
N = 24_000
LABELS = ["a", "b", "c"]
SLOPES, SCALES = {"a": 0.5, "b": 1.0, "c": -1.0}, {"a": 1.0, "b": 8.0, "c": 0.1}


def table() -> pd.DataFrame:
    """Groups of one size, in which y and d have other centers and scales."""
    z, u, e, x, v = RNG.normal(size=(5, N))
    g = RNG.choice(LABELS, N)
    slope, scale = (np.array([of[label] for label in g]) for of in (SLOPES, SCALES))
    d = 3 * scale + scale * (0.8 * z + 0.5 * u + e)
    y = 5 - scale + slope * d + scale * (u + 0.3 * x)
    frame = pd.DataFrame({"y": y, "d": d, "z": z, "w": 0.5 * z + v, "x": x})
    return frame.assign(
        g=pd.Categorical(g, LABELS),
        h=np.where(e > 0, "p", "q"),
        k=RNG.integers(400, size=N).astype(str),
    )


TABLE = table()


def fit(formula="y ~ x + [d ~ z]", epsilon=4, data=TABLE, by="g", **more):
    with dp.testing.insecure_seed(1):
        return dp.dp_iv(formula, data, by=by, epsilon=epsilon, **more)


BY = fit()


def test_each_group_has_its_own_effect_whatever_its_scale():
    """Three intervals of 95%, one table, wide enough for the noise: a fixed seed."""
    assert isinstance(BY, dp.DPIVGroupResults) and BY.labels == tuple(LABELS)
    assert BY.params.columns.tolist() == ["Intercept", "x", "d"]
    rows = BY.frame[BY.frame.term == "d"].set_index("g")
    assert (rows.lower < pd.Series(SLOPES)).all() and (pd.Series(SLOPES) < rows.upper).all()
    assert (rows.upper - rows.lower < 0.5).all() and (BY.status == "ok").all()


def test_as_noise_vanishes_each_group_is_two_stage_least_squares():
    """With two instruments, and with effects that are absorbed within groups."""
    found = fit("y ~ x + [d ~ z + w]", 1e8)
    within = fit("y ~ x + [d ~ z] | k", 1e8)
    for label in LABELS:
        own = TABLE[TABLE.g == label]
        columns = own[["x", "d", "z", "w", "y"]].assign(one=1.0)
        Z, X = columns[["one", "x", "z", "w"]], columns[["one", "x", "d"]]
        fitted = Z @ np.linalg.lstsq(Z, X, rcond=None)[0]
        expected = np.linalg.lstsq(fitted, own.y, rcond=None)[0]
        assert found.params.loc[label].to_numpy() == pytest.approx(expected, abs=1e-3)
        apart = columns - columns.groupby(own.k).transform("mean")
        Z, X = apart[["x", "z"]].to_numpy(), apart[["x", "d"]].to_numpy()
        expected = np.linalg.solve(Z.T @ X, Z.T @ apart.y)
        assert within.params.loc[label].to_numpy() == pytest.approx(expected, abs=1e-3)


def test_first_stages_and_sets_are_those_of_the_members():
    stages, sets = BY.first_stage.set_index("g"), BY.anderson_rubin(0.1)
    assert stages.term.tolist() == ["z"] * 3
    for label, member in BY.items():
        assert isinstance(member, dp.DPIVResults)
        assert stages.estimate[label] == member.first_stage.params["z"]
        assert stages.std_error[label] == member.first_stage.bse["z"]
        assert stages.fvalue[label] == pytest.approx(member.first_stage.fvalue)
        assert sets[label] == member.anderson_rubin(0.1)
        assert member.params.equals(BY.params.loc[label])
        low, high = member.conf_int().to_numpy().T
        own = BY.frame[BY.frame.g == label]
        assert own.lower.tolist() == low.tolist() and own.upper.tolist() == high.tolist()
    with pytest.raises(dp.ArgumentError, match="alpha"):
        BY.anderson_rubin(1)
    two = fit("y ~ x + [d ~ z + w]").first_stage
    assert two.term.tolist() == ["z", "w"] * 3 and (two.fvalue[::2].array == two.fvalue[1::2]).all()


def test_a_weak_group_says_so_and_the_others_stay():
    mixed = TABLE.assign(d=np.where(TABLE.g == "b", RNG.normal(size=N), TABLE.d))
    found = fit(data=mixed)
    assert found.status.to_dict() == {"a": "ok", "b": "weak_instruments", "c": "ok"}
    rows = found.frame[found.frame.g == "b"]
    assert np.isinf(rows.lower).all() and rows.std_error.isna().all()
    assert found["b"].status == "weak_instruments"
    assert "anderson_rubin() has a set" in found["b"].reasons["bse"]
    assert "below 10" in found.summary()


def test_summaries_predictions_and_tests_are_those_of_groups():
    shown = " ".join(BY.summary().split())
    assert "y ~ x + [d ~ z]" in shown and "instruments of d: z; F statistic" in shown
    assert "median" in shown and "covariance type: HC1" in shown
    at = BY.predict({"x": [0.0], "d": [1.0]})
    assert at[0].tolist() == pytest.approx((BY.params["Intercept"] + BY.params["d"]).tolist())
    tested = BY.t_test("d = 0.5")
    assert tested.loc[("a", "c0"), "P>|z|"] > 0.01 > tested.loc[("c", "c0"), "P>|z|"]
    assert "d" in str(dp.compare(BY)) and len(BY.tidy()) == 9
    with pytest.raises(dp.NotReleasedError):
        _ = BY.resid


@pytest.mark.parametrize("formula", ["y ~ x + [d ~ z]", dp.RFormula("y ~ x | d ~ z")])
def test_it_is_stored_and_read_again(formula, tmp_path):
    by = fit(formula)
    again = dp.DPIVGroupResults.from_json(by.to_json())
    assert again == by == pickle.loads(pickle.dumps(by)) == from_text(to_text(by))
    assert again.anderson_rubin().equals(by.anderson_rubin())
    assert type(again.instrument_formula) is type(formula)
    content = by.to_dict()
    for key in ("instruments", "stack", "labels"):
        with pytest.raises(dp.ArgumentError):
            dp.DPIVGroupResults.from_dict({n: v for n, v in content.items() if n != key})
    with pytest.raises(dp.ArgumentError):
        dp.DPIVGroupResults.from_dict({**content, "instruments": "y ~ x + [d ~ z + w]"})
    by.record(tmp_path / "record")
    listed = (tmp_path / "record" / "release.json").read_text()
    assert "y ~ x" in listed and "instrument_groups" in listed


def test_groups_together_cost_what_one_costs():
    budget = dp.Budget(epsilon=4.5)
    fit(budget=budget)
    with pytest.raises(dp.BudgetError):
        fit(budget=budget, epsilon=4)
    assert BY.privacy.parallel and BY.privacy.epsilon == 4
    assert "each row belongs to one g" in " ".join(BY.privacy.assumptions)


def test_arguments_of_groups_are_those_of_dp_ols():
    two = fit(by=["g", "h"], groups=[("a", "p"), ("b", "q")])
    assert two.labels == (("a", "p"), ("b", "q")) and np.isfinite(two.params).all(axis=None)
    sizes = fit(neighbors="replace_one").nobs
    assert sizes.to_dict() == TABLE.g.value_counts().to_dict()
    people = TABLE.assign(who=np.arange(N) // 2)
    of_persons = fit(data=people, unit="who", max_rows=2, max_groups=2)
    assert (of_persons.cov_type, of_persons.privacy.max_groups) == ("cluster", 2)
    for name in ("d", "z", "x", "y"):
        with pytest.raises(dp.ArgumentError, match="is in the formula"):
            fit(by=name, groups=[1.0, 2.0])
    with pytest.raises(dp.ArgumentError, match="groups"):
        fit(by=None, groups=["a"])
    with pytest.raises(dp.ArgumentError, match="has no option 'max_group'|max_groups"):
        fit(max_group=2)


@pytest.mark.parametrize("name", ["p25", "p75"])
def test_points_are_predicted_and_not_asked_for(name):
    by = fit(groups=["a"])
    for result in (by, by["a"]):
        with pytest.raises(dp.NotReleasedError, match=f"^{name} .*; use predict\\(newdata\\)$"):
            getattr(result, name)
