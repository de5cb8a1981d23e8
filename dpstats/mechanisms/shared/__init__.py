"""Share among mechanisms: what a method is, scaled rows, sums, pairs, shrinkage."""
