"""Count what tells the structure of the package: ``python tests/structure.py [--names]``.

Prints, for the package beside this folder, one figure a line:

- modules, lines, rooms (folders, and modules at the top), floors that rooms stand in at most, and
  arrows from room to room;
- cycles of imports between folders and between modules, and imports that run up the order of rooms
  in ``tests/checks/rooms.py``;
- files that name ``statistics`` (as a variable, attribute, argument or key; prose does not count),
  fields of ``Method``, and reads of columns of X that count from its end, such as ``X[:, -1]``;
- the trip of one parameter, of a fit with a factor, a quadratic and no bounds: files it enters, and
  how often it returns to ``formula`` after its first stay there. A loop of calls is one stay.

``--names`` lists what was counted. Compare two versions by running the script in each.
"""

import ast
import sys
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import dpstats as dp  # noqa: E402
from tests.checks.rooms import upward  # noqa: E402
from tests.checks.structure import Structure  # noqa: E402
from tests.checks.trip import trip_of_one_parameter  # noqa: E402


def names_statistics(tree: ast.AST) -> bool:
    """Whether code names ``statistics``, which also is a key of what is stored."""
    named = ("id", "attr", "arg", "value", "name")
    found = ((getattr(node, field, None) for field in named) for node in ast.walk(tree))
    return any("statistics" in [part for part in parts if isinstance(part, str)] for parts in found)


def positional_reads(tree: ast.AST) -> list[str]:
    """Reads of X that find a column, or the others, by counting from the end."""
    subscripts = [node for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
    ofx = [node for node in subscripts if ast.unparse(node.value).rpartition(".")[2] == "X"]
    return [ast.unparse(node) for node in ofx if counts_back(node.slice)]


def counts_back(index: ast.expr) -> bool:
    """Whether an index has a negative number for the columns."""
    column = index.elts[-1] if isinstance(index, ast.Tuple) else ast.Constant(0)
    return any(isinstance(node, ast.USub) for node in ast.walk(column))


def counted(structure: Structure) -> dict[str, int | Iterable]:
    """The figures by name; of some, what was counted."""
    trees, journey = structure.trees, trip_of_one_parameter(structure)
    reads = {name: positional_reads(tree) for name, tree in trees.items()}
    stays = [f"{'.'.join(to)} from {'.'.join(by or ())}" for by, to in journey.stays("formula")]
    return {
        "modules": len(trees),
        "lines": sum(len(path.read_text().splitlines()) for path in structure.files.values()),
        "rooms": len(structure.arrows()),
        "floors": structure.floors(),
        "arrows": sum(map(len, structure.arrows().values())),
        "cycles between folders": [" <-> ".join(cycle) for cycle in structure.package_cycles()],
        "modules in a cycle": structure.module_cycle(),
        "imports that run up": upward(structure),
        "files that name statistics": [m for m, tree in trees.items() if names_statistics(tree)],
        "fields of Method": [field.name for field in fields(type(dp.METHODS["adassp"]))],
        "positional reads of X": [f"{name}: {read}" for name in reads for read in reads[name]],
        "files on the trip of one parameter": sorted(journey.files()),
        "returns to formula on it": stays[1:],
    }


def main() -> None:
    for name, found in counted(Structure(ROOT / "dpstats")).items():
        print(f"{found if isinstance(found, int) else len(list(found)):7,}  {name}")
        if "--names" in sys.argv and not isinstance(found, int):
            print(*(f"             {one}" for one in found), sep="\n")


if __name__ == "__main__":
    main()
