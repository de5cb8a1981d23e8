"""Stack what the intervals of G fits are about: coefficients, covariances and evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.evidence.by_coefficient import BlockEvidence, NewtonEvidence
from dpstats.evidence.ends_evidence import EndsEvidence
from dpstats.evidence.evidence import Evidence, array, plain
from dpstats.evidence.instrument_evidence import InstrumentEvidence
from dpstats.evidence.line_evidence import LineEvidence
from dpstats.evidence.link_evidence import LogisticEvidence, PoissonEvidence
from dpstats.evidence.sums_evidence import SumsEvidence
from dpstats.inference import Uncertainty

_KINDS = {
    kind.__name__: kind
    for kind in (
        *(Evidence, LineEvidence, SumsEvidence, BlockEvidence, NewtonEvidence, LogisticEvidence),
        PoissonEvidence,
        EndsEvidence,
        InstrumentEvidence,
    )
}


@dataclass(frozen=True, eq=False)
class Stack:
    """Hold what the intervals of G fits are about; NaN where nothing was released.

    Parameters
    ----------
    params, cov : numpy.ndarray, shapes (G, S) and (G, S, S)
    evidence : Evidence
        The groups come first.
    has_companions : bool
        Whether some are of auxiliary fits, in the place of those whose intervals they are.
    """

    params: np.ndarray
    cov: np.ndarray
    evidence: Evidence
    has_companions: bool = False

    @classmethod
    def of(cls, releases: Sequence, size: int) -> "Stack":
        """Stack releases of ``size`` coefficients; a companion takes the place of its release."""
        columns = Columns(len(releases), size)
        for g, basis in enumerate(release.basis for release in releases):
            columns.put(g, basis.params, basis.cov, basis.evidence)
        return columns.stack(any(release.companion for release in releases))

    def uncertainty(self) -> Uncertainty:
        """Derive from the releases the distributions of their errors."""
        return self.evidence.uncertainty(self.params, self.cov)

    def to_plain(self) -> dict[str, Any]:
        """Convert it to numbers, lists and dicts, None for NaN."""
        return {
            "params": plain(self.params),
            "cov": plain(self.cov),
            "evidence": self.evidence.to_plain(),
            "has_companions": self.has_companions,
        }

    @classmethod
    def from_plain(cls, content: Mapping, size: int) -> "Stack":
        """Restore what :meth:`to_plain` gives, of fits of ``size`` coefficients."""
        return cls(
            array(content["params"]).reshape(-1, size),
            array(content["cov"]).reshape(-1, size, size),
            evidence_from_plain(content["evidence"], groups=True),
            content["has_companions"],
        )


class Columns:
    """Collect the columns of a stack, some groups at a time."""

    def __init__(self, groups: int, size: int):
        self._groups, self._kind = groups, Evidence
        shapes = {"params": (groups, size), "cov": (groups, size, size)}
        self._columns = {name: np.full(shape, np.nan) for name, shape in shapes.items()}

    def put(self, groups: int | np.ndarray | Sequence[int], params, cov, evidence: Evidence):
        """Fill in one group, or some whose values have the groups first."""
        if issubclass(type(evidence), self._kind):
            self._kind = type(evidence)
        values = {"params": params, "cov": cov, **evidence.values()}
        for name, value in values.items():
            if value is None:
                continue
            shape = np.shape(value)[np.ndim(groups) :]
            if name not in self._columns:
                self._columns[name] = np.full((self._groups, *shape), np.nan)
            column = self._columns[name]
            if column.shape[1:] != shape:
                raise ValueError(f"{name} of other groups has the shape {column.shape[1:]}")
            column[groups] = value

    def stack(self, has_companions: bool) -> Stack:
        """Return the stack of all groups."""
        columns = dict(self._columns)
        params, cov = columns.pop("params"), columns.pop("cov")
        return Stack(params, cov, self._kind(**columns), has_companions)


def evidence_from_plain(content: Mapping, groups: bool = False) -> Evidence:
    """Restore the evidence of a release, or of ``groups``, that ``to_plain`` describes."""
    values = {name: value for name, value in content.items() if name != "kind"}
    return _KINDS[content["kind"]].from_plain(values, groups)
