"""Compute Maximum Observed Sensitivity, the noise rule of the Opportunity Atlas: NOT private."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError
from dpstats.estimators.lines import Line
from dpstats.evaluate.public_rows import Cells
from dpstats.evaluate.references import check_line, not_private
from dpstats.option_checks import seeded_generator
from dpstats.privacy import validate_guarantee

# Where a point is added to a cell: an 11 x 11 grid on the unit square.
_GRID = np.stack(np.meshgrid(np.linspace(0, 1, 11), np.linspace(0, 1, 11)), -1).reshape(-1, 2)
# A cell is suppressed with fewer people, or a smaller proportion on either side of the median.
_MIN_PEOPLE, _MIN_PROPORTION = 20, 0.1


@dataclass(frozen=True)
class Observed:
    """Hold what the heuristic computes from all cells before any noise, not private.

    Parameters
    ----------
    estimates : numpy.ndarray, shape (G, q)
        OLS predictions on the unit square.
    scales : numpy.ndarray, shape (G, q)
        Laplace scale chi / (epsilon n_t) of each.
    kept : numpy.ndarray of bool, shape (G,)
        False for suppressed cells.
    """

    estimates: np.ndarray
    scales: np.ndarray
    kept: np.ndarray


def mos(
    formula: str, data, *, by: str, epsilon: float, bounds, x_new=None, seed=None, public=False
) -> pd.DataFrame:
    """Predict by the Opportunity Atlas' heuristic, for comparison on public data.

    NOT private, whatever epsilon says: the noise is scaled by the largest change that adding
    one of 121 points makes in the estimate of any observed cell. That maximum, chi, is itself
    a function of the data and is used as it is, and other data could change by more.

    Parameters
    ----------
    formula, data, x_new
        As in :func:`dpstats.dp_ols`, with one numeric regressor.
    by : str
        Column of the cells of one state.
    epsilon : float
        Divides the noise; shared equally by the prediction points, as Alabi et al. do.
    bounds : mapping
        ``{column: (low, high)}`` of response and regressor.
    seed : int, optional
        Of the noise, by NumPy; fresh by default.
    public : bool
        Must be True: the declaration that the rows are public or synthetic.

    Returns
    -------
    pandas.DataFrame
        Tidy, a row per cell and point; columns: the name in ``by``, ``term``, ``estimate``,
        ``scale`` of the Laplace noise, ``status`` ("ok" or "suppressed": fewer than 20
        people, or less than 10% of them above or below the median x of all cells) and
        ``method``, which says that it is not private.

    Raises
    ------
    ArgumentError
        Without ``public=True``, and for arguments that dp_ols would refuse.

    References
    ----------
    Chetty and Friedman (2019), A practical method to reduce privacy loss when disclosing
    statistics based on small samples; Alabi et al. (2022), appendix A.2.

    Examples
    --------
    >>> import dpstats as dp
    >>> people = dp.datasets.oi_microdata()
    >>> noisy = mos("kid_rank ~ parent_rank", people, by="cell", epsilon=8, public=True,
    ...             bounds={"kid_rank": (0, 1), "parent_rank": (0, 1)}, seed=1)
    >>> noisy["method"].iloc[0], sorted(set(noisy["status"]))
    ('mos (not private)', ['ok', 'suppressed'])
    """
    epsilon, _ = validate_guarantee(epsilon, 0.0)
    cells = Cells.read("mos", formula, data, by, public, bounds=bounds, x_new=x_new)
    observed = observe(cells, epsilon)
    values = Line.of(cells.problem).values(draw(observed, 1, seeded_generator(seed))[:, 0])
    columns = {"estimate": values, "scale": observed.scales * Line.of(cells.problem).y_width}
    frame = cells.tidy(by, "term", cells.points, columns)
    status = np.where(observed.kept, "ok", "suppressed").repeat(len(cells.points))
    return frame.assign(status=status, method=not_private("mos"))


def observe(cells: Cells, epsilon: float) -> Observed:
    """Compute estimates, noise scales and suppression of all cells of one state."""
    check_line(cells, "mos")
    if not cells.points:
        raise ArgumentError("mos predicts; say where with x_new=")
    line = Line.of(cells.problem)
    x_new = line.positions(cells.problem.x_new)
    unit = [_unit(line, X, y) for X, y in cells.rows]
    kept = _kept([x for x, _ in unit])
    moments = np.array([_moments(*cell) for cell in unit])
    with np.errstate(divide="ignore", invalid="ignore"):
        estimates = _predict(moments[:, None, :], x_new)
        after = _predict(_added(moments[:, None, :], _GRID)[:, :, None, :], x_new)
        change = np.max(np.abs(after - estimates[:, None]), axis=1)
    sizes = moments[:, :1]
    chi = np.max((sizes * change)[kept], axis=0, initial=0.0)
    scales = chi * len(x_new) / (epsilon * np.maximum(sizes, 1))
    estimates[~kept] = scales[~kept] = np.nan
    return Observed(estimates, scales, kept)


def draw(observed: Observed, trials: int, generator) -> np.ndarray:
    """Draw noisy predictions on the unit square, (G, trials, q)."""
    cells, points = observed.estimates.shape
    noise = generator.laplace(size=(cells, trials, points))
    return observed.estimates[:, None] + observed.scales[:, None] * noise


def _unit(line: Line, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scale x and y of a cell to the unit square."""
    return (X[:, line.column] - line.low) / line.width, (y - line.y_low) / line.y_width


def _kept(xs: list[np.ndarray]) -> np.ndarray:
    """Mark cells with enough people, and enough of them on both sides of the median."""
    median = np.median(np.concatenate(xs)) if sum(map(len, xs)) else np.nan

    def enough(x: np.ndarray) -> bool:
        minimum = max(_MIN_PROPORTION * len(x), 1)
        return len(x) >= _MIN_PEOPLE and (x < median).sum() >= minimum <= (x > median).sum()

    return np.array([enough(x) for x in xs], dtype=bool)


def _moments(x: np.ndarray, y: np.ndarray) -> list[float]:
    """Compute n, means, and centred sums of x^2 and xy."""
    if not len(x):
        return [0.0, np.nan, np.nan, 0.0, 0.0]
    u, v = x - x.mean(), y - y.mean()
    return [len(x), x.mean(), y.mean(), u @ u, u @ v]


def _added(moments: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Update moments (G, 1, 5) by each of the points (P, 2), added alone: (G, P, 5)."""
    n, x, y, xx, xy = np.moveaxis(moments, -1, 0)
    u, v = points[:, 0] - x, points[:, 1] - y
    weight = n / (n + 1)
    updated = (
        n + 1 + 0 * u,
        x + u / (n + 1),
        y + v / (n + 1),
        xx + weight * u**2,
        xy + weight * u * v,
    )
    return np.stack(updated, axis=-1)


def _predict(moments: np.ndarray, x_new: np.ndarray) -> np.ndarray:
    """Predict by OLS at x_new (q,) from moments (..., 5) that broadcast against it."""
    _, x, y, xx, xy = np.moveaxis(moments, -1, 0)
    return y + xy / xx * (x_new - x)
