"""Fit and describe regressions with instruments for R."""

import numpy as np

import dpstats as dp
from dpstats.inference import ConfidenceSet
from dpstats.r.inputs import rows
from dpstats.r.seeds import within
from dpstats.results import DPIVResults


def fit_instruments(formula: str, data, *, block=None, subset=None, **more) -> DPIVResults:
    """Call ``dp_iv`` with a formula of fixest on columns as R keeps them, or on files."""
    condition = None if subset is None else dp.RFormula(subset)
    call = within(block).run
    return call(dp.dp_iv, dp.RFormula(formula), rows(data), subset=condition, **more)


def described_instruments(result: DPIVResults) -> dict:
    """Give the formula as written, the first stage, and the Anderson-Rubin set of 95%."""
    stage = result.first_stage
    return {
        "formula": str(result.instrument_formula),
        "endogenous": result.parsed_instruments.endogenous,
        "names": list(stage.params.index),
        "estimate": stage.params.tolist(),
        "std_error": stage.bse.tolist(),
        "f": float(stage.fvalue),
        "set": ends(result.anderson_rubin()),
    }


def anderson_rubin(state: str, level: float) -> dict:
    """Compute the Anderson-Rubin set of a fit that R keeps as text."""
    return {"set": ends(DPIVResults.from_json(state).anderson_rubin(level))}


def ends(found: ConfidenceSet) -> list[float]:
    """List the ends of the intervals of a set, in order.

    >>> ends(ConfidenceSet(((-np.inf, -1.0), (2.0, np.inf)), 0.95))
    [-inf, -1.0, 2.0, inf]
    """
    return np.ravel(found.intervals).tolist()
