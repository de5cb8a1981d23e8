"""Recognise the notations of other programs in a formula that could not be read."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from dpstats.errors import FormulaError

# What stands for a column in Stata: i.region, ib2.region, c.age.
_STATA = re.compile(r"\b(?P<kind>i|c)(?P<base>b?n?\d*)\.(?P<name>[A-Za-z_]\w*)")
_SERIES = re.compile(r"\b[LFDS]\d*\.(?P<name>[A-Za-z_]\w*)")
_SQUARE = re.compile(r"\bc\.(\w+)(##?)c\.\1\b")
_INTERACTED = re.compile(r"(?<=\w)\s*(##?)\s*(?=\w)")
_INSTRUMENTS = re.compile(r"\[[^\]~]*~[^\]]*\]|\|[^|~]*~")
_PACKAGE = re.compile(r"\b([A-Za-z][\w.]*):::?([A-Za-z.][\w.]*)")
_OF_FRAME = re.compile(r"\b([A-Za-z][\w.]*)(?:\$|\[\s*\[?\s*['\"])([A-Za-z][\w.]*)")
_RANDOM = re.compile(r"[+~]\s*\(\s*[^()|]*\|\s*(\w+)\s*\)")
_OF_R = re.compile(r"\bas\.\w+\(|%in%|\bfactor\(")
_SEVERAL = re.compile(r"^\s*(?:cbind|c|mvsw)\((.*)\)\s*~(.*)$")
_STEPS = re.compile(r"\b(?:sw|csw|sw0|csw0)\(")
_OPTIONS = re.compile(r"~[^()\[]*?(?:\([^()]*\)[^()\[]*?)*,\s*(.+)$")
_CASES = re.compile(r"\bcase_(?:when|match)\(")
_IF = re.compile(r"~[^()]*\sif\s+(.+)$")
_LONGEST = 2000  # characters that somebody wrote by hand


@contextmanager
def in_own_words(text, in_r: bool) -> Iterator[None]:
    """Replace a FormulaError about a formula in another program's notation by what to write."""
    try:
        yield
    except FormulaError:
        other = meant(text, in_r) if isinstance(text, str) else ""
        if not other:
            raise
        raise FormulaError(f"{text}: {other}") from None


def meant(text: str, in_r: bool) -> str:
    """Say what to write for a formula in the notation of another program, "" for any other.

    >>> meant("y ~ x + i.region##c.age", in_r=False)
    'i.region, c.age and ## are of Stata; write y ~ x + C(region) * age'
    >>> meant("y ~ x + [educ ~ nearc4]", in_r=False)  # doctest: +ELLIPSIS
    "instruments are for dp_iv, which takes one regressor ..."
    >>> meant("y ~ x + log(z)", in_r=False)
    ''
    """
    readers = (
        _cases, _instruments, _condition, _options, _of_stata, _series, _of_frame,
        _of_package, _responses, _random, _steps, _equals, _of_r,
    )  # fmt: skip
    if len(text) > _LONGEST:
        return ""
    return next(filter(None, (read(text, in_r) for read in readers)), "")


def _cases(text: str, in_r: bool) -> str:
    found = _CASES.search(text)
    if found is None:
        return ""
    choice = "ifelse(x > 1, 1, 0)" if in_r else "np.where(x > 1, 1, 0)"
    return f"{found.group()}) is not known; write {choice}, or make the column before the call"


def _instruments(text: str, in_r: bool) -> str:
    if not _INSTRUMENTS.search(text):
        return ""
    taken = "instruments are for dp_iv, which takes one regressor and its instruments"
    if in_r:
        return f"{taken}: dp_iv(y ~ x | d ~ z, data)"
    return f"{taken} in brackets: dp_iv('y ~ x + [d ~ z]', data)"


def _of_stata(text: str, in_r: bool) -> str:
    signs = sorted({sign for sign in re.findall(r"##?", text)}, key=len, reverse=True)
    names = list(dict.fromkeys(match.group() for match in _STATA.finditer(text)))
    if not signs and (in_r or not names):  # i.region is a name of R
        return ""
    written = _SQUARE.sub(lambda found: _squared(found, in_r), text)
    written = _STATA.sub(lambda found: _column(found, in_r), written)
    written = _INTERACTED.sub(lambda f: " * " if f.group(1) == "##" else ":", _tight(written))
    parts = [*names[:2], *signs[:1]]
    listed = " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
    return f"{listed} {'are' if len(parts) > 1 else 'is'} of Stata; write {written}"


