"""Write docs/trust.md: for each method its proof and the tests that tried to break it.

``python -m tests.suites.trust_table`` writes the page from the package and its tests; with
``--check`` it says whether the page is what would be written. tests/suites/test_trust.py fails
where it is not, and where a method lacks a cell.
"""

import functools
import inspect
import sys
from pathlib import Path

import dpstats as dp
from dpstats.estimators import GENERALIZED, INSTRUMENTAL, METHODS, SEVERAL
from dpstats.estimators.contract import Method
from tests.checks import noisy_logit as logit
from tests.checks import noisy_poisson as poisson
from tests.checks import several_outcomes as together
from tests.checks.noisy_instruments import QUERIES
from tests.checks.replay import cases_of
from tests.checks.structure import Structure
from tests.checks.trust_hazards import AUDITED, AUDITED_TOGETHER, HAZARDS
from tests.checks.worst_rows import WORST
from tests.suites.test_mutated_modules import ROOMS, mutated

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "trust.md"
COLUMNS = ("Method", "Proof", "Replay", "Audit", "Mutants", "Assumptions of its own")
# The methods in the order of their rows, those of several outcomes in one release last.
LISTED = {**METHODS, **GENERALIZED, **INSTRUMENTAL} | {
    f"{name}, several outcomes": method for name, method in SEVERAL.items()
}
GUARANTEES = {"pure": "epsilon", "gdp": "Gaussian", "approx": "epsilon, delta", "zcdp": "rho"}
RELATIONS = {"add_remove": "add or remove", "replace_one": "replace"}
ENOUGH = {"tukey": {"m": 25}}  # options under which 300 rows are enough
HEAD = """# What a guarantee rests on

This page is written by `make trust` from the package and its tests, and the tests fail where it is
out of date or where a method lacks a cell.

- **Proof**: the docstring that has the guarantee, with the relations it is proven for, the
  sensitivities derived and the source. The kind of guarantee is in parentheses.
- **Replay**: the number of settings in which every query of a release is recorded and asked again
  of neighbouring tables, where none may move further than its stated sensitivity; and the number
  of queries, for each of which rows are known that reach it
  ([test_replay.py](../tests/suites/test_replay.py)).
- **Audit**: relations under which samples from two neighbouring tables did not refute epsilon
  ([test_audit.py](../tests/auditing/test_audit.py)); an audit finds gross errors and is no proof.
- **Mutants**: ways in which privacy was broken on purpose, and each time noticed, in the method's
  own module, and in the modules that it imports, directly or not
  ([test_mutations.py](../tests/suites/test_mutations.py) and its neighbours).
- **Assumptions**: what the report of a release says beyond the sentences that hold for all methods.

"""
BETWEEN = """
{common}

## Hazards of NIST SP 800-226

The rows follow the sections of [SP 800-226](https://doi.org/10.6028/NIST.SP.800-226) (Near, Darais,
Lefkovitz and Howarth 2025), which describes the hazards between a guarantee on paper and one in
practice. The wording is ours, and NIST has evaluated nothing here.

"""


def is_of_several(method: Method) -> bool:
    """Tell whether a method fits several outcomes in one release."""
    return method in SEVERAL.values()


def released_by(method: Method):
    """Find the function whose docstring has the method's guarantee."""
    function = method.release
    while isinstance(function, functools.partial):
        function = function.func
    return function


def proof(method: Method) -> str:
    """Link the guarantee's docstring, or return nothing where there is none."""
    function = released_by(method)
    if "Guarantee" not in (inspect.getdoc(function) or ""):
        return ""
    file = Path(inspect.getsourcefile(function)).relative_to(Path(dp.__file__).parent)
    relations = ", ".join(RELATIONS[relation] for relation in method.neighbors)
    kind = GUARANTEES[method.guarantee]
    link = f"[`{function.__name__}`](../dpstats/{file})"
    return f"{link}: {relations} ({kind}); {method.paper}"


def replayed(method: Method) -> str:
    """Count the settings that are replayed and the queries whose sensitivity is reached."""
    if is_of_several(method):
        return f"{len(method.neighbors)}; {together.QUERIES}"
    if method.name == logit.METHOD.name:
        return f"{len(logit.CASES)}; {len(logit.ADDED)}"
    if method.name == poisson.METHOD.name:
        return f"{len(poisson.CASES)}; {len(poisson.STEPS)}"
    if method.instrumental:
        return f"{len(method.neighbors)}; {QUERIES}"
    cases = cases_of(method)
    if not cases or method.name not in WORST:
        return ""
    queries = {pair[0] for case in cases for pair in WORST[method.name](case)}
    return f"{len(cases)}; {len(queries)}" if queries else ""


def audited(method: Method) -> str:
    """Name the relations under which the method is audited, or nothing where it is not."""
    known = AUDITED_TOGETHER if is_of_several(method) else AUDITED
    relations = ", ".join(RELATIONS[relation] for relation in known.get(method.name, ()))
    return f"not refuted: {relations}" if relations else ""


