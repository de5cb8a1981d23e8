"""Open Parquet files, pyarrow datasets, polars LazyFrames and duckdb relations as streams."""

from collections.abc import Sequence

from dpstats.engines.stream import Stream
from dpstats.engines.table import ROWS, Table
from dpstats.errors import ArgumentError


def parquet(paths: Sequence[str]) -> Stream:
    """Open Parquet files with the same columns and types, which are read off their footers."""
    import pyarrow.dataset as ds

    data = ds.dataset(list(paths), format="parquet")
    for fragment in data.get_fragments():
        if not fragment.physical_schema.equals(data.schema):
            raise ArgumentError(
                f"the columns of {fragment.path} are not those of {paths[0]}; "
                "write all files with the same columns and types"
            )
    return dataset(data)


def dataset(data) -> Stream:
    """Open a pyarrow dataset; only the columns in use are read."""
    import pyarrow as pa

    schema = without_dictionaries(data.schema)
    settings = {"batch_size": ROWS, "fragment_scan_options": _frugal(data)}

    def read(names):
        wanted = pa.schema([schema.field(name) for name in names])
        for batch in data.to_batches(columns=list(names), **settings):
            table = pa.Table.from_batches([batch])
            yield table if table.schema.equals(wanted) else table.cast(wanted)

    return Stream(Table.from_data(schema.empty_table()), read)


def _frugal(data):
    """Return settings under which a Parquet file is not kept in memory until its end is read."""
    import pyarrow.dataset as ds

    style = getattr(data, "format", None)
    parquet = isinstance(style, ds.ParquetFileFormat)
    return ds.ParquetFragmentScanOptions(pre_buffer=False) if parquet else None


def without_dictionaries(schema):
    """Return a schema without dictionaries, which would hold the values that happen to be there."""
    import pyarrow as pa

    def plain(kind):
        return kind.value_type if pa.types.is_dictionary(kind) else kind

    return pa.schema([(field.name, plain(field.type)) for field in schema])


def lazy_frame(query) -> Stream:
    """Open a polars LazyFrame; polars reads no other columns than those in use."""

    def read(names):
        chosen = query.select(list(names))
        if hasattr(chosen, "collect_batches"):
            return chosen.collect_batches(chunk_size=ROWS, maintain_order=True)
        return iter([chosen.collect()])  # polars before 1.34

    return Stream(Table.from_data(query.head(0).collect()), read)


def relation(query) -> Stream:
    """Open a duckdb relation; duckdb reads no other columns than those in use."""
    import pyarrow as pa

    def reader(chosen):
        start = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_arrow_reader
        return start(ROWS)

    def read(names):
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        for batch in reader(query.project(quoted)):
            yield pa.Table.from_batches([batch])

    return Stream(Table.from_data(reader(query.limit(0)).read_all()), read)
