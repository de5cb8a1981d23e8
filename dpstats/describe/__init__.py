"""Describe columns by one joint release: counts, means, deviations, quantiles and shares."""

from dpstats.describe.figures import Figure, quantile_name
from dpstats.describe.request import DescribeRequest

__all__ = ["DescribeRequest", "Figure", "quantile_name"]
