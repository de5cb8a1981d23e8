"""Build the columns that R's model.matrix builds: contrasts, their order and their names.

A factor in a term is coded by contrasts when an earlier term holds all its other factors, or it has
no others, and else by one column for each level. Without an intercept the first factor of the
formula is coded by one column for each level, but for i() with a reference.
"""

from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, combinations, product

import numpy as np
import patsy
from patsy.desc import INTERCEPT, Term
from patsy.design_info import DesignInfo, FactorInfo, SubtermInfo

from dpstats.errors import FormulaError
from dpstats.formula.expressions.allow_list import read
from dpstats.formula.expressions.polynomials import polynomial_suffixes
from dpstats.formula.r.code import translate
from dpstats.formula.r.factor import level_label
from dpstats.formula.r.terms import Terms
from dpstats.formula.r.tree import Infix, Prefix, named
from dpstats.formula.r.truth_values import with_numbers
from dpstats.schema import BOOLEAN, Categorical, Schema


class RFactor(patsy.EvalFactor):
    """Make patsy evaluate a variable of a formula of R, under R's name for it.

    The name has 15 digits of a number, ``text`` all, and ``part`` parentheses where + needs some.
    ``truths`` are the columns that are true or false, which are 1 and 0 in arithmetic.
    """

    def __init__(self, node, truths: Collection[str] = ()):
        self._node = node
        code, self.coding = translate(node)
        super().__init__(with_numbers(code, truths))
        self.label = named(node)
        self.text = str(node)
        self.part = f"({node})" if type(node) in (Infix, Prefix) else self.text
        # i() of fixest names a column year::2010
        is_call = self.coding.left_out is not None
        self.stem = f"{node.matched('x', 'ref', needed=1)['x']}::" if is_call else self.label

    def knowing(self, truths: Collection[str]) -> "RFactor":
        """Return the variable where these columns are true or false."""
        return RFactor(self._node, truths)

    def name(self) -> str:
        """Return the name of the variable as R writes it."""
        return self.label

    def __eq__(self, other) -> bool:
        return isinstance(other, RFactor) and self.label == other.label

    def __hash__(self) -> int:
        return hash(self.label)


def model_of(text: str) -> patsy.ModelDesc:
    """Read a formula of R into patsy's terms, in R's order."""
    read = Terms.of(text)
    _check_indicators(read)
    right = [Term([RFactor(node) for node in term]) for term in read.terms]
    return patsy.ModelDesc([Term([RFactor(read.response)])], [INTERCEPT] * read.intercept + right)


def _check_indicators(read: Terms) -> None:
    """Refuse i(x) beside the intercept, whatever the levels of x are."""
    for term in read.terms:
        indicators = RFactor(term[0])
        if read.intercept and len(term) == 1 and indicators.coding.left_out == ():
            raise _redundant("the intercept", [indicators])


def knowing(model: patsy.ModelDesc, truths: Collection[str]) -> patsy.ModelDesc:
    """Return the terms of a formula of R where these columns are true or false."""
    sides = model.lhs_termlist, model.rhs_termlist
    return patsy.ModelDesc(
        *([Term([f.knowing(truths) for f in term.factors]) for term in side] for side in sides)
    )


def coded(info: DesignInfo, terms: Sequence[Term], schema: Schema) -> DesignInfo:
    """Describe the design with the columns of R's model.matrix."""
    full = _full(terms, info.factor_infos)
    _check_distinct(terms, full)
    names, codings = [], OrderedDict()
    for term in terms:
        matrices = {
            factor: _matrix(info.factor_infos[factor], schema, (term, factor) in full)
            for factor in term.factors
            if info.factor_infos[factor].type == "categorical"
        }
        parts = [_suffixed(f, info.factor_infos[f], matrices.get(f)) for f in term.factors]
        columns = [":".join(reversed(names)) for names in product(*reversed(parts))]
        codings[term] = [SubtermInfo(term.factors, matrices, len(columns))]
        names += columns if term.factors else ["(Intercept)"]
    try:
        return DesignInfo(names, info.factor_infos, codings)
    except ValueError:  # patsy's names are distinct
        raise FormulaError(
            "two columns of the design have one name, or one has that of its factor, as where a "
            "level is an empty text; give the level or the column another name"
        ) from None


