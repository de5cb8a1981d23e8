"""Bound epsilon from below by running a mechanism on neighbouring synthetic tables."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from dpstats.auditing.events import Event, best_event, lower_bound
from dpstats.auditing.inputs import Pair
from dpstats.auditing.persons import unit_subject
from dpstats.auditing.power import largest_bound, trials_to_refute
from dpstats.auditing.subjects import Subject, find_method, function_subject, matrix, method_subject
from dpstats.errors import ArgumentError, shown
from dpstats.noise import drawn_ahead
from dpstats.numerics.first_use import shown_if_compiling
from dpstats.option_checks import checked_alpha, checked_progress, whole
from dpstats.privacy import gdp_epsilon
from dpstats.progress_bar import progress_bar

# Candidate inputs are compared on this fraction of the trials for the choice, and at this alpha:
# the bounds of few outputs are low, but rank the pairs well.
_SCREENING, _SCREENING_ALPHA = 0.2, 0.3
# More trials would take years.
_MOST_TRIALS = 10**9


@dataclass(frozen=True)
class Audit:
    """Hold the result of an audit.

    Attributes
    ----------
    mechanism : str
    neighbors : str
        The relation between the two inputs.
    epsilon, delta : float
        The claim.
    epsilon_lower : float
        With confidence 1 - alpha the true epsilon at ``delta`` is at least this.
    alpha : float
    likely, rare : int
        Counts of the event in ``trials`` releases from each of the inputs.
    trials : int
    inputs, event : str
        The neighbours, and the set of outputs.
    epsilon_attainable : float
        The largest ``epsilon_lower`` that so many trials can give.
    trials_needed : float
        The ``trials=`` from which a mechanism that spends twice the claim is about to be refuted:
        below it a bound under the claim says little.
    """

    mechanism: str
    neighbors: str
    epsilon: float
    delta: float
    epsilon_lower: float
    alpha: float
    likely: int
    rare: int
    trials: int
    inputs: str
    event: str
    epsilon_attainable: float
    trials_needed: float

    @property
    def violated(self) -> bool:
        """Tell whether the claim is refuted, wrongly with probability at most alpha."""
        return self.epsilon_lower > self.epsilon

    @property
    def verdict(self) -> str:
        """Write the result in words."""
        outcome = "VIOLATED" if self.violated else "no violation found"
        return f"{outcome}: epsilon is at least {self.epsilon_lower:.3g}"

    def __str__(self) -> str:
        return (
            f"{self.mechanism}, {self.neighbors}, claims epsilon {self.epsilon:.4g}, "
            f"delta {self.delta:g}\n{self.verdict} (confidence 1 - {self.alpha:g})\n"
            f"inputs: {self.inputs}\nevent:  {self.event}\n"
            f"        in {self.likely} of {self.trials} releases from the input that makes it "
            f"likely, {self.rare} of {self.trials} from the other\n"
            f"power:  so many releases show an epsilon of {self.epsilon_attainable:.3g} at most; "
            f"twice the claim is refuted from trials={self.trials_needed:,.0f} on"
        )


def audit(
    mechanism,
    *,
    epsilon: float = 1.0,
    delta: float | None = None,
    trials: int = 1000,
    d: int = 1,
    neighbors: str | None = None,
    pairs=None,
    alpha: float = 1e-6,
    unit: str | None = None,
    max_rows: int | None = None,
    outcomes: int = 1,
    progress: bool | None = None,
    **options,
) -> Audit:
    """Try to refute a privacy guarantee by experiment.

    The mechanism itself, with its real noise, runs on neighbouring synthetic tables. The system
    draws noise of one scale for several releases at a time, and each number is used once. Half of
    the trials choose the neighbours and the event with the largest lower bound on epsilon; the
    other half count the event for either input. No real data are involved.

    A bound far below epsilon is no proof of privacy: other inputs or events may give a larger
    one, and so may more trials. The result says how large a bound these trials can give, and how
    many would refute a mechanism that spends twice the claim.

    Parameters
    ----------
    mechanism : str, Method or callable
        A name in ``dpstats.METHODS``, an entry of it, ``"noisy_logit"``, ``"noisy_instruments"``,
        or any function of one input that returns a number or an array.
    epsilon : float
        The claim, > 0.
    delta : float, optional
        By default what the method needs: 0 or 1e-6; for a function 0.
    trials : int
        Releases from each of the two inputs, at least 40.
    d : int
        Regressors of the tables for a method.
    neighbors : str, optional
        ``"add_remove"`` or ``"replace_one"``; by default the method's own.
    pairs : sequence, optional
        Neighbouring inputs (first, second), needed for a function; for a method, rows
        (X, y) with an intercept and d regressors in [-1, 1], by default tables that differ
        in a corner of the ranges.
    alpha : float
        Probability of calling a true claim violated, at most.
    unit : str, optional
        Audit the method as :func:`dpstats.dp_ols` runs it with ``unit=``: the tables differ in all
        rows of one person, by default in more than ``max_rows``. Of ``pairs`` each table then is
        (X, y, persons), with the person (n,) of each row. The name is that of persons in the result
        and changes nothing else.
    max_rows : int, optional
        With ``unit``, as in :func:`dpstats.dp_ols`.
    outcomes : int
        Responses of one release, as :func:`dpstats.dp_ols` fits them with ``missing="listwise"``;
        they are alike in each table.
    progress : bool, optional
        Progress bar over releases; by default on a terminal, for runs over a second.
    **options
        Options of the method.

    Returns
    -------
    Audit

    Raises
    ------
    ArgumentError
        For an unknown mechanism or option, or an argument out of range.

    Notes
    -----
    Where the claim is Gaussian differential privacy, mu is bounded and turned into epsilon
    at delta, which takes far fewer trials (Nasr et al. 2023). The limits are Clopper and
    Pearson's, as in Jagielski, Ullman and Oprea (2020).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(1)
    >>> def half_the_noise(rows):
    ...     return sum(rows) + generator.laplace(scale=0.5)
    >>> audit(half_the_noise, epsilon=1, pairs=[([0, 0], [0, 1])], trials=4000).violated
    True

    All rows of a person:

    >>> found = audit("adassp", epsilon=4, trials=40, unit="person", max_rows=2)
    >>> found.neighbors, found.violated
    ('add_remove of person', False)
    """
    trials, alpha = whole("trials", 40, _MOST_TRIALS)(trials), checked_alpha(alpha)
    if unit is None and max_rows is not None:
        raise ArgumentError("max_rows is for persons with several rows; add unit=")
    outcomes = whole("outcomes", 1)(outcomes)
    if outcomes > 1 and unit is not None:
        raise ArgumentError(f"unit={shown(unit)} is audited with one response; leave outcomes out")
    if callable(mechanism):
        options |= {} if unit is None else {"unit": unit}
        options |= {} if outcomes == 1 else {"outcomes": outcomes}
        if options:
            raise ArgumentError(f"options are for methods, got {', '.join(options)}")
        subject = function_subject(mechanism, epsilon, delta, neighbors, pairs)
    else:
        claim = epsilon, delta, neighbors, pairs, d
        method = find_method(mechanism, outcomes)
        if unit is None:
            subject = method_subject(method, *claim, options, outcomes)
        else:
            subject = unit_subject(method, *claim, unit, max_rows, options)
    few, half = _sizes(trials, len(subject.pairs))
    count = 2 * (len(subject.pairs) * few + 2 * half)
    releases = progress_bar(count, subject.name, checked_progress(progress))
    with shown_if_compiling(progress), releases as bar, drawn_ahead():
        return _audit(subject.counted(bar.update), half, alpha)


def _sizes(trials: int, pairs: int) -> tuple[int, int]:
    """Return how many releases a side compare the pairs, and how many count the event.

    A pair alone is compared with none.
    """
    half = trials // 2
    return max(int(_SCREENING * half), 20) if pairs > 1 else 0, half


def _audit(subject: Subject, half: int, alpha: float) -> Audit:
    """Choose inputs and event on one half of the trials, count the event on the other."""
    bound = partial(lower_bound, delta=subject.delta, gaussian=subject.gaussian)
    pair, names, event = _choose(subject, half, alpha, bound)
    first, second = (
        matrix(subject.releases(rows, half), names) for rows in (pair.first, pair.second)
    )
    likely, rare = event.counts(first, second)
    lower = max(float(bound(likely, rare, half, alpha)), 0.0)
    if subject.gaussian and lower > 0:
        lower = gdp_epsilon(lower, subject.delta)
    return Audit(
        subject.name, subject.neighbors, subject.epsilon, subject.delta, lower, alpha,
        likely, rare, half, pair.name, str(event),
        largest_bound(half, alpha, subject.delta, subject.gaussian),
        2 * trials_to_refute(subject.epsilon, subject.delta, alpha, subject.gaussian),
    )  # fmt: skip


def _choose(subject: Subject, half: int, alpha: float, bound: Callable):
    """Choose the neighbours and the event with the largest bound, and name the outputs."""
    few, _ = _sizes(2 * half, len(subject.pairs))
    pair = subject.pairs[0]
    if few:
        screen = partial(_search, subject, few, partial(bound, trials=few, alpha=_SCREENING_ALPHA))
        pair = max(subject.pairs, key=lambda pair: screen(pair)[0])
    _, names, event = _search(subject, half, partial(bound, trials=half, alpha=alpha), pair)
    return pair, names, event


def _search(
    subject: Subject, count: int, bound: Callable, pair: Pair
) -> tuple[float, list[str], Event]:
    """Find the best event for one pair on fresh releases, with its bound and the outputs' names."""
    samples = [subject.releases(rows, count) for rows in (pair.first, pair.second)]
    names = sorted({name for sample in samples for output in sample for name in output})
    first, second = (matrix(sample, names) for sample in samples)
    lower, event = best_event(first, second, names, bound)
    return lower, names, event
