"""Define transforms that learn constants from a public grid and never from rows.

They wrap the formula library's classes (memorize on the grid, then transform any rows) and
add what privacy needs: a range of their values, and no error that a row could cause.
"""

from functools import reduce

import numpy as np

from dpstats.formula.expressions.intervals import Interval

FINE = 10_001  # points at which a spline's range is read off


def affine(transform: type) -> type:
    """Extend center() or standardize() by the range of its values."""

    class Affine(transform):
        """Add the range to the transform."""

        def image(self, low, high, **options) -> Interval:
            """Compute the range of the transformed values."""
            return tuple(self.transform(np.stack([low, high]), **options))

    return Affine


def spline(basis: type, ceiling: float = np.inf) -> type:
    """Build a spline whose knots span the public range; a value beyond counts as its end.

    With constraints="center" the columns are rotated to have mean zero over the grid. The
    columns of a B-spline lie in [0, `ceiling`], where `ceiling` is finite.
    """

    class Spline:
        """Wrap patsy's basis as a stateful transform."""

        def __init__(self):
            self._basis = basis()
            self._rotation = None

        def memorize_chunk(self, x, df=None, constraints=None, **options):
            """Learn knots from the public grid."""
            if not np.isfinite(x).all():
                raise ValueError(
                    "a spline needs finite values on the whole range; tighten the bounds"
                )
            self._grid, self._centred, self._options = x, constraints is not None, options
            self._low = _or_default(options.get("lower_bound"), x.min())
            self._high = _or_default(options.get("upper_bound"), x.max())
            wanted = df if df is None else df + self._centred
            self._basis.memorize_chunk(x, df=wanted, **options)

        def memorize_finish(self):
            """Check that the knots cover the range, and compute the rotation of centred columns."""
            grid = self._grid
            if self._low > grid.min() or self._high < grid.max():
                raise ValueError("the knots must cover the declared range of the variable")
            self._basis.memorize_finish()
            if self._centred:
                means = self._basis.transform(grid).mean(axis=0)
                self._rotation = np.linalg.qr(means[:, None], mode="complete")[0][:, 1:]

        def transform(self, x, df=None, constraints=None, **options):
            """Evaluate the columns of the basis row by row."""
            inside = np.fmin(np.fmax(x, self._low), self._high)
            columns = self._basis.transform(inside, **options)
            if self._rotation is None:
                return columns
            # not a matrix product: its summation order may depend on the number of rows
            parts = [columns[:, [j]] * row for j, row in enumerate(self._rotation)]
            return reduce(np.add, parts)

        @property
        def adds_up(self) -> bool:
            """Tell whether the columns add up to 1 wherever the knots reach."""
            fine = np.linspace(self._low, self._high, FINE)
            return np.allclose(self.transform(fine, **self._options).sum(axis=1), 1.0)

        def image(self, _low, _high, *arguments, **options) -> Interval:
            """Compute the range of the columns on a fine grid, with a margin."""
            fine = np.linspace(self._low, self._high, FINE)
            values = self.transform(fine, *arguments, **options)
            margin = np.abs(np.diff(values, axis=0)).max(axis=0)
            low, high = values.min(axis=0) - margin, values.max(axis=0) + margin
            if np.isfinite(ceiling):
                return np.zeros_like(low), np.full_like(high, ceiling)
            return low, high

    return Spline


def _or_default(value, default):
    """Replace None by a default."""
    return default if value is None else value
