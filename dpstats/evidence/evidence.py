"""Hold what a release tells beyond its coefficients and their covariance."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, Self, TypeAlias, get_args

import numpy as np

from dpstats.inference import Estimate, GoodnessOfFit, Sums, Uncertainty, Wald
from dpstats.inference.goodness_of_fit import NO_SUMS

# Arrays of floats, or None; a constructor takes whatever numpy makes one of. The number of their
# dimensions, of one release, is beside them.
Number: TypeAlias = Annotated[Any, 0]
Vector: TypeAlias = Annotated[Any, 1]
Matrix: TypeAlias = Annotated[Any, 2]


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """Hold what a release tells, or what each of G releases does, beyond coefficients.

    Each field is a number or an array, released or public, of floats. Where the evidence of G
    releases is stacked the groups come first, (G, ...), and NaN stands where one lacks a number.
    This class itself is what releases of any method may tell; its subclasses add what families of
    methods do.

    Parameters
    ----------
    unbounded
        Above 0 where the noise could account for an eigenvalue of X'X.
    hidden_cov : (S, S)
        The part of the covariance from directions which noise could account for.
    rows, sigma2
        The number of rows that intervals count with, and the residual variance in squared units
        of the response.
    response_mean, response_mean_error
        Of the response, and the standard deviation of the noise in it.
    response_range : (2,)
        Ends that predictions keep to.
    clipped_share, clipped_share_error
        The share of rows beyond estimated ranges, and the noise in it.
    """

    unbounded: Number = None
    hidden_cov: Matrix = None
    rows: Number = None
    sigma2: Number = None
    response_mean: Number = None
    response_mean_error: Number = None
    response_range: Vector = None
    clipped_share: Number = None
    clipped_share_error: Number = None

    def __post_init__(self):
        for name, value in self.values().items():
            array = np.asarray(value, dtype=float).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def model(self) -> str:
        """Return the name of the model that was fitted."""
        return "Regression"

    def means(self, predictor: np.ndarray) -> np.ndarray:
        """Return the means of the response at values of the linear predictor."""
        return predictor

    def slopes(self, predictor: np.ndarray) -> np.ndarray:
        """Return the derivatives of these means."""
        return np.ones_like(predictor)

    def values(self) -> dict[str, np.ndarray]:
        """List what was released, and the public facts beside it, by name."""
        named = {part.name: getattr(self, part.name) for part in fields(self)}
        return {name: value for name, value in named.items() if value is not None}

    def __getitem__(self, g: int) -> "Evidence":
        """Return the evidence of the g-th release of a stack."""
        values = {name: value[g] for name, value in self.values().items()}
        needed = [part.name for part in fields(self) if part.default is MISSING]
        lacking = bool(needed) and np.isnan(values[needed[0]]).all()
        kind, needed = (Evidence, []) if lacking else (type(self), needed)
        known = {part.name for part in fields(kind)}
        return kind(**{
            name: value for name, value in values.items()
            if name in needed or (name in known and not np.isnan(value).all())
        })  # fmt: skip

    def uncertainty(self, params: np.ndarray, cov: np.ndarray) -> Uncertainty:
        """Derive the distributions of the errors of a stack, ``params`` (G, S), ``cov`` (G, S, S).

        Here they are normal, with the covariance that was released.
        """
        unbounded = np.zeros(len(params)) if self.unbounded is None else self.unbounded
        return Wald(params, cov, unbounded > 0, self.hidden_cov)

    def covariance(self, intercept: int | None) -> np.ndarray | None:
        """Compute the covariance (S, S) of the coefficients, None where this does not tell it.

        ``intercept`` is the index of the constant column.
        """
        return None

    def goodness(
        self, columns: int, constant: np.ndarray | None, public: Estimate
    ) -> GoodnessOfFit:
        """Estimate N, R-squared and the residual variance, about the rows that were fitted.

        ``constant`` (S,) are the coefficients of the constant 1, None where no combination of the
        ``columns`` gives it; ``public`` is the number of rows where it is public. Standard errors
        are those of the privacy noise alone: N and R-squared describe the sample.
        """
        rows = self.counted(public, self.rows)
        is_centred = constant is not None
        return GoodnessOfFit(rows, columns=columns, is_centred=is_centred, reason=NO_SUMS)

    @staticmethod
    def counted(public: Estimate, value, error=math.nan) -> Estimate:
        """Return the number of rows where it is public, else this one with its error."""
        return estimate(value, error) if math.isnan(public.value) else public

    def sums(self) -> Sums | None:
        """Return the released sums, from which replicates are simulated, or None."""
        return None

    @property
    def number(self) -> Number:
        """Return the number of rows that squared scores are expected to be of."""
        return self.rows

    @property
    def tells_clipping(self) -> bool:
        """Tell whether figures are about all rows, or the share that was clipped is released."""
        return self.clipped_share is not None

    def mean(self) -> Estimate | None:
        """Return the mean of the response, or None where it was not released."""
        if self.response_mean is None:
            return None
        return estimate(self.response_mean, self.response_mean_error)

    def to_plain(self) -> dict[str, Any]:
        """Describe it by its kind and by numbers and lists, None for NaN."""
        return {"kind": type(self).__name__, **{n: plain(v) for n, v in self.values().items()}}

    @classmethod
    def from_plain(cls, content: Mapping, groups: bool = False) -> Self:
        """Restore what :meth:`to_plain` gives; ``groups`` says that it is a stack.

        Raises
        ------
        TypeError, ValueError
            For names that the class does not have, or arrays of other dimensions.
        """
        found = cls(**{name: array(part) for name, part in content.items()})
        ndim = {part.name: get_args(part.type)[1] + groups for part in fields(cls)}
        for name, value in found.values().items():
            if value.ndim != ndim[name]:
                raise ValueError(name)
        return found


def estimate(value, error=math.nan) -> Estimate:
    """Return a value and its error, NaN for what is None."""
    return Estimate(*(math.nan if part is None else float(part) for part in (value, error)))


def plain(values: np.ndarray) -> Any:
    """Convert an array to nested lists of floats, None for NaN.

    >>> plain(np.array([[1.0, np.nan]])), plain(np.array(0.5))
    ([[1.0, None]], 0.5)
    """
    content = values.astype(object)
    content[np.isnan(values)] = None
    return content.tolist()


def array(content) -> np.ndarray:
    """Convert what :func:`plain` gives to an array, NaN for None."""
    return np.array(content, dtype=float)
