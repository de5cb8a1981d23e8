"""Check that entries of a study stay together within its epsilon."""

import math

import pytest

from dpstats.errors import ArgumentError
from dpstats.ledger import Asked
from dpstats.privacy import GDP, Call, Composition, PureDP
from dpstats.study import shares

LIMIT = Composition(2.0, 5e-7, "gdp")
ENTRIES = {"a": {"share": 0.2}, "b": {"share": 0.5}, "c": {}, "d": {"formula": "y ~ x"}}


def asked(epsilon: float, delta: float, cost=None, neighbors="add_remove") -> Asked:
    call = Call(epsilon, delta, GDP.of(epsilon, delta) if cost is None else cost)
    return Asked(call, neighbors, {})


def check_squares_add_up():
    """What entries are charged has squares of mu in the proportion of shares, and no more."""
    given = shares.divided(LIMIT, ENTRIES)
    mus = [GDP.of(own["epsilon"], own["delta"]).mu for own in given.values()]
    assert math.fsum(mu**2 for mu in mus) <= LIMIT.mu**2 * (1 + 1e-12)
    for mu, share in zip(mus, [0.2, 0.5, 0.15, 0.15], strict=True):
        assert mu**2 == pytest.approx(share * LIMIT.mu**2, rel=1e-6)


def check_shares_above_1_are_refused():
    """Also by a little, and where entries without a share are left with none."""
    for entries in ({"a": {"share": 0.6}, "b": {"share": 0.400001}}, {"a": {"share": 1}, "b": {}}):
        with pytest.raises(ArgumentError, match="add up to"):
            shares.divided(LIMIT, entries)


def check_calls_are_checked_together():
    """What costs more than was given, is not Gaussian or of another relation is refused."""
    fine = {place: asked(**own) for place, own in shares.divided(LIMIT, {"a": {}, "b": {}}).items()}
    shares.check_together(LIMIT, fine, "gdp")
    wrong = (asked(2.0, 5e-7), asked(0.1, 0.0, PureDP(0.1)), asked(0.1, 5e-7, None, "replace_one"))
    for other in wrong:
        with pytest.raises(ArgumentError):
            shares.check_together(LIMIT, fine | {"b": other}, "gdp")
    with pytest.raises(ArgumentError, match="composition"):
        shares.check_together(LIMIT, fine, "sum")
