"""Describe the assumed groups whose effects a formula absorbs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from dpstats.call import Request
from dpstats.errors import ArgumentError
from dpstats.estimators.contract import Problem
from dpstats.evaluate.references import ols
from dpstats.option_checks import number, whole
from dpstats.schema import Numeric

_SHARE = 0.5


@dataclass(frozen=True)
class PanelGuess:
    """Hold groups of about equal size, and how much of each variable varies within them.

    A variable is a function of z = sqrt(1 - w) a_g + sqrt(w) e_i with standard normal a_g for the
    group and e_i for the row, so that its distribution over all rows is the one without groups.

    Parameters
    ----------
    column : str
        The absorbed column.
    groups : int
        Number of groups.
    within : mapping of str to float
        The share of the variance of each numeric regressor that is within groups, and under the
        response's name that of its deviations from the regression.
    """

    column: str
    groups: int
    within: Mapping[str, float]

    @classmethod
    def of(cls, request: Request, n: int, groups, within_share, icc=None) -> "PanelGuess | None":
        """Check the guesses; None for a formula that absorbs no column."""
        formula = request.formula
        if icc is not None:
            raise ArgumentError(
                "icc describes the persons of unit= or the clusters of cluster=; name their column "
                "or leave it out"
            )
        if formula.absorbed is None:
            if groups is not None or within_share is not None:
                raise ArgumentError(
                    "groups and within_share describe the column after | of a formula, and groups "
                    f"those of by=; {formula.text!r} absorbs none"
                )
            return None
        if groups is None:
            raise ArgumentError(
                f"expected groups=, the guessed number of groups of {formula.absorbed}, for the "
                f"effects that {formula.text!r} absorbs"
            )
        if n < 2:
            raise ArgumentError(f"expected n of at least 2 with an absorbed column, got {n}")
        schema = request.design.schema
        numeric = [name for name in formula.predictors if isinstance(schema[name], Numeric)]
        within = shares_within(within_share, numeric, formula.variables[:1], "(]")
        return cls(formula.absorbed, whole("groups", 1, n - 1)(groups), within)

    # the share of the residuals' variance that is each row's own
    row_share = 1.0

    def labels(self, n: int) -> np.ndarray:
        """Return the group (n,) of each row."""
        return np.arange(n) % self.groups

    def uniforms(self, name: str, n: int, generator: np.random.Generator) -> np.ndarray:
        """Draw values (n,) uniform on (0, 1), whose variance within groups has the right share.

        The correlation of two uniform variables made of normal ones with correlation r is
        6 / pi arcsin(r / 2) (Pearson 1907), which is to be 1 - w.
        """
        common = 2 * math.sin(math.pi * (1 - self.within[name]) / 6)
        return ndtr(self._normal(common, n, generator))

    def normals(self, name: str, n: int, generator: np.random.Generator) -> np.ndarray:
        """Draw standard normal values (n,)."""
        return self._normal(1 - self.within[name], n, generator)

    def effects(self, response: str, sd: float, n: int, generator) -> np.ndarray:
        """Draw the effects (n,) of the rows' groups beside residuals with standard deviation sd."""
        w = self.within.get(response, 1.0)
        effects = sd * math.sqrt((1 - w) / w) * generator.normal(size=self.groups)
        return effects[self.labels(n)]

    def _normal(self, common: float, n: int, generator) -> np.ndarray:
        """Draw standard normal values (n,) whose correlation within groups is ``common``."""
        of_groups, of_rows = generator.normal(size=self.groups), generator.normal(size=n)
        return math.sqrt(common) * of_groups[self.labels(n)] + math.sqrt(1 - common) * of_rows

    def deviations(self, values: np.ndarray) -> np.ndarray:
        """Subtract the means of the groups from values (n,) or (n, S)."""
        labels = self.labels(len(values))
        sizes = np.bincount(labels, minlength=self.groups)
        return values - (self.sums(values).T / sizes).T[labels]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Add up values (n,) or (n, S) by group: (groups,) or (groups, S)."""
        sums = np.zeros((self.groups, *values.shape[1:]))
        np.add.at(sums, self.labels(len(values)), values)
        return sums

    def least_squares(self, problem: Problem, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Fit least squares with an effect for each group, by deviations from group means.

        Returns estimates and standard errors, (T, 2).
        """
        fit = ols(self.deviations(X), self.deviations(y), problem=problem)
        left = self.freedom(*X.shape)
        fit[:, 1] *= math.sqrt((left + self.groups) / left) if left > 0 else math.nan
        return fit

    def freedom(self, n: int, columns: int) -> int:
        """Return the degrees of freedom that n rows leave."""
        return n - self.groups - columns

    @property
    def sentence(self) -> str:
        """Write the guess in words."""
        return (
            f"guessed {self.column}: {self.groups:,} groups of equal size; shares of variance "
            f"within them: {self.listed_shares}; factors vary independently of them"
        )

    @property
    def listed_shares(self) -> str:
        """List the shares of variance within groups by name."""
        return ", ".join(f"{name} {share:.3g}" for name, share in self.within.items()) or "none"


def shares_within(
    given, numeric: list[str], others: Sequence[str] = (), ends: str = "[]"
) -> dict[str, float]:
    """Check shares of variance between 0 and 1, one for all numeric regressors or by name.

    ``others`` may be named too; ``ends`` says whether 0 is a share.
    """
    if not isinstance(given, Mapping):
        share = number("within_share", 0, 1, ends)(_SHARE if given is None else given)
        return dict.fromkeys(numeric, share)
    for name in given:
        if name not in (*numeric, *others):
            names = ", ".join([*numeric, *others]) or "none"
            raise ArgumentError(f"within_share names {name!r}; expected names among: {names}")
    shares = {name: number(f"within_share[{name!r}]", 0, 1, ends)(v) for name, v in given.items()}
    return {**dict.fromkeys(numeric, _SHARE), **shares}
