"""Absorb effects of privacy units: noisy Newton steps on deviations from the units' means."""

from dataclasses import replace

from dpstats import option_checks
from dpstats.estimators.contract import Method, Passes, Problem, Ranges, Release, mapped
from dpstats.estimators.contract.release import NO_PREDICTIONS, UNIT_ABSORBED, UNIT_EFFECTS
from dpstats.estimators.newton.row_sums import IndicatorBasis
from dpstats.estimators.newton.steps import Shares, SquaredLoss, Squares
from dpstats.estimators.newton.steps.release import release_of
from dpstats.estimators.newton.steps.rounds import RESPONSE_WEIGHT, rounds
from dpstats.estimators.newton.steps.sizes import TOO_FEW, check_columns, rows_for_scales
from dpstats.estimators.newton.within import DeviationQueries
from dpstats.estimators.newton.within.pair_scales import with_mean_square, with_scales
from dpstats.estimators.newton.within.unit_deviations import deviations
from dpstats.evidence import NewtonEvidence
from dpstats.noise import Noise
from dpstats.privacy import Cost


def release(
    passes: Passes, problem: Problem, cost: Cost, noise: Noise, cov_type: str = "cluster"
) -> Release:
    r"""Fit the regression of deviations from unit means, with errors clustered by unit.

    The steps are those of :func:`~dpstats.estimators.newton.noisy_newton.release` with privacy
    units, of which the rows are deviations d = z - m from the mean m of their unit: the within
    estimator of panel data (Wooldridge 2010, Econometric Analysis of Cross Section and Panel Data,
    section 10.5). They have no intercept.

    Guarantee. mu-GDP for the given relation between tables that differ in all rows of one unit,
    hence (epsilon, delta)-DP, or epsilon-DP with delta = 0. The mean of a unit is of its own rows,
    so what a unit adds depends on no other one, and the releases are those of
    :class:`~dpstats.estimators.newton.within.unit_deviations.DeviationQueries`, with fractions of
    mu^2, or of epsilon, that are fixed beforehand.

    What it estimates: least squares with an effect for each unit, of all rows, those of a unit at
    its parts: of m rows 1 / max(m, ``max_rows``) each.
    """
    problem = replace(problem, grouped=False)  # scales are those of the deviations
    shares = Shares.of(cost)
    basis = IndicatorBasis.unscaled(len(problem.low))
    total = mapped(passes, deviations).sum
    queries = DeviationQueries(basis, total, problem, noise, SquaredLoss())
    counted = queries.numbers(cost.part(shares.count))
    scales, response = cost.part(shares.marginals), cost.part(shares.response)
    (scaled,) = with_scales(queries, scales)
    queries = with_mean_square(scaled, counted.total, response)
    products = cost.part(shares.products)
    spent = shares.marginals + shares.count + shares.response + shares.products
    fitted = rounds(queries, counted, cost.part((1 - spent) / shares.spent))
    steps = fitted.steps
    state = steps.with_products(fitted.state, fitted.scores, products)
    numeric = 0 if problem.layout is None else len(problem.layout.numeric)
    few = counted.total - counted.noise < rows_for_scales(
        numeric, problem, cost.part(1 - shares.marginals), shares.marginals, RESPONSE_WEIGHT
    )
    found = release_of(
        replace(state, squares=Squares()), queries.basis, steps.whitening, fitted.wild,
        replace(queries.problem, by_unit=False), steps.rows, counted, TOO_FEW if few else "",
    )  # fmt: skip
    assert isinstance(found.evidence, NewtonEvidence)
    return replace(
        found,
        cov_type="cluster",
        evidence=replace(found.evidence, sigma2=None),
        reasons={**found.reasons, "predictions": NO_PREDICTIONS},
        note="; ".join(filter(None, (found.note, UNIT_EFFECTS))),
    )


def method(plain: Method) -> Method:
    """Describe what noisy Newton steps do with ``y ~ x | id`` where ``id`` is the privacy unit."""
    return replace(
        plain,
        standard_errors="clustered by unit; normal approximation with the noise",
        release=release,
        options={"cov_type": ("cluster", option_checks.word("cov_type", "cluster"))},
        check=lambda problem, options: check_columns(problem),
        assumptions=(UNIT_ABSORBED,),
        ranges=Ranges(share=0.0, needed=False),
        takes=frozenset({"units"}),
    )
