"""Write the page and its pictures: ``python -m vignettes.reporting [--out DIR] [--data DIR]``."""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from matplotlib.figure import Figure

import dpstats as dp
from benchmarks.coverage import PLAIN, ROBUST, Cell, run
from benchmarks.intervals import EPSILONS, SETS, lines, table

FORMULA = "log_wage ~ education + experience + C(region)"
BOUNDS = {"log_wage": (3, 9), "education": (0, 18), "experience": (0, 50)}
REGIONS = ["north", "south", "west"]
GUESS = {"education": 0.1, "experience": 0.02}
ROWS = 20_000
REPETITIONS = 50
TABLES = 400


def workers() -> pd.DataFrame:
    """Made-up workers, who may be shown; wages differ more among those with more schooling."""
    rng = np.random.default_rng(7)
    rows = pd.DataFrame(
        {
            "education": np.clip(np.rint(rng.normal(13, 3, ROWS)), 0, 18),
            "experience": np.rint(rng.uniform(0, 45, ROWS)),
            "region": pd.Categorical(rng.choice(REGIONS, ROWS), REGIONS),
        }
    )
    south = 0.1 * (rows["region"] == "south")
    mean = 4.4 + 0.1 * rows["education"] + 0.015 * rows["experience"] - south
    return rows.assign(log_wage=mean + rng.normal(0, 0.1 + 0.03 * rows["education"]))


class Page:
    """Markdown in the making: prose, printed values and pictures in one folder."""

    def __init__(self, folder: Path):
        self.folder, self.parts = folder, ["# Reporting private regressions"]

    def say(self, *paragraphs: str) -> None:
        self.parts += paragraphs

    def show(self, code: str, value) -> None:
        """Code and what it prints."""
        self.parts.append(f"```python\n{code}\n```\n\n```text\n{str(value).rstrip()}\n```")

    def draw(self, name: str, draw, text: str) -> None:
        """A picture that ``draw(axes)`` makes."""
        figure = Figure(figsize=(6.5, 4.5), layout="constrained", dpi=90)
        draw(figure.subplots())
        figure.savefig(self.folder / name)
        self.parts.append(f"![{text}]({name})")

    def write(self) -> None:
        text = "\n\n".join(self.parts) + "\n"
        (self.folder / "README.md").write_text(text, encoding="utf-8")


def forests(fits: dict, terms: list[str]):
    """A drawing of the intervals of some terms, one row a fit."""

    def draw(axes):
        for place, term in enumerate(terms):
            for step, (name, fit) in enumerate(fits.items()):
                (low, high), y = fit.conf_int().loc[term], place + 0.15 * (step - 1.5)
                middle = (low + high) / 2
                colour = "0.4" if name == "OLS" else f"C{step}"
                axes.errorbar(
                    middle, -y, xerr=(high - low) / 2, fmt="o", color=colour, capsize=3,
                    label=name if place == 0 else None,
                )  # fmt: skip
        axes.axvline(0, color="0.7", linewidth=1)
        axes.set_yticks([-place for place in range(len(terms))], terms)
        axes.set(xlabel="coefficient, 95% interval", title=FORMULA)
        axes.legend(frameon=False)

    return draw


