"""Check the arguments of a fit against each other before any row is read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dpstats.call.auto_method import relation
from dpstats.call.declarations import check_columns, declared_together, declared_x_new
from dpstats.call.feasibility import check
from dpstats.call.first_stage import FirstStage
from dpstats.call.given import Given, RowColumns
from dpstats.call.method_choice import (
    checked_guarantee,
    checked_options,
    checked_relation,
    chosen_method,
    with_k,
)
from dpstats.call.outcomes import LISTWISE, Outcomes, check_alike
from dpstats.call.request import Request, Selection
from dpstats.codebook import Schema
from dpstats.engines import AnyTable
from dpstats.engines.columns.r_vectors import formula_text, is_r
from dpstats.engines.open_table import open_table
from dpstats.errors import ArgumentError, shown
from dpstats.estimators.contract import Method
from dpstats.formula import Formula, RFormula
from dpstats.option_checks import is_word, number, whole
from dpstats.privacy import checked_delta, validate_guarantee
from dpstats.rows.cluster import with_cov_type
from dpstats.rows.group_labels import check_names
from dpstats.rows.offset import check_offset
from dpstats.rows.subset import declared_subset
from dpstats.schema import FARTHEST, UNLIMITED
from dpstats.selection import SELECTORS
from dpstats.spelling import check_word

# Gillenwater et al. 2023, section 4.4; and the share of section 4.3.
_SELECTED_TERMS = 5
_SELECT_SHARE = 0.05


def make_request(formula, data, *, bounds, levels, types=None, by=None, **arguments) -> Request:
    """Check every argument against one formula and the data's column types."""
    declared = Schema().updated(bounds, levels, types)
    return make_requests({"": formula}, data, declared=declared, by=by, **arguments)[""]


def make_requests(
    formula, data, *, declared: Schema, by=None, **arguments
) -> dict[str | None, Request]:
    """Build one Request per formula, keyed by name; they share the budget equally.

    A formula takes from what is declared of the data's columns what concerns its own.
    """
    if by is not None:
        check_names(by)
    table = open_table(data)
    formulas = {name: _parsed(text, table, by) for name, text in _texts(formula).items()}
    first = arguments.get("instruments")
    check_columns(declared, [*formulas.values(), *(first.both if first else ())], table)
    table = table.typed(declared.types)
    given = Given(by=by, **arguments)
    if is_word(given.missing, LISTWISE):
        check_alike(formulas)
        given = replace(given, outcomes=formulas)
        formulas = {None: next(iter(formulas.values()))}
    requests = {
        name: _request(parsed, table, declared, given, len(formulas))
        for name, parsed in formulas.items()
    }
    methods = sorted({request.method.name for request in requests.values()})
    if len(methods) > 1:
        raise ArgumentError(
            f'method="auto" would take {", ".join(methods)} for these formulas, which cannot share '
            "one budget; name one method for all"
        )
    return requests


def _request(
    formula: Formula, table: AnyTable, declared: Schema, given: Given, formulas: int
) -> Request:
    """Check the arguments of a call for one of its formulas, and build the request."""
    epsilon, _ = validate_guarantee(given.epsilon, 0.0)
    given = replace(given, epsilon=epsilon, delta=checked_delta(given.delta))
    columns = RowColumns.of(given, declared.bounds, table)
    method, plan, companion_share = chosen_method(given, formula, table, declared, columns)
    columns = columns.of_method(method, given.select, formula)
    options = with_cov_type(
        method, given.options, columns.unit, columns.cluster,
        weighted=columns.weights is not None,
    )  # fmt: skip
    epsilon, delta = method.share(*checked_guarantee(method, given.epsilon, given.delta), formulas)
    neighbors = relation(given.neighbors, method.neighbors) if plan else given.neighbors
    neighbors = checked_relation(method, neighbors)
    _check_missing(given)
    row_norm = _row_norm(method, given.row_norm)
    every = [formula, *_fitted_beside(given)]
    (schema, unbounded, notes), term_bounds = declared_together(
        every, table, declared, row_norm, method
    )
    check_offset(columns.offset, schema, formula.response_variables)
    clipping = dict.fromkeys(unbounded, UNLIMITED) if method.ranges.marginals else {}
    learned = schema, term_bounds, clipping
    promised_epsilon, promised_delta = method.promise(epsilon, delta)
    request = Request(
        formula=formula,
        table=table,
        method=method,
        epsilon=promised_epsilon,
        delta=promised_delta,
        neighbors=neighbors,
        schema=schema,
        unbounded=unbounded,
        term_bounds=term_bounds,
        row_norm=row_norm,
        x_new=declared_x_new(given.x_new, formula),
        options=checked_options(
            method, options if given.select is not None else with_k(method, options, given.k)
        ),
        column_notes=notes,
        cost=method.cost(epsilon, delta),
        selection=_selection(given, method, neighbors, formula),
        plan=plan,
        formulas=formulas,
        design=formula.design(*learned),
        weights=columns.weights,
        subset=declared_subset(given.subset, table, columns.beside(schema), declared.levels),
        unit=columns.unit,
        cluster=columns.cluster,
        companion_share=companion_share,
        offset=columns.offset,
        grouped=given.by is not None,
        first_stage=given.instruments and FirstStage.of(given.instruments, *learned),
        outcomes=Outcomes.of(given.outcomes, *learned) if given.outcomes else None,
    )
    check(request)
    if request.subset:
        request.subset.check_levels(formula)
    return request.with_terms()


