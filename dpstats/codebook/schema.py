"""Read what is declared of the columns of a data set: bounds, levels and types."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from dpstats.codebook.toml_file import check_names, parsed
from dpstats.engines.columns import KINDS
from dpstats.errors import ArgumentError, shown
from dpstats.option_checks import file_path, two_numbers
from dpstats.schema import FARTHEST, check_labels, plain_labels
from dpstats.spelling import check_word

PARTS = ("bounds", "levels", "types")
_FORMS = {"bounds": "(low, high)", "levels": "[levels]", "types": "kind"}


@dataclass(frozen=True)
class Schema:
    """Declare the columns of a data set once, for all of its regressions.

    A regression takes from it what concerns its own columns. What is declared here must be known
    without the data, as from a codebook or a questionnaire.

    Parameters
    ----------
    bounds : mapping, optional
        ``{column: (low, high)}`` of numbers; a term of a formula may stand for a column.
    levels : mapping, optional
        ``{column: [levels]}`` of categories: every value that may occur.
    types : mapping, optional
        ``{column: kind}``, as in :func:`dpstats.dp_ols`, for columns without a type of their own.

    Raises
    ------
    ArgumentError
        For bounds, levels or types that cannot be used, and for a column with both of the former.

    Examples
    --------
    >>> schema = Schema(bounds={"age": (18, 99)}, levels={"region": ["north", "south"]})
    >>> schema.bounds, schema.levels
    ({'age': (18.0, 99.0)}, {'region': ('north', 'south')})
    """

    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    levels: Mapping[str, tuple] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self):
        bounds, levels, types = (_mapping(getattr(self, part), part) for part in PARTS)
        for name, values in levels.items():
            check_labels(values, f"levels[{name!r}]")
            if name in bounds:
                raise ArgumentError(
                    f"bounds and levels both name {name!r}; give bounds if it is a number, levels "
                    "if it is a category"
                )
        for name, kind in types.items():
            check_word(f"types[{name!r}]", kind, KINDS)
        checked = {name: public_range(name, pair) for name, pair in bounds.items()}
        object.__setattr__(self, "bounds", checked)
        object.__setattr__(self, "levels", {n: plain_labels(each) for n, each in levels.items()})
        object.__setattr__(self, "types", types)

    @classmethod
    def of(cls, given) -> "Schema":
        """Return what ``schema=`` declares.

        Parameters
        ----------
        given : Schema, mapping, path or None
            A mapping has the entries ``bounds``, ``levels`` and ``types``; so has a TOML file.

        Raises
        ------
        ArgumentError
            For a file that cannot be read, another entry or anything else.

        Examples
        --------
        >>> Schema.of({"bounds": {"age": [18, 99]}})
        Schema(bounds={'age': (18.0, 99.0)}, levels={}, types={})
        """
        if given is None or isinstance(given, Schema):
            return given or cls()
        if isinstance(given, str | os.PathLike):
            path = file_path("schema")(given)
            given, place = parsed(path), path.name
        elif isinstance(given, Mapping):
            place = "schema"
        else:
            raise ArgumentError(
                "expected schema to be a dpstats.Schema, a mapping or the path of a TOML file, got "
                f"{shown(given)}"
            )
        check_names(given, PARTS, place)
        return cls(**given)

    def updated(self, bounds=None, levels=None, types=None) -> "Schema":
        """Add the declarations of one call, which take the place of those here.

        Examples
        --------
        >>> Schema(bounds={"age": (18, 99)}).updated(levels={"age": [20, 30]}).bounds
        {}
        """
        given = Schema(*(_mapping(part, name) for name, part in zip(PARTS, (bounds, levels, types),
                                                                    strict=True)))  # fmt: skip
        bounds = {n: pair for n, pair in self.bounds.items() if n not in given.levels}
        levels = {n: labels for n, labels in self.levels.items() if n not in given.bounds}
        return Schema(
            {**bounds, **given.bounds}, {**levels, **given.levels}, {**self.types, **given.types}
        )


def _mapping(given, part: str) -> dict:
    """Return one part of a schema, empty where it is left out."""
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentError(
            f"expected {part} to be a mapping {{column: {_FORMS[part]}}}, got "
            f"{type(given).__name__}"
        )
    return dict(given or {})


def public_range(name: str, pair) -> tuple[float, float]:
    """Return declared bounds of one column or term as two numbers, low < high."""
    try:
        low, high = two_numbers(pair)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(
            f"expected bounds[{name!r}] to be (low, high), two numbers, got {shown(pair)}"
        ) from None
    if not -FARTHEST <= low < high <= FARTHEST:
        raise ArgumentError(
            f"expected bounds[{name!r}] to be finite (within {FARTHEST:g} of zero) with "
            f"low < high, got ({low:g}, {high:g})"
        )
    if high - low < 1 / FARTHEST:
        raise ArgumentError(
            f"expected bounds[{name!r}] to be at least {1 / FARTHEST:g} apart, "
            f"got ({low:g}, {high:g})"
        )
    return low, high
