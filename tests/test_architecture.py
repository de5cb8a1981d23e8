"""The folder is the architecture: who may import whom, draw randomness, print or show rows."""

import ast
import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import dpstats as dp
from tests.checks.rooms import upward
from tests.checks.structure import Structure, imported
from tests.checks.trip import trip_of_one_parameter

STRUCTURE = Structure(Path(dp.__file__).parent)
FILES, TREES = STRUCTURE.files, STRUCTURE.trees

# Where numbers may be drawn: noise for releases, and tables that are no release.
RANDOM = {
    "noise.random_sources",
    "option_checks",
    "testing",
    "evaluate.predictions",
    "auditing.inputs",
    "estimators.least_squares.factors.simulation",
    "planning.assumptions",
    "planning.panel_guess",
    "planning.weight_guess",
    "planning.simulation",
    "study.synthetic",
    "study.plans.guesses",
    "study.plans.responses",
    "study.plans.rows",
    "planning.plan",
    "inference.bootstrap",
    "results.one.error_bounds",
    "run.reference",
}
PRINTING = {"print", "sys.stdout.write", "sys.stderr.write"}
COMMAND_LINE = {
    "cli", "cli.commands", "cli.demo", "cli.ledgers", "cli.planning", "cli.study_plans",
    "cli.verbs", "__main__",
}  # fmt: skip
# Modules that load statsmodels, numba or pyarrow, so their rooms do not import them.
LOADED_LATER = {
    "engines.columns.arrow_columns",
    "inference.pivot",
    "results.many.comparison",
    "estimators.lines.pairwise_ranks",
}


def is_family(name: str) -> bool:
    """Whether a module holds a method or several of a kind."""
    return name in STRUCTURE.imports("estimators") and name != STRUCTURE.room(name)


def packages(module: str) -> set[str]:
    """First parts of the names of other packages that a module imports."""
    return {
        name.partition(".")[0]
        for name in imported(TREES[module])
        if STRUCTURE.module_of(name) is None
    }


@cache
def attributes(module: str) -> frozenset[str]:
    """Dotted names such as np.random that a module uses."""
    nodes = [node for node in ast.walk(TREES[module]) if isinstance(node, ast.Attribute)]
    return frozenset(ast.unparse(node) for node in nodes)


def called(module: str) -> set[str]:
    """Dotted names of the functions that a module calls."""
    calls = [node.func for node in ast.walk(TREES[module]) if isinstance(node, ast.Call)]
    return {ast.unparse(call) for call in calls}


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


def test_imports_go_downward():
    found = upward(STRUCTURE)
    assert not found, "\n".join(found)


def test_no_modules_or_packages_form_a_cycle():
    assert not STRUCTURE.module_cycle()
    assert not STRUCTURE.package_cycles()


def from_elsewhere(module: str) -> list[tuple[str, str]]:
    """(module, full name) of what a module imports from other rooms of the package."""
    names = [(STRUCTURE.module_of(name), name) for name in imported(TREES[module])]
    room = STRUCTURE.room(module)
    return [(m, name) for m, name in names if m is not None and STRUCTURE.room(m) != room]


def private_names(module: str) -> list[str]:
    """Private names of other rooms that a module imports, or reads off what it imports."""
    found = []
    for _, name in from_elsewhere(module):
        last = name.rpartition(".")[2]
        if last.startswith("_") and not last.startswith("__"):
            found.append(name)
        found += [used for used in attributes(module) if used.startswith(f"{last}._")]
    return found


def test_no_module_imports_private_names_of_another_room():
    uses = {module: private_names(module) for module in FILES}
    found = [f"{module or 'dpstats'} uses {name}" for module in uses for name in uses[module]]
    assert not found, "\n".join(found)


def test_a_room_exports_its_public_classes():
    used = {found for module in FILES for found in from_elsewhere(module)}
    missing = []
    for module in FILES.keys() - LOADED_LATER:
        room = STRUCTURE.room(module)
        exported = {name.rpartition(".")[2] for name in imported(TREES[room])} if room else set()
        classes = [node.name for node in TREES[module].body if isinstance(node, ast.ClassDef)]
        if module != room:
            missing += [
                f"{room} exports no {name} of {module} in its __init__"
                for name in classes
                if (module, f"dpstats.{module}.{name}") in used and name not in exported
            ]
    assert not missing, "\n".join(sorted(missing))


NUMERICAL = [name for name in FILES if name.startswith(("estimators.", "selection.", "numerics."))]


def test_mechanisms_see_arrays_and_numbers():
    tables = {"pandas", "narwhals", "polars", "pyarrow", "patsy"}
    found = {(module, name) for module in NUMERICAL for name in packages(module) & tables}
    for module in NUMERICAL:
        others = STRUCTURE.imports(module)
        found |= {(module, name) for name in others if is_family(name)}
        found |= {(module, o) for o in others if o.partition(".")[0] in {"engines", "formula"}}
    assert not found, "\n".join(f"{module} imports {name}" for module, name in sorted(found))


def test_there_are_mechanisms_to_check():
    families = {entry.release.__module__ for entry in dp.METHODS.values()}
    assert families <= {f"dpstats.{name}" for name in FILES if is_family(name)}


