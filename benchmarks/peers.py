"""Compare regressions of other software under differential privacy with those of this package.

``make bench-peers`` runs it in an environment of its own, as diffprivlib needs an older
scikit-learn. Peers are told the bounds of all columns, from the tables' public descriptions, and
get columns that these scale to 0 to 1. Errors are distances from least squares, or from the maximum
of the likelihood, in its standard errors. ``--write`` puts the table into the pages that show it.
Seeds are fixed but OpenDP's, whose noise takes none.
"""

import argparse
import re
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dpstats as dp
from benchmarks.autopage import markdown
from benchmarks.peer_tables import CASES, Case
from benchmarks.tools import print_table

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "docs" / "coming-from.md", ROOT / "paper" / "paper.md")
BLOCK = re.compile(r"(?<=<!-- peers -->\n).*?(?=<!-- end of peers -->\n)", re.DOTALL)
EPSILONS = (1.0, 4.0)
_NORMAL = 1.959964

# C of diffprivlib, whose default of 1 shrinks slopes, and OpenDP's grid for values of y, whose
# example of 100 values is too coarse for 10,000 rows.
_PENALTY, _CANDIDATES = 100.0, 10_000
# Estimates of the slopes, (p,), and their intervals, (p, 2), if there are any.
Found = tuple[np.ndarray, np.ndarray | None]


def _ours(case: Case, frame: pd.DataFrame, epsilon: float, seed: int, **told) -> Found:
    call = dp.dp_logit if case.logit else dp.dp_ols
    with dp.testing.insecure_seed(seed):
        fit = call(case.formula, frame, epsilon=epsilon, **told)
    return fit.params[case.x].to_numpy(), fit.conf_int().loc[case.x].to_numpy()


def without_bounds(case: Case, frame: pd.DataFrame, epsilon: float, seed: int) -> Found:
    """Fit by this package, which is told the formula and epsilon alone."""
    return _ours(case, frame, epsilon, seed)


def with_bounds(case: Case, frame: pd.DataFrame, epsilon: float, seed: int) -> Found:
    """Fit by this package, which is told bounds too."""
    return _ours(case, frame, epsilon, seed, bounds=case.bounds)


def without_delta(case: Case, frame: pd.DataFrame, epsilon: float, seed: int) -> Found | None:
    """Fit by this package with the guarantee of the others, which has no logit."""
    return None if case.logit else _ours(case, frame, epsilon, seed, bounds=case.bounds, delta=0)


def diffprivlib(case: Case, frame: pd.DataFrame, epsilon: float, seed: int) -> Found:
    """Fit by diffprivlib; its logit is told the largest norm of a row and penalises little."""
    from diffprivlib import models

    X, y, back = case.scaled(frame)
    if case.logit:
        norm = float(np.sqrt(X.shape[1]))
        model: Any = models.LogisticRegression(
            epsilon=epsilon, data_norm=norm, C=_PENALTY, random_state=seed
        )
    else:
        model = models.LinearRegression(
            epsilon=epsilon, bounds_X=(0, 1), bounds_y=(0, 1), random_state=seed
        )
    return np.ravel(model.fit(X, y).coef_) * back, None


def opendp(case: Case, frame: pd.DataFrame, epsilon: float, seed: int) -> Found | None:
    """Fit by OpenDP's Theil-Sen estimator, which has one regressor."""
    import opendp.prelude as odp

    if case.logit or len(case.x) > 1:
        return None
    X, y, back = case.scaled(frame)
    odp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
    np.random.seed(seed)  # noqa: NPY002, its pairs are shuffled by it
    model = odp.sklearn.linear_model.LinearRegression(
        odp.max_divergence(), x_bounds=[(0, 1)], y_bounds=(0, 1), scale=2 / epsilon,
        candidates_count=_CANDIDATES,
    )  # fmt: skip
    if not np.isclose(model.measurement.map(1), epsilon):
        raise ValueError(f"OpenDP spends {model.measurement.map(1):g} in place of {epsilon:g}")
    return np.ravel(model.fit(X, y).coef_) * back, None


