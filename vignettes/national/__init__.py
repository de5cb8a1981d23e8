"""One private regression for each census tract of a nation: ``python -m vignettes.national``."""
