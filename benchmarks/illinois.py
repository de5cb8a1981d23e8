"""Privacy noise against sampling error on the simulated Illinois (Alabi et al. 2022, figure 6)."""

import argparse

import numpy as np

import dpstats as dp
from benchmarks.tools import print_table, timed
from dpstats.evaluate import error_bounds

FORMULA = "kid_rank ~ parent_rank"
BOUNDS = {"kid_rank": (0, 1), "parent_rank": (0, 1)}
RUNS = (
    ("exp_theil_sen", 16, "16 for p25 and p75 together"),
    ("exp_theil_sen", 32, "16 for each of them, as in the paper's code"),
    ("wide_theil_sen", 16, "16 for p25 and p75 together"),
    ("noisy_moments", 16, "16 for both, from one release"),
    ("noisy_stats", 16, "16 for both, from one release"),
)


def sampled_tracts(count: int, seed: int):
    """People of ``count`` tracts drawn at random from one simulated Illinois of 3,108."""
    people = dp.simulate.atlas(seed=seed)
    chosen = np.random.default_rng(seed).choice(people["tract"].max(), count, replace=False) + 1
    return people[people["tract"].isin(chosen)]


def error_ratios(people, method: str, epsilon: float, draws: int, seed: int) -> np.ndarray:
    """C-hat(68) of p25 over its standard error (equation 3), one ratio a tract."""
    table = error_bounds(
        FORMULA, people, methods=[method], epsilon=epsilon, by="tract", bounds=BOUNDS,
        trials=draws, seed=seed, progress=False, public=True,
    )  # fmt: skip
    return table.loc[table["point"] == "p25", "ratio"].to_numpy()


def compared(people, method: str, epsilon: float, draws: int, seed: int) -> list[str]:
    """Cells of a row: share of the tracts with a ratio below 1, quartiles, and what it took."""
    found: list[np.ndarray] = []
    cost = timed(lambda: found.append(error_ratios(people, method, epsilon, draws, seed)))
    quartiles = np.quantile(found[0], (0.25, 0.5, 0.75))
    shares = f"{np.mean(found[0] < 1):.0%}", *(f"{q:.2f}" for q in quartiles)
    return [*shares, *(f"{cost[name]:.0f}" for name in ("wall", "processor", "added"))]


def main(arguments: list[str]) -> None:
    """Print the share of tracts with less noise than sampling error, quartiles and the cost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks illinois", description=__doc__)
    parser.add_argument("--tracts", default="all", help='a number, or "all" (3,108)')
    parser.add_argument("--draws", type=int, default=100, help="releases a tract")
    parser.add_argument("--seed", type=int, default=1, help="of data, sample and noise")
    options = parser.parse_args(arguments)
    count = 3108 if options.tracts == "all" else int(options.tracts)
    people = sampled_tracts(count, options.seed)
    print_table(
        f"illinois: C-hat(68) of p25 over the standard error of OLS; {count} of 3,108 simulated "
        f"tracts at random,\n{options.draws} draws each",
        ("method", "epsilon", "tracts below 1", "25%", "median", "75%",
         "wall s", "processor s", "MB added"),
        [(method, convention, *compared(people, method, epsilon, options.draws, options.seed))
         for method, epsilon, convention in RUNS],
    )  # fmt: skip
