"""Answer the calls of the R package, all through one function.

R sees the traceback of an exception, and a traceback can hold rows. So none leaves: what goes
back is a value, or the class of an error and its sentence.
"""

import warnings
from collections.abc import Mapping
from typing import Any

import dpstats as dp
from dpstats.errors import is_interrupt
from dpstats.r import budgets, ledgers, plans, stored_fits
from dpstats.r.descriptions import describe_columns
from dpstats.r.inputs import labels, points, rows
from dpstats.r.instruments import anderson_rubin
from dpstats.r.messages import in_r
from dpstats.r.seeds import close_seed, open_seed, within
from dpstats.r.serialize import describe, describe_groups
from dpstats.tracebacks import SPENT

# The budget of the latest call, if it has one, with its state before.
_charged: list[tuple[Any, dict]] = []


def answer(question: str, arguments: Mapping) -> dict:
    """Answer one call from R.

    Parameters
    ----------
    question : str
        A name in ``QUESTIONS``.
    arguments : mapping
        Its arguments: strings, numbers, truth values, and lists and mappings of them.

    Returns
    -------
    dict
        ``{"value": ...}``, or ``{"error": class, "message": sentence}``; made of strings,
        floats, truth values, lists and dicts, which is what reaches R unharmed. With a budget
        there is ``"budget"``, its state after the call, in either case.

    Examples
    --------
    >>> answer("error_bound", {"state": "{}", "q": 68.0})["error"]
    'ArgumentError'
    """
    budget = None
    _charged.clear()
    try:
        # Python's warnings would print in R as they come, whatever they say
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arguments = dict(arguments)
            if arguments.get("budget") is not None:
                budget = arguments["budget"] = budgets.restore(arguments["budget"])
                _charged.append((budget, budgets.state(budget)))
            reply = {"value": QUESTIONS[question](**arguments)}
    except dp.DPStatsError as error:
        reply = {"error": type(error).__name__, "message": in_r(str(error))}
    except BaseException as error:  # its message may hold rows, but for that of an interrupt
        reply = {"error": "InternalError", "message": f"{question} stopped: {type(error).__name__}"}
        if is_interrupt(error):
            said = str(error) if isinstance(error, KeyboardInterrupt) else ""
            reply = {"error": "KeyboardInterrupt", "message": said or "interrupted"}
    return reply if budget is None else {**reply, "budget": budgets.state(budget)}


def interrupted() -> dict:
    """Return what :func:`answer` would of an interrupt, where R sees it first and drops the call.

    >>> interrupted()["message"]
    'interrupted'
    """
    reply = {"error": "KeyboardInterrupt", "message": "interrupted"}
    for budget, before in _charged:
        state = budgets.state(budget)
        spent = f"interrupted; {SPENT}" if state != before else "interrupted"
        reply |= {"message": spent, "budget": state}
    return reply


def fit(
    formula, data, *, by=None, groups=None, block=None, k=None, x_new=None, subset=None, **more
) -> list:
    """Call ``dp_ols`` on columns as R keeps them, or on files, and describe each formula's fit."""
    more["k"] = int(k) if isinstance(k, float) and k.is_integer() else k
    return _described(dp.dp_ols, formula, data, by, groups, block, x_new, subset, more)


def glm(
    formula, data, *, by=None, groups=None, block=None, x_new=None, subset=None, **more
) -> list:
    """Call ``dp_glm`` on columns as R keeps them, or on files, and describe each fit."""
    return _described(dp.dp_glm, formula, data, by, groups, block, x_new, subset, more)


def _described(verb, formula, data, by, groups, block, x_new, subset, more: dict) -> list:
    """Call a verb, and describe the fit of each formula, of groups where there are any."""
    more |= {"by": by, "subset": _condition(subset)}
    more |= {} if x_new is None else {"x_new": points(x_new)}
    more["groups"] = groups if by is None or isinstance(by, str) else labels(groups)
    results = within(block).run(verb, _formulas(formula), rows(data), **more)
    describing: Any = describe if by is None else describe_groups
    return [describing(fit) for fit in _several(results)]


def iv(formula: str, data, *, by=None, groups=None, block=None, subset=None, **more) -> list:
    """Call ``dp_iv`` with a formula of fixest on columns as R keeps them, or on files."""
    return _described(dp.dp_iv, formula, data, by, groups, block, None, subset, more)


def _formulas(formula) -> dict[str, dp.RFormula] | dp.RFormula:
    """Return the formulas by name, or a single one as Python's callers give it.

    So an equal call of a study file has an equal key in a ledger.
    """
    if isinstance(formula, Mapping):
        return {name: dp.RFormula(text) for name, text in formula.items()}
    return dp.RFormula(formula)


def _several(results) -> list:
    return [*results.values()] if isinstance(results, dict) else [results]


def _condition(subset) -> dp.RFormula | None:
    return None if subset is None else dp.RFormula(subset)


def methods() -> dict:
    """List the methods with what each needs and gives, by column."""
    rows = dp.METHODS.values()
    return {
        "method": [row.name for row in rows],
        "guarantee": [row.guarantee for row in rows],
        "neighbors": [", ".join(row.neighbors) for row in rows],
        "one_regressor": [row.single_regressor for row in rows],
        "needs_bounds": [row.ranges.needed for row in rows],
        "standard_errors": [row.standard_errors for row in rows],
        "paper": [row.paper for row in rows],
    }


def budget(epsilon: float, delta: float, composition: str | None = None) -> dict:
    """Make a budget and describe its state."""
    return budgets.state(dp.Budget(epsilon, delta, composition))


def ledger(path: str, analyst: str | None = None) -> dict:
    """Open a ledger and describe it."""
    return budgets.ledger_state(dp.Ledger(path, analyst))


def run(study: str, out: str, dry_run: bool = False, budget: dp.Ledger | None = None) -> str:
    """Run a study file and return the folder of its record."""
    return str(dp.run_study(study, out, ledger=budget, dry_run=dry_run))


QUESTIONS = {
    "anderson_rubin": anderson_rubin,
    "budget": budget,
    "close_seed": close_seed,
    "describe": describe_columns,
    "error_bound": stored_fits.error_bound,
    "f_test": stored_fits.f_test,
    "fit": fit,
    "glm": glm,
    "iv": iv,
    "ledger": ledger,
    "ledger_allocate": ledgers.allocate,
    "ledger_analysts": ledgers.analysts,
    "ledger_create": ledgers.create,
    "ledger_export": ledgers.export,
    "ledger_move": ledgers.move,
    "ledger_request": ledgers.request,
    "ledger_requests": ledgers.requests,
    "ledger_settle": ledgers.settle,
    "ledger_verify": ledgers.verify,
    "margins": stored_fits.margins,
    "methods": methods,
    "open_seed": open_seed,
    "plan": plans.plan,
    "plan_study": plans.plan_study,
    "raw_powers": stored_fits.raw_powers,
    "run": run,
}
