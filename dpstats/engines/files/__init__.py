"""Open files: Parquet and delimited text as streams, Stata's whole."""
