"""Draw synthetic rows from a study's declarations, without reading its data."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError
from dpstats.study.models import Model, columns_of
from dpstats.study.study_file import Study

_BINARY = frozenset((0.0, 1.0))  # values of a response, not the ends of a range


def synthetic_rows(study: Study, seed: int | np.random.Generator = 0) -> pd.DataFrame:
    """Draw every column of the study's entries on its own: uniform over its bounds or levels.

    The response of a logit is 0 or 1 where no levels are declared.

    Raises
    ------
    ArgumentError
        For a column without declared bounds or levels, or a group column without groups.
    """
    draw = np.random.default_rng(seed)
    columns: dict[str, np.ndarray | pd.Categorical] = {}
    outcomes = {name: _BINARY for model in study.models for name in _outcomes(model)}
    for model in study.models:
        declared = _declared(model, outcomes)
        for name in columns_of(model.parsed, model.arguments):
            if name not in columns:
                columns[name] = _column(name, declared, study.rows, draw)
        columns |= _groups(model, declared, study.rows, draw)
    for model in study.models:  # another model may have declared what this one absorbs
        columns = _labels(model, study.rows, draw) | columns
    return pd.DataFrame(columns)


def _labels(model: Model, rows: int, draw: np.random.Generator) -> dict:
    """Draw labels of absorbed columns, persons and clusters, about ten rows each."""
    absorbed = (formula.absorbed for formula in model.parsed)
    others = (model.arguments.get(name) for name in ("unit", "cluster"))
    names = sorted({name for name in (*absorbed, *others) if name is not None})
    return {name: draw.integers(max(rows // 10, 1), size=rows) for name in names}


def _declared(model: Model, outcomes: Mapping) -> dict:
    """Return levels and ranges by column; levels in the formula itself count too."""
    own = [formula.levels for formula in model.parsed]
    levels = {name: list(values) for each in own for name, values in each.items()}
    arguments = model.arguments
    types = arguments.get("types", {})
    booleans = {name: bool for name, kind in types.items() if kind == "boolean"}
    return {
        **arguments.get("bounds", {}), **outcomes, **booleans, **levels,
        **arguments.get("levels", {}),
    }  # fmt: skip


def _outcomes(model: Model) -> list[str]:
    """Name the responses of logits."""
    parsed = model.parsed if model.kind == "logit" else ()
    return [formula.bare_response or formula.response for formula in parsed]


def _column(name: str, declared: Mapping, rows: int, draw: np.random.Generator):
    values = declared.get(name)
    if isinstance(values, frozenset) or values is bool:
        return draw.integers(2, size=rows).astype(bool if values is bool else float)
    if isinstance(values, tuple):
        low, high = values
        return draw.uniform(low, high, rows)
    if isinstance(values, list):
        return pd.Categorical.from_codes(draw.integers(len(values), size=rows), values)
    raise ArgumentError(
        f"a dry run makes rows up from declarations alone; declare bounds or levels of {name!r}"
    )


def _groups(model: Model, declared: Mapping, rows: int, draw: np.random.Generator) -> dict:
    """Draw the group columns from the listed groups, or those of a description from its levels."""
    by, labels = model.arguments.get("by"), model.arguments.get("groups")
    if by is None:
        return {}
    if not labels and not model.formulas and isinstance(declared.get(by), list):
        return {by: _column(by, declared, rows, draw)}
    if not labels:
        raise ArgumentError(f"a dry run needs the groups of {model.name}: groups = [...]")
    chosen = [labels[i] for i in draw.integers(len(labels), size=rows)]
    if isinstance(by, str):
        return {by: pd.Series(chosen)}
    parts = zip(by, zip(*chosen, strict=True), strict=True)
    return {name: pd.Series(list(values)) for name, values in parts}
