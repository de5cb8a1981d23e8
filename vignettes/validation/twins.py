"""Set the stored results beside fits that are not private: ``twins.py SURVEY LEDGER OUT``.

The rows of this survey are made up, so that what follows from them may be shown. No such table may
be printed from confidential rows.
"""

import sys

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import dpstats as dp

COLUMNS = ["estimate", "lower", "upper", "twin", "twin_error"]


def wages(fit, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the coefficients beside those of weighted least squares, clustered by state."""
    rows = rows.dropna(subset=["wage", "education", "weight"])
    model = smf.wls("np.log(wage) ~ age + I(age**2) + C(sex) + C(education)", rows,
                    weights=rows["weight"])  # fmt: skip
    wls = model.fit(cov_type="cluster", cov_kwds={"groups": pd.factorize(rows["state"])[0]})
    found = fit.conf_int().set_axis(["lower", "upper"], axis=1)
    return found.assign(estimate=fit.params, twin=wls.params, twin_error=wls.bse)[COLUMNS]


def unemployment(fit, rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the odds ratios and the average marginal effects beside those of ``Logit``."""
    logit = smf.logit("unemployed ~ age + C(sex) + C(education)", rows).fit(disp=0)
    found = np.exp(fit.conf_int()).set_axis(["lower", "upper"], axis=1)
    twin = np.exp(logit.params)
    ratios = found.assign(estimate=np.exp(fit.params), twin=twin, twin_error=twin * logit.bse)
    effects, twins = (each.get_margeff().summary_frame() for each in (fit, logit))
    shown = effects.iloc[:, [0, 4, 5]].set_axis(COLUMNS[:3], axis=1)
    return ratios[COLUMNS], shown.assign(twin=twins.iloc[:, 0], twin_error=twins.iloc[:, 1])


def tables(description, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the figures of each group beside those of pandas."""
    frame = description.frame
    index = ["variable", "level", "education", "statistic"]
    twins = [_figure(rows[rows["education"] == row.education], row) for row in frame.itertuples()]
    found = pd.DataFrame(twins, columns=["twin", "twin_error"])
    return pd.concat([frame, found], axis=1).set_index(index)[COLUMNS]


def _figure(rows: pd.DataFrame, asked) -> tuple[float, float]:
    """Return one figure of a group, and its standard error where pandas tells one."""
    column, statistic = rows[asked.variable], asked.statistic
    if statistic in ("count", "share"):
        column = (column == int(str(asked.level) == "True")).astype(float)
    if statistic in ("mean", "share"):
        return column.mean(), column.sem()
    if statistic.endswith("%"):
        return column.quantile(float(statistic[:-1]) / 100), np.nan
    figure = {"n": column.count(), "missing": column.isna().sum(), "sd": column.std(),
              "count": column.sum()}  # fmt: skip
    return figure[statistic], np.nan


def main(survey: str, path: str, out: str) -> None:
    """Print the tables and write all figures to one file."""
    rows, ledger = pd.read_csv(survey), dp.Ledger(path)
    requests = ledger.requests("released").set_index("analyst")["id"]
    results = {name: ledger.result(int(requests[name])) for name in ("anna", "ben", "clara")}
    ratios, effects = unemployment(results["ben"], rows)
    found = {
        "wages": wages(results["anna"], rows),
        "odds ratios": ratios,
        "average marginal effects": effects,
        "tables": tables(results["clara"], rows),
    }
    for name, table in found.items():
        if name == "tables":
            table = table[table.index.isin(["mean", "50%"], level="statistic")]
            table = table.droplevel("level")
        print(f"{name}\n{table.to_string(float_format='{:.4g}'.format)}\n")
    whole = pd.concat({name: table.reset_index(drop=True) for name, table in found.items()})
    whole.to_csv(out, index_label=["table", "row"])
    held = whole["twin"].between(whole["lower"], whole["upper"]).sum()
    print(f"{held} of {len(whole)} intervals hold the figure that is not private")


if __name__ == "__main__":
    main(*sys.argv[1:])
