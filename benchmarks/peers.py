"""Regressions of other software under differential privacy, beside those of this package.

``make bench-peers`` runs it in an environment of its own, since diffprivlib needs an older
scikit-learn. Tables are those that dpstats, statsmodels and scikit-learn ship. Peers are told the
bounds of all columns, from the tables' public descriptions, and get columns that these bounds scale
to 0 to 1; what else they need is in ``PEERS``. Errors are distances from least squares, or from the
maximum of the likelihood, in its standard errors. ``--write`` puts the table into the pages that
show it. All seeds are fixed but OpenDP's noise, which takes none.
"""

import argparse
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf

import dpstats as dp
from benchmarks.autopage import markdown
from benchmarks.tailspage import cell
from benchmarks.tools import print_table

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "docs" / "coming-from.md", ROOT / "paper" / "paper.md")
BLOCK = re.compile(r"(?<=<!-- peers -->\n).*?(?=<!-- end of peers -->\n)", re.DOTALL)
EPSILONS = (1.0, 4.0)
HEADER = ("case", "rows", "epsilon", "software", "error", "worst", "shown", "held", "width")


@dataclass(frozen=True)
class Case:
    """A public table, its regression, and the bounds that its description states."""

    read: Callable[[], pd.DataFrame]
    y: str
    bounds: dict[str, tuple[float, float]]
    logit: bool = False

    @property
    def x(self) -> list[str]:
        """The regressors."""
        return [name for name in self.bounds if name != self.y]

    @property
    def formula(self) -> str:
        """The regression on all of them."""
        return f"{self.y} ~ {' + '.join(self.x)}"


def _upper_half() -> pd.DataFrame:
    """Say of the made-up children whether they are in the upper half as adults."""
    people = dp.datasets.oi_microdata()
    return people.assign(high=(people["kid_rank"] > 0.5).astype(int))


def _fair() -> pd.DataFrame:
    """Read Fair's survey of marriages, with whether there were any affairs."""
    data: Any = sm.datasets.fair.load_pandas().data
    return data.assign(any=(data["affairs"] > 0).astype(int))


def _diabetes() -> pd.DataFrame:
    """Read the patients with diabetes, their columns scaled as scikit-learn ships them."""
    from sklearn import datasets

    frame: Any = datasets.load_diabetes(as_frame=True)["frame"]
    return frame


# Fair (1978) prints the codes of the survey's answers; scikit-learn prints ranges of diabetes.
_ANSWERS = {
    "age": (17.5, 42), "yrs_married": (0.5, 23), "children": (0, 5.5), "religious": (1, 4),
    "educ": (9, 20),
}  # fmt: skip
_WEATHER = {"temp": (0, 1), "hum": (0, 1), "windspeed": (0, 1), "workingday": (0, 1)}
CASES = {
    "ranks of parents": Case(
        dp.datasets.oi_microdata, "kid_rank", {"parent_rank": (0, 1), "kid_rank": (0, 1)}
    ),
    "bicycles by temperature": Case(dp.datasets.bike_hour, "cnt", {"temp": (0, 1), "cnt": (0, 1000)}),
    "bicycles by weather": Case(dp.datasets.bike_hour, "cnt", {**_WEATHER, "cnt": (0, 1000)}),
    "marriages": Case(_fair, "rate_marriage", {**_ANSWERS, "rate_marriage": (1, 5)}),
    "diabetes": Case(
        _diabetes, "target",
        {**dict.fromkeys(("bmi", "bp", "s5"), (-0.2, 0.2)), "target": (25, 346)},
    ),
    "upper half (logit)": Case(
        _upper_half, "high", {"parent_rank": (0, 1), "high": (0, 1)}, logit=True
    ),
    "affairs (logit)": Case(
        _fair, "any", {"rate_marriage": (1, 5), **_ANSWERS, "any": (0, 1)}, logit=True
    ),
}  # fmt: skip

# C of diffprivlib, whose default of 1 shrinks slopes, and OpenDP's grid for values of y: 100 are too
# coarse for 10,000 rows.
_PENALTY, _CANDIDATES = 100.0, 10_000
# Estimates of the slopes, and lower and upper ends of intervals if there are any.
Found = tuple[np.ndarray, np.ndarray | None]


def _ours(case: Case, frame: pd.DataFrame, epsilon: float, seed: int, **told) -> Found:
    """Fit by this package."""
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
    """Fit by this package under pure differential privacy, as the peers do; logits have no such."""
    if case.logit:
        return None
    return _ours(case, frame, epsilon, seed, bounds=case.bounds, delta=0)


