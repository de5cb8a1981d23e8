"""Rewrite messages in the notation of R: its lists, its c() and its constants."""

import re

_WORDS = [
    (r"""=\{(["'])(.+?)\1: \(low, high\)\}""", r" = list(`\2` = c(low, high))"),
    (r"""=\{(["'])(.+?)\1: \[\.\.\.\]\}""", r" = list(`\2` = c(...))"),
    (r"a mapping \{column: \(low, high\)\}", "a list such as list(x = c(0, 1))"),
    (r"a mapping \{column: \[levels\]\}", 'a list such as list(g = c("a", "b"))'),
    (r"""(bounds|levels)\[(["'])(.+?)\2\]""", r"\1$`\3`"),
    (r"expected (\w+) \(low, high\)", r"expected \1 = c(low, high)"),
    (r"to be \(low, high\)", "to be c(low, high)"),
    (r"\bC\((\w+)\)", r"factor(\1)"),
    (r"such as \[(.+?)\]", r"such as c(\1)"),
    (r"\binf\b", "Inf"),
    (r"\bNone\b", "NULL"),
    (r"\bTrue\b", "TRUE"),
    (r"\bFalse\b", "FALSE"),
    (r"a Categorical column", "a factor column"),
    (r"a dpstats\.Budget", "made by dp_budget()"),
    (r"a mapping or (?:a|the) data frame", "a data frame"),
    (r"under insecure_seed", "under with_insecure_seed()"),
    (r"dtype", "type"),
    (r"(?<=[\w)])=(?=[\"'\d])", " = "),
]
_TICKS = re.compile(r"`([A-Za-z.][\w.]*)`")


def in_r(message: str) -> str:
    """Rewrite a message of this package as a user of R would write it.

    >>> in_r('give bounds={"x": (low, high)}, not None')
    'give bounds = list(x = c(low, high)), not NULL'
    """
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    return _TICKS.sub(r"\1", message)
