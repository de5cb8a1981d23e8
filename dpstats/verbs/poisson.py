"""Fit a Poisson regression, or a generalised linear model by the name of its family."""

from collections.abc import Mapping, Sequence
from typing import Any

from dpstats.call.unsupported import INSTEAD_POISSON
from dpstats.errors import ArgumentError, shown
from dpstats.estimators import GENERALIZED
from dpstats.privacy import Chargeable
from dpstats.tracebacks import drops_traceback
from dpstats.verbs.fitted import fitted
from dpstats.verbs.logit import dp_logit

_METHOD = "noisy_poisson"


@drops_traceback
def dp_poisson(
    formula: str | Sequence[str] | Mapping[str, str],
    data,
    *,
    epsilon: float,
    delta: float | None = None,
    by: str | Sequence[str] | None = None,
    bounds=None,
    levels=None,
    types=None,
    schema=None,
    groups=None,
    weights: str | None = None,
    trim_weights: float | None = None,
    offset: str | None = None,
    exposure: str | None = None,
    subset: str | None = None,
    unit: str | None = None,
    max_rows: int | None = None,
    max_groups: int | None = None,
    cluster: str | None = None,
    x_new=None,
    neighbors: str | None = None,
    missing: str = "drop",
    budget: Chargeable | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **options,
) -> Any:
    """Fit a Poisson regression of counts and release it under differential privacy.

    It is the quasi-maximum likelihood estimate: the mean is exp(x'b) of a count or any amount of at
    least 0, whose variance may be any. So standard errors are robust (HC1) always.

    Parameters
    ----------
    formula : str, or list or mapping of str
        ``"visits ~ age + C(sex) + np.log(income)"``, as for :func:`dpstats.dp_ols`. The response
        is a number; a row with one below 0, such as a code of -9, is left out.
    data : data frame, mapping, path or query
        As for :func:`dpstats.dp_ols`.
    epsilon : float
        Privacy loss of the whole call, > 0.
    delta : float, optional
        Probability with which epsilon may be exceeded, > 0; by default 1e-6.
    by : str or list of str, optional
        Column of group labels, or several: one regression a group, each row in one group.
    bounds, levels, types, schema : optional
        What is declared of columns, as for :func:`dpstats.dp_ols`. No bounds are needed; those of
        the response cut it.
    groups : sequence or "present", optional
        Public list of group labels, as for :func:`dpstats.dp_ols`.
    weights, trim_weights : optional
        Column of weights with public bounds, and a smaller bound for them.
    offset, exposure : str, optional
        Columns of numbers: an offset is added to the logarithm of the mean, and so is the logarithm
        of an exposure, such as person-years or a population. They are private and need no bounds;
        a row without a finite offset, or with an exposure that is not above 0, is left out.
    subset, unit, max_rows, max_groups, cluster, x_new, neighbors, missing, budget, n_jobs, progress
        As for :func:`dpstats.dp_ols`; predictions at ``x_new`` are means of the response,
        at an offset of 0 and an exposure of 1.
    **options
        ``cov_type="HC1"``, which is the default, or ``"cluster"`` with ``cluster=``.

    Returns
    -------
    DPResults or DPGroupResults
        Coefficients are logarithms of rate ratios, ``np.exp(result.params)``;
        ``result.predict(newdata)`` gives means and ``result.get_margeff()`` average marginal
        effects, with ``by`` those of one group, ``result[label]``. A dict of results by name for
        several formulas.

    Raises
    ------
    ArgumentError
        For an argument, formula or column that cannot be used; nothing is spent.
    BudgetError
        When the budget does not cover the call; nothing is spent.

    Notes
    -----
    Guarantee: (epsilon, delta)-DP for the relation in ``result.privacy.neighbors``, proven in
    :func:`dpstats.estimators.newton.noisy_poisson.release`. All errors are raised before a row is
    read; afterwards nothing but the release depends on the data.

    Examples
    --------
    >>> import dpstats as dp, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=5000)
    >>> data = {"x": x, "visits": rng.poisson(np.exp(1 + 0.3 * x))}
    >>> with dp.testing.insecure_seed(1):
    ...     res = dp.dp_poisson("visits ~ x", data, epsilon=1)
    >>> res.status, bool(abs(res.params["x"] - 0.3) < 0.05)
    ('ok', True)
    """
    return fitted(
        dp_poisson, INSTEAD_POISSON, formula, data, options, budget, progress, n_jobs, schema,
        bounds, levels, types, by, groups, method=_METHOD, methods=GENERALIZED, epsilon=epsilon,
        delta=delta, weights=weights, trim_weights=trim_weights, offset=offset, exposure=exposure,
        subset=subset, unit=unit, max_rows=max_rows, max_groups=max_groups, cluster=cluster,
        x_new=x_new, neighbors=neighbors, missing=missing,
    )  # fmt: skip


_FAMILIES = {"binomial": dp_logit, "poisson": dp_poisson}


@drops_traceback
def dp_glm(formula, data, *, family: str | None = None, **arguments: Any) -> Any:
    """Fit a generalised linear model and release it under differential privacy.

    Parameters
    ----------
    formula, data
        As for :func:`dp_logit` and :func:`dp_poisson`.
    family : str
        ``"binomial"``, whose link is the logit, or ``"poisson"``, whose link is the logarithm;
        there is no default.
    **arguments
        Those of :func:`dp_logit` or :func:`dp_poisson`.

    Returns
    -------
    DPResults or DPGroupResults

    Raises
    ------
    ArgumentError
        For another family, and as :func:`dp_logit` and :func:`dp_poisson` do; nothing is spent.

    Notes
    -----
    Guarantee: that of :func:`dp_logit` or :func:`dp_poisson`.

    Examples
    --------
    >>> import dpstats as dp
    >>> df = dp.simulate.line(5000, seed=1)
    >>> df["passed"] = df["y"] > df["y"].median()
    >>> dp.dp_glm("passed ~ x", df, family="binomial", epsilon=1).method
    'noisy_logit'
    """
    fit = _FAMILIES.get(family) if isinstance(family, str) else None
    if fit is None:
        raise ArgumentError(
            f'expected family="binomial", a logit, or "poisson", got {shown(family)}; dp_ols fits '
            "least squares"
        )
    return fit(formula, data, **arguments)
