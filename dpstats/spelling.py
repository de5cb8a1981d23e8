"""Name the nearest known name in an error about one that is not known."""

from collections.abc import Collection, Sequence
from difflib import get_close_matches

from dpstats.errors import ArgumentError, shown

_LISTED = 20  # columns in a sentence
_LONGEST = 200  # characters of a name that is compared with others
_LOOK_UP = "look up its name in the first line of the file, which errors do not show"


class Unlisted(tuple):
    """Hold the columns of a text file, which errors do not list.

    They are the cells of its first line, which is a row where the file has no names.
    """


def listed(names: Sequence[str], most: int = 5) -> str:
    """Write names as a part of a sentence, and how many more there are than ``most``.

    >>> listed(["x", "y"]), listed(["x", "y", "z"], most=2)
    ('x, y', 'x, y and 1 more')
    """
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def nearest(name, known: Collection[str]) -> str | None:
    """Return the known name that is spelt most like this one, None where none is near.

    >>> nearest("adasp", ["adassp", "tukey"]), nearest("EDUC", ["y", "educ"])
    ('adassp', 'educ')
    >>> nearest(3, ["y"]), nearest(3, ["y", "3"])
    (None, '3')
    """
    if isinstance(name, int) and str(name) in known:  # of a column whose name is a number
        return str(name)
    if not isinstance(name, str) or len(name) > _LONGEST:
        return None
    spelt = {other.lower(): other for other in known if isinstance(other, str)}
    found = get_close_matches(name.lower(), spelt, n=1)
    return spelt[found[0]] if found else None


def unknown_word(argument: str, value, known: Collection[str]) -> ArgumentError:
    """Build the error for a value that is none of the words that an argument takes.

    >>> print(unknown_word("select", "laso", ["kendall", "lasso"]))
    there is no select='laso'; did you mean 'lasso'?
    >>> print(unknown_word("select", "best", ["kendall", "lasso"]))
    expected select to be one of kendall, lasso, got 'best'
    """
    near = nearest(value, known)
    if near is not None:
        return ArgumentError(f"there is no {argument}={value!r}; did you mean {near!r}?")
    return ArgumentError(f"expected {argument} to be one of {', '.join(known)}, got {shown(value)}")


def check_word(argument: str, value, known: Collection[str]) -> None:
    """Raise ArgumentError unless a value is one of the words that an argument takes.

    >>> check_word("select", "lasso", ["kendall", "lasso"])
    """
    if not isinstance(value, str) or value not in known:
        raise unknown_word(argument, value, known)


def near_or_listed(name, columns: Collection[str]) -> str:
    """Write the column that is meant, or which columns there are.

    >>> near_or_listed("educ", ["wage", "education"])
    "did you mean 'education'?"
    >>> near_or_listed("z", ["wage", "education"])
    'the columns are wage, education'
    >>> near_or_listed("z", Unlisted(["wage", "education"]))
    'look up its name in the first line of the file, which errors do not show'
    >>> near_or_listed("z", [])
    'the data have no columns'
    """
    near = nearest(name, columns)
    if near is not None:
        return f"did you mean {near!r}?"
    if isinstance(columns, Unlisted):
        return _LOOK_UP
    if not columns:
        return "the data have no columns"
    return f"the columns are {listed([*map(str, columns)], _LISTED)}"


def no_column(name, columns: Collection[str]) -> ArgumentError:
    """Build the error for a column that the data do not have.

    >>> print(no_column("educ", ["wage", "education"]))
    there is no column 'educ'; did you mean 'education'?
    """
    return ArgumentError(f"there is no column {shown(name)}; {near_or_listed(name, columns)}")


def refuse_others(function: str, others: Collection[str], instead: str = "") -> None:
    """Raise ArgumentError for the first of the arguments that a function does not have.

    >>> refuse_others("compare", [])
    """
    for name in others:
        instead = instead or f"help(dpstats.{function}) lists what it takes"
        raise ArgumentError(f"{function} has no argument {name}=; {instead}")
