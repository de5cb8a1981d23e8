"""Rewrite messages in the notation of R: its lists, its c() and its constants."""

import re

_WORDS = [
    (r"'y ~ x \+ \[d ~ z\]( \| \w+)?'", "y ~ x | d ~ z"),
    (r"(write |as in |\bdp_ols\()'([^'~]*~[^'~]*)'", r"\1\2"),  # formulas of R have no quotes
    (r"""=\{(["'])([^{}]+?)\1: ([^{}]+)\}""", r" = list(`\2` = \3)"),
    (r"(?<== )\((low, high|0, 1)\)\)|(?<== )\[([^\[\]()]*)\]\)", r"c(\1\2))"),
    (r"=\{column: \(low, high\)\}", " = list(column = c(low, high))"),
    (r"result\.summary\(alpha=\) or result\.conf_int\(alpha=\)", "confint(fit, level = )"),
    (r"dpstats\.testing\.insecure_seed", "with_insecure_seed()"),
    (r"dpstats\.Budget\(epsilon, delta\)", "dp_budget(epsilon, delta)"),
    (r"dpstats\.Ledger\(path\)", "dp_ledger(path)"),
    (r"a dpstats\.Schema, a mapping or", "a list of bounds, levels and types or"),
    (r"(has no argument \w+)=<\w+>", r"\1"),  # the name of a class of Python
    (r"\bnp\.(?=log\()", ""),
    (r"\btimes params\b", "times coef()"),
    (r"a mapping \{column: \(low, high\)\}", "a list such as list(x = c(0, 1))"),
    (r"a mapping \{column: \[levels\]\}", 'a list such as list(g = c("a", "b"))'),
    (r"""(bounds|levels|types|x_range)\[(["'])(.+?)\2\]""", r"\1$`\3`"),
    (r"expected (\w+) \(low, high\)", r"expected \1 = c(low, high)"),
    (r"(?<=\w)=[(\[]([\d., ]+)[)\]]", r" = c(\1)"),
    (r"to be \(low, high\)", "to be c(low, high)"),
    (r"""\bgot \[((?:(["'])[^"']*\2(?:, )?)+)\]""", r"got c(\1)"),
    (r"\bC\((\w+)\)", r"factor(\1)"),
    (r"""\bQ\((["'])(.+?)\1\)""", r"`\2`"),
    (r"(?<![\w.])(-?\d+)\.0\b", r"\1"),
    (r"\b(got|got bounds|only|one of) \((?!Intercept)([^()]*?),?\)", r"\1 c(\2)"),
    (r"(?<!in )(?<![\w')])(?!(?<=\[)\[[a-z]+\]\]|\[models\.)\[([^\[\]()]*)\](?!\))", r"c(\1)"),
    (r"(?<!in )\[((?:[^\[\]]*c\([^()]*\))+[^\[\]]*)\]", r"list(\1)"),
    (r"text files, lists and object columns", "columns of text files"),
    (r"\bfloat64\b", "numeric"),
    (r"\bint32\b", "integer"),
    (r"\bbool\b", "logical"),
    # numbers, and no columns of these names
    (r"(?<=got )nan\b|(?<=[(\[])nan\b|\bnan(?=[)\]])", "NaN"),
    (r"(?<=got )(-?)inf\b|(?<=[(\[])(-?)inf\b|(-?)\binf(?=[)\]])", r"\1\2\3Inf"),
    (r"\bNone\b", "NULL"),
    (r"\bTrue\b", "TRUE"),
    (r"\bFalse\b", "FALSE"),
    (r"a Categorical column \(in polars an Enum\)", "a factor column"),
    (r"a dpstats\.Budget or a dpstats\.Ledger", "made by dp_budget() or dp_ledger()"),
    (r"a dpstats\.Ledger\b", "made by dp_ledger()"),
    (r'dpstats\.Ledger\(path, analyst="\.\.\."\) or --analyst', 'dp_ledger(path, analyst = "...")'),
    (r"a mapping or (?:a|the) data frame", "a data frame"),
    (r"dpstats\.Ledger\.create", "dp_ledger_create()"),
    (r"`dpstats ledger (\w+)(?: --head)?`", r"dp_ledger_\1()"),
    (r"(taken for the intercept); write `Intercept`, or", r"\1;"),
    (
        r"the column (Q|C|np) hides the function \1\(\) that the formula calls",
        r"the column \1 has a name that formulas keep for themselves",
    ),
    (r"(?<!\()(?<!named )\bIntercept\b(?!\))", "(Intercept)"),
    (r"under insecure_seed", "under with_insecure_seed()"),
    (r"\braw_powers\(\)", "dp_raw_powers()"),
    (r"(?<!_)\banderson_rubin\(\)", "dp_anderson_rubin()"),
    (r"dtype", "type"),
    (r"of type string", "of type character"),
    (r"of type category", "of type factor"),
    (r"pip install 'dpstats\[parquet\]'", "install_dpstats()"),
    # texts in R's quotes; the name of a column has those of R's own messages
    (r"""(?<!column )(?<![\w")])'([^'"]*)'""", r'"\1"'),
    (r"\b([a-z]\w*)=(?=[\s,;:.?)]|$)", r"\1"),
    (r"(?<=[\w)])=(?=[\"'\d]|TRUE|FALSE|NULL)", " = "),
]
_TICKS = re.compile(r"`([A-Za-z.][\w.]*)`")


def in_r(message: str) -> str:
    """Rewrite a message of this package as a user of R would write it.

    >>> in_r('give bounds={"x": (low, high)}, not None')
    'give bounds = list(x = c(low, high)), not NULL'
    >>> in_r("expected k in [1, 2], got [1.0, ['a']]")
    'expected k in [1, 2], got list(1, c("a"))'
    >>> in_r("give types={'my x': 'number'}, or levels={'my x': [...]} and by=")
    'give types = list(`my x` = "number"), or levels = list(`my x` = c(...)) and by'
    >>> in_r("write 'y ~ x | column', or dp_iv('y ~ x + [d ~ z]', data)")
    'write y ~ x | column, or dp_iv(y ~ x | d ~ z, data)'
    >>> in_r("expected x_range['x'] to be (low, high)"), in_r("got ['x', '(Intercept)']")
    ('expected x_range$x to be c(low, high)', 'got c("x", "(Intercept)")')
    >>> in_r("did you mean weights=?")
    'did you mean weights?'
    >>> in_r("dp_ols has no argument bouds=<dict>; did you mean bounds=?")
    'dp_ols has no argument bouds; did you mean bounds?'
    >>> in_r("the levels of inf must be declared, got [-inf, nan]"), in_r("got inf")
    ('the levels of inf must be declared, got c(-Inf, NaN)', 'got Inf')
    >>> in_r("write [[ols]] for each, or [models.NAME]")  # tables of a study file
    'write [[ols]] for each, or [models.NAME]'
    """
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    return _TICKS.sub(r"\1", message)
