"""Describe the plan of a regression by the plain values that R keeps."""

import pandas as pd

import dpstats as dp
from dpstats.r.inputs import points
from dpstats.r.messages import in_r


def plan(formula, *, x_new=None, **arguments) -> dict:
    """Call ``dpstats.plan`` on a formula of R; its tables come by column."""
    formula = dp.RFormula(formula)
    forecast = dp.plan(formula, x_new=points(x_new), progress=False, **arguments)
    return {
        "formula": str(formula),
        "n": float(forecast.n),
        "title": forecast.title,
        "slopes": list(forecast.slopes),
        "frame": _columns(forecast.frame),
        "target": forecast.target,
        "least": _columns(forecast.least),
        "notes": [in_r(note) for note in forecast.notes()],
    }


def _columns(frame: pd.DataFrame) -> dict[str, list]:
    """Return the columns; R's numbers are real."""
    counts = dict.fromkeys(frame.select_dtypes("int64"), float)
    return {str(name): column.tolist() for name, column in frame.astype(counts).items()}
