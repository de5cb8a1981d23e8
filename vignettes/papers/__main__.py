"""``python -m vignettes.papers --data DIR --out DIR``: the report, as README.md and pictures."""

import argparse
import os
import time
from collections.abc import Callable, Collection
from pathlib import Path

import dpstats as dp
from vignettes.papers import bikes, clips, lines, medians, outputs, selection, tracts, uci
from vignettes.papers.page import Page, Study
from vignettes.papers.splits import TASKS

# Each section and the sets it reads; it is left out when none of them is there.
SECTIONS: dict[str, tuple[Callable[[Study], None], tuple[str, ...]]] = {
    "lines": (lines.section, ()),
    "tracts": (tracts.section, ()),
    "bikes": (bikes.section, ("bike_hour",)),
    "stock": (outputs.stock, ("istanbul_stock",)),
    "nanotubes": (outputs.nanotubes, ("carbon_nanotubes",)),
    "uci": (uci.section, tuple(f"uci_{name}" for name in uci.SETS)),
    "medians": (medians.section, tuple(medians.TABLES)),
    "clips": (clips.section, tuple(task.name for task in TASKS.values())),
    "selection": (selection.section, tuple(task.name for task in TASKS.values())),
}


def report(study: Study, chosen: Collection[str] = SECTIONS) -> None:
    """Write the chosen sections, keep the others as they were written before."""
    path = study.page.folder / "README.md"
    old = path.read_text().split("\n\n## ") if len(chosen) < len(SECTIONS) else []
    sections = [
        _section(study, name) if name in chosen else old[position].rstrip("\n")
        for position, name in enumerate(SECTIONS, start=1)
    ]
    path.write_text("\n\n## ".join([_head(), *sections, _origins(study)]) + "\n")


def _head() -> str:
    return f"""# The papers' figures and tables, computed with dpstats

Written by `make report DATA=folder`; the numbers are the program's own but for those marked
`paper`, which are copied from the papers. Everything here is an evaluation on public or simulated
data with seeded noise, not a private release.

The methods there were: {", ".join(dp.METHODS)}. In all pictures a lower error, or a curve further
to the left, is better; among the methods for one regressor, gd_approx (delta > 0) and gd_zcdp have
weaker guarantees than the others. `none` stands in a table where so many releases failed that there
is no number."""


def _section(study: Study, name: str) -> str:
    """The text of a section, from its heading on, or what it lacks."""
    write, sets = SECTIONS[name]
    if sets and not study.there(*sets):
        return f"Left out: {name}\n\nNone of its data is there: {', '.join(sets)}."
    start = time.process_time()
    study.page.parts.clear()
    write(study)
    print(f"{name}: {time.process_time() - start:.0f} s of CPU", flush=True)
    return study.page.text


def _origins(study: Study) -> str:
    """A table of the sets that were read."""
    names = dict.fromkeys(name for _, sets in SECTIONS.values() for name in study.there(*sets))
    listed = study.manifest.loc[list(names), ["origin", "licence"]].fillna("")
    study.page.parts.clear()
    study.page.write(
        "Data",
        "The sets that were read, whose copy of them, and under which terms, as the list of the "
        "data says. None of them comes with this report.",
    )
    study.page.table(("set", "copy", "source and terms"), listed.reset_index().to_numpy())
    return study.page.text


def main() -> None:
    """Read the command line and write the report."""
    parser = argparse.ArgumentParser(prog="python -m vignettes.papers", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with MANIFEST.csv")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="where to write")
    parser.add_argument("--effort", type=float, default=1.0, help="more than 1: more trials")
    parser.add_argument(
        "--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS),
        help="write only these again",
    )  # fmt: skip
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    report(Study(options.data, Page(options.out), options.effort), options.sections)
    print(f"{os.cpu_count()} cores; written to {options.out / 'README.md'}")


if __name__ == "__main__":
    main()
