"""The bridge that R calls: values in and out, no traceback."""

import json
import signal

import numpy as np
import pytest

import dpstats as dp
from dpstats.formula.r import syntax
from dpstats.r import answer, bridge
from dpstats.r.messages import in_r
from dpstats.r.serialize import CLIPPED_PREDICTIONS, describe_groups
from dpstats.r.uncertainties import described
from dpstats.testing import insecure_seed


def test_a_call_from_r_reads_the_text_of_each_formula_once(monkeypatch):
    texts, parser = [], syntax._Parser
    monkeypatch.setattr(syntax, "_Parser", lambda text: texts.append(str(text)) or parser(text))
    syntax.parse.cache_clear()
    data = columns(x=[0.1, 0.9], y=[0.2, 0.8], z=[0.5, 0.6])
    formulas = {"one": "y ~ x", "two": "z ~ x + I(x^2)"}
    call = CALL | {"data": data, "formula": formulas, "bounds": BOUNDS | {"z": [0.0, 1.0]}}
    assert len(answer("fit", call)["value"]) == 2
    assert sorted(texts) == sorted(formulas.values())


def columns(**values):
    return {
        name: {"kind": "double", "data": np.asarray(v, "<f8").tobytes()}
        for name, v in values.items()
    }


CALL = {"formula": "y ~ x", "method": "adassp", "epsilon": 1.0}


BOUNDS = {"x": [0.0, 1.0], "y": [0.0, 1.0]}


def plain(value) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and plain(v) for key, v in value.items())
    return all(map(plain, value)) if isinstance(value, list) else type(value) in (str, float, bool)


@pytest.mark.parametrize("by", [None, "g", ["g", "h"]])
def test_an_answer_is_made_of_plain_values(by):
    rng = np.random.default_rng(1)
    data = columns(x=rng.random(300), y=rng.random(300))
    codes = rng.integers(1, 3, 300).astype("<i4").tobytes()
    data["g"] = data["h"] = {"kind": "factor", "data": codes, "levels": ["u", "v"]}
    start = answer("budget", {"epsilon": 3.0, "delta": 1e-5})["value"]
    reply = answer("fit", CALL | {"data": data, "bounds": BOUNDS, "by": by, "budget": start})
    assert reply["budget"]["spent"][0] == 1.0
    assert plain(reply)


def test_a_logit_is_described_as_one_by_plain_values():
    rng = np.random.default_rng(1)
    x = rng.random(3000)
    data = columns(x=x)
    codes = (1 + (rng.random(3000) < x)).astype("<i4").tobytes()
    data["y"] = {"kind": "factor", "data": codes, "levels": ["no", "yes"]}
    start = answer("budget", {"epsilon": 3.0, "delta": 1e-5})["value"]
    call = {"formula": "y ~ x", "data": data, "family": "binomial", "epsilon": 2.0}
    reply = answer("glm", call | {"budget": start})
    assert plain(reply) and reply["budget"]["spent"][0] == 2.0
    (fit,) = reply["value"]
    assert fit["model"] == "Logit" and fit["status"] == "ok"
    assert all(0 < chance < 1 for chance in fit["predictions"]["mean"])
    effects = answer("margins", {"state": fit["state"], "level": 0.9})
    assert plain(effects) and effects["value"]["names"] == ["x"]
    reply = answer("glm", call | {"formula": "x ~ y", "bounds": {"x": [0.0, 5.0]}})
    assert reply["error"] == "ArgumentError" and "got bounds c(0, 5) on x" in reply["message"]


def test_a_poisson_regression_is_described_as_one_by_plain_values():
    rng = np.random.default_rng(1)
    x = rng.random(5000)
    data = columns(x=x, y=rng.poisson(np.exp(1 + x)).astype(float))
    call = {"formula": "y ~ x", "data": data, "family": "poisson", "epsilon": 8.0}
    reply = answer("glm", call)
    assert plain(reply)
    (fit,) = reply["value"]
    assert fit["model"] == "Poisson" and fit["cov_type"] == "HC1"
    effects = answer("margins", {"state": fit["state"], "level": 0.9})
    assert plain(effects) and effects["value"]["names"] == ["x"]
    (rate,) = answer("glm", call | {"exposure": "x", "epsilon": 1e6})["value"]
    assert rate["names"] == fit["names"] and rate["state"] != fit["state"]
    reply = answer("glm", call | {"offset": "nowhere"})
    assert reply["error"] == "ArgumentError" and "no column" in reply["message"]


