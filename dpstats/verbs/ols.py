"""Fit a linear regression."""

from collections.abc import Mapping, Sequence
from typing import Any, overload

from dpstats.call.unsupported import INSTEAD
from dpstats.privacy import Chargeable
from dpstats.results import DPGroupResults, DPResults
from dpstats.tracebacks import drops_traceback
from dpstats.verbs.fitted import fitted


@overload
def dp_ols(formula: str, data, *, by: None = None, **arguments: Any) -> DPResults: ...


@overload
def dp_ols(formula: str, data, *, by: str | Sequence[str], **arguments: Any) -> DPGroupResults: ...


@overload
def dp_ols(
    formula: Sequence[str] | Mapping[str, str], data, *, by: None = None, **arguments: Any
) -> dict[str, DPResults]: ...


@overload
def dp_ols(
    formula: Sequence[str] | Mapping[str, str], data, *, by: str | Sequence[str], **arguments: Any
) -> dict[str, DPGroupResults]: ...


@drops_traceback
def dp_ols(
    formula: str | Sequence[str] | Mapping[str, str],
    data,
    *,
    method: str = "auto",
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
    x_new=None,
    row_norm: float | None = None,
    neighbors: str | None = None,
    missing: str = "drop",
    select: str | None = None,
    k: int | None = None,
    select_share: float | None = None,
    companion: str | None = None,
    companion_share: float | None = None,
    budget: Chargeable | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **options,
) -> DPResults | DPGroupResults | dict[str, DPResults] | dict[str, DPGroupResults]:
    """Fit a linear regression and release it under differential privacy.

    Parameters
    ----------
    formula : str, or list or mapping of str
        A patsy formula, ``"y ~ x1 + C(region)"``. ``"y ~ x1 | state"`` absorbs the effects of
        one column, whose labels stay private: coefficients alone are released. Several, such as
        one an outcome, share the budget in equal parts, or have it together (``missing``).
    data : data frame, mapping, path or query
        pandas, polars, pyarrow, or a mapping of columns of equal length. A path or quoted
        glob of Parquet, CSV or TSV files, a list of paths, a polars LazyFrame, a pyarrow
        dataset or a duckdb relation is read some rows at a time, once for the sums and some
        times more for ranges that are left out; no rows stay in memory for the methods on sums
        (``dpstats.METHODS[name].fixed_size_summary``) without ``by``, ``select`` and effects
        absorbed by ``noisy_newton``, else the columns in use do. A Spark DataFrame is summed by
        its workers, which also fit the groups of ``by``.
    method : str
        A name in ``dpstats.METHODS``, or ``"auto"``, which chooses one by public facts:
        ``noisy_newton``, which needs no bounds and no tuning and has intervals, or with
        ``delta=0`` ``noisy_newton_pure``, which has them too; in groups of one bounded regressor
        another one, and where absorbed effects meet ``row_norm``.
        ``result.method_report`` says what was chosen and why.
    epsilon : float
        Privacy loss of the whole call, > 0. Smaller is more private.
    delta : float, optional
        Probability with which epsilon may be exceeded: 0 for methods that need none,
        else 1e-6 by default; keep it far below 1 / n.
    by : str or list of str, optional
        Column of group labels, or several such as ``["state", "county", "tract"]``: one
        regression a group, each row in one group.
    bounds : mapping, optional
        ``{column: (low, high)}``, public; values outside are clipped. It may hold the bounds of
        the whole data set, as may ``levels``: what concerns other columns is ignored, and a name
        that is no column is refused. A term can be bounded by its text,
        ``{"np.log(wage)": (0, 5)}``. Ranges of plain numeric columns that are left out are
        estimated from 20% of the budget (half of it by ``shrunken`` and ``shrunken_pure``).
        ``noisy_newton`` takes 18.5% for the distributions of columns, bounded or not, with
        ``delta=0`` 22%; ``tukey`` needs none.
    levels : mapping, optional
        ``{column: [levels]}``, public and of the column's type, for string columns and
        ``C(number)``. Rows with other values are left out.
    types : mapping, optional
        ``{column: kind}`` with ``"number"``, ``"integer"``, ``"boolean"``, ``"string"`` or
        ``"date"``, for columns that have no type of their own: those of text files, lists and
        object columns. Without it such a column is a factor where ``levels`` are declared, a
        number where ``bounds`` are, text in ``by`` (of a text file), and refused elsewhere. A cell
        that is not of its column's kind counts as missing.
    schema : Schema, mapping or path, optional
        Bounds, levels and types of the data set, declared once for all calls: a
        :class:`dpstats.Schema`, a mapping with entries of these names, or a TOML file with them.
        Those in the call come first. :func:`dpstats.suggest_schema` drafts such a file.
    groups : sequence or "present", optional
        Public list of group labels, tuples for several columns; by default the declared levels
        or the categories of a single column, else the labels present, which are then treated as
        public. ``"present"`` says so in the call.
    weights : str, optional
        Column of weights, as of ``WLS`` and ``lm(weights=)``; it needs public bounds,
        ``bounds={"w": (0, 50)}``. What the rows are clipped to does not depend on it, and the
        noise grows with the largest weight over the mean one. Rows whose weight is missing, zero
        or negative are left out. Standard errors of the default are then robust (HC1), those of
        ``"y ~ x | state"`` clustered by state; with other methods add ``cov_type="HC1"`` for survey
        weights.
    trim_weights : float, optional
        Public bound below the largest weight: larger weights count as this. A few large weights
        decide over the noise, so trimming trades a little bias for much of it.
    subset : str, optional
        Use the rows for which a condition holds, ``"age > 25 & female == 1"``, written as for
        pandas' ``query()``; it is public. Each row decides by its own values, before they are
        clipped, and one with a missing value is left out. Columns that only it reads need a type
        and no bounds; ``levels`` where a text is compared by ``!=`` or ``not``.
    unit : str, optional
        Column that names persons, or whatever else is to be protected with all of its rows, such as
        ``"person_id"``. Neighbours then differ in all rows of one person, and standard errors are
        clustered by person (``cov_type="cluster"``). Without it the guarantee is for one row.
        A row without a value in it is a person of its own. Of formulas with ``|`` those that absorb
        this column are taken, ``"y ~ x1 | person_id"``, and rows without a value are left out.
    max_rows : int, optional
        With how many rows in all a person counts, by default 1: those of a person with more have
        equal parts, so that no estimate of a linear model is biased. More raises what persons with
        many rows weigh, and noise in proportion.
    max_groups : int, optional
        With ``by``, in how many groups the rows of a person are used, by default 1: those where it
        has the most rows. Each group's fit gets the budget divided by it.
    cluster : str, optional
        With ``cov_type="cluster"``, the column that standard errors are clustered by, such as
        ``"state"``: errors of rows with one label may depend on one another. One row is protected
        all the same, labels stay private, and rows without one are left out. Of the default alone.
    x_new : number, list, mapping or data frame, optional
        Public points to predict at; by default 25% and 75% of the declared range of a
        single numeric regressor (``p25``, ``p75``).
    row_norm : float, optional
        Declared bound on the Euclidean norm of a design row, instead of bounds on the
        regressors; longer rows are scaled down together with their response.
    neighbors : str, optional
        ``"add_remove"`` or ``"replace_one"``; by default the method's own, which for "auto" is
        ``"add_remove"`` whatever it takes.
    missing : str
        ``"drop"``: rows with a missing value or an undeclared level, or at which a term has no
        finite value, are left out, of each formula by its own variables. ``"listwise"`` is for
        several formulas with the same terms right of ~: a row that misses a variable of any of them
        is left out of all. What is of the rows alone is then released once for all of them, so each
        has less noise; the results are one release, whose epsilon each of them states.
    select : str, optional
        ``"kendall"`` or ``"lasso"``: keep the k terms that say most of the response, chosen
        privately (``dpstats.SELECTORS``), and fit those; ``result.selected`` names them.
        A term is kept or left out as a whole, a factor with all its levels; the intercept
        stays. With ``by`` the choice is one for all groups.
    k : int, optional
        How many terms to select, from 1 to one less than there are; by default 5, or 1 for
        a method that fits one regressor. Without ``select`` the method's own option k.
    select_share : float, optional
        Share of the budget for the selection, in (0, 0.5]; by default 0.05. It is a share
        of epsilon, or for Gaussian methods of mu squared.
    companion : str, optional
        ``"noisy_moments"``, ``"adassp"`` or ``"ssp"``: for a method that has no intervals, fit
        this one to the same rows too and take standard errors, tests and intervals from it;
        they are about its coefficients, ``result.companion``.
    companion_share : float, optional
        Share of the budget for the companion, in (0, 1); by default 0.5.
    budget : Budget or Ledger, optional
        Shared budget to charge; refused before any row is read when it does not fit. A
        :class:`dpstats.Ledger` stores the result before it is returned, and answers the same
        call about the same data from its records at no cost.
    n_jobs : int, optional
        How many threads fit groups, >= 1, by default one a processor; or, where a method fits
        groups one by one as the default does, how many processes, by default one. There are no
        more than processors, and the release does not depend on it.
    progress : bool, optional
        Progress bar over groups, or over what one fit releases; by default on a terminal, for
        runs over a second.
    **options
        Options of the method, such as ``output_range=`` of exp_theil_sen, or ``cov_type="HC1"``
        of the default, adassp, ssp, shrunken and noisy_moments: for about a tenth of the budget,
        standard errors that hold for errors of different variances too. Their own noise makes them
        larger where rows are few. ``cov_type="cluster"`` is for ``cluster=``, ``unit=`` and
        absorbed effects, whose errors are clustered by the column where it has groups enough,
        unless ``"nonrobust"`` is asked for; with ``"HC1"`` few groups are divided by chance.

    Returns
    -------
    DPResults or DPGroupResults
        The latter with ``by``; a dict of them by name for several formulas.

    Raises
    ------
    ArgumentError
        For an argument, formula or column that cannot be used; nothing is spent.
    BudgetError
        When the budget does not cover the call; nothing is spent.

    Notes
    -----
    Guarantee: (epsilon, delta)-DP for the relation in ``result.privacy.neighbors``. All
    errors are raised before a row is read; afterwards nothing but the release depends
    on the data. The mechanisms' docstrings hold the proofs.

    Examples
    --------
    >>> import dpstats as dp
    >>> df = dp.simulate.line(5000, seed=1)
    >>> res = dp.dp_ols("y ~ x", df, method="adassp", epsilon=1,
    ...                 bounds={"x": (0, 1), "y": (0, 1)})
    >>> bool(abs(res.params["x"] - 0.5) < 0.2)
    True
    """
    return fitted(
        dp_ols, INSTEAD, formula, data, options, budget, progress, n_jobs, schema, bounds, levels,
        types, by, groups, method=method, epsilon=epsilon, delta=delta, x_new=x_new,
        neighbors=neighbors, missing=missing, row_norm=row_norm, select=select, k=k,
        select_share=select_share, companion=companion, companion_share=companion_share,
        weights=weights, trim_weights=trim_weights, subset=subset, unit=unit, max_rows=max_rows,
        max_groups=max_groups, cluster=cluster,
    )  # fmt: skip
