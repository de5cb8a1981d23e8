"""Choose what a table of regressions shows of its columns: stars, labels, terms and notes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dpstats.errors import ArgumentError, shown
from dpstats.spelling import check_word

# those of statsmodels' summary_col and of most journals of economics
STARS = {0.1: "*", 0.05: "**", 0.01: "***"}


@dataclass(frozen=True)
class Layout:
    """Hold the checked choices of a table.

    Attributes
    ----------
    stars : mapping of float to str
        Symbols by the level that a p-value is below; empty for none.
    labels : mapping of str to str
        What is printed in place of a term.
    keep : tuple of str or None
        The terms that are printed, None for all.
    order : tuple of str
        The terms that come first.
    notes : tuple of str
        Printed below the notes that no choice takes away.
    """

    stars: Mapping[float, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    keep: tuple[str, ...] | None = None
    order: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def terms(self, known: Sequence[str]) -> list[str]:
        """List the terms of a table that are printed, in their order."""
        first = dict.fromkeys((*self.order, *known))
        return [term for term in first if self.keep is None or term in self.keep]

    def label(self, term: str) -> str:
        """Return what is printed for a term."""
        return self.labels.get(term, term)

    def symbol(self, p_value: float) -> str:
        """Return the stars of a p-value: those of the lowest level above it, none for NaN.

        >>> layout = Layout(stars=STARS)
        >>> layout.symbol(0.03), layout.symbol(0.05), layout.symbol(float("nan"))
        ('**', '*', '')
        """
        below = [level for level in self.stars if p_value < level]
        return self.stars[min(below)] if below else ""

    def legend(self) -> str:
        """Explain the stars."""
        levels = sorted(self.stars, reverse=True)
        return ", ".join(f"{self.stars[level]} p < {level:g}" for level in levels)


def checked_layout(known: Collection[str], stars, labels, keep, order, notes) -> Layout:
    """Check the choices against the terms that a table has, or raise ArgumentError."""
    return Layout(
        stars=_stars(stars),
        labels=checked_labels("labels", labels, known),
        keep=None if keep is None else _terms("keep", keep, known),
        order=() if order is None else _terms("order", order, known),
        notes=_notes(notes),
    )


def _stars(stars) -> dict[float, str]:
    """Check stars: whether there are any, or symbols by level."""
    if isinstance(stars, bool):
        return STARS if stars else {}
    pairs = list(stars.items()) if isinstance(stars, Mapping) else []
    if not pairs or not all(_is_level(level) and _is_text(mark) for level, mark in pairs):
        raise ArgumentError(
            "expected stars to be True, False or symbols by level between 0 and 1, as in "
            f'{{0.05: "*", 0.01: "**"}}, got {shown(stars)}'
        )
    return dict(pairs)


def _is_level(level) -> bool:
    return isinstance(level, float) and 0 < level < 1


def _is_text(text) -> bool:
    return isinstance(text, str) and bool(text)


def checked_labels(argument: str, labels, known: Collection[str]) -> dict[str, str]:
    """Check labels of terms of the table."""
    pairs = list(labels.items()) if isinstance(labels, Mapping) else []
    if labels is not None and not (
        isinstance(labels, Mapping) and all(_is_text(a) and _is_text(b) for a, b in pairs)
    ):
        raise ArgumentError(
            f"expected {argument} to map terms to texts, as in "
            f'{{"educ": "Years of schooling"}}, got {shown(labels)}'
        )
    check_known(argument, dict(pairs), known)
    return dict(pairs)


def _terms(argument: str, listed, known: Collection[str]) -> tuple[str, ...]:
    """Check a list of different terms."""
    names = [] if isinstance(listed, str) or not isinstance(listed, Sequence) else list(listed)
    if not names or not all(map(_is_text, names)) or len(set(names)) < len(names):
        raise ArgumentError(
            f"expected {argument} to list different terms of the table, as in "
            f'{argument}=["educ"], got {shown(listed)}'
        )
    check_known(argument, names, known)
    return tuple(names)


def check_known(argument: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise ArgumentError for a name that is no term of the table."""
    for name in names:
        check_word(argument, name, known)


def _notes(notes) -> tuple[str, ...]:
    """Check notes: one text or several."""
    listed = [] if notes is None else [notes] if isinstance(notes, str) else notes
    if not isinstance(listed, Sequence) or not all(map(_is_text, listed)):
        raise ArgumentError(
            f'expected notes to be a text or a list of texts, as in notes="Wages in logs.", got '
            f"{shown(notes)}"
        )
    return tuple(listed)
