"""Charge a description to its budget, and release it."""

from functools import partial

from dpstats.call.facts import kinds, plain
from dpstats.describe import DescribeRequest
from dpstats.describe.release import describe
from dpstats.errors import InternalError
from dpstats.estimators.newton.steps.hidden_rows import note_on_share
from dpstats.noise import Noise
from dpstats.option_checks import checked_progress
from dpstats.privacy import Chargeable
from dpstats.results import DPDescription
from dpstats.run.charge import guarded, reserved
from dpstats.spelling import listed
from dpstats.tracebacks import SPENT


def describe_charged(
    request: DescribeRequest, budget: Chargeable | None, progress: bool | None
) -> DPDescription:
    """Charge a request, and return its description."""
    progress = checked_progress(progress)
    whole_call = request.epsilon, request.delta, request.cost
    charge = reserved(budget, whole_call, request.relation, partial(facts, request))
    if charge.results is not None:
        return charge.results
    release = partial(_described, request)
    result, defect = guarded(release, "describe", progress, progress)
    if defect is not None:
        charge.fail()
        raise InternalError(f"dp_describe stopped with {defect}; {SPENT}")
    assert isinstance(result, DPDescription)
    charge.release(result)
    return result


def _described(request: DescribeRequest, count) -> DPDescription:
    noise = Noise(request.cost, count)
    found = describe(request, noise)
    return DPDescription(
        figures=found.figures,
        by=request.by,
        quantiles=request.quantiles,
        alpha=request.alpha,
        privacy=request.report(noise.events, noise.private),
        notes=_notes(found.unseen, found.hidden),
        bars=found.bars,
    )


def _notes(unseen: tuple[str, ...], share: float) -> tuple[str, ...]:
    """Say of which columns noise hid the shape, and which share of the rows it could hide."""
    hidden = tuple(filter(None, [note_on_share(share)]))
    if not unseen:
        return hidden
    return (
        f"how far {listed(unseen)} may reach is not seen at this epsilon, as where rows are few or "
        "nearly all have one value, so intervals of means and deviations are unbounded; declare "
        "bounds=, or raise epsilon",
        *hidden,
    )


def facts(request: DescribeRequest) -> dict:
    """Describe the call by public facts, such that equal calls have equal descriptions.

    Returns
    -------
    dict
        As :func:`dpstats.call.facts.request_facts`.
    """
    table, subset = request.table, request.subset
    beside = {"unit": request.unit, "weights": request.weights}
    beside = {name: chosen for name, chosen in beside.items() if chosen is not None}
    read = {*request.columns, *(() if request.by is None else (request.by,))}
    read |= set() if subset is None else {*subset.schema}
    read |= {chosen.column for chosen in beside.values()}
    return {
        "formula": f"describe: {' + '.join(request.columns)}",
        "method": "describe",
        "source": table.source,
        "call": {
            "columns": kinds(request.columns),
            "kinds": {name: table.kind(name) for name in sorted(read)},
            "by": request.by,
            "groups": plain(request.labels),
            "epsilon": request.epsilon,
            "delta": request.delta,
            "quantiles": list(request.quantiles),
            "alpha": request.alpha,
            **({"histogram": True} if request.histogram else {}),
            **({"statistics": ["n", "missing"]} if request.only_counts else {}),
            "subset": None if subset is None else str(subset.condition.text),
            "subset_columns": {} if subset is None else kinds(subset.schema),
            **{name: plain(vars(chosen)) for name, chosen in beside.items()},
        },
    }
