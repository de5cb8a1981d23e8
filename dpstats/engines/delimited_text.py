"""Streams over text files, where what a cell is follows from that cell and public types."""

from collections.abc import Sequence

from dpstats.engines.stream import Stream
from dpstats.engines.table import ROWS, Table
from dpstats.errors import ArgumentError

_MISSING = ["", "NA"]
# Whole numbers beyond are not told apart as doubles.
_WHOLE = 2.0**53


def text_files(paths: Sequence[str], separator: str) -> Stream:
    """Text files with one header, UTF-8, in which a missing value is nothing or NA.

    The types are those of the first megabyte of the first file: numbers, true and false, or
    text. After that nothing in a file can change them: a cell that is not of its column's
    type is missing, and a line with another number of cells than the header is left out,
    whatever the other cells and lines are. Where lines begin and end is public: a quote that
    is not closed takes in the lines up to the next one.
    """
    import pyarrow as pa

    _check_headers(paths, separator)
    guessed = _dataset(paths, separator).schema
    types = {field.name: _type(field.type) for field in guessed}
    text = _dataset(paths, separator, dict.fromkeys(types, pa.string()))

    def read(names):
        for batch in text.to_batches(columns=list(names), batch_size=ROWS):
            yield pa.table({name: _column(batch[name], types[name]) for name in names})

    return Stream(Table.from_data(pa.schema(list(types.items())).empty_table()), read)


def _dataset(paths: Sequence[str], separator: str, types=None):
    import pyarrow.csv as csv
    import pyarrow.dataset as ds

    style = ds.CsvFileFormat(
        parse_options=csv.ParseOptions(delimiter=separator, invalid_row_handler=lambda row: "skip"),
        convert_options=csv.ConvertOptions(
            null_values=_MISSING, strings_can_be_null=True, column_types=types
        ),
    )
    return ds.dataset(list(paths), format=style)


def _check_headers(paths: Sequence[str], separator: str) -> None:
    """Raise ArgumentError unless every file has the first one's columns."""
    first, *others = (_dataset([path], separator).schema.names for path in paths)
    for path, names in zip(paths[1:], others, strict=True):
        if names != first:
            raise ArgumentError(
                f"the columns of {path} are not those of {paths[0]}; give all files one header"
            )


def _type(kind):
    """What a column is taken for: whole numbers, numbers, true and false, or text."""
    import pyarrow as pa

    if kind in (pa.int64(), pa.bool_()):
        return kind
    return pa.float64() if kind in (pa.float64(), pa.null()) else pa.string()


def _column(text, kind):
    """A column of text as its type; whole numbers stay whole if all in the batch are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind == pa.string():
        return text
    real = pa.float64() if kind == pa.int64() else kind
    try:
        values = text.cast(real)
    except pa.ArrowInvalid:  # a word that stands for missing is then looked at once
        distinct = pc.unique(text)
        values = parsed(distinct, real).take(pc.index_in(text, distinct))
    return values.cast(kind) if kind == pa.int64() and _all_whole(values) else values


def parsed(text, kind):
    """Each cell by itself as its type, or missing; one that cannot be read harms no other.

    Examples
    --------
    >>> import pyarrow as pa
    >>> parsed(pa.array(["1.5", "n/a", None]), pa.float64()).to_pylist()
    [1.5, None, None]
    """
    import pyarrow as pa

    try:
        return text.cast(kind)
    except pa.ArrowInvalid:
        if len(text) == 1:
            return pa.nulls(1, kind)
        half = len(text) // 2
        return pa.concat_arrays([parsed(text[:half], kind), parsed(text[half:], kind)])


def _all_whole(values) -> bool:
    import pyarrow.compute as pc

    whole = pc.and_(pc.equal(values, pc.floor(values)), pc.less(pc.abs(values), _WHOLE))
    return pc.all(whole, min_count=0).as_py()
