"""A method that draws: without parentheses it says how to call it, otherwise it is the method."""

import inspect
import pickle
import pydoc

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest

import dpstats as dp

UNIT = {"x": (0, 1), "y": (0, 1)}


def holders(tmp_path) -> list:
    """One of each that draws."""
    data = dp.simulate.line(200, seed=1).assign(g=["a", "b"] * 100)
    call = dict(method="noisy_moments", epsilon=4, bounds=UNIT)
    ledger = dp.Ledger.create(tmp_path / "a.ledger", dataset="a", epsilon=1)
    plan = dp.plan("y ~ x", n=100, method="noisy_stats", epsilon=1, bounds=UNIT, repetitions=20)
    by = dp.dp_ols("y ~ x", data, by="g", groups=["a", "b"], **call)
    return [dp.dp_ols("y ~ x", data, **call), by, plan, ledger]


def test_without_parentheses_one_line_says_how_to_call_it(tmp_path):
    for holder in holders(tmp_path):
        text = repr(holder.plot)
        assert text.startswith("call .plot(") and "\n" not in text
        assert str(inspect.signature(holder.plot)) in text
        first = type(holder).plot.__doc__.splitlines()[0]
        assert first[1:].rstrip(".") in text


def test_it_is_called_documented_and_copied_like_a_method(tmp_path):
    result, *_ = holders(tmp_path)
    fig, ax = plt.subplots()
    assert result.plot(ax) is ax and result.plot(ax=ax) is ax
    plt.close(fig)
    with pytest.raises(TypeError, match="unexpected keyword"):
        result.plot(axes=ax)
    assert "plot(self, ax=None)" in pydoc.render_doc(dp.DPResults, renderer=pydoc.plaintext)
    assert "needs matplotlib" in pydoc.render_doc(result.plot, renderer=pydoc.plaintext)
    assert inspect.isfunction(dp.DPResults.plot)
    assert pickle.loads(pickle.dumps(result)) == result
