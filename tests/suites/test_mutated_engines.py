"""The way in broken on purpose: the neighbour suite must notice each defect."""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from dpstats.engines.columns import PythonColumn, arrow_columns, cells, kinds, r_vectors
from dpstats.engines.columns.numpy_columns import pandas_column
from dpstats.engines.files import arrow_datasets, delimited_text
from dpstats.errors import Defect
from dpstats.run import single
from tests.checks.mutants import Mutant, both_tests, patched
from tests.checks.neighbours import check_one_more_label, check_release, check_rows
from tests.checks.sources import DAY, SOURCES


def released(source: str, content: str, role: str, *exchanged) -> None:
    """The check of releases, for some cells of a source."""
    with tempfile.TemporaryDirectory() as folder:
        check_release(SOURCES[source], content, role, 3, exchanged, Path(folder))


def seen(source: str, content: str, role: str, *exchanged) -> None:
    """The check of the other rows, for some cells of a source."""
    with tempfile.TemporaryDirectory() as folder:
        for cell in exchanged:
            check_rows(SOURCES[source], content, role, 0, cell, Path(folder))


def one_more(source: str, role: str) -> None:
    """The check of one label more than an index of 8 bits numbers."""
    with tempfile.TemporaryDirectory() as folder:
        check_one_more_label(source, "text", role, Path(folder))


def in_their_own_type(original):
    """The dictionaries of chunks are put together by arrow, in the type of their index."""

    def unified(values):
        return original(values.unify_dictionaries() if hasattr(values, "chunks") else values)

    return unified


def as_stored(original):
    """A dictionary is read in the type that a file says."""
    return lambda schema: []


def inferred(original):
    """Lists get the type that holds all their values."""
    return classmethod(lambda cls, values: pandas_column(pd.array(list(values))))


def by_representative(original):
    """Texts that are alike but for their case share the code of the first of them."""

    def located(self, position):
        texts = pd.Series([str(cell).casefold() for cell in self._values])
        codes, _ = pd.factorize(texts)
        first = [int(np.flatnonzero(codes == code)[0]) for code in range(codes.max() + 1)]
        own = original(self, position)
        return own[first][codes]

    return located


def together(original):
    """Cells of text are converted all at once: one that is no number makes text of the column."""

    def doubles(text):
        values = pd.to_numeric(pd.Series(text.to_pandas()), errors="coerce")
        whole = values.dropna() == values.dropna().round()
        return np.asarray(values.round() if whole.sum() > 4 else values, dtype=np.float64)

    return doubles


def unguarded(original):
    """Nothing is caught where a library converts a cell."""
    return lambda convert, *arguments: convert(*arguments)


def strict(original):
    """Bytes that are no UTF-8 raise."""
    return lambda raw: None if raw is None else raw.decode()


def all_or_none(original):
    """A value beyond the doubles' whole numbers makes integers of the column."""

    def numbers(column):
        values = original(column)
        return values.round() if (np.abs(values) > 2.0**53).any() else values

    return numbers


MUTANTS = {
    "inference over values put back": Mutant(
        patched(PythonColumn, "of", inferred),
        partial(released, "list", "whole", "regressor", 0.5),
    ),
    "coding by a representative": Mutant(
        patched(PythonColumn, "located", by_representative),
        partial(seen, "pandas object", "text", "factor", "U"),
    ),
    "conversion outside the guard": Mutant(
        patched(cells, "_guarded", unguarded),
        partial(released, "list", "day", "factor", "2020-02-31", DAY),
    ),
    "one try removed": Mutant(
        patched(delimited_text, "decoded", strict),
        partial(released, ".csv of bytes", "real", "regressor", b"\xff"),
    ),
    "a second try removed": Mutant(
        patched(arrow_columns, "decoded", strict),
        partial(released, ".csv of bytes", "whole", "group", b"\xff"),
    ),
    "the number of rows from undeclared levels": Mutant(
        patched(single, "REPLACE_ONE", lambda _: "add_remove"),
        partial(released, "list", "text", "factor", "undeclared"),
    ),
    "dictionaries unified in the type of their index": Mutant(
        patched(arrow_columns, "_of_dictionaries", in_their_own_type),
        partial(released, "arrow dictionary of int8", "text", "absorbed", "new"),
    ),
    "the same for a person": Mutant(
        patched(arrow_columns, "_of_dictionaries", in_their_own_type),
        partial(released, "ArrowDtype dictionary of int8", "text", "person", "new"),
    ),
    "a dictionary of Parquet read in the type of its index": Mutant(
        patched(arrow_datasets, "_narrow", as_stored),
        partial(one_more, ".parquet dictionary of int8", "factor"),
        Defect,
    ),
    "codes of R taken as they are": Mutant(
        patched(
            r_vectors, "_known", lambda _: lambda values, levels: values > r_vectors.NA_INTEGER
        ),
        partial(released, "R factor", "text", "group", 9),
        ValueError,
    ),
    "a file's cells converted together": Mutant(
        patched(delimited_text, "_doubles", together),
        partial(seen, ".csv", "real", "regressor", "1"),
    ),
    "one large value makes whole numbers of all": Mutant(
        patched(kinds, "numbers", all_or_none),
        partial(seen, "pandas float64", "real", "response", 1e300),
    ),
}


test_every_mutant_is_caught, test_the_same_checks_pass_when_nothing_is_broken = both_tests(MUTANTS)
