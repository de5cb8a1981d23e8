"""Read what a private fit puts into its column of a table of regressions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pandas as pd

from dpstats.privacy import relation_name
from dpstats.results.one import DPResults
from dpstats.results.show.summary import (
    figure,
    guarantee,
    has_rsquared,
    observations,
    shown_reasons,
)


@dataclass(frozen=True, eq=False)
class Column:
    """Hold one column of a table of regressions.

    Attributes
    ----------
    names, points : tuple of str
        The coefficients and the predictions.
    quantities : pandas.DataFrame
        A row per coefficient and prediction; columns ``estimate``, ``std_error``, ``p_value`` (of
        zero), ``lower`` and ``upper`` (of level .95). A p-value is NaN where the interval is not
        bounded, so that no star stands where nothing is shown.
    facts : mapping of str to str
        What stands below them; the absent is blank.
    status : str
    caveats : tuple of str
        Notes about this column.
    private : bool
        Whether noise was added at all, seeded or not.
    """

    names: tuple[str, ...]
    points: tuple[str, ...]
    quantities: pd.DataFrame
    facts: Mapping[str, str]
    status: str
    caveats: tuple[str, ...]
    private: bool = True

    def hidden(self) -> list[str]:
        """Name the coefficients that were estimated and have no bounded interval."""
        own = self.quantities.loc[list(self.names)]
        return list(own.index[own["estimate"].notna() & own["p_value"].isna()])


def column_of(result: DPResults) -> Column:
    """Read the column of a private fit; nothing but what was released is in it."""
    stamp = "" if result.privacy.private else "NOT PRIVATE, "
    caveats = f"{stamp}{guarantee(result.privacy)}", *shown_reasons(result)
    names, points = result.names, result.points
    return Column(names, points, _quantities(result), _facts(result), result.status, caveats)


def _quantities(result: DPResults) -> pd.DataFrame:
    """Tabulate coefficients, then predictions."""
    ends = result.conf_int().to_numpy()
    bounded = np.isfinite(ends).all(axis=1)
    own = {
        "estimate": result.params,
        "std_error": result.bse,
        "p_value": result.pvalues.where(bounded),
        "lower": ends[:, 0],
        "upper": ends[:, 1],
    }
    points = result.prediction_intervals()
    points.columns = ["estimate", "std_error", "lower", "upper"]
    return pd.concat([pd.DataFrame(own), points]).rename_axis("term")


def _facts(result: DPResults) -> dict[str, str]:
    """Describe the fit and its guarantee, in the order in which they stand."""
    report = result.privacy
    linear = has_rsquared(result)
    return {
        "response": result.formula.split("~")[0].strip(),
        "method": result.method,
        "epsilon": f"{report.epsilon:g}",
        "delta": f"{report.delta:g}",
        "neighbours": relation_name(report.neighbors, report.unit),
        "N": observations(result),
        "R-squared": figure(result, "rsquared") if linear else "",
        "R-squared Adj.": figure(result, "rsquared_adj") if linear else "",
        "Pseudo R-squared": figure(result, "prsquared") if _is_logit(result) else "",
        "status": result.status,
        "private": "yes" if report.private else "NO (seeded)",
    }


def _is_logit(result: DPResults) -> bool:
    """Tell whether a fit has McFadden's pseudo R-squared, released or not."""
    return "prsquared" in result.fit_statistics.index


def terms_of(columns: Iterable[DPResults | Column]) -> list[str]:
    """List the coefficients of all columns, then their predictions."""
    names, points = zip(*((column.names, column.points) for column in columns), strict=True)
    return list(dict.fromkeys(chain(*names, *points)))
