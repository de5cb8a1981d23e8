"""Clara asks for tables by education: ``python tables.py SURVEY [LEDGER]``."""

import sys
from pathlib import Path

import dpstats as dp

survey, *ledger = sys.argv[1:]
try:
    table = dp.dp_describe(
        survey,
        ["wage", "hours", "age", "unemployed"],
        by="education",
        epsilon=1,
        schema=Path(__file__).with_name("codebook.toml"),
        budget=dp.Ledger(*ledger, analyst="clara") if ledger else None,
    )
except dp.BudgetError as error:
    sys.exit(f"{error}")
print(table)
