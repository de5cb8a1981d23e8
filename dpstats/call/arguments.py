"""Check the arguments of a fit against each other before any row is read."""

import math
from collections.abc import Collection, Mapping, Sequence

from dpstats.call.auto_method import AUTO, choose, relation
from dpstats.call.declarations import (
    DeclaredSchema,
    check_columns,
    check_response,
    declared_bounds,
    declared_schema,
    declared_x_new,
)
from dpstats.call.feasibility import check
from dpstats.call.first_stage import FirstStage
from dpstats.call.outcomes import LISTWISE, Outcomes, check_alike, for_several
from dpstats.call.request import Request, Selection
from dpstats.call.unsupported import unknown_method
from dpstats.codebook import Schema
from dpstats.engines import AnyTable
from dpstats.engines.open_table import open_table
from dpstats.engines.r_vectors import formula_text, is_r
from dpstats.errors import ArgumentError, shown
from dpstats.estimators import (
    ABSORBING,
    ABSORBING_INSTRUMENTAL,
    ABSORBING_UNITS,
    GENERALIZED,
    METHODS,
)
from dpstats.estimators.companion import with_companion
from dpstats.estimators.contract import Method
from dpstats.formula import Formula, InstrumentFormula, RFormula
from dpstats.option_checks import is_word, number, whole
from dpstats.privacy import DEFAULT_DELTA, RELATIONS, checked_delta, validate_guarantee
from dpstats.rows.cluster import (
    checked_cluster,
    cluster_schema,
    declared_cluster,
    with_cov_type,
)
from dpstats.rows.group_labels import check_names
from dpstats.rows.offset import check_offset, declared_offset
from dpstats.rows.privacy_unit import check_unit, declared_unit
from dpstats.rows.subset import declared_subset
from dpstats.rows.weights import check_weights, declared_weights
from dpstats.schema import FARTHEST, UNLIMITED
from dpstats.selection import SELECTORS
from dpstats.spelling import check_word

