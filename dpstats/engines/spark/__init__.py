"""Summarise Spark DataFrames on the workers, by partitions, groups or privacy units."""

from dpstats.engines.spark.table import SparkTable

__all__ = ["SparkTable"]
