"""Write estimated ranges beside the released share of the rows beyond them."""

import numpy as np

from dpstats.evidence import Evidence
from dpstats.schema import UNLIMITED

# So many ranges are listed.
_LISTED = 12


def note_on_ranges(result) -> list[str]:
    """Write the estimated ranges of a fit or of groups in a sentence, with what lies beyond them.

    Guarantee. Post-processing of releases, so it costs nothing.
    """
    ends = _ranges(result)
    if not ends:
        return []
    listed = [f"{name} [{low:.4g}, {high:.4g}]" for name, (low, high) in ends.items()]
    more = f" and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    use = ("far " if result.clipping else "") + "beyond which rows are clipped"
    said = f"estimated ranges, {use}: {', '.join(listed[:_LISTED])}{more}"
    return [said + _share_beyond(result.evidence)]


def _ranges(result) -> dict[str, tuple[float, float]]:
    """Return the estimated ranges that have ends, by variable."""
    ends = {name: (kind.low, kind.high) for name, kind in result.schema.items()
            if name in result.estimated and kind != UNLIMITED}  # fmt: skip
    # the range of a transformed response is that of the term, unless it was declared
    response = result.formula.split("~")[0].strip()
    first = f"order of magnitude of {response}"
    if response in result.term_bounds and any(e.step == first for e in result.privacy.events):
        ends[response] = result.term_bounds[response]
    return ends


def _share_beyond(evidence: Evidence) -> str:
    """Say which part of the rows lies beyond, of groups in the median one; "" where not released.

    Half of the groups or more may lack it, as the noise hides how many rows they have.
    """
    if evidence.clipped_share is None or evidence.clipped_share_error is None:
        return ""
    shares = np.array([np.ravel(evidence.clipped_share), np.ravel(evidence.clipped_share_error)])
    shares = shares[:, np.isfinite(shares).all(axis=0)]
    if not shares.size:
        return ""
    share, error = np.median(shares, axis=1)
    where = "" if shares.shape[1] == 1 else "; in the median group"
    about = f"about {share:.1%} of the rows (s.e. {error:.1%}) lie beyond one of them"
    return f"{where or ';'} {about}"
