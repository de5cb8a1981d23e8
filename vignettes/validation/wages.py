"""Anna asks what schooling pays: ``python wages.py SURVEY [LEDGER]``."""

import sys
from pathlib import Path

import dpstats as dp

survey, *ledger = sys.argv[1:]
try:
    fit = dp.dp_ols(
        "np.log(wage) ~ age + I(age**2) + C(sex) + C(education)",
        survey,
        epsilon=1,
        weights="weight",
        cov_type="cluster",
        cluster="state",
        schema=Path(__file__).with_name("codebook.toml"),
        budget=dp.Ledger(*ledger, analyst="anna") if ledger else None,
    )
except dp.BudgetError as error:
    sys.exit(f"{error}")
print(fit.summary().tables[1])
