"""Stata files, read whole."""

import warnings

import pandas as pd

from dpstats.engines.table import Table
from dpstats.errors import ArgumentError


def stata_file(paths: list[str]) -> Table:
    """The table of one Stata file.

    A variable whose values are all labelled is a Categorical with every label of the file's
    codebook; one with unlabelled values keeps its numbers.
    """
    if len(paths) > 1:
        raise ArgumentError(
            f"expected one .dta file, got {len(paths)}; save them as Parquet to read many"
        )
    with warnings.catch_warnings():
        # a parser's warning quotes what is in the file
        warnings.simplefilter("ignore")
        return Table.from_data(_frame(paths[0]))


def _frame(path: str) -> pd.DataFrame:
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
