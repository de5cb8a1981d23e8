"""Every kind of table that the package reads, built from the cells of one column.

``SOURCES`` is the registry of the neighbour suite: an engine joins it by an entry of what it can
hold. A table has the columns x and y, numbers within (0, 1), and the column c under test.
"""

import csv
import datetime
import gzip
import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
from hypothesis import strategies as st

from dpstats.engines.columns.r_vectors import column as r_column

ROWS = 8
LABELS_OF_8_BITS = 128  # of which the last one has the index 127
DAY, MOMENT = datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3)
# Cells of each content, of which a row has one after the other, and their public levels.
CELLS = {
    "real": [0.5, 2.0],
    "whole": [1, 2],
    "flag": [True, False],
    "text": ["u", "v"],
    "day": [DAY, datetime.date(1960, 5, 6)],
    "moment": [MOMENT, datetime.datetime(1960, 5, 6)],
}
TYPES = {"real": "number", "whole": "integer", "flag": "boolean", "text": "string", "day": "date"}


def beside(cells) -> dict[str, np.ndarray]:
    """The columns x and y, beside so many cells."""
    return {"x": np.linspace(0.1, 0.9, len(cells)), "y": np.linspace(0.8, 0.2, len(cells))}


class Hostile:
    """An object that raises whatever is asked of it."""

    def _refuse(self, *arguments):
        raise RuntimeError("asked")

    __hash__ = __eq__ = __float__ = __int__ = __bool__ = __str__ = __repr__ = _refuse
    __array__ = __len__ = __iter__ = __index__ = __lt__ = _refuse


def hostile() -> list:
    """Cells of no type at all; some cannot be compared, hashed, written or converted."""
    return [
        *(
            None,
            math.nan,
            math.inf,
            -math.inf,
            2**70,
            -(2**70),
            10**400,
            -0.0,
            0.5,
            1.5,
            3,
            "",
            "z",
        ),
        *("\ud800", "u\ud800", "1e400", "9" * 400, "nan", "x" * 100_000, " 1 ", b"u", b"\xff", [1]),
        *((1,), (), ("u", [1]), {}, {"a": 1}, {1}, np.array([1, 2]), np.array(1.5), object(), 1j),
        *(datetime.date.max, datetime.date.min, datetime.datetime.max, datetime.time(1), MOMENT),
        datetime.datetime(1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=23))),
        *(np.datetime64("20000-01-01"), np.datetime64("NaT"), np.datetime64(2**62, "s")),
        *(np.timedelta64(1, "D"), pd.Timestamp.max, pd.NaT, pd.NA, Decimal("sNaN"), Decimal("1")),
        *(Decimal("1e400"), Fraction(1, 3), np.float32(0.5), np.int8(1), np.uint64(2**64 - 1)),
        *(np.str_("u"), np.bool_(True), np.longdouble("1e4000"), Hostile(), Hostile, type, True),
    ]


ANY = st.sampled_from(range(len(hostile()))).map(lambda i: hostile()[i]) | st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.dates(),
    st.datetimes(), st.decimals(), st.fractions(), st.complex_numbers(), st.timedeltas(),
    st.lists(st.integers()), st.tuples(st.text()), st.characters(categories=["Cs"]),
)  # fmt: skip
UTF8 = st.text(st.characters(codec="utf-8")) | st.sampled_from(["", "z", "x" * 100_000, "1e400"])


def _ints(bits: int, signed: bool = True):
    low = -(2 ** (bits - 1)) if signed else 0
    return st.integers(low, low + 2**bits - 1)


