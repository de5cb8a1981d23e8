"""Run a study with several budgets on rows that are not private, and measure its intervals."""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dpstats.ledger import Asked
from dpstats.numerics.first_use import shown_if_compiling
from dpstats.progress_bar import progress_bar
from dpstats.results import DPDescription
from dpstats.study.models import Model
from dpstats.study.plans.rows import Drawn
from dpstats.study.run import quoted
from dpstats.study.shares import check_together
from dpstats.study.study_file import Study
from dpstats.testing import insecure_seed

# So large that the noise is nothing beside sampling: an interval is the non-private one.
_NO_PRIVACY = 1e6
# Seeds of rows and of noise end in these.
_ROWS, _NOISE = 0, 1
# The width of each interval of one run, by table and term.
Widths = dict[tuple[str, str], float]
# Figures about the rows of the table alone, whose intervals without privacy have no width.
_OF_THE_ROWS = ("n", "missing", "count")


@dataclass(frozen=True)
class StudyForecast:
    """Hold the forecast of one interval at one epsilon of the study.

    Attributes
    ----------
    table : str
        Name of the result.
    term : str
        A coefficient, or a figure of a description such as ``"wage: mean"``; with groups, the
        group's label follows.
    epsilon : float
        That of the whole study.
    share : float
        The table's part of it, by :attr:`StudyPlan.shares`.
    table_epsilon : float
        What a call is charged that has this part.
    width, nonprivate_width : float
        Median widths of the interval, with noise and without: infinite where half are not shown.
    ratio : float
        The first by the second, which is NaN where the second is 0 or no interval is shown.
    shown : float
        Proportion of the repetitions with a bounded interval.
    """

    table: str
    term: str
    epsilon: float
    share: float
    table_epsilon: float
    width: float
    nonprivate_width: float
    ratio: float
    shown: float


def costs(study: Study, drawn: Drawn, epsilons: Sequence[float]) -> dict[float, list[Asked]]:
    """Check every entry with every budget as a run would; return what each would be charged."""
    found = {}
    rows = [drawn.call(model, [0, place, 0, _ROWS]) for place, model in enumerate(study.models)]
    for epsilon in epsilons:
        at = study.at(epsilon)
        pairs = zip(at.models, rows, strict=True)
        asked: dict[str, Asked] = {model.name: quoted(model, **own) for model, own in pairs}
        check_together(at.limit, asked)
        found[epsilon] = [*asked.values()]
    return found


def forecasts(
    study: Study, drawn: Drawn, charged: Mapping[float, Sequence[Asked]], repetitions: int,
    seed: int, progress: bool | None,
) -> Iterator[StudyForecast]:  # fmt: skip
    """Run each entry without privacy and with each budget, several times, and summarise.

    In one repetition all runs of an entry see the same rows and the same random numbers, so that
    differences between budgets are seen with little error.
    """
    steps = len(study.models) * repetitions * (len(charged) + 1)
    with shown_if_compiling(progress), progress_bar(steps, "fits", progress) as bar:
        for place, model in enumerate(study.models):
            budgets = {math.inf: _not_private(model)}
            budgets |= {epsilon: study.at(epsilon).models[place] for epsilon in charged}
            runs: dict[float, list[Widths]] = {epsilon: [] for epsilon in budgets}
            for i in range(repetitions):
                rows = drawn.call(model, [seed, place, i, _ROWS])
                for epsilon, budgeted in budgets.items():
                    runs[epsilon].append(_widths(budgeted, rows, [seed, place, i, _NOISE]))
                    bar.update()
            own = {epsilon: asked[place].call.epsilon for epsilon, asked in charged.items()}
            yield from _summarised(runs, study.shares[model.name], own)


def _not_private(model: Model) -> Model:
    """Return the entry with so large an epsilon that it tends to what is not private."""
    return replace(model, arguments={**model.arguments, "epsilon": _NO_PRIVACY})


def _summarised(
    runs: Mapping[float, Sequence[Widths]], share: float, own: Mapping[float, float]
) -> Iterator[StudyForecast]:
    """Summarise the widths of one entry; what some run does not have is not shown there."""
    usual = {key: _median(runs[math.inf], key) for each in runs[math.inf] for key in each}
    for epsilon, charged in own.items():
        for key, without in usual.items():
            width = _median(runs[epsilon], key)
            shown = [math.isfinite(each.get(key, math.inf)) for each in runs[epsilon]]
            yield StudyForecast(
                table=key[0],
                term=key[1],
                epsilon=epsilon,
                share=share,
                table_epsilon=charged,
                width=width,
                nonprivate_width=without,
                ratio=width / without if 0 < without < math.inf else math.nan,
                shown=sum(shown) / len(shown),
            )


def _median(runs: Sequence[Widths], key: tuple[str, str]) -> float:
    """Return the median width of one interval."""
    return statistics.median(each.get(key, math.inf) for each in runs)


def _widths(model: Model, rows: Mapping, seed: list[int]) -> Widths:
    """Run an entry; return the widths of its intervals, infinite where none is shown."""
    with insecure_seed(seed):
        result = model.call(**rows, progress=False)
    several = result if len(model.formulas) > 1 else {"": result}
    named = zip(model.result_names, several.values(), strict=True)
    widths = {(name, term): width for name, one in named for term, width in _intervals(one)}
    return {key: math.inf if math.isnan(width) else width for key, width in widths.items()}


def _intervals(result) -> Iterator[tuple[str, float]]:
    """Give the terms of one result with the widths of their intervals."""
    if isinstance(result, DPDescription):
        for group, variable, figure in result.figures:
            if figure.statistic not in _OF_THE_ROWS:
                level = "" if figure.level is None else f" {figure.level}"
                term = f"{variable}{level}: {figure.statistic}"
                label = "" if result.by is None else f", {group}"
                yield f"{term}{label}", float(figure.upper - figure.lower)
        return
    frame = result.tidy()
    labels = frame.iloc[:, : frame.columns.get_loc("term")].astype(str).agg(", ".join, axis=1)
    widths = frame["conf.high"].to_numpy() - frame["conf.low"].to_numpy()
    for term, label, width in zip(frame["term"], labels, widths.tolist(), strict=True):
        yield ", ".join(filter(None, (term, label))), width
