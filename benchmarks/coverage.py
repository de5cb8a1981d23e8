"""How often nominal 95% intervals hold the truth, how wide they are, and the size of tests."""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from scipy.stats import beta, norm

from benchmarks.tools import checked, print_table, released
from dpstats.inference import stacked, uncertainty
from dpstats.mechanisms.spec import over
from dpstats.testing import insecure_seed

EPSILONS = (0.5, 1.0, 4.0, 16.0)
LINE = 0.3, 0.4


@dataclass(frozen=True)
class Shape:
    """A law of rows on [0, 1]: regressors (n, d) and errors given the first regressor."""

    name: str
    regressors: Callable
    errors: Callable
    projected: bool = False


def _normal(sd):
    return lambda rng, x: rng.normal(0, sd, len(x))


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("wide x", lambda rng, size: rng.uniform(0, 1, size), _normal(0.1)),
        Shape("narrow x", lambda rng, size: rng.normal(0.5, 0.1, size), _normal(0.1)),
        Shape(
            "heavy-tailed errors",
            lambda rng, size: rng.uniform(0, 1, size),
            lambda rng, x: 0.1 / np.sqrt(3) * rng.standard_t(3, len(x)),
            projected=True,
        ),
        Shape(
            "heteroscedastic errors",
            lambda rng, size: rng.uniform(0, 1, size),
            lambda rng, x: rng.normal(0, 0.05 + 0.1 * x),
        ),
        Shape(
            "clipped rows",
            lambda rng, size: rng.normal(0.5, 0.35, size),
            _normal(0.3),
            projected=True,
        ),
    )
}


@dataclass(frozen=True)
class Cell:
    """One method on one law of rows, at several epsilons."""

    method: str
    shape: str
    n: int
    d: int = 1
    epsilons: tuple[float, ...] = EPSILONS
    options: dict = field(default_factory=dict, hash=False)


CELLS = (
    *(Cell("noisy_moments", shape, n) for shape in SHAPES for n in (200, 1000, 10**4, 10**5)),
    *(Cell("adassp", "wide x", n) for n in (200, 1000, 10**4, 10**5)),
    *(Cell("adassp", shape, 10**4) for shape in SHAPES if shape != "wide x"),
    *(Cell("adassp", "wide x", n, d) for d, n in ((5, 10**4), (10, 10**4), (10, 10**5))),
    *(Cell("exp_theil_sen", s, 200, options={"ci": True}) for s in ("wide x", "narrow x")),
    Cell("exp_theil_sen", "wide x", 1000, options={"ci": True, "k": 10}),
    Cell("tukey", "wide x", 10**4, epsilons=(1.0, 4.0), options={"ci": True}),
)


def robust(cell: Cell) -> Cell:
    """The same with standard errors for errors of different variances."""
    return replace(cell, options={**cell.options, "cov_type": "HC1"})


