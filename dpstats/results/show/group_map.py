"""Draw a released quantity of groups on a map with geopandas."""

import numpy as np
import pandas as pd

from dpstats.errors import ArgumentError, shown, typed
from dpstats.escaping import drawn
from dpstats.results.show.group_plot import limits_of
from dpstats.results.show.plot import axes, title_of
from dpstats.rows.group_labels import columns_of
from dpstats.spelling import check_word

_COLOURS = "viridis"  # as light and dark without colours too
_OPEN, _ABSENT = "0.85", "white"


def draw_map(result, shapes, term: str, on=None, ax=None):
    """Colour the shapes of groups by their estimates; see :meth:`DPGroupResults.map`."""
    check_word("term", term, result.names)
    places = _groups_of_shapes(result, shapes, list(columns_of(result.by)) if on is None else on)
    ax = axes(ax, "map")
    values = np.append(result.estimates[:, result.names.index(term)], np.nan)[places]
    statuses = np.append(np.array(result.statuses, object), "no group")[places]
    known = np.isfinite(values) & (statuses != "not_identified")
    absent = np.isnan(values) & (places >= 0)
    handles = [
        *_outlines(ax, shapes[statuses == "not_identified"], "not identified", _OPEN, "///"),
        *_outlines(ax, shapes[absent], "not released", _ABSENT, "xxx"),
        *_outlines(ax, shapes[places < 0], "no group", _ABSENT, None),
        *_without_shape(len(result) - len({*places[places >= 0]})),
    ]
    if known.any():
        low, high = limits_of(values[known])
        shapes[known].plot(
            ax=ax, column=values[known], cmap=_COLOURS, vmin=low, vmax=high, legend=True,
            edgecolor="0.5", linewidth=0.3, legend_kwds={"label": drawn(term), "extend": "both"},
        )  # fmt: skip
    ax.set_axis_off()
    ax.set_title(title_of(result))
    if handles:
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0)}
        ax.legend(handles=handles, ncols=2, frameon=False, **place)
    return ax


def _groups_of_shapes(result, shapes, on) -> np.ndarray:
    """Return the number of the group of each shape, -1 for none."""
    try:
        from geopandas import GeoDataFrame
    except ImportError:
        raise ArgumentError("map() needs geopandas: pip install 'dpstats[maps]'") from None
    if not isinstance(shapes, GeoDataFrame):
        raise ArgumentError(
            "expected shapes to be a geopandas.GeoDataFrame, as geopandas.read_file() returns, "
            f"got {typed(shapes)}"
        )
    columns = columns_of(on)
    by = " x ".join(columns_of(result.by))
    if len(columns) != len(columns_of(result.by)) or not {*columns} <= {*shapes}:
        listed = ", ".join(map(str, shapes))
        raise ArgumentError(f"expected on to name what of {listed} holds {by}, got {shown(on)}")
    keys = pd.Index(shapes[columns[0]])
    if len(columns) > 1:
        keys = pd.MultiIndex.from_arrays([shapes[column] for column in columns])
    places = result.status.index.get_indexer(keys)
    if not (places >= 0).any():
        raise ArgumentError(
            f"no shape has the label of a group: {by} is such as {[*result.labels[:1]]} and "
            f"{on} such as {list(keys[:1])}"
        )
    return places


def _outlines(ax, shapes, label: str, colour: str, hatch: str | None) -> list:
    """Draw shapes without a value; return an entry of the legend, where there are any."""
    if not len(shapes):
        return []
    from matplotlib.patches import Patch

    style = {"facecolor": colour, "edgecolor": "0.5", "linewidth": 0.3, "hatch": hatch}
    shapes.plot(ax=ax, **style)
    return [Patch(**style, label=f"{len(shapes):,} {label}")]


def _without_shape(groups: int) -> list:
    """Return an entry of the legend that counts groups which are on no map."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], linestyle="", label=f"{groups:,} without a shape")] * (groups > 0)