def planned(page: Page) -> None:
    """Before: what could be learnt at which epsilon."""
    page.say(
        "A wage equation on the records of a personnel office, from the plan to the table. The "
        f"{ROWS:,} workers here are simulated, so that private and ordinary results can stand side "
        "by side; all output on this page was written by `python -m vignettes.reporting`.",
        "## 1. Plan before you spend",
        "A privacy budget can be spent once. `dp.plan` makes up rows from what is publicly known "
        "(ranges, levels, the number of rows) and from your guesses, runs the methods on them, "
        "and says how wide the intervals would be. It sees no data, so it costs nothing and can "
        "be repeated. The spread of the regressors matters much; a standard deviation of 3 years "
        "of schooling is what a statistical yearbook gives. Left out, a regressor is taken as "
        "uniform over its bounds, which is often too hopeful.",
    )
    guess = {
        "n": ROWS, "bounds": BOUNDS, "levels": {"region": REGIONS}, "truth": GUESS, "sd": 0.5,
        "x_sd": {"education": 3}, "repetitions": REPETITIONS,
    }  # fmt: skip
    methods = ["adassp", "noisy_sgd"]
    forecast = dp.plan(FORMULA, methods=methods, epsilon=[0.5, 1, 2, 4], **guess)
    least = dp.plan(FORMULA, methods=methods, target_width=0.02, term="education", **guess)
    page.show(
        f'guess = {guess}\nplan = dp.plan("{FORMULA}",\n'
        f"               methods={methods}, epsilon=[0.5, 1, 2, 4], **guess)\n"
        'plan.summary("education")',
        forecast.summary("education"),
    )
    page.draw("plan.png", lambda axes: forecast.plot("education", axes), "Error by epsilon")
    page.say("With a width to reach in place of epsilon, it looks for the least epsilon.")
    page.show(
        f'dp.plan("{FORMULA}",\n        methods={methods}, target_width=0.02, term="education",\n'
        "        **guess).least",
        least.least.to_string(index=False),
    )


def fitted(page: Page, rows: pd.DataFrame) -> dp.DPResults:
    """The fit and its intervals."""
    with dp.testing.insecure_seed(1):
        call = {"method": "adassp", "epsilon": 1, "cov_type": "HC1", "bounds": BOUNDS}
        fit = dp.dp_ols(FORMULA, rows, **call)
    page.say(
        "## 2. Fit once",
        "Wages differ more among people with more schooling. So the errors do not have one "
        'variance, and standard errors are asked to be robust against that: `cov_type="HC1"`, as '
        "in statsmodels, takes a tenth of the budget. The fit is seeded here so that the page can "
        "be written again; leave the seed out, as what is made with it is not private.",
    )
    page.show(
        f'fit = dp.dp_ols("{FORMULA}", workers,\n'
        '                method="adassp", epsilon=1, cov_type="HC1",\n'
        f"                bounds={BOUNDS})\nfit.summary()",
        fit.summary(),
    )
    page.say(
        "Standard errors contain both the error of sampling and the noise added for privacy. An "
        "interval that ignored the noise would be too short and cover far less than it says. "
        "Intervals are about least squares on all rows, clipped at declared bounds only, or, where "
        "none are declared, at released ranges that `summary()` prints beside the noisy share of "
        "rows beyond them. "
        'Without `cov_type="HC1"` they assume errors of one variance, as those of ordinary least '
        "squares do.",
    )
    return fit


def asked(page: Page, fit: dp.DPResults) -> None:
    """What the result answers by itself."""
    page.say(
        "## 3. Ask the result, not the data",
        "Everything below is computed from the released numbers: it costs no budget, and works "
        "after the data have been deleted.",
    )
    new = {"education": [12, 16], "experience": [10, 10], "region": ["north", "north"]}
    page.show(f"fit.predict({new},\n            interval=True)", fit.predict(new, interval=True))
    page.show('fit.t_test("education = 5 * experience")',
              fit.t_test("education = 5 * experience"))  # fmt: skip
    hypotheses = "C(region)[T.south] = 0, C(region)[T.west] = 0"
    page.show(f'fit.f_test("{hypotheses}")', fit.f_test(hypotheses))
    page.show("fit.error_bound(q=68).round(4)", fit.error_bound(q=68).round(4).to_string())
    page.say(
        "`error_bound` is about privacy alone: with 68% probability the private coefficients are "
        "no farther than this from the least-squares coefficients of the same workers."
    )


def covered(page: Page) -> None:
    """What standard errors for one variance are worth where there are several."""
    cell = Cell("adassp", 10_000, errors="heteroscedastic", epsilons=(4.0,),
                variants=(PLAIN, ROBUST))  # fmt: skip
    plain, robust = run(cell, TABLES)
    names = ["slope", "prediction at 1/4", "prediction at 3/4"]
    shares = {"OLS": plain.ols_covered, "adassp": plain.covered, "adassp, HC1": robust.covered}
    table = pd.DataFrame({name: found.mean(axis=0) for name, found in shares.items()}, names)
    page.say(
        "How much that matters where the standard deviation of the errors trebles over the range "
        "of the regressor: shares of 95% intervals that hold the truth, in "
        f"{TABLES} simulated tables of {cell.n:,} rows at epsilon {cell.epsilons[0]:g}. `python -m "
        "benchmarks coverage` does this for many laws, sizes and methods.",
    )
    page.parts.append(f"```text\n{table.round(3).to_string()}\n```")


