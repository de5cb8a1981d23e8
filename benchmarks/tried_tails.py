"""What was tried for intervals where columns are skewed: each change of noisy_newton by itself.

``python -m benchmarks tried_tails`` fits the simulated cases of benchmarks/skewed.py, and with
``--data DIR`` tables as benchmarks/tails.py reads them, and writes vignettes/auto/tried_tails.csv
and the end of the page that shows it.

Tried on 23 regressions of economists, 24 skewed cases and 18 simulated tables, 3 to 8 fits of each
at epsilon 1 and 4, and left out. Widths are geometric means over those of economists.

- No room for hidden tails without declared bounds either: 25% less width where rows are few, but
  visits to a doctor (2,227 rows) covered in .25 of the fits; with a sixth of today's allowance for
  them .62 and 17%, with two fifths of it .75 and 11%. How far the released mean lies from the
  middle of two quantiles does not tell these from log wages.
- The same where the response has a histogram: 1%.
- The noise in X'X counted once, in the error of a step, and not as a part of each direction too:
  3 to 6% less width and 3% less error, but 1 fit in 50 more that misses a rare level or an
  interaction with one.
- A systematic part of light tails that falls with the number of directions p as 2 / root p: 1.5%,
  though the cut parts of scores add up to .2 to .5 of their length with 6 to 36 directions, and to
  .7 to 1 with 2 to 4.
- The response's mean square says nothing for or against a tail where a histogram is out of reach:
  at 4 deviations its noise is half of it at 1,500 rows and epsilon 1.

Of the squared width at epsilon 1 and 4, in the median of those of economists, .43 and .16 were
then what limits may cut, .30 and .12 the noise on scores and X'X, and .15 and .66 sampling. The
first fell most, by 4 and 2% of the width without bounds and 14 and 7% with them, since no tail is
likelier heavy than the share of responses far from their median makes it, whatever the columns'
kurtoses and farthest values. Tried beside it and left out, 3 to 5 fits of the 23 and 10 of 28
skewed cases, in which COUNT_medpar with bounds is covered in .7 of the fits at epsilon 1 either
way; widths at epsilon 1 and 4:

- The fourth moment of responses cut at 2.5 standard deviations in place of the share: 9 and 7%
  less, but COUNT_medpar covered in .4 of the fits at epsilon 4, as hidden rows shorten the
  deviation. The same as a release of its own, where the response has no histogram too: 17 and 8%
  less, but .7.
- A tail that begins where bins have 12 deviations of noise in place of 5: 5 and 8% less, but
  Ecdat_MedExp covered in .5 of the fits.
- Light tails with a chance of .15 at least: 2% less.
- Rows far out in distributions from 3.5 deviations of noise on: none and 4% less, but spending
  and Ecdat_MedExp covered in .8 of the fits.
- A share of .045 and half of its noise on top, in place of .035 and the noise's square over
  .008: a sixth less at epsilon 1 on skewed cases, but COUNT_medpar with bounds covered in .80
  and .89 of 80 fits, in place of .86 and .97, as without the rule. Half of the noise on .035:
  .80 and .94; one and a half times the noise: .84 and .96. Twice the square: an interaction with
  a rare dummy covered in .91 of 80 fits with bounds, and not in .94.
- Other fractions of the budget: .07 of X'X for the rounds, .04 of it or of the rounds for the
  histogram of scores, 3 or 4 times a regressor's for the response: 1% less to 6% more at epsilon
  1, 4% less to 2% more at 4. .045 of the distributions for the rounds: 10 and 4% less, but
  spending with 95% zeros covered in .7 of the fits.
- Four fifths of what heavy tails lose in one direction: 1 and 3% less, but spending and
  Ecdat_MedExp covered in .8 of the fits.
- Steps that surprise in one direction make that one less sure, and no other: none and 2% less.
- Cut scores that count for .05 or .2 of the response's variance where limits are chosen: 2% more
  to 1% less, 3% more to 2% less.

Noise in X'X is the same matrix E in each step, so what k steps leave of a position is E^k times
it: its square grows by 2, 2.5 and 2.8 times E's mean square in turn (the moments of a semicircle),
three tenths of it along the position in the end. Variances that follow this cover nearly all slopes
of bike_hour at epsilon .3 to .6, but make intervals 6 to 11% longer at epsilon 1, and half as long
again for 20 regressors, where nothing misses. Such fits are hidden instead: with 8 directions or
more from less than .75 of X'X on. With fewer that hides fits of which one level is rare.
Of a skewed regressor that is off the model, as where wages follow the logarithm of wealth and are
regressed on wealth, nearly all that a limit of 4 or more cuts off points along that regressor, and
not .4 to .8 of it in some direction. With z normal, 20,000 rows and epsilon 1 and 4, the slope of
exp(.8 z), of which z has the effect, was held in .2 and .6 of 12 fits, and in .9 to 1 with one of
these. Widths are of economists' regressions, and exp(1.2 z) was held in the shares at the end:

- All of a tail along each regressor of a kurtosis above 5, at its own chance of being heavy: 15 and
  10% more for economists, .7 and .6.
- .6 of what Markov's inequality says of the kurtosis beyond the normal one (taken): 5 and 3% more,
  and twice as wide at epsilon 4 for a lognormal regressor on the model; .3 to .8. With .4 of it 3
  and 2%, .4 and .7. Limits that count a third of it: 3% less error on the model, a half more off.
- The same, no more than the counts of the histogram of scores allow where the response is flat for
  all rows far out: 5 and 2%, a sixth less wide on the model; flat only from the 99th percentile on,
  .1 in place of .4.
- What the released distribution of the regressor says in place of its kurtosis: 1 and 0%, .3 for
  exp(.8 z), as the farthest rows are not in it.

A row lies along all columns that move with a number: of x * g that of its level too, of x * age the
product. With the columns one at a time .05 to .25 of 20 fits held an interaction with a level of
5%, and .7 of 16 one with age; with both .95 and .9 or more. The kurtosis of a level's column beside
that of its number made normal interactions up to seven times as wide at epsilon 1. Squares that
move with their number held the quadratic of exp(.6 z) in .3 of 10 fits for .7: far out one slope
does not tell what it does.

Kurtoses of 2 to 6 are seen where they are 30 to 90. With those of the table itself in their place
all these slopes were held in .9 and more of 12 fits, but Student's t with three degrees of freedom
in .7. What was tried to find them, and medians for lognormal columns (.8), exponential ones, shares
of beta (.3, 3) and that t (20,000 rows, epsilon 1; in the tables 25, 6, 5 and 33; seen 6, 2, 4, 2):

- A Pareto tail fitted to what histograms show: a t of 7 to 31, and shares of 31.
- log distances from the median that go on linearly in normal deviates, by their last slope: 55, 26,
  52 and 18, and 10 to 40 for levels of schooling and counts of illnesses, which are .9 and 3.
- The shifted lognormal through three quantiles: 29, 9, 25 and 6.
- The same by the likelihood of all bins: 27, 10, 27 and 5, but 36 where counts up to 8 have .7.
- The same with bins taken together until they are clear, at places between which tails are
  continuous (taken): 26, 8, 24 and 6; ends of four times the farthest rows seen in place of eight
  halve what counts with a few large ones are given. All slopes above are held in .9 and more but
  that t with bounds, of which one row in 20,000 lies 31 deviations out.

The t held .55 and .1 of its intervals with bounds, as what is lost was cut to what noise hides in
the farthest bin of scores that the response's bounds allow. Of 14 other laws, powers of index 2.5
to 5, lognormal, Weibull, exponential and Laplace columns off the line and on it, 5,000 to 60,000
rows, 4 tables of each and 10 fits, this part of the tables held less than .9 of a slope (without
bounds and with them at epsilon 1, then at 4), at such widths (geometric means); then widths of the
26 cases of benchmarks/skewed.py. Those of 23 regressions of economists stayed within 3%:

- As it was: .19, .32, .14, .22; 4.6, 3.4, 2.7, 2.1; 5.9, 4.6, 2.7, 2.3.
- Without that cut: widths of the 26 were 6.1, 5.8, 3.3, 3.0.
- With half as far again as columns reach in the place of its bin: .15, .16, .08, .08 at 5.4, 5.3,
  3.6, 3.4.
- Power laws beyond what is seen, and no cut: .13, .14, .03, .04 at 6.3, 6.3, 4.8, 4.7.
- The same, no flatter than counts of scores leave room for with 1, 1.5 or 2 deviations of noise:
  .17, .19, .08, .08; .16, .17, .06, .07; .15, .16, .05, .07 at 4.7 to 5.4 and 3.0 to 3.5.
- With 1.5, four fifths of the index, and a part of tails of variables of which none is seen
  (taken): .09, .10, .05, .07 at 5.8, 5.8, 3.6, 3.4; 6.7, 6.3, 3.4, 2.9. All 26 are held in .95.
- The same where the response is flat from the 95th, 99th or 99.7th percentile of six columns on,
  2 tables and 8 fits: .12, .08, .06, .02, and .17, .23, .09, .15 as it was.
- Sums over the distances themselves in the place of Markov's inequality: .27, .21, .20, .19.

What is left are powers of index 2.5 and 3 that end at two units, where one row in 20,000 or 60,000
lies 50 to 120 deviations out: none to six tenths of these are held. The laws are those of
benchmarks/far_out.py, whose tables were drawn after the choice: .11, .19, .12 and .16 of 396 missed
before and .05, .04, .03 and .03 now, at widths of 4.5, 3.2, 2.6, 1.9 and 5.2, 5.3, 3.3, 3.2.

With these tails limits that count all that may be lost along a column make noise twice as long for
exp(.8 z) on the line: 20,000 rows at epsilon 1 are off by 6.8 standard errors, at 100,000 by 7.8,
and the other regressor's interval is 6.4 times as long as without privacy. Limits that count .4 of
it (taken): 3.9, 5.5 and 4.3, and the column's own interval a fifth longer; .3 of it: 3.3, 4.8 and
3.9, and a quarter longer, but a column of few ones within persons ten times as long as without
privacy; .1 of it: 1.9, 2.8 and 2.6, and a half longer.

Half of the systematic part of what limits cut, once more with that tail: widths of economists'
regressions fall by 10%, and COUNT_medpar, COUNT_mdvis and Ecdat_MedExp are held in .80 to .85 of 20
fits. Half of it where tails are light alone: 2 to 5% less, all cases held, and a table or three
fewer of the 396. Both left out.

Within groups the tails of differences were those that are seen. Of 24 laws of a regressor, 20,000
rows in 333 groups, 2 tables of 8 fits each, all fits held the within estimator in .77 of the tables
at epsilon 1 and .86 at 4; with tails that go on as those of columns do .88 and .91, at widths of
5.7 and 3.1 for 3.5 and 2.1. Those of economists stayed as they were. Deviations from persons'
means, 5,000 persons of 4 rows, 16 tables: t3 within two units held in 9 and 14 as it was, 9 and 15
with tails that go on; the root and the line of a lognormal in all but one either way, 2.5 to 5
times as wide at epsilon 1; the widest interval of columns of few ones 7 times as long as without
privacy as it was, 20 times then. Left out.

A dummy or a level of 1% whose rows have errors three times as large, 20,000 rows, epsilon 1, 2
tables of 25 fits: 39 and 37 were held, with steps that moved a fourth of the way. Normal residuals
of the usual size tell of a fifth of what is cut. As many of its rows as the histogram of scores
counts beyond the limit and noise may hide (taken): 50 and 49. At epsilon 1, without bounds and with
them, 18 and 19 of 19 regressions of economists are held in .9 and more of 20 fits then, for 18 and
17, at widths 4 and 7% longer; at epsilon 4 all were and are, 3 and 4% longer.

The share of far responses alone, however well all columns are seen: 1% more at epsilon 1, 3% at 4,
and 25% for log wages of 29,000 workers at epsilon 1.
"""

