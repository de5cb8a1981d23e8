"""Write the pages of proofs: one a mechanism, and one a module of what mechanisms share."""

import functools
import importlib
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType

from dpstats.estimators import GENERALIZED, INSTRUMENTAL, METHODS
from dpstats.estimators.contract import Method

GUARANTEES = {
    "pure": "epsilon-DP, delta = 0",
    "gdp": "Gaussian DP, hence (epsilon, delta)-DP",
    "approx": "(epsilon, delta)-DP",
    "zcdp": "zero-concentrated DP, rho = epsilon^2 / 2",
}
RELATIONS = {"add_remove": "add or remove one row", "replace_one": "replace one row"}
# Rooms whose derivations the mechanisms use, and the heading of each.
SHARED = {
    "dpstats.estimators.contract": "What a method is",
    "dpstats.estimators.least_squares.dense": "Least squares from dense rows",
    "dpstats.estimators.least_squares.factors": "Least squares in indicators of factors",
    "dpstats.estimators.least_squares.within": "Least squares within groups",
    "dpstats.estimators.newton.row_sums": "Noisy Newton steps: sums over rows",
    "dpstats.estimators.newton.steps": "Noisy Newton steps: releases and steps",
    "dpstats.estimators.newton.generalized": "Noisy Newton steps of logits and counts",
    "dpstats.estimators.newton.within": "Noisy Newton steps within groups and persons",
    "dpstats.estimators.newton.instruments": "Noisy Newton steps with instruments",
    "dpstats.estimators.lines": "Lines",
    "dpstats.estimators.depth": "Depth",
    "dpstats.estimators.quantiles": "Quantiles and ranks",
    "dpstats.selection": "Selection of terms",
    "dpstats.range_estimation": "Estimated ranges",
    "dpstats.describe": "Descriptions of columns",
    "dpstats.noise": "Noise",
    "dpstats.privacy": "Costs and their composition",
    "dpstats.numerics": "Exact arithmetic on rows",
    "dpstats.inference": "Inference from released numbers",
}
INTRODUCTION = """Each page is made from the docstrings of the code that it is about: neighbour
relation, sensitivity with its derivation, guarantee, and the equation or algorithm of the paper.
:doc:`/trust` says what has tried to break them.
"""


def write_proofs(site: Path) -> None:
    """Write all pages into the folder ``proofs`` of the site."""
    folder = site / "proofs"
    folder.mkdir(parents=True, exist_ok=True)
    mechanisms = methods_by_module()
    for module, methods in mechanisms.items():
        (folder / f"{stem(module)}.rst").write_text(mechanism_page(module, methods), "utf-8")
    parts = {"Mechanisms": [stem(module) for module in mechanisms]}
    for room, caption in SHARED.items():
        shared = [module for module in modules_of(room) if module not in mechanisms]
        pages = {module.removeprefix("dpstats."): module for module in shared}
        parts[caption] = [*pages]
        for page, module in pages.items():
            (folder / f"{page}.rst").write_text(module_page(module), "utf-8")
    (folder / "index.rst").write_text(index(parts), "utf-8")


def methods_by_module() -> dict[str, list[Method]]:
    """Return the methods of each module that has their releases, in the order they are listed."""
    modules: dict[str, list[Method]] = {}
    for method in (*METHODS.values(), *GENERALIZED.values(), *INSTRUMENTAL.values()):
        modules.setdefault(released_by(method).__module__, []).append(method)
    return modules | {
        "dpstats.estimators.least_squares.within.absorbed": [],
        "dpstats.estimators.least_squares.within.absorbed_units": [],
    }


def released_by(method: Method):
    """Return the function whose docstring has the method's guarantee."""
    function = method.release
    while isinstance(function, functools.partial):
        function = function.func
    return function


def modules_of(room: str) -> list[str]:
    """Return the modules of a room that document a function or a class."""
    package = importlib.import_module(room)
    names = [f"{room}.{found.name}" for found in pkgutil.iter_modules(package.__path__)]
    return [name for name in names if documents(importlib.import_module(name))]


def documents(module: ModuleType) -> bool:
    """Tell whether a module has a public member of its own with a docstring."""
    return any(
        inspect.getdoc(member) and not name.startswith("_")
        for name, member in vars(module).items()
        if getattr(member, "__module__", None) == module.__name__
    )


def stem(module: str) -> str:
    """Return the last part of a module's name."""
    return module.rpartition(".")[2]


def heading(text: str) -> str:
    """Return the title of a page."""
    return f"{text}\n{'=' * len(text)}\n\n"


def mechanism_page(module: str, methods: list[Method]) -> str:
    """Return the page of a mechanism: a table of what holds, and its docstrings."""
    title = ", ".join(method.name for method in methods) or "absorbed effects"
    facts = "".join(map(facts_of, methods))
    return heading(title) + facts + members(module)


def facts_of(method: Method) -> str:
    """Return a list of what is stated about a method."""
    relations = "; ".join(RELATIONS[relation] for relation in method.neighbors)
    rows = {
        "Guarantee": GUARANTEES[method.guarantee],
        "Neighbours": relations,
        "Proof": f":func:`{released_by(method).__module__}.{released_by(method).__name__}`",
        "Regressors": "one" if method.single_regressor else "any number",
        "Bounds": "declared or estimated" if method.ranges.needed else "none",
        "Standard errors": method.standard_errors,
        "Options": ", ".join(f"``{name}``" for name in method.options) or "none",
        "Source": method.paper,
    }
    listed = "".join(f":{name}: {text}\n" for name, text in rows.items())
    return f".. rubric:: {method.name}\n\n{listed}\n"


def module_page(module: str) -> str:
    """Return the page of a module."""
    return heading(stem(module)) + members(module)


def members(module: str) -> str:
    """Return the directive that documents a module and its public members."""
    return f".. automodule:: {module}\n   :members:\n   :member-order: bysource\n"


def index(parts: dict[str, list[str]]) -> str:
    """Return the first page of the proofs."""
    trees = (
        f".. toctree::\n   :caption: {caption}\n   :maxdepth: 1\n\n"
        + "".join(f"   {page}\n" for page in pages)
        for caption, pages in parts.items()
    )
    return heading("Proofs") + INTRODUCTION + "\n" + "\n".join(trees)
