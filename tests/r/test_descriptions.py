"""Descriptions for R: plain values, labels and words of R, one charge."""

import json

import numpy as np
import pytest

import dpstats as dp
from dpstats.r import answer


def columns() -> dict:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 3000)
    return {
        "x": {"kind": "double", "data": rng.normal(size=3000).astype("<f8").tobytes()},
        "b": {"kind": "logical", "data": truth.astype("<i4").tobytes()},
        "g": {"kind": "factor", "data": (1 + truth).astype("<i4").tobytes(),
              "levels": ["None", "True"]},
    }  # fmt: skip


def plain(value) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and plain(v) for key, v in value.items())
    return all(map(plain, value)) if isinstance(value, list) else type(value) in (str, float, bool)


@pytest.mark.parametrize("by", [None, "g"])
def test_a_description_is_made_of_plain_values_and_charged_once(by):
    budget = answer("budget", {"epsilon": 3.0, "delta": 1e-5})["value"]
    call = {"columns": ["x", "b"], "data": columns(), "epsilon": 2.0, "budget": budget, "by": by}
    reply = answer("describe", call)
    assert plain(reply["value"]) and reply["budget"]["spent"][0] == 2.0
    restored = dp.DPDescription.from_json(reply["value"]["state"])
    assert reply["value"]["numbers"]["estimate"] == restored.frame["estimate"].tolist()
    assert {*reply["value"]["groups"]} == ({"None", "True"} if by else set())
    assert len(json.dumps(restored.to_dict())) > 0


def test_labels_are_those_of_r_and_no_label_is_rewritten():
    """TRUE for a truth value, while the text None among levels stays one."""
    block = answer("open_seed", {"seed": 1.0})["value"]
    call = {"columns": ["b", "g"], "data": columns(), "epsilon": 2.0, "block": block}
    value = answer("describe", call)["value"]
    answer("close_seed", {"block": block})
    assert [row for row in value["stub"] if ": " in row] == [
        "b: FALSE", "b: TRUE", "g: None", "g: True",
    ]  # fmt: skip
    assert {"TRUE", "FALSE", "None", "True", ""} == {*value["level"]}
    for form in ("html", "latex", "markdown"):
        assert "g: None" in value[form] and "with" in value[form]
    assert "made under with_insecure_seed(): the noise can" in " ".join(value["notes"])


def test_a_refusal_is_told_in_the_words_of_r():
    call = {"columns": ["x"], "data": columns(), "epsilon": 1.0, "statistics": ["max"]}
    assert "ask for quantiles = c(0.01, 0.99)" in answer("describe", call)["message"]
