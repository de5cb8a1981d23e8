"""Write what a call returned as JSON text."""

import json
from collections.abc import Mapping


def to_text(results) -> str:
    """Write a result, or a dict of results by formula, as one line of JSON.

    NaN and infinities are written as Python's json module does;
    :func:`dpstats.results.restored_calls.from_text` reads it.
    """
    return json.dumps(_content(results), separators=(",", ":"))


def _content(results) -> dict:
    if isinstance(results, Mapping):
        return {"several": [[name, _content(result)] for name, result in results.items()]}
    if hasattr(results, "figures"):
        return {"description": results.to_dict()}
    grouped = hasattr(results, "labels")
    if hasattr(results, "anderson_rubin"):
        return {"instrument_groups" if grouped else "instruments": results.to_dict()}
    return {"groups" if grouped else "single": results.to_dict()}
