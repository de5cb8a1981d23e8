"""The folder is the architecture: who may import whom, draw randomness, print or show rows."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dpstats as dp
from tests.checks.structure import Structure, imported

STRUCTURE = Structure(Path(dp.__file__).parent)
FILES, TREES = STRUCTURE.files, STRUCTURE.trees

# A room may import rooms on earlier lines only; a module in it, the others of its room too.
ROOMS = [
    ["errors", "atomic_write", "datasets", "escaping", "html_tables", "progress_bar"],
    ["option_checks", "spelling"],
    ["schema", "privacy", "numerics", "simulate"],
    ["noise", "formula", "engines"],
    ["inference", "codebook"],
    ["testing", "range_estimation", "selection", "mechanisms.shared"],
    ["mechanisms"],
    ["request"],
    ["results", "auditing"],
    ["fitting", "ledger"],
    ["evaluate", "api"],
    ["planning", "study"],
    [""],
    ["cli", "r"],
    ["__main__"],
]
# Where numbers may be drawn: noise for releases, and tables that are no release.
RANDOM = {
    "noise.random_sources",
    "simulate.census_tracts",
    "simulate.person_panel",
    "simulate.regression_line",
    "testing",
    "evaluate.mos",
    "evaluate.predictions",
    "auditing.inputs",
    "results.block_simulation",
    "planning.assumptions",
    "planning.panel_guess",
    "planning.weight_guess",
    "planning.simulation",
    "study.synthetic",
    "planning.plan",
    "inference.bootstrap",
    "results.error_bounds",
    "request.reference",
}
COMMAND_LINE = {"cli", "cli.commands", "cli.demo", "cli.ledgers", "cli.planning", "__main__"}
# Modules that load statsmodels or numba, so their rooms do not import them.
LOADED_LATER = {"results.comparison", "mechanisms.shared.pairwise_ranks"}


def floor(room: str) -> int:
    """Position of a room in ROOMS."""
    places = [place for place, rooms in enumerate(ROOMS) if room in rooms]
    assert places, f"give {room} a place in ROOMS"
    return places[0]


def is_family(name: str) -> bool:
    """Whether a module holds a method or several of a kind."""
    return STRUCTURE.room(name) == "mechanisms" and name != "mechanisms"


def packages(module: str) -> set[str]:
    """First parts of the names of other packages that a module imports."""
    return {
        name.partition(".")[0]
        for name in imported(TREES[module])
        if STRUCTURE.module_of(name) is None
    }


def attributes(module: str) -> set[str]:
    """Dotted names such as np.random that a module uses."""
    nodes = [node for node in ast.walk(TREES[module]) if isinstance(node, ast.Attribute)]
    return {ast.unparse(node) for node in nodes}


def test_the_helpers_see_imports_wherever_they_are():
    tree = ast.parse("import numpy.random\ndef f():\n    from dpstats.noise import Noise\n")
    assert imported(tree) == {"numpy.random", "dpstats.noise.Noise"}
    assert STRUCTURE.module_of("dpstats.noise.Noise") == "noise"
    assert STRUCTURE.module_of("dpstats.formula.Design") == "formula"
    assert STRUCTURE.module_of("dpstats.dp_ols") == ""
    assert STRUCTURE.module_of("numpy.random") is None
    assert STRUCTURE.room("noise.queries") == STRUCTURE.room("noise") == "noise"
    assert STRUCTURE.room("schema") == "schema"


def write_package(folder: Path, files: dict[str, str]) -> Structure:
    """A package of these files."""
    for name, text in files.items():
        path = folder / "pkg" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Structure(folder / "pkg")


def test_cycles_are_found(tmp_path):
    files = {
        "__init__.py": "",
        "low.py": "",
        "a/__init__.py": "",
        "a/one.py": "from pkg.b import two\nfrom pkg import low",
        "b/__init__.py": "",
        "b/two.py": "",
        "b/three.py": "def f():\n    from pkg.a import one",
    }
    structure = write_package(tmp_path, files)
    assert structure.package_cycles() == [("a", "b")] and not structure.module_cycle()
    assert structure.floors() == 2
    structure = write_package(tmp_path, {"b/two.py": "from pkg.a.one import x"})
    assert structure.module_cycle()


@pytest.mark.parametrize("module", FILES)
def test_imports_go_downward(module):
    room = STRUCTURE.room(module)
    for other in STRUCTURE.imports(module):
        target = STRUCTURE.room(other)
        downward = target == room or floor(target) < floor(room)
        assert downward, f"{module or 'dpstats'} imports {other}"


def test_no_modules_or_packages_form_a_cycle():
    assert not STRUCTURE.module_cycle()
    assert not STRUCTURE.package_cycles()


@pytest.mark.parametrize("module", FILES)
def test_no_module_imports_private_names_of_another_room(module):
    for name in imported(TREES[module]):
        other, last = STRUCTURE.module_of(name), name.rpartition(".")[2]
        private = last.startswith("_") and not last.startswith("__")
        elsewhere = other is not None and STRUCTURE.room(other) != STRUCTURE.room(module)
        assert not (elsewhere and private)
        assert not (elsewhere and any(used.startswith(f"{last}._") for used in attributes(module)))


@pytest.mark.parametrize("room", sorted({STRUCTURE.room(module) for module in FILES} - {""}))
def test_a_room_exports_its_public_classes(room):
    if room in FILES and FILES[room].name != "__init__.py":
        pytest.skip("a single module")
    exported = {name.rpartition(".")[2] for name in imported(TREES[room])}
    for module in FILES:
        if STRUCTURE.room(module) != room or module == room or module in LOADED_LATER:
            continue
        classes = [node.name for node in TREES[module].body if isinstance(node, ast.ClassDef)]
        used = {
            name.rpartition(".")[2]
            for other in FILES
            if STRUCTURE.room(other) != room
            for name in imported(TREES[other])
            if STRUCTURE.module_of(name) == module
        }
        missing = {name for name in classes if name in used} - exported
        assert not missing, f"{room} exports {missing} of {module} in its __init__"


NUMERICAL = [name for name in FILES if name.startswith(("mechanisms.", "selection.", "numerics."))]


@pytest.mark.parametrize("module", NUMERICAL)
def test_mechanisms_see_arrays_and_numbers(module):
    assert not packages(module) & {"pandas", "narwhals", "polars", "pyarrow", "patsy"}
    for other in STRUCTURE.imports(module):
        assert not is_family(other), f"{module} imports another mechanism, {other}"
        assert other.partition(".")[0] not in {"engines", "formula"}


def test_there_are_mechanisms_to_check():
    families = {entry.release.__module__ for entry in dp.METHODS.values()}
    assert families <= {f"dpstats.{name}" for name in FILES if is_family(name)}


@pytest.mark.parametrize("module", FILES)
def test_only_formulas_know_patsy(module):
    assert module.startswith("formula") or "patsy" not in packages(module)


@pytest.mark.parametrize("module", FILES)
def test_only_noise_draws_for_releases(module):
    sources = {"opendp", "secrets", "random"} & packages(module)
    assert module == "noise.random_sources" or not sources
    drawn = {name for name in attributes(module) | imported(TREES[module]) if "random" in name}
    assert module in RANDOM or not {n for n in drawn if n.startswith(("np.", "numpy.", "os."))}


def test_completion_shows_the_public_names_only():
    dunders = {name for name in dir(dp) if name.startswith("__") and name.endswith("__")}
    assert {"__version__", "__all__", "__doc__"} <= dunders
    assert set(dir(dp)) - dunders == set(dp.__all__)
    assert all(hasattr(dp, name) for name in dir(dp))


def test_heavy_packages_load_when_first_needed():
    heavy = {"numba", "opendp", "statsmodels", "matplotlib", "tqdm", "dp_accounting",
             "scipy.special", "scipy.stats", "scipy.optimize", "mpmath"}  # fmt: skip
    code = "import dpstats, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())


def test_a_fit_loads_what_it_uses():
    code = """