def _suffixed(factor: RFactor, info: FactorInfo, matrix) -> list[str]:
    """Name the columns of a factor; a number has one, a polynomial one for each power."""
    suffixes = polynomial_suffixes(info) if matrix is None else matrix.column_suffixes
    return [f"{factor.stem}{suffix}" for suffix in suffixes]


def _full(terms: Sequence[Term], infos: Mapping) -> set[tuple[Term, RFactor]]:
    """Find the factors, term by term, that get one column for each level."""
    places = [
        (place, term, factor)
        for place, term in enumerate(terms)
        for factor in term.factors
        if infos[factor].type == "categorical" and not factor.coding.as_number
    ]
    known = [frozenset(term.factors) for term in terms]
    full = set()
    for place, term, factor in places:
        if factor.coding.left_out is not None:  # i() has its own levels wherever it stands
            full |= {(term, factor)} if not factor.coding.left_out else set()
            continue
        margin = known[place] - {factor}
        if margin and not any(margin <= earlier for earlier in known[:place]):
            full.add((term, factor))
    first = next((p[1:] for p in places if not p[2].coding.left_out), None)
    return full if INTERCEPT in terms or first is None else full | {first}


def _check_distinct(terms: Sequence[Term], full: set) -> None:
    """Refuse a model some of whose columns are sums of others, where lm would give NA.

    Coded by levels, a factor brings its contrasts and the term without it; a part that
    is brought twice is redundant.
    """
    brought = Counter(part for term in terms for part in _parts(term, full))
    twice = next((part for part, count in brought.items() if count > 1), None)
    if twice is not None:
        twice_there = ":".join(sorted(factor.label for factor in twice)) or "the intercept"
        whole = [f for term in terms for f in term.factors if f.coding.left_out == ()]
        raise _redundant(twice_there, whole)


def _redundant(twice: str, indicators: Sequence[RFactor]) -> FormulaError:
    """Say how columns are written that do not add up to others, as all of i() do."""
    instead = "write a * b instead of a:b alone"
    if indicators:
        instead = f"leave a level of {indicators[0].label} out by ref ="
    return FormulaError(
        f"the columns of this formula add up to each other ({twice} is there twice), so lm "
        f"would give NA for some; {instead}, or drop the intercept"
    )


def _parts(term: Term, full: set) -> Iterator[frozenset]:
    """List the parts of the model that the columns of a term span."""
    optional = [factor for factor in term.factors if (term, factor) in full]
    sizes = range(len(optional) + 1)
    for dropped in chain.from_iterable(combinations(optional, size) for size in sizes):
        yield frozenset(term.factors) - set(dropped)


def _matrix(info: FactorInfo, schema: Schema, full: bool) -> patsy.ContrastMatrix:
    """Code a factor in a term by contrasts, or under as.numeric() by its values."""
    return _values(info) if info.factor.coding.as_number else contrasts(info, schema, full)


def _values(info: FactorInfo) -> patsy.ContrastMatrix:
    """Code a factor by one column with its levels as numbers; text is no number."""
    if any(isinstance(level, str) for level in info.categories):
        name = info.factor.label
        raise FormulaError(
            f"{name} would number the levels in their order; write the column without "
            "as.numeric() for a coefficient of each level, or make a numeric column before the call"
        )
    return patsy.ContrastMatrix(np.array(info.categories, dtype=float)[:, None], [""])


