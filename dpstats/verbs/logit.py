"""Fit a logistic regression."""

from collections.abc import Mapping, Sequence
from typing import Any

from dpstats.call.unsupported import INSTEAD_LOGIT
from dpstats.estimators import GENERALIZED
from dpstats.privacy import Chargeable
from dpstats.tracebacks import drops_traceback
from dpstats.verbs.fitted import fitted

_METHOD = "noisy_logit"


@drops_traceback
def dp_logit(
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
    """Fit a logistic regression and release it under differential privacy.

    Parameters
    ----------
    formula : str, or list or mapping of str
        ``"smoker ~ ban + age + C(educ)"``, as for :func:`dpstats.dp_ols`. The response is a column
        of True and False, of the numbers 0 and 1, or of two levels, of which the last counts as 1.
        A number other than 0 and 1 is missing: that row is left out. Also a comparison, as in
        ``"wage > 10 ~ age"``, and what is computed from columns with bounds, ``"I(1 - a) ~ age"``
        with ``bounds={"a": (0, 1)}``.
    data : data frame, mapping, path or query
        As for :func:`dpstats.dp_ols`.
    epsilon : float
        Privacy loss of the whole call, > 0.
    delta : float, optional
        Probability with which epsilon may be exceeded, > 0; by default 1e-6.
    by : str or list of str, optional
        Column of group labels, or several: one regression a group, each row in one group.
    bounds, levels, types, schema : optional
        What is declared of columns, as for :func:`dpstats.dp_ols`. No bounds are needed.
    groups : sequence or "present", optional
        Public list of group labels, as for :func:`dpstats.dp_ols`.
    weights, trim_weights : optional
        Column of weights with public bounds, and a smaller bound for them. Standard errors are
        then robust (HC1).
    offset : str, optional
        Column of numbers that are added to the log odds, as in statsmodels and ``glm``. It is
        private and needs no bounds; a row without a finite one is left out.
    subset, unit, max_rows, max_groups, cluster, x_new, neighbors, missing, budget, n_jobs, progress
        As for :func:`dpstats.dp_ols`; predictions at ``x_new`` are probabilities,
        at an offset of 0.
    **options
        ``cov_type="HC1"``, for about a tenth of the budget, or ``"cluster"`` with ``cluster=``.

    Returns
    -------
    DPResults or DPGroupResults
        Coefficients are log odds ratios, ``np.exp(result.params)`` odds ratios;
        ``result.predict(newdata)`` gives probabilities and ``result.get_margeff()`` average
        marginal effects, with ``by`` those of one group, ``result[label]``. A dict of results by
        name for several formulas.

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
    return fitted(
        dp_logit, INSTEAD_LOGIT, formula, data, options, budget, progress, n_jobs, schema,
        bounds, levels, types, by, groups, method=_METHOD, methods=GENERALIZED, epsilon=epsilon,
        delta=delta, weights=weights, trim_weights=trim_weights, offset=offset,
        subset=subset, unit=unit, max_rows=max_rows, max_groups=max_groups, cluster=cluster,
        x_new=x_new, neighbors=neighbors, missing=missing,
    )  # fmt: skip
