"""Describe regressions with instruments for R."""

from collections.abc import Sequence

import numpy as np

from dpstats.inference import ConfidenceSet
from dpstats.r.stored_fits import fit_of, groups_of
from dpstats.results import DPIVGroupResults, DPIVResults


def described_instruments(result: DPIVResults) -> dict:
    """Give the formula as written, the first stage, and the Anderson-Rubin set of 95%."""
    stage = result.first_stage
    return {
        **_written(result),
        "estimate": stage.params.tolist(),
        "std_error": stage.bse.tolist(),
        "f": float(stage.fvalue),
        "set": ends(result.anderson_rubin()),
    }


def described_group_instruments(result: DPIVGroupResults) -> dict:
    """Describe the instruments of groups; numbers go by group, then by instrument."""
    stage = result.first_stage
    return {
        **_written(result),
        "estimate": stage["estimate"].tolist(),
        "std_error": stage["std_error"].tolist(),
        "f": stage["fvalue"].tolist()[:: len(result.instruments)],
        "sets": [ends(found) for found in result.anderson_rubin()],
    }


def _written(result: DPIVResults | DPIVGroupResults) -> dict:
    return {
        "formula": str(result.instrument_formula),
        "endogenous": result.parsed_instruments.endogenous,
        "names": list(result.instruments),
    }


def anderson_rubin(state: str, level: float, places: Sequence[float] | None = None) -> dict:
    """Compute the Anderson-Rubin set of a fit that R keeps as text, or of groups at places."""
    if places is None:
        return {"sets": [ends(fit_of(state).anderson_rubin(1 - level))]}
    sets = groups_of(state).anderson_rubin(1 - level)
    return {"sets": [ends(sets.iloc[int(place) - 1]) for place in places]}


def ends(found: ConfidenceSet) -> list[float]:
    """List the ends of the intervals of a set, in order.

    >>> ends(ConfidenceSet(((-np.inf, -1.0), (2.0, np.inf)), 0.95))
    [-inf, -1.0, 2.0, inf]
    """
    return np.ravel(found.intervals).tolist()
