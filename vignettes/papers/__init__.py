"""The figures and tables of the papers, computed with dpstats: ``python -m vignettes.papers``."""
