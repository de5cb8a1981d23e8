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
    "cli/test_verbs.py": ["cli.data_options"],
    "cli/test_cli.py": [
        "__main__",
        "cli.commands",
        "cli.demo",
        "cli.outputs",
        "cli.planning",
        "cli.values",
    ],
    "engines/files/test_delimited_text.py": ["engines.files.text_records"],
    "engines/spark/test_spark.py": [
        "engines.spark.table",
        "engines.spark.tasks",
        "engines.spark.units",
        "run.spark_groups",
    ],
    "engines/streams/test_stream.py": [
        "engines.files.arrow_datasets",
        "engines.queries",
        "parallel_sum",
    ],
    "engines/tables/test_table.py": [
        "engines.columns.arrow_columns",
        "engines.columns.cells",
        "engines.columns.column",
        "engines.columns.kinds",
        "engines.columns.numpy_columns",
        "engines.columns.polars_columns",
        "engines.columns.python_columns",
        "engines.columns.to_columns",
        "engines.labels.categories",
        "engines.labels.label_types",
        "engines.tables.column_batches",
        "engines.tables.protocol",
    ],
    "engines/streams/test_unit_partitions.py": ["engines.streams.spill"],
    "engines/units/test_unit_table.py": ["engines.units.unit_order"],
    "evaluate/test_references.py": ["evaluate.public_rows"],
    "formula/test_design.py": [
        "formula.column_origins",
        "formula.columns",
        "formula.constraints",
        "formula.expressions.allow_list",
        "formula.expressions.learners",
        "formula.expressions.operators",
        "formula.expressions.reading",
        "formula.expressions.refusals",
        "formula.matrices",
        "formula.parsing",
        "formula.schema_frame",
    ],
    "formula/test_formula.py": ["formula.parsed_formula"],
    "formula/r/test_syntax.py": [
        "formula.r.code",
        "formula.r.coding",
        "formula.r.factor",
        "formula.r.terms",
        "formula.r.tree",
    ],
    "inference/test_pivot.py": ["inference.wald"],
    "ledger/test_ledger.py": [
        "ledger.charges",
        "ledger.listing",
        "ledger.records",
        "ledger.tables",
        "results.restored_calls",
        "results.store.calls",
    ],
    "estimators/least_squares/factors/test_fit.py": [
        "estimators.least_squares.factors.elimination",
        "estimators.least_squares.factors.system",
    ],
    "estimators/quantiles/test_rank_margins.py": [
        "inference.quantile_intervals",
        "estimators.quantiles.private_quantiles",
    ],
    "results/one/test_fit_statistics.py": [
        "inference.goodness_of_fit",
        "estimators.least_squares.factors.goodness",
    ],
    "estimators/lines/test_theil_sen.py": [
        "estimators.lines.theil_sen_rows",
        "estimators.lines.smooth_theil_sen",
    ],
    "estimators/depth/test_tukey.py": ["estimators.depth.random_subsets"],
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
    "results/many/test_comparison.py": ["results.many.regression_table"],
    "results/many/test_group_inference.py": ["results.many.group_member", "results.store.groups"],
    "results/one/test_error_bounds.py": ["results.many.group_error_bounds"],
    "results/record/test_record.py": [
        "results.record.acro",
        "results.record.files",
        "results.record.page",
        "results.record.registry",
    ],
    "results/one/test_single.py": [
        "results.one.inference_mixin",
        "results.one.prediction_mixin",
        "results.one.simulation_mixin",
        "results.store.single",
    ],
    "results/store/test_texts.py": ["results.record.published", "results.store.shapes"],
    "describe/test_joint.py": ["describe.column_parts"],
    "describe/test_release.py": [
        "describe.distribution",
        "describe.limits",
        "describe.request",
    ],
    "verbs/test_describe.py": ["describe.call", "run.describe"],
    "selection/test_selection.py": ["selection.ranks", "selection.spec"],
    "codebook/test_schema.py": ["codebook.toml_file", "call.declarations"],
    "study/plans/test_plan_study.py": [
        "study.plans.forecasts",
        "study.plans.guesses",
        "study.plans.plot",
        "study.plans.result",
        "study.plans.summary",
    ],
    "study/test_kinds.py": ["study.shares"],
    "study/test_run.py": [
        "study.models",
        "study.study_file",
        "study.synthetic",
        "study.tables",
    ],
    "suites/test_bad_calls.py": [
        "call.given",
        "call.method_choice",
        "call.unsupported",
        "spelling",
    ],
    "run/test_reference.py": ["estimators.contract.reference"],
    "suites/test_contract.py": ["run.single", "estimators.contract.spec", "option_checks"],
    "suites/test_interrupts.py": ["tracebacks"],
    "suites/test_leaks.py": ["errors", "testing"],
    "suites/test_one_way.py": ["call.prepared", "call.request"],
    "suites/test_replay.py": [
        "estimators.lines.by_spread",
        "estimators.lines.noisy_stats",
        "estimators.contract.release",
        "estimators.least_squares.dense.shrinkage",
        "estimators.lines.simple_regression",
        "range_estimation.bins",
        "range_estimation.estimate",
    ],
    "suites/test_totality.py": [
        "call.arguments",
        "call.feasibility",
        "schema",
    ],
    "verbs/test_ols.py": ["run.charge"],
    "run/test_group_batches.py": ["run.group_fits", "run.passes"],
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
