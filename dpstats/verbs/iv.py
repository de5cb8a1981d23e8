"""Fit a regression with instruments by two-stage least squares."""

from collections.abc import Sequence
from typing import Any

from dpstats.call.unsupported import INSTEAD_IV, check_order
from dpstats.estimators import INSTRUMENTAL
from dpstats.formula import InstrumentFormula
from dpstats.privacy import Chargeable
from dpstats.tracebacks import drops_traceback
from dpstats.verbs.fitted import fitted

_METHOD = "noisy_instruments"


@drops_traceback
def dp_iv(
    formula: str,
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
    subset: str | None = None,
    unit: str | None = None,
    max_rows: int | None = None,
    max_groups: int | None = None,
    cluster: str | None = None,
    neighbors: str | None = None,
    missing: str = "drop",
    budget: Chargeable | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **options,
) -> Any:
    """Fit two-stage least squares with instruments and release it under differential privacy.

    Parameters
    ----------
    formula : str
        ``"y ~ x + [d ~ z]"``, as in linearmodels: y on x and the endogenous regressor d, whose
        instruments are z. There is one d, a number, or a column of True and False; x and z are any
        terms that :func:`dpstats.dp_ols` takes. An intercept is there unless ``- 1`` follows. With
        ``"| state"`` behind it the effects of a column with private labels are absorbed. In R it is
        fixest's, ``dpstats.RFormula("y ~ x | d ~ z")`` or ``"y ~ x | state | d ~ z"``.
    data : data frame, mapping, path or query
        As for :func:`dpstats.dp_ols`.
    epsilon : float
        Privacy loss of the whole call, > 0.
    delta : float, optional
        Probability with which epsilon may be exceeded, > 0; by default 1e-6.
    by : str or list of str, optional
        Column of group labels, or several: one regression a group, each row in one group.
    bounds, levels, types, schema : optional
        What is declared of columns, as for :func:`dpstats.dp_ols`. No bounds are needed but, with
        absorbed effects, of a column inside a function.
    groups : sequence or "present", optional
        Public list of group labels, as for :func:`dpstats.dp_ols`.
    weights, trim_weights : optional
        Column of weights with public bounds, and a smaller bound for them.
    subset, unit, max_rows, max_groups, cluster, neighbors, missing, budget, n_jobs, progress
        As for :func:`dpstats.dp_ols`.
    **options
        ``cov_type="HC1"``, which is the default, or ``"cluster"`` with ``cluster=``; with absorbed
        effects ``"cluster"``, by their column, which is the default, or ``"HC1"``.

    Returns
    -------
    DPIVResults or DPIVGroupResults
        Coefficients with robust standard errors and intervals that allow for weak instruments
        (:class:`dpstats.inference.InstrumentWald`), ``first_stage`` with the F statistic, and
        ``anderson_rubin()``, a confidence set that holds however weak the instruments are. With
        ``by`` those of every group, and ``result[label]`` is the fit of one.

    Raises
    ------
    ArgumentError
        For an argument, formula or column that cannot be used; nothing is spent.
    BudgetError
        When the budget does not cover the call; nothing is spent.

    Notes
    -----
    Guarantee: (epsilon, delta)-DP for the relation in ``result.privacy.neighbors``, proven in
    :func:`dpstats.estimators.newton.noisy_instruments.release`, with absorbed effects in
    :func:`dpstats.estimators.newton.absorbed_instruments.release`. All errors are raised before a
    row is read; afterwards nothing but the release depends on the data.

    Examples
    --------
    >>> import dpstats as dp, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> near, talent, luck = rng.normal(size=(3, 20000))
    >>> school = near + talent + luck
    >>> table = {"wage": 0.5 * school + talent, "school": school, "near": near}
    >>> with dp.testing.insecure_seed(1):
    ...     fit = dp.dp_iv("wage ~ [school ~ near]", table, epsilon=4)
    >>> fit.status, fit.params.index.tolist()
    ('ok', ['Intercept', 'school'])
    """
    check_order(formula, data, "dp_iv")
    parsed = InstrumentFormula.parse(formula)
    return fitted(
        dp_iv, INSTEAD_IV, parsed.reduced.text, data, options, budget, progress, n_jobs, schema,
        bounds, levels, types, by, groups, method=_METHOD, methods=INSTRUMENTAL, epsilon=epsilon,
        delta=delta, weights=weights, trim_weights=trim_weights, subset=subset, unit=unit,
        max_rows=max_rows, max_groups=max_groups, cluster=cluster,
        neighbors=neighbors, missing=missing, instruments=parsed,
    )  # fmt: skip
