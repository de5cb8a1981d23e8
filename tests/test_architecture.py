"""The folder is the architecture: who may import whom, draw randomness, print or show rows."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dpstats as dp

ROOT = Path(dp.__file__).parent
FAMILY = "a family of mechanisms"

# A module may import what stands on an earlier line, and the package it is in from its parts.
LAYERS = [
    ["errors"],
    ["privacy.costs"],
    ["privacy.budget", "privacy.report"],
    ["schema", "privacy", "inversions", "kernels", "options", "inference.laws"],
    ["noise.sampling", "noise.queries", "noise.sources", "mechanisms.smooth"],
    ["noise.precise", "noise.steps"],
    ["noise.exact"],
    ["noise.depth", "noise.posterior", "noise.perturbation", "testing"],
    ["noise.door"],
    ["noise"],
    ["bins", "histograms"],
    ["middles"],
    ["ranges"],
    ["formula.refusals", "formula.intervals", "formula.r_tree", "formula.constraints"],
    ["formula.r_syntax", "formula.r_factor"],
    ["formula.r_terms", "formula.r_code"],
    ["formula.expressions", "formula.learners", "formula.newdata"],
    ["inference.sandwich"],
    ["inference.wald", "inference.ends", "inference.pivot"],
    ["inference"],
    ["formula.columns", "formula.usage", "formula.r_coding", "bounds"],
    ["formula.matrices"],
    ["mechanisms.pairtable"],
    ["mechanisms.pairs", "mechanisms.medians", "mechanisms.subsets", "mechanisms.ends"],
    ["mechanisms.pairranks"],
    ["formula.design", "moments"],
    ["selection.path", "selection.ranks", "selection.spec"],
    ["selection.kendall", "selection.lasso"],
    ["selection"],
    ["formula", "mechanisms.spec"],
    ["mechanisms.line", "mechanisms.gram", "mechanisms.shrinkage"],
    ["mechanisms.rows", "mechanisms.companion", "mechanisms.robust"],
    [FAMILY, "inference.replicates"],
    ["mechanisms"],
    ["engines.r_vectors"],
    ["engines.columns", "engines.sources", "engines.output", "engines"],
    ["engines.codes"],
    ["engines.merging", "engines.ordering"],
    ["engines.frames"],
    ["engines.streams", "engines.stata"],
    ["engines.queries", "engines.text", "engines.spark"],
    ["engines.opening"],
    ["request", "auto"],
    ["declared", "many", "labels"],
    ["arguments"],
    ["summary", "plot", "simulate", "datasets"],
    ["evaluate.cells", "inference.error_bounds", "auditing.events", "auditing.inputs"],
    ["evaluate.references", "auditing.subjects"],
    ["evaluate.mos", "auditing.procedure"],
    ["evaluate.runs", "auditing"],
    ["evaluate.errors", "inference.hypotheses"],
    ["evaluate.comparison", "inferred"],
    ["results", "evaluate", "planning.guess", "planning.trials", "planning.picture"],
    ["single", "planning.simulation", "planning.forecast"],
    ["groups", "comparison", "planning.least", "planning.result"],
    ["grouped"],
    ["clusters"],
    ["api", "planning.procedure"],
    ["planning"],
    [""],
    ["r.budgets", "r.words", "r.given"],
    ["r.plain", "r.plans"],
    ["r.stored"],
    ["r.bridge"],
    ["r"],
    ["cli.outputs", "cli.values"],
    ["cli.demo", "cli.planning"],
    ["cli.commands"],
    ["cli"],
    ["__main__"],
]
SHARED_BY_MECHANISMS = {
    "mechanisms.spec",
    "mechanisms.line",
    "mechanisms.gram",
    "mechanisms.rows",
    "mechanisms.shrinkage",
    "mechanisms.pairs",
    "mechanisms.pairtable",
    "mechanisms.pairranks",
    "mechanisms.medians",
    "mechanisms.subsets",
    "mechanisms.smooth",
    "mechanisms.ends",
    "mechanisms.companion",
    "mechanisms.robust",
}
# Where numbers may be made up: noise for releases, and tables that are no release.
RANDOM = {
    "noise.sources",
    "simulate",
    "testing",
    "evaluate.mos",
    "evaluate.runs",
    "auditing.inputs",
    "planning.guess",
    "planning.simulation",
    "planning.procedure",
    "inference.replicates",
    "inference.error_bounds",
}
COMMAND_LINE = {"cli", "cli.commands", "cli.demo", "cli.planning", "__main__"}


def module_name(path: Path) -> str:
    """bounds, formula.design, formula for its __init__, and the empty name for the top."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


