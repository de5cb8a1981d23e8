"""Compute the rows of one side of a formula, column by column.

patsy describes the columns (the factors that each multiplies, their contrasts and constants)
and evaluates the factors that are expressions.
"""

from collections.abc import Callable, Mapping
from copy import copy
from functools import partial, reduce

import numpy as np
import pandas as pd
from patsy import INTERCEPT, EvalFactor
from patsy.design_info import DesignInfo, FactorInfo

from dpstats.formula.columns import Part, products
from dpstats.formula.expressions import read
from dpstats.formula.indicators import joint_codes, layout_of, with_slopes
from dpstats.formula.usage import factor_variable
from dpstats.numerics import Layout
from dpstats.schema import Batch, Categorical, ModelSchema, Numeric


class Once(dict):
    """Cache the values of ``make(key)``."""

    def __init__(self, make: Callable):
        super().__init__()
        self._make = make

    def __missing__(self, key):
        value = self[key] = self._make(key)
        return value


class Matrix:
    """Map rows to the S columns of one side of a formula, of which each multiplies its parts."""

    def __init__(self, info: DesignInfo, schema: ModelSchema):
        self._schema, self.columns = schema, products(info)
        intercept = info.term_slices.get(INTERCEPT)
        self.intercept = None if intercept is None else intercept.start
        self.layout, self._factor_sets = layout_of(self.columns, self.intercept)
        self._variables = {factor: factor_variable(factor) for factor in info.factor_infos}
        self._factors = {
            factor: _evaluation(known, self._variables[factor], schema)
            for factor, known in info.factor_infos.items()
        }

    def clipping(self, schema: ModelSchema) -> "Matrix":
        """Return the same columns of values that are clipped to other ranges."""
        matrix = copy(self)
        matrix._schema = schema
        return matrix

    def sources(self, j: int) -> tuple[set[str], list[str]]:
        """Return the variables that column ``j`` reads, and the names of its factors."""
        factors = [part.factor for part in self.columns[j]]
        names = {name for factor in factors for name in read(factor.code).variables}
        return names, [factor.name() for factor in factors]

    def values(self, factor: EvalFactor, data: Mapping) -> np.ndarray:
        """Evaluate a factor for data as :func:`values_of` gives them: numbers or codes."""
        with np.errstate(all="ignore"):
            return self._factors[factor](data)

    def bounded_layout(self, bounds: Mapping) -> Layout:
        """Return the layout, with the interactions that the bounds of numeric factors describe."""
        return with_slopes(self.layout, self.columns, self._factor_sets, bounds)

    def unclipped(self, data: Mapping, m: int) -> np.ndarray:
        """Compute the columns (m, S) for data as :func:`values_of` gives them."""
        X = np.empty((m, len(self.columns)))
        with np.errstate(all="ignore"):
            factors = Once(lambda factor: self._factors[factor](data))
            for column, parts in zip(X.T, self.columns, strict=True):
                column[:] = _product(parts, factors)
        return X

    def clipped(self, batch: Batch, m: int, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Compute the columns (m, S) of private rows, clipped to ``low`` and ``high``, (S,) each.

        Each column is contiguous, which is fastest for sums over many rows. A number out of its
        range counts as the end of the range in every expression; where a column is a number
        whose range is within its bounds, one clip does for both.
        """
        X = np.empty((len(self.columns), m))
        with np.errstate(all="ignore"):
            factors = self._private_factors(batch)
            for j, column in enumerate(X):
                self._fill(column, j, batch, factors, low[j], high[j])
        return X.T

    def compact(
        self, batch: Batch, m: int, low: np.ndarray, high: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute codes (m, K), one for each block of the layout, and numbers (m, d).

        The numbers are the numeric columns of :meth:`clipped`; codes are whole numbers.
        """
        codes = np.empty((len(self._factor_sets), m))
        numbers = np.empty((len(self.layout.numeric), m))
        with np.errstate(all="ignore"):
            factors = self._private_factors(batch)
            for column, levels in zip(codes, self._factor_sets, strict=True):
                column[:] = joint_codes(levels, factors)
            for column, j in zip(numbers, self.layout.numeric, strict=True):
                self._fill(column, j, batch, factors, low[j], high[j])
        return codes.T, numbers.T

    @property
    def has_terms(self) -> bool:
        """Tell whether some factor is an expression, which may have no value at a number."""
        return None in self._variables.values()

    def has_values(self, batch: Batch, m: int) -> np.ndarray:
        """Tell at which private rows all expressions have a finite value, bool (m,)."""
        found = np.ones(m, dtype=bool)
        with np.errstate(all="ignore"):
            factors = self._private_factors(batch)
            for factor, variable in self._variables.items():
                if variable is None:
                    values = np.isfinite(factors[factor])
                    found &= values if values.ndim < 2 else values.all(axis=1)
        return found

    def _private_factors(self, batch: Batch) -> Mapping:
        """Evaluate the factors on a batch, each when it is first asked for."""
        data = Once(lambda name: _inside(batch[name], self._schema[name]))
        return Once(lambda factor: self._factors[factor](data))

    def _fill(self, column, j: int, batch: Batch, factors: Mapping, low, high) -> None:
        """Write column ``j`` of private rows within its bounds."""
        parts = self.columns[j]
        name = self._variables[parts[0].factor] if len(parts) == 1 else None
        kind = None if name is None else self._schema[name]
        if name and isinstance(kind, Numeric) and low <= kind.low and kind.high <= high:
            _within(batch[name], kind.low, kind.high, column)
        else:
            _within(_product(parts, factors), low, high, column)


def values_of(values: np.ndarray, kind: Numeric | Categorical):
    """Convert a column to the form that expressions take: numbers, or codes of levels.

    Levels are objects, so that they equal what they equal in Python: to pandas True is not 1.
    """
    if isinstance(kind, Numeric):
        return values
    levels = pd.Index(kind.levels, dtype=object, tupleize_cols=False)
    return pd.Categorical.from_codes(values, categories=levels)


def _inside(values: np.ndarray, kind: Numeric | Categorical):
    """Clip a private column to its public range, in the only copy made of it."""
    if isinstance(kind, Numeric):
        return np.clip(values, kind.low, kind.high, dtype=np.float64)
    return values_of(np.clip(values, 0, len(kind.levels) - 1), kind)


def _evaluation(info: FactorInfo, variable: str | None, schema: ModelSchema) -> Callable:
    """Build the function from data to a factor's values: numbers (m,) or (m, k), or codes (m,)."""
    if variable is None:
        # a factor with levels that is no variable is a comparison, false before true
        dtype = np.intp if info.type == "categorical" else np.float64
        return lambda data: np.asarray(info.factor.eval(info.state, data), dtype)
    if isinstance(schema[variable], Categorical):
        return lambda data: data[variable].codes
    return lambda data: data[variable]


def _product(parts: tuple[Part, ...], factors: Mapping) -> np.ndarray | float:
    """Multiply the parts of a column from left to right."""
    return reduce(np.multiply, map(partial(_values, factors), parts), 1.0)


def _values(factors: Mapping, part: Part) -> np.ndarray:
    """Return the values of one part of a column."""
    return part.of(factors[part.factor])


def _within(values, low: float, high: float, out: np.ndarray) -> None:
    """Clip values into ``out``; NaN becomes the midpoint of the bounds.

    A single value fills a column of its own: a view of it would have another layout, for which the
    loop is compiled, from two rows on.
    """
    # privacy rests on this clip, so bounds that are a little off cost accuracy alone
    from dpstats.numerics.kernels import within

    whole = values if np.shape(values) == out.shape else np.full(out.shape, values)
    within(whole, low, high, low / 2 + high / 2, out)
