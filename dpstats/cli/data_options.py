"""Define the options on data, declarations and budget that all commands of verbs share."""

from dpstats.cli import ledgers
from dpstats.cli.values import bounds, pairs, typed, types
from dpstats.codebook import Schema
from dpstats.engines import AnyTable
from dpstats.engines.columns import KINDS
from dpstats.engines.open_table import ENDINGS, open_table

LISTS = {"action": "append", "default": []}


def add_data(add) -> None:
    """Add the data, which come first."""
    add("data", metavar="DATA", help=f"file or quoted glob ending in {', '.join(ENDINGS)}")


def add_guarantee(add) -> None:
    """Add the guarantee and what pays for it."""
    add("--epsilon", required=True, type=float, metavar="E", help="privacy loss, > 0")
    add("--delta", type=float, metavar="D", help="default: 0, or 1e-6 where a method needs one")
    add("--neighbors", metavar="REL", help="add_remove or replace_one")
    add("--ledger", metavar="FILE", help="ledger to charge and to record the release in")
    add("--analyst", metavar="NAME", help="whose allocation of the ledger pays")


def add_declarations(add) -> None:
    """Add what is declared of columns, and which rows are used."""
    add("--bounds", **LISTS, metavar="COL=LOW,HIGH", help="public range; repeat for each column")
    add("--levels", **LISTS, metavar="COL=A,B,...", help="public levels of a categorical column")
    kinds = f"what a column of a text file is: {', '.join(KINDS)}"
    add("--types", **LISTS, metavar="COL=KIND", help=kinds)
    add("--schema", metavar="FILE", help="bounds, levels and types of all columns: .toml")
    add("--subset", metavar="CONDITION", help="rows to use, such as 'age > 25 & female == 1'")


def shared_call(arguments) -> tuple[AnyTable, dict]:
    """Open the data, and build the keyword arguments that all verbs have."""
    schema = Schema.of(arguments.schema).updated(types=types(arguments.types))
    table = open_table(arguments.data)
    table = table.typed({n: kind for n, kind in schema.types.items() if n in table.columns})
    texts = pairs(arguments.levels, "--levels", "column=a,b,...")
    levels = {name: typed(table, name, labels) for name, labels in texts.items()}
    schema = schema.updated(bounds(arguments.bounds), levels)
    call = {
        "epsilon": arguments.epsilon,
        "delta": arguments.delta,
        "bounds": schema.bounds,
        "levels": schema.levels,
        "types": schema.types,
        "subset": arguments.subset,
        "neighbors": arguments.neighbors,
        "budget": ledgers.opened(arguments),
    }
    return table, call
