"""``python -m benchmarks [part] [options]``: every part, or one of them."""

import sys

from benchmarks import (
    absorbed,
    auto,
    cases,
    clusters,
    coded,
    coverage,
    crossing,
    describe,
    far_out,
    few_rows,
    first,
    floor,
    glm_groups,
    goodness,
    grid,
    groups,
    illinois,
    intervals,
    iv,
    ledger,
    logit,
    logit_grid,
    methods,
    offsets,
    one_outcome,
    outcomes,
    pairs,
    peers,
    person_effects,
    persons,
    poisson,
    pooled,
    powers,
    pure,
    r,
    rare_levels,
    robust,
    scale,
    speed,
    stream,
    subsets,
    table3,
    tails,
    tried,
    tried_tails,
    unbounded,
    units,
    weights,
)

PARTS = {
    "speed": speed,
    "first": first,
    "scale": scale,
    "stream": stream,
    "methods": methods,
    "subsets": subsets,
    "groups": groups,
    "table3": table3,
    "illinois": illinois,
    "coverage": coverage,
    "intervals": intervals,
    "absorbed": absorbed,
    "ledger": ledger,
    "r": r,
    "units": units,
    "weights": weights,
    "powers": powers,
    "pure": pure,
}
# Run by name only: they take long or need tables.
ALONE = {
    "auto": auto,
    "describe": describe,
    "tails": tails,
    "far_out": far_out,
    "few_rows": few_rows,
    "rare_levels": rare_levels,
    "pairs": pairs,
    "person_effects": person_effects,
    "tried": tried,
    "tried_tails": tried_tails,
    "crossing": crossing,
    "floor": floor,
    "grid": grid,
    "cases": cases,
    "glm_groups": glm_groups,
    "goodness": goodness,
    "persons": persons,
    "pooled": pooled,
    "logit": logit,
    "logit_grid": logit_grid,
    "one_outcome": one_outcome,
    "poisson": poisson,
    "coded": coded,
    "unbounded": unbounded,
    "robust": robust,
    "clusters": clusters,
    "iv": iv,
    "peers": peers,
    "offsets": offsets,
    "outcomes": outcomes,
}


def main(arguments: list[str]) -> None:
    """Run the part named first with the options after it, or all of PARTS as they are."""
    named = PARTS | ALONE
    if not arguments:
        for part in PARTS.values():
            part.main([])
    elif arguments[0] in named:
        named[arguments[0]].main(arguments[1:])
    else:
        sys.exit(f"expected one of {', '.join(named)}, got {arguments[0]!r}")


if __name__ == "__main__":
    main(sys.argv[1:])
