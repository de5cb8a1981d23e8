"""How often nominal 95% intervals hold the truth, how wide they are, and the size of tests."""

import argparse
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain, product

import numpy as np
from scipy.stats import beta, norm

from benchmarks.tools import checked, print_table, released
from dpstats.call import Prepared
from dpstats.estimators.contract import InMemory, Repeated
from dpstats.evidence import Stack
from dpstats.numerics import Rows
from dpstats.testing import insecure_seed

EPSILONS = (0.5, 1.0, 4.0, 16.0)
SIZES = (200, 1000, 10**4, 10**5)
LINE = 0.3, 0.4
PLAIN, ROBUST = {}, {"cov_type": "HC1"}
# Laws of the regressors (n, d), and of the errors given the first regressor.
SPREADS = {
    "wide": lambda rng, size: rng.uniform(0, 1, size),
    "narrow": lambda rng, size: rng.normal(0.5, 0.1, size),
    "correlated": lambda rng, size: (
        0.1 * rng.uniform(0, 1, size) + 0.9 * rng.uniform(0, 1, (size[0], 1))
    ),
}
ERRORS = {
    "normal": lambda rng, x: rng.normal(0, 0.1, len(x)),
    "heavy-tailed": lambda rng, x: 0.1 / np.sqrt(3) * rng.standard_t(3, len(x)),
    "heteroscedastic": lambda rng, x: rng.normal(0, 0.05 + 0.1 * x),
    "clipped": lambda rng, x: rng.normal(0, 0.3, len(x)),
}
# Large tables are made fewer times, so that a study of all takes about half an hour.
_MOST_ROWS = 2 * 10**7
# How far regressors reach beyond their bounds where rows are clipped.
_STRETCHED = 1.4


@dataclass(frozen=True)
class Cell:
    """One method on one law of rows, at several epsilons and under several sets of options."""

    method: str
    n: int
    spread: str = "wide"
    errors: str = "normal"
    d: int = 1
    epsilons: tuple[float, ...] = EPSILONS
    variants: tuple[dict, ...] = field(default=(PLAIN,), hash=False)
    companion: str | None = None


CELLS = (
    *(
        Cell(method, n, spread, errors, d, variants=(PLAIN, ROBUST))
        for method, ds in (("noisy_moments", (1,)), ("adassp", (1, 5, 10)))
        for spread, errors, d, n in product(("wide", "narrow"), ERRORS, ds, SIZES)
    ),
    *(
        Cell(method, n, spread, d=d)
        for method, spread, d, n in product(("ssp", "shrunken"), ("wide", "narrow"), (1, 5), SIZES)
    ),
    *(
        Cell(method, n, "correlated", d=3)
        for method in ("adassp", "ssp", "shrunken")
        for n in SIZES
    ),
    *(Cell("exp_theil_sen", 200, spread, variants=({"ci": True},)) for spread in SPREADS),
    Cell("exp_theil_sen", 1000, variants=({"ci": True, "k": 10},)),
    *(Cell("tukey", n, epsilons=(1.0, 4.0), variants=({"ci": True},)) for n in (10**4, 3 * 10**4)),
    Cell("noisy_stats", 1000, companion="noisy_moments"),
)


