"""Write a release as one page of HTML that needs no other file."""

import base64
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from pathlib import Path

import pandas as pd

from dpstats.results.record.acro import guarantee, installed
from dpstats.results.record.files import Written

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #1a1a1a; background: #fff }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto }
th, td { padding: .2rem .8rem; border-bottom: 1px solid #ccc; text-align: right }
th:first-child, td:first-child { text-align: left }
.warning { border: 2px solid #D55E00; padding: .5rem 1rem }
img { max-width: 100% }
"""
_ROWS = 200  # of a table; the rest is in its file


def page(
    results: Mapping,
    frames: Mapping[str, pd.DataFrame],
    folder: Path,
    files: Mapping[str, Written],
    tables: Mapping,
    listed: Mapping[str, Written],
    together: tuple[float, float] | None = None,
) -> str:
    """Write the page; pictures among the files in ``folder`` become part of it."""
    sections = _together(results, together)
    sections += "".join(
        f"<h2>{escape(str(name))}</h2>{comparison.to_html()}{_missing(listed[name])}"
        for name, comparison in tables.items()
    )
    sections += "".join(
        _section(str(name), result, frames.get(name), folder, files[name])
        for name, result in results.items()
    )
    made = datetime.now(UTC).isoformat(timespec="seconds")
    described = any(hasattr(result, "figures") for result in results.values())
    title = f"Differentially private {'tables' if described else 'regressions'}"
    packages = ("dpstats", "opendp", "numpy", "pandas")
    versions = ", ".join(f"{package} {installed(package)}" for package in packages)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{title}</h1><p>Written {made} with {escape(versions)}, "
        f"Python {platform.python_version()}.</p>{sections}</body></html>"
    )


def _together(results: Mapping, together: tuple[float, float] | None) -> str:
    """Say what all results cost together, where that was fixed before and they are private."""
    if together is None or not all(result.privacy.private for result in results.values()):
        return ""
    epsilon, delta = together
    return f"<p>All together have epsilon={epsilon:g} and delta={delta:g}, fixed beforehand.</p>"


def _section(name: str, result, table: pd.DataFrame | None, folder: Path, written: Written) -> str:
    """Write the section of one result: estimates, picture, guarantee, events and assumptions."""
    report = result.privacy
    kind = "" if report.private else ' class="warning"'
    said = (*report.cautions, *report.assumptions)
    parts = [
        f"<h2>{escape(name)}</h2>",
        _called(result),
        f"<p{kind}><strong>{escape(guarantee(result))}.</strong></p>",
        _shown(result, table),
        *(_picture(folder / file) for file in written.files if file.endswith(".png")),
        _missing(written),
        "<h3>What drew noise</h3>",
        _table(_events(report)),
        "<h3>What the guarantee takes for granted, and what is not private</h3>",
        "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in said) + "</ul>",
        f"<p>Private: the values of {_who(report)}"
        + (", whether it is there, and the number of rows" if result_hides_rows(report) else "")
        + ".</p>",
    ]
    return "".join(parts)


def _called(result) -> str:
    """Say which model it is and how it was fitted; a description shows its columns itself."""
    if hasattr(result, "figures"):
        return ""
    return f"<p>{escape(str(result.formula))}, by the method {escape(result.method)}.</p>"


def _shown(result, table: pd.DataFrame | None) -> str:
    """Write a description as papers print it, else the table of estimates."""
    if hasattr(result, "figures"):
        return result.to_html()
    return "" if table is None else _table(table)


def _missing(written: Written) -> str:
    """Say what could not be written."""
    return "".join(f'<p class="warning">{escape(said)}.</p>' for said in written.missing)


def _who(report) -> str:
    """Say whose values are private."""
    return "each row" if report.unit is None else f"all rows of each {escape(report.unit)}"


def result_hides_rows(report) -> bool:
    """Tell whether the presence of a row is protected too."""
    return report.neighbors == "add_remove"


def _events(report) -> pd.DataFrame:
    rows = [
        (event.step, event.mechanism, event.sensitivity, event.scale, f"{share:.1%}")
        for event, share in report.shares()
    ]
    columns = ["step", "mechanism", "sensitivity", "scale", "fraction of the budget"]
    return pd.DataFrame(rows, columns=columns)


def _table(frame: pd.DataFrame) -> str:
    shown = frame.head(_ROWS)
    text = shown.to_html(index=False, border=0, float_format="{:.6g}".format, justify="right")
    left = len(frame) - len(shown)
    return text + (f"<p>{left:,} more rows are in the file.</p>" if left else "")


def _picture(path: Path) -> str:
    content = base64.b64encode(path.read_bytes()).decode("ascii")
    return f'<p><img alt="{escape(path.stem)}" src="data:image/png;base64,{content}"></p>'