import argparse
import math
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from itertools import product
from pathlib import Path
from unittest import mock

import numpy as np
import pandas as pd

from benchmarks import autopage, tails
from benchmarks.tailspage import BOUNDS, SUMMARY, figures, summary
from dpstats.estimators.newton.steps import flat_responses, score_tails
from dpstats.estimators.newton.steps import release as newton_release
from dpstats.estimators.newton.steps import steps as newton_steps
from dpstats.range_estimation import Histogram, long_tails, marginal, marginals
from dpstats.run import reference


def _constants(module, **values) -> Callable[[], AbstractContextManager]:
    """Give a module other constants or functions."""
    return lambda: mock.patch.multiple(module, **values)


def _unseen(histogram: Histogram, *_) -> np.ndarray:
    """See no rows far out."""
    return np.zeros(len(histogram.counts))


def _as_it_is(tail: score_tails.Tail, *_) -> score_tails.Tail:
    """Leave a tail without the evidence of its mean square."""
    return tail


def _as_seen(tails: long_tails.LongTails, rows: int, *_) -> np.ndarray:
    """Add nothing to the tails that are seen."""
    return tails.marginal.quantiles((np.arange(rows) + 0.5) / rows)


def _evenly(directions: np.ndarray, *_) -> np.ndarray:
    """Spread what is cut off the scores evenly over directions."""
    return np.ones(len(directions))