PEERS = {
    "dpstats, no bounds": without_bounds,
    "dpstats": with_bounds,
    "dpstats, delta = 0": without_delta,
    "diffprivlib": diffprivlib,
    "OpenDP": opendp,
}


def measured(fits: Sequence[Found], truth: np.ndarray, error: np.ndarray) -> dict[str, float]:
    """Compare fits with the regression without privacy.

    Returns
    -------
    dict
        ``error``, the median of distances in standard errors; ``held``, the share of intervals
        that contain the estimate without privacy, of the slope with the least, ``shown`` that of
        intervals that are bounded, and ``width`` over that of the usual interval.
    """
    found = {"error": float(np.median(np.abs([slopes - truth for slopes, _ in fits]) / error))}
    ends = np.array([pair for _, pair in fits if pair is not None])
    if not len(ends):
        return found | dict.fromkeys(("held", "shown", "width"), np.nan)
    shown = np.isfinite(ends).all(axis=2)
    held = (ends[..., 0] <= truth) & (truth <= ends[..., 1]) & shown
    each = held.sum(axis=0) / np.maximum(shown.sum(axis=0), 1)
    width = (ends[..., 1] - ends[..., 0]) / (2 * _NORMAL * error)
    least = float(each[shown.any(axis=0)].min()) if shown.any() else np.nan
    return found | {"held": least, "shown": shown.mean(), "width": float(np.median(width))}


def compared(fits: int, cases: dict[str, Case] = CASES, peers=PEERS) -> pd.DataFrame:
    """Compare all software on all tables: a row for each that can fit the regression."""
    lines = []
    for name, case in cases.items():
        frame = case.read()
        truth, error = case.reference(frame)
        for epsilon in EPSILONS:
            for software, fit in peers.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of peers, about their own dependencies
                    own = [fit(case, frame, epsilon, seed) for seed in range(fits)]
                if own[0] is not None:
                    place = {"table": name, "rows": len(frame), "epsilon": epsilon}
                    lines.append(place | {"software": software} | measured(own, truth, error))
    return pd.DataFrame(lines)


def written(found: pd.DataFrame, note: str) -> str:
    """Return a table in Markdown, with a line for each table and epsilon, and a note below."""
    keys = ["table", "rows", "epsilon"]
    texts = [
        f"{row.error:.2g}" if np.isnan(row.shown) else f"{row.error:.2g} ({row.held:.2f})"
        for row in found.itertuples()
    ]
    wide = found.assign(text=texts).pivot(index=keys, columns="software", values="text")
    wide = wide.reindex(dict.fromkeys(zip(*(found[key] for key in keys), strict=True)))
    wide = wide[[name for name in PEERS if name in wide]].fillna("").reset_index()
    wide["rows"] = wide["rows"].map("{:,}".format)
    wide["epsilon"] = wide["epsilon"].map("{:g}".format)
    return f"\n{markdown(wide)}\n\n{note}\n\n"


def write(text: str, pages: tuple[Path, ...] = PAGES) -> None:
    """Put a table between the marks of each page."""
    for page in pages:
        old = page.read_text(encoding="utf-8")
        if not BLOCK.search(old):
            raise ValueError(f"{page} has no marks <!-- peers --> and <!-- end of peers -->")
        page.write_text(BLOCK.sub(lambda _: text, old), encoding="utf-8")


def main(arguments: list[str]) -> None:
    """Print the comparison, and write it to the pages if asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks peers", description=__doc__)
    parser.add_argument("--fits", type=int, default=50)
    parser.add_argument("--write", action="store_true", help="write the table to the pages")
    given = parser.parse_args(arguments)
    found = compared(given.fits)
    rows = [(*row[:4], *(f"{value:.2f}" for value in row[4:]))
            for row in found.itertuples(index=False)]  # fmt: skip
    print_table(f"peers: {given.fits} fits each", list(found.columns), rows)
    if given.write:
        used = ", ".join(f"{name} {version(name)}" for name in ("diffprivlib", "opendp"))
        write(written(found, f"{used}; {given.fits} fits each."))
