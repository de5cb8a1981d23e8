"""Write the plan of a study as one page of HTML with a slider for epsilon."""

import math

import pandas as pd

from dpstats.planning.page import filled
from dpstats.study.plans.quantiles import quantile
from dpstats.study.plans.summary import grounds, needed


def page(plan) -> str:
    """Write the page of a :class:`StudyPlan`, whose script, style and numbers are part of it."""
    frame = plan.frame
    content = {
        "own": plan.epsilon,
        "tables": list(dict.fromkeys(frame["table"])),
        "positions": [_position(plan, epsilon, own) for epsilon, own in frame.groupby("epsilon")],
        "needed": needed(plan),
        "notes": grounds(plan),
    }
    return filled("study_page", content, f"Which epsilon for {plan.study}")


def _position(plan, epsilon: float, frame: pd.DataFrame) -> dict:
    """Return what the page shows at one epsilon."""
    return {
        "epsilon": epsilon,
        "said": _said(epsilon, frame),
        "promise": plan.promise(epsilon),
        "tables": [_table(name, own) for name, own in frame.groupby("table", sort=False)],
    }


def _said(epsilon: float, frame: pd.DataFrame) -> str:
    """Say how wide half and nine tenths of the intervals are."""
    half, most = (_text(quantile(frame["ratio"], fraction)) for fraction in (0.5, 0.9))
    count = frame["ratio"].notna().sum()
    return f"At epsilon {epsilon:g} half of the {count:,} intervals are {half}, nine of ten {most}."


def _text(ratio: float) -> str:
    """Write a ratio as part of a sentence."""
    if math.isfinite(ratio):
        return f"at most {ratio:.3g} times as wide as without privacy"
    return "hidden in part" if math.isinf(ratio) else "not to be compared"


def _table(name, frame: pd.DataFrame) -> dict:
    """Return the intervals of one table at one epsilon, and their median ratio."""
    return {
        "name": name,
        "share": frame["share"].iloc[0],
        "epsilon": frame["table_epsilon"].iloc[0],
        "median": _number(quantile(frame["ratio"])),
        "widest": _number(frame["ratio"].max()),
        "hidden": int((frame["ratio"] == math.inf).sum()),
        "terms": [
            [one.term, *map(_number, (one.width, one.nonprivate_width, one.ratio))]
            for one in frame.itertuples()
        ],
    }


def _number(value: float) -> float | str | None:
    """Return a number as JSON has it: a text where it is infinite, null where there is none."""
    if math.isnan(value):
        return None
    return "hidden" if math.isinf(value) else float(value)