# A change and how the package is altered; the first alters nothing.
CHANGES: dict[str, Callable[[], AbstractContextManager]] = {
    "as it is": ExitStack,
    "tails taken for light": _constants(
        reference, _heavy=lambda *_: 0.0, _heavy_response=lambda *_: (0.0, 0.0)
    ),
    "tails taken for heavy": _constants(
        reference, _heavy=lambda *_: 1.0, _heavy_response=lambda *_: (1.0, 1.0)
    ),
    "tails as heavy as those of any column": _constants(reference, _heavy_response=lambda *_: None),
    "bins of scores never stand out": _constants(score_tails, _STANDS_OUT=math.inf),
    "no rows far out in the distributions": _constants(marginal, far_rows=_unseen),
    "columns clipped at 16 deviations": _constants(marginals, _CLIPPING=16.0),
    "the response's variance no evidence": _constants(
        score_tails.Tail, given_mean_square=_as_it_is
    ),
    "any bias counts where limits are chosen": _constants(newton_steps, _WORTH=math.inf),
    "what is cut spread over directions": _constants(newton_release, concentration=_evenly),
    "none of it along skewed regressors": _constants(flat_responses, _FLAT=0.0),
    "all of it counts where limits are chosen": _constants(newton_steps, _FLAT_WORTH=1.0),
    "tails no longer than histograms show": _constants(long_tails.LongTails, values=_as_seen),
    "half as much of it in one direction": _constants(
        score_tails, _SYSTEMATIC=0.2, _SYSTEMATIC_HEAVY=0.4
    ),
}


