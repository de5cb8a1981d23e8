"""A study of three kinds, and tables of the law that it is planned for."""

import numpy as np
import pandas as pd

import dpstats as dp

PAPER = """
data = "people.csv"
epsilon = 2

[bounds]
age = [18, 90]
wage = [0, 200]

[levels]
region = ["north", "south"]

[types]
smoker = "boolean"

[guesses]
n = 6000
sd = { main = 12 }
[guesses.truth]
main = { age = 0.5 }
smoking = { age = 0.03 }

[[describe]]
name = "Table 1"
columns = ["age", "wage", "smoker"]
share = 0.2

[[ols]]
name = "main"
formula = "wage ~ age + C(region)"
cov_type = "HC1"
share = 0.5

[[logit]]
name = "smoking"
formula = "smoker ~ age"
"""


def law(n: int, seed: int) -> pd.DataFrame:
    """Fictitious people."""
    draw = np.random.default_rng(seed)
    age = draw.uniform(18, 90, n)
    return pd.DataFrame({
        "age": age,
        "wage": np.clip(20 + age / 2 + draw.normal(scale=12, size=n), 0, 200),
        "smoker": draw.random(n) < 1 / (1 + np.exp(-0.03 * (age - 54))),
        "region": draw.choice(["north", "south"], n),
        "state": draw.integers(0, 50, n),
    })  # fmt: skip


def made(folder, text=PAPER, **more) -> dp.StudyPlan:
    """The plan of a study from its guesses."""
    (folder / "study.toml").write_text(text)
    return dp.plan_study(folder / "study.toml", progress=False, **more)


def widths(results) -> pd.Series:
    """The widths of the intervals of fits and of a description, by table and term."""
    found = {}
    for name, result in results.items():
        if isinstance(result, dp.DPDescription):
            for group, variable, one in result.figures:
                level = "" if one.level is None else f" {one.level}"
                label = "" if result.by is None else f", {group}"
                found[name, f"{variable}{level}: {one.statistic}{label}"] = one.upper - one.lower
        else:
            tidy = result.tidy()
            rows = zip(tidy["term"], tidy["conf.high"] - tidy["conf.low"], strict=True)
            found |= {(name, term): width for term, width in rows}
    return pd.Series(found)
