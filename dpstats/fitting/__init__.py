"""Run the mechanism of a request: on one table, on every group, or on Spark's workers."""
