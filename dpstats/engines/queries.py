"""Open polars LazyFrames and duckdb relations as streams."""

import re
from collections.abc import Callable, Iterator, Sequence

from dpstats.engines.streams import Stream
from dpstats.engines.tables import ROWS, Table
from dpstats.errors import ArgumentError, Defect

# What plans of polars and of duckdb have where a text file is read.
_READS_TEXT = re.compile(r"^\s*(csv|ndjson) scan\b|\bread_(csv|json|ndjson)", re.I | re.M)


def _check_plan(plan: str) -> None:
    """Refuse a query of text files, whose plan says that it reads them; no row is read.

    Their types are those of the first values, and the query stops at one that does not fit.
    """
    if _READS_TEXT.search(plan):
        raise ArgumentError(
            "a query of .csv or .json files takes its types from their values, and stops at one "
            "that does not fit; give data= the paths of .csv or .parquet files, or collect the "
            "query before the call"
        )


def _stream(types: Table, read: Callable[[Sequence[str]], Iterator]) -> Stream:
    """Return a stream that says of an error of ``read(names)`` that the query ended with it."""

    def told(names):
        try:
            yield from read(names)
        except Exception as error:  # its own message may quote rows
            raise Defect(f"{type(error).__name__} of the query in data") from None

    return Stream(types, told)


def lazy_frame(query) -> Stream:
    """Open a polars LazyFrame; polars reads no other columns than those in use.

    Raises
    ------
    ArgumentError
        For a query of text files.
    """
    _check_plan(query.explain(optimized=False))

    def read(names):
        chosen = query.select(list(names))
        if hasattr(chosen, "collect_batches"):
            return chosen.collect_batches(chunk_size=ROWS, maintain_order=True)
        return iter([chosen.collect()])  # polars before 1.34

    return _stream(Table.from_data(query.head(0).collect()), read)


def relation(query) -> Stream:
    """Open a duckdb relation; duckdb reads no other columns than those in use.

    Raises
    ------
    ArgumentError
        For a query of text files.
    """
    import pyarrow as pa

    _check_plan(query.explain())

    def reader(chosen):
        start = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_arrow_reader
        return start(ROWS)

    def read(names):
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        for batch in reader(query.project(quoted)):
            yield pa.Table.from_batches([batch])

    return _stream(Table.from_data(_with_levels(reader(query.limit(0)).read_all(), query)), read)


def _with_levels(types, query):
    """Give the columns of a table without rows the levels that the ENUMs of a relation declare."""
    import pyarrow as pa

    for place, (name, own) in enumerate(zip(query.columns, query.types, strict=True)):
        if own.id == "enum":
            kind = types.schema.field(place).type
            ((_, levels),) = own.children
            codes, labels = pa.array([], kind.index_type), pa.array(levels, kind.value_type)
            declared = pa.DictionaryArray.from_arrays(codes, labels)
            types = types.set_column(place, name, declared)
    return types
