"""Privacy noise against sampling error on the simulated Illinois (Alabi et al. 2022, figure 6)."""

import argparse

import numpy as np

import dpstats as dp
from benchmarks.tools import print_table, timed
from dpstats.evaluate import error_bounds, overview

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


def error_bounds_of_p25(people, method: str, epsilon: float, draws: int, seed: int):
    """Compute C-hat(68) of p25 over its standard error (equation 3), a row per tract."""
    table = error_bounds(
        FORMULA, people, methods=[method], epsilon=epsilon, by="tract", bounds=BOUNDS,
        trials=draws, seed=seed, progress=False, public=True,
    )  # fmt: skip
    return table[table["point"] == "p25"]


def compared(people, method: str, epsilon: float, draws: int, seed: int) -> list[str]:
    """Write the cells of a row: tracts with a ratio of at most 1, quartiles, time and memory."""
    tables = []
    cost = timed(lambda: tables.append(error_bounds_of_p25(people, method, epsilon, draws, seed)))
    (table,) = tables
    (within,) = overview(table)["within"]
    quartiles = table["ratio"].quantile([0.25, 0.5, 0.75])
    return [
        f"{within:.0%}",
        *(f"{q:.2f}" for q in quartiles),
        *(f"{cost[name]:.0f}" for name in ("wall", "processor", "added")),
    ]


def main(arguments: list[str]) -> None:
    """Print how many tracts have less noise than sampling error, quartiles and the cost."""
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