FILES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text()) for name, path in FILES.items()}


def is_family(name: str) -> bool:
    return name.startswith("mechanisms.") and name not in SHARED_BY_MECHANISMS


def layer(name: str) -> int:
    """Position in LAYERS, a family of mechanisms wherever it lives."""
    known = FAMILY if is_family(name) else name
    places = [place for place, names in enumerate(LAYERS) if known in names]
    assert places, f"give {name} a place in LAYERS"
    return places[0]


def imported(tree: ast.AST) -> set[str]:
    """Full names a module imports anywhere, those inside functions too."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def own(name: str) -> str | None:
    """The module of this package that a full name lies in, None for other packages."""
    head, _, rest = name.partition(".")
    if head != "dpstats":
        return None
    while rest and rest not in FILES:
        rest = rest.rpartition(".")[0]
    return rest


def imports_of_ours(module: str) -> set[str]:
    return {own(name) for name in imported(TREES[module])} - {None}


def packages(module: str) -> set[str]:
    """First parts of the names of other packages that a module imports."""
    return {name.partition(".")[0] for name in imported(TREES[module]) if own(name) is None}


def attributes(module: str) -> set[str]:
    """Dotted names such as np.random that a module uses."""
    nodes = [node for node in ast.walk(TREES[module]) if isinstance(node, ast.Attribute)]
    return {ast.unparse(node) for node in nodes}


def test_the_helpers_see_imports_wherever_they_are():
    tree = ast.parse("import numpy.random\ndef f():\n    from dpstats.noise import Noise\n")
    assert imported(tree) == {"numpy.random", "dpstats.noise.Noise"}
    assert own("dpstats.noise.Noise") == "noise"
    assert own("dpstats.formula.Design") == "formula"
    assert own("dpstats.dp_ols") == ""
    assert own("numpy.random") is None


@pytest.mark.parametrize("module", FILES)
def test_imports_go_downward(module):
    for other in imports_of_ours(module):
        assert layer(other) < layer(module), f"{module or 'dpstats'} imports {other}"


NUMERICAL = [name for name in FILES if name.startswith(("mechanisms.", "selection."))]


@pytest.mark.parametrize("module", NUMERICAL)
def test_mechanisms_see_arrays_and_numbers(module):
    assert not packages(module) & {"pandas", "narwhals", "polars", "pyarrow", "patsy"}
    for other in imports_of_ours(module):
        assert not is_family(other), f"{module} imports another mechanism, {other}"
        assert other.partition(".")[0] not in {"engines", "formula", "request", "results"}


def test_there_are_mechanisms_to_check():
    families = {entry.release.__module__ for entry in dp.METHODS.values()}
    assert families <= {f"dpstats.{name}" for name in FILES if is_family(name)}


@pytest.mark.parametrize("module", FILES)
def test_only_formulas_know_patsy(module):
    assert module.startswith("formula") or "patsy" not in packages(module)


@pytest.mark.parametrize("module", FILES)
def test_only_noise_draws_for_releases(module):
    sources = {"opendp", "secrets", "random"} & packages(module)
    assert module == "noise.sources" or not sources
    drawn = {name for name in attributes(module) | imported(TREES[module]) if "random" in name}
    assert module in RANDOM or not {n for n in drawn if n.startswith(("np.", "numpy.", "os."))}


def test_heavy_packages_load_when_first_needed():
    heavy = {"numba", "opendp", "statsmodels", "matplotlib", "tqdm", "dp_accounting",
             "scipy.special", "scipy.stats", "scipy.optimize", "mpmath"}  # fmt: skip
    code = "import dpstats, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.split())


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
    assert method.errors and method.paper
