"""Check output paths before any budget is spent, and write files and pictures."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from dpstats.atomic_write import replacing
from dpstats.engines.open_table import matching
from dpstats.errors import ArgumentError
from dpstats.escaping import save_csv

PICTURES = (".png", ".pdf", ".svg")


def checked_outputs(arguments, endings: tuple[str, ...]) -> list[Path]:
    """Check that outputs are writable and replace no file that is read; return their paths."""
    outputs = [(arguments.out, "-o", endings), (arguments.plot, "--plot", PICTURES)]
    paths = [checked_output(*output) for output in outputs if output[0] is not None]
    data, *others, ledger = (
        getattr(arguments, name, None) for name in ("data", "schema", "groups_file", "ledger")
    )
    read = [*_files(data), *filter(None, others)]
    files = {Path(name).resolve() for name in read}
    for path in [*map(Path, filter(None, [ledger])), *paths]:
        if path.resolve() in files:
            raise ArgumentError(
                "expected different files for DATA, --ledger, --schema, --groups-file, -o and "
                f"--plot, got {path} twice"
            )
        files.add(path.resolve())
    if arguments.plot:
        check_matplotlib()
    return paths


def _files(data: str | None) -> list[str]:
    """List the files of DATA; where there are none, what opens them says so."""
    with suppress(ArgumentError):
        return [] if data is None else matching(data)
    return []


def checked_output(name: str, option: str, endings: tuple[str, ...]) -> Path:
    """Check that a file can be written and has one of the endings."""
    path = Path(name)
    if path.is_dir():
        raise ArgumentError(f"{option}: {path} is a folder; name a file in it")
    if not name.lower().endswith(endings):
        raise ArgumentError(f"{option}: expected a name ending in {', '.join(endings)}, got {name}")
    if not path.parent.is_dir():
        raise ArgumentError(f"{option}: there is no folder {path.parent}")
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise ArgumentError(f"{option}: cannot write {path}: {error.strerror}") from None
    return path


def check_matplotlib() -> None:
    """Raise ArgumentError unless matplotlib is installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ArgumentError("pictures need matplotlib: pip install 'dpstats[plot]'") from None


def check_documents(paths: list[Path]) -> None:
    """Raise ArgumentError unless what writes files of Word and Excel is installed."""
    needed = {".docx": "docx", ".xlsx": "openpyxl"}
    for path in paths:
        module = needed.get(path.suffix.lower())
        if module is not None and find_spec(module) is None:
            raise ArgumentError(f"-o {path} needs {module}: pip install 'dpstats[tables]'")


def write(path: Path, write) -> None:
    """Write a file by ``write(path)``; it appears whole or not at all."""
    with _refusing(path), replacing(path) as temporary:
        write(temporary)


def save_frame(result, path: Path) -> None:
    """Write the frame of a result as CSV; the file appears whole or not at all."""
    with _refusing(path):
        save_csv(result.frame, path)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Raise ArgumentError where the system refuses to write a file."""
    try:
        yield
    except OSError as error:
        raise ArgumentError(f"cannot write {path}: {error.strerror}") from None


def draw(path: Path, draw) -> None:
    """Save the picture that ``draw(axes)`` makes, without opening a window."""
    draw_figure(path, lambda figure: draw(figure.subplots()))


def draw_figure(path: Path, draw) -> None:
    """Save the pictures that ``draw(figure)`` makes, without opening a window."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 6), layout="constrained", dpi=150)
    draw(figure)
    write(path, figure.savefig)
