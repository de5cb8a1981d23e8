"""Set the formulas of proofs, which are plain text in docstrings, with the signs of mathematics."""

import re

from docutils import nodes
from sphinx.addnodes import desc_signature
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η",
    "theta": "θ", "lambda": "λ", "mu": "μ", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ",
    "chi": "χ", "Delta": "Δ", "Phi": "Φ", "Sigma": "Σ",
}  # fmt: skip
SIGNS = {
    "<=": "≤", ">=": "≥", "!=": "≠", "||": "‖", " * ": " · ", " - ": " − ", "->": "→",
    "sqrt ": "√", "sqrt(": "√(",
}  # fmt: skip
SYMBOL = re.compile("|".join(map(re.escape, SIGNS)))
NAME = re.compile(rf"(?<!\w)(?<!\w-)({'|'.join(LETTERS)})(?![a-z])")
PRIME = re.compile(r"(?<![A-Za-z])([A-Za-z]|[α-ω])'(?!s\b)")
# An exponent, or an index of one letter or of an operator: in braces or parentheses, or one word.
RAISED = re.compile(
    r"(?:(?<=[\w)}|‖'′*\]])\^|(?:(?<=(?<![A-Za-z])[A-Za-zα-ωΑ-Ω‖)])|(?<=sum|max|min))(_))"
    r"(?:\{([^{}]*)\}|\(((?:[^()]|\([^()]*\))*)\)|(-?\w+(?:\.\d+)?|[*+]))"
)
UNTOUCHED = (
    nodes.literal,
    nodes.literal_block,
    nodes.doctest_block,
    nodes.raw,
    nodes.title,
    nodes.math,
    desc_signature,
)


def typeset(text: str) -> list[nodes.Node]:
    """Return the text with its signs, exponents raised and indices lowered."""
    text = NAME.sub(lambda match: LETTERS[match[1]], text)
    text = PRIME.sub("\\1′", SYMBOL.sub(lambda match: SIGNS[match[0]], text))
    parts, end = [], 0
    for match in RAISED.finditer(text):
        parts.append(nodes.Text(text[end : match.start()]))
        kind = nodes.subscript if match[1] else nodes.superscript
        inner = next(group for group in match.groups()[1:] if group is not None)
        parts.append(kind("", "", *typeset(inner)))
        end = match.end()
    return [*parts, nodes.Text(text[end:])]


def is_untouched(node: nodes.Node | None) -> bool:
    """Tell whether a node is part of code, a title or a signature."""
    while node is not None and not isinstance(node, UNTOUCHED):
        node = node.parent
    return node is not None


class Formulas(SphinxPostTransform):
    """Typeset the running text of the pages in ``proofs``."""

    default_priority = 900

    def run(self, **kwargs) -> None:
        if not self.env.docname.startswith("proofs/"):
            return
        for text in list(self.document.findall(nodes.Text)):
            if not is_untouched(text):
                text.parent.replace(text, typeset(text.astext()))


def setup(app: Sphinx) -> dict:
    """Typeset after references are resolved."""
    app.add_post_transform(Formulas)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
