"""Describe columns by one joint release: counts, means, deviations, quantiles and shares."""

from dpstats.describe.call import DescribeRequest
from dpstats.describe.figures import Figure, quantile_name

__all__ = ["DescribeRequest", "Figure", "quantile_name"]