@dataclass(frozen=True)
class Source:
    """A kind of table: what its column c may hold, and how it is built.

    ``build(cells, path)`` is the table whose column c has these cells; ``holds`` maps a content
    to a strategy of the cells that may stand there. Where ``untyped``, types= declares the content;
    where ``listed``, the type lists the labels.
    """

    build: Callable[[list, Any], Any]
    holds: Mapping[str, st.SearchStrategy]
    untyped: bool = False
    base: Mapping[str, list] = field(default_factory=lambda: CELLS)
    listed: bool = False

    def cells(self, content: str) -> list:
        """The cells of a table in which nothing is exchanged."""
        own = self.base[content]
        return [own[i % len(own)] for i in range(max(ROWS, len(own) + 2))]

    def crowded(self, content: str) -> "Source":
        """The same source with as many different cells as an index of 8 bits numbers."""
        first = self.base[content]
        spare = [f"s{i}" for i in range(LABELS_OF_8_BITS - len(first))]
        if isinstance(first[0], bytes):
            spare = [text.encode() for text in spare]
        return replace(self, base={content: [*first, *spare]})


def _dated(cells, unit):
    """An array of datetime64, from counts of a unit since 1970 or from dates."""
    counted = [
        np.datetime64(cell, unit) if isinstance(cell, int) else np.datetime64(cell)
        for cell in cells
    ]
    return np.array([cell.astype(f"M8[{unit}]") for cell in counted])


def _pandas(make) -> Callable:
    return lambda cells, path: pd.DataFrame({**beside(cells), "c": make(cells)})


def _mapping(make) -> Callable:
    return lambda cells, path: {**beside(cells), "c": make(cells)}


def _polars(dtype) -> Callable:
    return lambda cells, path: pl.DataFrame({**beside(cells), "c": pl.Series(cells, dtype=dtype)})


def _arrow(make) -> Callable:
    return lambda cells, path: pa.table({**beside(cells), "c": make(cells)})


def _array(dtype) -> Callable:
    return lambda cells: pa.array(cells, dtype)


def _counted(physical, dtype) -> Callable:
    """An arrow array of dates or times from whole numbers."""
    return lambda cells: pa.array(cells, physical).cast(dtype)


def _dictionary(index, value=None) -> Callable:
    """Two chunks with dictionaries of their own; the second lists as many labels as fit, less one.

    So a label in the first chunk that is not in the second is one that does not fit.
    """

    def make(cells):
        half, most = len(cells) // 2, np.iinfo(index.to_pandas_dtype()).max
        first = next(cell for cell in cells if cell is not None)
        spare = [f"spare {i}" if isinstance(first, str) else -1 - i for i in range(most - 2)]
        parts = [_indexed(cells[:half], index, value), _indexed(cells[half:], index, value, spare)]
        return pa.chunked_array(parts)

    return make


def _indexed(cells, index, value, spare=()):
    """An array with a dictionary of what is in the cells, and of spare labels."""
    labels = list(dict.fromkeys([*(cell for cell in cells if cell is not None), *spare]))
    place = {label: i for i, label in enumerate(labels)} | {None: None}
    codes = pa.array([place[cell] for cell in cells], index)
    return pa.DictionaryArray.from_arrays(codes, pa.array(labels, value))


def _objects(cells) -> np.ndarray:
    return np.fromiter(cells, dtype=object, count=len(cells))


def _series(dtype) -> Callable:
    return lambda cells: pd.Series(cells, dtype=dtype)


def _text(ending: str, raw: bool = False) -> Callable:
    """A text file, written by Python's writer, or with cells as they are given in bytes."""
    separator = "\t" if "tsv" in ending else ","

    def build(cells, path):
        lines = io.StringIO(newline="")
        writer = csv.writer(lines, delimiter=separator, quoting=csv.QUOTE_MINIMAL)
        x, y = (column.tolist() for column in beside(cells).values())
        if raw:
            head = f"x{separator}y{separator}c\n".encode()
            rows = (b"%r%c%r%c%b\n" % (first, ord(separator), second, ord(separator), cell)
                    for first, second, cell in zip(x, y, cells, strict=True))  # fmt: skip
            content = head + b"".join(rows)
        else:
            writer.writerows([["x", "y", "c"], *zip(x, y, cells, strict=True)])
            content = lines.getvalue().encode()
        file = path / f"rows{ending}"
        file.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
        return file

    return build