# Gillenwater et al. 2023, section 4.4; and the share of section 4.3.
_SELECTED_TERMS = 5
_SELECT_SHARE = 0.05
# Methods with intervals of their own, which they lend to others for this share of the budget.
_COMPANIONS = ("noisy_moments", "adassp", "ssp")
_COMPANION_SHARE = 0.5


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
    if is_word(arguments.get("missing"), LISTWISE):
        check_alike(formulas)
        arguments["outcomes"], formulas = formulas, {None: next(iter(formulas.values()))}
    requests = {
        name: _request(parsed, table, declared, formulas=len(formulas), by=by, **arguments)
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
    formula: Formula, table: AnyTable, declared: Schema, *, method, epsilon, delta, x_new,
    neighbors, missing, row_norm, options, methods=None, select=None, k=None,
    select_share=None, companion=None, companion_share=None, by=None, formulas=1, weights=None,
    trim_weights=None, subset=None, unit=None, max_rows=None, max_groups=None, cluster=None,
    instruments: InstrumentFormula | None = None, offset=None, exposure=None,
    outcomes: Mapping[str, Formula] | None = None,
) -> Request:  # fmt: skip
    """Check the arguments of a call for one of its formulas, and build the request."""
    epsilon, _ = validate_guarantee(epsilon, 0.0)
    delta = checked_delta(delta)
    weights_of_rows = declared_weights(weights, trim_weights, declared.bounds, table)
    of_offset = declared_offset(offset, exposure, declared.bounds, table)
    ranges, term_bounds = declared_bounds(declared.bounds, formula)
    of_persons = declared_unit(unit, max_rows, max_groups, table, by)
    cluster = declared_cluster(cluster, options, of_persons, by, table)
    plan = ""
    if is_word(method, AUTO):
        alone = by is None and select is None and row_norm is None
        rows = getattr(table, "n_rows", math.inf)  # what is streamed is large
        method, plan = choose(
            formula, ranges, epsilon, delta, neighbors, rows, alone, options, weights is not None,
            _number_of_levels(formula, table, declared.levels), of_persons is not None,
            cluster is not None, row_norm is not None,
        )  # fmt: skip
    chosen = find_method(method, AUTO, known=methods)
    companion_share = _companion_share(chosen, companion, companion_share)
    if companion is not None:
        chosen = with_companion(chosen, METHODS[companion], companion_share)
    if formula.absorbed is not None:
        chosen = _absorbing(chosen, formula, select, unit)
    if outcomes is not None:
        alone = {"by": by, "select": select, "companion": companion, "row_norm": row_norm}
        chosen = for_several(chosen, formula, **alone)
    if plan:
        neighbors = relation(neighbors, chosen.neighbors)
    if weights is not None:
        check_weights(chosen, select, formula, of_persons is not None)
    check_unit(chosen, of_persons, select, formula)
    cluster = checked_cluster(chosen, cluster, formula.absorbed)
    options = with_cov_type(chosen, options, of_persons, cluster)
    epsilon, delta = chosen.share(*checked_guarantee(chosen, epsilon, delta), formulas)
    neighbors = checked_relation(chosen, neighbors)
    if not is_word(missing, LISTWISE if outcomes else "drop"):
        raise ArgumentError(
            f'expected missing="drop", got {shown(missing)}: any other answer to a missing value '
            "would tell that there is one"
        )
    row_norm = _row_norm(chosen, row_norm)
    schema, unbounded, notes = declared_schema(
        formula, table, ranges, declared.levels, row_norm, chosen
    )
    check_response(formula, schema, chosen)
    check_offset(of_offset, schema, formula.response_variables)
    others = [*outcomes.values()][1:] if outcomes else []
    for other in others if instruments is None else [instruments.first_stage]:
        more, more_bounds = declared_bounds(declared.bounds, other)
        beside = declared_schema(other, table, more, declared.levels, row_norm, chosen)
        check_response(other, beside.schema, chosen)
        schema, unbounded, notes = beside.beside(DeclaredSchema(schema, unbounded, notes))
        term_bounds = {**more_bounds, **term_bounds}
    known = schema if weights_of_rows is None else {weights: weights_of_rows.kind, **schema}
    known = {**cluster_schema(cluster, known), **(of_offset.schema if of_offset else {}), **known}
    clipping = dict.fromkeys(unbounded, UNLIMITED) if chosen.ranges.marginals else {}
    promised_epsilon, promised_delta = chosen.promise(epsilon, delta)
    request = Request(
        formula=formula,
        table=table,
        method=chosen,
        epsilon=promised_epsilon,
        delta=promised_delta,
        neighbors=neighbors,
        schema=schema,
        unbounded=unbounded,
        term_bounds=term_bounds,
        row_norm=row_norm,
        x_new=declared_x_new(x_new, formula),
        options=checked_options(
            chosen, options if select is not None else _with_k(chosen, options, k)
        ),
        column_notes=notes,
        cost=chosen.cost(epsilon, delta),
        selection=_selection(select, k, select_share, chosen, neighbors, formula),
        plan=plan,
        formulas=formulas,
        design=formula.design(schema, term_bounds, clipping),
        weights=weights_of_rows,
        subset=declared_subset(subset, table, known, declared.levels),
        unit=of_persons,
        cluster=cluster,
        companion_share=companion_share,
        offset=of_offset,
        grouped=by is not None,
        first_stage=instruments and FirstStage.of(instruments, schema, term_bounds, clipping),
        outcomes=Outcomes.of(outcomes, schema, term_bounds, clipping) if outcomes else None,
    )
    check(request)
    return request.with_terms()


def _number_of_levels(formula: Formula, table: AnyTable, levels) -> int:
    """Count the declared levels of all factors; what is declared wrongly is refused elsewhere."""
    declared = {**levels, **formula.levels}
    known = [
        declared.get(name) or (table.levels(name) if name in table.columns else None)
        for name in formula.predictors
    ]
    return sum(len(of_one) for of_one in known if isinstance(of_one, Collection))


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


def find_method(name, *others: str, known: Mapping[str, Method] | None = None) -> Method:
    """Return the known method of this name, by default one of METHODS; others are accepted too."""
    known = METHODS if known is None else known
    if not isinstance(name, str) or name not in known:
        raise unknown_method(name, (*others, *known))
    return known[name]


