"""The page of benchmarks/auto.py: a CSV file of medians, tables in Markdown, a picture."""

from pathlib import Path

import numpy as np
import pandas as pd

_MAIN = np.log(3)
_LARGE, _SMALL = 4000, 500
_TRIED = (
    (
        "tried.csv",
        "## What was tried for shrunken",
        "On simulated tables (benchmarks/mixed.py): 500, 2,000 and 8,000 rows, 2 to 24 columns of "
        "eight kinds, R² 0.2 and 0.7. Each row changes one thing; gains are against the first.",
    ),
    (
        "crossing.csv",
        "## One regressor with declared bounds",
        "The error of a rule that chooses between exp_theil_sen and noisy_moments, over that of "
        "the better one (geometric mean and worst), on simulated lines of many sizes, spreads and "
        "residuals, under add or remove (benchmarks/crossing.py). A look at the spread of x pays "
        "its share of the budget.",
    ),
    (
        "tried_tails.csv",
        "## What was tried for intervals",
        "On the simulated cases of benchmarks/skewed.py, whose columns are skewed, rare, heaped or "
        "have values far out (benchmarks/tried_tails.py). Each row changes one thing in "
        "noisy_newton. The coverage is of least squares of all rows, in the worst slope of a case; "
        "error and width are geometric means over cases, as multiples of the first row's.",
    ),
)


def write(found: pd.DataFrame, folder: Path) -> None:
    """Write page and picture."""
    (folder / "README.md").write_text(page(found, folder))
    picture(found, folder / "auto.png")


def write_tried(folder: Path) -> None:
    """Write anew what was tried, at the end of the page."""
    page = folder / "README.md"
    kept, *_ = page.read_text().split(_TRIED[0][1])
    page.write_text("\n\n".join([kept.rstrip(), *_tried(folder)]) + "\n")


def page(found: pd.DataFrame, folder: Path) -> str:
    """The page in Markdown."""
    main = found[np.isclose(found["epsilon"], _MAIN, atol=1e-5)]
    parts = [
        '# `method="auto"` without bounds or tuning',
        "Median R² on the tenth of the rows that was not fitted, over random splits: "
        f"{_splits(found)}. delta = 1e-5. Every method gets the formula, the "
        "table and epsilon, nothing else. `kendall` selects five terms first. `fails` stands "
        "where in most splits nothing was released, and `constant` for the mean of the fitted "
        "rows, without privacy. The tables are those of a MANIFEST. The constants of noisy_newton, "
        "which auto takes, were set on simulated tables and on other public ones "
        "(benchmarks/tails.py), but how far out variables are clipped was tried on samples of "
        "these tables too, and shrunken was made with them in view: they are no fresh test of "
        "either. Written by `make bench-auto DATA=dir`; `code` in "
        "medians.csv says which version of the package a median is from.",
        "![Median R² of auto beside OLS](auto.png)",
        "## Counts",
        f"Tables of at least {_LARGE:,} rows.",
        markdown(counts(found)),
        *_missed(main),
        f"Smaller tables, against the mean of the fitted rows without privacy. With {_SMALL} rows "
        "or more auto should not be below it by more than 0.05; with fewer only an answer within "
        "the released range is promised.",
        markdown(small_counts(found)),
        "## epsilon = ln 3",
        markdown(wide(main)),
        "## auto at every epsilon",
        markdown(by_epsilon(found)),
        *_tried(folder),
    ]
    return "\n\n".join(parts) + "\n"


def _splits(found: pd.DataFrame) -> str:
    """Over how many splits the medians are."""
    auto, others = (found[(found["method"] == "auto") == own] for own in (True, False))
    small = auto[auto["n"] < _LARGE]["trials"].max()
    rest = others[others["method"].isin(["boosted_adassp", "tukey"])]["trials"].max()
    large = auto[auto["n"] >= _LARGE]["trials"].max()
    return (
        f"{small} for auto, OLS and the constant with fewer than {_LARGE:,} rows, {large} with "
        f"more, {rest} for the other methods"
    )


def _missed(main: pd.DataFrame) -> list[str]:
    """The large tables on which auto misses what was aimed at, by name."""
    large = main[main["n"] >= _LARGE]
    if large.empty:
        return []
    scores = large.pivot(index="name", columns="method", values="score")
    worse = scores[(scores["auto"] <= 0) | (scores["auto"] < 0.95 * scores["ols"])]
    named = [f"{n} ({s.auto:.2f}, OLS {s.ols:.2f})" for n, s in worse.iterrows()]
    if not named:
        return []
    return [f"At ln 3 not positive or below 0.95 OLS: {', '.join(named)}."]


def _tried(folder: Path) -> list[str]:
    """What benchmarks/tried.py and those beside it found, where they have run."""
    return [
        part
        for name, title, said in _TRIED
        if (folder / name).exists()
        for part in (title, said, markdown(_texts(folder / name)))
    ]


