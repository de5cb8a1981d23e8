"""Describe the first stage of a regression with instruments by public facts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dpstats.errors import FormulaError
from dpstats.estimators.contract import Instruments, Reference
from dpstats.formula import Design, InstrumentFormula
from dpstats.schema import Numeric, Schema


@dataclass(frozen=True)
class FirstStage:
    """Hold the regression of d on x and z, where the request is that of y on x and z.

    ``design`` is that of y on x and z with d as the response, and ``reference`` what was released
    of d.
    """

    formula: InstrumentFormula
    design: Design
    reference: Reference | None = None

    @classmethod
    def of(cls, formula: InstrumentFormula, schema: Schema, bounds, clipping) -> "FirstStage":
        """Build the first stage under a public schema; FormulaError where columns do not agree."""
        found = cls(formula, formula.first_stage.design(schema, bounds, clipping))
        _ = found.instruments(found.structural(schema, bounds, clipping))
        return found

    def structural(self, schema: Schema, bounds, clipping: Mapping[str, Numeric]) -> Design:
        """Build the design of y on x and d."""
        return self.formula.structural.design(schema, bounds, clipping)

    def instruments(self, structural: Design) -> Instruments:
        """Tell which columns are instruments, and where those of y on x and d stand."""
        names, endogenous = self.design.names, self.formula.endogenous
        if endogenous not in structural.names:
            raise FormulaError(
                f"{self.formula.text!r}: the endogenous regressor {endogenous} must be a number; "
                "for a condition write I((d > 0) * 1)"
            )
        exogenous = [name for name in structural.names if name != endogenous]
        if not set(exogenous) <= set(names) or len(exogenous) + 1 != len(structural.names):
            raise FormulaError(
                f"{self.formula.text!r}: with the instruments the other columns are "
                f"{', '.join(names)}, without them {', '.join(exogenous)}, and these are to stay; "
                "write the intercept, and instruments that cross no factor outside the brackets"
            )
        low, high = self.design.response_bounds
        return Instruments(
            tuple(j for j, name in enumerate(names) if name not in exogenous),
            tuple(names.index(n) if n != endogenous else -1 for n in structural.names),
            self.reference,
            (float(low), float(high)),
        )

    def with_released(self, design: Design, reference: Reference) -> "FirstStage":
        """Return the first stage with what was released of its columns."""
        return replace(self, design=design, reference=reference)
