"""Configure Sphinx. Nothing on the site is loaded from a network."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import dpstats  # noqa: E402

project = "dpstats"
author = project_copyright = "The dpstats developers"
version = release = dpstats.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "docstrings",
    "formulas",
]
exclude_patterns = ["**/*.py"]
templates_path = ["templates"]
smartquotes_action = "D"  # dashes; X'X is no quotation
nitpick_ignore_regex = [("py:class", r"(?!dpstats).*")]  # words in the types of parameters
# Names of several attributes in one line of a docstring are taken for a type.
suppress_warnings = ["myst.header", "ref.python"]

myst_heading_anchors = 3
add_module_names = False
autodoc_typehints = "none"  # docstrings have the types, in words
autodoc_member_order = "bysource"
autodoc_default_options = {"no-value": True}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}  # light or dark as the reader's system is
html_favicon = "static/icon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "logo": {"text": "dpstats"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "search_bar_text": "Search the documentation",
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
}
html_sidebars = {"index": []}
