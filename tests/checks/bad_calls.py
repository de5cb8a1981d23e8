"""A hundred calls that are refused, and a script that prints each with its message.

``python -m tests.checks.bad_calls`` prints them as a page of Markdown.
"""

import contextlib
import io
import shlex
from pathlib import Path

import numpy as np
import pandas as pd

import dpstats as dp
from dpstats import cli

# Call, and a word that its message must have: the argument, or what is written instead.
# fit and plan are dp.dp_ols and dp.plan with the arguments of `defaults`.
PYTHON = [
    ("fit(df, 'y ~ x')", "dp_ols('y ~ x', data)"),
    ("fit('people.csv', 'y ~ x')", "dp_ols('y ~ x', data)"),
    ("fit({'x': [1.0], 'y': [2.0]}, 'y ~ x')", "swapped"),
    ("dp.dp_iv(df, 'y ~ [x ~ z]', epsilon=1)", "write dp_iv('y ~ [x ~ z]', data)"),
    ("dp.dp_iv('y ~ [x ~ z]', df, epsilon=1, by='x')", "is in the formula; its values would"),
    ("dp.dp_logit(df, 'known ~ x', epsilon=1)", "write dp_logit('known ~ x', data)"),
    ("dp.dp_logit('known ~ x', df, epsilon=1, offset='known')", "offset='known'"),
    ("fit('y ~ x', df, budget='f.ledger')", "open the file of a ledger with dpstats.Ledger(path)"),
    ("fit('y ~ x', df, ledger='f.ledger')", "give budget=dpstats.Ledger(path)"),
    ("fit('y ~ x', df, maxiter=100)", "number of steps is fixed before rows are read"),
    ("dp.dp_logit('known ~ x', df, epsilon=1, disp=0)", "number of steps is fixed"),
    ("dp.dp_logit('known ~ x', df, epsilon=1, C=1.0)", "no penalty to choose"),
    ("dp.dp_describe(df, 'x', epsilon=1, statistics=['median'])", "quantiles=(0.25, 0.5)"),
    ("dp.DPResults.from_json('fit.json')", "pathlib.Path(path).read_text()"),
    ("dp.DPResults.from_json({'params': {}})", "from_dict restores it"),
    ("fit('y ~ x', 'nowhere.csv')", "nowhere.csv"),
    ("fit('y ~ x', 'people.xlsx')", "people.xlsx"),
    ("fit('y ~ x', 3)", "int"),
    ("fit('y ~ x', None)", "NoneType"),
    ("fit('y ~ x', [1, 2])", "list"),
    ("fit('y ~ x', {'x': [1.0], 'y': [1.0, 2.0]})", "x"),
    ("fit('y', df)", "~"),
    ("fit('y ~', df)", "'y ~'"),
    ("fit(3, df)", "formula"),
    ("fit([], df)", "formulas"),
    ("fit(['y ~ x', 'y ~ x'], df)", "different formulas"),
    ("fit('y ~ x', df, missing='listwise')", "for several formulas"),
    ("fit(['y ~ x', 'z ~ known'], df, missing='listwise')", "alike"),
    ("fit(['y ~ x', 'z ~ x'], df, missing='listwise', by='known')", "goes without by='known'"),
    ("fit(['y ~ x', 'z ~ x'], df, missing='listwise', method='adassp')", "one response at a time"),
    ("fit('y ~ x + y', df)", "response y"),
    ("fit('np.log(y) ~ x + y', df, bounds={'y': (1, 2), 'x': (0, 1)})", "response np.log(y)"),
    ("fit('y ~ .', df)", "write y ~ x"),
    ("fit('y ~ x^2', df)", "**"),
    ("fit('y ~ x + i.region', df)", "write y ~ x + C(region)"),
    ("fit('y ~ c.x##c.x', df)", "write y ~ x + I(x**2)"),
    ("fit('y ~ ib1.region#c.x', df)", "write y ~ C(region, Treatment(1)):x"),
    ("fit('y ~ L.x', df)", "other rows"),
    ("fit('y ~ x + i(region, ref=\"north\")', df)", "levels of region must be declared"),
    ("fit('y ~ x + i(region)', df, levels={'region': ['n', 's']})", "leave a level out by ref="),
    ("fit('y ~ x + I(2*x)', df)", "of x and I(2 * x) are collinear"),
    ("fit('y ~ x + offset(z)', df)", "offset= of dp_logit and dp_poisson"),
    (
        "fit('y ~ p25', {**df, 'p25': df['x']}, bounds={'y': (0, 1), 'p25': (0, 1)})",
        "rename the column, or give x_new=",
    ),
    ("fit('y ~ i(region, x, bin=2)', df)", "i() takes a column, a number to multiply and ref="),
    ("fit('y ~ x + [z ~ known]', df)", "instruments are for dp_iv"),
    ("fit('y ~ x | region | z ~ known', df)", "instruments are for dp_iv"),
    ("fit(dp.RFormula('y ~ x | z ~ known'), df)", "instruments are for dp_iv"),
    ("fit('y ~ x, vce(robust)', df)", "vce(robust), is no part of a formula"),
    ("fit('y ~ x if z > 3', df)", 'subset="z > 3"'),
    ("fit('reg y x z', df)", "write y ~ x + z"),
    ("fit('y = x', df)", "write y ~ x"),
    ("fit('df.y ~ df.x', df)", "write y for a column of the data"),
    ("fit('y ~ df[\"x\"]', df)", "write y ~ x"),
    ("fit('y ~ x + (1 | region)', df)", "no random effects"),
    ("fit('y ~ x + as.factor(region)', df)", "RFormula"),
    ("fit('cbind(y, z) ~ x', df)", "['y ~ x', 'z ~ x']"),
    ("fit('y ~ sw(x, z)', df)", "several formulas"),
    ("fit('y ~ lag(x)', df)", "made before the call"),
    ("fit('y ~ stats::poly(x, 2)', df)", "without stats::"),
    ("fit(dp.RFormula('y ~ splines::ns(x, 3)'), df)", "write poly(x, 3)"),
    ("fit(dp.RFormula('y ~ df$x'), df)", "write y ~ x"),
    ("fit('y ~ x**2', df)", "I(x**2)"),
    ("fit('y ~ 2 * x', df)", "I("),
    ("fit('y ~ x.mean()', df)", "x.mean()"),
    ("fit('y ~ open(\"f\")', df)", "open()"),
    ("fit('y ~ ln(x)', df)", "np.log(x)"),
    ("fit('wage ~ educ', df, bounds=None)", "no column 'wage'"),
    ("fit('y ~ rgion', df)", "'region'"),
    ("fit('y ~ X', df)", "'x'"),
    ("fit('y ~ region', df)", 'levels={"region"'),
    ("fit('y ~ C(x)', df)", 'levels={"x"'),
    ("fit('y ~ one', df)", "one level"),
    ("fit('y ~ C(region)', df, levels={'region': ['a']})", "one level"),
    ("fit('known ~ x', df)", "known"),
    ("fit('y ~ np.log(x)', df)", "np.log"),
    ("fit('y ~ np.log(x)', df, bounds=None)", 'bounds={"x"'),
    ("fit('y ~ x | known + region', df)", "the first column after |"),
    ("fit('y ~ x | region', df, method='tukey')", "cannot absorb region"),
    ("fit('y ~ x | region', df, x_new=[0.5])", "x_new"),
    ("fit('y ~ x + EntityEffects', df)", "as in 'y ~ x | column'"),
    ("dp.dp_describe(df, epsilon=1)", "columns to name what to describe"),
    ("fit('y ~ x', df, method='adasp')", "'adassp'"),
    ("fit('y ~ x', df, method='OLS')", "every method fits least squares"),
    ("fit('y ~ x', df, method='logit')", "dp_logit"),
    ("fit('y ~ x', df, method='2SLS')", "dp_iv"),
    ("dp.dp_logit('known ~ x', df, epsilon=1, vcov='HC1')", 'cov_type="HC1"; for clustered'),
    ("dp.dp_poisson('known ~ x', df, epsilon=1, vcov='HC1')", 'cov_type="cluster"'),
    ("fit('y ~ x', df, method=['adassp'])", "method"),
    ("fit('y ~ x + z', df, method='tukey', bounds=B | {'z': (0, 1)}, x_new={'x': 1})", "z"),
    ("fit('y ~ x + z', df, method='exp_theil_sen', bounds=B | {'z': (0, 1)})", "one numeric"),
    ("fit('y ~ x', df, epsilon=0)", "epsilon"),
    ("fit('y ~ x', df, epsilon='1')", "epsilon"),
    ("fit('y ~ x', df, epsilon=float('inf'))", "epsilon"),
    ("fit('y ~ x', df, delta=2)", "delta"),
    ("fit('y ~ x', df, delta=0)", "delta"),
    ("fit('y ~ x', df, method='noisy_stats', delta=1e-6)", "delta"),
    ("fit('y ~ x', df, bounds=[(0, 1)])", "bounds"),
    ("fit('y ~ x', df, bounds={'x': (1, 0)})", "bounds['x']"),
    ("fit('y ~ x', df, bounds={'x': 1})", "bounds['x']"),
    ("fit('y ~ x', df, bounds={'x': (0, float('inf'))})", "bounds['x']"),
    ("fit('y ~ x', df, bounds=B | {'regon': (0, 1)})", "'region'"),
    ("fit('y ~ x', df, bounds=B | {'known': (2, 1)})", "bounds['known']"),
    ("fit('y ~ known', df, bounds={'y': (0, 1), 'known': (0, 1)})", "known is categorical"),
    ("fit('y ~ x', df, levels=['a'])", "levels"),
    ("fit('y ~ x', df, levels={'regin': ['a', 'b']})", "'region'"),
    ("fit('y ~ region', df, levels={'region': 'ab'})", "levels['region']"),
    ("fit('y ~ region', df, levels={'region': [1, 2]})", "region"),
    ("fit('y ~ region', df, levels={'region': ['a', 'a']})", "levels['region']"),
    ("fit('y ~ x', df, types={'x': 'numbr'})", "'number'"),
    ("fit('y ~ x', df, types={'x': 'string'})", "types"),
    ("fit('y ~ x', df, schema='nowhere.toml')", "nowhere.toml"),
    ("fit('y ~ x', df, schema={'bound': {}})", "schema"),
    ("fit('y ~ x', df, schema=3)", "schema"),
    ("fit('y ~ x', df, vcov='HC1')", "cov_type"),
    ("fit('y ~ x', df, cov_type='HC3')", "cov_type"),
    ("fit('y ~ x', df, cluster='region')", 'cov_type="cluster"'),
    ("fit('y ~ x', df, id='region')", "unit="),
    ("fit('y ~ x', df, cov_type='cluster', cov_kwds={'groups': 1})", "unit="),
    ("fit('y ~ x', df, groupby='region')", 'by="column"'),
    ("fit('y ~ x', df, family='binomial')", "family"),
    ("fit('y ~ x', df, offset='z')", "offset"),
    ("fit('y ~ x', df, freq_weights='z')", "weights="),
    ("fit('y ~ x', df, fixef='region')", "y ~ x | column"),
    ("fit('y ~ x', df, seed=1)", "insecure_seed"),
    ("fit('y ~ x', df, random_state=1)", "insecure_seed"),
    ("fit('y ~ x', df, na_action='omit')", "missing"),
    ("fit('y ~ x', df, alpha=0.1)", "summary(alpha=)"),
    ("fit('y ~ x', df, bound={'x': (0, 1)})", "bounds=?"),
    ("fit('y ~ x', df, neighbours='add_remove')", "neighbors=?"),
    ("fit('y ~ x', df, whatever=1)", "'whatever'"),
    ("fit('y ~ x', df, tau=1)", "'tau'"),
    ("fit('y ~ x', df, weights='w')", "'w'"),
    ("fit('y ~ x', df, weights='z')", 'bounds={"z"'),
    ("fit('y ~ x', df, weights=df)", "weights"),
    ("fit('y ~ x', df, trim_weights=2)", "weights="),
    ("fit('y ~ x', df, subset='x >')", "subset"),
    ("fit('y ~ x', df, subset='agee > 3')", "agee"),
    ("fit('y ~ x', df, subset='x.notna()')", "left out anyway"),
    ("fit('y ~ x', df, subset='~isnan(x)')", "left out anyway"),
    ("fit('y ~ x', df, missing='raise')", "missing"),
    ("fit('y ~ x', df, neighbors='add_remov')", "'add_remove'"),
    ("fit('y ~ x', df, method='tukey', neighbors='swap')", "neighbors"),
    ("fit('y ~ x', df, select='laso')", "'lasso'"),
    ("fit('y ~ x', df, select='lasso')", "select"),
    ("fit('y ~ x', df, k=2)", "select="),
    ("fit('y ~ x', df, companion='ssp')", "companion"),
    ("fit('y ~ x', df, method='tukey', companion='sps')", "'ssp'"),
    ("fit('y ~ x', df, by='x')", "by='x'"),
    ("fit('y ~ x', df, by='regio')", "'region'"),
    ("fit('y ~ x', df, groups=['a'])", "by="),
    ("fit('y ~ x', df, by='region', groups=['a', 'a'])", "groups"),
    ("fit('y ~ x', df, x_new={'z': 1})", "x"),
    ("fit('y ~ x', df, row_norm=-1)", "row_norm"),
    ("fit('y ~ x', df, n_jobs=0)", "n_jobs"),
    ("fit('y ~ x', df, budget=1)", "budget"),
    ("plan('y ~ x', n=0)", "n "),
    ("plan('y ~ x', n=100, epsilon=-1)", "epsilon"),
    ("plan('y ~ x', n=100, method='adasp')", "'adassp'"),
    ("plan('y ~ X', n=100)", "'x'"),
    ("plan('y ~ x | g', n=100)", "| g"),
    ("plan('y ~ x', n=100, repetitions=2)", "repetitions"),
    ("dp.audit('adasp')", "'adassp'"),
    ("dp.audit('adassp', trials=3)", "trials"),
    ("dp.audit('adassp', neighbors='swap')", "neighbors"),
    ("dp.evaluate.error_bounds('y ~ x', df, methods=['adassp'], epsilon=1, bounds=B)", "public="),
    ("dp.Budget(0)", "epsilon"),
    ("dp.Budget(1, 2)", "delta"),
    ("dp.Budget(1, composition='sums')", "composition"),
    ("dp.suggest_schema(3)", "int"),
]
_FIT = "fit people.csv 'y ~ x' --method adassp --epsilon 1 --bounds x=0,1 --bounds y=0,1"
_PLAN = "plan 'y ~ x' --n 100 --methods adassp --epsilon 1 --bounds x=0,1 --bounds y=0,1"
SHELL = [
    ("fitt people.csv 'y ~ x'", "fitt"),
    ("fit people.csv 'y ~ x'", "--epsilon"),
    ("fit people.csv --epsilon 1", "FORMULA"),
    ("fit 'y ~ x' people.csv --epsilon 1", "then 'y ~ x'"),
    ("fit nowhere.csv 'y ~ x' --epsilon 1", "nowhere.csv"),
    ("fit people.csv 'y ~ w' --epsilon 1", "no column 'w'"),
    ("fit people.csv 'y ~ regon' --epsilon 1", "'region'"),
    ("fit people.csv 'y ~ x + y' --epsilon 1", "response y"),
    ("fit people.csv 'y ~ region' --epsilon 1", "--levels 'region="),
    ("fit people.csv 'y ~ x' --epsilon one", "--epsilon"),
    ("fit people.csv 'y ~ x' --epsilon -1", "epsilon"),
    ("fit people.csv 'y ~ x' --epsilon 1 --method adasp", "'adassp'"),
    ("fit people.csv 'y ~ x' --epsilon 1 --method", "--method"),
    ("fit people.csv 'y ~ x' --epsilon 1 --vcov HC1", "cov_type"),
    ("fit people.csv 'y ~ x' --epsilon 1 --robust", "cov_type"),
    ("fit people.csv 'y ~ x' --epsilon 1 --cluster region", "--option cov_type=cluster"),
    ("fit people.csv 'y ~ x' --epsilon 1 --by region", "dpstats by"),
    ("logit people.csv 'y ~ x' --epsilon 1 --exposure z", "give --offset"),
    ("poisson people.csv 'y ~ x' --epsilon 1 --method OLS", "by one method; leave it out"),
    ("fit people.csv 'y ~ x' --epsilon 1 --method OLS", "every method fits least squares"),
    ("fit people.csv 'y ~ i.region' --epsilon 1", "C(region)"),
    ("ols people.csv 'y ~ x' --epsilon 1", "dpstats fit"),
    ("fit people.csv 'y ~ np.log(x)' --epsilon 1 --method adassp", "--bounds 'x=low,high'"),
    (f"{_FIT} --delta 2", "delta"),
    (f"{_FIT} --bounds x=0,1", "--bounds"),
    (f"{_FIT} --bounds w=0,1", "'w'"),
    (f"{_FIT} --bounds region", "--bounds"),
    (f"{_FIT} --bounds region=1,0", "--bounds region"),
    (f"{_FIT} --levels region", "--levels"),
    (f"{_FIT} --levels rgion=a,b", "'region'"),
    (f"{_FIT} --types region=text", "--types region"),
    (f"{_FIT} --schema nowhere.toml", "nowhere.toml"),
    (f"{_FIT} --schema people.csv", "people.csv"),
    (f"{_FIT} --weights region", "--bounds 'region=low,high'"),
    (f"{_FIT} --subset 'agee > 3'", "agee"),
    (f"{_FIT} --x-new a", "a"),
    (f"{_FIT} --neighbors add_remov", "'add_remove'"),
    (f"{_FIT} --select laso", "'lasso'"),
    (f"{_FIT} --companion ssp", "companion"),
    (f"{_FIT} --option k=3", "'k'"),
    (f"{_FIT} --option epsilon=3", "epsilon"),
    (f"{_FIT} --option cov_tipe=HC1", "cov_type"),
    (f"{_FIT} --ledger nowhere.ledger", "nowhere.ledger"),
    (f"{_FIT} -o result.docx", "-o"),
    (f"{_FIT.replace('fit', 'by', 1)} -o cells.csv", "--by"),
    (f"{_FIT.replace('fit', 'by', 1)} -o cells.csv --by regio", "'region'"),
    (f"{_PLAN} --target-width -1", "--target-width"),
    (f"{_PLAN.replace('adassp', 'adasp')}", "'adassp'"),
    (f"{_FIT} --eps 3", "--eps 3; did you mean --epsilon?"),
    (f"{_FIT} --metod ssp", "--metod ssp; did you mean --method?"),
    (f"{_FIT} --ledger people.csv", "people.csv twice"),
    ("ledger show people.csv", "make one with `dpstats ledger create`"),
    ("ledger show .", "a folder"),
    ("iv people.csv 'y ~ [x ~ z]' --epsilon 1 --bound x=0,1", "did you mean --bounds?"),
    ("audit adasp", "'adassp'"),
    ("audit adassp --trials 3", "trials"),
    ("fit people.csv y x --epsilon 1", "put the formula in quotes, 'y ~ x'"),
    ("describe people.csv x,y --epsilon 1", "expected columns with blanks between them"),
    (
        "describe people.csv x --types x=number --epsilon 1 --statistics median",
        "ask for --quantiles 0.25,0.5",
    ),
    ("verify nowhere", "nowhere"),
    ("run nowhere.toml -o out --dry-run", "nowhere.toml"),
]


