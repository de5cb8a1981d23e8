"""Describe the plans of a regression and of a study by the plain values that R keeps."""

import pandas as pd

import dpstats as dp
from dpstats.r.inputs import points, rows
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


def plan_study(study: str, *, data=None, **arguments) -> dict:
    """Call ``dpstats.plan_study``, whose tables come by column, with the text of its summary."""
    made = dp.plan_study(study, data=rows(data), progress=False, **arguments)
    tables = made.tables.rename_axis("table").reset_index()
    return {
        "study": made.study,
        "n": float(made.n),
        "epsilon": made.epsilon,
        "promise": made.promise(),
        "frame": _columns(made.frame),
        "tables": _columns(tables.rename(columns="{}".format)),
        "text": made.summary(),
    }


def _columns(frame: pd.DataFrame) -> dict[str, list]:
    """Return the columns; R's numbers are real."""
    counts = dict.fromkeys(frame.select_dtypes("int64"), float)
    return {str(name): column.tolist() for name, column in frame.astype(counts).items()}