def _check_missing(given: Given) -> None:
    """Raise ArgumentError unless rows with missing values are to be left out."""
    if not is_word(given.missing, LISTWISE if given.outcomes else "drop"):
        raise ArgumentError(
            f'expected missing="drop", got {shown(given.missing)}: any other answer to a missing '
            "value would tell that there is one"
        )


def _fitted_beside(given: Given) -> list[Formula]:
    """Return the formulas that are fitted with the request's own: others', or the first stage."""
    if given.instruments is not None:
        return [given.instruments.first_stage]
    return [*given.outcomes.values()][1:] if given.outcomes else []


def _parsed(formula, table: AnyTable, by) -> Formula:
    """Parse a formula, from Python or R; its dot stands for the columns that are not in by."""
    if is_r(formula):
        formula = RFormula(formula_text(formula))
    grouped = by if isinstance(by, list | tuple) else [by]
    others = type(table.columns)(name for name in table.columns if name not in grouped)
    return Formula.parse(formula, others)


def _texts(formula) -> dict[str | None, str]:
    """Return a call's formulas by name: in a list by their text, None for a single one."""
    if not isinstance(formula, list | tuple | Mapping):
        return {None: formula}
    texts = formula if isinstance(formula, Mapping) else {str(text): text for text in formula}
    if not texts or len(texts) < len(formula):
        raise ArgumentError(f"expected different formulas, at least one, got {shown(formula)}")
    return dict(texts)


def _row_norm(method: Method, row_norm) -> float | None:
    if row_norm is None:
        return None
    if method.single_regressor:
        raise ArgumentError(f"{method.name} takes bounds=, not row_norm={shown(row_norm)}")
    return number("row_norm", 0, FARTHEST, "(]")(row_norm)


def _selection(given: Given, method: Method, neighbors, formula: Formula) -> Selection | None:
    """Build the selection that select=, k= and select_share= request."""
    select, k, share = given.select, given.k, given.select_share
    if select is None:
        if share is not None:
            raise ArgumentError("select_share is for a selection; add select=")
        return None
    check_word("select", select, SELECTORS)
    selector, terms = SELECTORS[select], formula.terms
    if neighbors not in selector.neighbors:
        raise ArgumentError(f"select={select!r} is not proven for neighbors={neighbors!r}")
    share = number("select_share", 0, 0.5, "(]")(_SELECT_SHARE if share is None else share)
    k = whole("k", 1)((1 if method.single_regressor else _SELECTED_TERMS) if k is None else k)
    _check_k(k, method, terms)
    return Selection(selector, k, share, terms)


def _check_k(k: int, method: Method, terms: Sequence[str]) -> None:
    """Raise ArgumentError unless k of the terms can be selected for the method."""
    if k >= len(terms):
        raise ArgumentError(
            f"there is nothing to select with k={shown(k)} among {', '.join(terms)}; give a k "
            "below their number, or leave select out"
        )
    if method.single_regressor and k != 1:
        raise ArgumentError(
            f"{method.name} fits one numeric column, so k must be 1, got {shown(k)}"
        )
