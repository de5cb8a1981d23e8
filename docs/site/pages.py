"""Lay out the pages of the site: copy what the repository has and point its links there."""

import os
import re
import shutil
from pathlib import Path

from proofs import write_proofs

LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
# A file of the repository by a pattern of its path, and its place on the site.
PLACES = [
    (r"README\.md", "index.md"),
    (r"docs/site/(.+)", r"\1"),
    (r"docs/(.+)\.md", r"\1.md"),
    (r"vignettes/(\w+)/README\.md", r"reports/\1.md"),
    (r"vignettes/(\w+)/(.+)\.png", r"reports/\1/\2.png"),
    (r"dpstats/estimators/(?:\w+/)+(\w+)\.py", r"proofs/\1.rst"),
    (r"(.+)\.py", r"code/\1.rst"),
    (r"([A-Z_]+)\.md", r"project/\1.md"),
]
COPIED = ["README.md", "[A-Z]*.md", "docs/*.md", "docs/site/*.md", "docs/site/*.rst",
          "docs/site/static/*", "docs/site/templates/**/*.rst", "vignettes/*/README.md",
          "vignettes/*/*.png"]  # fmt: skip
SECTIONS = ["start", "guides", "guarantees", "reference"]


def place(path: str) -> str:
    """Return where the site has a file of the repository."""
    for pattern, where in PLACES:
        if match := re.fullmatch(pattern, path):
            found = match.expand(where)
            return found.lower() if found.startswith("project/") else found
    raise ValueError(f"docs/site/pages.py has no place for {path}: add it to PLACES")


def lay_out(root: Path, site: Path) -> None:
    """Write the sources of all pages to the folder ``site``."""
    sources: set[str] = set()
    paths = {path for pattern in COPIED for path in root.glob(pattern) if path.is_file()}
    for path in sorted(paths):
        name = path.relative_to(root).as_posix()
        target = site / place(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".md":
            shutil.copyfile(path, target)
            continue
        text = relink(path.read_text(encoding="utf-8"), name, sources)
        target.write_text(text + (contents() if name == "README.md" else ""), encoding="utf-8")
    for source in sources:
        write_code(root / source, site / place(source))
    write_proofs(site)


def relink(text: str, page: str, sources: set[str]) -> str:
    """Point the links of a page to their places; note the Python files among them."""
    here = os.path.dirname(place(page))

    def moved(match: re.Match) -> str:
        start, link, fragment, end = match.groups(default="")
        if "://" in link or page.startswith("docs/site/"):
            return match[0]
        path = os.path.normpath(os.path.join(os.path.dirname(page), link))
        if place(path).startswith("code/"):
            sources.add(path)
        return f"{start}{os.path.relpath(place(path), here or '.')}{fragment}{end}"

    return LINK.sub(moved, text)


def write_code(path: Path, target: Path) -> None:
    """Write a page that shows a Python file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target.with_suffix(".py"))
    title = path.name
    target.write_text(
        f":orphan:\n\n{title}\n{'=' * len(title)}\n\n.. literalinclude:: {title}\n   :lines: 1-\n",
        encoding="utf-8",
    )


def contents() -> str:
    """Return the table of contents of the whole site, which the navigation shows."""
    return "\n".join(["", "```{toctree}", ":hidden:", "", *SECTIONS, "```", ""])
