"""Describe columns by one joint release: counts, means, deviations, quantiles and shares."""
