"""Learn a formula's columns from a schema frame: public rows over the declared ranges and levels.

patsy learns its means, knots and levels there, so no private row is ever learned from.
"""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import patsy

from dpstats.errors import FormulaError
from dpstats.formula.expressions import Polynomials
from dpstats.formula.expressions.intervals import FUNCTIONS
from dpstats.formula.expressions.learners import affine, spline
from dpstats.formula.expressions.level_indicators import level_indicators
from dpstats.formula.expressions.reading import CONTRASTS
from dpstats.formula.matrices import Matrix, values_of
from dpstats.schema import ModelSchema, Numeric

GRID = 101  # a prime, so that a walk over the grid with any stride visits each point once
STRIDE = 12
# No value is missing to patsy, so no row is dropped; "raise" spares it the copy of "drop".
KEEP = patsy.NAAction(on_NA="raise", NA_types=[])


def _as_factor(values: pd.Categorical, contrast=None, levels=None) -> pd.Categorical:
    """Evaluate C(): patsy's own hides the codes, and each row's level is looked up in Python."""
    coded = values[:]
    setattr(coded, "contrast", contrast)  # noqa: B010 - pandas declares no such attribute
    return coded


def _learner(wrap, function, *arguments):
    """Wrap the class behind a transform of patsy as a transform of this package."""
    return patsy.stateful_transform(wrap(function.__patsy_stateful_transform__, *arguments))


_CALLS = {name: function.call for name, function in FUNCTIONS.items()}
NAMESPACE = {
    **_CALLS,
    **{name: getattr(patsy, name) for name in CONTRASTS},
    "np": SimpleNamespace(**_CALLS),
    "I": lambda values: values,
    "Q": patsy.builtins.Q,
    "C": _as_factor,
    "i": level_indicators,
    "center": _learner(affine, patsy.center),
    "standardize": _learner(affine, patsy.standardize),
    "scale": _learner(affine, patsy.standardize),
    "bs": _learner(spline, patsy.bs, 1.0),
    "cr": _learner(spline, patsy.cr),
    "cc": _learner(spline, patsy.cc),
    "poly": patsy.stateful_transform(Polynomials),
}


def schema_frame(schema: ModelSchema) -> dict:
    """Build GRID public rows: each number's grid over its range, each category's levels in turn.

    The grids are walked with different strides, so that no combination of variables, such
    as x1 - x2, is constant on the frame.
    """
    points = np.arange(GRID)
    frame = {}
    for i, (name, kind) in enumerate(schema.items()):
        if isinstance(kind, Numeric):
            walk = points * pow(STRIDE, i, GRID) % GRID
            frame[name] = np.linspace(kind.low, kind.high, GRID)[walk]
        else:
            frame[name] = values_of(points % len(kind.levels), kind)
    return frame


def learn(model: patsy.ModelDesc, schema: ModelSchema) -> list[patsy.DesignInfo]:
    """Learn the columns of the left- and of the right-hand side from the schema frame."""
    frame = schema_frame(schema)
    terms = [model.lhs_termlist, model.rhs_termlist]
    environment = patsy.EvalEnvironment([NAMESPACE])
    try:
        with np.errstate(all="ignore"):
            infos = patsy.design_matrix_builders(terms, lambda: iter([frame]), environment, KEEP)
        matrices = [Matrix(info, schema).unclipped(frame, GRID) for info in infos]
    except Exception as error:  # any failure here is a fault of the formula: all is public
        reason = getattr(error, "message", str(error)).removeprefix("Error evaluating factor: ")
        raise FormulaError(
            f"cannot build {model.describe()!r} on the declared ranges and levels: {reason}"
        ) from None
    _check_learned(model, infos, matrices)
    return infos


def _check_learned(
    model: patsy.ModelDesc, infos: list[patsy.DesignInfo], matrices: list[np.ndarray]
) -> None:
    """Refuse a response of several columns, and a column without a finite value."""
    response = matrices[0]
    numerical = {f.type for f in infos[0].factor_infos.values()} == {"numerical"}
    if response.shape[1] != 1 and numerical:
        raise FormulaError(
            f"expected one numeric response, but {model.lhs_termlist[0].name()} has "
            f"{response.shape[1]} columns; write one number"
        )
    for info, matrix in zip(infos, matrices, strict=True):
        for name, column in zip(info.column_names, matrix.T, strict=True):
            if not np.isfinite(column).any():
                raise FormulaError(
                    f"{name} has no finite value on the declared ranges, or between -1 and 1 where "
                    "none is declared; what it learns there needs finite values that are not all "
                    "equal, so declare or change the bounds"
                )
