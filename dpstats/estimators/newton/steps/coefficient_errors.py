"""Tell which coefficients noise hides, and keep every released variance finite."""

from dataclasses import dataclass, replace

import numpy as np

from dpstats.inference.wald import OVERFLOW

# A coefficient is hidden if weak directions have this part of its variance or more.
_HIDDEN = 0.5
REASON = (
    "the variance of some coefficients is larger than numbers go, so their intervals are "
    "unbounded; write their columns in units in which values are not as small"
)


@dataclass(frozen=True)
class CoefficientErrors:
    """Hold covariances (S, S) of the errors of coefficients.

    ``cov`` is of all errors, ``hidden`` of those in weak directions, which the noise could account
    for, and ``privacy`` of those that the noise makes. ``seen`` (S,) tells the coefficients that
    weak directions do not decide, and ``lost`` (S,) those of which a variance overflows: it is
    ``OVERFLOW`` then, and their covariances are 0.
    """

    cov: np.ndarray
    hidden: np.ndarray
    privacy: np.ndarray
    seen: np.ndarray
    lost: np.ndarray

    @classmethod
    def of(
        cls,
        cov: np.ndarray,
        hidden: np.ndarray,
        noise: np.ndarray,
        bias: np.ndarray | float = 0.0,
    ) -> "CoefficientErrors":
        """Add to covariances that of a bias of unknown sign, which the noise's limits make."""
        privacy = noise + bias
        lost = overflows(cov + bias, privacy)
        seen = (np.diag(hidden) < _HIDDEN * np.diag(cov)) & ~lost
        hidden = hidden + bias * np.outer(~seen, ~seen)
        return cls(
            marked(cov + bias, lost), marked(hidden, lost), marked(privacy, lost), seen, lost
        )

    def all_hidden(self) -> "CoefficientErrors":
        """Return the errors where nothing is known of any coefficient."""
        return replace(self, hidden=self.cov, seen=np.zeros_like(self.seen))


def overflows(*covs: np.ndarray) -> np.ndarray:
    """Tell the coefficients (S,) of which one of the covariances (S, S) is too large or NaN."""
    return ~np.all([abs(np.diag(cov)) < OVERFLOW for cov in covs], axis=0)


def marked(cov: np.ndarray, lost: np.ndarray) -> np.ndarray:
    """Return a covariance in which the variance of ``lost`` coefficients says that it is."""
    return np.where(lost[:, None] | lost, OVERFLOW * np.eye(len(lost)), cov) if lost.any() else cov