def _texts(path: Path) -> pd.DataFrame:
    """Read a table as it was written, digit by digit."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def counts(found: pd.DataFrame) -> pd.DataFrame:
    """On how many tables of at least 4,000 rows auto does how well, an epsilon a row."""
    rows = []
    for epsilon, part in found[found["n"] >= _LARGE].groupby("epsilon"):
        scores = part.pivot(index="name", columns="method", values="score")
        auto, ols = scores["auto"], scores["ols"]
        enough = part.drop_duplicates("name").set_index("name").eval("n > 300 * d") & (ols > 0.1)
        rows.append(
            {
                "epsilon": _named(epsilon),
                "tables": len(auto),
                "positive": int((auto > 0).sum()),
                "above the constant or within 0.001": int((auto > -0.001).sum()),
                "at least 0.95 OLS": int((auto >= 0.95 * ols).sum()),
                "n > 300 d and OLS > 0.1": int(enough.sum()),
                "of those at least 0.8 OLS": int((auto >= 0.8 * ols)[enough].sum()),
            }
        )
    return pd.DataFrame(rows)


def small_counts(found: pd.DataFrame) -> pd.DataFrame:
    """How auto does beside the constant on tables of fewer than 4,000 rows, an epsilon a row."""
    rows = []
    for epsilon, part in found[found["n"] < _LARGE].groupby("epsilon"):
        scores = part.pivot(index=["name", "n"], columns="method", values="score")
        few = scores.index.get_level_values("n") < _SMALL
        behind = scores["constant"] - scores["auto"]
        rows.append(
            {
                "epsilon": _named(epsilon),
                f"tables from {_SMALL} rows": int((~few).sum()),
                "not below the constant by 0.05": int((behind[~few] <= 0.05).sum()),
                "above it": int((behind[~few] < 0).sum()),
                f"tables below {_SMALL} rows": int(few.sum()),
                "of those with an answer": int(np.isfinite(scores["auto"][few]).sum()),
                "not below the constant by 0.05 there": int((behind[few] <= 0.05).sum()),
            }
        )
    return pd.DataFrame(rows)


def wide(part: pd.DataFrame) -> pd.DataFrame:
    """One row a table, one column a method, the largest tables first."""
    scores = part.pivot(index=["name", "n", "d"], columns="method", values="score")
    first = [name for name in ("ols", "constant", "auto") if name in scores]
    scores = scores[[*first, *(name for name in scores if name not in first)]]
    return _printed(scores.sort_index(level="n", ascending=False))


def by_epsilon(found: pd.DataFrame) -> pd.DataFrame:
    """One row a table, the score of auto by epsilon, then OLS."""
    auto = found[found["method"] == "auto"].assign(method=lambda f: f["epsilon"].map(_named))
    ols = found[found["method"] == "ols"].drop_duplicates("name", keep="last")
    both = pd.concat([auto, ols])
    scores = both.pivot(index=["name", "n", "d"], columns="method", values="score")
    order = [*map(_named, sorted(found["epsilon"].unique())), "ols"]
    return _printed(scores[order].sort_index(level="n", ascending=False))


def _printed(scores: pd.DataFrame) -> pd.DataFrame:
    """Two decimals; -inf as fails, a method that was not run as -."""

    def text(score: float) -> str:
        if np.isnan(score):
            return "-"
        return (
            "fails"
            if np.isinf(score)
            else f"{round(score, 2) + 0:.2f}"
            if score > -10
            else "below -10"
        )

    return scores.map(text).reset_index()


def _named(epsilon: float) -> str:
    return "ln 3" if np.isclose(epsilon, _MAIN, atol=1e-5) else f"{epsilon:g}"


def markdown(table: pd.DataFrame) -> str:
    """A table in Markdown."""
    rows = [list(table.columns), ["---"] * len(table.columns), *table.astype(str).to_numpy()]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def picture(found: pd.DataFrame, path: Path) -> None:
    """The score of auto at ln 3 against that of OLS; small tables lighter."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    main = found[np.isclose(found["epsilon"], _MAIN, atol=1e-5) & (found["n"] >= _SMALL)]
    scores = main.pivot(index=["name", "n"], columns="method", values="score")
    others = [name for name in ("boosted_adassp", "auto") if name in scores]
    figure, axes = pyplot.subplots(figsize=(6.4, 4.2), dpi=110, layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.8", lw=1, zorder=0)
    axes.axhline(0, color="0.8", lw=1, zorder=0)
    colors = {"auto": "#0a5c8f", "boosted_adassp": "#e08a2c"}
    for name in others:
        large = scores.index.get_level_values("n") >= _LARGE
        for rows, marker in ((large, "o"), (~large, "^")):
            x, y = scores["ols"][rows].clip(-0.2), scores[name][rows].clip(-0.2)
            axes.scatter(x, y, s=26, marker=marker, color=colors[name], alpha=0.85, lw=0)
        axes.scatter([], [], color=colors[name], label=name)
    axes.scatter([], [], color="0.5", marker="^", label="fewer than 4,000 rows")
    axes.set(xlabel="R² of OLS", ylabel="R² of the private fit (-0.2: or less)", ylim=(-0.23, 1.03))
    axes.set_title("epsilon = ln 3, no bounds given", loc="left", fontsize=10)
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    figure.savefig(path)
    pyplot.close(figure)
