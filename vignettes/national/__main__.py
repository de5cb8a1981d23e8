"""``python -m vignettes.national [--out DIR]``: measure the national job and write the page."""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from benchmarks import scale

COUNTS = (1_000, 8_000, scale.NATION)
HEAD = """# One regression for each census tract of a nation

Written by `python -m vignettes.national`; every figure below was measured by that run, on
{machine}. The tracts are simulated (`dp.simulate.atlas`); the largest job here has {tracts:,}
tracts and {rows:,.0f} families.

```python
import dpstats as dp

res = dp.dp_ols(
    "kid_rank ~ parent_rank",
    "families/*.parquet",                  # or a data frame
    by=["state", "county", "tract"],
    method="exp_theil_sen",
    epsilon=16,
    bounds={{"kid_rank": (0, 1), "parent_rank": (0, 1)}},
)
res.to_csv("tracts.csv")                   # appears whole, or not at all
```

Each family is in one tract, so the releases together cost what one costs. Families without a
value are left out; list the tracts in `groups=` if which tracts have families is not public.
With several outcomes, give a list of formulas: they share epsilon in equal parts.

## What it costs

{table}

The processor time is that of all threads together; on c quiet cores the job takes between a c-th
of it and all of it. Rows are read and put in order once by one core, groups are then fitted in
chunks by all of them.

![Seconds of processor time against the number of rows and of tracts](growth.png)

Left, `exp_theil_sen` over all pairs of n rows: time grows as n to the power {exponent:.2f}, though
there are n (n - 1) / 2 pairs, because the mechanism only ever needs how many pairs lie above a
value, which a merge sort counts. Right, the same method over tracts: time grows as their number
to the power {groups:.2f}, which is {each:.0f} microseconds a tract with both of its predictions.

## Beyond this machine

Tracts share no family, so the job splits by tract: give each worker some of them, with all of
their rows, the same call and the same epsilon, and put the tables below one another. Nothing is
shared but the public arguments, so at {each:.0f} microseconds a tract c cores need about
{each:.0f} / c microseconds a tract, plus the time to read the rows. A worker that stops
writes nothing and names the tracts it was at, if `groups=` listed them; its budget counts as spent,
so run again only what the budget allows. A Spark DataFrame in place of the files does all this.
"""


def picture(alone: pd.DataFrame, tracts: pd.DataFrame, path: Path) -> None:
    """Processor time against n and against the number of tracts, on logarithmic axes."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
    for ax, found, label in zip(axes, (alone, tracts), ("rows", "tracts"), strict=True):
        sizes = found.index.to_numpy(float)
        ax.loglog(sizes, found["processor"], "o-", color="C0", label="exp_theil_sen")
        line = found["processor"].iloc[-1] * sizes / sizes[-1]
        ax.loglog(sizes, line, "--", color="0.6", label="in proportion")
        ax.set(xlabel=f"number of {label}")
        ax.grid(color="0.92")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set(ylabel="processor time (seconds)")
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def markdown(rows) -> str:
    """The table of :mod:`benchmarks.scale` in Markdown."""
    lines = [scale.HEADER, ["---"] * len(scale.HEADER), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> None:
    """Measure, and write README.md and growth.png."""
    parser = argparse.ArgumentParser(prog="python -m vignettes.national", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    parser.add_argument("--tracts", type=int, nargs="+", default=list(COUNTS))
    parser.add_argument("--sizes", type=int, nargs="+", default=list(scale.SIZES))
    options = parser.parse_args()
    machine = scale.machine()
    alone = scale.growth(options.sizes)
    tracts = scale.groups_growth(options.tracts)
    picture(alone, tracts, options.out / "growth.png")
    last = tracts.iloc[-1]
    text = HEAD.format(
        machine=machine,
        tracts=options.tracts[-1],
        rows=last["rows"],
        table=markdown(scale.table(alone, tracts)),
        exponent=scale.exponent(alone["processor"]),
        groups=scale.exponent(tracts["processor"]),
        each=np.divide(last["processor"], options.tracts[-1]) * 1e6,
    )
    (options.out / "README.md").write_text(text)


if __name__ == "__main__":
    main()
