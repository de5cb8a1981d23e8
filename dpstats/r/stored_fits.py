"""Answer what R asks about a fit that it keeps as text."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

import dpstats as dp
from dpstats.formula import linear_constraints
from dpstats.formula.r_coding import level_label
from dpstats.r.inputs import table
from dpstats.r.messages import in_r
from dpstats.r.serialize import predicted
from dpstats.results.comparison import Comparison
from dpstats.schema import Categorical


def conf_int(state: str, level: float) -> dict:
    """Compute the intervals of a stored fit."""
    intervals = _fit(state).conf_int(1 - level).to_numpy()
    return {"low": intervals[:, 0].tolist(), "high": intervals[:, 1].tolist()}


def _fit(state: str) -> dp.DPResults:
    return dp.DPResults.from_json(state)


def raw_powers(state: str, variable: str, level: float) -> dict:
    """Convert the coefficients of poly() of a variable to those of its powers."""
    table = _fit(state).raw_powers(variable, 1 - level)
    return {
        "powers": len(table) - 1,
        **{name: table[name].tolist() for name in table},
    }


def predict(state: str, newdata: Mapping, level: float) -> dict:
    """Predict from a stored fit at public values, with standard errors and intervals."""
    result = _fit(state)
    columns = {name: _values(v, result.schema.get(name)) for name, v in newdata.items()}
    points = pd.DataFrame(result.predict(columns, interval=True, alpha=1 - level))
    return predicted(points)


def _values(values, kind) -> list:
    """Replace the labels of levels by the levels; numbers stay as they are."""
    if not isinstance(kind, Categorical):
        return list(values)
    by_label = {level_label(level): level for level in kind.levels}
    return [by_label[value] for value in values]


def error_bound(state: str, q: float, reference: Mapping | None = None) -> dict:
    """Bound the errors of a release that are not exceeded with probability q%."""
    rows = None if reference is None else pd.DataFrame(table(reference))
    bound = _fit(state).error_bound(q, reference=rows)
    return {"names": list(bound.index), "bound": [float(value) for value in bound]}


def t_test(state: str, hypotheses, level: float) -> dict:
    """Test linear hypotheses one by one."""
    result = _fit(state)
    test = result.t_test(hypotheses, 1 - level)
    return {
        "hypothesis": _written(result.names, hypotheses),
        "estimate": test.effect.tolist(),
        "std_error": test.sd.tolist(),
        "statistic": test.tvalue.tolist(),
        "p_value": test.pvalue.tolist(),
        "conf_low": test.intervals[:, 0].tolist(),
        "conf_high": test.intervals[:, 1].tolist(),
    }


def f_test(state: str, hypotheses) -> dict:
    """Test linear hypotheses jointly."""
    result = _fit(state)
    test = result.f_test(hypotheses)
    return {
        "hypothesis": _written(result.names, hypotheses),
        "statistic": test.fvalue,
        "df": float(test.df_num),
        "reasons": [in_r(reason) for reason in test.reasons],
        "p_value": test.pvalue,
    }


def _written(names: Sequence[str], hypotheses) -> list[str]:
    """Write each hypothesis with the coefficients on the left, such as "x1 - 2 x2 = 0"."""
    R, r = linear_constraints(names, hypotheses)
    return [f"{_combination(names, row)} = {value:g}" for row, value in zip(R, r, strict=True)]


def _combination(names: Sequence[str], weights: np.ndarray) -> str:
    parts = []
    for name, weight in zip(names, weights, strict=True):
        size = "" if abs(weight) == 1 else f"{abs(weight):g} "
        if weight:
            parts += ["-" if weight < 0 else "+", size + name]
    sign = "-" if parts[0] == "-" else ""
    return sign + " ".join(parts[1:])


def compare(states: Sequence[str], names: Sequence[str] | None = None) -> dict:
    """Compare stored fits side by side: as columns, and as text, HTML and LaTeX."""
    comparison = dp.compare(*map(_fit, states), names=names)
    side_by_side = _InR(comparison.results, comparison.names)
    return {
        "frame": {name: column.tolist() for name, column in comparison.frame.items()},
        "text": side_by_side.summary(),
        "html": side_by_side.to_html(),
        "latex": side_by_side.to_latex(),
    }


class _InR(Comparison):
    """Write the notes of a comparison in the notation of R, which its names have already."""

    def _notes(self) -> list[str]:
        return [in_r(note) for note in super()._notes()]
