"""Open Parquet files and pyarrow datasets as streams."""

from collections.abc import Sequence
from typing import Any

from dpstats.engines.files.damage import defect
from dpstats.engines.streams import Stream
from dpstats.engines.tables import ROWS, Table
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
    if narrow := _narrow(data.schema):
        data = ds.dataset(list(paths), format=ds.ParquetFileFormat(dictionary_columns=narrow))
    return _stream(data)


def dataset(data) -> Stream:
    """Open a pyarrow dataset; only the columns in use are read.

    A scan converts the values of each file to the types of the dataset, and stops at the first one
    that does not fit, so files are refused unless all have these types.

    Raises
    ------
    ArgumentError
        For files that declare no types or other ones than the dataset.
    """
    _check_files(data, data.schema)
    return _stream(data)


def _check_files(data, schema) -> None:
    """Raise ArgumentError unless the files of a dataset declare their types, and those of it."""
    import pyarrow.dataset as ds

    for child in getattr(data, "children", ()):  # of a union
        _check_files(child, schema)
    style: Any = getattr(data, "format", None)
    types = dict(zip(schema.names, schema.types, strict=True))
    if isinstance(style, ds.CsvFileFormat | ds.JsonFileFormat):
        raise ArgumentError(
            f"a dataset of {style.default_extname} files takes its types from their values; give "
            "data= the paths of .csv or .parquet files"
        )
    for path in getattr(data, "files", ()):
        for field in style.inspect(path, data.filesystem):
            if types.get(field.name, field.type) != field.type:
                raise ArgumentError(
                    f"{field.name} is {field.type} in {path} and {types[field.name]} in the "
                    "dataset; write all files with the same types"
                )
    if isinstance(style, ds.ParquetFileFormat) and (narrow := _narrow(schema)):
        raise ArgumentError(
            f"{narrow[0]} is stored with a dictionary of few labels, and a file may hold more; "
            "give data= the paths, or open the dataset with "
            f"format=ParquetFileFormat(dictionary_columns={narrow})"
        )


def _narrow(schema) -> list[str]:
    """Name the columns whose dictionary has an index of less than 32 bits.

    The reader of Parquet puts the labels of a row group together and stops where they are more.
    """
    import pyarrow as pa

    return [
        field.name
        for field in schema
        if pa.types.is_dictionary(field.type) and field.type.index_type.bit_width < 32
    ]


def _stream(data) -> Stream:
    """Read the batches of a dataset without dictionaries."""
    import pyarrow as pa

    schema = without_dictionaries(data.schema)
    settings = {"batch_size": ROWS, "fragment_scan_options": _options(data)}

    def read(names):
        wanted = pa.schema([schema.field(name) for name in names])
        try:
            for batch in data.to_batches(columns=list(names), **settings):
                table = pa.Table.from_batches([batch])
                yield table if table.schema.equals(wanted) else table.cast(wanted)
        except (OSError, pa.ArrowInvalid) as error:
            raise defect(_damaged(data, list(names)), error) from None

    return Stream(Table.from_data(schema.empty_table()), read)


def _damaged(data, names: list[str]) -> str:
    """Name the first file of a dataset that cannot be read to its end."""
    import pyarrow as pa

    for fragment in data.get_fragments():
        try:
            options = {"schema": data.schema, "fragment_scan_options": _options(fragment)}
            for _ in fragment.to_batches(columns=names, **options):
                pass
        except (OSError, pa.ArrowInvalid):
            return getattr(fragment, "path", "the dataset")
    return "the dataset"


def _options(data):
    """Return how Parquet files are read: pages are checked where they have checksums.

    A file is not kept in memory until its end is read.
    """
    import pyarrow.dataset as ds

    if not _is_parquet(data):
        return None
    return ds.ParquetFragmentScanOptions(pre_buffer=False, page_checksum_verification=True)


def _is_parquet(data) -> bool:
    """Tell whether all files of a dataset, or a fragment of one, are Parquet files."""
    import pyarrow.dataset as ds

    if isinstance(data, ds.UnionDataset):
        return all(map(_is_parquet, data.children))
    return isinstance(getattr(data, "format", None), ds.ParquetFileFormat)


def without_dictionaries(schema):
    """Return a schema without dictionaries, which would hold the values that happen to be there."""
    import pyarrow as pa

    def plain(kind):
        if not pa.types.is_dictionary(kind):
            return kind
        # a long label may be that of many rows, whose texts need offsets of 64 bits
        return pa.large_string() if kind.value_type == pa.string() else kind.value_type

    return pa.schema([(field.name, plain(field.type)) for field in schema])
