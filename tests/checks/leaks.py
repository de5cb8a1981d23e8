"""Find values of rows in whatever a result holds, prints, pickles or reaches."""

import gc
import pickle
import struct
import types

import numpy as np
import pandas as pd

import dpstats as dp
from dpstats.engines import Table

N = 1237
PLANTED = 0.123456789
DIGITS, NAME = "123456789", "Ada Lovelace"


def confidential(rows=N) -> pd.DataFrame:
    """One person's x, y and group are the planted ones."""
    rng = np.random.default_rng(5)
    x, y = rng.uniform(size=(2, rows))
    x[17] = y[17] = PLANTED
    place = np.array(["north", "south"], dtype=object)[rng.integers(2, size=rows)]
    place[17] = NAME
    return pd.DataFrame({"x": x, "y": y, "place": pd.array(place, dtype="string")})


def printed(result) -> str:
    """Every text a result can turn into."""
    summary = result.summary()
    texts = [repr(result), str(summary), repr(result.privacy), result._repr_html_()]
    if isinstance(result, dp.DPGroupResults):
        texts += [result.frame.to_csv(), repr(result.params), repr(result.frame)]
        return "\n".join([*texts, repr(vars(result))])
    tables = [result.params, result.predictions, result.conf_int(), result.cov_params()]
    tables += [result.tidy(), result.glance()]
    texts += [table.as_latex_tabular() for table in summary.tables]
    texts += [summary.as_html(), summary.extra_txt, result.to_json()]
    texts += [table.to_csv() for table in tables]
    return "\n".join([*texts, str(result.to_dict()), repr(vars(result))])


def pickled(result) -> bytes:
    return pickle.dumps(result, protocol=0) + pickle.dumps(result)


def check_holds_nothing(content) -> None:
    """Raise AssertionError if text or bytes hold the planted number or name."""
    if isinstance(content, str):
        content = content.encode()
    needles = [DIGITS.encode(), NAME.encode(), *(struct.pack(f, PLANTED) for f in ("<d", ">d"))]
    assert not [needle for needle in needles if needle in content]


def reachable(*roots):
    """Every object that can be reached from the roots, modules and classes apart."""
    seen, queue = {}, list(roots)
    while queue:
        item = queue.pop()
        if id(item) in seen or isinstance(item, (type, types.ModuleType)):
            continue
        seen[id(item)] = item
        queue += _referents(item)
    return seen.values()


def _referents(item) -> list:
    """What an object holds; of a function its closure and defaults, not its module."""
    if isinstance(item, types.FunctionType):
        return [item.__closure__, item.__defaults__, item.__kwdefaults__]
    if isinstance(item, types.FrameType):
        return list(item.f_locals.values())
    if isinstance(item, np.ndarray) and item.base is not None:
        return [item.base, *gc.get_referents(item)]
    return gc.get_referents(item)


def check_reaches_no_rows(*roots, rows=N) -> None:
    """Raise AssertionError if an array, column or container of so many items can be reached."""
    containers = (np.ndarray, pd.DataFrame, pd.Series, pd.Index, list, tuple, dict, set, Table)
    for item in reachable(*roots):
        assert not isinstance(item, Table), "a table is attached"
        if isinstance(item, containers):
            size = item.size if isinstance(item, np.ndarray) else len(item)
            assert size < rows, f"a {type(item).__name__} of {size} items is attached"


def arrays_of(rows: int) -> int:
    """How many arrays of that many rows there are anywhere in this process."""
    held = gc.get_referents(*gc.get_objects())
    return sum(rows in item.shape for item in held if type(item) is np.ndarray)
