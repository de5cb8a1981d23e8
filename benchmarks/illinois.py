"""Privacy noise against sampling error on the simulated Illinois (Alabi et al. 2022, figure 6)."""

import argparse
import math

import numpy as np

import dpstats as dp
from benchmarks.tools import checked, print_table, released
from dpstats.evaluate import ols_reference

FORMULA = "kid_rank ~ parent_rank"
BOUNDS = {"kid_rank": (0, 1), "parent_rank": (0, 1)}
RUNS = (
    ("exp_theil_sen", 16, "16 for p25 and p75 together"),
    ("exp_theil_sen", 32, "16 for each of them, as in the paper's code"),
    ("noisy_stats", 16, "16 for both, from one release"),
)


def sampled_tracts(count: int, seed: int):
    """People of ``count`` tracts drawn at random from one simulated Illinois of 3,108."""
    people = dp.simulate.atlas(seed=seed)
    chosen = np.random.default_rng(seed).choice(people["tract"].max(), count, replace=False) + 1
    return people[people["tract"].isin(chosen)]


def error_ratios(people, method: str, epsilon: float, draws: int) -> np.ndarray:
    """C-hat(68) of p25 over its standard error (equation 3), one ratio a tract.

    C-hat(68) is the smallest c with |private - OLS| <= c in 68% of the draws on the same
    rows; a draw that fails counts as infinitely far off.
    """
    reference = ols_reference(FORMULA, people, by="tract", bounds=BOUNDS, public=True)
    at_p25 = reference[reference["term"] == "p25"].set_index("tract")
    request = checked(FORMULA, people, method=method, epsilon=epsilon, bounds=BOUNDS)
    design = request.design()
    problem, place = request.problem(design), request.point_labels().index("p25")
    ratios = []
    for tract, rows in people.groupby("tract"):
        X, y = design.rows({name: rows[name].to_numpy() for name in BOUNDS})
        summary = request.method.summarise(X, y, problem)
        private = [released(request, problem, summary).predictions[place] for _ in range(draws)]
        errors = np.abs(np.array(private) - at_p25.loc[tract, "estimate"])
        c68 = np.sort(np.where(np.isnan(errors), np.inf, errors))[math.ceil(0.68 * draws) - 1]
        ratios.append(c68 / at_p25.loc[tract, "std_error"])
    return np.array(ratios)


def main(arguments: list[str]) -> None:
    """Print the share of tracts with less noise than sampling error, and quartiles."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks illinois", description=__doc__)
    parser.add_argument("--tracts", default="300", help='a number, or "all" (3,108)')
    parser.add_argument("--draws", type=int, default=25, help="releases a tract")
    parser.add_argument("--seed", type=int, default=1, help="of data, sample and noise")
    options = parser.parse_args(arguments)
    count = 3108 if options.tracts == "all" else int(options.tracts)
    people = sampled_tracts(count, options.seed)
    rows = []
    for method, epsilon, convention in RUNS:
        with dp.testing.insecure_seed(options.seed):
            ratios = error_ratios(people, method, epsilon, options.draws)
        quartiles = (f"{q:.2f}" for q in np.quantile(ratios, (0.25, 0.5, 0.75)))
        rows.append((method, convention, f"{np.mean(ratios < 1):.0%}", *quartiles))
    print_table(
        f"illinois: C-hat(68) of p25 over the standard error of OLS; {count} of 3,108 simulated "
        f"tracts at random,\n{options.draws} draws each",
        ("method", "epsilon", "tracts below 1", "25%", "median", "75%"),
        rows,
    )
