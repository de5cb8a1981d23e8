"""Hold the plan of one regression per group, and show it as table, text and picture."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from dpstats.errors import ArgumentError
from dpstats.escaping import save_csv
from dpstats.option_checks import whole
from dpstats.planning.result import Plan, as_html, as_text
from dpstats.results.show.plot_method import plot_method


@dataclass(frozen=True, repr=False)
class GroupPlan:
    """Hold forecasts of the fits of ``by=`` by the size of a group; nothing is spent.

    Attributes
    ----------
    by : str or tuple of str
    plans : mapping of int to Plan
        By the number of rows of a group.
    groups : mapping of int to int
        How many groups have about so many rows.
    n : int
        Rows of all groups together.
    sizes : int
        How many different sizes were guessed, of which ``plans`` may hold a few.
    unit : str or None
        The column of persons, whose rows are used in ``max_groups`` groups.
    max_groups : int
    """

    by: str | tuple[str, ...]
    plans: Mapping[int, Plan]
    groups: Mapping[int, int]
    n: int
    sizes: int
    unit: str | None = None
    max_groups: int = 1

    @property
    def frame(self) -> pd.DataFrame:
        """Tabulate the frames of all plans, with the columns ``rows`` and ``groups`` before."""
        return self._joined({size: plan.frame for size, plan in self.plans.items()})

    @property
    def least(self) -> pd.DataFrame:
        """Tabulate the minimum epsilon by size and method; without a target width no rows."""
        return self._joined({size: plan.least for size, plan in self.plans.items()})

    @property
    def slopes(self) -> tuple[str, ...]:
        """List the coefficients but the intercept, unless there is no other."""
        return self._any.slopes

    @property
    def formula(self) -> str:
        """Return the formula."""
        return self._any.formula

    @property
    def target(self) -> str:
        """Return the width asked for, in words; empty without one."""
        return self._any.target

    def to_csv(self, path) -> None:
        """Write :attr:`frame` to a CSV file, which appears whole or not at all."""
        save_csv(self.frame, path)

    @plot_method
    def plot(self, term: str | None = None, ax=None, rows: int | None = None):
        """Draw the error of a term against epsilon for groups of so many rows; needs matplotlib.

        Parameters
        ----------
        term : str, optional
            By default the first slope.
        ax : matplotlib axes, optional
        rows : int, optional
            A size in :attr:`plans`, by default the middle one.

        Returns
        -------
        matplotlib axes
        """
        sizes = list(self.plans)
        rows = sizes[len(sizes) // 2] if rows is None else whole("rows", 1)(rows)
        if rows not in self.plans:
            listed = ", ".join(map(str, sizes))
            raise ArgumentError(f"expected rows to be one of {listed}, got {rows!r}")
        return self.plans[rows].plot(term, ax)

    def summary(self, term: str | None = None) -> str:
        """Write the forecasts of a term, by default of every slope, as text."""
        terms, notes = self._any.shown(term), self.notes(term)
        return as_text(self.title, self.target, self.least, self.frame, terms, notes)

    __repr__ = summary

    def to_html(self, term: str | None = None) -> str:
        """Write :meth:`summary` as HTML; names are escaped."""
        terms, notes = self._any.shown(term), self.notes(term)
        return as_html(self.title, self.target, self.least, self.frame, terms, notes)

    _repr_html_ = to_html

    @property
    def title(self) -> str:
        """Say what is forecast."""
        by = self.by if isinstance(self.by, str) else ", ".join(self.by)
        return f"Forecast of {self.formula} by {by}"

    def notes(self, term: str | None = None) -> list[str]:
        """Explain the numbers of :meth:`summary`, their assumptions, and why some are missing."""
        first, *others = dict.fromkeys(
            note for plan in self.plans.values() for note in plan.notes(term)
        )
        return [first, *self._about_groups(), *others]

    def _about_groups(self) -> list[str]:
        """Explain what the sizes stand for."""
        groups = sum(self.groups.values())
        texts = [
            f"{groups:,} groups, {self.n:,} rows: a table is one group of so many rows, fitted "
            f"with {self._budget}; coefficients and residuals are guessed to be alike in all "
            "groups."
        ]
        if self.sizes > len(self.plans):
            texts.append(
                f"The {self.sizes:,} sizes are put into {len(self.plans)} classes of about as many "
                "groups each, which stand at the median of their sizes."
            )
        return texts

    @property
    def _budget(self) -> str:
        """Say what budget a group has."""
        if self.unit is None:
            return "the whole epsilon, because no row is in two groups"
        if self.max_groups == 1:
            return f"the whole epsilon, because the rows of one {self.unit} are used in one group"
        return (
            f"1/{self.max_groups} of the budget, because the rows of one {self.unit} are used in "
            f"at most {self.max_groups} groups"
        )

    @property
    def _any(self) -> Plan:
        """Return the plan of the smallest groups, which has the same terms as all."""
        return next(iter(self.plans.values()))

    def _joined(self, frames: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
        """Stack frames, with the size and the number of groups in front."""
        parts = [
            pd.DataFrame({"rows": size, "groups": self.groups[size]}, table.index).join(table)
            for size, table in frames.items()
        ]
        return pd.concat(parts, ignore_index=True)
