"""Calls of generalised linear models: what an interruption leaves behind."""

import traceback

import numpy as np
import pytest

import dpstats as dp
from dpstats.verbs import generalized

TABLE = {"x": np.arange(50.0), "y": np.arange(50.0) % 2}


@pytest.mark.parametrize("fit", [dp.dp_logit, dp.dp_poisson])
@pytest.mark.parametrize("where, spent", [("make_requests", False), ("run_charged", True)])
def test_an_interruption_says_whether_it_was_spent_and_holds_no_rows(
    fit, where, spent, monkeypatch
):
    def interrupted(*arguments, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(generalized, where, interrupted)
    with pytest.raises(KeyboardInterrupt, match="interrupted") as caught:
        fit("y ~ x", TABLE, epsilon=1)
    assert ("spent" in str(caught.value)) == spent
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)][1:]
    held = [value for frame in frames for value in frame.f_locals.values()]
    assert frames and not any(value is TABLE or value == [TABLE] for value in held)
