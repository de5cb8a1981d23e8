"""Every test can fail: it checks something, and not only under a condition."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
FILES = sorted(TESTS.rglob("test_*.py"))
CHECKS = sorted((TESTS / "checks").glob("*.py"))
ASSERTIONS = ("pytest.raises", "pytest.warns", "pytest.fail")
LIBRARIES = ("np.testing.assert_", "pd.testing.assert_")


def functions(tree: ast.AST) -> list[ast.FunctionDef]:
    """All functions in a tree, those within others too."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def named_checks(tree: ast.Module) -> set[str]:
    """Names under which a file imports the checks of tests/checks."""
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in froms if (node.module or "").startswith("tests.checks.")]
    names = [alias for node in ours for alias in node.names]
    return {alias.asname or alias.name for alias in names if alias.name.startswith("check")}


def is_check(node: ast.AST, checks: set[str]) -> bool:
    """Whether this is an assertion, or a call of a named check."""
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Assert)
    name = ast.unparse(node.func)
    return name in ASSERTIONS or name.startswith(LIBRARIES) or name in checks


def always_checks(body: list[ast.stmt], checks: set[str]) -> bool:
    """Whether a check is reached however the conditions in it turn out; loops may be long."""
    for statement in body:
        if isinstance(statement, ast.If):
            branches = (statement.body, statement.orelse)
            if all(always_checks(branch, checks) for branch in branches):
                return True
        elif isinstance(statement, ast.For | ast.While | ast.With | ast.Try):
            heads = [item.context_expr for item in getattr(statement, "items", [])]
            if any(is_check(head, checks) for head in heads):
                return True
            if always_checks(statement.body, checks):
                return True
        elif not isinstance(statement, ast.FunctionDef) and any(
            is_check(node, checks) for node in ast.walk(statement)
        ):
            return True
    return False


def leaves_early(function: ast.FunctionDef) -> bool:
    """Whether a test ends in silence; pytest.skip says so."""
    inner = [node for node in ast.walk(function) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    apart = {node for one in inner if one is not function for node in ast.walk(one)}
    return any(isinstance(node, ast.Return) for node in ast.walk(function) if node not in apart)


def may_pass(test: ast.FunctionDef, checks: set[str]) -> bool:
    """Whether a test may pass without a check; a function in it that always checks is one."""
    inner = [node for node in functions(test) if node is not test]
    checks = checks | {node.name for node in inner if always_checks(node.body, checks)}
    return not always_checks(test.body, checks) or leaves_early(test)


def vacuous(text: str) -> list[str]:
    """Names of the tests in a file that may pass without a check."""
    tree = ast.parse(text)
    checks = named_checks(tree)
    tests = [node for node in functions(tree) if node.name.startswith("test_")]
    return [node.name for node in tests if may_pass(node, checks)]


def called(function: ast.FunctionDef) -> set[str]:
    """Last parts of the names that a function calls."""
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    return {ast.unparse(call).rpartition(".")[2] for call in calls}


def unable(texts: list[str]) -> set[str]:
    """Names of checks in these files that can neither assert nor raise, nor call what can."""
    found = [function for text in texts for function in functions(ast.parse(text))]
    failing = [
        f for f in found for n in ast.walk(f) if isinstance(n, ast.Raise) or is_check(n, set())
    ]
    able, before = {function.name for function in failing}, set()
    while able != before:
        before = able
        able = able | {function.name for function in found if called(function) & able}
    return {function.name for function in found if function.name.startswith("check")} - able


@pytest.mark.parametrize("body", [
    "fit()",
    "if x: assert x",
    "if x: return\n assert x",
    "for a in b:\n  if a: assert a",
    "def inner(): assert x\n fit(inner)",
    "check_it(x)",
    "model.check(x)",
    "Checker().assert_it(x)",
    "fail(x)",
])  # fmt: skip
def test_a_test_that_cannot_fail_is_found(body):
    assert vacuous(f"def check_it(x): pass\ndef test_it():\n {body}") == ["test_it"]


@pytest.mark.parametrize("body", [
    "assert x",
    "with pytest.raises(E): fit()",
    "with pytest.warns(W): fit()",
    "np.testing.assert_allclose(x, y)",
    "if x: check_it(x)\n else: assert y",
    "def inner(): return 1\n assert inner()",
    "def inner(): check_it(x)\n inner()",
])  # fmt: skip
def test_a_test_that_can_fail_is_not(body):
    assert vacuous(f"from tests.checks.it import check_it\ndef test_it():\n {body}") == []


def test_a_check_that_cannot_fail_is_found():
    assert unable(["def check_it(x): fit(x)"]) == {"check_it"}
    assert unable(["def check_it(x):\n if x: raise Violation"]) == set()
    assert unable(["def one(x): assert x", "def check_both(x): module.one(x)"]) == set()


def test_no_test_passes_without_a_check():
    names = [(path, name) for path in FILES for name in vacuous(path.read_text())]
    found = [f"{path.relative_to(TESTS)}::{name}" for path, name in names]
    assert not found, "these may pass without a check:\n" + "\n".join(found)


def test_every_named_check_can_fail():
    found = unable([path.read_text() for path in CHECKS])
    assert CHECKS and not found, f"these can neither assert nor raise: {', '.join(sorted(found))}"
