"""Write the plan of a study as one page of HTML with a slider for epsilon."""

import math
from collections.abc import Sequence

from dpstats.planning.page import filled
from dpstats.study.plans.forecasts import StudyForecast
from dpstats.study.plans.quantiles import quantile
from dpstats.study.plans.summary import grounds, needed


def page(plan) -> str:
    """Write the page of a :class:`StudyPlan`, whose script, style and numbers are part of it."""
    content = {
        "own": plan.epsilon,
        "tables": plan.names,
        "positions": [_position(plan, epsilon) for epsilon in plan.epsilons],
        "needed": needed(plan),
        "notes": grounds(plan),
    }
    return filled("study_page", content, f"Which epsilon for {plan.study}")


def _position(plan, epsilon: float) -> dict:
    """Return what the page shows at one epsilon."""
    return {
        "epsilon": epsilon,
        "said": _said(epsilon, [each.ratio for each in plan.at(epsilon)]),
        "promise": plan.promise(epsilon),
        "tables": [_table(plan.at(epsilon, name)) for name in plan.names],
    }


def _said(epsilon: float, ratios: Sequence[float]) -> str:
    """Say how wide half and nine tenths of the intervals are."""
    half, most = (_text(quantile(ratios, fraction)) for fraction in (0.5, 0.9))
    count = sum(not math.isnan(ratio) for ratio in ratios)
    return f"At epsilon {epsilon:g} half of the {count:,} intervals are {half}, nine of ten {most}."


def _text(ratio: float) -> str:
    """Write a ratio as part of a sentence."""
    if math.isfinite(ratio):
        return f"at most {ratio:.3g} times as wide as without privacy"
    return "hidden in part" if math.isinf(ratio) else "not to be compared"


def _table(own: Sequence[StudyForecast]) -> dict:
    """Return the intervals of one table at one epsilon, and their median ratio."""
    ratios = [each.ratio for each in own]
    return {
        "name": own[0].table,
        "share": own[0].share,
        "epsilon": own[0].table_epsilon,
        "median": _number(quantile(ratios)),
        "widest": _number(quantile(ratios, 1)),
        "hidden": ratios.count(math.inf),
        "terms": [
            [one.term, *map(_number, (one.width, one.nonprivate_width, one.ratio))] for one in own
        ],
    }


def _number(value: float) -> float | str | None:
    """Return a number as JSON has it: a text where it is infinite, null where there is none."""
    if math.isnan(value):
        return None
    return "hidden" if math.isinf(value) else value
