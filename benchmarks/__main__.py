"""``python -m benchmarks [part] [options]``: every part, or one of them."""

import sys

from benchmarks import (
    coverage,
    groups,
    illinois,
    intervals,
    methods,
    r,
    speed,
    stream,
    subsets,
    table3,
)

PARTS = {
    "speed": speed,
    "stream": stream,
    "methods": methods,
    "subsets": subsets,
    "groups": groups,
    "table3": table3,
    "illinois": illinois,
    "coverage": coverage,
    "intervals": intervals,
    "r": r,
}


def main(arguments: list[str]) -> None:
    """Run the part named first with the options after it, or all parts as they are."""
    if not arguments:
        for part in PARTS.values():
            part.main([])
    elif arguments[0] in PARTS:
        PARTS[arguments[0]].main(arguments[1:])
    else:
        sys.exit(f"expected one of {', '.join(PARTS)}, got {arguments[0]!r}")


if __name__ == "__main__":
    main(sys.argv[1:])
