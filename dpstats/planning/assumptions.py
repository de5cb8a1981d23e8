"""Describe the assumed data of a forecast: regressors, coefficients and residuals."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.call import Request
from dpstats.errors import ArgumentError, shown
from dpstats.formula import Design
from dpstats.option_checks import finite, positive, whole
from dpstats.planning.cluster_guess import ClusterGuess
from dpstats.planning.panel_guess import PanelGuess
from dpstats.planning.person_guess import PersonGuess
from dpstats.planning.weight_guess import WeightGuess
from dpstats.schema import Categorical, Numeric

# Three residual standard deviations on either side of the midpoint fill the response's range.
_SD_OF_RANGE = 1 / 6
_MAX_ROWS = 10_000_000


@dataclass(frozen=True)
class Guess:
    """Hold what is assumed of a table and its regression without looking at them.

    Parameters
    ----------
    design : Design
        Columns of the formula under the declared bounds and levels.
    kinds : mapping of str to Numeric or Categorical
        The variables on the right-hand side.
    n : int
        Number of rows.
    truth : numpy.ndarray, shape (S,)
        Coefficients.
    sd : float
        Standard deviation of the normal residuals, in units of the response.
    x_sd : mapping of str to float
        Standard deviations of numeric regressors that are normal around the midpoint of their
        range and clipped to it. The others are uniform on their
        range, and the levels of a factor are equally likely.
    x_range : mapping of str to tuple of float
        Narrower ranges on which numeric regressors are uniform.
    weights : WeightGuess or None
        The weights, which are independent of everything else.
    panel : PanelGuess or None
        The groups whose effects the formula absorbs, the persons of several rows, or clusters.
    response : str
        The variable on the left-hand side.
    """

    design: Design
    kinds: Mapping[str, Numeric | Categorical]
    n: int
    truth: np.ndarray
    sd: float
    x_sd: Mapping[str, float]
    x_range: Mapping[str, tuple[float, float]]
    weights: WeightGuess | None = None
    panel: PanelGuess | None = None
    response: str = ""

    @classmethod
    def of(
        cls, request: Request, n, *, truth, sd, x_sd, x_range=None, weights_mean=None, groups=None,
        within_share=None, rows_per_person=None, icc=None, cluster=None, clusters=None,
    ) -> "Guess":  # fmt: skip
        """Check the assumptions of the caller, and add defaults for the others."""
        design = request.design
        kinds = {name: design.schema[name] for name in request.formula.predictors}
        numeric = {name: kind for name, kind in kinds.items() if isinstance(kind, Numeric)}
        x_sd, n = checked_numbers("x_sd", x_sd, positive, numeric), checked_rows(n)
        return cls(
            design=design,
            kinds=kinds,
            n=n,
            truth=coefficients_of(design, checked_numbers("truth", truth, finite, design.names)),
            sd=default_sd(design) if sd is None else positive("sd")(sd),
            x_sd=x_sd,
            x_range=checked_ranges(x_range, numeric, x_sd),
            weights=WeightGuess.of(request.weights, weights_mean),
            panel=ClusterGuess.of_clusters(request, cluster, n, clusters, icc, groups, within_share)
            or PersonGuess.of_persons(request, n, rows_per_person, icc, groups, within_share)
            or PanelGuess.of(request, n, groups, within_share, icc),
            response=request.formula.variables[0],
        )

    def rows(self, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw a synthetic table: X (n, S) and y (n,), clipped to the bounds as dp_ols clips."""
        return self.clipped(*self.unclipped(generator))

    def clipped(self, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Clip the rows of a synthetic table to the bounds in place, as dp_ols clips."""
        np.clip(X, self.design.low, self.design.high, out=X)
        return X, np.clip(y, *self.design.response_bounds, out=y)

    def unclipped(self, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw a synthetic table before clipping."""
        _, X, y = self.table(generator)
        return X, y

    def table(self, generator: np.random.Generator):
        """Draw a table: its regressors and weights by name, X (n, S) and y (n,) before clipping.

        A factor has codes, since a fit reads its column more than ten times.
        """
        drawn = {name: self._column(name, generator) for name in self.kinds}
        X = self.design.of_columns(self.n, drawn)
        columns = {name: _labelled(values, self.kinds[name]) for name, values in drawn.items()}
        share = 1.0 if self.panel is None else self.panel.row_share
        y = X @ self.truth + generator.normal(0.0, self.sd * math.sqrt(share), self.n)
        if self.panel is not None:
            y += self._midpoint() + self.panel.effects(self.response, self.sd, self.n, generator)
            columns[self.panel.column] = self.panel.labels(self.n)
        if self.weights is not None and self.weights.weights.column not in columns:
            columns[self.weights.weights.column] = self.weights.draw(self.n, generator)
        return columns, X, y

    def _column(self, name: str, generator) -> np.ndarray:
        """Draw the values (n,) of one variable, of a factor the codes of its levels."""
        kind, panel = self.kinds[name], self.panel
        if isinstance(kind, Categorical):
            return generator.integers(len(kind.levels), size=self.n)
        if name not in self.x_sd:
            low, high = self.x_range.get(name, (kind.low, kind.high))
            if panel is not None:
                return low + (high - low) * panel.uniforms(name, self.n, generator)
            return generator.uniform(low, high, self.n)
        midpoint, sd = (kind.low + kind.high) / 2, self.x_sd[name]
        if panel is not None:
            values = midpoint + sd * panel.normals(name, self.n, generator)
        else:
            values = generator.normal(midpoint, sd, self.n)
        return np.clip(values, kind.low, kind.high)

    def _midpoint(self) -> float:
        """Return the average of effects that puts the line through the middle of the box.

        None is needed beside an intercept.
        """
        if self.design.intercept is not None:
            return 0.0
        middle = (self.design.low + self.design.high) / 2 @ self.truth
        return sum(self.design.response_bounds) / 2 - float(middle)

    def sentences(self, generator: np.random.Generator) -> tuple[str, ...]:
        """Write the assumptions in words, and the percentage of responses that the bounds clip."""
        pairs = zip(self.design.names, self.truth, strict=True)
        low, high = self.design.response_bounds
        y = self.unclipped(generator)[1]
        return (
            f"guessed coefficients: {', '.join(f'{name} {value:.4g}' for name, value in pairs)}",
            f"guessed regressors, independent: {', '.join(map(self._shape, self.kinds)) or 'none'}",
            f"guessed residuals: normal with standard deviation {self.sd:.4g}; "
            f"{np.mean((y < low) | (y > high)):.1%} of the responses are outside their bounds",
            *([] if self.panel is None else [self.panel.sentence]),
            *([] if self.weights is None else [self.weights.sentence]),
        )

    def _shape(self, name: str) -> str:
        """Write the distribution of one regressor in words."""
        kind = self.kinds[name]
        if isinstance(kind, Categorical):
            return f"{name} with {len(kind.levels)} equally likely levels"
        distribution = f"normal with s.d. {self.x_sd[name]:.4g}" if name in self.x_sd else "uniform"
        low, high = self.x_range.get(name, (kind.low, kind.high))
        return f"{name} {distribution} on [{low:g}, {high:g}]"


def _labelled(values: np.ndarray, kind: Numeric | Categorical):
    """Return drawn values as a column of a table: numbers, or labels by their codes."""
    if isinstance(kind, Numeric):
        return values
    return pd.Categorical.from_codes(values, categories=pd.Index(kind.levels, dtype=object))


def checked_rows(n) -> int:
    """Check the number of rows."""
    return whole("n", 1, _MAX_ROWS)(n)


def checked_numbers(argument: str, values, check: Callable, known) -> dict[str, float]:
    """Check a mapping of known names to numbers."""
    if values is None:
        return {}
    if not isinstance(values, (Mapping, pd.Series)):
        raise ArgumentError(
            f"expected {argument} to be a mapping {{name: number}}, got {shown(values)}"
        )
    for name in values.keys():
        if name not in known:
            names = ", ".join(known) or "none"
            raise ArgumentError(f"{argument} names {name!r}; expected names among: {names}")
    return {str(name): check(f"{argument}[{name!r}]")(value) for name, value in values.items()}


def checked_ranges(ranges, numeric: Mapping[str, Numeric], x_sd: Mapping) -> dict:
    """Check the ranges on which regressors are uniform: pairs within their bounds."""
    if ranges is None:
        return {}
    if not isinstance(ranges, Mapping):
        raise ArgumentError(f"expected x_range to be {{column: (low, high)}}, got {shown(ranges)}")
    for name, pair in ranges.items():
        if name in x_sd:
            raise ArgumentError(f"x_sd and x_range both name {name!r}; leave it out of one of them")
        if name not in numeric:
            free = ", ".join(numeric) or "none"
            raise ArgumentError(f"x_range names {name!r}; expected names among: {free}")
        try:
            low, high = map(finite(f"x_range[{name!r}]"), pair)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"expected x_range[{name!r}] to be (low, high), got {shown(pair)}"
            ) from None
        kind = numeric[name]
        if not kind.low <= low < high <= kind.high:
            raise ArgumentError(
                f"expected x_range[{name!r}] within its bounds [{kind.low:g}, {kind.high:g}], got "
                f"{shown(pair)}"
            )
    return {name: (float(low), float(high)) for name, (low, high) in ranges.items()}


def default_sd(design: Design) -> float:
    """Return the assumed standard deviation of residuals where none is guessed."""
    low, high = design.response_bounds
    return _SD_OF_RANGE * (high - low)


def coefficients_of(design: Design, assumed: Mapping[str, float]) -> np.ndarray:
    """Fill in coefficients (S,): others are 0, and the intercept centres the line in the box."""
    truth = np.array([assumed.get(name, 0.0) for name in design.names])
    if design.intercept is not None and design.names[design.intercept] not in assumed:
        midpoint = (design.low + design.high) / 2 @ truth
        truth[design.intercept] = sum(design.response_bounds) / 2 - midpoint
    return truth
