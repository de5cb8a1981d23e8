"""Shrink the released estimates of groups toward the mean of the groups."""

import textwrap
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.errors import NotReleasedError
from dpstats.html_tables import html_notes, html_table
from dpstats.inference.empirical_bayes import LEAST_ESTIMATES, normal_posterior
from dpstats.option_checks import checked_alpha
from dpstats.spelling import check_word

ASSUMPTIONS = (
    "the true values of the groups are taken as draws from one normal distribution, and released "
    "estimates as normal around them with their standard errors, privacy noise included, as known",
    "groups without a standard error take no part and stay NaN",
    "intervals cover on average over the groups, not in each: a group that is far from the others "
    "is drawn toward them",
    "a function of released values, so it costs no budget",
)
_SHOWN = 10


@dataclass(frozen=True, repr=False)
class ShrunkenGroups:
    """Hold estimates of groups, shrunken toward their mean.

    Attributes
    ----------
    term : str
    frame : pandas.DataFrame
        A row per group; columns ``estimate`` and ``std_error`` as released, ``shrunken`` (the
        posterior mean), ``std_dev`` (the posterior standard deviation), ``lower`` and ``upper``,
        and ``shrinkage``, the part of the way to the mean, in [0, 1).
    mean, spread : float
        Estimated mean and standard deviation of the groups' true values.
    groups : int
        Number of groups that took part.
    """

    term: str
    frame: pd.DataFrame
    mean: float
    spread: float
    groups: int

    def summary(self) -> str:
        """Write the first groups and the assumptions as text."""
        table = self.frame.head(_SHOWN).to_string(float_format="{:.4f}".format)
        notes = (textwrap.fill(note, 78, subsequent_indent="    ") for note in self._notes())
        return "\n".join([self._heading(), table, *notes])

    __repr__ = summary

    def _repr_html_(self) -> str:
        rows = [
            [", ".join(map(str, label)) if isinstance(label, tuple) else label,
             *map("{:.4f}".format, numbers)]
            for label, *numbers in self.frame.head(_SHOWN).itertuples()
        ]  # fmt: skip
        table = html_table(rows, ["", *self.frame], self._heading())
        return f"{table}\n{html_notes(self._notes())}"

    def _heading(self) -> str:
        return (
            f"{self.term} of {self.groups:,} groups, shrunken toward their mean {self.mean:.4g} "
            f"(standard deviation between groups {self.spread:.4g})"
        )

    def _notes(self) -> list[str]:
        rest = len(self.frame) - _SHOWN
        more = [f"{rest:,} more groups are in frame"] if rest > 0 else []
        return [f"[{i}] {note}" for i, note in enumerate((*more, *ASSUMPTIONS), start=1)]


def shrink_groups(result, term: str, alpha: float) -> ShrunkenGroups:
    """Shrink one quantity of a :class:`DPGroupResults`; see its method ``shrink``."""
    from scipy.special import ndtri

    check_word("term", term, result.names)
    alpha, j = checked_alpha(alpha), result.names.index(term)
    estimates, errors = result.centers[:, j], result.errors[:, j]
    # errors of groups that are not identified say little of how far off these are
    identified = np.array(result.statuses) != "not_identified"
    used = identified & np.isfinite(estimates) & np.isfinite(errors) & (errors > 0)
    if used.sum() < LEAST_ESTIMATES:
        why = "; ".join(result.reasons) or "the others are not identified or not released"
        raise NotReleasedError(
            f"shrink() needs {LEAST_ESTIMATES} groups with standard errors and there are "
            f"{used.sum()}: {why}"
        )
    posterior = normal_posterior(estimates[used], errors[used])
    half = -float(ndtri(alpha / 2)) * posterior.deviation
    columns = {
        "shrunken": posterior.mean,
        "std_dev": posterior.deviation,
        "lower": posterior.mean - half,
        "upper": posterior.mean + half,
        "shrinkage": posterior.shrinkage,
    }
    table = np.full((len(result), len(columns)), np.nan)
    table[used] = np.column_stack(list(columns.values()))
    released = pd.DataFrame({"estimate": estimates, "std_error": errors}, result.status.index)
    frame = released.join(pd.DataFrame(table, released.index, list(columns)))
    return ShrunkenGroups(term, frame, posterior.center, posterior.spread, int(used.sum()))
