"""List what can undo a guarantee, in the order of NIST SP 800-226, and what is done about it.

The sections and hazards follow Near, Darais, Lefkovitz and Howarth (2025), Guidelines for
Evaluating Differential Privacy Guarantees, doi:10.6028/NIST.SP.800-226: its pyramid of privacy
parameters and unit of privacy (section 2), algorithms, utility and bias (3), and query and trust
models, side channels, security and data collection (4). The words are this package's.
"""

from typing import NamedTuple

from dpstats.estimators import GENERALIZED, INSTRUMENTAL, METHODS, SEVERAL


class Hazard(NamedTuple):
    """Hold a hazard: its section, what is done, tests or pages on it, what is left to the user."""

    section: str
    hazard: str
    answer: str
    tests: tuple[str, ...]
    left: str


HAZARDS = (
    Hazard(
        "2", "An epsilon or delta too large to protect",
        "each summary states both and their meaning; a delta of .5 or more is refused",
        ("suites/test_contract.py::test_a_delta_that_is_no_small_probability_is_refused",
         "suites/test_contract.py::test_an_epsilon_that_is_no_positive_number_is_refused"),
        "the choice of epsilon, and a delta far below one over the number of rows",
    ),
    Hazard(
        "2", "Guarantees of different variants compared as if they were one",
        "costs are kept as pure, Gaussian or approximate and converted by proven bounds alone",
        ("privacy/test_costs.py::test_gdp_of_never_exceeds_its_guarantee_and_wastes_none",
         "privacy/test_budget.py::test_what_the_filter_admits_keeps_the_guarantee"),
        "`gd_zcdp` reads epsilon as rho = epsilon^2 / 2, and reports say so",
    ),
    Hazard(
        "2", "Bounded and unbounded neighbours mixed up",
        "each release names its relation, noise follows it, and a budget takes one relation",
        ("suites/test_contract.py::test_another_relation_recalibrates_the_noise_or_is_refused",
         "suites/test_totality.py::test_relations_do_not_mix_in_a_budget"),
        "under `replace_one` the number of rows in use is public",
    ),
    Hazard(
        "2", "The unit of privacy is an event and not a person",
        "unit= protects all rows of a person together, in calls, studies and ledgers; without it "
        "every report says that the guarantee is for one row",
        ("suites/test_person_replay.py::test_no_person_moves_a_query_further_than_stated",
         "suites/test_person_enumeration.py::"
         "test_no_small_person_moves_a_query_further_than_stated",
         "auditing/test_persons.py::test_privacy_of_rows_is_refuted_as_that_of_persons",
         "study/test_run.py::test_a_study_of_persons_protects_each_with_all_rows",
         "suites/test_contract.py::test_the_report_says_what_the_relation_takes_for_granted"),
        "naming the column of persons, and completing ids that are missing",
    ),
    Hazard(
        "2", "Several releases add up unnoticed, or by a rule that adaptive choices break",
        "budgets and ledgers compose by one rule that is fixed first and holds for adaptive calls",
        ("privacy/test_budget.py::test_choosing_the_second_call_by_the_first_gains_nothing",
         "ledger/test_accounts.py::test_sixteen_processes_spend_exactly_what_there_is",
         "suites/test_killed_commands.py"
         "::test_a_command_that_is_killed_at_any_step_keeps_its_ledger_right"),
        "releases made without a budget, and those of other programs",
    ),
    Hazard(
        "2", "Releases without privacy from the same data",
        "results hold releases alone: no residuals or fitted values; N and R-squared are computed "
        "from what was released",
        ("suites/test_leaks.py::test_results_hold_only_releases",
         "suites/test_leaks.py::test_what_was_never_released_is_refused_with_an_alternative"),
        "whatever else is published of the same people",
    ),
    Hazard(
        "2", "An audit taken for a proof",
        "each method has a derivation; audits and replays try to refute it",
        ("auditing/test_audit.py::test_no_method_is_refuted",
         "auditing/test_audit.py::test_a_method_with_halved_noise_is_caught"),
        "reading the proofs",
    ),
    Hazard(
        "3", "A sensitivity or a noise scale that the implementation does not keep",
        "queries of neighbouring tables are replayed, and privacy is broken on purpose",
        ("suites/test_replay.py::test_no_row_moves_a_query_further_than_stated",
         "suites/test_replay.py::test_the_worst_rows_reach_the_stated_sensitivity",
         "suites/test_mutated_modules.py::test_no_module_is_without_a_mutant",
         "noise/test_noise.py::test_fresh_noise_has_the_recorded_scale_and_shape"),
        "none known",
    ),
    Hazard(
        "3", "Bounds, bins or levels read from the data",
        "schemas come from declarations and types; missing ranges are bought with noise",
        ("suites/test_totality.py::test_checks_ask_the_table_for_types_alone",
         "suites/test_replay.py::test_ranges_move_as_stated_and_reach_it",
         "suites/test_neighbours.py::test_no_cell_changes_another_row"),
        "declaring bounds without looking at the data",
    ),
    Hazard(
        "3", "Results of unknown accuracy",
        "intervals contain the privacy noise and cover; plans forecast errors before a fit",
        ("suites/test_accuracy.py::test_intervals_of_adassp_cover",
         "planning/test_plan.py::test_the_forecast_comes_true"),
        "whether the error is small enough for the use",
    ),
    Hazard(
        "3", "Noise that weighs on small groups, and bias by clipping",
        "every requested group is shown with its error and status, none dropped by its data",
        ("run/test_groups.py::test_every_requested_group_is_there_whatever_the_data",
         "suites/test_contract.py::test_rows_out_of_range_are_clipped"),
        "bounds wide enough; small groups have large errors at any epsilon",
    ),
    Hazard(
        "4", "Analysts who query on and on",
        "ledgers bind all analysts to one total, approve calls, and answer equal calls from store",
        ("ledger/test_ledger.py::test_the_total_binds_over_all_analysts_whatever_is_allocated",
         "ledger/test_ledger.py::test_calls_wait_for_approval"),
        "who gets an allocation",
    ),
    Hazard(
        "4", "A trust model that does not hold",
        "central: the curator who runs the fit sees the data and is trusted; pages say so",
        ("docs/privacy.md#what-is-assumed",),
        "that the curator is trusted",
    ),
    Hazard(
        "4", "Floating-point arithmetic",
        "sums are exact integers, noise is drawn on integers, supports do not depend on rows",
        ("numerics/test_cross_products.py::test_moments_are_exact",
         "noise/test_exact_samplers.py::test_theil_sen_is_private_on_every_tiny_table",
         "noise/test_noise.py::test_rounding_to_the_noise_grid_is_in_the_sensitivity"),
        "2^-150 in `adaops`, `ops` and `objpert`, as the privacy page says",
    ),
    Hazard(
        "4", "Running time and memory",
        "not protected: both may depend on rows",
        ("docs/privacy.md#what-is-assumed",),
        "not letting an adversary measure calls",
    ),
    Hazard(
        "4", "Errors, warnings and shapes that tell of rows",
        "errors come before a row is read; afterwards one strange row changes numbers alone",
        ("suites/test_totality.py::test_bad_arguments_are_refused_before_a_row_is_read",
         "suites/test_totality.py::test_one_strange_row_changes_nothing_but_numbers",
         "suites/test_leaks.py::test_a_defect_carries_no_rows",
         "suites/test_interrupts.py::"
         "test_an_interrupt_at_any_moment_leads_to_no_rows_and_says_what_it_costs"),
        "none known",
    ),
    Hazard(
        "4", "Settings tuned on the confidential data",
        "`method=\"auto\"` chooses by public facts; plans and evaluations take public data only",
        ("call/test_auto_method.py", "planning/test_plan.py::test_a_plan_runs_what_dp_ols_runs"),
        "not choosing formulas and options by looking at the data",
    ),
    Hazard(
        "4", "Seeds that let the noise be subtracted",
        "noise comes from the operating system; seeded results are marked and ledgers refuse them",
        ("results/record/test_record.py::test_seeded_results_are_marked_and_not_registered",
         "noise/test_noise.py::test_fresh_noise_differs_from_call_to_call"),
        "leaving `insecure_seed` out in real use",
    ),
    Hazard(
        "4", "Access to the raw data, and records that are changed later",
        "ledgers are chains of hashes, records have checksums; results hold no rows",
        ("ledger/test_verification.py::test_a_changed_byte_is_found_and_its_row_named",
         "results/record/test_record.py::test_what_is_not_as_it_was_written_is_named"),
        "security of the machine, its disk and its backups",
    ),
    Hazard(
        "4", "Data that need not have been collected",
        "no answer in software",
        ("docs/privacy.md#what-is-protected",),
        "collecting less",
    ),
)  # fmt: skip


# The methods that are audited, with the relations; docs/trust.md shows these.
AUDITED = {
    name: method.neighbors for name, method in {**METHODS, **GENERALIZED, **INSTRUMENTAL}.items()
}

# Those of several outcomes in one release, of which three are audited.
AUDITED_TOGETHER = {name: method.neighbors for name, method in SEVERAL.items()}
