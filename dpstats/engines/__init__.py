"""Where the rows live: data frames in memory, and files."""
