"""Figures that a method worked out are shown as they are, with the reason for what is missing."""

import numpy as np
import pytest

from dpstats.evidence import BlockEvidence, NewtonEvidence
from dpstats.inference import Estimate

FIGURES = {
    "fit_rows": 40.0, "fit_rows_error": 2.0, "fit_rsquared": 0.5, "fit_rsquared_error": 0.1,
    "fit_scale": 3.0, "fit_scale_error": 0.2,
}  # fmt: skip
NEWTON = {"privacy_cov": np.eye(2), "down_weighted": 0.1}
BLOCKS = {"gram": [1.0], "cross": [1.0], "square": 1.0, "deviations": [1.0, 1.0, 1.0]}


@pytest.mark.parametrize(("kind", "parts"), [(NewtonEvidence, NEWTON), (BlockEvidence, BLOCKS)])
def test_figures_are_as_worked_out(kind, parts):
    found = kind(**parts, **FIGURES).goodness(2, np.ones(2), Estimate())
    assert (found.rows, found.rsquared, found.scale, found.reason) == (
        Estimate(40.0, 2.0), Estimate(0.5, 0.1), Estimate(3.0, 0.2), "",
    )  # fmt: skip
    public = kind(**parts, **FIGURES).goodness(2, None, Estimate(41.0, 0.0))
    assert public.rows == Estimate(41.0, 0.0) and not public.is_centred
    assert kind(**parts).tells_clipping


def test_what_is_missing_has_its_reason():
    def reason(known):
        return known.goodness(2, np.ones(2), Estimate()).reason

    assert "leaves R-squared open" in reason(NewtonEvidence(**NEWTON, fit_rows=40.0))
    known = {**NEWTON, "weighted_rows": 20.0, "fit_rsquared": 0.5, "fit_rsquared_error": 0.1}
    assert "weighted rows" in reason(NewtonEvidence(**known))
    weighted = {**BLOCKS, "weighted_rows": 30.0}
    assert "leaves R-squared open" in reason(BlockEvidence(**weighted))
    assert "weighted rows" in reason(BlockEvidence(**weighted, **FIGURES))