def _absorbing(method: Method, formula: Formula, select, unit) -> Method:
    """Return what the method does with an absorbed column; ArgumentError where it takes none."""
    if method.name in GENERALIZED:
        noun = "a logit" if method.binary else "a Poisson regression"
        raise ArgumentError(
            f"{noun} cannot absorb {formula.absorbed}; write C({formula.absorbed}) with levels= "
            "instead of |"
        )
    if method.instrumental:
        if formula.absorbed == unit:
            raise ArgumentError(
                f"effects of {unit} are not proven for instruments with unit={unit!r}; leave unit= "
                f"or | {unit} out"
            )
        return ABSORBING_INSTRUMENTAL[method.name]
    known = ABSORBING_UNITS if formula.absorbed == unit else ABSORBING
    if method.name not in known:
        raise ArgumentError(
            f"{method.name} cannot absorb {formula.absorbed}; use method="
            f'{" or ".join(map(repr, known))} or "auto", or write C({formula.absorbed}) with '
            "levels= instead of |"
        )
    if select is not None:
        raise ArgumentError(
            f"select={select!r} compares rows of different groups, whose effects {formula.text!r} "
            f"absorbs; leave select out, or leave | {formula.absorbed} out"
        )
    return known[method.name]


def _companion_share(method: Method, companion, share) -> float:
    """Return the fraction of the cost of a companion that the method can have, 0 for none."""
    if companion is None:
        if share is not None:
            raise ArgumentError("companion_share is for a companion; add companion=")
        return 0.0
    check_word("companion", companion, _COMPANIONS)
    if method.name in _COMPANIONS or method.ranges.marginals:
        raise ArgumentError(f"{method.name} has intervals of its own; leave companion out")
    return number("companion_share", 0, 1, "()")(_COMPANION_SHARE if share is None else share)


def checked_guarantee(method: Method, epsilon, delta) -> tuple[float, float]:
    """Check epsilon and delta, and return them as the method needs them."""
    if method.guarantee == "pure":
        if delta not in (None, 0):
            raise ArgumentError(
                f"{method.name} is private with delta=0, got delta={shown(delta)}; leave delta out"
            )
        return validate_guarantee(epsilon, 0.0)
    epsilon, delta = validate_guarantee(epsilon, DEFAULT_DELTA if delta is None else delta)
    if delta == 0:
        raise ArgumentError(f"{method.name} needs delta > 0, got delta=0; leave delta out for 1e-6")
    return epsilon, delta


def checked_relation(method: Method, neighbors) -> str:
    if neighbors is None:
        return method.neighbors[0]
    check_word("neighbors", neighbors, RELATIONS)
    if neighbors not in method.neighbors:
        raise ArgumentError(
            f"{method.name} is proven for neighbors={' or '.join(map(repr, method.neighbors))} "
            f"only, got {neighbors!r}"
        )
    return neighbors


def _row_norm(method: Method, row_norm) -> float | None:
    if row_norm is None:
        return None
    if method.single_regressor:
        raise ArgumentError(f"{method.name} takes bounds=, not row_norm={shown(row_norm)}")
    return number("row_norm", 0, FARTHEST, "(]")(row_norm)


def _selection(select, k, share, method: Method, neighbors, formula: Formula) -> Selection | None:
    """Build the selection that select=, k= and select_share= request."""
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
            f"there is nothing to select with k={shown(k)} and the {len(terms)} terms "
            f"{', '.join(terms)}; give a smaller k, or leave select out"
        )
    if method.single_regressor and k != 1:
        raise ArgumentError(
            f"{method.name} fits one numeric column, so k must be 1, got {shown(k)}"
        )


def _with_k(method: Method, options: Mapping, k) -> Mapping:
    """Add k to the options; without a selection it is an option of the method."""
    if k is not None and "k" not in method.options:
        raise ArgumentError(
            f"{method.name} has no option 'k'; to keep k={shown(k)} of the terms, add select="
        )
    return {**options, "k": k}


def checked_options(method: Method, options: Mapping) -> dict:
    """Check the method options; None stands for the default."""
    unknown = [name for name in options if name not in method.options and options[name] is not None]
    if unknown:
        known = ", ".join(method.options) or "none"
        raise ArgumentError(f"{method.name} has no option {unknown[0]!r}; it has: {known}")
    given = {name: value for name, value in options.items() if value is not None}
    return {
        name: check(given.get(name, default)) for name, (default, check) in method.options.items()
    }
