"""Write a release as a folder that output checkers, archives and registries read."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from dpstats.errors import ArgumentError
from dpstats.option_checks import file_path
from dpstats.results.record.acro import acro_json
from dpstats.results.record.files import result_files, table, table_files, write_text
from dpstats.results.record.page import page
from dpstats.results.record.registry import checked_publication, registry_yaml
from dpstats.results.store.calls import to_text

CHECKSUMS = "checksums"


def write_record(
    results: Mapping,
    path,
    publication: Mapping | None = None,
    command: str | None = None,
    tables: Mapping | None = None,
    together: tuple[float, float] | None = None,
) -> Path:
    """Write results by name as a release record; the folder appears whole or not at all.

    Parameters
    ----------
    results : mapping of str to DPResults, DPGroupResults or DPDescription
    path : str or path
        A folder that does not exist yet, in one that does.
    publication : mapping, optional
        What only the publisher knows, for the registry of deployments: ``name``,
        ``data_curators`` (list), ``intended_use``, ``data_product_region``,
        ``registry_authors`` (list), and, if wanted, ``description``, ``data_product_sector`` and
        ``publication_date``. Without it no registry entry is written.
    command : str, optional
        What made the results, for output checkers; by default the function that made each.
    tables : mapping of str to Comparison, optional
        Some of the results side by side, by name: what :func:`dpstats.compare` returns.
    together : (epsilon, delta), optional
        What all results together were held to, fixed before the first of them; by default the
        sums of their own are stated.

    Returns
    -------
    pathlib.Path
        The folder: ``index.html``, for each result a table (.csv) and, where one can be drawn
        and matplotlib is there, a picture (.png), for each of ``tables`` a tidy table (.csv), a
        text (.txt) and LaTeX (.tex), ``release.json`` with everything released,
        ``results.json`` as the program ACRO writes it, ``registry.yaml`` as the OpenDP registry of
        deployments asks for it, and ``checksums/`` with the SHA-256 sum of each of these files.
        Names are written as they are, escaped for HTML, LaTeX, matplotlib and spreadsheets: a text
        that these would run as a formula begins with an apostrophe. A table or picture that
        cannot be written is named in ``index.html`` and ``results.json``, and stops nothing.

    Raises
    ------
    ArgumentError
        When the folder exists or cannot be written, for an unknown entry of publication, or for a
        table with columns that are not private.
    """
    target = checked_target(path)
    for name, comparison in (tables or {}).items():
        if comparison.others:
            raise ArgumentError(
                f"the table {name!r} has columns that are not private, which a release record "
                "may not hold; leave ols= out of compare()"
            )
    if publication is not None:
        publication = checked_publication(publication)
    try:
        beside = Path(tempfile.mkdtemp(dir=target.parent, prefix=".record"))
        try:
            _fill(beside, results, publication, command, tables or {}, together)
            beside.chmod(0o755)
            beside.rename(target)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise ArgumentError(f"cannot write {target}: {error.strerror}") from None
    return target


def checked_target(path) -> Path:
    """Return the path of a release record; raise ArgumentError where none can be written."""
    target = file_path("path")(path)
    try:
        if target.exists() or target.is_symlink():
            raise ArgumentError(f"{target} exists; name a new folder for the release record")
        if not target.parent.is_dir():
            raise ArgumentError(f"there is no folder {target.parent} for the release record")
        tempfile.TemporaryDirectory(dir=target.parent, prefix=".record").cleanup()
    except OSError as error:
        raise ArgumentError(
            f"cannot write {target}: {error.strerror}; name another folder for the release record"
        ) from None
    return target


def _fill(
    folder: Path, results: Mapping, publication, command: str | None, tables: Mapping, together
) -> None:
    """Write all files and then their checksums."""
    files = {name: result_files(folder, i, name, each) for i, (name, each) in _numbered(results)}
    listed = {name: table_files(folder, i, name, each) for i, (name, each) in _numbered(tables)}
    tabled = [name for name, written in files.items() if written.has_table]
    frames = {name: table(results[name]) for name in tabled}
    texts = {
        "release.json": to_text(dict(results)),
        "results.json": acro_json(results, files, command, tables, listed),
        "index.html": page(results, frames, folder, files, tables, listed, together),
    }
    if publication is not None and all(each.privacy.private for each in results.values()):
        texts["registry.yaml"] = registry_yaml(results, publication, together)
    for name, text in texts.items():
        write_text(folder / name, text)
    sums = {path.name: _sha256(path) for path in sorted(folder.iterdir())}
    (folder / CHECKSUMS).mkdir()
    for name, text in sums.items():
        (folder / CHECKSUMS / f"{name}.txt").write_text(text, encoding="utf-8")
    for path in (*folder.rglob("*"), folder):
        _sync(path)


def _numbered(results: Mapping):
    return enumerate(results.items(), start=1)


def verify_record(path) -> tuple[str, ...]:
    """Compare the files of a release record with their checksums; return what is wrong.

    Raises
    ------
    ArgumentError
        When the folder is no release record.

    Examples
    --------
    >>> import tempfile, dpstats as dp
    >>> df = dp.simulate.line(500, seed=1)
    >>> res = dp.dp_ols("y ~ x", df, method="adassp", epsilon=1, bounds={"x": (0, 1), "y": (0, 1)})
    >>> folder = res.record(tempfile.mkdtemp() + "/out")
    >>> verify_record(folder)
    ()
    >>> _ = (folder / "1_y_x.csv").write_text("term,estimate")
    >>> verify_record(folder)
    ('1_y_x.csv is not as it was written',)
    """
    folder = file_path("path")(path)
    if not (folder / CHECKSUMS).is_dir():
        raise ArgumentError(f"{folder} is no release record: it has no folder {CHECKSUMS}")
    sums = {file.name.removesuffix(".txt"): file for file in (folder / CHECKSUMS).iterdir()}
    there = {file.name for file in folder.iterdir() if file.name != CHECKSUMS}
    problems = [f"{name} is missing" for name in sorted(sums.keys() - there)]
    problems += [f"{name} was added" for name in sorted(there - sums.keys())]
    changed = [
        name
        for name in sorted(there & sums.keys())
        if _sha256(folder / name) != sums[name].read_text(encoding="utf-8", errors="replace")
    ]
    return *problems, *(f"{name} is not as it was written" for name in changed)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _sync(path: Path) -> None:
    """Have a file or folder reach the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