def draw(cell: Cell, rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    """n rows (X, y) with an intercept, clipped to [0, 1]."""
    shape = SHAPES[cell.shape]
    x = shape.regressors(rng, (n, cell.d))
    y = LINE[0] + LINE[1] / cell.d * x.sum(axis=1) + shape.errors(rng, x[:, 0])
    return np.column_stack([np.ones(n), np.clip(x, 0, 1)]), np.clip(y, 0, 1)


@lru_cache
def truth(shape: str, d: int) -> np.ndarray:
    """The coefficients; where rows are clipped those of least squares on 2 * 10^7 clipped rows."""
    if not SHAPES[shape].projected:
        return np.r_[LINE[0], np.full(d, LINE[1] / d)]
    rng, cell = np.random.default_rng(11), Cell("adassp", shape, 0, d)
    gram, cross = np.zeros((d + 1, d + 1)), np.zeros(d + 1)
    for _ in range(100):
        X, y = draw(cell, rng, 200_000)
        gram, cross = gram + X.T @ X, cross + X.T @ y
    return np.linalg.solve(gram, cross)


@dataclass(frozen=True)
class Outcome:
    """What came out of one cell at one epsilon, over the repetitions R.

    ``covered`` and ``p_values`` (R, 3) are of the first slope, p25 and p75 at the truth;
    ``widths`` (R,) of the slope's interval, ``ols_covered`` (R, 3) of least squares.
    """

    cell: Cell
    epsilon: float
    covered: np.ndarray
    p_values: np.ndarray
    widths: np.ndarray
    ols_covered: np.ndarray
    ols_widths: np.ndarray

    @property
    def share(self) -> float:
        """Share of slope intervals that hold the truth."""
        return float(self.covered[:, 0].mean())


def run(cell: Cell, repetitions: int, seed: int = 1) -> Iterator[Outcome]:
    """Fit the cell; the rows of a repetition are summarised once for all epsilons."""
    names = [f"x{j}" for j in range(cell.d)]
    rows = dict.fromkeys([*names, "y"], np.zeros(1))
    requests = {
        epsilon: checked(
            f"y ~ {' + '.join(names)}", rows, method=cell.method, epsilon=epsilon,
            bounds=dict.fromkeys([*names, "y"], (0, 1)), options=cell.options,
        )
        for epsilon in cell.epsilons
    }  # fmt: skip
    first = requests[cell.epsilons[0]]
    problem, rng = first.problem(first.design()), np.random.default_rng(seed)
    releases, ols = {epsilon: [] for epsilon in requests}, []
    with insecure_seed(seed):
        for _ in range(repetitions):
            X, y = draw(cell, rng, cell.n)
            ols.append(_ols(X, y))
            summary = first.method.summarise(X, y, problem)
            for epsilon, request in requests.items():
                releases[epsilon].append(released(request, problem, summary, over(X, y)))
    yield from (_outcome(cell, e, ols, of_e) for e, of_e in releases.items())


def _quantities(d: int) -> np.ndarray:
    """The first slope, and the predictions with all regressors at 1/4 and at 3/4."""
    return np.array([np.eye(d + 1)[1], np.r_[1, np.full(d, 0.25)], np.r_[1, np.full(d, 0.75)]])


def _ols(X, y) -> np.ndarray:
    """Estimates and half-widths of least squares for the three quantities, (2, 3)."""
    rows, gram = _quantities(X.shape[1] - 1), np.linalg.inv(X.T @ X)
    params = gram @ (X.T @ y)
    variance = np.sum((y - X @ params) ** 2) / (len(y) - len(params))
    half = norm.isf(0.025) * np.sqrt(variance * np.einsum("qs,st,qt->q", rows, gram, rows))
    return np.array([rows @ params, half])


def _outcome(cell: Cell, epsilon: float, ols, releases) -> Outcome:
    rows = _quantities(cell.d)
    values = rows @ truth(cell.shape, cell.d)
    known = [release for release in releases if release.status == "ok"]
    inference = uncertainty(stacked(known, cell.d + 1))
    ends = inference.intervals(rows, 0.05)
    estimate, half = np.moveaxis(ols, 1, 0)
    return Outcome(
        cell,
        epsilon,
        covered=(ends[..., 0] <= values) & (values <= ends[..., 1]),
        p_values=inference.p_values(rows, values),
        widths=ends[:, 0, 1] - ends[:, 0, 0],
        ols_covered=np.abs(estimate - values) <= half,
        ols_widths=2 * half[:, 0],
    )


def clopper_pearson(hits: int, trials: int, level: float = 0.999) -> tuple[float, float]:
    """The interval of a probability that was seen ``hits`` times.

    >>> [round(end, 3) for end in clopper_pearson(950, 1000)]
    [0.922, 0.97]
    """
    tail = (1 - level) / 2
    low = beta.ppf(tail, hits, trials - hits + 1) if hits else 0.0
    high = beta.ppf(1 - tail, hits + 1, trials - hits) if hits < trials else 1.0
    return float(low), float(high)


def verdict(covered: np.ndarray, ols: np.ndarray) -> str:
    """Whether 95% lies in the interval of the coverage or below it, for a column (R,)."""
    if clopper_pearson(int(covered.sum()), len(covered))[1] >= 0.95:
        return "holds"
    too = clopper_pearson(int(ols.sum()), len(ols))[1] < 0.95
    return "short, as OLS" if too else "SHORT"


def figures(outcome: Outcome) -> tuple:
    """One line of the table."""
    cell, covered, ols = outcome.cell, outcome.covered, outcome.ols_covered
    place = cell.shape, cell.n, cell.d, f"{outcome.epsilon:g}"
    if not len(covered):
        return (*place, *["-"] * 8)
    low, high = clopper_pearson(int(covered[:, 0].sum()), len(covered))
    bounded = np.isfinite(outcome.widths)
    ratio = np.median(outcome.widths) / np.median(outcome.ols_widths)
    sizes = np.mean(outcome.p_values[:, 0] < 0.05)
    verdicts = [verdict(covered[:, j], ols[:, j]) for j in range(3)]
    return (
        *place,
        f"{outcome.share:.3f}",
        f"{low:.3f}..{high:.3f}",
        f"{covered[:, 1].mean():.3f} {covered[:, 2].mean():.3f}",
        f"{ols[:, 0].mean():.3f}",
        "inf" if np.isinf(ratio) else f"{ratio:.1f}",
        f"{1 - bounded.mean():.3f}",
        "-" if np.isnan(outcome.p_values).all() else f"{sizes:.3f}",
        max(verdicts, key=["holds", "short, as OLS", "SHORT"].index),
    )


HEADER = (
    "rows", "n", "d", "epsilon", "slope", "99.9% interval", "p25   p75", "OLS slope",
    "width/OLS", "unbounded", "size at 5%", "95%",
)  # fmt: skip


def main(arguments: list[str]) -> None:
    """Print one table a method, with one line a cell and epsilon."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks coverage", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--methods", nargs="+", help="by default all that have intervals")
    options = parser.parse_args(arguments)
    repetitions = options.repetitions
    for method in options.methods or dict.fromkeys(cell.method for cell in CELLS):
        cells = [cell for cell in CELLS if cell.method == method]
        lines = [figures(outcome) for cell in cells for outcome in run(cell, repetitions)]
        title = f"coverage of nominal 95% intervals of {method}, {repetitions} repetitions a line"
        print_table(title, HEADER, lines)
    print(_LEGEND)


_LEGEND = """\
slope, p25, p75: shares of intervals that hold the truth; 99.9% interval: Clopper-Pearson, of the
slope's share; truth: the line, or where rows are clipped the least-squares line of the clipped
population; width: median, over that of OLS; failed fits are left out; size: share of p-values
below 0.05 at the truth; 95%: whether it lies below the upper end for slope, p25 and p75, and if
not whether OLS falls short as well"""