def test_a_call_reads_no_row_and_draws_no_noise():
    reading = {"batches", "by_unit", "gathered", "total"}
    modules = [module for module in FILES if STRUCTURE.room(module) == "call"]
    found = {m: {name for name in called(m) if name.rpartition(".")[2] in reading} for m in modules}
    found = {m: {*found[m], *(STRUCTURE.imports(m) & {"noise", "noise.noise"})} for m in modules}
    reads = [f"{module} uses {', '.join(names)}" for module, names in found.items() if names]
    assert modules and not reads, "\n".join(reads)


def test_only_formulas_know_patsy():
    outside = [module for module in FILES if not module.startswith("formula")]
    found = [module for module in outside if "patsy" in packages(module)]
    assert not found, f"these import patsy: {', '.join(found)}"


def sources_of_chance(module: str) -> set[str]:
    """What a module draws numbers with and may not."""
    sources = {"opendp", "secrets", "random"} & packages(module)
    names = {name for name in attributes(module) | imported(TREES[module]) if "random" in name}
    drawn = {name for name in names if name.startswith(("np.", "numpy.", "os."))}
    return (set() if module == "noise.random_sources" else sources) | (
        set() if module in RANDOM else drawn
    )


def test_only_noise_draws_for_releases():
    found = {module: sources_of_chance(module) for module in FILES}
    drawing = [
        f"{module} uses {', '.join(sorted(names))}" for module, names in found.items() if names
    ]
    assert not drawing, "\n".join(drawing)


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


def test_a_formula_is_read_once():
    """What was read travels with it: a fit comes back for designs and their rows alone."""
    stays = trip_of_one_parameter(STRUCTURE).stays("formula")
    functions = [function for _, (_, function) in stays]
    assert functions[0] == "Formula.parse" and functions.count("Formula.parse") == 1
    # learned for the schema and for released ranges; all else is asked of what was learned
    assert functions.count("Formula.design") <= 2, "\n".join(functions)
    asked = {"has_terms", "has_values", "with_ranges", "responses", "compact_rows", "interact",
             "response_ends", "tested", "has_two_outcomes"}  # fmt: skip
    others = set(functions) - {"Formula.parse", "Formula.design"}
    assert {name.rpartition(".")[2] for name in others} <= asked, "\n".join(functions)
    assert {name.partition(".")[0] for name in others} <= {"Design", "ColumnOrigins"}


def speaks(module: str) -> set[str]:
    """How a module prints, logs or warns and may not."""
    printing = set() if module in COMMAND_LINE else PRINTING
    return called(module) & ({"warnings.warn"} | printing) | packages(module) & {"logging"}


def test_nothing_prints_logs_or_warns():
    found = {module: speaks(module) for module in FILES}
    said = [f"{module} uses {', '.join(sorted(names))}" for module, names in found.items() if names]
    assert not said, "\n".join(said)


def test_every_module_says_what_it_is():
    silent = [str(FILES[module]) for module in FILES if not ast.get_docstring(TREES[module])]
    assert not silent, f"these have no docstring: {', '.join(silent)}"


NUMBER = r"([Aa]lgorithms?|[Ee]quations?|[Tt]heorems?|[Pp]ropositions?|[Ss]ections?) \(?[A-Z\d]"


def unproven(name: str) -> list[str]:
    """What the docstring of a method's release lacks of a proof."""
    method = dp.METHODS[name]
    text = " ".join(inspect.getdoc(method.release).split())
    has = {
        "a guarantee": "Guarantee" in text,
        "a sensitivity": re.search(r"[Ss]ensitivit|at most", text),
        "a relation": re.search("add/remove|replace-one|relation", text),
        "a place in a paper": re.search(NUMBER, method.paper),
        "an equation": re.search(NUMBER, text) or "this package" in method.paper,
    }
    return [f"{name} lacks {part}" for part, there in has.items() if not there]


def test_the_proof_stands_beside_the_release():
    lacking = [part for name in dp.METHODS for part in unproven(name)]
    assert not lacking, "\n".join(lacking)


def unproven_selection(name: str) -> list[str]:
    """What the module of a selector lacks of a proof."""
    selector = dp.SELECTORS[name]
    text = inspect.getsource(inspect.getmodule(selector.select))
    has = {
        "a guarantee": "Guarantee" in inspect.getdoc(selector.select),
        "a sensitivity": re.search(r"[Ss]ensitivit", text),
        "a place in a paper": re.search(NUMBER, selector.paper),
        "an equation": re.search(NUMBER, text),
    }
    return [f"{name} lacks {part}" for part, there in has.items() if not there]


def test_the_proof_stands_beside_the_selection():
    lacking = [part for name in dp.SELECTORS for part in unproven_selection(name)]
    assert not lacking, "\n".join(lacking)


def untold(name: str) -> list[str]:
    """What a method does not say of itself."""
    method = dp.METHODS[name]
    says = {
        "its name": method.name == name,
        "its guarantee": method.guarantee in ("pure", "gdp", "approx", "zcdp"),
        "its relations": method.neighbors
        and set(method.neighbors) <= {"add_remove", "replace_one"},
        "its standard errors": method.standard_errors,
        "its paper": method.paper,
    }
    return [f"{name} does not say {part}" for part, there in says.items() if not there]


def test_the_table_of_methods_is_complete():
    lacking = [part for name in dp.METHODS for part in untold(name)]
    assert not lacking, "\n".join(lacking)
