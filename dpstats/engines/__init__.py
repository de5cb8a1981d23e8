"""Where the rows live: data frames in memory, files and queries read in batches, Spark."""
