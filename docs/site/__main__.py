"""Build the documentation site: ``python docs/site``, from the root of the sources.

Pages are laid out in build/docs-source and the site is written to build/docs. Any warning, such as
a link that leads nowhere, fails the build.
"""

import shutil
import sys
from pathlib import Path

from pages import lay_out
from sphinx.cmd.build import main

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def build(source: Path, site: Path) -> int:
    """Lay the pages out and run Sphinx strictly; return its exit status."""
    for folder in (source, site):
        shutil.rmtree(folder, ignore_errors=True)
    lay_out(ROOT, source)
    strict = ["--fail-on-warning", "--keep-going", "--nitpicky", "--quiet"]
    return main([*strict, "-j", "auto", "-c", str(HERE), str(source), str(site)])


if __name__ == "__main__":
    status = build(ROOT / "build" / "docs-source", ROOT / "build" / "docs")
    if status == 0:
        print("the site is in build/docs: open build/docs/index.html")
    sys.exit(status)
