"""Check that kinds of columns make different calls."""

import dpstats as dp
from dpstats.ledger.records import canonical
from dpstats.privacy import Charge, Chargeable

ROWS = 24


class Facts(Chargeable):
    """Keep the description of a call, and release nothing."""

    def reserve(self, epsilon, delta, cost, neighbors, facts):
        charge = Charge()
        charge.results = facts()
        return charge


def facts(data, formula="y ~ x", **call):
    """The description of a call, as text."""
    call = {"method": "adassp", "epsilon": 1.0, "bounds": {"x": (0, 1), "y": (0, 1)}} | call
    return canonical(dp.dp_ols(formula, data, budget=Facts(), **call)["call"])


ROLES = {
    "response": {"types": "y"},
    "regressor": {"types": "x"},
    "weights": {"types": "w", "weights": "w", "bounds": {c: (0, 1) for c in "yxw"}},
    "unit": {"types": "g", "unit": "g"},
    "cluster": {"types": "g", "cluster": "g", "cov_type": "cluster", "method": "noisy_newton"},
    "absorbed": {"types": "g", "formula": "y ~ x | g"},
    "by": {"types": "g", "by": "g", "groups": "present"},
    "subset": {"types": "g", "subset": "g > 0"},
}


def check_kinds_are_told_apart(people, call):
    """Of each kind other cells are missing, and labels are other ones."""
    call = dict(call)
    column = call.pop("types")
    kinds = ("string", "integer") if column == call.get("by") else ("number", "integer")
    one, two, again = (facts(people, types={column: k}, **call) for k in (*kinds, kinds[0]))
    assert one == again != two
