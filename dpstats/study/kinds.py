"""List the kinds of entries that a study file has, and the verb that each of them calls."""

import inspect
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dpstats.formula import Formula, InstrumentFormula
from dpstats.verbs.describe import dp_describe
from dpstats.verbs.iv import dp_iv
from dpstats.verbs.logit import dp_logit
from dpstats.verbs.ols import dp_ols
from dpstats.verbs.poisson import dp_poisson

# Arguments of verbs that are no part of a study.
_NOT_OF_STUDIES = ("formula", "data", "schema", "budget", "progress", "n_jobs", "options", "others")


def _alone(text: str) -> tuple[Formula]:
    return (Formula.parse(text),)


def _with_instruments(text: str) -> tuple[Formula, Formula]:
    return InstrumentFormula.parse(text).both


class Kind(NamedTuple):
    """Hold a verb, and whether it takes formulas, which come before its data, or one alone.

    ``read`` parses a formula: it returns the regressions that read its columns.
    """

    verb: Callable
    formulas: bool = True
    several: bool = True
    read: Callable[[str], Sequence[Formula]] = _alone

    @property
    def arguments(self) -> list[str]:
        """List the arguments that an entry may give."""
        named = inspect.signature(self.verb).parameters
        return [name for name in named if name not in _NOT_OF_STUDIES]

    def takes(self, name: str) -> bool:
        """Tell whether an entry may give an argument; the verb itself refuses unknown options."""
        has_options = "options" in inspect.signature(self.verb).parameters
        return name in self.arguments or (has_options and name not in _NOT_OF_STUDIES)


KINDS = {
    "describe": Kind(dp_describe, formulas=False),
    "ols": Kind(dp_ols),
    "logit": Kind(dp_logit),
    "poisson": Kind(dp_poisson),
    "iv": Kind(dp_iv, several=False, read=_with_instruments),
}