@pytest.mark.parametrize("family, model", [("binomial", "Logit"), ("poisson", "Poisson")])
def test_groups_with_links_are_described_and_asked_for_effects(family, model):
    rng = np.random.default_rng(1)
    x = rng.random(9000)
    data = columns(x=x, y=(rng.random(9000) < x) * 1.0)
    codes = rng.integers(1, 3, 9000).astype("<i4").tobytes()
    data["g"] = {"kind": "factor", "data": codes, "levels": ["a", "b"]}
    call = {"formula": "y ~ x", "data": data, "family": family, "epsilon": 8.0, "by": "g"}
    reply = answer("glm", call)
    assert plain(reply)
    (by,) = reply["value"]
    assert by["labels"] == [["a", "b"]] and by["model"] == model and by["size"] == 2.0
    groups = dp.DPGroupResults.from_json(by["state"])
    for places, labels in (([1.0, 2.0], "ab"), ([2.0], "b"), ([], "")):
        effects = answer("margins", {"state": by["state"], "level": 0.9, "places": places})
        assert plain(effects) and effects["value"]["names"] == ["x"] * len(labels)
        wanted = [groups[label].get_margeff().margeff.item() for label in labels]
        assert effects["value"]["estimate"] == wanted


def test_answers_about_a_stored_fit_are_plain_and_by_the_names_of_r():
    rng = np.random.default_rng(1)
    x = rng.random(5000)
    data = columns(x=x, y=x / 2 + 0.1 * rng.random(5000))
    block = answer("open_seed", {"seed": 1.0})["value"]
    (fit,) = answer("fit", CALL | {"data": data, "bounds": BOUNDS, "block": block})["value"]
    answer("close_seed", {"block": block})
    state = fit["state"]
    joint = answer("f_test", {"state": state, "hypotheses": ["(Intercept) = 0", "1 * x = .5"]})
    assert joint["value"]["df"] == 2.0
    assert plain(joint)
    reply = answer("f_test", {"state": state, "hypotheses": "x == 0"})
    assert reply["error"] == "ArgumentError" and '"x = 0" about (Intercept), x' in reply["message"]


def test_a_plan_reaches_r_as_plain_columns():
    call = {"formula": "y ~ x", "n": 500.0, "bounds": BOUNDS, "methods": ["noisy_stats"]}
    reply = answer("plan", call | {"epsilon": [1.0, 4.0], "repetitions": 20.0, "seed": 1.0})
    assert plain(reply)
    frame = reply["value"]["frame"]
    wanted = dp.plan(
        dp.RFormula("y ~ x"), n=500, bounds=BOUNDS, methods=["noisy_stats"], epsilon=[1, 4],
        repetitions=20, seed=1,
    ).frame  # fmt: skip
    assert frame["error"] == wanted["error"].tolist()
    assert frame["term"][:2] == ["(Intercept)", "x"]
    reply = answer("plan", call)
    assert "such as c(0.5, 1), got NULL" in reply["message"]


def test_a_plan_of_groups_reaches_r_with_their_sizes():
    call = {"bounds": BOUNDS, "methods": "adassp", "epsilon": 2.0, "repetitions": 20.0}
    reply = answer("plan", call | {"formula": "y ~ x", "by": "g", "n": [50.0, 900.0, 50.0]})
    assert plain(reply) and reply["value"]["title"] == "Forecast of y ~ x by g"
    assert reply["value"]["frame"]["rows"] == [50] * 8 + [900] * 8
    assert reply["value"]["frame"]["groups"] == [2] * 8 + [1] * 8
    absorbed = {"formula": "y ~ x | g", "n": 400.0, "groups": 20.0, "within_share": 0.4}
    reply = answer("plan", call | absorbed)
    assert reply["value"]["slopes"] == ["x"]


def test_the_records_of_the_budget_add_up_and_refuse():
    data = columns(x=[0.1, 0.9], y=[0.2, 0.8])
    state = answer("budget", {"epsilon": 1.2, "delta": 1e-5})["value"]
    call = CALL | {"data": data, "bounds": BOUNDS}
    state = answer("fit", call | {"budget": state})["budget"]
    reply = answer("fit", call | {"budget": state})
    assert reply["error"] == "BudgetError" and reply["budget"] == state
    spoilt = answer("fit", call | {"budget": state | {"record": "{}"}})
    assert spoilt["error"] == "ArgumentError"


