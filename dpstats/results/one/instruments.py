"""Hold the result of one regression with instruments: releases and public facts."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from dpstats.call import FirstStage
from dpstats.evidence import InstrumentEvidence
from dpstats.formula import InstrumentFormula
from dpstats.inference import (
    ConfidenceSet,
    InstrumentWald,
    anderson_rubin,
    critical_values,
    first_stage_f,
)
from dpstats.option_checks import checked_alpha
from dpstats.results.one.single import DPResults
from dpstats.results.record import Published
from dpstats.results.store.shapes import INSTRUMENTS
from dpstats.schema import Numeric, Schema

# Level of the critical values that a summary states.
_ALPHA = 0.05


@dataclass(frozen=True)
class FirstStageFit:
    """Hold the coefficients of the instruments in the first stage.

    Attributes
    ----------
    params, bse : pandas.Series
        Coefficients of the instruments for the endogenous regressor, and their standard errors,
        privacy noise included; NaN where the noise hides them.
    fvalue : float
        The Wald statistic that all are zero, robust and with the noise, over their number.
    """

    params: pd.Series
    bse: pd.Series
    fvalue: float

    def __str__(self) -> str:
        table = pd.DataFrame({"coef": self.params, "std err": self.bse})
        return f"{table.to_string(float_format='%.4g'.__mod__)}\nF: {self.fvalue:.1f}"

    __repr__ = __str__


class OfInstruments(Published):
    """Say of one fit or of groups, by public facts, what its instruments are."""

    instrument_formula: str
    schema: Schema
    term_bounds: Mapping[str, tuple[float, float]]
    clipping: Mapping[str, Numeric]

    @property
    def written(self) -> str:
        """Return the formula as it was written."""
        return str(self.instrument_formula)

    @cached_property
    def parsed_instruments(self) -> InstrumentFormula:
        """Return the formula with instruments, as parsed."""
        return InstrumentFormula.parse(self.instrument_formula)

    @cached_property
    def instruments(self) -> tuple[str, ...]:
        """Name the columns of the first stage that are instruments."""
        declared = self.schema, self.term_bounds, self.clipping
        stage = FirstStage.of(self.parsed_instruments, *declared)
        columns = stage.instruments(stage.structural(*declared)).columns
        return tuple(stage.design.names[j] for j in columns)

    def to_dict(self) -> dict[str, Any]:
        """Convert the result to numbers, labels, strings, lists and dicts; NaN becomes None."""
        return {**super().to_dict(), "instruments": self.written}

    @classmethod
    def _fields(cls, content: Mapping) -> dict[str, Any]:
        fields = super()._fields(content)
        return {**fields, "instrument_formula": type(fields["formula"])(content["instruments"])}

    def _strength(self, values: str) -> str:
        """Write what is known of F statistics of the first stage."""
        formula = self.parsed_instruments
        return (
            f"instruments of {formula.endogenous}: {', '.join(formula.instruments)}; F statistic "
            f"of the first stage, robust and with the noise: {values}"
        )


@dataclass(frozen=True, repr=False, eq=False)
class DPIVResults(OfInstruments, DPResults):
    """Hold a private regression with instruments, as :class:`DPResults` holds one without.

    ``formula`` is that of the response on all regressors, of which ``params`` are the
    coefficients, and ``instrument_formula`` what was written. ``status`` is
    ``"weak_instruments"`` where the released F statistic of the first stage is below 10: then
    intervals are unbounded. Else intervals and p-values take critical values that depend on F.
    :meth:`anderson_rubin` has a set that holds however weak the instruments are.

    Examples
    --------
    >>> import dpstats as dp, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> z, hidden = rng.normal(size=(2, 20000))
    >>> d = z + hidden + rng.normal(size=20000)
    >>> table = {"y": 0.5 * d + hidden, "d": d, "z": z}
    >>> with dp.testing.insecure_seed(1):
    ...     fit = dp.dp_iv("y ~ [d ~ z]", table, epsilon=4)
    >>> 0.5 in fit.anderson_rubin(), fit.first_stage.fvalue > 1000
    (True, True)
    >>> dp.DPIVResults.from_json(fit.to_json()) == fit
    True
    """

    _shape = INSTRUMENTS

    instrument_formula: str = ""

    @property
    def first_stage(self) -> FirstStageFit:
        """Return the coefficients of the instruments in the first stage, and its F statistic."""
        names, (coefficients, cov) = self.instruments, self._reduced
        k = len(names)
        return FirstStageFit(
            pd.Series(coefficients[1], names),
            pd.Series(np.sqrt(np.diag(cov)[k:]), names),
            first_stage_f(coefficients, cov),
        )

    def anderson_rubin(self, alpha: float = 0.05) -> ConfidenceSet:
        """Return the values of the endogenous regressor's effect that are not rejected.

        The test is that of Anderson and Rubin (1949), robust and with the privacy noise. It holds
        however weak the instruments are, so the set may be unbounded, two half-lines or the whole
        line, and empty where several instruments contradict one another. It costs nothing.
        ``alpha`` is one minus the level of the set.

        Raises
        ------
        ArgumentError
            Unless 0 < alpha < 1.
        """
        return anderson_rubin(*self._reduced, 1 - checked_alpha(alpha), self._degrees)

    @property
    def _reduced(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients (2, k) of instruments in both reduced forms, and covariance."""
        assert isinstance(self.evidence, InstrumentEvidence)
        return self.evidence.reduced, self.evidence.reduced_cov

    @property
    def _degrees(self) -> float:
        """Return the degrees of freedom of the covariance, infinite without clusters."""
        errors = self.uncertainty
        assert isinstance(errors, InstrumentWald), "of a fit with instruments"
        return float(errors.degrees()[0])

    @property
    def strength_notes(self) -> list[str]:
        """Write what the first stage says, and what it does to intervals, in sentences."""
        strength = self.first_stage.fvalue
        said = self._strength(f"{strength:.4g}")
        usual, taken = critical_values(np.array([np.inf, np.sqrt(strength)]), _ALPHA, self._degrees)
        if self.status == "weak_instruments" or taken == usual:
            return [said]
        values = f"{taken:.3g} at {_ALPHA:.0%} in place of {usual:.3g}"
        return [said, f"intervals and p-values take critical values of that F, {values}"]

    @property
    def set_notes(self) -> list[str]:
        """Write the Anderson-Rubin set in a sentence."""
        return [
            f"Anderson-Rubin 95% set of the coefficient of {self.parsed_instruments.endogenous}, "
            f"which holds with weak instruments: {self.anderson_rubin()}"
        ]

    def _derived(self) -> tuple:
        return *super()._derived(), self.first_stage, self.anderson_rubin()
