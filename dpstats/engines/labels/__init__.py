"""Code columns by public labels or hash them to keys, check labels, and store them as JSON."""