def measured(job: tails.Job) -> dict:
    """Measure a case with the package altered."""
    with CHANGES[job.change]():
        return tails.measured(job) | {"change": job.change}


def rows(found: pd.DataFrame) -> pd.DataFrame:
    """Sum up each change, errors and widths as multiples of those of the first."""
    table = []
    for (epsilon, bounded), part in found.groupby(["epsilon", "bounded"]):
        changed = dict(list(part.groupby("change", sort=False)))
        first = summary(changed[next(iter(CHANGES))])
        for change, of in changed.items():
            values = summary(of)
            multiples = {key: f"{values[key] / first[key]:.2f}" for key in ("error", "width")}
            public = {"epsilon": f"{epsilon:g}", "bounds": BOUNDS[bounded], "change": change}
            table.append(public | {"fits": of["fits"].sum()} | figures(of) | multiples)
    return pd.DataFrame(table).rename(columns=SUMMARY)


def main(arguments: list[str]) -> None:
    """Try every change and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks tried_tails", description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", default=[], metavar="DIR")
    parser.add_argument("--fits", type=int, default=10)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="cases, or simulated, or a DIR")
    parser.add_argument("--out", type=Path, default=Path("vignettes/auto"))
    given = parser.parse_args(arguments)
    if not (given.out / "README.md").exists():
        parser.error(f"--out {given.out} has no page, README.md, to write the table to")
    jobs = [
        tails.Job(source, case, epsilon, bounded, given.fits, "noisy_newton", change)
        for source, case in tails.sources(given.data, given.only)
        for change, epsilon, bounded in product(CHANGES, given.epsilon, BOUNDS)
        if source != "hidden"
    ]
    table = rows(tails.found(jobs, given.jobs, measured))
    table.to_csv(given.out / "tried_tails.csv", index=False)
    print(table.to_string(index=False))
    autopage.write_tried(given.out)
