"""Build one validated call of dp_ols from its arguments: formula, table, schema, method, cost."""
