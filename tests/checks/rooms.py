"""List the rooms of the package in the order in which they may import one another."""

from tests.checks.structure import Structure

# A room may import rooms on earlier lines only; a module in it, the others of its room too.
ROOMS = [
    ["errors"],
    ["option_checks"],
    ["atomic_write"],
    [
        "datasets",
        "escaping",
        "html_tables",
        "progress_bar",
        "parallel_sum",
        "worker_processes",
    ],
    ["spelling", "tracebacks"],
    ["schema", "privacy"],
    ["numerics", "simulate"],
    ["noise", "engines.columns"],
    ["engines.labels"],
    ["engines.units"],
    ["engines.tables"],
    ["engines.streams"],
    ["engines.files", "engines.spark"],
    ["engines", "formula.expressions"],
    ["formula.r"],
    ["formula"],
    ["inference", "codebook"],
    ["evidence"],
    ["testing", "range_estimation", "selection", "estimators.contract"],
    ["estimators.least_squares.dense", "estimators.quantiles", "estimators.newton.row_sums"],
    ["estimators.newton.steps"],
    [
        "estimators.least_squares.factors",
        "estimators.least_squares.within",
        "estimators.newton.generalized",
        "estimators.newton.within",
        "estimators.newton.instruments",
        "estimators.lines",
        "estimators.depth",
        "estimators.risk",
    ],
    ["estimators.least_squares", "estimators.newton"],
    ["estimators"],
    ["rows"],
    ["call"],
    ["describe", "results.store", "results.show"],
    ["results.record"],
    ["results.one"],
    ["results.many"],
    ["results"],
    ["run", "ledger"],
    ["auditing", "evaluate", "verbs"],
    ["planning"],
    ["study"],
    ["study.plans"],
    [""],
    ["cli", "r"],
    ["__main__"],
]


def floor(room: str) -> int:
    """Position of a room in ROOMS."""
    places = [place for place, rooms in enumerate(ROOMS) if room in rooms]
    assert places, f"give {room} a place in ROOMS"
    return places[0]


def upward(structure: Structure) -> list[str]:
    """Imports of a module from another room that is not on a lower floor."""
    rooms = {module: structure.room(module) for module in structure.files}
    pairs = [(module, other) for module in rooms for other in structure.imports(module)]
    return [
        f"{module or 'dpstats'} imports {other}"
        for module, other in pairs
        if rooms[module] != rooms[other] and floor(rooms[other]) >= floor(rooms[module])
    ]
