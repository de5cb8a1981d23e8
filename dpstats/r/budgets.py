"""Keep a budget as text between the calls of R: a Python object would die with the session.

A ledger keeps itself, so R holds its path only.
"""

import json
from dataclasses import asdict

from dpstats.errors import ArgumentError, BudgetError
from dpstats.ledger import Ledger
from dpstats.privacy import Budget
from dpstats.privacy.budget import another_call
from dpstats.results.store.single import cost_from_dict


def state(budget: Budget | Ledger) -> dict:
    """Describe a budget: its record, and the numbers of it that R shows.

    >>> state(Budget(2.0))["spent"]
    [0.0, 0.0]
    """
    if isinstance(budget, Ledger):
        return ledger_state(budget)
    calls = [[epsilon, delta, asdict(cost)] for epsilon, delta, cost in budget.calls]
    limits = {"epsilon": budget.epsilon, "delta": budget.delta, "composition": budget.composition}
    record = limits | {"neighbors": budget.neighbors, "calls": calls}
    return {
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "composition": budget.composition,
        "spent": [float(part) for part in budget.spent],
        "remaining": [float(part) for part in budget.remaining],
        "record": json.dumps(record),
        "left": another_call(budget.calls_left),
    }


def ledger_state(ledger: Ledger) -> dict:
    """Describe a ledger: where it is, and the numbers and the text that R shows."""
    limit = ledger.dataset.limit
    return {
        "epsilon": limit.epsilon,
        "delta": limit.delta,
        "composition": limit.rule,
        "spent": [float(part) for part in ledger.spent],
        "remaining": [float(part) for part in ledger.remaining],
        "record": "",  # the file is the record
        "left": "",  # its text says so
        "text": ledger.summary(),
    }


def restore(content: dict) -> Budget | Ledger:
    """Make the budget again from the record in :func:`state`'s description, and from that alone.

    A ledger is opened by its path, for its analyst.

    >>> restore(state(Budget(2.0)) | {"epsilon": 100.0}).epsilon
    2.0
    """
    if "ledger" in content:
        return Ledger(content["ledger"], content.get("analyst"))
    try:
        record = json.loads(content["record"])
        budget = Budget(record["epsilon"], record["delta"], record["composition"])
        for epsilon, delta, cost in record["calls"]:
            budget.reserve(epsilon, delta, cost_from_dict(cost), record["neighbors"])
    except (AttributeError, BudgetError, KeyError, TypeError, ValueError):
        raise ArgumentError("expected budget to come from dp_budget()") from None
    return budget
