"""Hold what was released, and answer as statsmodels' results do."""
