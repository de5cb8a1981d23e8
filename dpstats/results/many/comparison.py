"""Print several regressions in one table, as statsmodels' ``summary_col`` does."""

from collections.abc import Mapping, Sequence

from dpstats.errors import ArgumentError, shown, typed
from dpstats.results.many.columns import terms_of
from dpstats.results.many.groups import DPGroupResults
from dpstats.results.many.layout import checked_layout
from dpstats.results.many.non_private_columns import non_private_column
from dpstats.results.many.regression_table import Comparison
from dpstats.results.one import DPResults
from dpstats.spelling import refuse_others


def compare(
    *results: DPResults | Sequence[DPResults] | Mapping[str, DPResults] | DPGroupResults,
    names: Sequence[str] | None = None,
    ols: Sequence | Mapping = (),
    stars: bool | Mapping[float, str] = False,
    labels: Mapping[str, str] | None = None,
    keep: Sequence[str] | None = None,
    order: Sequence[str] | None = None,
    notes: str | Sequence[str] | None = None,
    **others,
) -> Comparison:
    """Print private regressions side by side, a column each; costs no budget.

    Parameters
    ----------
    *results : DPResults, or one list or mapping of them, or one DPGroupResults
        Results of :func:`dpstats.dp_ols`, ``dp_logit``, ``dp_poisson`` or ``dp_iv`` without
        ``by=``, or groups such as ``by["a"]``; or what these functions return for several
        formulas or with ``by=``, whose names or labels are the headings.
    names : sequence of str, optional
        Headings of the columns, all different, those of ``ols`` last unless it is a mapping; by
        default (1), (2) and so on.
    ols : sequence or mapping of fits, optional
        Fits that are not private, of statsmodels, linearmodels or pyfixest, in columns of their
        own which say so; keys of a mapping are their headings. For data that may be published.
    stars : bool or mapping of float to str, optional
        Whether stars stand at estimates: ``True`` for * p < 0.1, ** p < 0.05 and *** p < 0.01, or
        symbols by level. P-values count the privacy noise. Where an interval is unbounded or was
        not released there is no star, which a note says.
    labels : mapping of str to str, optional
        What is printed in place of terms.
    keep : sequence of str, optional
        The coefficients and predictions that are printed; by default all.
    order : sequence of str, optional
        Those that come first, in their order.
    notes : str or sequence of str, optional
        Notes below those about guarantees and gaps, which are always printed.

    Returns
    -------
    Comparison
        Prints as a table, is shown as HTML in a notebook, and has ``frame``, ``to_html()``,
        ``to_latex()``, ``to_markdown()``, ``to_word(path)``, ``to_excel(path)`` and ``plot()``.

    Raises
    ------
    ArgumentError
        For anything else than results of single fits, names that do not fit them, terms that no
        column has, or choices of another type.

    Notes
    -----
    Guarantee: a function of what was released, so nothing is spent. Results from the same
    people spend their budgets together all the same; ``joint_guarantee``, and a note below the
    table, say what they cost together. Columns of ``ols`` have no guarantee.

    Examples
    --------
    >>> import dpstats as dp
    >>> people = dp.simulate.line(5000, seed=1)
    >>> with dp.testing.insecure_seed(1):
    ...     fits = [dp.dp_ols("y ~ x", people, method="adassp", epsilon=epsilon,
    ...                       bounds={"x": (0, 1), "y": (0, 1)}) for epsilon in (1, 4)]
    >>> table = dp.compare(*fits, names=["strict", "lenient"], stars=True, keep=["x"])
    >>> table.frame.query("term == 'x'")["result"].tolist()
    ['strict', 'lenient']
    """
    refuse_others("compare", others)
    headings = None
    if len(results) == 1 and isinstance(results[0], Mapping | DPGroupResults):
        pairs = list(results[0].items())
        headings = [_heading(name) for name, _ in pairs]
        results = tuple(result for _, result in pairs)
    elif len(results) == 1 and isinstance(results[0], list | tuple):
        results = tuple(results[0])
    if not results:
        raise ArgumentError("expected at least one result to compare, as in compare(first, second)")
    fits = tuple(map(_checked, results))
    others = tuple(map(non_private_column, _listed(ols)))
    names = _headings(names, headings, len(fits), ols)
    known = terms_of((*fits, *others))
    return Comparison(fits, names, others, checked_layout(known, stars, labels, keep, order, notes))


def _listed(ols) -> list:
    """List fits that are not private, or raise ArgumentError."""
    if isinstance(ols, str) or not isinstance(ols, Mapping | Sequence):
        raise ArgumentError(
            "expected ols to be a list of fits or a mapping of them by their headings, as in "
            f"ols=[smf.ols(formula, data).fit()], got {typed(ols)}"
        )
    return list(ols.values()) if isinstance(ols, Mapping) else list(ols)


def _headings(names, headings: list[str] | None, count: int, ols) -> tuple[str, ...]:
    """Head private columns by names, keys or their place, then those of ``ols``."""
    total = count + len(ols)
    own = list(ols) if isinstance(ols, Mapping) else []
    if names is not None:
        return checked_names([*checked_names(names, total - len(own)), *own], total)
    numbers = [f"({i})" for i in range(1, total + 1)]
    return checked_names([*(headings or numbers[:count]), *(own or numbers[count:])], total)


def _heading(name) -> str:
    """Write the name of a formula, or the label of a group of one or several columns."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _checked(result) -> DPResults:
    """Return a result of a single fit, or raise ArgumentError."""
    if not isinstance(result, DPResults):
        raise ArgumentError(
            "expected results of dp_ols, dp_logit, dp_poisson or dp_iv without by=, as in "
            "compare(first, second), or one list or mapping of them, or groups as in compare(by) "
            f"or compare(by[label], other), got {typed(result)}; fits that are not private go into "
            "ols=[...]"
        )
    return result


def checked_names(names, count: int, argument: str = "names") -> tuple[str, ...]:
    """Check the headings of the columns, or raise ArgumentError; by default number them."""
    if names is None:
        return tuple(f"({i})" for i in range(1, count + 1))
    listed = [] if isinstance(names, str) or not isinstance(names, Sequence) else list(names)
    texts = all(isinstance(name, str) and name for name in listed)
    if not texts or len(listed) != count or len(set(listed)) < count:
        raise ArgumentError(
            f"expected {argument} to list {count} different texts, got {shown(names)}"
        )
    return tuple(listed)
