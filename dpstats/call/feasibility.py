"""Check before any row is read that the method can serve every form a request may take."""

import numpy as np

from dpstats.call.prepared import Prepared
from dpstats.call.request import Request
from dpstats.errors import ArgumentError
from dpstats.schema import FARTHEST


def check(request: Request) -> None:
    """Raise ArgumentError unless the method can serve this request, and each selection of terms."""
    method, selection = request.method, request.selection
    _ = request.row_design  # which refuses products that leave the range of doubles
    if selection is None or not method.single_regressor:
        _check_fit(request)
    if selection is not None:
        k, terms = selection.k, selection.candidates
        for chosen in [(term,) for term in terms] if method.single_regressor else [terms[:k]]:
            _check_fit(request.keeping(chosen))


def _check_fit(request: Request) -> None:
    design, method = request.design, request.method
    if method.single_regressor and (design.intercept is None or len(design.names) != 2):
        raise ArgumentError(
            f"{method.name} fits an intercept and one numeric column, got the columns "
            f'{", ".join(design.names)}; for more use method="adassp"'
        )
    if method.single_regressor and request.unbounded and request.x_new is not None:
        raise ArgumentError(
            f"x_new with method={method.name!r} needs declared bounds on {request.unbounded[0]}"
        )
    responses = [end for _, other in request.regressions for end in other.response_bounds]
    reach = np.abs([*design.low, *design.high, *responses]).max()
    if reach > FARTHEST and not request.clipping:
        raise ArgumentError(
            f"a column of {request.formula.text!r} reaches {reach:g}; tighten bounds"
        )
    prepared = Prepared.of(request)
    taken = [label for label in prepared.points if label in design.names]
    if taken:
        raise ArgumentError(
            f"{taken[0]!r} labels a prediction point and names a coefficient too; rename the "
            "column, or give x_new= with another index"
        )
    method.check(prepared.problem, request.options)