def _scaled(case: Case, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scale columns to 0 to 1 by their bounds; with what turns slopes back."""
    low, high = np.array([case.bounds[name] for name in (*case.x, case.y)], dtype=float).T
    unit = ((frame[[*case.x, case.y]] - low) / (high - low)).clip(0, 1).to_numpy()
    return unit[:, :-1], unit[:, -1], (high - low)[-1] / (high - low)[:-1]


def diffprivlib(case: Case, frame: pd.DataFrame, epsilon: float, seed: int) -> Found:
    """Fit by diffprivlib; its logit is told the largest norm of a row and penalises slopes little."""
    from diffprivlib import models

    X, y, back = _scaled(case, frame)
    if case.logit:
        model: Any = models.LogisticRegression(
            epsilon=epsilon, data_norm=float(np.sqrt(X.shape[1])), C=_PENALTY, random_state=seed
        )
    else:
        model = models.LinearRegression(
            epsilon=epsilon, bounds_X=(0, 1), bounds_y=(0, 1), random_state=seed
        )
    return np.ravel(model.fit(X, y).coef_) * back, None


def opendp(case: Case, frame: pd.DataFrame, epsilon: float, seed: int) -> Found | None:
    """Fit by OpenDP's Theil-Sen estimator, of one regressor, with candidates finer than its own."""
    import opendp.prelude as odp

    if case.logit or len(case.x) > 1:
        return None
    X, y, back = _scaled(case, frame)
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


def measured(case: Case, frame: pd.DataFrame, fit: Callable, epsilon: float, fits: int):
    """Compare fits of one table with that without privacy; None where the software has no such."""
    reference: Any = (smf.logit(case.formula, frame).fit(disp=0) if case.logit
                      else smf.ols(case.formula, frame).fit())  # fmt: skip
    truth, error = reference.params[case.x].to_numpy(), reference.bse[case.x].to_numpy()
    found = [fit(case, frame, epsilon, seed) for seed in range(fits)]
    if found[0] is None:
        return None
    off = np.abs([slopes - truth for slopes, _ in found]) / error
    typical = np.nanmedian(off, axis=0)
    line = {"error": float(np.median(typical)), "worst": float(typical.max())}
    if found[0][1] is None:
        return line | {"shown": 0.0, "held": np.nan, "width": np.nan}
    ends = np.array([pair for _, pair in found])
    shown = np.isfinite(ends).all(axis=2)
    held = (ends[..., 0] <= truth) & (truth <= ends[..., 1]) & shown
    with np.errstate(invalid="ignore"):
        each = held.sum(axis=0) / shown.sum(axis=0)
        width = np.where(shown, ends[..., 1] - ends[..., 0], np.nan) / (2 * 1.959964 * error)
    return line | {
        "shown": shown.mean(),
        "held": float(np.nanmin(each)) if shown.any() else np.nan,
        "width": float(np.nanmedian(width)) if shown.any() else np.nan,
    }


def compared(fits: int, cases: dict[str, Case] = CASES) -> pd.DataFrame:
    """Compare all software on all tables: a row for each that can fit the regression."""
    lines = []
    for name, case in cases.items():
        frame = case.read()
        for epsilon in EPSILONS:
            for software, fit in PEERS.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of peers, about their own dependencies
                    found = measured(case, frame, fit, epsilon, fits)
                if found is not None:
                    place = {"case": name, "rows": len(frame), "slopes": len(case.x)}
                    lines.append(place | {"epsilon": epsilon, "software": software} | found)
    return pd.DataFrame(lines)


def block(found: pd.DataFrame, fits: int) -> str:
    """Write a line for each table and epsilon in Markdown: errors, and intervals held and shown."""
    keys = ["case", "rows", "slopes", "epsilon"]
    cells = found.assign(cell=[f"{row.error:.2g}, {cell(row.held, row.shown)}" if row.shown
                               else f"{row.error:.2g}" for row in found.itertuples()])  # fmt: skip
    wide = cells.pivot(index=keys, columns="software", values="cell").fillna("")
    wide = wide.reindex(dict.fromkeys(zip(*(found[key] for key in keys), strict=True)))
    wide = wide[list(PEERS)].reset_index()
    wide["rows"], wide["epsilon"] = wide["rows"].map("{:,}".format), wide["epsilon"].map("{:g}".format)
    used = ", ".join(f"{name} {version(name)}" for name in ("dpstats", "diffprivlib", "opendp"))
    return f"\n{markdown(wide)}\n\n{used}; {fits} fits a cell.\n\n"


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
    rows = [(*row[:2], *row[3:5], *(f"{value:.2f}" for value in row[5:]))
            for row in found.itertuples(index=False)]  # fmt: skip
    print_table(f"peers: {given.fits} fits each", HEADER, rows)
    if given.write:
        write(block(found, given.fits))
