"""Check the condition of subset=, and find the kinds of the columns that it reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dpstats.engines import AnyTable
from dpstats.engines.columns import NUMERIC, UNTYPED
from dpstats.errors import ArgumentError, shown
from dpstats.formula import Condition, Formula
from dpstats.schema import (
    BOOLEAN,
    UNLIMITED,
    Batch,
    Categorical,
    Labels,
    ModelSchema,
    Numeric,
    Schema,
)


@dataclass(frozen=True)
class Subset:
    """Use the rows for which a condition holds.

    Parameters
    ----------
    condition : Condition
    schema : ModelSchema
        The columns that it reads.
    listed : frozenset of str
        Columns of texts or labels without declared levels: their schema lists what they are
        compared with, and anything else, missing values too, is equal to none of it.
    narrow : mapping of str to type
        NumPy's types of columns of 32 or 16 bits, in which they are compared as pandas does: 0.1
        is no double there.
    """

    condition: Condition
    schema: ModelSchema
    listed: frozenset[str] = frozenset()
    narrow: Mapping[str, type] = field(default_factory=dict)

    @property
    def needed(self) -> ModelSchema:
        """Return the columns in which a missing value leaves a row out."""
        return {name: kind for name, kind in self.schema.items() if name not in self.listed}

    def holds(self, batch: Batch) -> np.ndarray:
        """Tell for which rows the condition holds, bool (m,), each by itself."""
        narrow = {name: batch[name].astype(form) for name, form in self.narrow.items()}
        return self.condition.holds({**batch, **narrow}, self.schema)

    @property
    def note(self) -> str:
        """Say which rows are used."""
        return (
            f"rows are used where {self.condition.text}; each row decides by its own values, and "
            "one with a missing value there is left out"
        )

    def check_levels(self, formula: Formula) -> None:
        """Raise ArgumentError where it leaves out all rows of a level that has a coefficient."""
        readings = formula.readings[1:]
        coded = [name for of in readings for name in (of.bare, *sorted(of.categorical)) if name]
        for name in coded:
            kind = self.schema.get(name)
            if isinstance(kind, Categorical):
                if left_out := self.condition.levels_left_out(name, kind):
                    raise ArgumentError(_no_row_of(left_out, name, kind, self.condition.text))


def _no_row_of(left_out: Sequence, name: str, kind: Categorical, text: str) -> str:
    """Say which level has a coefficient and no row, and what to write instead."""
    stay = [level for level in kind.levels if level not in left_out]
    said = f"subset={text!r} leaves out all rows in which {name} is {shown(left_out[0])}, "
    if len(stay) < 2:
        return f"{said}so {name} has no effect to estimate; leave it out of the formula"
    return (
        f"{said}so its coefficient could not be estimated; in place of that condition write "
        f'levels={{"{name}": {shown(stay)}}}, which leaves these rows out too'
    )


def declared_subset(text, table: AnyTable, schema: Schema, levels: Mapping) -> Subset | None:
    """Check ``subset=`` against the table, the formula's schema and declared levels.

    A column that the formula uses keeps its kind, and values are compared before they are
    clipped. Another one needs a type, and no bounds: those it has change nothing.

    Raises
    ------
    ArgumentError
        With what to write instead, before a row is read.
    """
    if text is None:
        return None
    condition = Condition.parse(text)
    kinds, listed = {}, set()
    for name in condition.variables:
        kind = schema.get(name) or _kind(name, condition, table, levels.get(name))
        if isinstance(kind, Labels):
            raise ArgumentError(
                f"subset={condition.text!r} reads {name}, whose labels are private and only told "
                "apart; put what to compare into a column of its own before the call"
            )
        _check_compared(name, kind, condition)
        if kind is None:
            listed.add(name)
            kind = Categorical(tuple(dict.fromkeys(condition.reading.compared[name])))
        if isinstance(kind, Categorical):
            table.check_labels(name, kind.levels, "subset")
        kinds[name] = kind
    condition.check(kinds)
    numbers = [name for name, kind in kinds.items() if isinstance(kind, Numeric)]
    narrow = {name: form for name in numbers if (form := table.narrow(name))}
    return Subset(condition, kinds, frozenset(listed), narrow)


def _kind(name: str, condition: Condition, table: AnyTable, levels) -> Numeric | Categorical | None:
    """Return the kind of a column that the formula does not use; None for listed texts."""
    kind, of_labels = table.kind(name), name in condition.reading.with_levels
    truths = _truths(name, condition)
    if levels is not None:
        return Categorical(levels)
    if kind == "boolean" and of_labels:
        return BOOLEAN
    if (of_labels or kind == "category") and (known := table.levels(name)):
        return Categorical(known)
    if kind in NUMERIC:
        return UNLIMITED
    if kind in UNTYPED and (truths or not of_labels):
        raise ArgumentError(
            f"nothing declares what {name} is, a column of {UNTYPED[kind]}: give "
            f'types={{"{name}": "{"boolean" if truths else "number"}"}} for '
            f"subset={condition.text!r}"
        )
    if not of_labels or kind not in ("string", "category", *UNTYPED):
        raise ArgumentError(
            f"subset={condition.text!r} compares {name}, a column of type {kind}; make a column "
            "that is true or false of it before the call"
        )
    if condition.negates and not truths:
        raise ArgumentError(
            f"subset={condition.text!r} needs the values that {name} may have, to tell others from "
            f'missing ones: levels={{"{name}": [...]}}'
        )
    return None


def _truths(name: str, condition: Condition) -> list[bool]:
    """List the truth values that a column is compared with."""
    values = condition.reading.compared.get(name, ())
    return [value for value in values if isinstance(value, bool)]


def _check_compared(name: str, kind: Numeric | Categorical | None, condition: Condition) -> None:
    """Refuse numbers taken for a text or a truth value, and labels taken for a truth value."""
    written = name if name.isidentifier() else f"`{name}`"
    if isinstance(kind, Numeric) and name in condition.reading.with_levels:
        raise ArgumentError(
            f"subset={condition.text!r} takes {name}, a column of numbers, for a text or a truth "
            f"value; compare it with a number, as in {written} > 0"
        )
    levels = kind.levels if isinstance(kind, Categorical) else ()
    if not isinstance(kind, Numeric) and not {*_truths(name, condition)} <= {*levels}:
        first = next(iter(levels), "a")
        raise ArgumentError(
            f"subset={condition.text!r} takes {name}, a column of labels, for a truth value; "
            f"compare it with a label, as in {written} == {first!r}"
        )
