"""A module's test is found by its name: tests/<room>/test_<module>.py."""

import ast
from pathlib import Path

import dpstats as dp
from tests.checks.structure import Structure

TESTS = Path(__file__).parent
STRUCTURE = Structure(Path(dp.__file__).parent)
# About all methods at once, the documentation or the package's structure.
SUITES = {"", "suites"}
# Modules without a test of their own, by the tests that cover them.
COVERED_BY = {
    "auditing/test_audit.py": ["auditing.events", "auditing.subjects"],
    "cli/test_cli.py": [
        "__main__",
        "cli.commands",
        "cli.demo",
        "cli.outputs",
        "cli.planning",
        "cli.values",
    ],
    "engines/test_delimited_text.py": ["engines.text_records"],
    "engines/test_spark.py": [
        "engines.spark_tasks",
        "engines.spark_units",
        "fitting.spark_groups",
    ],
    "engines/test_stream.py": ["engines.lazy_sources", "engines.parallel_sum"],
    "engines/test_table.py": [
        "engines.arrow_columns",
        "engines.categories",
        "engines.cells",
        "engines.columns",
        "engines.label_types",
        "engines.numpy_columns",
        "engines.polars_columns",
        "engines.protocol",
        "engines.python_columns",
        "engines.to_columns",
    ],
    "engines/test_unit_partitions.py": ["engines.spill"],
    "engines/test_unit_table.py": ["engines.unit_order"],
    "evaluate/test_references.py": ["evaluate.public_rows"],
    "formula/test_design.py": [
        "formula.category_terms",
        "formula.column_origins",
        "formula.columns",
        "formula.constraints",
        "formula.expressions",
        "formula.learners",
        "formula.matrices",
        "formula.operators",
        "formula.parsing",
        "formula.reading",
        "formula.refusals",
        "formula.schema_frame",
    ],
    "formula/test_r_syntax.py": [
        "formula.r_code",
        "formula.r_coding",
        "formula.r_factor",
        "formula.r_terms",
        "formula.r_tree",
    ],
    "inference/test_pivot.py": ["inference.wald"],
    "ledger/test_ledger.py": [
        "ledger.charges",
        "ledger.listing",
        "ledger.records",
        "ledger.tables",
        "results.restored_calls",
        "results.stored_calls",
    ],
    "mechanisms/shared/test_block_least_squares.py": [
        "mechanisms.shared.block_elimination",
        "mechanisms.shared.block_system",
    ],
    "mechanisms/shared/test_rank_margins.py": [
        "inference.quantile_intervals",
        "mechanisms.shared.private_quantiles",
    ],
    "results/test_fit_statistics.py": [
        "inference.goodness_of_fit",
        "mechanisms.shared.block_goodness",
    ],
    "mechanisms/test_theil_sen.py": [
        "mechanisms.shared.theil_sen_rows",
        "mechanisms.smooth_theil_sen",
    ],
    "mechanisms/test_tukey.py": ["mechanisms.shared.random_subsets"],
    "noise/test_noise.py": ["noise.noise_grid", "noise.noisy_values", "noise.queries"],
    "noise/test_posterior.py": ["noise.multiprecision"],
    "planning/test_plan.py": [
        "planning.assumptions",
        "planning.forecast",
        "planning.plot",
        "planning.result",
    ],
    "privacy/test_budget.py": ["privacy.composition"],
    "privacy/test_costs.py": ["privacy.report"],
    "r/test_bridge.py": [
        "r.budgets",
        "r.inputs",
        "r.ledgers",
        "r.messages",
        "r.plans",
        "r.seeds",
        "r.serialize",
        "r.stored_fits",
        "r.uncertainties",
    ],
    "results/test_group_inference.py": ["results.group_member", "results.stored_groups"],
    "results/test_error_bounds.py": ["results.group_error_bounds"],
    "results/test_record.py": [
        "results.record_acro",
        "results.record_files",
        "results.record_page",
        "results.record_registry",
    ],
    "results/test_single.py": [
        "results.inference_mixin",
        "results.simulation_mixin",
        "results.stored",
    ],
    "results/test_stored_texts.py": ["results.stored_shapes"],
    "selection/test_selection.py": ["selection.ranks", "selection.spec"],
    "codebook/test_schema.py": ["codebook.toml_file", "request.declarations"],
    "study/test_run.py": [
        "study.models",
        "study.study_file",
        "study.synthetic",
        "study.tables",
    ],
    "request/test_row_weights.py": ["request.rows_in_use"],
    "suites/test_bad_calls.py": ["request.unsupported", "spelling"],
    "suites/test_contract.py": ["fitting.single", "mechanisms.shared.spec", "option_checks"],
    "suites/test_leaks.py": ["errors", "testing"],
    "suites/test_one_way.py": ["request.prepare", "request.prepared", "request.request"],
    "suites/test_replay.py": [
        "mechanisms.by_spread",
        "mechanisms.noisy_stats",
        "mechanisms.shared.release",
        "mechanisms.shared.shrinkage",
        "mechanisms.shared.simple_regression",
        "range_estimation.bins",
        "range_estimation.estimate",
        "range_estimation.histogram",
        "range_estimation.quantiles",
    ],
    "suites/test_totality.py": [
        "request.arguments",
        "request.feasibility",
        "schema",
    ],
}
# First parts of the names by which a file of the tests may be imported.
OURS = {"tests", *(path.stem for path in TESTS.rglob("*.py"))}
ELSEWHERE = [module for modules in COVERED_BY.values() for module in modules]
FILES = sorted(path.relative_to(TESTS) for path in TESTS.rglob("test_*.py"))