def contrasts(info: FactorInfo, schema: Schema, full: bool) -> patsy.ContrastMatrix:
    """Code a factor in a term: a matrix (levels, columns), with R's names of the columns."""
    factor, labels = info.factor, [level_label(level) for level in info.categories]
    _check_recoded(factor, schema)
    order = _order(factor, labels)
    left_out = factor.coding.left_out
    if unknown := {*(left_out or ())} - {*labels}:
        raise FormulaError(f"{factor.label}: {min(unknown)} is none of {', '.join(labels)}")
    if left_out is not None or full:
        return _indicators(labels, [i for i in order if labels[i] not in (left_out or ())])
    if len(labels) < 2:
        raise FormulaError(f"{factor.label} has one level; contrasts need two or more")
    contrast = factor.coding.contrast or ("poly" if _ordered(factor, schema) else "treatment")
    if contrast == "treatment":
        return _indicators(labels, order[1:])
    numbered = range(1, len(labels))
    named = {"poly": _power, "numbered": lambda k: str(k + 1)}.get(contrast, str)
    suffixes = [named(k) for k in numbered]
    matrix = np.empty((len(labels), len(numbered)))
    matrix[order] = _MATRICES[contrast](len(labels))
    return patsy.ContrastMatrix(matrix, suffixes)


def _check_recoded(factor: RFactor, schema: Schema) -> None:
    """Refuse what R refuses once it codes rows, which would be after the release."""
    name = _column(factor)
    if factor.coding.as_it_is and name is not None and schema.get(name) == BOOLEAN:
        raise FormulaError(
            f"{factor.label}: R recodes no column that is true or false; write "
            f"factor({name}) in its place"
        )
    if factor.coding.reference is not None and _ordered(factor, schema):
        raise FormulaError(
            f"{factor.label}: relevel() takes no ordered factor; write C({name}, contr.treatment), "
            "which leaves out the first level, or make an unordered column before the call"
        )


def _order(factor: RFactor, labels: list[str]) -> list[int]:
    """Order the levels as relevel() does, the reference first; gives their positions."""
    reference = factor.coding.reference
    if reference is None:
        return list(range(len(labels)))
    if reference not in labels:
        raise FormulaError(f"{factor.label}: the levels are {', '.join(labels)}")
    return sorted(range(len(labels)), key=lambda i: labels[i] != reference)


def _indicators(labels: list[str], kept: list[int]) -> patsy.ContrastMatrix:
    """Build indicators of some levels."""
    return patsy.ContrastMatrix(np.eye(len(labels))[:, kept], [labels[i] for i in kept])


def _ordered(factor: RFactor, schema: Schema) -> bool:
    """Tell whether a factor is ordered, by the formula or its column; comparisons are not."""
    if factor.coding.ordered is not None:
        return factor.coding.ordered
    name = _column(factor)
    kind = None if name is None else schema.get(name)
    return isinstance(kind, Categorical) and kind.ordered


def _column(factor: RFactor) -> str | None:
    """Return the name of the column that is this factor, None of comparisons."""
    reading = read(factor.code)
    return reading.bare or next(iter(reading.categorical), None)


def _poly(levels: int) -> np.ndarray:
    """Build orthonormal polynomials in 1, 2, ..., each with a positive leading coefficient."""
    powers = np.vander(np.arange(levels) - (levels - 1) / 2, levels, increasing=True)
    basis, triangle = np.linalg.qr(powers)
    return (basis * np.sign(np.diag(triangle)))[:, 1:]


def _numbered(levels: int) -> np.ndarray:
    """Build the contrasts of contr.treatment."""
    return np.eye(levels)[:, 1:]


def _sum(levels: int) -> np.ndarray:
    """Build the contrasts of contr.sum."""
    return np.vstack([np.eye(levels - 1), -np.ones(levels - 1)])


def _helmert(levels: int) -> np.ndarray:
    """Build the contrasts of contr.helmert."""
    return np.triu(np.diag(np.arange(levels)) - 1 + np.eye(levels))[:, 1:]


def _power(k: int) -> str:
    """Name a polynomial as R does: .L, .Q, .C, ^4, ..."""
    return f"^{k}" if k > 3 else (".L", ".Q", ".C")[k - 1]


_MATRICES = {"numbered": _numbered, "poly": _poly, "sum": _sum, "helmert": _helmert}
