"""List public tables, regressions and bounds on which this package and others are compared."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf

import dpstats as dp


@dataclass(frozen=True)
class Case:
    """A public table, its regression, and the bounds that its description states."""

    read: Callable[[], pd.DataFrame]
    y: str
    bounds: dict[str, tuple[float, float]]
    logit: bool = False

    @property
    def x(self) -> list[str]:
        """The regressors."""
        return [name for name in self.bounds if name != self.y]

    @property
    def formula(self) -> str:
        """The regression on all of them."""
        return f"{self.y} ~ {' + '.join(self.x)}"

    def reference(self, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        """Return slopes and standard errors without privacy, each (p,)."""
        fit: Any = (
            smf.logit(self.formula, frame).fit(disp=0)
            if self.logit
            else smf.ols(self.formula, frame).fit()
        )
        return fit.params[self.x].to_numpy(), fit.bse[self.x].to_numpy()

    def scaled(self, frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scale columns to 0 to 1 by their bounds; with what turns slopes back, (p,)."""
        low, high = np.array([self.bounds[name] for name in (*self.x, self.y)], dtype=float).T
        unit = ((frame[[*self.x, self.y]] - low) / (high - low)).clip(0, 1).to_numpy()
        return unit[:, :-1], unit[:, -1], (high - low)[-1] / (high - low)[:-1]


def _fair() -> pd.DataFrame:
    """Read Fair's survey of marriages, with whether there were any affairs."""
    data: Any = sm.datasets.fair.load_pandas().data
    return data.assign(any=(data["affairs"] > 0).astype(int))


# Fair (1978) prints the codes of the survey's answers.
_ANSWERS = {
    "age": (17.5, 42), "yrs_married": (0.5, 23), "children": (0, 5.5), "religious": (1, 4),
    "educ": (9, 20),
}  # fmt: skip
_WEATHER = {"temp": (0, 1), "hum": (0, 1), "windspeed": (0, 1), "workingday": (0, 1)}
CASES = {
    "ranks of parents": Case(
        dp.datasets.oi_microdata, "kid_rank", {"parent_rank": (0, 1), "kid_rank": (0, 1)}
    ),
    "bicycles": Case(dp.datasets.bike_hour, "cnt", {**_WEATHER, "cnt": (0, 1000)}),
    "marriages": Case(_fair, "rate_marriage", {**_ANSWERS, "rate_marriage": (1, 5)}),
    "affairs (logit)": Case(
        _fair, "any", {"rate_marriage": (1, 5), **_ANSWERS, "any": (0, 1)}, logit=True
    ),
}