def test_a_seed_holds_for_the_calls_of_its_block_alone():
    call = CALL | {"data": columns(x=[0.1, 0.9], y=[0.2, 0.8]), "bounds": BOUNDS}

    def draws(blocks):
        return [answer("fit", call | {"block": b})["value"][0]["estimate"] for b in blocks]

    first, second = (answer("open_seed", {"seed": seed})["value"] for seed in (1.0, 2.0))
    mixed = draws([first, second, first, second])
    (outside,) = answer("fit", call)["value"]
    assert outside["privacy"]["private"]
    for block in (first, second):
        assert answer("close_seed", {"block": block}) == {"value": None}
    wanted = []
    for seed in (1.0, 2.0):
        again = answer("open_seed", {"seed": seed})["value"]
        wanted.append(draws([again, again]))
        answer("close_seed", {"block": again})
    assert mixed[::2] == wanted[0] and mixed[1::2] == wanted[1]
    assert len({tuple(estimate) for estimate in mixed}) == 4
    assert "has ended" in answer("fit", call | {"block": first})["message"]


def test_no_failure_carries_values_or_a_traceback(monkeypatch):
    def fail(**arguments):
        raise ValueError("the row was 0.123456789")

    monkeypatch.setitem(bridge.QUESTIONS, "fit", fail)
    reply = answer("fit", {})
    assert reply == {"error": "InternalError", "message": "fit stopped: ValueError"}


def test_an_interrupted_call_still_counts(monkeypatch):
    def interrupted(budget, **arguments):
        budget.reserve(1.0, 0.0, dp.privacy.PureDP(1.0), "add_remove")
        raise KeyboardInterrupt

    monkeypatch.setitem(bridge.QUESTIONS, "fit", interrupted)
    state = answer("budget", {"epsilon": 2.0, "delta": 0.0})["value"]
    reply = answer("fit", {"budget": state})
    assert reply["error"] == "KeyboardInterrupt" and reply["budget"]["spent"] == [1.0, 0.0]
    assert bridge.interrupted()["budget"] == reply["budget"]  # for an R that did not hear


def test_an_interrupt_of_r_after_the_reply_keeps_the_charge():
    state = answer("budget", {"epsilon": 2.0, "delta": 1e-6})["value"]
    assert bridge.interrupted() == {"error": "KeyboardInterrupt", "message": "interrupted"}
    call = CALL | {"data": columns(x=[0.1, 0.9], y=[0.2, 0.8]), "bounds": BOUNDS, "budget": state}
    reply, heard = answer("fit", call), bridge.interrupted()
    assert "value" in reply and heard["budget"] == reply["budget"]
    assert heard["message"] == "interrupted; the budget of this call counts as spent"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemError()])
def test_an_interrupt_says_what_it_costs_and_carries_no_rows(error, monkeypatch):
    def interrupted(*arguments):
        raise error from KeyboardInterrupt(f"{0.123456789} in {arguments}")

    monkeypatch.setattr("dpstats.run.charge.fit_single", interrupted)
    call = CALL | {"data": columns(x=[0.1, 0.9], y=[0.2, 0.8]), "bounds": BOUNDS}
    reply = answer("fit", call)
    said = "interrupted; the budget of this call counts as spent"
    assert reply == {"error": "KeyboardInterrupt", "message": said}
    monkeypatch.setitem(bridge.QUESTIONS, "methods", interrupted)
    assert answer("methods", {}) == {"error": "KeyboardInterrupt", "message": "interrupted"}


def test_an_interrupt_whose_handler_fails_is_one_too(monkeypatch):
    def handler(number, frame):  # as reticulate's, where R is interrupted in what it calls
        raise RuntimeError("(Unknown exception occurred)")

    before = signal.signal(signal.SIGINT, handler)
    monkeypatch.setattr(
        "dpstats.run.charge.fit_single", lambda *arguments: signal.raise_signal(signal.SIGINT)
    )
    call = CALL | {"data": columns(x=[0.1, 0.9], y=[0.2, 0.8]), "bounds": BOUNDS}
    try:
        assert answer("fit", call)["error"] == "KeyboardInterrupt"
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_text_within_a_text_keeps_its_quotes():
    said = """subset='g != "a"' leaves out 'a'; give levels={"g": ['b', 'c']}, or leave it"""
    wanted = (
        """subset = 'g != "a"' leaves out "a"; give levels = list(g = c("b", "c")), or leave it"""
    )
    assert in_r(said) == wanted


def test_messages_are_in_the_words_of_r():
    reply = answer("fit", CALL | {"formula": "y ~ log(x)", "data": columns(x=[1.0], y=[1.0])})
    assert reply["error"] == "ArgumentError"
    assert reply["message"].endswith("bounds = list(x = c(low, high))")
    assert in_r("expected x=None or True") == "expected x = NULL or TRUE"
    assert in_r("regressors times params") == "regressors times coef()"
    tables = "[[ols]]1 has its own epsilon; needs [models.NAME] or one of [[ols]], [[iv]]"
    assert in_r(tables) == tables


