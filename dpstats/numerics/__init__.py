"""Compute on rows exactly, and bound what a row adds: clipping, cross-products, pairs.

Nothing here is noisy, and nothing is published without a query.
"""

from dpstats.numerics.clipping import Box
from dpstats.numerics.code_sums import CodeSums
from dpstats.numerics.column_basis import ColumnBasis
from dpstats.numerics.coordinates import Coordinates, GridRows, Sensitivity
from dpstats.numerics.cross_products import Moments
from dpstats.numerics.grouped_moments import GroupedMoments
from dpstats.numerics.key_sums import KeySums
from dpstats.numerics.layout import Block, Layout, Slopes
from dpstats.numerics.pair_groups import PairGroups
from dpstats.numerics.rows import Rows
from dpstats.numerics.sandwich import Meat

__all__ = [
    "Block",
    "Layout",
    "Box",
    "CodeSums",
    "ColumnBasis",
    "Coordinates",
    "GridRows",
    "GroupedMoments",
    "KeySums",
    "Meat",
    "Moments",
    "PairGroups",
    "Rows",
    "Sensitivity",
    "Slopes",
]
