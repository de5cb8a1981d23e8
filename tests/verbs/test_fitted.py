"""Calls of generalised linear models: groups, and what an interruption leaves behind."""

import traceback

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import dpstats as dp

TABLE = {"x": np.arange(50.0), "y": np.arange(50.0) % 2}
FAMILIES = {"binomial": sm.families.Binomial(), "poisson": sm.families.Poisson()}
ODD = ["whole", "absent", "one row", "no events", "all events", "separated", "constant", "missing"]


def people(family: str, n: int = 8000) -> pd.DataFrame:
    """Rows of four groups by two columns, with outcomes or counts."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.normal(size=n), "z": rng.uniform(size=n)})
    frame["state"], frame["sex"] = rng.choice(["A", "B"], n), rng.choice(["f", "m"], n)
    frame = frame.astype({"state": "string", "sex": "string"})
    frame["id"], frame["w"] = np.arange(n) // 2, rng.uniform(0.5, 1, n)
    index = (
        0.3 + (0.2 + 0.4 * (frame["state"] == "B").to_numpy(float)) * frame["x"] - 0.5 * frame["z"]
    )
    chance = 1 / (1 + np.exp(-index))
    frame["y"] = rng.random(n) < chance if family == "binomial" else rng.poisson(np.exp(index))
    return frame.assign(y=frame["y"] * 1)


def odd_groups() -> pd.DataFrame:
    """Groups that a logit without privacy fails on, beside a whole one."""
    rng = np.random.default_rng(2)
    sizes = {name: 1500 for name in ODD} | {"whole": 8000}
    del sizes["absent"]
    parts = {name: pd.DataFrame({"x": rng.normal(size=n)}) for name, n in sizes.items()}
    parts["one row"] = parts["one row"][:1]
    for name, part in parts.items():
        part["y"] = {
            "no events": 0.0, "all events": 1.0, "separated": part["x"] > 0, "missing": np.nan
        }.get(name, rng.random(len(part)) < 0.5)  # fmt: skip
    parts["constant"]["x"] = 2.0
    return pd.concat([part.astype(float).assign(g=name) for name, part in parts.items()])


def seeded(fit, *arguments, **more):
    with dp.testing.insecure_seed(1):
        return fit(*arguments, **more)


@pytest.mark.parametrize("family", FAMILIES)
def test_each_group_tends_to_its_own_fit_as_epsilon_grows(family):
    data = people(family)
    by = seeded(dp.dp_glm, "y ~ x + z", data, family=family, by=["state", "sex"], epsilon=1e7,
                groups=[("A", "f"), ("B", "m")])  # fmt: skip
    assert by.labels == (("A", "f"), ("B", "m")) and list(by.statuses) == ["ok", "ok"]
    for (state, sex), one in by.items():
        own = data.query(f"state == '{state}' & sex == '{sex}'")
        usual = sm.GLM.from_formula("y ~ x + z", own, family=FAMILIES[family]).fit()
        assert (np.abs(one.params - usual.params) / usual.bse).max() < 0.06
        mean = usual.predict()
        slope = (mean * (1 - mean) if family == "binomial" else mean).mean()
        effects = one.get_margeff()
        gap = np.abs(effects.margeff - slope * usual.params[1:]) / effects.margeff_se
        assert gap.max() < 0.1


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("epsilon", [1.0, 200.0])
@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
def test_every_group_is_there_whatever_its_rows_are(family, epsilon, neighbors):
    call = {"family": family, "by": "g", "groups": ODD, "epsilon": epsilon}
    by = seeded(dp.dp_glm, "y ~ x", odd_groups(), neighbors=neighbors, **call)
    assert by.labels == tuple(ODD) and set(by.frame["g"]) == set(ODD)
    columns = ["g", "term", "estimate", "std_error", "lower", "upper", "status"]
    assert list(by.frame) == columns and np.isfinite(by.estimates).all()
    assert by.status["whole"] == "ok"
    for name in ("absent", "one row", "missing", "constant", *["no events"] * (epsilon < 100)):
        assert by.status[name] == "not_identified", name
    if family == "binomial":
        assert set(by.status[["no events", "all events", "separated"]]) == {"not_identified"}
    np.testing.assert_array_equal(by.nobs, [one.nobs for _, one in by.items()])
    restored = dp.DPGroupResults.from_json(by.to_json())
    assert restored == by and str(restored) == str(by)
    for name, one in by.items():
        assert str(one.summary()) and len(one.get_margeff().summary_frame()) == 1, name
        assert one.predict({"x": [-1.0, 50.0]}, interval=True)["mean"].ge(0).all()
        assert dp.DPResults.from_json(one.to_json()) == one
    assert by.plot() is not None


@pytest.mark.parametrize("family", FAMILIES)
def test_groups_take_what_a_single_fit_takes(family, tmp_path):
    data = people(family)
    call = {"family": family, "by": "state", "epsilon": 4}
    plain = seeded(dp.dp_glm, "y ~ x", data, **call)
    assert plain.labels == ("A", "B") and plain.labels_present
    data.to_parquet(tmp_path / "rows.parquet")
    for other in (tmp_path / "rows.parquet", data.to_dict("series")):
        assert seeded(dp.dp_glm, "y ~ x", other, **call).params.equals(plain.params)
    assert seeded(dp.dp_glm, "y ~ x", data, n_jobs=2, **call) == plain
    levels = {"state": ["B", "C"]}
    assert seeded(dp.dp_glm, "y ~ x", data, levels=levels, **call).labels == ("B", "C")
    weighted = seeded(dp.dp_glm, "y ~ x", data, weights="w", bounds={"w": (0, 1)}, **call)
    assert weighted.cov_type == "HC1" and weighted.statuses == ("ok", "ok")
    for max_groups in (1, 2):
        persons = seeded(dp.dp_glm, "y ~ x", data, unit="id", max_rows=2, max_groups=max_groups,
                         **call)  # fmt: skip
        assert persons.cov_type == "cluster" and persons.privacy.max_groups == max_groups
    some = seeded(dp.dp_glm, "y ~ x", data, subset="sex == 'f'", **call)
    assert np.less(some.stack.evidence.fit_rows, 0.7 * plain.stack.evidence.fit_rows).all()
    added = seeded(dp.dp_glm, "y ~ x", data, offset="z", **call)
    assert not added.params.equals(plain.params)
    budget = dp.Budget(4.5, 1e-5)
    several = seeded(dp.dp_glm, {"a": "y ~ x", "b": "y ~ z"}, data, budget=budget, **call)
    assert {name: list(fit) for name, fit in several.items()} == {"a": ["A", "B"], "b": ["A", "B"]}
    with pytest.raises(dp.BudgetError):
        dp.dp_glm("y ~ x", data, budget=budget, **call)


def test_groups_share_no_row_so_they_cost_what_one_costs():
    by = seeded(dp.dp_logit, "y ~ x", people("binomial"), by="state", epsilon=1)
    report = by.privacy
    assert report.parallel and (report.epsilon, report.delta) == (1, 1e-6)
    assert any("the groups together cost what one group costs" in s for s in report.assumptions)
    assert sum(share for _, share in report.shares()) == pytest.approx(1)
    kept = dp.dp_logit("y ~ x", people("binomial"), by="state", epsilon=1, neighbors="replace_one")
    assert any("the state of each row" in said for said in kept.privacy.assumptions)


def test_a_ledger_answers_an_equal_call_by_group_from_its_store(tmp_path):
    data = people("poisson", 500).to_dict("series")
    ledger = dp.Ledger.create(
        tmp_path / "ledger", dataset="visits", epsilon=3, delta=1e-5, fingerprint="1"
    )
    call = {"by": "state", "groups": ["A", "B"], "epsilon": 2, "budget": ledger}
    first = dp.dp_poisson("y ~ x", data, **call)
    assert dp.dp_poisson("y ~ x", data, **call) == first and len(ledger.requests("released")) == 1


@pytest.mark.parametrize("fit", [dp.dp_logit, dp.dp_poisson])
@pytest.mark.parametrize(
    "where, spent", [("verbs.fitted.make_requests", False), ("run.charge.prepare", True)]
)
def test_an_interruption_says_whether_it_was_spent_and_holds_no_rows(
    fit, where, spent, monkeypatch
):
    def interrupted(*arguments, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"dpstats.{where}", interrupted)
    with pytest.raises(KeyboardInterrupt, match="interrupted") as caught:
        fit("y ~ x", TABLE, epsilon=1)
    assert ("spent" in str(caught.value)) == spent
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)][1:]
    held = [value for frame in frames for value in frame.f_locals.values()]
    assert frames and not any(value is TABLE or value == [TABLE] for value in held)
