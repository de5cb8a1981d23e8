"""Estimate by noisy Newton steps: rough sums, whitening, rounds of clipped scores (this package).

The ideas are those of noisy optimisation for M-estimators (Avella-Medina, Bradshaw and Loh 2023),
of boosting on residuals (Tang et al. 2023, Algorithm 1) and of private preconditioning (Biswas et
al. 2020); the indicator basis, the limits read off histograms and the combination of the rounds
are this package's.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from dpstats.estimators.contract import (
    InMemory,
    Method,
    Passes,
    Problem,
    Ranges,
    Release,
    of_outcome,
)
from dpstats.estimators.least_squares.dense import robust_covariance
from dpstats.estimators.newton.row_sums import IndicatorBasis, Loss
from dpstats.estimators.newton.row_sums.sums import mapped_rows
from dpstats.estimators.newton.steps import Counted, Fitted, Queries, Shares, SquaredLoss
from dpstats.estimators.newton.steps.clusters import GAUSSIAN_SHARE, with_clusters
from dpstats.estimators.newton.steps.release import release_of
from dpstats.estimators.newton.steps.rounds import (
    COMMON,
    GAUSSIAN,
    GROUPED,
    GROUPED_PURE,
    PURE,
    RESPONSE_WEIGHT,
    stepped,
    whitened,
)
from dpstats.estimators.newton.steps.sizes import (
    TOO_FEW,
    check_levels,
    has_shared_scales,
    number_of_rows,
    rows_for_scales,
)
from dpstats.noise import Noise
from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, Cost, PureDP

# Products of clusters are released with how many these are and how long their sums are: of mu^2,
# and of epsilon with delta = 0.
_CLUSTERS = GAUSSIAN_SHARE, 0.25
_SQUARED = SquaredLoss()
_OF_A_LINE = ', or take method="exp_theil_sen" for one regressor with bounds'


def release(
    passes: Passes,
    problem: Problem,
    cost: Cost,
    noise: Noise,
    cov_type: str = robust_covariance.COV_TYPES[0],
    loss: Loss = _SQUARED,
) -> Release:
    """Fit least squares by noisy Newton steps on clipped scores, with coefficient intervals.

    In the whitened directions a the score of a row is s = a (v - a'eta), v the response about
    its released mean in units of its released standard deviation. A step adds the noisy sum
    of clipped scores over the number of rows; three steps, each at a limit that a noisy histogram
    of |s| and released kurtoses of the columns name, and the start are combined by their variances
    as a Kalman filter would. Where X'X was of rows scaled down alone, and their released mean
    leverage is above 1, a is divided by its root.

    Guarantee. mu-GDP for the given relation, hence (epsilon, delta)-DP (Smith and Thakurta 2022
    for sums that depend on earlier releases within fractions of mu^2 fixed beforehand).
    All that is used of the rows, given earlier releases, is a sum of functions of one row each:
    - their number: 1 under add/remove; public under replace-one;
    - mean and mean square of the response
      (:func:`~dpstats.estimators.newton.steps.squared_loss.SquaredLoss.measured`), with groups
      after its center and a histogram of distances from that
      (:func:`~dpstats.estimators.newton.steps.group_response.located`);
    - X'X in two coordinates, with rows scaled to a squared norm of at most B, which is public or
      released: sensitivity B or sqrt 2 B
      (:func:`~dpstats.estimators.newton.row_sums.indicator_basis.release_products`);
    - histograms of |a|^2 and |s|: one row is in one bin, so 1 or sqrt 2;
    - sums of (s', w C q) with s' = s min(1, C / |s|), w = 0.3 and q in [0, 1] the square of the
      residual over a released limit, at most 1. Add/remove: at most C sqrt(1 + w^2). Replace-one:
      scores differ by at most 2 C and q by at most 1, so C sqrt(4 + w^2);
    - for robust errors the products s' s'' of scores clipped to a released length C once more
      (:func:`~dpstats.estimators.newton.row_sums.indicator_basis.release_products`, B = C^2): C^2
      or sqrt 2 C^2;
    - for errors clustered by a column the norm of the clusters' sizes, the sum of the lengths of
      their sums of clipped scores, and the products of these sums, clipped
      (:mod:`~dpstats.estimators.newton.steps.clusters`): 1, C and C (2 D - C), under replace-one 1
      and twice the others.
    With delta = 0 it is epsilon-DP: each release has Laplace noise for its sensitivity in L1 or
    spherical noise for that in L2, whichever is less, and fractions of epsilon add up. In L1 counts
    move by 1, or 2 under replace-one; mean and mean square by 2, or 9/4; sums of scores of p
    entries by (sqrt p + w) C, or (2 sqrt p + w) C; products of rows of which m entries are not 0 as
    in :func:`~dpstats.estimators.newton.row_sums.indicator_basis.release_products`. Two steps are
    taken in the place of three, as noise falls with the fraction itself.

    Scores and q are cut toward zero to a grid of 2^-20, which keeps each below its bound.
    Responses are not clipped otherwise: one far out has a score of length C. Variables are clipped
    far out (:attr:`~dpstats.range_estimation.Marginal.clipping`).

    With privacy units the rows of a unit count for parts that add up to at most 1, and each bound
    above holds for all of them together: norms of sums are at most the sums of norms times parts,
    inner products of sums of u u' are not negative, a histogram's counts move by a vector of L1
    norm at most 1, and scores are added up by unit before they are clipped, so that a unit has one,
    and so are its products; q is |s'|^2 / C^2. The number of rows is then the sum of the parts,
    which both relations hide.

    Beside the sum of the parts, of units or of weights, the number of units or rows is released. A
    unit or row that is added moves both by at most 1, so by sqrt 2 together, and one that is
    replaced the sum alone.

    With weights a row counts for the part w = weight / largest weight of one, as a unit of that row
    alone: products, leverages, the response and scores are times w, so that each bound above holds,
    and covariances are made of the products of scores, as with units. A product w a a' is cut where
    its norm w |a|^2 exceeds the bound, which even weights make smaller, by their released mean.

    What it estimates: least squares, with weights weighted least squares, of the response on the
    design of the variables so clipped, of all rows. What is cut off the scores would bias it; its
    size is read off the histograms, along skewed columns off their kurtoses
    (:mod:`~dpstats.estimators.newton.steps.flat_responses`), and is part of the intervals.
    """
    (found,) = releases(passes, problem, cost, noise, cov_type, loss)
    return found


def releases(
    passes: Passes,
    problem: Problem,
    cost: Cost,
    noise: Noise,
    cov_type: str = robust_covariance.COV_TYPES[0],
    loss: Loss = _SQUARED,
) -> tuple[Release, ...]:
    """Fit least squares of several responses on one design, by what :func:`release` does for one.

    The number of rows, X'X and leverages are released once, for a smaller part of the cost than one
    response gives them; what is left is divided among the responses in equal parts.

    Guarantee. That of the cost: mu-GDP, or epsilon-DP with delta = 0, for all releases together.
    What is of the rows without their responses moves as for one response. All else is of one
    response: a row is the same row with another one in its place, so each of these sums moves as
    for one, and scores of each response are clipped to a limit of their own. The fractions are
    fixed by the number of responses, which is public, and add up to at most 1.

    What it estimates, of each response: least squares of it on the design, of all rows. Rows are
    the same for all responses, so X'X and their number are those of each regression.
    """
    basis, whole_cost, outcomes = problem.shared(IndicatorBasis.of), cost, problem.outcomes
    shares = Shares.of(cost, problem.grouped, outcomes)
    robust = problem.in_parts or cov_type != robust_covariance.COV_TYPES[0]
    products = shares.products
    if problem.clustered:
        products = _CLUSTERS[isinstance(whole_cost, PureDP)] / outcomes
    if robust:
        cost = cost.part(1 - outcomes * products)
    if not problem.in_parts and problem.neighbors == REPLACE_ONE:
        cost = cost.part(1 / (1 - shares.rest(shares.count)))  # no number of rows is bought
    queries = Queries(basis, passes.sum, problem, noise, loss)
    rows = passes.sum(number_of_rows)
    counted = queries.number(rows, cost.part(shares.rest(shares.count)))
    count = max(counted.total, 2 * counted.noise)
    each = _measured(queries, count, cost.part(shares.rest(shares.response)))
    steps, wild = whitened(each[0], counted, cost)
    if isinstance(passes, InMemory):
        # rows of a group: mapped ones take little room, while those of large tables are mapped anew
        # in each pass, which keeps to the memory that benchmarks/stream.py states
        total = passes.mapped(partial(mapped_rows, basis, steps.whitening.map)).sum
        each = [replace(one, total=of_outcome(total, place)) for place, one in enumerate(each)]
    shared = has_shared_scales(problem)
    marginals = Shares.of(cost, problem.grouped and not shared, outcomes).marginals
    # the noise on the number of rows alone is not to show an interval
    few = (counted.total - counted.noise) / counted.part < rows_for_scales(
        len(basis.center), problem, cost, marginals, outcomes * RESPONSE_WEIGHT, shared
    )
    reason = TOO_FEW if problem.by_unit or outcomes > 1 else TOO_FEW + _OF_A_LINE
    own = whole_cost.part(products) if robust else None
    fits = (
        _with_products(stepped(replace(steps, queries=one), wild, cost), counted, own)
        for one in each
    )
    return tuple(
        release_of(
            fit.state, basis, fit.steps.whitening, fit.wild, fit.steps.queries.problem, count,
            counted, reason if few else "",
        )
        for fit in fits
    )  # fmt: skip


def _measured(queries: Queries, rows: float, cost: Cost) -> list[Queries]:
    """Return the queries of each response, with its mean and mean square released."""
    problem, total, constant = queries.problem, queries.total, queries.basis.has_constant
    found = []
    for place, reference in enumerate((problem.reference, *problem.others)):
        own, of_one = problem, of_outcome(total, place)
        if place:
            own = replace(problem, reference=reference)
        own = queries.loss.measured(own, constant, of_one, rows, cost, queries.noise)
        found.append(replace(queries, total=of_one, problem=own))
    return found


def _with_products(fit: Fitted, counted: Counted, cost: Cost | None) -> Fitted:
    """Release products of scores at the end, or of their sums by cluster, for a cost if any."""
    if cost is None:
        return fit
    if fit.steps.queries.problem.clustered:
        state = with_clusters(fit.steps, fit.state, fit.scores, counted, cost)
    else:
        state = fit.steps.with_products(fit.state, fit.scores, cost)
    return replace(fit, state=state)


def _check(problem: Problem, options: Mapping[str, Any]) -> None:
    check_levels("noisy_newton", problem)


METHOD = Method(
    "noisy_newton",
    "this package; noisy M-estimation as in Avella-Medina, Bradshaw and Loh 2023, section 3",
    guarantee="gdp",
    neighbors=(ADD_REMOVE, REPLACE_ONE),
    single_regressor=False,
    standard_errors="normal approximation with the noise and the clipped excess included",
    release=release,
    fixed_size_summary=True,
    options=robust_covariance.OPTIONS,
    check=_check,
    ranges=Ranges(
        GAUSSIAN.marginals, marginals=True, response=RESPONSE_WEIGHT, grouped=GROUPED.marginals
    ),
    takes=frozenset({"units", "weights", "clusters"}),
)

PURE_METHOD = replace(
    METHOD,
    name="noisy_newton_pure",
    guarantee="pure",
    ranges=replace(METHOD.ranges, share=PURE.marginals, grouped=GROUPED_PURE.marginals),
)

# Several responses on one design, by name of the method for one.
SEVERAL: dict[str, Method] = {
    method.name: replace(
        method,
        release=releases,
        ranges=replace(method.ranges, share=COMMON * method.ranges.share),
    )
    for method in (METHOD, PURE_METHOD)
}