def _parquet(make) -> Callable:
    def build(cells, path):
        import pyarrow.parquet as pq

        pq.write_table(_arrow(make)(cells, path), path / "rows.parquet")
        return path / "rows.parquet"

    return build


def _lazy(dtype) -> Callable:
    return lambda cells, path: _polars(dtype)(cells, path).lazy()


def _dataset(make) -> Callable:
    return lambda cells, path: ds.dataset(_arrow(make)(cells, path))


def _duckdb(make) -> Callable:
    return lambda cells, path: duckdb.from_arrow(_arrow(make)(cells, path))


def _stata(dtype: str) -> Callable:
    """A .dta file in which the bytes of column c are those of the cells, whatever they mean."""
    width = int(dtype[1:]) if dtype[0] == "S" else np.dtype(dtype).itemsize

    def build(cells, path):
        rows = len(cells)
        plain = ["u" * width] * rows if dtype[0] == "S" else np.ones(rows, dtype)
        frame = pd.DataFrame({"c": plain, **beside(cells)})
        labels = {"c": {1: "u", 2: "v"}} if dtype == "i1" else None
        file = path / "rows.dta"
        frame.to_stata(file, write_index=False, version=118, value_labels=labels)
        content = bytearray(file.read_bytes())
        start = content.index(b"<data>") + 6
        for i, cell in enumerate(cells):
            raw = cell if isinstance(cell, bytes) else np.array(cell, dtype).tobytes()
            at = start + i * (width + 16)
            content[at : at + width] = raw.ljust(width, b"\0")
        file.write_bytes(content)
        return file

    return build


def _from_r(kind: str, levels=()) -> Callable:
    """A column as R hands it over: the bytes of doubles, or of integers that may number levels."""
    dtype = "<f8" if kind == "double" else "<i4"
    return _mapping(lambda cells: r_column(kind, np.array(cells, dtype).tobytes(), levels))


def _null(strategy):
    return strategy | st.none()