import pandas as pd, sys, dpstats as dp
dp.dp_ols("y ~ x", pd.DataFrame({"x": [0.5, 1], "y": [0.25, 1]}), epsilon=1).params
print(*sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    unused = {"dpstats.datasets", "dpstats.evaluate", "dpstats.planning", "dpstats.simulate",
              "matplotlib", "narwhals", "scipy.optimize", "scipy.stats", "statsmodels"}  # fmt: skip
    assert "numba" in loaded and not unused & loaded


@pytest.mark.parametrize("module", FILES)
def test_nothing_prints_logs_or_warns(module):
    calls = [node.func for node in ast.walk(TREES[module]) if isinstance(node, ast.Call)]
    called = {ast.unparse(call) for call in calls}
    assert "logging" not in packages(module)
    assert "warnings.warn" not in called
    assert module in COMMAND_LINE or not called & {"print", "sys.stdout.write", "sys.stderr.write"}


@pytest.mark.parametrize("module", FILES)
def test_every_module_says_what_it_is(module):
    assert ast.get_docstring(TREES[module])


NUMBER = r"([Aa]lgorithms?|[Ee]quations?|[Tt]heorems?|[Pp]ropositions?|[Ss]ections?) \(?[A-Z\d]"


@pytest.mark.parametrize("name", dp.METHODS)
def test_the_proof_stands_beside_the_release(name):
    method = dp.METHODS[name]
    text = " ".join(inspect.getdoc(method.release).split())
    assert "Guarantee" in text
    assert re.search(r"[Ss]ensitivit|at most", text)
    assert re.search("add/remove|replace-one|relation", text)
    assert re.search(NUMBER, method.paper)
    assert re.search(NUMBER, text) or "this package" in method.paper


@pytest.mark.parametrize("name", dp.SELECTORS)
def test_the_proof_stands_beside_the_selection(name):
    selector = dp.SELECTORS[name]
    text = inspect.getsource(inspect.getmodule(selector.select))
    assert "Guarantee" in inspect.getdoc(selector.select)
    assert re.search(r"[Ss]ensitivit", text)
    assert re.search(NUMBER, selector.paper) and re.search(NUMBER, text)


@pytest.mark.parametrize("name", dp.METHODS)
def test_the_table_of_methods_is_complete(name):
    method = dp.METHODS[name]
    assert method.name == name
    assert method.guarantee in ("pure", "gdp", "approx", "zcdp")
    assert method.neighbors and set(method.neighbors) <= {"add_remove", "replace_one"}
    assert method.standard_errors and method.paper
