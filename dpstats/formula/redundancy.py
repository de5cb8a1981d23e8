"""Refuse designs whose columns are collinear in every table, as their coding alone tells.

A column is a product of functions of levels and of numbers. Columns with the same numbers are
compared by their functions of levels, on all combinations of levels.
"""

from bisect import bisect_left
from collections.abc import Collection, Hashable

import numpy as np
from patsy import INTERCEPT, EvalFactor, Term
from patsy.design_info import DesignInfo, FactorInfo

from dpstats.errors import FormulaError
from dpstats.formula.columns import Part
from dpstats.formula.expressions import read
from dpstats.formula.matrices import Matrix, values_of
from dpstats.formula.schema_frame import GRID, schema_frame
from dpstats.schema import Categorical, ModelSchema

# A column of which those before it leave less than this part of its square is their sum: contrasts
# leave far more, and rounding far less.
_NOTHING = 1e-9


def check_redundancy(
    info: DesignInfo, schema: ModelSchema, constant: str, free: Collection[str] = ()
) -> None:
    """Refuse a design in which a column is a sum of multiples of others whatever the rows are.

    ``constant`` is what the message calls the intercept. Levels, comparisons and splines that add
    up to 1 are compared; functions of numbers are taken to differ. The combinations of levels
    contain those of any rows, so no design is refused whose columns some table tells apart. The
    ranges of variables in ``free`` are estimated, so nothing is refused because of them.
    """
    levels = _Levels(info, schema, free)
    if not levels.may_repeat:
        return
    alike: dict[frozenset, list[int]] = {}
    for j, parts in enumerate(levels.matrix.columns):
        numbers = ((part.factor, part.column) for part in parts if levels.axis(part.factor) is None)
        alike.setdefault(frozenset(numbers), []).append(j)
    for places in alike.values():
        found = [places[k] for k in _dependent(levels.products(places))]
        if found:
            slices = info.term_slices.items()
            terms = [t for t, s in slices if any(s.start <= j < s.stop for j in found)]
            raise FormulaError(collinear(terms, constant, _fix(terms, levels)))


class _Levels:
    """Write the columns of a design as products of functions of levels, each of one axis.

    An axis is a variable with levels, or else a factor: a comparison of numbers, or a spline whose
    k columns add up to 1, as do indicators of k levels.
    """

    def __init__(self, info: DesignInfo, schema: ModelSchema, free: Collection[str]):
        self.matrix, self._schema, self.factors = Matrix(info, schema), schema, info.factor_infos
        frame = schema_frame(schema)
        self.splines = {
            factor: known.num_columns
            for factor, known in self.factors.items()
            if read(factor.code).splined
            and np.allclose(self.matrix.values(factor, frame).reshape(GRID, -1).sum(axis=1), 1.0)
            and (read(factor.code).splined.isdisjoint(free) or _adds_up(known))
        }

    @property
    def may_repeat(self) -> bool:
        """Tell whether some variable is coded twice, or without regard to what else is there."""
        axes = [axis for factor in self.factors if (axis := self.axis(factor)) is not None]
        own = any("i" in read(factor.code).called for factor in self.factors)
        return own or bool(self.splines) or len(axes) > len(set(axes))

    def axis(self, factor: EvalFactor) -> Hashable:
        """Name the axis of which a factor is a function, None for functions of numbers."""
        variables = [*read(factor.code).variables]
        if len(variables) == 1 and isinstance(self._schema[variables[0]], Categorical):
            return variables[0]
        has_levels = self.factors[factor].type == "categorical" or factor in self.splines
        return factor if has_levels else None

    def products(self, places: list[int]) -> np.ndarray:
        """Return the mean products (k, k) of functions of levels, over all combinations."""
        columns = [self.matrix.columns[j] for j in places]
        axes = {self.axis(part.factor) for parts in columns for part in parts} - {None}
        found = np.ones((len(columns), len(columns)))
        for axis in axes:
            on = [[p for p in parts if self.axis(p.factor) == axis] for parts in columns]
            values = [np.prod([self._function(part) for part in parts], axis=0) for parts in on]
            V = np.column_stack(np.broadcast_arrays(*values))
            with np.errstate(all="ignore"):
                found *= V.T @ V / len(V)
        return found

    def _function(self, part: Part) -> np.ndarray:
        """Return the values of a part of a column on the levels of its axis."""
        axis = self.axis(part.factor)
        if isinstance(axis, str):
            kind = self._schema[axis]
            assert isinstance(kind, Categorical)
            codes = np.arange(len(kind.levels))
            values = self.matrix.values(part.factor, {axis: values_of(codes, kind)})
            return part.of(values)
        return np.eye(self.splines[axis])[part.column] if part.levels is None else part.levels


def _adds_up(known: FactorInfo) -> bool:
    """Tell whether the columns of a spline add up to 1 wherever its knots reach."""
    return all(getattr(learner, "adds_up", True) for learner in known.state["transforms"].values())


def _dependent(products: np.ndarray) -> list[int]:
    """Return the first column that is a sum of multiples of those before it, and these.

    >>> _dependent(np.array([[1, 0.5, 0.5], [0.5, 0.5, 0], [0.5, 0, 0.5]])), _dependent(np.eye(2))
    ([0, 1, 2], [])
    """
    if not np.isfinite(products).all():  # a function without a value at some level
        return []
    size = np.sqrt(np.diag(products))
    if not size.all():
        return [int(np.argmin(size))]
    R = products / np.outer(size, size)
    if not _are_dependent(R):
        return []
    sizes = range(1, len(R) + 1)
    last = bisect_left(sizes, True, key=lambda k: _are_dependent(R[:k, :k]))
    weights = np.linalg.solve(R[:last, :last], R[:last, last])
    return [*np.flatnonzero(np.abs(weights) > np.sqrt(_NOTHING)).tolist(), last]


def _are_dependent(products: np.ndarray) -> bool:
    """Tell whether columns with these products, and squares of 1, are linearly dependent."""
    try:
        np.linalg.cholesky(products - _NOTHING * np.eye(len(products)))
    except np.linalg.LinAlgError:
        return True
    return False


def collinear(terms: list[Term], constant: str, instead: str) -> str:
    """Say which terms are collinear, and what to write instead."""
    names = [constant if term == INTERCEPT else term.name() for term in terms]
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    return f"the columns of {listed} are collinear whatever the rows are; {instead}"


def _fix(terms: list[Term], levels: _Levels) -> str:
    """Say what to write instead of collinear functions of levels."""
    factors = {factor: None for term in terms for factor in term.factors}
    differ = len({levels.axis(factor) for factor in factors}) == len(factors)
    said = [instead for factor in factors if differ and (instead := _instead(factor, levels))]
    return said[-1] if said else "leave one of them out"


def _instead(factor: EvalFactor, levels: _Levels) -> str:
    """Say how indicators of all levels, or a spline that adds up to 1, leave a column out."""
    if factor in levels.splines:
        if not factor.code.startswith("bs"):
            return f"write constraints='center' in {factor.name()}"
        beyond = (
            "include_intercept" if "include_intercept" in factor.code else "knots below bounds="
        )
        return f"leave {beyond} out of {factor.name()}"
    if "i" in read(factor.code).called and "ref=" not in factor.code:
        column, first = factor.name()[2:-1], levels.factors[factor].categories[0]
        return f"leave a level out by ref=, as in i({column}, ref={first!r})"
    return ""
