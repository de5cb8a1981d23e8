"""Plan a study: which epsilon its tables need."""

from collections.abc import Mapping

from dpstats.option_checks import checked_progress, file_path, whole
from dpstats.planning.plan import checked_epsilons
from dpstats.privacy import Composition, Total
from dpstats.spelling import refuse_others
from dpstats.study.plans.forecasts import costs, forecasts
from dpstats.study.plans.guesses import Guesses
from dpstats.study.plans.result import StudyPlan
from dpstats.study.plans.rows import Drawn, Guessed, StandIn
from dpstats.study.study_file import Study

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
# Beyond this nobody waits.
_MOST_REPETITIONS = 1000
# By default as many runs as these rows allow, between a few and what tells ratios apart.
_ROWS_IN_ALL, _FEWEST, _USUAL = 120_000, 3, 9


def plan_study(
    study,
    epsilon=EPSILONS,
    *,
    data=None,
    n: int | None = None,
    truth: Mapping | None = None,
    sd: Mapping | None = None,
    x_sd: Mapping | None = None,
    x_range: Mapping | None = None,
    repetitions: int | None = None,
    seed: int = 0,
    progress: bool | None = None,
    **others,
) -> StudyPlan:
    """Forecast the intervals of all tables of a study at several epsilons.

    Every entry is run as :func:`dpstats.run_study` would run it, with its share of each epsilon and
    noise from a seed, on rows that are not private: those of a public stand-in, or rows drawn from
    guesses. Beside it stands the same run without privacy.

    Parameters
    ----------
    study : str or path
        The study file. Its data are not opened.
    epsilon : float or sequence of float
        Privacy losses of the whole study, each > 0; the study's own is added to them. Entries have
        the shares of the file: parts of squared mu where they share an epsilon, else parts of the
        sum of their epsilons. Deltas stay those of the file.
    data : path or table, optional
        Public rows that resemble the private ones, such as a synthetic or an older file, with the
        same columns: what :func:`dpstats.dp_ols` takes. They are read without privacy. All of them
        are used as they are, or with another ``n`` a sample with replacement, whose clustered
        errors are too wide.
    n : int, optional
        Guessed number of rows, 1 to 10 million; needed without ``data``.
    truth : mapping, optional
        Without ``data``: ``{result: {coefficient: value}}``, of a logit on the scale of log odds.
        Others are 0, except that the intercept puts the line through the midpoint of the
        response's range, or the log odds through 0.
    sd : mapping, optional
        Without ``data``: ``{result: value}``, standard deviations of the residuals, > 0; by default
        a sixth of the response's range.
    x_sd, x_range : mapping, optional
        Without ``data``, by column, as in :func:`dpstats.plan`; the others are uniform within their
        bounds or over their levels.
    repetitions : int, optional
        Runs of every entry at every epsilon, 1 to 1,000; widths are their medians. By default 9
        for up to 13,000 rows, and 3 for more than 30,000.
    seed : int
        Of rows and noise, at least 0. The same call gives the same plan.
    progress : bool, optional
        Progress bar; by default on a terminal, for runs over a second.

    Returns
    -------
    StudyPlan
        ``frame`` (tidy), ``tables``, ``epsilon_for(1.25)``, ``summary()``, ``plot()``,
        ``to_html(path)`` and ``to_csv(path)``.

    Raises
    ------
    ArgumentError
        For a file, a guess or an argument that cannot be used, for entries that a run would
        refuse, and where ``data`` names the study's own data.

    Notes
    -----
    Guarantee: the study's data are not read, so there is nothing to protect and nothing is spent.
    This holds as long as neither guesses nor stand-in come from the confidential data. ``n``,
    ``truth``, ``sd``, ``x_sd`` and ``x_range`` may stand in the study file too, in ``[guesses]``,
    where arguments replace them. The run without privacy has epsilon 10^6, at which the noise is
    nothing beside sampling: its intervals are those of least squares, of the maximum of the
    likelihood or of the mean.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import dpstats as dp
    >>> file = pathlib.Path(tempfile.mkdtemp(), "study.toml")
    >>> _ = file.write_text('''
    ... data = "people.csv"
    ... epsilon = 1
    ... bounds = { wage = [0, 100], age = [18, 65] }
    ... [guesses]
    ... n = 5000
    ... sd = { main = 12 }
    ... [guesses.truth]
    ... main = { age = 0.5 }
    ... [[describe]]
    ... columns = ["wage"]
    ... share = 0.2
    ... [[ols]]
    ... name = "main"
    ... formula = "wage ~ age"
    ... ''')
    >>> plan = dp.plan_study(file, epsilon=[1, 8], repetitions=1)
    >>> plan.frame.query("term == 'age'")[["table", "epsilon", "share"]].values.tolist()
    [['main', 1.0, 0.8], ['main', 8.0, 0.8]]
    >>> plan.epsilon_for(1.25) < plan.epsilon_for(1.05)
    True
    """
    refuse_others("plan_study", others)
    study = file_path("study")(study)
    read = Study.read(study)
    given = {"n": n, "truth": truth, "sd": sd, "x_sd": x_sd, "x_range": x_range}
    epsilons = sorted({*checked_epsilons(epsilon), read.epsilon})
    if repetitions is not None:
        repetitions = whole("repetitions", 1, _MOST_REPETITIONS)(repetitions)
    seed = whole("seed", 0)(seed)
    drawn = (
        Guessed(read, Guesses.of(read, given)) if data is None else StandIn.of(read, data, given)
    )
    repetitions = repetitions or max(_FEWEST, min(_USUAL, _ROWS_IN_ALL // drawn.n))
    charged = costs(read, drawn, epsilons)
    found = forecasts(read, drawn, charged, repetitions, seed, checked_progress(progress))
    limits = {each: read.at(each).limit or Composition(each) for each in epsilons}
    spent = {
        each: limits[each].spent(Total.of([one.call for one in asked]))
        for each, asked in charged.items()
    }
    relations = {one.neighbors for one in charged[read.epsilon]}
    return StudyPlan(
        study=study.name,
        n=drawn.n,
        repetitions=repetitions,
        epsilon=read.epsilon,
        delta=spent[read.epsilon][1],
        shared=read.limit is not None,
        forecasts=tuple(found),
        spent=spent,
        neighbors=relations.pop() if len(relations) == 1 else "",
        said=_said(read, drawn, repetitions),
    )


def _said(study: Study, drawn: Drawn, repetitions: int) -> tuple[str, ...]:
    """Say what the numbers rest on."""
    runs = f"{repetitions} run{'s' * (repetitions != 1)} of every table at every epsilon"
    parts = "" if study.limit is not None else "; shares are parts of the sum of epsilons"
    return (*drawn.sentences(), f"medians of {runs}, on all {drawn.n:,} rows{parts}")
