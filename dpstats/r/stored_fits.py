"""Answer what R asks about a fit that it keeps as text."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

import dpstats as dp
from dpstats.r.inputs import rows
from dpstats.r.messages import in_r
from dpstats.results.store.texts import parsed


def fit_of(state: str) -> Any:
    """Restore a fit; of one with instruments the content says so."""
    content = parsed(state, "the state of a fit")
    return (dp.DPIVResults if "instruments" in content else dp.DPResults).from_dict(content)


def groups_of(state: str) -> Any:
    """Restore the fits of groups, in the same way."""
    content = parsed(state, "the state of groups")
    with_instruments = "instruments" in content
    return (dp.DPIVGroupResults if with_instruments else dp.DPGroupResults).from_dict(content)


def raw_powers(state: str, variable: str, level: float) -> dict:
    """Convert the coefficients of poly() of a variable to those of its powers."""
    table = fit_of(state).raw_powers(variable, 1 - level)
    return {
        "powers": len(table) - 1,
        **{name: table[name].tolist() for name in table},
    }


# Columns of marginal effects, in statsmodels' order.
_MARGINS = "estimate", "std_error", "statistic", "p_value", "lower", "upper"


def margins(state: str, level: float, places: Sequence[float] | None = None) -> dict:
    """Compute average marginal effects of a fit with a link, or of its groups at places from 1."""
    if places is None:
        fits = [fit_of(state)]
    else:
        groups = groups_of(state)
        fits = [groups[groups.labels[int(place) - 1]] for place in places]
    frames = [fit.get_margeff().summary_frame(1 - level) for fit in fits]
    tables = [frame.set_axis(_MARGINS, axis="columns") for frame in frames]
    table = pd.concat(tables) if tables else pd.DataFrame(columns=_MARGINS)
    return {"names": list(table.index), **{name: table[name].tolist() for name in _MARGINS}}


def error_bound(state: str, q: float, reference: Mapping | None = None) -> dict:
    """Bound the errors of a release that are not exceeded with probability q%."""
    bound = fit_of(state).error_bound(q, reference=rows(reference))
    return {"names": list(bound.index), "bound": [float(value) for value in bound]}


def f_test(state: str, hypotheses: Sequence[str]) -> dict:
    """Test linear hypotheses jointly."""
    test = fit_of(state).f_test(hypotheses)
    return {
        "statistic": test.fvalue,
        "df": float(test.df_num),
        "reasons": [in_r(reason) for reason in test.reasons],
        "p_value": test.pvalue,
    }
