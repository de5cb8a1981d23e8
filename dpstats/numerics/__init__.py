"""Compute on rows exactly: clipping, cross-products, concordant pairs."""

from dpstats.numerics.clipping import Box
from dpstats.numerics.cross_products import Moments
from dpstats.numerics.sandwich import COV_TYPES, Meat

__all__ = [
    "COV_TYPES",
    "Box",
    "Meat",
    "Moments",
]
