"""Check that a formula uses its variables consistently and as the schema's kinds allow."""

import math
from collections.abc import Iterable, Sequence

import patsy

from dpstats.errors import FormulaError
from dpstats.formula.expressions import LEARNERS, Reading, read
from dpstats.schema import BOOLEAN, Categorical, ModelSchema, Numeric

# A fit holds about ten squares of so many columns, 8 GB, and factorises them.
_MOST_COLUMNS = 10_000


def in_order(readings: Iterable[Reading]) -> tuple[str, ...]:
    """List the variables, each once, in order of appearance."""
    return tuple(dict.fromkeys(name for reading in readings for name in reading.variables))


def union(readings: Iterable[Reading], use: str) -> frozenset[str]:
    """Collect the variables of one use ("numeric", "with_levels", "splined") over all terms."""
    return frozenset().union(*[getattr(reading, use) for reading in readings])


def declared_levels(readings: Iterable[Reading]) -> dict[str, tuple]:
    """Collect levels that the formula itself declares, as in C(g, levels=["a", "b"])."""
    levels: dict[str, tuple] = {}
    for reading in readings:
        for name, declared in reading.levels.items():
            if levels.setdefault(name, declared) != declared:
                raise FormulaError(f"C({name}) declares two different lists of levels")
    return levels


def spans_of(readings: Iterable[Reading]) -> dict[str, Numeric]:
    """Collect the ranges between the ends that all splines of a variable are given.

    >>> from dpstats.formula.expressions import read
    >>> spans_of([read("bs(x, df=4, lower_bound=0, upper_bound=9)"), read("bs(z, df=4)")])
    {'x': Numeric(low=0, high=9)}
    """
    ends: dict[str, list[tuple[float, float]]] = {}
    for reading in readings:
        for name, own in reading.spans.items():
            ends.setdefault(name, []).extend(own)
    met = {name: (max(of)[0], min(high for _, high in of)) for name, of in ends.items()}
    return {name: Numeric(low, high) for name, (low, high) in met.items() if low < high}


def factor_variable(factor: patsy.EvalFactor) -> str | None:
    """Return the variable that a factor is, in C() or not; None for another expression."""
    reading = read(factor.code)
    return reading.bare or next(iter(reading.categorical), None)


def check_size(model: patsy.ModelDesc, schema: ModelSchema) -> None:
    """Raise FormulaError where factors have more columns than a fit can hold.

    The columns of a term are, for each of its factors, as many as levels or one less.
    """
    factors = {name: len(k.levels) - 1 for name, k in schema.items() if isinstance(k, Categorical)}
    least = sum(
        math.prod(factors.get(factor_variable(each) or "", 1) for each in term.factors)
        for term in model.rhs_termlist
    )
    if least > _MOST_COLUMNS:
        raise FormulaError(
            f"the formula has {least - 1:,} columns or more, and a fit takes at most "
            f"{_MOST_COLUMNS:,}; merge levels, or absorb the effects of one column, which dp_ols "
            "and dp_iv do, as in y ~ x | g"
        )


def check_consistent(readings: Sequence[Reading]) -> None:
    """Refuse a variable that is both number and category, or that hides a function in use."""
    wrapped, called = union(readings, "categorical"), union(readings, "called")
    for reading in readings:
        for name in wrapped & (reading.numeric | {reading.bare}):
            raise FormulaError(
                f"{name} is used both in C({name}) and as {reading.code}; write C({name}) "
                "everywhere or nowhere"
            )
        for name in called & reading.variables.keys():
            raise FormulaError(
                f"the column {name} hides the function {name}() that the formula calls; rename "
                "the column"
            )


def check_intercept(terms: Iterable[patsy.Term]) -> None:
    """Refuse a column that has patsy's name of the intercept for a term."""
    if any(term.factors and term.name() == patsy.INTERCEPT.name() for term in terms):
        raise FormulaError(
            "a column named Intercept would be taken for the intercept; write Q('Intercept'), or "
            "rename the column"
        )


def check_response(left: Reading, right: Iterable[Reading]) -> None:
    """Refuse a response that stands on the right-hand side too, where it would explain itself.

    A difference such as I(y - before) may be explained by one of its parts. Refuse a factor made in
    the formula too, before its levels are asked for.
    """
    for name in left.categorical:
        raise FormulaError(
            f"expected one numeric response, or of a logit two outcomes, got {left.code}; write "
            f"{name} alone, of which the last of two levels counts as 1 in a logit, or a "
            f"comparison such as I({name} == 'b')"
        )
    for reading in right:
        alone = len(left.variables) == 1 and left.variables.keys() <= reading.variables.keys()
        if alone or reading.code == left.code:
            raise FormulaError(
                f"the response {left.code} stands right of ~ too, as {reading.code}, and would "
                "explain itself; leave it out there"
            )


def check_absorbed(absorbed: str | None, readings: Iterable[Reading]) -> None:
    """Refuse an absorbed column that is a regressor or the response too."""
    for reading in readings:
        if absorbed in reading.variables:
            raise FormulaError(
                f"{absorbed} is absorbed, so {reading.code} cannot stand left of | too; "
                f"leave it out there, or leave | {absorbed} out"
            )


def check_kinds(readings: Iterable[Reading], schema: ModelSchema) -> None:
    """Refuse a variable that the schema does not hold, or whose kind does not suit its use."""
    for reading in readings:
        for name in reading.variables:
            if name not in schema:
                raise FormulaError(
                    f'{name} is not declared: give bounds={{"{name}": (low, high)}} if it is a '
                    f'number, levels={{"{name}": [...]}} if it is a category'
                )
            _check_kind(name, schema[name], reading)


def _check_kind(name: str, kind: Numeric | Categorical, reading: Reading) -> None:
    """Refuse a variable whose kind does not suit its use."""
    if isinstance(kind, Categorical):
        _check_category(name, kind.levels, reading)
    elif name in reading.with_levels:
        raise FormulaError(
            f'{reading.code} needs levels of {name}: give levels={{"{name}": [...]}}, or write '
            f"C({name}, levels=[...])"
        )


def _check_category(name: str, levels: tuple, reading: Reading) -> None:
    """Refuse a category used as a number, or with levels it does not have."""
    if name in reading.numeric - reading.splined and levels == BOOLEAN.levels:
        instead = f"write ({name} == True) for {name}, which is 1 or 0"
        if reading.called & LEARNERS.keys() and len(reading.variables) == 1:
            instead = f"write {name} alone, which has two values and so neither curve nor scale"
        raise FormulaError(f"{name} is true or false, so {reading.code} has no value; {instead}")
    if name in reading.numeric:
        raise FormulaError(
            f"{name} is categorical, so {reading.code} has no value; write {name}, C({name}) or "
            f"I({name} == {levels[-1]!r})"
        )
    declared = reading.levels.get(name, levels)
    if declared != levels:
        raise FormulaError(
            f"{reading.code} declares levels {list(declared)}, but {name} has {list(levels)}"
        )
    for value in reading.compared.get(name, []):
        if value not in levels:
            raise FormulaError(f"{reading.code}: {name} has no level {value!r}, only {levels}")
