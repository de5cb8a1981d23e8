"""Answer what R asks about a fit that it keeps as text."""

from collections.abc import Mapping, Sequence

import pandas as pd

import dpstats as dp
from dpstats.r.inputs import table
from dpstats.r.messages import in_r
from dpstats.results.store.texts import parsed


def _fit(state: str) -> dp.DPResults:
    """Restore a fit; of one with instruments the content says so."""
    content = parsed(state, "the state of a fit")
    return (dp.DPIVResults if "instruments" in content else dp.DPResults).from_dict(content)


def raw_powers(state: str, variable: str, level: float) -> dict:
    """Convert the coefficients of poly() of a variable to those of its powers."""
    table = _fit(state).raw_powers(variable, 1 - level)
    return {
        "powers": len(table) - 1,
        **{name: table[name].tolist() for name in table},
    }


def margins(state: str, level: float) -> dict:
    """Compute average marginal effects of a logit or a Poisson regression."""
    effects = _fit(state).get_margeff()
    ends = effects.conf_int(1 - level)
    return {
        "names": list(effects.margeff.index),
        "estimate": effects.margeff.tolist(),
        "std_error": effects.margeff_se.tolist(),
        "statistic": effects.tvalues.tolist(),
        "p_value": effects.pvalues.tolist(),
        "lower": ends[0].tolist(),
        "upper": ends[1].tolist(),
    }


def error_bound(state: str, q: float, reference: Mapping | None = None) -> dict:
    """Bound the errors of a release that are not exceeded with probability q%."""
    rows = None if reference is None else pd.DataFrame(table(reference))
    bound = _fit(state).error_bound(q, reference=rows)
    return {"names": list(bound.index), "bound": [float(value) for value in bound]}


def f_test(state: str, hypotheses: Sequence[str]) -> dict:
    """Test linear hypotheses jointly."""
    test = _fit(state).f_test(hypotheses)
    return {
        "statistic": test.fvalue,
        "df": float(test.df_num),
        "reasons": [in_r(reason) for reason in test.reasons],
        "p_value": test.pvalue,
    }
