"""Hold private regressions with instruments by group."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpstats.evidence import InstrumentEvidence
from dpstats.inference import InstrumentWald, anderson_rubin
from dpstats.option_checks import checked_alpha
from dpstats.results.many.group_member import member
from dpstats.results.many.groups import DPGroupResults
from dpstats.results.one.instruments import DPIVResults, OfInstruments
from dpstats.results.store.shapes import INSTRUMENT_GROUPS


@dataclass(frozen=True, repr=False, eq=False)
class DPIVGroupResults(OfInstruments, DPGroupResults):
    """Hold private regressions with instruments by group.

    It is used as :class:`DPGroupResults` is, and ``by[label]`` is a :class:`DPIVResults`, whose
    intervals allow for the strength of the group's own first stage. ``formula`` is that of the
    response on all regressors, and ``instrument_formula`` what was written.

    Examples
    --------
    >>> import dpstats as dp, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> z, hidden = rng.normal(size=(2, 40000))
    >>> d = z + hidden + rng.normal(size=40000)
    >>> sex = rng.choice(["f", "m"], 40000)
    >>> table = {"y": np.where(sex == "f", 1.0, 0.0) * d + hidden, "d": d, "z": z, "sex": sex}
    >>> with dp.testing.insecure_seed(1):
    ...     by = dp.dp_iv("y ~ [d ~ z]", table, by="sex", groups=["f", "m"], epsilon=4)
    >>> by.params["d"].round(1).abs().tolist()
    [1.0, 0.0]
    >>> bool(by.first_stage["fvalue"].min() > 1000), 1.0 in by.anderson_rubin()["f"]
    (True, True)
    >>> dp.DPIVGroupResults.from_json(by.to_json()) == by
    True
    """

    _shape = INSTRUMENT_GROUPS

    instrument_formula: str = ""

    def _member(self, number: int) -> DPIVResults:
        fit = member(self, number)
        return DPIVResults(**vars(fit), instrument_formula=self.instrument_formula)

    @property
    def first_stage(self) -> pd.DataFrame:
        """Tabulate the first stage, a row per group and instrument.

        Returns
        -------
        pandas.DataFrame
            Columns: by, ``term``, ``estimate`` and ``std_error``, privacy noise included, and
            ``fvalue``, the F statistic of the group, as of :attr:`DPIVResults.first_stage`. NaN
            where the noise hides them.
        """
        (coefficients, cov), k = self._reduced, len(self.instruments)
        errors = np.sqrt(np.diagonal(cov, axis1=1, axis2=2)[:, k:])
        return pd.DataFrame(
            {
                **self._long(self.instruments),
                "estimate": coefficients[:, 1].ravel(),
                "std_error": errors.ravel(),
                "fvalue": self._strengths.repeat(k),
            }
        )

    def anderson_rubin(self, alpha: float = 0.05) -> pd.Series:
        """Return by group the effects of the endogenous regressor that are not rejected.

        They are :class:`dpstats.inference.ConfidenceSet`, as of :meth:`DPIVResults.anderson_rubin`,
        of level 1 - alpha.

        Raises
        ------
        ArgumentError
            Unless 0 < alpha < 1.
        """
        level, degrees = 1 - checked_alpha(alpha), self._wald.degrees()
        found = pd.Series(index=self._index(), dtype=object, name="anderson_rubin")
        for g, (coefficients, cov, free) in enumerate(zip(*self._reduced, degrees, strict=True)):
            found.iat[g] = anderson_rubin(coefficients, cov, level, float(free))
        return found

    @property
    def _reduced(self) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients (G, 2, k) of instruments in both reduced forms, and covariances."""
        assert isinstance(self.evidence, InstrumentEvidence)
        return self.evidence.reduced, self.evidence.reduced_cov

    @property
    def _wald(self) -> InstrumentWald:
        errors = self.uncertainty
        assert isinstance(errors, InstrumentWald), "of fits with instruments"
        return errors

    @property
    def _strengths(self) -> np.ndarray:
        """Return the F statistic of each group's first stage (G,)."""
        return self._wald.strengths() ** 2

    @property
    def strength_notes(self) -> list[str]:
        """Write what the first stages say, in a sentence."""
        known = self._strengths[~np.isnan(self._strengths)]
        if not len(known):
            return [self._strength("hidden by the noise in every group")]
        low, median, high = np.quantile(known, [0, 0.5, 1])
        return [self._strength(f"{low:.4g} to {high:.4g}, median {median:.4g}")]

    def _derived(self) -> tuple:
        return *super()._derived(), self.first_stage, self.anderson_rubin()