def module_of(file: Path) -> str:
    """The module a test file is named after; a room's own test may have the room's name."""
    room, name = ".".join(file.parts[:-1]), file.stem.removeprefix("test_")
    module = f"{room}.{name}".strip(".")
    return room if name == file.parent.name and module not in STRUCTURE.files else module


def test_a_test_file_is_named_after_a_module_or_is_a_suite():
    named = [file for file in FILES if ".".join(file.parts[:-1]) not in SUITES]
    wrong = [str(file) for file in named if module_of(file) not in STRUCTURE.files]
    assert not wrong, f"name these after the modules they test: {', '.join(wrong)}"


def from_tests(file: Path) -> set[str]:
    """Modules of the tests that a file imports from, by whatever name."""
    tree = ast.parse((TESTS / file).read_text())
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    named = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name for name in named if name.partition(".")[0] in OURS}


def test_helpers_are_imported_one_way():
    """From tests.checks; the lists of mutants of other suites are read where they are."""
    readers = {Path("suites") / name for name in ("test_mutated_modules.py", "trust_table.py")}
    readers |= {Path("suites/test_trust.py")}
    files = {path.relative_to(TESTS) for path in TESTS.rglob("*.py")} - readers
    found = [(file, name) for file in sorted(files) for name in sorted(from_tests(file))]
    wrong = [f"{file} imports {name}" for file, name in found if not is_helper(name)]
    assert not wrong, "\n".join(wrong)


def is_helper(name: str) -> bool:
    """Whether a module is one of tests.checks by its full name."""
    return name == "tests.checks" or name.startswith("tests.checks.")


def test_every_module_has_a_test():
    own = {module_of(file) for file in FILES}
    modules = {name for name, path in STRUCTURE.files.items() if path.name != "__init__.py"}
    assert modules - own - set(ELSEWHERE) == set(), "add tests/<room>/test_<module>.py"
    assert set(ELSEWHERE) - modules == set(), "is listed and does not exist"
    assert set(ELSEWHERE) & own == set(), "is listed and has a test of its own"
    assert len(ELSEWHERE) == len(set(ELSEWHERE))
    assert set(COVERED_BY) <= {str(file) for file in FILES}
