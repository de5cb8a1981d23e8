"""Hold the plan of a study, and show it as table, text, picture and page."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from dpstats.atomic_write import replacing
from dpstats.escaping import save_csv
from dpstats.option_checks import number, positive
from dpstats.privacy.costs import ROUNDING
from dpstats.results.show.plot_method import plot_method
from dpstats.spelling import check_word
from dpstats.study.plans.forecasts import StudyForecast
from dpstats.study.plans.promise import promise
from dpstats.study.plans.quantiles import crossing, even_shares, quantile
from dpstats.study.plans.summary import as_html, as_text

# Above this an interval is wider than a reader of a table compares.
_MAX_RATIO = 1e6


@dataclass(frozen=True, repr=False)
class StudyPlan:
    """Hold the forecast intervals of a study by epsilon; nothing is released, nothing is spent.

    Attributes
    ----------
    study : str
        Name of the study file.
    n, repetitions : int
        Rows, and runs of each entry at each epsilon.
    epsilon, delta : float
        Those of the study file, for all entries.
    shared : bool
        Whether entries share the epsilon, by parts of squared mu; else by parts of the sum of their
        epsilons.
    forecasts : tuple of StudyForecast
    spent : mapping of float to (float, float)
        Epsilon and delta that a run would be charged for all entries, by the study's epsilon.
    said : tuple of str
        What the numbers rest on, in words.
    neighbors : str
        The neighbour relation, "" where entries have several.
    """

    study: str
    n: int
    repetitions: int
    epsilon: float
    delta: float
    shared: bool
    forecasts: tuple[StudyForecast, ...]
    spent: Mapping[float, tuple[float, float]] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    neighbors: str = ""

    @property
    def frame(self) -> pd.DataFrame:
        """Tabulate a row per table, term and epsilon, with the columns of StudyForecast (tidy)."""
        return pd.DataFrame(self.forecasts)

    @property
    def epsilons(self) -> tuple[float, ...]:
        """Return the epsilons of the study that were tried, from the smallest."""
        return tuple(sorted({each.epsilon for each in self.forecasts}))

    @property
    def names(self) -> list[str]:
        """List the tables by name."""
        return list(dict.fromkeys(each.table for each in self.forecasts))

    def at(self, epsilon: float, table: str | None = None) -> list[StudyForecast]:
        """List the forecasts at one epsilon that was tried, of one table or of all."""
        own = (each for each in self.forecasts if each.epsilon == epsilon)
        return [each for each in own if table in (None, each.table)]

    @property
    def tables(self) -> pd.DataFrame:
        """Tabulate each table's share and its median ratio at each epsilon.

        ``even_share`` are the shares, of the same sum, at which all tables would have the same
        median ratio: with noise of variance in proportion to 1 / (share mu^2) beside sampling,
        share (ratio^2 - 1) does not depend on the share. It is of the study's own epsilon, or the
        first above at which all medians are shown, and NaN where there is none. It is there where
        entries share the epsilon and have one formula each.
        """
        shares = {each.table: each.share for each in self.forecasts}
        made = pd.DataFrame({"share": shares}, index=self.names)
        for epsilon in self.epsilons:
            ratios = [[each.ratio for each in self.at(epsilon, name)] for name in self.names]
            made[epsilon] = list(map(quantile, ratios))
        if self.shared and math.fsum(shares.values()) <= ROUNDING:
            larger = [made[each] for each in self.epsilons if each >= self.epsilon]
            shown = (ratios for ratios in larger if np.isfinite(ratios).all())
            made["even_share"] = even_shares(made["share"], next(shown, larger[0]))
        return made

    def epsilon_for(self, ratio: float, fraction: float = 0.5, table: str | None = None) -> float:
        """Return the epsilon at which intervals are at most so wide, relative to non-private ones.

        Parameters
        ----------
        ratio : float
            Width relative to that without privacy, > 1.
        fraction : float
            At least this fraction of the intervals are, in (0, 1].
        table : str, optional
            Name of one table; by default all.

        Returns
        -------
        float
            From it on they are. Between two epsilons that were tried it is interpolated, by the law
            that noise adds to the variance in proportion to a power of epsilon: log(ratio^2 - 1)
            is linear in log epsilon. It is the smallest that was tried where this is enough,
            infinite where the largest is not, and NaN where nothing can be compared.

        Raises
        ------
        ArgumentError
            For a ratio or fraction out of range, or an unknown table.
        """
        ratio = number("ratio", 1, _MAX_RATIO, "(]")(ratio)
        fraction = number("fraction", 0, 1, "(]")(fraction)
        if table is not None:
            check_word("table", table, self.names)
        found = {
            epsilon: quantile((each.ratio for each in self.at(epsilon, table)), fraction)
            for epsilon in self.epsilons
        }
        return crossing(found, ratio)

    def promise(self, epsilon: float | None = None) -> str:
        """Say in plain words what an epsilon promises, by default the study's own.

        See :func:`dpstats.study.plans.promise.promise`.
        """
        epsilon = self.epsilon if epsilon is None else positive("epsilon")(epsilon)
        return promise(epsilon, self.delta, self.neighbors)

    def to_csv(self, path) -> None:
        """Write :attr:`frame` to a CSV file, which appears whole or not at all."""
        save_csv(self.frame, path)

    def to_html(self, path=None) -> str:
        """Write the plan as a page with a slider for epsilon, which needs no network.

        Parameters
        ----------
        path : str or path, optional
            A file to write it to, which appears whole or not at all.

        Returns
        -------
        str
            The page.
        """
        from dpstats.study.plans.page import page

        text = page(self)
        if path is not None:
            with replacing(path) as temporary:
                Path(temporary).write_text(text, encoding="utf-8")
        return text

    @plot_method
    def plot(self, ax=None):
        """Draw the median ratio of each table against epsilon; needs matplotlib.

        Returns
        -------
        matplotlib axes
        """
        from dpstats.study.plans.plot import ratios

        return ratios(self, ax)

    def summary(self) -> str:
        """Write the widths by table and epsilon, the epsilons for three widths, and notes."""
        return as_text(self)

    __repr__ = summary

    def _repr_html_(self) -> str:
        return as_html(self)