def test_the_state_of_a_fit_holds_no_row():
    x = np.full(50, 0.123456789)
    reply = answer("fit", CALL | {"data": columns(x=x, y=x), "bounds": BOUNDS})
    assert "0.1234567" not in json.dumps(reply)


def test_a_ledger_is_known_by_its_path(tmp_path):
    path = str(tmp_path / "f.ledger")
    dp.Ledger.create(path, dataset="lines", epsilon=3, neighbors="replace_one").allocate("anna", 2)
    shown = answer("ledger", {"path": path, "analyst": "anna"})["value"]
    assert (shown["epsilon"], shown["remaining"]) == (3.0, [2.0, 5e-7])
    data = columns(x=[0.1, 0.9], y=[0.2, 0.8])
    call = {"formula": "y ~ x", "data": data, "method": "noisy_stats", "epsilon": 1.5,
            "bounds": BOUNDS}  # fmt: skip
    reply = answer("fit", call | {"budget": {"ledger": path, "analyst": "anna"}})
    assert reply["budget"]["spent"] == [1.5, 0.0] and "Ledger of lines" in reply["budget"]["text"]
    reply = answer("fit", call | {"budget": {"ledger": path}})
    assert reply["error"] == "BudgetError"
    assert 'say who you are with dp_ledger(path, analyst = "...")' in reply["message"]
    reply = answer("ledger", {"path": str(tmp_path / "nosuch")})
    assert reply["error"] == "LedgerError" and dp.Ledger(path).spent == (1.5, 0.0)


def test_a_ledger_is_made_and_kept_from_r(tmp_path):
    path = str(tmp_path / "a.ledger")
    made = {"path": path, "dataset": "families", "epsilon": 2.0, "approval": True}
    reply = answer("ledger_create", made | {"fingerprnt": "2024"})
    assert (
        reply["message"]
        == "dp_ledger_create() has no argument fingerprnt; did you mean fingerprint?"
    )
    assert answer("ledger_create", made) == {"value": None}
    assert dp.Ledger(path).dataset.name == "families"
    table = answer("ledger_allocate", {"path": path, "analyst": "anna", "epsilon": 1.5})
    assert table == answer("ledger_analysts", {"path": path})
    assert table["value"]["numbers"]["epsilon"] == [1.5] and plain(table)
    data = columns(x=[0.1, 0.9], y=[0.2, 0.8])
    call = CALL | {"data": data, "bounds": BOUNDS, "budget": {"ledger": path, "analyst": "anna"}}
    assert "1" in answer("fit", call)["message"]
    asked = answer("ledger_requests", {"path": path, "state": "requested"})
    assert asked["value"]["texts"]["analyst"] == ["anna"] and plain(asked)
    settled = answer("ledger_settle", {"path": path, "request": 1.0, "state": "approved"})
    assert settled["value"]["texts"]["state"] == ["approved"]
    again = answer("ledger_settle", {"path": path, "request": 1.5, "state": "approved"})
    assert "expected request to be a whole number" in again["message"]
    found = answer("ledger_verify", {"path": path})["value"]
    assert found["ok"] and found["problems"] == []
    same = answer("ledger_export", {"path": path, "out": path})
    assert "different files" in same["message"]


def test_a_study_runs(tmp_path):
    (tmp_path / "study.toml").write_text(
        'data = "d.csv"\nbounds = { x = [0, 1], y = [0, 1] }\n'
        '[models.main]\nformula = "y ~ x"\nmethod = "noisy_stats"\nepsilon = 1\n'
    )
    call = {"study": str(tmp_path / "study.toml"), "out": str(tmp_path / "out")}
    assert "made by dp_ledger()" in answer("run", call)["message"]
    assert answer("run", call | {"dry_run": True})["value"] == str(tmp_path / "out")
    assert (tmp_path / "out" / "index.html").exists()


