"""Hold what releases tell beyond their coefficients, as frozen classes, one for a family.

Evidence knows the covariance, the figures and the replicates that follow from it, and how it is
stored; the formulas are in ``inference``, and what draws noise or reads rows is in ``estimators``.
"""

from dpstats.evidence.by_coefficient import BlockEvidence, NewtonEvidence
from dpstats.evidence.ends_evidence import EndsEvidence
from dpstats.evidence.evidence import Evidence
from dpstats.evidence.instrument_evidence import InstrumentEvidence
from dpstats.evidence.line_evidence import LineEvidence
from dpstats.evidence.link_evidence import LinkEvidence, LogisticEvidence, PoissonEvidence
from dpstats.evidence.squared_scores import ScoredEvidence
from dpstats.evidence.stack import Columns, Stack, evidence_from_plain
from dpstats.evidence.sums_evidence import SumsEvidence

__all__ = [
    "BlockEvidence",
    "Columns",
    "EndsEvidence",
    "Evidence",
    "InstrumentEvidence",
    "LineEvidence",
    "LinkEvidence",
    "LogisticEvidence",
    "NewtonEvidence",
    "PoissonEvidence",
    "ScoredEvidence",
    "Stack",
    "SumsEvidence",
    "evidence_from_plain",
]