def reported(page: Page, rows: pd.DataFrame) -> None:
    """Side by side."""
    fits = {"OLS": smf.ols(FORMULA, rows).fit()}
    with dp.testing.insecure_seed(2):
        for epsilon in (0.5, 1, 4):
            fits[f"epsilon {epsilon:g}"] = dp.dp_ols(
                FORMULA, rows, method="adassp", epsilon=epsilon, bounds=BOUNDS
            )
    private = {name: fit for name, fit in fits.items() if name != "OLS"}
    page.say(
        "## 4. The table",
        "`dp.compare` sets private fits side by side, and prints as text, HTML or LaTeX.",
    )
    page.show("dp.compare(half, one, four)", dp.compare(*private.values(), names=list(private)))
    page.say("Ordinary least squares is in the picture only because these workers are simulated.")
    terms = ["education", "experience", "C(region)[T.south]", "C(region)[T.west]"]
    page.draw("intervals.png", forests(fits, terms), "Intervals of OLS and of private fits")


def refused(page: Page, rows: pd.DataFrame) -> None:
    """What cannot be told."""
    few = rows.head(150)
    call = {"epsilon": 0.3, "bounds": {k: BOUNDS[k] for k in ("log_wage", "education")}}
    with dp.testing.insecure_seed(3):
        fit = dp.dp_ols("log_wage ~ education", few, method="noisy_moments", **call)
    page.say(
        "## 5. When the release cannot tell",
        "With few rows, a small epsilon or a regressor that hardly varies within its bounds, the "
        "noise may account for all that the data say. The interval is then unbounded and the "
        "status `not_identified`; a narrow interval would be wrong.",
    )
    shown = f"status: {fit.status}\n{fit.conf_int().to_string()}\n{fit.reasons['conf_int']}"
    page.show('fit = dp.dp_ols("log_wage ~ education", workers.head(150),\n'
              '                method="noisy_moments", epsilon=0.3, bounds=bounds)\n'
              'fit.status, fit.conf_int(), fit.reasons["conf_int"]', shown)  # fmt: skip
    page.say(
        "Methods without intervals of their own can have them in two ways, both paid out of the "
        "same budget: `ci=True` (`exp_theil_sen`, `wide_theil_sen`, `tukey`), and "
        '`companion="adassp"` (or `"noisy_moments"`, `"ssp"`), a second fit that speaks about its '
        "own coefficients.",
    )


def real(page: Page, folder: Path) -> None:
    """Public survey data, where they are at hand."""
    there = {name: table(name, folder) for name in SETS}
    found = [line for name, t in there.items() if t is not None for line in lines(name, t)]
    if not found:
        return
    header = ["set", "coefficient", "OLS", *(f"epsilon {epsilon:g}" for epsilon in EPSILONS)]
    page.say(
        "## 6. On two public surveys",
        "CPS 1988 (28,155 men, log weekly wage) and the 1980 census sample on fertility and labour "
        "supply (254,654 women, weeks worked), both from the R package AER; `adassp` beside OLS, "
        "which their being public allows.",
        _markdown(header, found),
    )


def _markdown(header: list[str], rows: list[tuple]) -> str:
    cells = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in cells)


def report(folder: Path, data: Path | None = None) -> None:
    """Write the page into a folder, with the public surveys found in another."""
    page, rows = Page(folder), workers()
    planned(page)
    fit = fitted(page, rows)
    covered(page)
    asked(page, fit)
    reported(page, rows)
    refused(page, rows)
    if data is not None:
        real(page, data)
    page.write()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m vignettes.reporting", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    parser.add_argument("--data", type=Path, help="folder with the public survey data")
    options = parser.parse_args()
    report(options.out, options.data)


if __name__ == "__main__":
    main()
