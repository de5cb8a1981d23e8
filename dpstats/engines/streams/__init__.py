"""Read what exceeds memory anew for every pass, in whole privacy units by way of the disk."""

from dpstats.engines.streams.stream import Described, Stream, frame_total
from dpstats.engines.streams.unit_partitions import UnitPartitions, partition_of

__all__ = ["Described", "Stream", "UnitPartitions", "frame_total", "partition_of"]
