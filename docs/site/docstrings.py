"""Read docstrings, which are plain text, as reStructuredText."""

import importlib
import re
from operator import attrgetter

from sphinx.application import Sphinx

# What keeps its meaning: literals, roles with their text, and emphasised titles of journals.
KEPT = re.compile(r"``.+?``|:\w+:`[^`]+`|(?<![\w*])\*[A-Z][^*]+\*(?![\w*])")
COLON = "\ue000"
LEAD = re.compile(
    r"^(Guarantee|Proof|Accuracy|Status|Where it differs[^.]*|What it estimates[^.:]*)([.:,])"
)
ITEM = re.compile(r"^(\s*)([-*]|\d+\.|\(?[ivx]+\))\s")


def as_rst(app: Sphinx, what: str, name: str, obj, options, lines: list[str]) -> None:
    """Separate lists from paragraphs, and escape what reStructuredText would take for markup."""
    read: list[str] = []
    example = False
    for line in lines:
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            line = escape(line)
            if needs_gap(read, line):
                read.append("")
        read.append(line)
    if what in ("attribute", "property") and read:
        read[0] = read[0].replace(":", COLON)  # napoleon reads what is before it as a type
    lines[:] = read


def with_colons(app: Sphinx, what: str, name: str, obj, options, lines: list[str]) -> None:
    """Put the colons of attributes back."""
    lines[:] = [line.replace(COLON, ":") for line in lines]


def escape(line: str) -> str:
    """Escape bars, asterisks and trailing underscores outside of literals and roles."""
    parts, end = [], 0
    for kept in KEPT.finditer(line):
        parts += [_escaped(line[end : kept.start()]), kept[0]]
        end = kept.end()
    return LEAD.sub(r"**\1\2**", "".join([*parts, _escaped(line[end:])]))


def _escaped(text: str) -> str:
    start = ITEM.match(text)
    head, rest = (start[0], text[start.end() :]) if start else ("", text)
    return head + re.sub(r"([|*]|_(?=\W|$))", r"\\\1", rest)


def needs_gap(read: list[str], line: str) -> bool:
    """Tell whether a list begins or ends between two lines without an empty one."""
    if not read or not read[-1].strip() or not line.strip():
        return False
    item, before = ITEM.match(line), last_item(read)
    if item:
        return before != len(item[1])
    indent = len(line) - len(line.lstrip())
    return before is not None and indent <= before


def last_item(read: list[str]) -> int | None:
    """Return the indent of the list that the last lines are in, if they are in one."""
    for line in reversed(read):
        if not line.strip():
            return None
        if item := ITEM.match(line):
            return len(item[1])
    return None


def find_alias(app: Sphinx, env, node, contnode):
    """Find an object that a docstring names by another module than its page does.

    A name without a page, such as that of a private function, stays text, if it exists.
    """
    name = node.get("reftarget", "")
    if node.get("refdomain") != "py":
        return None
    python, owner = env.domains["py"], name.split(".")[-2:-1]
    # A method is found by its class as well, since other classes have methods of that name.
    depth = 2 if owner and owner[0][:1].isupper() else 1
    ending = "." + ".".join(name.split(".")[-depth:])
    places = [place for place in python.objects if place.endswith(ending)]
    if len(places) != 1:
        return contnode if exists(name, node.get("py:module"), node.get("py:class")) else None
    return python.resolve_xref(env, node["refdoc"], app.builder, "obj", places[0], node, contnode)


def exists(name: str, module: str | None, owner: str | None) -> bool:
    """Tell whether there is an object of a dotted name, seen from a module and a class of it."""
    for start in (name, f"{module}.{name}", f"{module}.{owner}.{name}"):
        parts = start.split(".")
        for end in range(len(parts), 0, -1):
            try:
                found = importlib.import_module(".".join(parts[:end]))
                holder = attrgetter(".".join(parts[end:-1]))(found) if parts[end:-1] else found
            except (ImportError, AttributeError):
                continue
            # a field of a data class is no attribute of the class
            fields = getattr(holder, "__dataclass_fields__", {})
            if end == len(parts) or hasattr(holder, parts[-1]) or parts[-1] in fields:
                return True
    return False


def setup(app: Sphinx) -> dict:
    """Read each docstring before napoleon does, and once more after it."""
    app.connect("autodoc-process-docstring", as_rst, priority=100)
    app.connect("autodoc-process-docstring", with_colons, priority=900)
    app.connect("missing-reference", find_alias)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
