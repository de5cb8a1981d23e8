"""Regressions with instruments of every strength, simulated with a known effect.

``python -m benchmarks iv`` prints, by the F statistic that the first stage has in the population,
how often the Anderson-Rubin set holds the effect and is bounded, the median of the released F
statistic, how often an interval is shown, how often such a one holds the effect, and the less
often held of the two other coefficients, and how long it is beside that of two-stage least squares
on the same rows, without the critical values that allow for weak instruments.
"""

import argparse

import numpy as np

import dpstats as dp
from benchmarks.tools import print_table

EFFECT, CONTROL = 0.5, 0.7
TRUTH = (0.0, CONTROL, EFFECT)
STRENGTHS = (2, 5, 10, 20, 30, 50, 100, 200)
HEADER = (
    "rows", "epsilon", "F", "errors", "AR held", "AR bounded", "F released", "shown", "held",
    "others", "width",
)  # fmt: skip


def table(
    generator, rows: int, strength: float, errors: str = "normal", endogeneity: float = 0.5
) -> dict[str, np.ndarray]:
    """Draw y = 0.5 d + 0.7 x + u, d = pi z + 0.3 x + v, u and v with a correlation.

    ``errors`` are normal, of a spread that grows with z, or heavy-tailed (t with 4 degrees).
    """
    z, x, u, w = generator.normal(size=(4, rows))
    if errors == "t4":
        u, w = generator.standard_t(4, size=(2, rows)) / np.sqrt(2)
    v = endogeneity * u + np.sqrt(1 - endogeneity**2) * w
    if errors == "spread":
        u, v = (part * np.exp(0.4 * z - 0.16) for part in (u, v))
    d = np.sqrt(strength / rows) * z + 0.3 * x + v
    return {"y": EFFECT * d + CONTROL * x + u, "d": d, "x": x, "z": z}


def standard_error(data: dict[str, np.ndarray]) -> float:
    """Compute the robust standard error of two-stage least squares on all rows."""
    ones = np.ones(len(data["y"]))
    Z, X = (np.column_stack([ones, data["x"], data[name]]) for name in ("z", "d"))
    coefficients = np.linalg.solve(Z.T @ X, Z.T @ data["y"])
    scores = Z * (data["y"] - X @ coefficients)[:, None]
    inverse = np.linalg.inv(Z.T @ X)
    return float(np.sqrt((inverse @ (scores.T @ scores) @ inverse.T)[2, 2]))


def cell(rows: int, epsilon: float, strength: float, errors: str, alike: float, fits: int) -> tuple:
    """Fit so many tables and count what their sets and intervals hold."""
    generator, found = np.random.default_rng(int(rows + 7 * strength)), []
    for seed in range(fits):
        data = table(generator, rows, strength, errors, alike)
        with dp.testing.insecure_seed(seed):
            fit = dp.dp_iv("y ~ x + [d ~ z]", data, epsilon=epsilon)
        low, high = fit.conf_int().to_numpy().T
        whole, held = fit.anderson_rubin(), (low <= TRUTH) & (high >= TRUTH)
        width = (high[2] - low[2]) / (2 * 1.96 * standard_error(data))
        found.append((EFFECT in whole, whole.is_bounded, fit.first_stage.fvalue, *held, width))
    sets, bounded, strengths, *held, widths = map(np.array, zip(*found, strict=True))
    shown = np.isfinite(widths)
    some = shown.any()
    return (
        rows, epsilon, strength, errors, sets.mean(), bounded.mean(), np.median(strengths),
        shown.mean(), held[2][shown].mean() if some else np.nan,
        min(one[shown].mean() for one in held[:2]) if some else np.nan,
        np.median(widths[shown]) if some else np.nan,
    )  # fmt: skip


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks iv", description=__doc__)
    parser.add_argument("--fits", type=int, default=400)
    parser.add_argument("--rows", type=int, nargs="*", default=[5000, 20_000])
    parser.add_argument("--epsilons", type=float, nargs="*", default=[1, 4])
    parser.add_argument("--errors", nargs="*", default=["normal", "spread", "t4"])
    parser.add_argument("--strengths", type=float, nargs="*", default=STRENGTHS)
    parser.add_argument("--endogeneity", type=float, default=0.5, help="correlation of the errors")
    given = parser.parse_args(arguments)
    cells = [
        cell(rows, epsilon, strength, errors, given.endogeneity, given.fits)
        for rows in given.rows
        for epsilon in given.epsilons
        for errors in given.errors
        for strength in given.strengths
    ]
    rows = [[f"{v:.3g}" if isinstance(v, float) else v for v in row] for row in cells]
    print_table("Instruments, by the F statistic in the population", HEADER, rows)
