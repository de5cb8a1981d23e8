"""Describe columns with dp_describe: counts, means, deviations, quantiles and shares."""

from collections.abc import Sequence
from inspect import signature

from dpstats.call.unsupported import INSTEAD_DESCRIBE, check_supported
from dpstats.codebook import Schema
from dpstats.describe.call import make_request
from dpstats.privacy import Chargeable
from dpstats.results import DPDescription
from dpstats.run.describe import describe_charged
from dpstats.tracebacks import drops_traceback


@drops_traceback
def dp_describe(
    data,
    columns: str | Sequence[str] | None = None,
    *,
    epsilon: float,
    delta: float | None = None,
    by: str | None = None,
    bounds=None,
    levels=None,
    types=None,
    schema=None,
    groups=None,
    quantiles: float | Sequence[float] = (0.25, 0.5, 0.75),
    statistics: Sequence[str] | None = None,
    histogram: bool = False,
    alpha: float = 0.05,
    subset: str | None = None,
    unit: str | None = None,
    max_rows: int | None = None,
    max_groups: int | None = None,
    weights: str | None = None,
    trim_weights: float | None = None,
    neighbors: str | None = None,
    missing: str = "drop",
    budget: Chargeable | None = None,
    progress: bool | None = None,
    **others,
) -> DPDescription:
    """Release a table of descriptive statistics, Table 1, under differential privacy.

    For numbers: how many values there are and are missing, mean, standard deviation and quantiles;
    for factors: counts and shares by level. Each figure has a standard error and an interval. A
    missing value is left out of its own column alone.

    Parameters
    ----------
    data : data frame, mapping, path or query
        As for :func:`dpstats.dp_ols`.
    columns : str or list of str
        What to describe: numbers, booleans and factors. There is no default.
    epsilon : float
        Privacy loss of the whole call, > 0.
    delta : float, optional
        Probability with which epsilon may be exceeded, > 0; 1e-6 by default.
    by : str, optional
        Column of groups, whose labels are public. Groups share no row, so all cost what one costs.
    bounds : mapping, optional
        ``{column: (low, high)}``, public; values outside are clipped. What is left out is released,
        and an infinite number there counts as missing.
    levels : mapping, optional
        ``{column: [levels]}``, public, for text columns and numbers that are factors. A value that
        is no level counts as missing.
    types, schema : optional
        As for :func:`dpstats.dp_ols`.
    groups : sequence, optional
        Public list of group labels; by default the declared levels or categories of ``by``. Rows in
        none are left out.
    quantiles : float or sequence of float
        In [0.001, 0.999], all different.
    statistics : sequence of str, optional
        What you need, to be told before anything is spent what no release has: ``"min"``,
        ``"max"``, ``"nunique"`` and ``"mode"``. ``["n"]``, with ``"missing"`` or not, releases
        these two alone, with all of epsilon; all others are released anyway, at one cost.
    histogram : bool
        Add a histogram of each number, in bins that follow from declared bounds or from what was
        released, at no cost; ``result.histogram`` tabulates it, ``result.plot()`` draws it.
    alpha : float
        One minus the level of intervals, in [0.001, 0.5].
    subset : str, optional
        Use the rows for which a condition holds, as in :func:`dpstats.dp_ols`.
    unit : str, optional
        Column that names persons, or whatever else is to be protected with all of its rows, as in
        :func:`dpstats.dp_ols`. Figures are then those of rows of which a person's count for one in
        all, so ``n`` is the number of persons; intervals hold however alike a person's rows are. A
        row without a value in it is a person of its own.
    max_rows : int, optional
        With how many rows in all a person counts, by default 1: those of a person with more have
        equal parts, and missing values are among them.
    max_groups : int, optional
        With ``by``, in how many groups the rows of a person count, by default 1: those where it has
        the most rows. The noise grows with the root of it.
    weights : str, optional
        Column of sampling weights, with public bounds, ``bounds={"w": (0, 50)}``: figures are those
        of the weighted rows, and ``n``, ``missing`` and ``count`` sums of weights. Rows whose
        weight is missing, zero or negative are left out. Intervals hold however weights and values
        go together; noise and intervals grow with the largest weight over the mean one.
    trim_weights : float, optional
        Public bound below the largest weight: larger weights count as this.
    neighbors : str, optional
        ``"add_remove"``: one row more or less.
    missing : str
        ``"drop"``.
    budget : Budget or Ledger, optional
        Shared budget to charge; refused before any row is read when it does not fit.
    progress : bool, optional
        Progress bar over what is released; by default on a terminal, for runs over a second.
    **others
        None: what other packages have is refused with what there is instead.

    Returns
    -------
    DPDescription
        Prints as a table; ``frame`` is tidy, ``table()`` is Table 1.

    Raises
    ------
    ArgumentError
        For an argument or column that cannot be used; nothing is spent.
    BudgetError
        When the budget does not cover the call; nothing is spent.

    Notes
    -----
    Guarantee: (epsilon, delta)-DP under add/remove of one row, with ``unit`` of all rows of one
    person. All errors are raised before a row
    is read; afterwards nothing but the release depends on the data. The proofs are in
    ``dpstats.describe.release`` and ``dpstats.describe.joint``.

    Examples
    --------
    >>> import dpstats as dp
    >>> people = dp.simulate.line(5000, seed=1)
    >>> with dp.testing.insecure_seed(1):
    ...     table = dp.dp_describe(people, ["x", "y"], epsilon=1)
    >>> table.frame["variable"].unique().tolist()
    ['x', 'y']
    """
    check_supported(others, signature(dp_describe).parameters, "dp_describe", INSTEAD_DESCRIBE)
    declared = Schema.of(schema).updated(bounds, levels, types)
    request = make_request(
        data, columns, declared=declared, by=by, groups=groups, epsilon=epsilon,
        delta=delta, quantiles=quantiles, statistics=statistics, alpha=alpha,
        subset=subset, unit=unit, max_rows=max_rows, max_groups=max_groups,
        weights=weights, trim_weights=trim_weights, neighbors=neighbors, missing=missing,
        histogram=histogram,
    )  # fmt: skip
    return describe_charged(request, budget, progress)