def test_a_study_of_r_s_formulas_is_answered_what_calls_from_r_have_stored(tmp_path):
    dp.simulate.line(500, seed=1).to_csv(tmp_path / "d.csv", index=False)
    (tmp_path / "study.toml").write_text(
        'data = "d.csv"\nlanguage = "R"\nbounds = { x = [0, 1], y = [0, 1] }\n'
        '[models.main]\nformula = "y ~ I(x^2)"\nmethod = "adassp"\nepsilon = 1\n'
    )
    ledger = dp.Ledger.create(tmp_path / "a.ledger", dataset="lines", epsilon=2, fingerprint="1")
    call = CALL | {"formula": "y ~ I(x^2)", "data": [str(tmp_path / "d.csv")], "bounds": BOUNDS,
                   "budget": {"ledger": str(ledger.path)}}  # fmt: skip
    assert len(answer("fit", call)["value"]) == 1
    spent = ledger.spent
    study = {"study": str(tmp_path / "study.toml"), "out": str(tmp_path / "out")}
    assert "value" in answer("run", study | {"budget": {"ledger": str(ledger.path)}})
    assert ledger.spent == spent and spent[0] > 0 and len(ledger.requests()) == 1


@pytest.mark.parametrize(
    ("method", "options", "kind"),
    [
        ("noisy_moments", {}, "pivot"),
        ("adassp", {}, "wald"),
        ("exp_theil_sen", {"ci": True}, "ends"),
    ],
)
def test_what_r_infers_from_is_described_by_group(method, options, kind):
    df = dp.simulate.line(3000, seed=1).assign(g=["a", "b", "c"] * 1000)
    with insecure_seed(1):
        by = dp.dp_ols("y ~ x", df, by="g", epsilon=8, method=method, bounds=BOUNDS, **options)
    content = described(by.uncertainty, by.stack.params)
    assert plain(content) and content["kind"] == kind
    assert content["params"] == by.params.to_numpy().ravel().tolist()
    sizes = {"groups": 3.0, "size": 2.0}
    assert {name: content[name] for name in sizes} == sizes
    assert all(len(part) % 3 == 0 for part in content.values() if isinstance(part, list))


@pytest.mark.parametrize("method", ["noisy_moments", "adassp", "exp_theil_sen"])
@pytest.mark.parametrize("epsilon", [0.1, 8])
def test_figures_of_each_group_are_described_or_why_there_are_none(method, epsilon):
    df = dp.simulate.line(3000, seed=1).assign(g=["a", "b", "c"] * 1000)
    with insecure_seed(1):
        by = dp.dp_ols("y ~ x", df, by="g", epsilon=epsilon, method=method, bounds=BOUNDS)
    content = describe_groups(by)["fit_statistics"]
    assert plain(content)
    fits = [by[label] for label in by.labels]
    assert [bool(reason) for reason in content["reasons"]] == [
        bool(np.isnan(fit.fit_statistics["estimate"]).any()) for fit in fits
    ]
    if method == "exp_theil_sen":
        assert content.keys() == {"reasons"} and "no R-squared" in content["reasons"][2]
    else:
        assert content["name"] == list(fits[0].fit_statistics.index)
        for name, column in (("estimate", "estimate"), ("std_error", "std_error")):
            wanted = [value for fit in fits for value in fit.fit_statistics[column]]
            np.testing.assert_array_equal(content[name], wanted)


@pytest.mark.parametrize("method", list(dp.METHODS))
def test_the_methods_whose_predictions_keep_to_the_ranges_are_listed(method):
    df = dp.simulate.line(300, seed=1)
    with insecure_seed(1):
        res = dp.dp_ols("y ~ x", df, epsilon=8, method=method, bounds=BOUNDS)
    assert (res.limits is not None) == (method in CLIPPED_PREDICTIONS)


def test_a_ledger_is_made_for_data_of_r_and_moved(tmp_path):
    path, people = str(tmp_path / "a.ledger"), tmp_path / "people.csv"
    people.write_text("x,y\n0.1,0.2\n")
    made = {"path": path, "dataset": "lines", "epsilon": 2.0, "data": columns(x=[], y=[])}
    assert answer("ledger_create", made) == {"value": None}
    call = CALL | {"bounds": BOUNDS, "budget": {"ledger": path}}
    integers = {"kind": "integer", "data": np.array([0, 1], "<i4").tobytes()}
    reply = answer("fit", call | {"data": columns(y=[0.2, 0.8]) | {"x": integers}})
    assert reply["error"] == "BudgetError" and dp.Ledger(path).spent == (0.0, 0.0)
    assert "says so with dp_ledger_move()" in reply["message"]
    assert answer("ledger_move", {"path": path, "data": [str(people)]}) == {"value": None}
    assert "value" in answer("fit", call | {"data": [str(people)]})
    refused = answer("ledger_move", {"path": path, "data": [str(tmp_path / "no.csv")]})
    assert refused["error"] == "ArgumentError"
