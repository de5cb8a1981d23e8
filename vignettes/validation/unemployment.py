"""Ben asks who is unemployed: ``python unemployment.py SURVEY [LEDGER]``."""

import sys
from pathlib import Path

import numpy as np

import dpstats as dp

survey, *ledger = sys.argv[1:]
try:
    fit = dp.dp_logit(
        "unemployed ~ age + C(sex) + C(education)",
        survey,
        epsilon=1,
        schema=Path(__file__).with_name("codebook.toml"),
        budget=dp.Ledger(*ledger, analyst="ben") if ledger else None,
    )
except dp.BudgetError as error:
    sys.exit(f"{error}")
ratios = np.exp(fit.params.to_frame("odds ratio").join(fit.conf_int()))
effects = fit.get_margeff().summary_frame().iloc[:, [0, 1, 4, 5]]
print(ratios.round(3), effects.round(4), sep="\n\n")
