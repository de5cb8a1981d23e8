"""Fit a logistic regression, or a generalised linear model by the name of its family."""

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

from dpstats.call.arguments import make_requests
from dpstats.call.unsupported import INSTEAD_LOGIT, check_order, check_supported
from dpstats.codebook import Schema
from dpstats.errors import ArgumentError, shown
from dpstats.estimators import BINARY
from dpstats.privacy import Chargeable
from dpstats.results import DPResults
from dpstats.run.charge import SPENT, run_charged
from dpstats.run.spark_groups import check_remote

_METHOD = next(iter(BINARY))


def dp_logit(
    formula: str | Sequence[str] | Mapping[str, str],
    data,
    *,
    epsilon: float,
    delta: float | None = None,
    bounds=None,
    levels=None,
    types=None,
    schema=None,
    weights: str | None = None,
    trim_weights: float | None = None,
    subset: str | None = None,
    unit: str | None = None,
    max_rows: int | None = None,
    x_new=None,
    neighbors: str | None = None,
    missing: str = "drop",
    budget: Chargeable | None = None,
    progress: bool | None = None,
    **options,
) -> Any:
    """Fit a logistic regression and release it under differential privacy.

    Parameters
    ----------
    formula : str, or list or mapping of str
        ``"smoker ~ ban + age + C(educ)"``, as for :func:`dpstats.dp_ols`. The response is a column
        of True and False, of the numbers 0 and 1, or of two levels, of which the last counts as 1.
        A number other than 0 and 1 is missing: that row is left out. Also a term with such values,
        ``"I((wage > 10) * 1) ~ age"``, with ``bounds={"I((wage > 10) * 1)": (0, 1)}``.
    data : data frame, mapping, path or query
        As for :func:`dpstats.dp_ols`.
    epsilon : float
        Privacy loss of the whole call, > 0.
    delta : float, optional
        Probability with which epsilon may be exceeded, > 0; by default 1e-6.
    bounds, levels, types, schema : optional
        What is declared of columns, as for :func:`dpstats.dp_ols`. No bounds are needed.
    weights, trim_weights : optional
        Column of weights with public bounds, and a smaller bound for them. Standard errors are
        then robust (HC1).
    subset, unit, max_rows, x_new, neighbors, missing, budget, progress : optional
        As for :func:`dpstats.dp_ols`; predictions at ``x_new`` are probabilities.
    **options
        ``cov_type="HC1"``, for about a tenth of the budget.

    Returns
    -------
    DPResults
        Coefficients are log odds ratios, ``np.exp(result.params)`` odds ratios;
        ``result.predict(newdata)`` gives probabilities and ``result.get_margeff()`` average
        marginal effects. A dict of results by name for several formulas.

    Raises
    ------
    ArgumentError
        For an argument, formula or column that cannot be used; nothing is spent.
    BudgetError
        When the budget does not cover the call; nothing is spent.

    Notes
    -----
    Guarantee: (epsilon, delta)-DP for the relation in ``result.privacy.neighbors``, proven in
    :func:`dpstats.estimators.newton.noisy_logit.release`. All errors are raised before a row is
    read; afterwards nothing but the release depends on the data.

    Examples
    --------
    >>> import dpstats as dp, numpy as np
    >>> df = dp.simulate.line(5000, seed=1)
    >>> df["passed"] = df["y"] > df["y"].median()
    >>> with dp.testing.insecure_seed(1):
    ...     res = dp.dp_logit("passed ~ x", df, epsilon=1)
    >>> res.status, bool(res.params["x"] > 1)
    ('ok', True)
    """
    interrupted = "interrupted"
    try:
        check_order(formula, data)
        check_supported(options, signature(dp_logit).parameters, "dp_logit", INSTEAD_LOGIT)
        declared = Schema.of(schema).updated(bounds, levels, types)
        requests = make_requests(
            formula, data, declared=declared, method=_METHOD, methods=BINARY, epsilon=epsilon,
            delta=delta, x_new=x_new, neighbors=neighbors, missing=missing, row_norm=None,
            options=options, weights=weights, trim_weights=trim_weights, subset=subset, unit=unit,
            max_rows=max_rows,
        )  # fmt: skip
        for request in requests.values():
            check_remote(request, None)
        interrupted = f"interrupted{{}}; {SPENT}"
        del data, request  # an error has a traceback, of which no frame may lead to rows
        return run_charged(requests, budget, None, None, progress, None)
    except KeyboardInterrupt as error:
        interrupted = interrupted.format(f" {error}".rstrip())
    # Raised anew: the frames that were interrupted hold rows, and so does this one.
    data = request = requests = None  # noqa: F841
    raise KeyboardInterrupt(interrupted)


def dp_glm(formula, data, *, family: str = "binomial", **arguments: Any) -> DPResults:
    """Fit a generalised linear model and release it under differential privacy.

    Parameters
    ----------
    formula, data
        As for :func:`dp_logit`.
    family : str
        ``"binomial"``, whose link is the logit.
    **arguments
        Those of :func:`dp_logit`.

    Returns
    -------
    DPResults

    Raises
    ------
    ArgumentError
        For another family, and as :func:`dp_logit` does; nothing is spent.

    Notes
    -----
    Guarantee: that of :func:`dp_logit`.

    Examples
    --------
    >>> import dpstats as dp
    >>> df = dp.simulate.line(5000, seed=1)
    >>> df["passed"] = df["y"] > df["y"].median()
    >>> dp.dp_glm("passed ~ x", df, family="binomial", epsilon=1).method
    'noisy_logit'
    """
    if family != "binomial":
        raise ArgumentError(
            f'expected family="binomial", a logit, got {shown(family)}; dp_ols fits least squares'
        )
    return dp_logit(formula, data, **arguments)
