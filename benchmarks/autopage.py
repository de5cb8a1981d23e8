"""The page of benchmarks/auto.py: a CSV file of medians, tables in Markdown, a picture."""

from pathlib import Path

import numpy as np
import pandas as pd

_KEYS = ["name", "epsilon", "method"]
_MAIN = np.log(3)
_LARGE, _SMALL = 4000, 500


def write(found: pd.DataFrame, trials: int, folder: Path) -> None:
    """Put new medians in the place of old ones, and write page and picture anew."""
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "medians.csv"
    found = found.assign(trials=trials)
    if table.exists():
        found = pd.concat([pd.read_csv(table), found])
        found["epsilon"] = found["epsilon"].round(6)
        found = found.drop_duplicates(_KEYS, keep="last")
    found["epsilon"] = found["epsilon"].round(6)
    found.round(4).to_csv(table, index=False)
    (folder / "README.md").write_text(page(found, folder))
    picture(found, folder / "auto.png")


def page(found: pd.DataFrame, folder: Path) -> str:
    """The page in Markdown."""
    tried = _tried(folder / "tried.csv")
    splits = found.drop_duplicates(["method", "trials"]).groupby("trials")["method"]
    over = "; ".join(f"{', '.join(sorted(names))} over {t}" for t, names in splits)
    main = found[np.isclose(found["epsilon"], _MAIN, atol=1e-5)]
    parts = [
        '# `method="auto"` without bounds or tuning',
        "Median R² on the tenth of the rows that was not fitted, over random splits "
        f"({over}); delta = 1e-5. Every method gets the formula, the "
        "table and epsilon, nothing else. `kendall` selects five terms first. `fails` stands "
        "where in most splits nothing was released, and `constant` for the mean of the fitted "
        "rows, without privacy. The tables are those of a MANIFEST. The constants of the "
        "method come from arguments and from the made-up tables below, but these tables were in "
        "view while the method was made: they are no fresh test of it. Written by "
        "`make bench-auto DATA=dir`.",
        "![Median R² of auto beside OLS](auto.png)",
        "## Counts",
        markdown(counts(found)),
        "## epsilon = ln 3",
        markdown(wide(main)),
        "## auto at every epsilon",
        markdown(by_epsilon(found)),
        *tried,
    ]
    return "\n\n".join(parts) + "\n"


def _tried(table: Path) -> list[str]:
    """The section on what was tried, if benchmarks/tried.py has written its table."""
    if not table.exists():
        return []
    said = (
        "On made-up tables (benchmarks/mixed.py): 2,000 and 8,000 rows, 2 to 24 columns of "
        "eight kinds, R² 0.2 and 0.7. Each row changes one thing."
    )
    return ["## What was tried", said, markdown(pd.read_csv(table))]


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
