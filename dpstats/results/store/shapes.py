"""Check that the content of a stored result has the types that one was written with."""

import math
from collections.abc import Mapping

import numpy as np

from dpstats.engines.columns import cells
from dpstats.engines.labels.stored_labels import restored
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE


def check(content, shape, place: str = "a result") -> None:
    """Raise ValueError, which names the place, unless the content has a shape.

    Parameters
    ----------
    content : what json.loads returns
    shape
        A function that tells whether a value fits; a list of one shape, that of each element; a
        tuple of shapes, one of which is to fit; or a dict of shapes by name, where the name "*"
        stands for any.
    """
    if isinstance(shape, tuple):
        _check_one_of(content, shape, place)
    elif isinstance(shape, list):
        _fits(isinstance(content, list), place)
        for i, part in enumerate(content):
            check(part, shape[0], f"{place}[{i}]")
    elif isinstance(shape, dict):
        _fits(isinstance(content, Mapping) and all(map(text, content)), place)
        for name in shape:
            _fits(name == "*" or name in content, f"{place}.{name}")
        for name, part in content.items():
            _fits(name in shape or "*" in shape, f"{place}.{name}")
            check(part, shape.get(name, shape.get("*")), f"{place}.{name}")
    else:
        _fits(shape(content), place)


def _check_one_of(content, shapes: tuple, place: str) -> None:
    for shape in shapes[:-1]:
        try:
            return check(content, shape, place)
        except ValueError:
            continue
    return check(content, shapes[-1], place)


def _fits(fits: bool, place: str) -> None:
    if not fits:
        raise ValueError(place)


def text(value) -> bool:
    """Tell texts that UTF-8 can write."""
    return isinstance(value, str) and cells.is_utf8(value)


def number(value) -> bool:
    """Tell finite numbers that a double holds."""
    try:
        return type(value) in (int, float) and math.isfinite(float(value))
    except OverflowError:
        return False


def array(value) -> bool:
    """Tell lists of finite numbers and None, or of such lists of equal lengths."""
    parts = np.array(value, dtype=object).ravel() if wide_array(value) else [math.nan]
    return all(part is None or math.isfinite(part) for part in parts)


def wide_array(value) -> bool:
    """Tell lists of numbers and None, or of such lists of equal lengths; NaN and inf are some."""
    if not isinstance(value, list):
        return False
    parts = np.array(value, dtype=object).ravel().tolist()
    if not {*map(type, parts)} <= {int, float, type(None)}:
        return False
    try:
        return np.array(value, dtype=float).ndim <= 3
    except OverflowError:
        return False


def above(value) -> bool:
    """Tell numbers above zero."""
    return number(value) and value > 0


def count(value) -> bool:
    """Tell whole numbers from 0."""
    return type(value) is int and 0 <= value < 2**63


def flag(value) -> bool:
    """Tell truth values."""
    return isinstance(value, bool)


def none(value) -> bool:
    """Tell what is missing."""
    return value is None


def label(value) -> bool:
    """Tell what a label was stored as."""
    found = restored(value)  # of several columns a label of each
    parts = found if isinstance(found, tuple) else (found,)
    return all(cells.label(part) is not None for part in parts)


def _relation(value) -> bool:
    return value in (ADD_REMOVE, REPLACE_ONE) if text(value) else False


def _names(value) -> bool:
    """Tell lists of texts that are not empty."""
    return isinstance(value, list) and bool(value) and all(map(text, value))


_RANGE = {"low": number, "high": number}
_KIND = (_RANGE, {"levels": [label], "ordered": flag}, {})
_TEXTS = [text]
_COST = ({"mu": above}, {"epsilon": above}, {"epsilon": above, "delta": number})
_EVENT = {"step": text, "mechanism": text, "sensitivity": number, "scale": above, "cost": _COST}
_ALONE = {
    "neighbors": _relation, "epsilon": above, "delta": number, "limit": _COST, "events": [_EVENT],
    "assumptions": _TEXTS, "private": flag, "parallel": flag, "unit": (text, none),
    "max_rows": count, "max_groups": count,
}  # fmt: skip
_REPORT = {**_ALONE, "together": count}, _ALONE
_EVIDENCE = {"kind": text, "*": (number, none, array)}
_STACK = {
    "params": wide_array, "cov": wide_array, "has_companions": flag,
    "evidence": {"kind": text, "*": wide_array},
}  # fmt: skip
_RELEASE = {
    "status": text, "cov": (none, array), "reasons": {"*": text}, "note": text, "limited": flag,
    "evidence": _EVIDENCE, "cov_type": text,
}  # fmt: skip
_COMMON = {
    "formula": text, "selected": (none, _TEXTS), "plan": text, "share": above, "method": text,
    "schema": {"*": _KIND}, "clipping": {"*": _RANGE}, "estimated": _TEXTS, "privacy": _REPORT,
    "term_bounds": {"*": array}, "x_new": array,
}  # fmt: skip
_COMPANION = {"params": array, "predictions": array, **_RELEASE, "companion": none}
SINGLE = {
    **_COMMON, **_RELEASE, "dialect": text, "nobs": (none, count), "params": {"*": (number, none)},
    "predictions": {"*": (number, none)}, "rows_seen": (none, array),
    "fit_statistics": {"*": array}, "companion": (none, _COMPANION),
}  # fmt: skip
INSTRUMENTS = {**SINGLE, "instruments": text}
_PATSY_GROUPS = {
    **_COMMON, "size": count, "cov_type": text, "labels_present": flag, "limited": flag,
    "names": _TEXTS, "released": _TEXTS, "reasons": _TEXTS, "by": (text, _names), "labels": [label],
    "estimates": wide_array, "stack": _STACK, "sizes": (none, [count]),
}  # fmt: skip
_GROUPS = {**_PATSY_GROUPS, "dialect": text}
# groups stored before 0.2 have no dialect
GROUPS = _PATSY_GROUPS, _GROUPS
INSTRUMENT_GROUPS = {**_GROUPS, "instruments": text}
_NUMBER = (number, lambda value: value in ("nan", "inf", "-inf") if text(value) else False)
DESCRIPTION = {
    "by": (text, none), "quantiles": [number], "alpha": above, "privacy": _REPORT, "notes": _TEXTS,
    "bars": [{
        "group": (none, label), "variable": text, "left": _NUMBER, "right": _NUMBER,
        "estimate": _NUMBER, "std_error": _NUMBER, "lower": _NUMBER, "upper": _NUMBER,
    }],
    "figures": [{
        "group": (none, label), "variable": text, "level": (none, label), "statistic": text,
        "estimate": _NUMBER, "std_error": _NUMBER, "lower": _NUMBER, "upper": _NUMBER,
        "status": text,
    }],
}  # fmt: skip