def _tight(text: str) -> str:
    """Let a closing parenthesis before a # count as a part of a name."""
    return re.sub(r"\)\s*(##?)\s*", lambda found: ") * " if found[1] == "##" else "):", text)


def _squared(found: re.Match, in_r: bool) -> str:
    name = found[1]
    power = f"I({name}^2)" if in_r else f"I({name}**2)"
    return f"{name} + {power}" if found[2] == "##" else power


def _column(found: re.Match, in_r: bool) -> str:
    name, base = found["name"], re.sub(r"\D", "", found["base"])
    if found["kind"] == "c":
        return name
    if base:
        return f'relevel({name}, "{base}")' if in_r else f"C({name}, Treatment({base}))"
    return f"factor({name})" if in_r else f"C({name})"


def _series(text: str, in_r: bool) -> str:
    found = _SERIES.search(text)
    if found is None or in_r:
        return ""
    return (
        f"{found.group()} needs other rows than its own, as Stata's time series do; make the "
        "column before the call"
    )


def _of_frame(text: str, in_r: bool) -> str:
    found = _OF_FRAME.search(text)
    if found is None:
        return ""
    rest = re.sub(r"['\"]?\s*\]\]?", "", _OF_FRAME.sub(r"\2", text))
    return f"columns of data go by their names alone; write {rest}"


def _of_package(text: str, in_r: bool) -> str:
    found = _PACKAGE.search(text)
    if found is None or (in_r and found[1] in ("base", "stats", "splines")):
        return ""
    return f"{found.group()}(): write {found[2]}() without {found[1]}::, if it is a known function"


def _responses(text: str, in_r: bool) -> str:
    found = _SEVERAL.match(text)
    if found is None:
        return ""
    names = [name.strip() for name in found[1].split(",")]
    formulas = [f"{name} ~{found[2].rstrip()}" for name in names]
    written = f"list({', '.join(formulas)})" if in_r else f"[{', '.join(map(repr, formulas))}]"
    trials = ", and successes and failures as a row for each trial" * text.startswith("cbind")
    return f"several responses go into several formulas; write {written}{trials}"


def _random(text: str, in_r: bool) -> str:
    found = _RANDOM.search(text)
    if found is None:
        return ""
    rest = text[: found.start()].strip()
    rest = rest if "~" in rest else f"{rest} ~ x"
    return f"there are no random effects; absorb the effects of {found[1]}: {rest} | {found[1]}"


def _steps(text: str, in_r: bool) -> str:
    if not _STEPS.search(text):
        return ""
    several = "list(y ~ x, y ~ x + z)" if in_r else "['y ~ x', 'y ~ x + z']"
    return f"several regressions go into several formulas, such as {several}"


def _condition(text: str, in_r: bool) -> str:
    found = _IF.search(text)
    return "" if found is None else f'rows are chosen by subset="{found[1].strip()}"'


def _options(text: str, in_r: bool) -> str:
    found = None if "|" in text else _OPTIONS.search(text)
    if found is None:
        return ""
    return (
        f"what stands after the comma, {found[1].strip()}, is no part of a formula; options are "
        'arguments of dp_ols, such as cov_type="HC1" for robust standard errors and '
        'cov_type="cluster", cluster="state" for clustered ones'
    )


def _equals(text: str, in_r: bool) -> str:
    if "~" in text:
        return ""
    words = re.findall(r"[A-Za-z_][\w.]*", text)
    if re.fullmatch(r"\s*\w+\s*=[^=].*", text):
        return f"a formula has ~ where an equation has =; write {text.replace('=', '~', 1)}"
    words = words[1:] if words and words[0] in ("reg", "regress", "reghdfe", "areg") else words
    listed = len(words) > 1 and re.fullmatch(r"[\w.\s]+", text)
    return f"write {words[0]} ~ {' + '.join(words[1:])}" if listed else ""


def _of_r(text: str, in_r: bool) -> str:
    found = _OF_R.search(text)
    if found is None or in_r:
        return ""
    return f"{found.group()} is of R; mark the formula as R's, dpstats.RFormula(...), or write C(x)"
