"""Measure the package's structure from its imports: rooms, floors, arrows, cycles of packages.

A room is a module at the top of the package or a folder in it. ``python tests/structure.py`` prints
the figures.
"""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path


class Structure:
    """Modules of a package and what each imports of the others, wherever in it that stands."""

    def __init__(self, root: Path):
        self.root, self.package = root, root.name
        self.files = {self._name(path): path for path in sorted(root.rglob("*.py"))}
        self.trees = {name: ast.parse(path.read_text()) for name, path in self.files.items()}

    def _name(self, path: Path) -> str:
        """schema, formula.design, formula for its __init__, and the empty name for the top."""
        parts = path.relative_to(self.root).with_suffix("").parts
        return ".".join(part for part in parts if part != "__init__")

    def module_of(self, name: str) -> str | None:
        """The module of this package that a full name lies in, None for other packages."""
        head, _, rest = name.partition(".")
        if head != self.package:
            return None
        while rest and rest not in self.files:
            rest = rest.rpartition(".")[0]
        return rest

    def imports(self, module: str) -> set[str]:
        """Modules of this package that a module imports."""
        return {self.module_of(name) for name in imported(self.trees[module])} - {None}

    def room(self, module: str) -> str:
        """The folder a module is in, or the module itself at the top."""
        path = self.files[module].relative_to(self.root)
        return module if path.name == "__init__.py" else ".".join(path.parts[:-1]) or module

    def arrows(self) -> dict[str, set[str]]:
        """For each room, the other rooms it imports from."""
        rooms: dict[str, set[str]] = {self.room(module): set() for module in self.files}
        for module in self.files:
            rooms[self.room(module)] |= {self.room(other) for other in self.imports(module)}
        return {room: others - {room} for room, others in rooms.items()}

    def floors(self) -> int:
        """How many rooms stand on one another at most; rooms in a cycle share a floor."""
        arrows, reach = self.arrows(), {}
        for room in arrows:
            reach[room] = _reachable(arrows, room)

        @cache
        def floor(room: str) -> int:
            lower = {r for r in reach[room] if room not in reach[r]}
            return 1 + max(map(floor, lower), default=0)

        return max(map(floor, arrows))

    def package_cycles(self) -> list[tuple[str, ...]]:
        """Sets of first-level packages and modules that reach one another."""
        arrows: dict[str, set[str]] = {}
        for room, others in self.arrows().items():
            arrows.setdefault(_top(room), set()).update(map(_top, others))
        arrows = {room: others - {room} for room, others in arrows.items()}
        reach = {room: _reachable(arrows, room) for room in arrows}
        together = {
            tuple(sorted({room} | {r for r in reach[room] if room in reach[r]})) for room in arrows
        }
        return sorted(cycle for cycle in together if len(cycle) > 1)

    def module_cycle(self) -> list[str]:
        """A cycle of modules, or an empty list."""
        try:
            TopologicalSorter({m: self.imports(m) - {m} for m in self.files}).prepare()
        except CycleError as error:
            return error.args[1]
        return []


@cache
def imported(tree: ast.AST) -> frozenset[str]:
    """Full names a module imports anywhere, those inside functions too."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def _top(room: str) -> str:
    return room.partition(".")[0]


def _reachable(arrows: dict[str, set[str]], room: str) -> set[str]:
    """Rooms that can be reached from one by at least one arrow."""
    seen, waiting = set(), list(arrows[room])
    while waiting:
        other = waiting.pop()
        if other not in seen:
            seen.add(other)
            waiting.extend(arrows[other])
    return seen
