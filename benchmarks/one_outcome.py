"""Count intervals of logits that miss where a level has one outcome, or nearly.

``python -m benchmarks one_outcome`` draws a level in some share of the rows that adds so many log
odds to 1.2 x - 1, and fits it as a factor and as a 0/1 number. With a large effect all rows of the
level have outcome 1 in most tables, and its coefficient is infinite. An interval misses that holds
neither the maximum of the likelihood nor the effect that was drawn. Counts are over 2 sizes of
tables, 2 epsilons and ``--tables`` tables each.
"""

import argparse
from itertools import product

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from statsmodels.tools.sm_exceptions import PerfectSeparationError

import dpstats as dp
from benchmarks.tools import print_table

SHARES, EFFECTS = (0.02, 0.05, 0.2, 0.5), (2.0, 4.0, 6.0, 12.0)
ROWS, EPSILONS = (3000, 20000), (1.0, 4.0)
_CRITICAL = 1.959964


def drawn(share: float, effect: float, rows: int, seed: int) -> pd.DataFrame:
    """Draw a table of y, x, a 0/1 number z and the same as a factor g."""
    rng = np.random.default_rng(seed)
    x, level = rng.normal(size=rows), rng.random(rows) < share
    chance = 1 / (1 + np.exp(1 - effect * level - 1.2 * x))
    factor = pd.Categorical(np.where(level, "b", "a"), categories=["a", "b"])
    return pd.DataFrame({"y": rng.random(rows) < chance, "x": x, "z": level * 1.0, "g": factor})


def maximum(table: pd.DataFrame) -> float:
    """Return the level's coefficient of most likelihood, infinite where there is none."""
    inside = table.loc[table["z"] == 1, "y"]
    if inside.all() or not inside.any():
        return np.inf
    try:
        return smf.logit("y ~ x + z", table.assign(y=table["y"] * 1.0)).fit(disp=0).params["z"]
    except PerfectSeparationError:
        return np.inf


def missed(table: pd.DataFrame, kind: str, epsilon: float, seed: int, values) -> bool | None:
    """Tell whether the interval of the level misses all values; None where none is shown."""
    with dp.testing.insecure_seed(seed):
        fit = dp.dp_logit(f"y ~ x + {kind}", table, epsilon=epsilon)
    name = {"g": "g[T.b]", "z": "z"}[kind]
    if not np.isfinite(fit.bse[name]):
        return None
    return all(abs(fit.params[name] - value) > _CRITICAL * fit.bse[name] for value in values)


def main(arguments: list[str]) -> None:
    """Print how many intervals are shown, and how many of them miss, by share and effect."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks one_outcome", description=__doc__)
    parser.add_argument("--tables", type=int, default=10)
    given = parser.parse_args(arguments)
    lines = []
    for share, effect in product(SHARES, EFFECTS):
        found: dict[str, list] = {"g": [], "z": []}
        for rows, seed in product(ROWS, range(given.tables)):
            table = drawn(share, effect, rows, seed)
            values = maximum(table), effect
            for epsilon, (kind, own) in product(EPSILONS, found.items()):
                own.append(missed(table, kind, epsilon, seed, values))
        counts = [[len(own) - own.count(None), own.count(True)] for own in found.values()]
        lines.append(
            (f"{share:g}", f"{effect:g}", str(len(found["g"])), *map(str, sum(counts, [])))
        )
    heads = ("share", "effect", "fits", "factor: shown", "missed", "0/1: shown", "missed")
    print_table("Intervals of a level, and how many of them miss", heads, lines)
