"""Say what each row of a description counts for, and in which group."""

from dataclasses import dataclass

import numpy as np

from dpstats.engines.units import PARTS, UNIT
from dpstats.rows import PrivacyUnit, Weights
from dpstats.rows.in_use import only
from dpstats.rows.privacy_unit import ONE
from dpstats.schema import Batch


@dataclass(frozen=True)
class Counting:
    """Count rows once each, or in parts: those of a unit for one together, and by weights.

    With u the part of a row among those of its unit in its group (:class:`PrivacyUnit`; without a
    unit 1) and w / w_max its weight's part of the largest, a row counts for floor(2^20 u w / w_max)
    of 2^20. So a row, or all rows of a unit in one group, count for at most 2^20, which is ``one``,
    and what they count for depends on the rows of the unit alone.
    """

    unit: PrivacyUnit | None = None
    weights: Weights | None = None
    by: str | None = None

    @property
    def one(self) -> int:
        """Return what the rows of a unit in one group count for at most, 1 without parts."""
        return 1 if self.unit is None and self.weights is None else ONE

    @property
    def in_groups(self) -> int:
        """Return in how many groups the rows of a unit count."""
        return 1 if self.unit is None else self.unit.max_groups

    @property
    def stands_for(self) -> float:
        """Return the rows, or the sum of weights, that what counts for ``one`` stands for."""
        rows = 1 if self.unit is None else self.unit.max_rows
        return float(rows) if self.weights is None else rows * self.weights.largest

    def of(self, batch: Batch) -> Batch:
        """Return the rows in use of a batch that count, with their parts where they have some.

        With a unit the batch has all of its rows in use. Rows of groups beyond ``max_groups`` are
        left out.
        """
        if self.unit is not None and self.by is not None:
            parts, codes = self.unit.in_groups(batch[UNIT], batch[self.by])
            batch = only({**batch, PARTS: parts}, codes >= 0)
        elif self.unit is not None:
            batch = self.unit.with_parts(batch)
        if self.weights is None:
            return batch
        parts = self.weights.parts(batch[self.weights.column]) * batch.get(PARTS, ONE)
        return {**batch, PARTS: np.floor(parts)}
