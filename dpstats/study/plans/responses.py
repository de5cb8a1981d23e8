"""Draw the responses of assumed regressions, for plans from guesses."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from dpstats.errors import ArgumentError
from dpstats.formula import Design, Formula
from dpstats.formula.absorption import split_off
from dpstats.option_checks import finite
from dpstats.planning.assumptions import checked_numbers, coefficients_of, default_sd
from dpstats.schema import BOOLEAN, Categorical, Numeric

# Of linear predictors through a link, such as log odds, which are centred at 0.
_LINKED = Numeric(-1.0, 1.0)
_PROBABILITY = Numeric(0.0, 1.0)
_BOOLEAN = "b"  # the kind of numpy's type
# Values at which the inverse of a transformed response is tabulated.
_GRID = 4097
# Logarithms of means of counts are no larger, so that each can be drawn.
_MOST = 20.0


@dataclass(frozen=True)
class Assumed:
    """Hold what is assumed of one regression.

    Parameters
    ----------
    name, formula : str
        Name of the result, and what is regressed on what.
    bounds : mapping of str to tuple of float
        Ranges of numeric columns.
    truth : mapping of str to float
        Coefficients; the others are 0, but for the intercept, which puts the line through the
        middle of the response's range, or the linear predictor of a link through 0.
    sd : float or None
        Standard deviation of the residuals; None is a sixth of the response's range.
    """

    name: str
    formula: str
    bounds: Mapping[str, tuple[float, float]]
    truth: Mapping[str, float]
    sd: float | None = None

    def design(self, rows: pd.DataFrame, linked: bool) -> Design:
        """Build the design of the regression, of which an absorbed column is no part."""
        formula = Formula.parse(type(self.formula)(split_off(self.formula).regression))
        schema = {name: self._kind(name, rows) for name in formula.variables}
        response = formula.variables[0]
        if linked:
            schema[response] = _LINKED
        elif rows.dtypes[response].kind == _BOOLEAN:
            schema[response] = _PROBABILITY
        return formula.design(schema)

    def _kind(self, name: str, rows: pd.DataFrame) -> Numeric | Categorical:
        dtype = rows.dtypes[name]
        if dtype.kind == _BOOLEAN:
            return BOOLEAN
        if isinstance(dtype, pd.CategoricalDtype):
            return Categorical(tuple(dtype.categories))
        if name not in self.bounds:
            raise ArgumentError(f"a plan from guesses needs bounds of {name!r}; declare them")
        return Numeric(*self.bounds[name])

    def predictor(self, design: Design, rows: pd.DataFrame) -> np.ndarray:
        """Compute the linear predictor (n,) of the assumed coefficients."""
        place = f"truth[{self.name!r}]"
        truth = coefficients_of(design, checked_numbers(place, self.truth, finite, design.names))
        return design.predictors(rows) @ truth


def normal(assumed: Assumed, rows: pd.DataFrame, draw: np.random.Generator) -> dict:
    """Draw normal responses, of a truth value by its probability.

    What the formula transforms, such as ``np.log(wage)``, is normal about its linear predictor.
    """
    design = assumed.design(rows, linked=False)
    linear, name = assumed.predictor(design, rows), Formula.parse(assumed.formula).variables[0]
    if rows.dtypes[name].kind == _BOOLEAN:
        return {name: _as(rows, name, draw.random(len(rows)) < linear)}
    sd = default_sd(design) if assumed.sd is None else assumed.sd
    low, high = design.response_bounds
    drawn = np.clip(linear + draw.normal(0.0, sd, len(rows)), low, high)
    return {name: _untransformed(assumed, design, drawn)}


def binary(assumed: Assumed, rows: pd.DataFrame, draw: np.random.Generator) -> dict:
    """Draw truth values whose log odds are the linear predictor."""
    linear = assumed.predictor(assumed.design(rows, linked=True), rows)
    name = Formula.parse(assumed.formula).variables[0]
    return {name: _as(rows, name, draw.random(len(rows)) < expit(linear))}


def counts(assumed: Assumed, rows: pd.DataFrame, draw: np.random.Generator) -> dict:
    """Draw counts whose mean has the linear predictor as its logarithm, 1 where that is 0."""
    linear = assumed.predictor(assumed.design(rows, linked=True), rows)
    drawn = draw.poisson(np.exp(np.minimum(linear, _MOST))).astype(float)
    return {Formula.parse(assumed.formula).variables[0]: drawn}


def _as(rows: pd.DataFrame, name: str, true: np.ndarray):
    """Write truth values as the column does: as the second of two labels, or as 1 or True."""
    dtype = rows.dtypes[name]
    if isinstance(dtype, pd.CategoricalDtype):
        return pd.Categorical.from_codes(true.astype(int), dtype=dtype)
    return true if dtype.kind == _BOOLEAN else true.astype(float)


def _untransformed(assumed: Assumed, design: Design, values: np.ndarray) -> np.ndarray:
    """Invert the transformation of the response, which must be monotone."""
    formula = Formula.parse(assumed.formula)
    name = formula.variables[0]
    if formula.bare_response == name:
        return values
    grid = np.linspace(*assumed.bounds[name], _GRID)
    batch = {each: np.zeros(_GRID) for each in formula.variables}
    images = design.responses({**batch, name: grid})
    if images[0] > images[-1]:
        grid, images = grid[::-1], images[::-1]
    if (np.diff(images) <= 0).any():
        raise ArgumentError(
            f"a plan from guesses cannot invert {formula.response}; plan with rows of a stand-in, "
            "data=..."
        )
    return np.interp(values, images, grid)


# By kind of entry: how its responses are drawn. Without one a formula's columns are independent.
RESPONSES = {"ols": normal, "logit": binary, "poisson": counts}
