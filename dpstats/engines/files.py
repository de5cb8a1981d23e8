"""Files on disk, read whole into a data frame for the command line."""

import warnings
from pathlib import Path

import pandas as pd

from dpstats.errors import ArgumentError


def read(path) -> pd.DataFrame:
    """Read a table from a file, by the ending of its name.

    Parameters
    ----------
    path : str or os.PathLike
        A file ending in .csv, .csv.gz, .tsv, .tsv.gz, .parquet or .dta (upper case too). Text
        files have a header, are UTF-8, and write a missing value as nothing or NA.

    Returns
    -------
    pandas.DataFrame
        The rows in the file's order. Text files get nullable dtypes, so that an empty cell among
        integers or true/false values does not change the column's type. A Stata variable whose
        values are all labelled is a Categorical with every label of the file's codebook; one with
        unlabelled values keeps its numbers.

    Raises
    ------
    ArgumentError
        If there is no such file, the ending is not among those, or the file cannot be read. The
        message names the path and nothing in the file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "people.csv"
    >>> _ = path.write_text("age,urban\\n31,True\\n,False\\n")
    >>> read(path).dtypes.astype(str).to_dict()
    {'age': 'Int64', 'urban': 'boolean'}
    >>> folder.cleanup()
    """
    path = Path(path)
    ending = next((e for e in READERS if path.name.lower().endswith(e)), None)
    if ending is None:
        raise ArgumentError(f"cannot tell what {path} is; expected one of {', '.join(READERS)}")
    if not path.is_file():
        raise ArgumentError(f"there is no file {path}")
    try:
        with warnings.catch_warnings():
            # a parser's warning quotes lines and columns of the file
            warnings.simplefilter("ignore")
            return READERS[ending](path)
    except ImportError:
        raise ArgumentError(
            f"reading {path} needs pyarrow; install it with: pip install 'dpstats[parquet]'"
        ) from None
    except Exception:
        raise ArgumentError(f"{path} cannot be read as a {ending} file") from None


def _text(separator: str):
    def reader(path: Path) -> pd.DataFrame:
        # index_col=False: a trailing separator must not shift the columns by one
        return pd.read_csv(
            path, sep=separator, index_col=False, low_memory=False, dtype_backend="numpy_nullable"
        )

    return reader


def _parquet(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path, engine="pyarrow")


def _stata(path: Path) -> pd.DataFrame:
    with pd.read_stata(path, iterator=True, convert_categoricals=False) as reader:
        frame = reader.read()
        codebooks = reader.value_labels()
        # pandas has no public way from a variable to its codebook, and its own conversion
        # keeps only the categories that occur in the rows
        used = dict(zip(reader.variable_labels(), reader._lbllist, strict=True))
    for column, name in used.items():
        codebook = codebooks.get(name, {})
        if codebook and frame[column].dropna().isin(list(codebook)).all():
            categories = list(dict.fromkeys(codebook.values()))
            frame[column] = pd.Categorical(frame[column].map(codebook), categories=categories)
    return frame


READERS = {
    ".csv": _text(","),
    ".csv.gz": _text(","),
    ".tsv": _text("\t"),
    ".tsv.gz": _text("\t"),
    ".parquet": _parquet,
    ".dta": _stata,
}
