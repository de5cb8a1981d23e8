"""What is guessed of data that nobody has looked at: the regressors, a line and its residuals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError
from dpstats.formula import Design
from dpstats.option_checks import finite, positive, whole
from dpstats.request import Request
from dpstats.schema import Categorical, Numeric

# Three residual standard deviations on either side of the middle fill the response's range.
_SD_SHARE = 1 / 6
_MOST_ROWS = 10_000_000


@dataclass(frozen=True)
class Guess:
    """A table and its regression as somebody who may not look at them imagines them.

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
        Standard deviations of numeric regressors that are normal around the middle of their
        range, values beyond it being moved to its ends. The others are uniform on their
        range, and the levels of a factor are equally likely.
    """

    design: Design
    kinds: Mapping[str, Numeric | Categorical]
    n: int
    truth: np.ndarray
    sd: float
    x_sd: Mapping[str, float]

    @classmethod
    def of(cls, request: Request, n, truth, sd, x_sd) -> "Guess":
        """Check what the caller guesses, and guess the rest."""
        design = request.design
        low, high = design.response_bounds
        kinds = {name: request.schema[name] for name in request.formula.predictors}
        numeric = [name for name, kind in kinds.items() if isinstance(kind, Numeric)]
        return cls(
            design=design,
            kinds=kinds,
            n=whole("n", 1, _MOST_ROWS)(n),
            truth=_coefficients(design, _numbers("truth", truth, finite, design.names)),
            sd=_SD_SHARE * (high - low) if sd is None else positive("sd")(sd),
            x_sd=_numbers("x_sd", x_sd, positive, numeric),
        )

    def rows(self, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """One table, made up: X (n, S) and y (n,), clipped to the bounds as dp_ols clips."""
        X, y = self.unclipped(generator)
        np.clip(X, self.design.low, self.design.high, out=X)
        return X, np.clip(y, *self.design.response_bounds, out=y)

    def unclipped(self, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """The table before clipping."""
        columns = {name: self._column(name, generator) for name in self.kinds}
        X = self.design.predictors(pd.DataFrame(columns, index=range(self.n)))
        return X, X @ self.truth + generator.normal(0.0, self.sd, self.n)

    def _column(self, name: str, generator) -> np.ndarray:
        kind = self.kinds[name]
        if isinstance(kind, Categorical):
            return np.array(kind.levels, object)[generator.integers(len(kind.levels), size=self.n)]
        if name not in self.x_sd:
            return generator.uniform(kind.low, kind.high, self.n)
        middle = (kind.low + kind.high) / 2
        return np.clip(generator.normal(middle, self.x_sd[name], self.n), kind.low, kind.high)

    def sentences(self, generator: np.random.Generator) -> tuple[str, ...]:
        """What is guessed, in words, and how much of it the bounds would clip."""
        pairs = zip(self.design.names, self.truth, strict=True)
        low, high = self.design.response_bounds
        y = self.unclipped(generator)[1]
        return (
            f"guessed coefficients: {', '.join(f'{name} {value:.4g}' for name, value in pairs)}",
            f"guessed regressors, independent: {', '.join(map(self._shape, self.kinds)) or 'none'}",
            f"guessed residuals: normal with standard deviation {self.sd:.4g}; "
            f"{np.mean((y < low) | (y > high)):.1%} of the responses are outside their bounds",
        )

    def _shape(self, name: str) -> str:
        kind = self.kinds[name]
        if isinstance(kind, Categorical):
            return f"{name} with {len(kind.levels)} equally likely levels"
        law = f"normal with s.d. {self.x_sd[name]:.4g}" if name in self.x_sd else "uniform"
        return f"{name} {law} on [{kind.low:g}, {kind.high:g}]"


def _numbers(argument: str, given, check: Callable, known) -> dict[str, float]:
    """A mapping of known names to numbers that pass the check."""
    if given is not None and not isinstance(given, (Mapping, pd.Series)):
        raise ArgumentError(f"expected {argument} to be a mapping {{name: number}}, got {given!r}")
    for name in {} if given is None else given.keys():
        if name not in known:
            names = ", ".join(known) or "none"
            raise ArgumentError(f"{argument} names {name!r}; what it may name is: {names}")
    items = () if given is None else given.items()
    return {name: check(f"{argument}[{name!r}]")(value) for name, value in items}


def _coefficients(design: Design, given: Mapping[str, float]) -> np.ndarray:
    """Coefficients (S,), 0 unless given; a free intercept centres the line in the box."""
    truth = np.array([given.get(name, 0.0) for name in design.names])
    if design.intercept is not None and design.names[design.intercept] not in given:
        middle = (design.low + design.high) / 2 @ truth
        truth[design.intercept] = sum(design.response_bounds) / 2 - middle
    return truth
