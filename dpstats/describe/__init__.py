"""Describe columns by one joint release: counts, means, deviations, quantiles and shares."""

from dpstats.describe.figures import Figure, quantile_name
from dpstats.describe.histogram import Bar
from dpstats.describe.request import DescribeRequest

__all__ = ["Bar", "DescribeRequest", "Figure", "quantile_name"]
