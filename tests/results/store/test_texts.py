"""Stored results are read whoever wrote them: wrong content is an ArgumentError, and soon."""

import json
from copy import deepcopy

import pytest

import dpstats as dp
from dpstats.results.restored_calls import from_text
from dpstats.results.store.calls import to_text

BOUNDS = {"x": (0, 1), "y": (0, 1)}
HOSTILE = [
    *(None, True, "x", "\ud800", 10**400, float("nan"), float("inf")),
    *([], {}, [1], ["x"], [[1]], {"a": 1}, {"$period": [1]}, {"$date": "x"}),
]
DEEP = "[" * 100_000 + "]" * 100_000


def results() -> dict:
    df = dp.simulate.line(400, seed=1).assign(g=["a", "b"] * 200)
    call = {"data": df, "epsilon": 4, "bounds": BOUNDS}
    with dp.testing.insecure_seed(1):
        return {
            "factor": dp.dp_ols("y ~ x + g", method="adassp", levels={"g": ["a", "b"]}, **call),
            "auxiliary fit": dp.dp_ols(
                "y ~ x", method="exp_theil_sen", companion="noisy_moments", **call
            ),
            "groups": dp.dp_ols("y ~ x", by="g", groups=["a", "b"], method="noisy_moments", **call),
        }


RESULTS = results()


def places(tree, path=()):
    """Every place of a tree; of lists the first two."""
    yield path
    parts = tree.items() if isinstance(tree, dict) else enumerate(tree[:2])
    for name, part in parts:
        yield from places(part, (*path, name)) if isinstance(part, dict | list) else [(*path, name)]


def changed(tree, path, value):
    if not path:
        return value
    tree = deepcopy(tree)
    place = tree
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return tree


def use(result) -> None:
    """Ask what a page shows; an error of this package is an answer."""
    shown = [result.summary, result.to_json, result.conf_int, result._repr_html_]
    for show in shown:
        try:
            str(show())
        except dp.DPStatsError:
            continue


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers may be of the right type and odd
@pytest.mark.parametrize("case", RESULTS)
@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda value: repr(value)[:20])
def test_what_does_not_belong_is_refused_wherever_it_is(case, hostile):
    result = RESULTS[case]
    content, refused, raw = json.loads(result.to_json()), 0, []
    for path in places(content):
        text = json.dumps(changed(content, path, hostile))
        try:
            use(type(result).from_json(text))
        except dp.ArgumentError:
            refused += 1
        except Exception as error:
            raw.append((path, repr(error)))
    assert refused > 20 and not raw


@pytest.mark.parametrize("case", RESULTS)
def test_text_that_is_no_result_is_refused_by_the_name_of_its_class(case):
    kind = type(RESULTS[case])
    with pytest.raises(dp.ArgumentError, match=rf"^expected what .* of a {kind.__name__} wrote$"):
        kind.from_json("x")


@pytest.mark.parametrize("case", RESULTS)
def test_a_result_without_a_part_is_refused(case):
    content = json.loads(RESULTS[case].to_json())
    for name in ("formula", "method", "privacy", "schema", "x_new"):
        less = {key: value for key, value in content.items() if key != name}
        with pytest.raises(dp.ArgumentError, match=rf"expected what to_json.*{name} is not"):
            type(RESULTS[case]).from_dict(less)
    with pytest.raises(dp.ArgumentError, match="a result.more is not as it was written"):
        type(RESULTS[case]).from_dict(content | {"more": 1})


@pytest.mark.parametrize("ends", [[], [0.0], [0.0, 1.0, 2.0]])
def test_a_range_without_its_two_ends_is_refused(ends):
    """Predictions keep to it, which are made long after the result was read."""
    content = dp.dp_ols("y ~ x", dp.simulate.line(2000, seed=1), epsilon=4).to_dict()
    assert len(content["evidence"]["response_range"]) == 2
    with pytest.raises(dp.ArgumentError, match="to_dict"):
        dp.DPResults.from_dict(changed(content, ("evidence", "response_range"), ends))


@pytest.mark.parametrize(
    "text", [None, 5, b"\xff", "", "{", DEEP, '{"a":' + DEEP + "}", "9" * 5000, "1e999", "[NaN]"],
    ids=lambda text: repr(text)[:12],
)  # fmt: skip
def test_what_is_no_result_is_an_argument_error(text):
    for read in (dp.DPResults.from_json, dp.DPGroupResults.from_json, from_text):
        with pytest.raises(dp.ArgumentError, match="expected "):
            read(text)


@pytest.mark.parametrize("hostile", [{}, {"several": 5}, {"several": [[1]]}, {"single": DEEP},
                                     {"other": {}}, {"single": {}, "groups": {}}])  # fmt: skip
def test_texts_of_a_ledger_are_read_alike(hostile):
    with pytest.raises(dp.ArgumentError):
        from_text(json.dumps(hostile))
    several = {"a": RESULTS["factor"], "b": RESULTS["groups"]}
    assert from_text(to_text(several)) == several