def people() -> pd.DataFrame:
    """Forty rows."""
    return pd.DataFrame(
        {
            "x": np.linspace(0, 1, 40),
            "y": np.linspace(1, 0, 40),
            "z": np.linspace(0, 1, 40),
            "region": pd.array(["a", "b"] * 20, dtype="string"),
            "known": pd.Categorical(["a", "b"] * 20),
            "one": pd.Categorical(["a"] * 40),
        }
    )


def called(call: str, df, budget: dp.Budget):
    """Run a call of PYTHON with these data."""
    bounds = {"x": (0, 1), "y": (0, 1)}

    def fit(formula, data, **more):
        defaults = {"method": "adassp", "epsilon": 1, "bounds": bounds, "budget": budget}
        return dp.dp_ols(formula, data, **defaults | more)

    def plan(formula, **more):
        if not {"method", "methods"} & {*more}:
            more["method"] = "adassp"
        return dp.plan(formula, **{"epsilon": 1, "bounds": bounds} | more)

    return eval(call, {"dp": dp, "df": df, "B": bounds, "fit": fit, "plan": plan})


def in_shell(call: str) -> tuple[int, str, str]:
    """Run a call of SHELL: its exit code and what it prints to stdout and stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.main(shlex.split(call))
    return code, out.getvalue(), err.getvalue()


def main() -> None:
    """Print every call with its message; people.csv is written beside, for the shell."""
    for call, _ in PYTHON:
        try:
            called(call, people(), dp.Budget(9, 1e-3))
            print(f"- `{call}`\n  NOT REFUSED")
        except dp.ArgumentError as error:
            print(f"- `{call}`\n  {error}")
    people().to_csv("people.csv", index=False)
    for call, _ in SHELL:
        print(f"- `dpstats {call}`\n  {in_shell(call)[2].strip()}")
    Path("people.csv").unlink()


if __name__ == "__main__":
    main()
