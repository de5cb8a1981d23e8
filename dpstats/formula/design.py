"""Build the row-by-row design of a formula under a public schema.

patsy learns the means, knots and levels it needs from a *schema frame*: a grid over the
declared ranges and the declared levels. Private rows only ever meet what was learned there,
so a row of the design depends on its own record alone.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
import patsy

from dpstats.errors import ArgumentError, FormulaError
from dpstats.formula.absorption import without_intercept
from dpstats.formula.column_origins import ColumnOrigins
from dpstats.formula.columns import column_bounds, factor_bounds
from dpstats.formula.expressions import Reading, read
from dpstats.formula.expressions.level_indicators import check_multiplied, named
from dpstats.formula.expressions.reading import variable_alone
from dpstats.formula.identities import check_identities
from dpstats.formula.matrices import Matrix, values_of
from dpstats.formula.newdata import public_columns
from dpstats.formula.parsed_formula import ParsedFormula
from dpstats.formula.parsing import readings_of
from dpstats.formula.r import Name, RFormula
from dpstats.formula.r.coding import coded, knowing
from dpstats.formula.redundancy import check_redundancy
from dpstats.formula.schema_frame import learn
from dpstats.formula.usage import check_kinds, check_size, spans_of, union
from dpstats.numerics import Rows
from dpstats.schema import (
    BOOLEAN,
    INSIDE_FUNCTIONS,
    UNLIMITED,
    Batch,
    Categorical,
    Labels,
    ModelSchema,
    Numeric,
    Schema,
)


class Design(ColumnOrigins):
    """Map rows to the columns of a formula under a public schema.

    It depends on nothing private, and raises FormulaError or ArgumentError on construction.

    Attributes
    ----------
    names : patsy's names of the S columns
    response : the left-hand side as patsy writes it
    intercept : index of the intercept's column, or None
    layout : how the columns follow from codes of factors and numeric columns
    terms : the slice of each term's columns, by patsy's name, without the intercept
    low, high : arrays (S,), the bounds every design row is clipped to
    response_bounds : (low, high) of the response
    schema : the part of the schema that the formula uses

    >>> from dpstats.formula import Formula
    >>> schema = {"y": Numeric(0, 1), "x": Numeric(1, 100), "g": Categorical(("a", "b"))}
    >>> design = Formula.parse("y ~ np.log10(x) + g").design(schema)
    >>> design.names, design.low, design.high
    (('Intercept', 'g[T.b]', 'np.log10(x)'), array([1., 0., 0.]), array([1., 1., 2.]))
    >>> rows = design.rows({"y": np.array([7.0]), "x": np.array([10.0]), "g": np.array([1])})
    >>> rows.numbers, rows.response
    (array([[1., 1., 1.]]), array([1.]))
    """

    def __init__(
        self,
        formula: ParsedFormula,
        schema: Schema,
        term_bounds: Mapping = {},
        clipping: Mapping[str, Numeric] = {},
    ):
        regression = {n: kind for n, kind in schema.items() if not isinstance(kind, Labels)}
        formula = _knowing_truths(formula, regression)
        check_kinds(formula.readings, regression)
        check_size(formula.model, regression)
        _check_response(formula.readings[0], regression)
        for term in formula.model.rhs_termlist:
            check_multiplied({f.name(): read(f.code) for f in term.factors}, regression)
        self.schema = {n: regression[n] for n in formula.variables if n != formula.absorbed}
        self._recipe = formula, self.schema, dict(term_bounds), self._own(clipping)
        self._predictors = {name: regression[name] for name in formula.predictors}
        self._splined = union(formula.readings, "splined")
        self._learn(formula.model, term_bounds)
        self.response = formula.response

    def _learn(self, model: patsy.ModelDesc, term_bounds: Mapping) -> None:
        """Learn the columns from the schema, with their names and positions."""
        # released ranges follow a charge, after which nothing is refused
        unread = all(kind == UNLIMITED for kind in self._recipe[3].values())
        if unread:
            self._check_placed()
        try:
            infos = learn(model, self.schema)
        except FormulaError:
            # A released range may lie where a logarithm has no value. That is no fault of the
            # call, and a range that limits no values may be replaced for learning.
            inside = self._recipe[0].declared.intersection(self._recipe[3])
            if not inside:
                raise
            infos = self._learn_inside(model, inside)
        if isinstance(self._recipe[0].text, RFormula):
            infos[1] = coded(infos[1], model.rhs_termlist, self.schema)
        absorbed = self._recipe[0].absorbed
        constant = "the intercept" if absorbed is None else f"the effects of {absorbed}"
        if unread:
            check_redundancy(infos[1], self.schema, constant, self._recipe[3])
            check_identities(infos[1], self.schema, constant, term_bounds)
        if absorbed is not None:
            infos[1] = without_intercept(infos[1])
        self._infos = infos
        self._left, self._right = (Matrix(info, self.schema) for info in infos)
        self._bound(term_bounds)
        self.names = named(infos[1])
        self.intercept = self._right.intercept
        slices = infos[1].term_slices.items()
        self.terms = {term.name(): columns for term, columns in slices if term.factors}

    def _check_placed(self) -> None:
        """Refuse knots, and single ends, where no range is declared that they must suit."""
        undeclared = union(self._recipe[0].readings, "placed").intersection(self._recipe[3])
        if undeclared:
            name = min(undeclared)
            raise FormulaError(
                f"the range of {name} is not declared, which the knots and ends of its spline "
                f"must suit; give bounds={{{name!r}: (low, high)}}, or the spline both "
                "lower_bound= and upper_bound="
            )

    def _learn_inside(self, model: patsy.ModelDesc, names: Collection[str]) -> list:
        """Learn from the ends that splines have in the formula, or else inside functions."""
        readings = self._recipe[0].readings
        spans = {name: kind for name, kind in spans_of(readings).items() if name in names}
        return learn(model, {**self.schema, **dict.fromkeys(names, INSIDE_FUNCTIONS), **spans})

    def _bound(self, term_bounds: Mapping) -> None:
        """Bound the columns by the ranges of the schema."""
        clipping = {n: kind for n, kind in self._recipe[3].items() if n not in self._splined}
        numbers = {n: kind for n, kind in self.schema.items() if isinstance(kind, Numeric)}
        wide = {n for n, kind in self._recipe[3].items() if not kind.within(numbers[n])}
        bounds = factor_bounds(self._infos, self.schema, term_bounds, wide)
        self._response_ends = column_bounds(self._left.columns, bounds)
        low, high = self._response_ends
        self.response_bounds = float(low[-1]), float(high[-1])
        self.low, self.high = column_bounds(self._right.columns, bounds)
        for ends in (self.low, self.high):
            ends.flags.writeable = False
        clipped = {**self.schema, **clipping}
        self._left, self._right = self._left.clipping(clipped), self._right.clipping(clipped)
        self.layout = self._right.bounded_layout(bounds)

    def response_ends(self, estimated: Collection[str]) -> tuple[float, float]:
        """Return the declared bounds of the response, infinite where its range was estimated."""
        of_estimated = not {*self._recipe[0].response_variables}.isdisjoint(estimated)
        if of_estimated and not self.has_two_outcomes:
            return -np.inf, np.inf
        low, high = self.response_bounds
        return low, high

    def with_ranges(
        self, ranges: Mapping[str, Numeric], clipping: Mapping[str, Numeric] = {}
    ) -> "Design":
        """Build the same columns under other ranges of some variables, with nothing learned anew.

        That is exact for variables that no function or operator takes: columns learn nothing
        from their ranges. Raises ArgumentError for others.

        >>> from dpstats.formula import Formula
        >>> schema = {"y": Numeric(0, 1), "x": Numeric(0, 1)}
        >>> design = Formula.parse("y ~ x").design(schema)
        >>> design.with_ranges({"x": Numeric(2, 5)}).high
        array([1., 5.])
        """
        if not ranges and not clipping:
            return self
        formula, schema, term_bounds, before = self._recipe
        ranges, clipping = self._own(ranges), self._own(clipping)
        learned = formula.declared & set(ranges)
        if learned:
            raise ArgumentError(f"{', '.join(sorted(learned))} shapes a column of {formula.text!r}")
        design = object.__new__(Design)
        vars(design).update(vars(self))
        design.schema = {**schema, **ranges}
        design._recipe = formula, design.schema, term_bounds, {**before, **clipping}
        design._predictors = {name: design.schema[name] for name in formula.predictors}
        design._bound(term_bounds)
        return design

    def _own(self, ranges: Mapping[str, Numeric]) -> dict[str, Numeric]:
        """Return those of the ranges that are of variables of the formula."""
        return {name: kind for name, kind in ranges.items() if name in self.schema}

    def __reduce__(self):
        return Design, self._recipe  # patsy's objects do not pickle; learning again is exact

    def rows(self, batch: Batch) -> Rows:
        """Compute clipped design rows (m, S) and responses (m,) of complete rows.

        Total: no value raises, warns or drops a row. A value out of its range counts as the
        end of the range, and a NaN made by a transform as the midpoint of its column; rows in use
        have none.
        """
        m = len(batch[next(iter(self.schema))])
        if not m:
            return self.rows(_of_one_row(batch))[:0]
        y = self._left.clipped(batch, m, *self._response_ends)
        return Rows(self._right.clipped(batch, m, self.low, self.high), y[:, -1])

    @property
    def tested(self) -> dict[str, tuple[float, ...]]:
        """Return the numbers that numeric predictors are tested for by == or !=, by variable."""
        found: dict[str, dict[float, None]] = {}
        for reading in self._recipe[0].readings[1:]:
            for name, values in reading.compared.items():
                if isinstance(self.schema[name], Numeric):
                    found.setdefault(name, {}).update(dict.fromkeys(map(float, values)))
        return {name: tuple(values) for name, values in found.items()}

    @property
    def has_two_outcomes(self) -> bool:
        """Tell whether the response is a comparison or one of two levels, and so 1 or 0."""
        return all(info.type == "categorical" for info in self._infos[0].factor_infos.values())

    @property
    def has_terms(self) -> bool:
        """Tell whether some term is an expression, which may have no value at a number."""
        return self._left.has_terms or self._right.has_terms

    def has_values(self, batch: Batch) -> np.ndarray:
        """Tell of which rows of complete variables all terms have a finite value, bool (m,).

        So ``np.log(x)`` has none at a negative number and at 0. Each row is asked by itself.
        """
        m = len(batch[next(iter(self.schema))])
        if not m:
            return np.ones(0, dtype=bool)
        return self._left.has_values(batch, m) & self._right.has_values(batch, m)

    def responses(self, batch: Batch) -> np.ndarray:
        """Compute responses y (m,) of complete rows, clipped to their bounds.

        The second of two levels counts as 1, the first as 0.
        """
        m = len(batch[next(iter(self.schema))])
        return self._left.clipped(batch, m, *self._response_ends)[:, -1]

    def compact_rows(self, batch: Batch) -> Rows:
        """Compute what :meth:`rows` does as codes of the layout's blocks, numbers and responses.

        With B a block of ``layout`` and its code, columns B.columns of the rows are B.coding[code].

        >>> from dpstats.formula import Formula
        >>> schema = {"y": Numeric(0, 1), "x": Numeric(0, 9), "g": Categorical(("a", "b", "c"))}
        >>> design = Formula.parse("y ~ x + g").design(schema)
        >>> row = {"y": np.array([1.0]), "x": np.array([5.0]), "g": np.array([2])}
        >>> rows = design.compact_rows(row)
        >>> rows.codes, rows.numbers, design.rows(row).numbers
        (array([[2.]]), array([[5.]]), array([[1., 0., 1., 5.]]))
        """
        m = len(batch[next(iter(self.schema))])
        if not m:
            return self.compact_rows(_of_one_row(batch))[:0]
        codes, numbers = self._right.compact(batch, m, self.low, self.high)
        return Rows(numbers, self.responses(batch), codes)

    def predictors(self, frame, may_lack_values: bool = False) -> np.ndarray:
        """Compute design rows X (m, S) of public new data.

        They are not clipped to the ranges of the schema, but variables in `clipping` to those.

        `frame` is a mapping of columns or scalars, or a data frame; levels are given by value.
        Raises ArgumentError for a missing column, an unknown level, NaN, or a value at which
        a term has none; with ``may_lack_values`` such a term is NaN.
        """
        m, columns = public_columns(frame, self._predictors, self._splined)
        return self.of_columns(m, columns, may_lack_values)

    def of_columns(
        self, m: int, columns: Mapping[str, np.ndarray], may_lack_values: bool = False
    ) -> np.ndarray:
        """Compute what :meth:`predictors` does of m rows of numbers and codes of levels (m,).

        >>> from dpstats.formula import Formula
        >>> schema = {"y": Numeric(0, 1), "g": Categorical(("a", "b"))}
        >>> Formula.parse("y ~ g").design(schema).of_columns(2, {"g": np.array([1, 0])})
        array([[1., 1.],
               [1., 0.]])
        """
        kinds = self._predictors
        clipped = {
            name: np.clip(columns[name], kind.low, kind.high)
            for name, kind in self._recipe[3].items()
            if name in columns
        }
        columns = {**columns, **clipped}
        data = {name: values_of(column, kinds[name]) for name, column in columns.items()}
        X = self._right.unclipped(data, m) if m else np.zeros((0, len(self.names)))
        for name, column in zip(self.names, X.T, strict=True):
            if not may_lack_values and not np.isfinite(column).all():
                raise ArgumentError(f"the term {name} has no finite value on the new data")
        return np.where(np.isfinite(X), X, np.nan)


def _knowing_truths(formula: ParsedFormula, schema: ModelSchema) -> ParsedFormula:
    """Let columns that are true or false be numbers in arithmetic, where the formula is R's."""
    kinds = {n: kind for n, kind in schema.items() if isinstance(kind, Categorical)}
    # levels 0 and 1 are equal to these, and factors
    truths = {n for n, kind in kinds.items() if kind == BOOLEAN and type(kind.levels[0]) is bool}
    if not isinstance(formula.text, RFormula) or truths.isdisjoint(formula.declared):
        return formula
    model = knowing(formula.model, truths)
    return replace(formula, model=model, readings=readings_of(model))


def _check_response(reading: Reading, schema: ModelSchema) -> None:
    """Refuse a response that is no single number and has no two levels."""
    kind = None if reading.bare is None else schema[reading.bare]
    if isinstance(kind, Categorical) and len(kind.levels) == 2 and variable_alone(reading):
        return
    if reading.bare is not None and kind == BOOLEAN:
        raise FormulaError(
            f"{reading.code} as a response: write {Name(reading.bare)} alone, which counts as 1 "
            "where it is true and else as 0"
        )
    if isinstance(kind, Categorical) or reading.categorical or reading.splined:
        raise FormulaError(
            f"expected one numeric response, got {reading.code}; make two levels a 0/1 number, "
            "or write I(g == 'b')"
        )


def _of_one_row(batch: Batch) -> Batch:
    """Return columns of one row in the place of none, which not all expressions take.

    Its rows are computed and left out, so that the same loops are compiled as for others.
    """
    return {name: _one_cell(column) for name, column in batch.items()}


def _one_cell(column: np.ndarray) -> np.ndarray:
    cell = np.zeros(1, column.dtype)
    cell.flags.writeable = column.flags.writeable
    return cell
