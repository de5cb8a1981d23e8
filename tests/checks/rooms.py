"""List the rooms of the package in the order in which they may import one another."""

# A room may import rooms on earlier lines only; a module in it, the others of its room too.
ROOMS = [
    ["errors", "atomic_write", "datasets", "escaping", "html_tables", "progress_bar"],
    ["option_checks", "spelling"],
    ["schema", "privacy", "numerics", "simulate"],
    ["noise", "formula", "engines"],
    ["inference", "codebook"],
    ["evidence"],
    ["testing", "range_estimation", "selection", "mechanisms.shared"],
    ["mechanisms"],
    ["request"],
    ["results", "auditing"],
    ["fitting", "ledger"],
    ["evaluate", "api"],
    ["planning", "study"],
    [""],
    ["cli", "r"],
    ["__main__"],
]