def broken(method: Method, structure: Structure, mutants: list[frozenset[str]]) -> str:
    """Count the mutants in the method's module, and in what it imports below mechanisms."""
    own = released_by(method).__module__.removeprefix("dpstats.")
    if own not in structure.files:
        return ""
    reached, left = {own}, [own]
    while left:
        for module in structure.imports(left.pop()) - reached:
            if structure.room(module) in ROOMS:
                reached.add(module)
                left.append(module)
    here = sum(own in modules for modules in mutants)
    below = sum(bool(modules & reached) for modules in mutants) - here
    return f"{here}; {below}" if here and below else ""


def assumptions(method: Method) -> dict[str, list[str]]:
    """Read the sentences of a release's report under each of the method's relations."""
    line = dp.simulate.line(300, x_sd=0.2, noise_sd=0.02, seed=1)
    call = {"epsilon": 4.0, "bounds": {"x": (0, 1), "y": (0, 1)}, **ENOUGH.get(method.name, {})}
    of_outcomes = {"epsilon": 4.0, "bounds": {"I((y > 0.5) * 1)": (0, 1)}}
    found = {}
    for neighbors in method.neighbors:
        with dp.testing.insecure_seed(1):
            result = (
                dp.dp_ols(
                    ["y ~ x", "I(y / 2) ~ x"],
                    line,
                    method=method.name,
                    neighbors=neighbors,
                    epsilon=4.0,
                    missing="listwise",
                )["y ~ x"]
                if is_of_several(method)
                else dp.dp_iv("y ~ [x ~ z]", line.assign(z=line["x"]), neighbors=neighbors, **call)
                if method.instrumental
                else dp.dp_logit("I((y > 0.5) * 1) ~ x", line, neighbors=neighbors, **of_outcomes)
                if method.binary
                else dp.dp_poisson("y ~ x", line, neighbors=neighbors, epsilon=4.0)
                if method.name == poisson.METHOD.name
                else dp.dp_ols("y ~ x", line, method=method.name, neighbors=neighbors, **call)
            )
        texts = result.privacy.assumptions
        found[neighbors] = [text for text in texts if "insecure_seed" not in text]
    return found


def rows(methods=None) -> tuple[list[tuple[str, ...]], dict[str, list[str]]]:
    """Make a row of cells for each method; list what most methods assume under a relation."""
    methods = methods or LISTED
    structure, mutants = Structure(Path(dp.__file__).parent), mutated()
    found = {name: assumptions(method) for name, method in methods.items()}
    shared = {relation: most_assume(found, relation) for relation in RELATIONS}
    return [
        (
            f"`{method.name}`{name.removeprefix(method.name)}",
            proof(method),
            replayed(method),
            audited(method),
            broken(method, structure, mutants),
            "; ".join(of_its_own(found[name], shared)) or "none",
        )
        for name, method in methods.items()
    ], shared


def most_assume(found: dict[str, dict[str, list[str]]], relation: str) -> list[str]:
    """List the sentences that most reports under a relation have."""
    reports = [of_method[relation] for of_method in found.values() if relation in of_method]
    texts = [text for report in reports for text in report]
    return [text for text in dict.fromkeys(texts) if texts.count(text) > len(reports) / 2]


def of_its_own(found: dict[str, list[str]], shared: dict[str, list[str]]) -> list[str]:
    """List the sentences of a method that most others do not have."""
    texts = [
        text for neighbors in found for text in found[neighbors] if text not in shared[neighbors]
    ]
    return list(dict.fromkeys(texts))


def common(shared: dict[str, list[str]]) -> str:
    """Write what is assumed under all relations, and then under each."""
    first, *others = shared.values()
    under_all = [text for text in first if all(text in texts for texts in others)]
    parts = ["All methods assume:", bullets(under_all)]
    for relation, texts in shared.items():
        parts += [f"Under `{relation}`:", bullets([t for t in texts if t not in under_all])]
    return "\n\n".join(parts)


def bullets(texts: list[str]) -> str:
    """Write a list in Markdown."""
    return "\n".join(f"- {text}" for text in texts)


def table(columns: tuple[str, ...], lines) -> str:
    """Write a table in Markdown."""
    cells = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    written = [columns, ["---"] * len(columns), *cells]
    return "".join(f"| {' | '.join(line)} |\n" for line in written)


def evidence(name: str) -> str:
    """Link to a test, named by its file and function, or to a chapter of a page."""
    if name.startswith("docs/"):
        page, _, chapter = name.removeprefix("docs/").partition("#")
        return f"[{chapter.replace('-', ' ')}]({page}#{chapter})"
    file, _, function = name.partition("::")
    return f"[{function.removeprefix('test_').replace('_', ' ') or file}](../tests/{file})"


def page() -> str:
    """Write the whole page."""
    methods, shared = rows()
    hazards = [
        (each.section, each.hazard, each.answer, "; ".join(map(evidence, each.tests)), each.left)
        for each in HAZARDS
    ]
    columns = ("Section", "Hazard", "What is done", "Evidence", "What is left to the publisher")
    return (
        HEAD
        + table(COLUMNS, methods)
        + BETWEEN.format(common=common(shared))
        + table(columns, hazards)
    )


def main(arguments: list[str]) -> None:
    """Write the page, or compare it."""
    if arguments == ["--check"]:
        same = PAGE.read_text(encoding="utf-8") == page()
        sys.exit(0 if same else f"{PAGE} is out of date: make trust")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
