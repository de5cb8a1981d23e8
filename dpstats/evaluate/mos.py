"""Maximum Observed Sensitivity, the disclosure limitation of the Opportunity Atlas: NOT private."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError
from dpstats.evaluate.public_rows import Cells
from dpstats.evaluate.references import not_private
from dpstats.mechanisms.shared import Line
from dpstats.privacy import validate_guarantee

# Where a point is added to a cell: an 11 x 11 grid on the unit square.
_GRID = np.stack(np.meshgrid(np.linspace(0, 1, 11), np.linspace(0, 1, 11)), -1).reshape(-1, 2)
# A cell is left out with fewer people, or a smaller share on either side of the median.
_FEWEST, _LEAST_SHARE = 20, 0.1


@dataclass(frozen=True)
class Observed:
    """What the heuristic computes from all cells before any noise, not private.

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
    """Predictions by the Opportunity Atlas' heuristic, for comparison on public data.

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
        Must be True: the declaration that the rows are public or made up.

    Returns
    -------
    pandas.DataFrame
        Tidy, one row a cell and point; columns: the name in ``by``, ``term``, ``estimate``,
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
    call = {"by": by, "bounds": bounds, "levels": None, "x_new": x_new, "public": public}
    cells = Cells.read("mos", formula, data, **call)
    observed = observe(cells, epsilon)
    values = Line.of(cells.problem).values(draw(observed, 1, np.random.default_rng(seed))[:, 0])
    columns = {"estimate": values, "scale": observed.scales * Line.of(cells.problem).y_width}
    frame = cells.tidy(by, "term", cells.points, columns)
    status = np.where(observed.kept, "ok", "suppressed").repeat(len(cells.points))
    return frame.assign(status=status, method=not_private("mos"))


def observe(cells: Cells, epsilon: float) -> Observed:
    """Estimates, noise scales and suppression of all cells of one state."""
    if cells.problem.intercept is None or len(cells.names) != 2 or not cells.points:
        raise ArgumentError(
            "mos fits an intercept and one numeric column and needs x_new, got the columns "
            f"{', '.join(cells.names)} and {len(cells.points)} points"
        )
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
    """Noisy predictions on the unit square, (G, trials, q)."""
    cells, points = observed.estimates.shape
    noise = generator.laplace(size=(cells, trials, points))
    return observed.estimates[:, None] + observed.scales[:, None] * noise


def _unit(line: Line, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and y of a cell on the unit square."""
    return (X[:, line.column] - line.low) / line.width, (y - line.y_low) / line.y_width


def _kept(xs: list[np.ndarray]) -> np.ndarray:
    """Which cells have enough people, and enough of them on both sides of the median."""
    median = np.median(np.concatenate(xs)) if sum(map(len, xs)) else np.nan

    def enough(x: np.ndarray) -> bool:
        least = max(_LEAST_SHARE * len(x), 1)
        return len(x) >= _FEWEST and (x < median).sum() >= least <= (x > median).sum()

    return np.array([enough(x) for x in xs], dtype=bool)


def _moments(x: np.ndarray, y: np.ndarray) -> list[float]:
    """n, means, and centred sums of x^2 and xy."""
    if not len(x):
        return [0.0, np.nan, np.nan, 0.0, 0.0]
    u, v = x - x.mean(), y - y.mean()
    return [len(x), x.mean(), y.mean(), u @ u, u @ v]


def _added(moments: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Moments (G, P, 5) after one of the points (P, 2) is added to moments (G, 1, 5)."""
    n, x, y, xx, xy = np.moveaxis(moments, -1, 0)
    u, v = points[:, 0] - x, points[:, 1] - y
    weight = n / (n + 1)
    moved = (
        n + 1 + 0 * u,
        x + u / (n + 1),
        y + v / (n + 1),
        xx + weight * u**2,
        xy + weight * u * v,
    )
    return np.stack(moved, axis=-1)


def _predict(moments: np.ndarray, x_new: np.ndarray) -> np.ndarray:
    """OLS predictions at x_new (q,) from moments (..., 5) that broadcast against it."""
    _, x, y, xx, xy = np.moveaxis(moments, -1, 0)
    return y + xy / xx * (x_new - x)
