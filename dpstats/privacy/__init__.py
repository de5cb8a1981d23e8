"""Define neighbours, costs, recorded events and their composition.

No row is read here, and no noise is drawn.

Two tables are *neighbours* when they differ in one person's row, or with ``unit=`` in all rows of
one person:

- ``"add_remove"``: one row more or less, so the number of rows n is private;
- ``"replace_one"``: one row exchanged for another, so n is public.

A release is (epsilon, delta)-differentially private when, for all neighbours and
every set of outputs, the probability changes by at most a factor e^epsilon, up to
delta (Dwork et al. 2006).
"""

from dpstats.privacy.budget import Budget, Charge, Chargeable
from dpstats.privacy.composition import (
    Call,
    Composition,
    Total,
    check_fits,
    make_composition,
)
from dpstats.privacy.costs import (
    DEFAULT_DELTA,
    GDP,
    ApproxDP,
    Cost,
    PureDP,
    checked_delta,
    gdp_delta,
    gdp_epsilon,
    validate_guarantee,
)
from dpstats.privacy.joint import joint_guarantee
from dpstats.privacy.report import Event, PrivacyReport, distinct, relation_name

ADD_REMOVE = "add_remove"
REPLACE_ONE = "replace_one"
RELATIONS = (ADD_REMOVE, REPLACE_ONE)

__all__ = [
    "ADD_REMOVE",
    "DEFAULT_DELTA",
    "GDP",
    "RELATIONS",
    "REPLACE_ONE",
    "ApproxDP",
    "Budget",
    "Call",
    "Charge",
    "Chargeable",
    "Composition",
    "Cost",
    "Event",
    "PrivacyReport",
    "PureDP",
    "Total",
    "check_fits",
    "gdp_delta",
    "gdp_epsilon",
    "distinct",
    "joint_guarantee",
    "make_composition",
    "relation_name",
    "checked_delta",
    "validate_guarantee",
]
