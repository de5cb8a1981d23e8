"""Every test can fail: it checks something, and not only under a condition."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
FILES = {str(path.relative_to(TESTS)): path for path in sorted(TESTS.rglob("test_*.py"))}


def is_check(node: ast.AST) -> bool:
    """Whether this is an assertion, or a call of a function named for what it checks."""
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Assert)
    name = ast.unparse(node.func).rpartition(".")[2]
    return name in {"raises", "fail"} or name.startswith(("check", "assert"))


def always_checks(body: list[ast.stmt]) -> bool:
    """Whether a check is reached however the conditions in it turn out; loops may be long."""
    for statement in body:
        if isinstance(statement, ast.If):
            if always_checks(statement.body) and always_checks(statement.orelse):
                return True
        elif isinstance(statement, ast.For | ast.While | ast.With | ast.Try):
            heads = getattr(statement, "items", [])
            if any(is_check(item.context_expr) for item in heads) or always_checks(statement.body):
                return True
        elif not isinstance(statement, ast.FunctionDef) and any(map(is_check, ast.walk(statement))):
            return True
    return False


def leaves_early(function: ast.FunctionDef) -> bool:
    """Whether a test ends in silence; pytest.skip says so."""
    inner = [node for node in ast.walk(function) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    apart = {node for one in inner if one is not function for node in ast.walk(one)}
    return any(isinstance(node, ast.Return) for node in ast.walk(function) if node not in apart)


def vacuous(text: str) -> list[str]:
    """Names of the tests in a file that may pass without a check."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    tests = [node for node in functions if node.name.startswith("test_")]
    return [node.name for node in tests if not always_checks(node.body) or leaves_early(node)]


@pytest.mark.parametrize("body", [
    "fit()",
    "if x: assert x",
    "if x: return\n assert x",
    "for a in b:\n  if a: assert a",
    "def inner(): assert x\n fit(inner)",
])  # fmt: skip
def test_a_test_that_cannot_fail_is_found(body):
    assert vacuous(f"def test_it():\n {body}") == ["test_it"]


@pytest.mark.parametrize("body", [
    "assert x",
    "with pytest.raises(E): fit()",
    "if x: check_it(x)\n else: assert y",
    "def inner(): return 1\n assert inner()",
])  # fmt: skip
def test_a_test_that_can_fail_is_not(body):
    assert vacuous(f"def test_it():\n {body}") == []


@pytest.mark.parametrize("file", FILES)
def test_no_test_passes_without_a_check(file):
    assert vacuous(FILES[file].read_text()) == []
