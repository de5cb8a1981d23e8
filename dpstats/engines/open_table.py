"""Open what a call is given as data, as a table."""

import glob
import os
from functools import partial

from dpstats.engines import queries
from dpstats.engines.files import arrow_datasets
from dpstats.engines.files.stata import stata_file
from dpstats.engines.spark import SparkTable
from dpstats.engines.streams import Stream
from dpstats.engines.tables import Table
from dpstats.errors import ArgumentError

_NAMED = 3  # paths in a sentence
_READ_ONCE = "{} is read once, and a fit reads rows several times; save it as a .csv file first"
_TEXT = "; a text file is in UTF-8, and its first line has the names of the columns"


def open_table(data) -> Table | Stream | SparkTable:
    """Open a table of any kind the package reads; no row is read of what can be streamed.

    Parameters
    ----------
    data : path, polars LazyFrame, pyarrow dataset, duckdb or Spark query, or in memory
        A path or glob such as ``"people/*.parquet"``, or a list of them that name no file twice;
        the files end in .parquet, .csv, .csv.gz, .tsv or .tsv.gz and all have the columns of the
        first, or it is one .dta file, which is read whole. What :meth:`Table.from_data` takes
        otherwise.

    Raises
    ------
    ArgumentError
        For files that are not there, cannot be read or differ in their columns, a query that
        fails, or another type.
    """
    if isinstance(data, Stream | SparkTable):
        return data
    if type(data).__module__.startswith("narwhals"):
        data = data.to_native()
    if isinstance(data, str | os.PathLike):
        return _files([os.fspath(data)])
    if isinstance(data, list) and data and all(isinstance(p, str | os.PathLike) for p in data):
        return _files([os.fspath(path) for path in data])
    library, _, _ = type(data).__module__.lstrip("_").partition(".")
    name = "Dataset" if type(data).__name__.endswith("Dataset") else type(data).__name__
    opened = _QUERIES.get((library, name))
    if opened is None:
        return Table.from_data(data)
    try:
        return opened(data)
    except ArgumentError:
        raise
    except Exception as error:  # the query's own message may quote rows
        raise ArgumentError(
            f"the query in data failed with {type(error).__name__}; collect it before the call"
        ) from None


def _files(patterns: list[str]) -> Table | Stream:
    """Open the files of paths or globs, all of one format."""
    found = [path for pattern in patterns for path in matching(pattern)]
    if len({os.path.realpath(path) for path in found}) < len(found):
        raise ArgumentError("expected data to name each file once, for its rows would count twice")
    named = ", ".join(patterns[:_NAMED]) + " ..." * (len(patterns) > _NAMED)
    endings = {next((e for e in ENDINGS if path.lower().endswith(e)), None) for path in found}
    ending = endings.pop() if len(endings) == 1 else None
    opened = None if ending is None else ENDINGS.get(ending)
    if opened is None or not all(map(os.path.isfile, found)):
        raise ArgumentError(_refusal(named, found))
    try:
        return opened(found).of_files(sorted(map(os.path.realpath, found)))
    except ArgumentError:
        raise
    except ImportError:
        raise ArgumentError(
            f"reading {named} needs pyarrow; install it with: pip install 'dpstats[parquet]'"
        ) from None
    except PermissionError:
        raise ArgumentError(f"{named} may not be read; ask for read access to it") from None
    except Exception:  # a reader's message may quote lines of the file
        text = ending is not None and ending.startswith((".csv", ".tsv"))
        raise ArgumentError(f"{named} cannot be read as its ending says{_TEXT * text}") from None


def _refusal(named: str, found: list[str]) -> str:
    """Say what to give in place of folders, pipes and files of other programs."""
    if folder := next(filter(os.path.isdir, found), None):
        return f"{folder} is a folder; name its files, as in {os.path.join(folder, '*.csv')}"
    if pipe := next((path for path in found if not os.path.isfile(path)), None):
        return _READ_ONCE.format(pipe)
    return (
        f"expected {named} to name files that all end in one of {', '.join(ENDINGS)}; save other "
        "files as one of these, or give a data frame that holds them"
    )


def matching(pattern: str) -> list[str]:
    """List the file of a path, or the files of a glob; raise ArgumentError where there is none.

    >>> matching("")
    Traceback (most recent call last):
    ...
    dpstats.errors.ArgumentError: there is no file ''
    """
    pattern = os.path.expanduser(pattern)
    found = [pattern] if os.path.exists(pattern) else sorted(glob.glob(pattern, recursive=True))
    if pattern == "-":
        raise ArgumentError(_READ_ONCE.format("- (standard input)"))
    if "://" in pattern and not found:
        raise ArgumentError(f"{pattern} is no file of this computer; save it as one first")
    if not found:
        raise ArgumentError(f"there is no file {pattern or repr(pattern)}")
    return found


def _text(paths: list[str], separator: str) -> Stream:
    import pyarrow  # noqa: F401  (says so where it is missing)

    from dpstats.engines.files.delimited_text import text_files

    return text_files(paths, separator)


ENDINGS = {
    ".parquet": arrow_datasets.parquet,
    ".csv": partial(_text, separator=","),
    ".csv.gz": partial(_text, separator=","),
    ".tsv": partial(_text, separator="\t"),
    ".tsv.gz": partial(_text, separator="\t"),
    ".dta": stata_file,
}
_QUERIES = {
    ("polars", "LazyFrame"): queries.lazy_frame,
    ("duckdb", "DuckDBPyRelation"): queries.relation,
    ("pyarrow", "Dataset"): arrow_datasets.dataset,
    ("pyspark", "DataFrame"): SparkTable,
}
