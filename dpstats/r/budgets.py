"""A budget as text, which R keeps between calls: a Python object would die with the session."""

import json
from dataclasses import asdict

from dpstats.errors import ArgumentError
from dpstats.privacy import Budget
from dpstats.results.single import cost_from_dict


def state(budget: Budget) -> dict:
    """What R stores and shows.

    >>> state(Budget(2.0))["spent"]
    [0.0, 0.0]
    """
    calls = [[epsilon, delta, asdict(cost)] for epsilon, delta, cost in budget.calls]
    return {
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "spent": [float(part) for part in budget.spent],
        "record": json.dumps({"neighbors": budget.neighbors, "calls": calls}),
    }


def restore(content: dict) -> Budget:
    """The budget that :func:`state` described.

    >>> restore(state(Budget(2.0))) == Budget(2.0)
    True
    """
    try:
        budget = Budget(content["epsilon"], content["delta"])
        record = json.loads(content["record"])
        budget.neighbors = record["neighbors"]
        budget.calls += [(e, d, cost_from_dict(cost)) for e, d, cost in record["calls"]]
    except (KeyError, TypeError, ValueError):
        raise ArgumentError("expected budget to come from dp_budget()") from None
    return budget