def draw(cell: Cell, rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    """n rows (X, y) with an intercept, clipped to [0, 1]."""
    x = SPREADS[cell.spread](rng, (n, cell.d))
    if cell.errors == "clipped":
        x = 0.5 + _STRETCHED * (x - 0.5)
    y = LINE[0] + LINE[1] / cell.d * x.sum(axis=1) + ERRORS[cell.errors](rng, x[:, 0])
    return np.column_stack([np.ones(n), np.clip(x, 0, 1)]), np.clip(y, 0, 1)


@lru_cache
def truth(spread: str, errors: str, d: int) -> np.ndarray:
    """The line, or where errors reach the bounds least squares on 10^7 clipped rows."""
    if errors == "normal":
        return np.r_[LINE[0], np.full(d, LINE[1] / d)]
    rng, cell = np.random.default_rng(11), Cell("adassp", 0, spread, errors, d)
    gram, cross = np.zeros((d + 1, d + 1)), np.zeros(d + 1)
    for _ in range(50):
        X, y = draw(cell, rng, 200_000)
        gram, cross = gram + X.T @ X, cross + X.T @ y
    return np.linalg.solve(gram, cross)


@dataclass(frozen=True)
class Outcome:
    """What came out of one cell at one epsilon under one set of options, over R repetitions.

    ``covered`` and ``p_values`` (R, 3) are of the first slope, p25 and p75 at the truth;
    ``widths`` (R,) of the slope's interval, ``ols_covered`` (R, 3) of least squares.
    """

    cell: Cell
    epsilon: float
    options: dict
    covered: np.ndarray
    p_values: np.ndarray
    widths: np.ndarray
    ols_covered: np.ndarray
    ols_widths: np.ndarray

    @property
    def share(self) -> float:
        """Share of slope intervals that hold the truth, among them those without ends."""
        return float(self.covered[:, 0].mean())

    @property
    def bounded(self) -> np.ndarray:
        """Which slope intervals are shown, that is have ends, (R,)."""
        return np.isfinite(self.widths)

    @property
    def share_of_shown(self) -> float:
        """Share of the slope intervals with ends that hold the truth; NaN where there is none."""
        shown = self.covered[self.bounded, 0]
        return float(shown.mean()) if len(shown) else np.nan


def run(cell: Cell, repetitions: int, seed: int = 1) -> Iterator[Outcome]:
    """Fit the cell; the rows of a repetition are summarised once for all epsilons and options."""
    names = [f"x{j}" for j in range(cell.d)]
    rows = dict.fromkeys([*names, "y"], np.zeros(1))
    requests = [
        checked(
            f"y ~ {' + '.join(names)}", rows, method=cell.method, epsilon=epsilon,
            bounds=dict.fromkeys([*names, "y"], (0, 1)), companion=cell.companion, options=options,
        )
        for options, epsilon in product(cell.variants, cell.epsilons)
    ]  # fmt: skip
    first, rng = requests[0], np.random.default_rng(seed)
    problem = Prepared.of(first).problem
    ols, releases = [], [[] for _ in requests]
    with insecure_seed(seed):
        for _ in range(repetitions):
            X, y = draw(cell, rng, cell.n)
            ols.append(_ols(X, y))
            table = Repeated(InMemory(Rows(X, y)))
            for request, own in zip(requests, releases, strict=True):
                own.append(released(request, problem, table))
    kinds = product(cell.variants, cell.epsilons)
    for (options, epsilon), own in zip(kinds, releases, strict=True):
        yield _outcome(cell, epsilon, options, ols, own)


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


def _outcome(cell: Cell, epsilon: float, options: dict, ols, releases) -> Outcome:
    rows = _quantities(cell.d)
    values = rows @ truth(cell.spread, cell.errors, cell.d)
    known = [release for release in releases if _has_intervals(release)]
    inference = Stack.of(known, cell.d + 1).uncertainty()
    ends = inference.intervals(rows, 0.05)
    estimate, half = np.moveaxis(ols, 1, 0)
    return Outcome(
        cell,
        epsilon,
        options,
        covered=(ends[..., 0] <= values) & (values <= ends[..., 1]),
        p_values=inference.p_values(rows, values),
        widths=ends[:, 0, 1] - ends[:, 0, 0],
        ols_covered=np.abs(estimate - values) <= half,
        ols_widths=2 * half[:, 0],
    )


def _has_intervals(release) -> bool:
    """Whether there are intervals, maybe without ends: a shrunken fit has those of another."""
    if release.companion is not None:
        return True
    return release.status == "ok" and (not release.limited or release.cov is not None)


def clopper_pearson(hits: int, trials: int, level: float = 0.999) -> tuple[float, float]:
    """The interval of a probability that was seen ``hits`` times.

    >>> [round(end, 3) for end in clopper_pearson(950, 1000)]
    [0.922, 0.97]
    """
    tail = (1 - level) / 2
    low = beta.ppf(tail, hits, trials - hits + 1) if hits else 0.0
    high = beta.ppf(1 - tail, hits + 1, trials - hits) if hits < trials else 1.0
    return float(low), float(high)


VERDICTS = ["holds", "short, as OLS", "SHORT"]


def verdict(covered: np.ndarray, ols: np.ndarray) -> str:
    """Whether 95% lies in the interval of the coverage or below it, for a column (R,)."""
    if clopper_pearson(int(covered.sum()), len(covered))[1] >= 0.95:
        return "holds"
    too = clopper_pearson(int(ols.sum()), len(ols))[1] < 0.95
    return "short, as OLS" if too else "SHORT"


def figures(outcome: Outcome) -> tuple:
    """One line of the table."""
    cell, covered, ols = outcome.cell, outcome.covered, outcome.ols_covered
    place = cell.spread, cell.errors, cell.n, cell.d, f"{outcome.epsilon:g}", len(covered)
    if not len(covered):
        return (*place, *["-"] * (len(HEADER) - len(place)))
    low, high = clopper_pearson(int(covered[:, 0].sum()), len(covered))
    shown = int(outcome.bounded.sum())
    ratio = np.median(outcome.widths) / np.median(outcome.ols_widths)
    sizes = np.mean(outcome.p_values[:, 0] < 0.05)
    return (
        *place,
        f"{outcome.share:.3f}",
        f"{low:.3f}..{high:.3f}",
        f"{covered[:, 1].mean():.3f} {covered[:, 2].mean():.3f}",
        f"{ols[:, 0].mean():.3f}",
        "inf" if np.isinf(ratio) else f"{ratio:.1f}",
        str(shown),
        f"{outcome.share_of_shown:.3f}" if shown else "-",
        _given_shown(outcome),
        "-" if np.isnan(outcome.p_values).all() else f"{sizes:.3f}",
        worst(outcome),
    )


def _given_shown(outcome: Outcome) -> str:
    """Whether the slope's intervals cover given that they have ends; "-" where none has."""
    if not outcome.bounded.any():
        return "-"
    return verdict(outcome.covered[outcome.bounded, 0], outcome.ols_covered[:, 0])


def worst(outcome: Outcome) -> str:
    """The worst verdict on the slope, p25 and p75; "-" where every fit failed."""
    pairs = zip(outcome.covered.T, outcome.ols_covered.T, strict=True)
    found = [verdict(covered, ols) for covered, ols in pairs if len(covered)]
    return max(found, key=VERDICTS.index, default="-")


HEADER = (
    "x", "errors", "n", "d", "epsilon", "fits", "slope", "99.9% interval", "p25   p75", "OLS slope",
    "width/OLS", "shown", "given shown", "95% of shown", "size at 5%", "95%",
)  # fmt: skip


def lines(cell: Cell, repetitions: int) -> list[tuple[str, tuple]]:
    """The lines of a cell, each with the title of its table."""
    found = []
    for outcome in run(cell, min(repetitions, max(_MOST_ROWS // cell.n, 1))):
        more = {**outcome.options, **({"companion": cell.companion} if cell.companion else {})}
        said = "".join(f", {name}={value!r}" for name, value in more.items())
        found.append((f"{cell.method}{said}", figures(outcome)))
    return found


def main(arguments: list[str]) -> None:
    """Print one table a method and set of options, with one line a cell and epsilon."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks coverage", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=1000, help="200 at most of 100,000 rows")
    parser.add_argument("--methods", nargs="+", help="by default all that have intervals")
    parser.add_argument("--sizes", nargs="+", type=int, help="by default 200 to 100,000 rows")
    parser.add_argument("--jobs", type=int, help="by default one a processor")
    options = parser.parse_args(arguments)
    cells = [
        cell
        for cell in CELLS
        if cell.method in (options.methods or [cell.method])
        and cell.n in (options.sizes or [cell.n])
    ]
    tables: dict[str, list[tuple]] = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        each = partial(lines, repetitions=options.repetitions)
        for title, line in chain.from_iterable(pool.map(each, cells, chunksize=len(SIZES))):
            tables.setdefault(title, []).append(line)
    for title, rows in tables.items():
        title = f"coverage of nominal 95% intervals of {title}"
        print_table(title, HEADER, rows)
    counts = [_counted(title, rows) for title, rows in tables.items()]
    print_table("of these lines", ("", "lines", "of finite width", *VERDICTS), counts)
    print(_LEGEND)


def _counted(title: str, rows: list[tuple]) -> tuple:
    """How many lines a table has, of these with bounded intervals, and of each verdict."""
    finite = sum(row[HEADER.index("width/OLS")] not in ("inf", "-") for row in rows)
    verdicts = (sum(row[-1] == verdict for row in rows) for verdict in VERDICTS)
    return title, len(rows), finite, *verdicts


_LEGEND = """\
slope, p25, p75: shares of intervals that hold the truth; 99.9% interval: Clopper-Pearson, of the
slope's share; truth: the line, or where rows are clipped the least-squares line of the clipped
population; width: median, over that of OLS; failed fits are left out; shown: fits whose slope has
an interval with ends, and the share of these that hold the truth; size: share of p-values below
0.05 at the truth; 95%: whether it lies below the upper end for slope, p25 and p75, and if not
whether OLS falls short as well"""