REAL, WHOLE, DAYS = st.floats(), _ints(64), _ints(32)
NUMBERED = {"text": [1, 2]}  # strings of R are numbers of levels
BYTES = {"text": [b"u", b"v"], "real": [b"0.5", b"2"], "whole": [b"1", b"2"]}
LEVELS = ["u", "v", "w"]
EPOCH = datetime.datetime(1970, 1, 1)
COUNTED = {
    **CELLS,
    "day": [(day - EPOCH.date()).days for day in CELLS["day"]],
    "moment": [
        (moment - EPOCH) // datetime.timedelta(microseconds=1) for moment in CELLS["moment"]
    ],
}
SOURCES = {
    "pandas float64": Source(_pandas(_series("float64")), {"real": REAL}),
    "pandas float32": Source(_pandas(_series("float32")), {"real": st.floats(width=32)}),
    "pandas int64": Source(_pandas(_series("int64")), {"whole": WHOLE}),
    "pandas uint64": Source(_pandas(_series("uint64")), {"whole": _ints(64, False)}),
    "pandas int8": Source(_pandas(_series("int8")), {"whole": _ints(8)}),
    "pandas bool": Source(_pandas(_series("bool")), {"flag": st.booleans()}),
    "pandas Int64": Source(_pandas(_series("Int64")), {"whole": _null(WHOLE)}),
    "pandas UInt64": Source(_pandas(_series("UInt64")), {"whole": _null(_ints(64, False))}),
    "pandas Float64": Source(_pandas(_series("Float64")), {"real": _null(REAL)}),
    "pandas boolean": Source(_pandas(_series("boolean")), {"flag": _null(st.booleans())}),
    "pandas str": Source(_pandas(_series("str")), {"text": _null(UTF8)}),
    "pandas string[python]": Source(
        _pandas(_series("string[python]")), {"text": _null(UTF8 | st.just("\ud800"))}
    ),
    "pandas object": Source(
        _pandas(lambda cells: pd.Series(_objects(cells), dtype=object)),
        dict.fromkeys(TYPES, ANY),
        untyped=True,
    ),
    "pandas category": Source(
        _pandas(lambda cells: pd.Categorical.from_codes(cells, LEVELS)),
        {"text": st.sampled_from([0, 1, 2, -1])},
        base={"text": [0, 1]},
        listed=True,
    ),
    "pandas datetime64[us]": Source(
        _pandas(lambda cells: pd.Series(_dated(cells, "us"))),
        {"moment": st.datetimes() | WHOLE},
    ),
    "pandas datetime64[s]": Source(
        _pandas(lambda cells: pd.Series(_dated(cells, "s"))),
        {"moment": st.datetimes() | _ints(62)},
    ),
    "pandas sparse": Source(_pandas(lambda c: pd.arrays.SparseArray(np.array(c))), {"real": REAL}),
    "ArrowDtype double": Source(_pandas(_series("double[pyarrow]")), {"real": _null(REAL)}),
    "ArrowDtype int64": Source(_pandas(_series("int64[pyarrow]")), {"whole": _null(WHOLE)}),
    "ArrowDtype bool": Source(_pandas(_series("bool[pyarrow]")), {"flag": _null(st.booleans())}),
    "ArrowDtype string": Source(
        _pandas(_series(pd.ArrowDtype(pa.string()))), {"text": _null(UTF8)}
    ),
    "ArrowDtype date32": Source(
        _pandas(
            lambda cells: pd.arrays.ArrowExtensionArray(
                pa.chunked_array([_counted(pa.int32(), pa.date32())(cells)])
            )
        ),
        {"day": _null(DAYS)},
        base=COUNTED,
    ),
    "ArrowDtype timestamp": Source(
        _pandas(
            lambda cells: pd.arrays.ArrowExtensionArray(
                pa.chunked_array([_counted(pa.int64(), pa.timestamp("us"))(cells)])
            )
        ),
        {"moment": _null(WHOLE)},
        base=COUNTED,
    ),
    "ArrowDtype decimal": Source(
        _pandas(_series(pd.ArrowDtype(pa.decimal128(38, 2)))),
        {"real": _null(st.decimals(-(10**30), 10**30, places=2))},
        base={**CELLS, "real": [Decimal("0.50"), Decimal("2.00")]},
    ),
    "pandas sparse whole": Source(
        _pandas(
            lambda cells: pd.arrays.SparseArray(
                np.array(cells, float), dtype=pd.SparseDtype("int64", np.nan)
            )
        ),
        {"real": st.just(np.nan) | _ints(40)},
        base={"real": [2.0, 2.0]},
    ),
    "numpy float64": Source(_mapping(lambda cells: np.array(cells, float)), {"real": REAL}),
    "numpy longdouble": Source(
        _mapping(lambda cells: np.array(cells, np.longdouble)),
        {"real": REAL | st.just(np.longdouble("1e4000"))},
    ),
    "numpy big-endian": Source(
        _mapping(lambda cells: np.array(cells, ">f8" if isinstance(cells[0], float) else ">u8")),
        {"real": REAL, "whole": _ints(64, False)},
    ),
    "numpy StringDType": Source(
        _mapping(lambda cells: np.array(cells, np.dtypes.StringDType(na_object=None))),
        {"text": _null(UTF8)},
    ),
    "numpy uint8": Source(_mapping(lambda c: np.array(c, "u1")), {"whole": _ints(8, False)}),
    "numpy text": Source(
        _mapping(lambda cells: np.array(cells, "U9")), {"text": st.text(max_size=9)}
    ),
    "numpy day": Source(
        _mapping(lambda cells: _dated(cells, "D")), {"day": st.dates() | _ints(60)}
    ),
    "numpy object": Source(_mapping(_objects), dict.fromkeys(TYPES, ANY), untyped=True),
    "list": Source(_mapping(list), dict.fromkeys(TYPES, ANY), untyped=True),
    "tuple": Source(_mapping(tuple), {"text": ANY, "real": ANY}, untyped=True),
    "polars Float64": Source(_polars(pl.Float64), {"real": _null(REAL)}),
    "polars Int64": Source(_polars(pl.Int64), {"whole": _null(WHOLE)}),
    "polars UInt64": Source(_polars(pl.UInt64), {"whole": _null(_ints(64, False))}),
    "polars Int128": Source(_polars(pl.Int128), {"whole": _null(_ints(127))}),
    "polars Boolean": Source(_polars(pl.Boolean), {"flag": _null(st.booleans())}),
    "polars String": Source(_polars(pl.String), {"text": _null(UTF8)}),
    "polars Categorical": Source(_polars(pl.Categorical), {"text": _null(UTF8)}),
    "polars Enum": Source(
        _polars(pl.Enum(LEVELS)), {"text": _null(st.sampled_from(LEVELS))}, listed=True
    ),
    "polars Date": Source(_polars(pl.Date), {"day": _null(st.dates())}),
    "polars Datetime": Source(_polars(pl.Datetime("us")), {"moment": _null(st.datetimes())}),
    "polars Decimal": Source(
        _polars(pl.Decimal(38, 2)),
        {"real": _null(st.decimals(-(10**30), 10**30, places=2))},
        base={**CELLS, "real": [Decimal("0.50"), Decimal("2.00")]},
    ),
    "polars Object": Source(_polars(pl.Object), {"real": ANY, "text": ANY}, untyped=True),
    "polars LazyFrame": Source(_lazy(pl.String), {"text": _null(UTF8)}),
    "polars LazyFrame of numbers": Source(_lazy(pl.Float64), {"real": _null(REAL)}),
    "arrow double": Source(_arrow(_array(pa.float64())), {"real": _null(REAL)}),
    "arrow uint64": Source(_arrow(_array(pa.uint64())), {"whole": _null(_ints(64, False))}),
    "arrow bool": Source(_arrow(_array(pa.bool_())), {"flag": _null(st.booleans())}),
    "arrow string": Source(_arrow(_array(pa.string())), {"text": _null(UTF8)}),
    "arrow string_view": Source(_arrow(_array(pa.string_view())), {"text": _null(UTF8)}),
    "arrow string that is no UTF-8": Source(
        _arrow(lambda cells: pa.array(cells, pa.binary()).view(pa.string())),
        {"text": _null(st.binary())},
        base=BYTES,
    ),
    "arrow dictionary": Source(
        _arrow(lambda cells: pa.array(cells, pa.string()).dictionary_encode()),
        {"text": _null(UTF8)},
    ),
    "arrow dictionary of uint8": Source(
        _arrow(_dictionary(pa.uint8(), pa.large_string())), {"text": _null(UTF8)}
    ),
    "arrow dictionary of days": Source(
        _arrow(_dictionary(pa.int8(), pa.date32())), {"day": _null(DAYS)}, base=COUNTED
    ),
    "arrow dictionary that lists a missing value": Source(
        _arrow(
            lambda cells: pa.chunked_array(
                pa.array(part, pa.string()).dictionary_encode(null_encoding="encode")
                for part in (cells[:3], cells[3:])
            )
        ),
        {"text": _null(UTF8)},
    ),
    "ArrowDtype dictionary of int8": Source(
        _pandas(
            lambda cells: pd.arrays.ArrowExtensionArray(_dictionary(pa.int8(), pa.string())(cells))
        ),
        {"text": _null(UTF8)},
    ),
    **{
        f"{name} dictionary of int8": Source(
            opened(_dictionary(pa.int8(), pa.string())), {"text": _null(UTF8)}
        )
        for name, opened in {
            "arrow": _arrow,
            "dataset": _dataset,
            "duckdb": _duckdb,
            ".parquet": _parquet,
        }.items()
    },
    "arrow float16": Source(_arrow(_array(pa.float16())), {"real": st.floats(width=16)}),
    "arrow decimal256": Source(
        _arrow(_array(pa.decimal256(60, 2))),
        {"real": _null(st.decimals(-(10**50), 10**50, places=2))},
        base={**CELLS, "real": [Decimal("0.50"), Decimal("2.00")]},
    ),
    "arrow large_string in chunks": Source(
        _arrow(lambda cells: pa.chunked_array([cells[:3], [], cells[3:]], pa.large_string())),
        {"text": _null(UTF8)},
    ),
    "arrow timestamp of nanoseconds": Source(
        _arrow(_counted(pa.int64(), pa.timestamp("ns"))),
        {"moment": _null(WHOLE)},
        base={"moment": [1000 * moment for moment in COUNTED["moment"]]},
    ),
    "arrow date64": Source(
        _arrow(_counted(pa.int64(), pa.date64())),
        {"day": _null(WHOLE)},
        base={"day": [86_400_000 * day for day in COUNTED["day"]]},
    ),
    "arrow null": Source(
        _arrow(lambda cells: pa.nulls(len(cells))), {"text": st.none()}, untyped=True
    ),
    "dataset": Source(
        _dataset(_counted(pa.int32(), pa.date32())), {"day": _null(DAYS)}, base=COUNTED
    ),
    "duckdb": Source(_duckdb(_array(pa.string())), {"text": _null(UTF8)}),
    "duckdb enum": Source(
        lambda cells, path: _duckdb(_array(pa.string()))(cells, path).project(
            "x, y, c::ENUM('u', 'v', 'w') AS c"
        ),
        {"text": _null(st.sampled_from(LEVELS))},
        listed=True,
    ),
    "duckdb double": Source(_duckdb(_array(pa.float64())), {"real": _null(REAL)}),
    "duckdb date": Source(
        _duckdb(_counted(pa.int32(), pa.date32())), {"day": _null(DAYS)}, base=COUNTED
    ),
    ".parquet": Source(_parquet(_array(pa.string())), {"text": _null(UTF8)}),
    ".parquet double": Source(_parquet(_array(pa.float64())), {"real": _null(REAL)}),
    ".parquet dictionary": Source(
        _parquet(lambda cells: pa.array(cells, pa.string()).dictionary_encode()),
        {"text": _null(UTF8)},
    ),
    ".parquet date": Source(
        _parquet(_counted(pa.int32(), pa.date32())), {"day": _null(DAYS)}, base=COUNTED
    ),
    ".csv": Source(_text(".csv"), dict.fromkeys(TYPES, UTF8 | WHOLE | REAL), untyped=True),
    ".csv of bytes": Source(
        _text(".csv", raw=True),
        {content: st.binary().map(lambda b: b.translate(None, b'\n,"')) for content in BYTES},
        untyped=True,
        base=BYTES,
    ),
    ".tsv": Source(_text(".tsv"), {"text": UTF8, "real": UTF8}, untyped=True),
    ".csv.gz": Source(_text(".csv.gz"), {"text": UTF8, "whole": UTF8}, untyped=True),
    ".tsv.gz": Source(_text(".tsv.gz"), {"text": UTF8, "flag": UTF8}, untyped=True),
    ".dta double": Source(_stata("<f8"), {"real": st.binary(min_size=8, max_size=8)}),
    ".dta long": Source(_stata("<i4"), {"whole": st.binary(min_size=4, max_size=4)}),
    ".dta labelled": Source(_stata("i1"), {"whole": _ints(8)}),
    ".dta": Source(_stata("S5"), {"text": st.binary(max_size=5)}, base=BYTES),
    "R double": Source(_from_r("double"), {"real": REAL}),
    "R integer": Source(_from_r("integer"), {"whole": DAYS}),
    "R logical": Source(_from_r("logical"), {"flag": st.sampled_from([0, 1, -(2**31)])}),
    "R factor": Source(
        _from_r("factor", LEVELS),
        {"text": st.sampled_from([1, 2, 3, -(2**31), 0, 9, -3])},
        base=NUMBERED,
        listed=True,
    ),
    "R character": Source(
        _from_r("character", [*LEVELS, "", "\ud800"]),
        {"text": st.sampled_from([1, 2, 3, 4, 5, -(2**31)])},
        base=NUMBERED,
        listed=True,
    ),
}
