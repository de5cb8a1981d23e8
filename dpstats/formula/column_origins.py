"""Tell from which variables and terms the columns of a design come."""

from abc import ABC, abstractmethod

import numpy as np

from dpstats.formula.columns import squeezed
from dpstats.formula.expressions.polynomials import polynomial_ranges, raw_powers
from dpstats.formula.matrices import Matrix
from dpstats.numerics import Layout, Rows
from dpstats.schema import (
    INSIDE_FUNCTIONS,
    UNLIMITED,
    Batch,
    Categorical,
    ModelSchema,
    Numeric,
)


class ColumnOrigins(ABC):
    """Trace the columns of a :class:`~dpstats.formula.design.Design` to their variables."""

    schema: ModelSchema
    names: tuple[str, ...]
    intercept: int | None
    layout: Layout
    _recipe: tuple
    _infos: list
    _right: Matrix

    @abstractmethod
    def rows(self, batch: Batch) -> Rows:
        """Compute clipped design rows and responses of complete rows."""

    def raw_powers(self, variable: str) -> tuple[list[str], np.ndarray]:
        """Map coefficients to those of raw powers of a variable in poly().

        Returns the names of the powers and weights (k + 1, S), the first row for the constant, as
        :func:`~dpstats.formula.expressions.polynomials.raw_powers` does; ArgumentError where no
        term is one.

        >>> from dpstats.formula import Formula
        >>> schema = {"y": Numeric(0, 1), "x": Numeric(-1, 1)}
        >>> names, weights = Formula.parse("y ~ poly(x, 2)").design(schema).raw_powers("x")
        >>> names, weights.round(3).tolist()[1:]
        (['x', 'I(x**2)'], [[0.0, 1.732, 0.0], [0.0, 0.0, 3.354]])
        """
        return raw_powers(self._infos[1], variable)

    def polynomial_ranges(self, raw: bool = True) -> dict[str, tuple[float, float]]:
        """Return the range of each variable in poly(), which is orthonormal there but if raw."""
        return polynomial_ranges(self._infos[1], raw)

    @property
    def has_constant(self) -> bool:
        """Tell whether the columns, or absorbed effects, can add a constant to all rows."""
        full = any(len(block.columns) >= len(block.coding) for block in self.layout.blocks)
        return self.intercept is not None or self._recipe[0].absorbed is not None or full

    def columns_of_one_variable(self) -> dict[str, list[int]]:
        """List the numeric columns that are functions of one variable with a range, by variable.

        Columns whose bounds are declared for a term are left out, as these may clip them.

        >>> from dpstats.formula import Formula
        >>> schema = {"y": Numeric(0, 1), "x": Numeric(0, 9), "z": Numeric(0, 9)}
        >>> design = Formula.parse("y ~ x + I(x**2) + z + x:z").design(schema)
        >>> design.columns_of_one_variable()
        {'x': [1, 2], 'z': [3]}
        """
        _, _, term_bounds, clipping = self._recipe
        declared, places = set(map(squeezed, term_bounds)), {}
        for j in map(int, self.layout.numeric):
            names, terms = self._right.sources(j)
            if len(names) != 1 or not declared.isdisjoint(map(squeezed, terms)):
                continue
            (name,) = names
            kind = self.schema[name]
            # bounds that are declared may be equal to those of a stand-in
            if name not in clipping and kind != UNLIMITED and kind is not INSIDE_FUNCTIONS:
                places.setdefault(name, []).append(j)
        return places

    def interact(self) -> np.ndarray:
        """Tell which two numeric columns have a number in common and another one not, bool (d, d).

        >>> from dpstats.formula import Formula
        >>> schema = {"y": Numeric(0, 1), "x": Numeric(0, 9), "z": Numeric(0, 9)}
        >>> design = Formula.parse("y ~ x + I(x**2) + z + x:z").design(schema)
        >>> design.interact().astype(int).tolist()
        [[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1], [1, 1, 1, 0]]
        """
        numbers = {name for name, kind in self.schema.items() if isinstance(kind, Numeric)}
        sources = [self._right.sources(j)[0] & numbers for j in map(int, self.layout.numeric)]
        found = [[bool(one & other) and one != other for other in sources] for one in sources]
        return np.array(found, dtype=bool).reshape(len(sources), len(sources))

    def columns_of_levels(self) -> list[int]:
        """List the columns that are functions of the levels of one variable.

        >>> from dpstats.formula import Formula
        >>> schema = {"y": Numeric(0, 1), "x": Numeric(0, 9), "g": Categorical(["a", "b"])}
        >>> Formula.parse("y ~ x * g").design(schema).columns_of_levels()
        [1]
        """
        sources = [self._right.sources(j)[0] for j in range(len(self.names))]
        kinds = [[self.schema[name] for name in names] for names in sources]
        return [j for j, of in enumerate(kinds) if [*map(type, of)] == [Categorical]]

    def columns_at(self, variable: str, values: np.ndarray) -> np.ndarray:
        """Compute rows (m, S) as private ones, for public values (m,) of one variable.

        The others are at the middle of their ranges, or at their first level.
        """
        batch = {
            name: np.full(len(values), kind.low / 2 + kind.high / 2)
            if isinstance(kind, Numeric)
            else np.zeros(len(values), dtype=np.int64)
            for name, kind in self.schema.items()
        }
        return self.rows({**batch, variable: values}).numbers
