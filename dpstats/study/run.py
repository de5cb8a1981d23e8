"""Run a study: check everything, reserve everything, call, and write the release record."""

from pathlib import Path

from dpstats.errors import ArgumentError, BudgetError, shown
from dpstats.ledger import Asked, Ledger
from dpstats.option_checks import checked_progress, file_path, flag
from dpstats.privacy import Call, Charge, Chargeable
from dpstats.progress_bar import progress_bar
from dpstats.results.record.record import checked_target, write_record
from dpstats.study.models import Model
from dpstats.study.shares import check_together
from dpstats.study.study_file import Study
from dpstats.study.synthetic import synthetic_rows
from dpstats.testing import insecure_seed


class _Quote(Chargeable):
    """Ask what a call would cost: its verb checks it and returns this in place of results."""

    def reserve(self, epsilon, delta, cost, neighbors, facts):
        charge = Charge()
        charge.results = Asked(Call(epsilon, delta, cost), neighbors, facts())
        return charge


class _Reserved(Chargeable):
    """Hand a charge that was reserved before to the call that it is for, and to no other."""

    def __init__(self, asked: Asked, charge: Charge):
        self._asked, self._charge = asked, charge

    def reserve(self, epsilon, delta, cost, neighbors, facts):
        if Asked(Call(epsilon, delta, cost), neighbors, facts()) != self._asked:
            self._charge.fail()
            raise BudgetError("the data's columns have changed since the study was checked")
        return self._charge


def run_study(
    path,
    out,
    *,
    ledger: Ledger | None = None,
    dry_run: bool = False,
    progress: bool | None = None,
) -> Path:
    """Run the entries of a study file and write their release record.

    Every entry is checked before anything is reserved, all are reserved together or none, and
    the folder appears whole after the last of them. A run that is cut off can be repeated:
    entries whose results were stored are then answered from the ledger, where it has a
    fingerprint.

    Parameters
    ----------
    path : str or path
        The study file: see :class:`Study`.
    out : str or path
        A folder that does not exist yet.
    ledger : Ledger
        What the entries are charged to; needed unless ``dry_run``.
    dry_run : bool
        Run on synthetic rows drawn from the declarations, with seeded noise: no row is read,
        nothing is spent, and the record says that it is not private. Without a ledger the data are
        not opened; with one all is checked that a run would check, the budget too.
    progress : bool, optional
        Progress bar over the entries; by default on a terminal, for runs over a second.

    Returns
    -------
    pathlib.Path
        The folder: see :func:`dpstats.results.record.record.write_record`.

    Raises
    ------
    ArgumentError
        For a file, an argument or a folder that cannot be used; nothing is spent.
    BudgetError
        When the entries do not fit together; nothing is spent.
    LedgerError
        When the ledger cannot be written.
    """
    path = file_path("path")(path)
    study, target = Study.read(path), checked_target(out)
    progress = checked_progress(progress)
    dry_run = flag("dry_run")(dry_run)
    command = f"dpstats run {'--dry-run ' * dry_run}{path.name}"
    if ledger is None and dry_run:
        return _write(study, _dry_fits(study, progress), target, None, command)
    if not isinstance(ledger, Ledger):
        raise ArgumentError(f"expected ledger to be a dpstats.Ledger, got {shown(ledger)}")
    asked = _asked(study, study.data, ledger.dataset.limit.rule)
    if dry_run:
        ledger.check_all(asked)
        return _write(study, _dry_fits(study, progress), target, None, command)
    charges = ledger.reserve_all(asked)
    fits = _fits(study, list(zip(asked, charges, strict=True)), progress)
    try:
        return _write(study, fits, target, study.publication, command)
    except ArgumentError as error:
        raise ArgumentError(f"{error}; {_stored(ledger)}") from None


def _stored(ledger: Ledger) -> str:
    """Say where the results of a run are whose record could not be written."""
    if ledger.dataset.fingerprint is None:
        return "the budget is spent, and ledger.result(n) returns what request n released"
    return "the budget is spent, and a run into another folder is answered from the ledger"


def _asked(study: Study, data, rule: str | None = None, **more) -> list[Asked]:
    """Ask what each entry would cost, and check that they stay within the study's epsilon."""
    asked = {each.name: quoted(each, data, **more) for each in study.models}
    check_together(study.limit, asked, rule)
    results = [(name, each.name) for each in study.models for name in each.result_names]
    terms = {result: asked[name].facts.get("terms", ()) for result, name in results}
    for table in study.tables:
        table.check(terms)
    return [*asked.values()]


def quoted(model: Model, data, **more) -> Asked:
    """Ask what one entry would cost; its verb checks it and reads no row."""
    try:
        return model.call(data, budget=_Quote(), **more)
    except ArgumentError as error:
        raise type(error)(f"{model.name}: {error}") from None


def _dry_fits(study: Study, progress: bool | None) -> dict:
    """Run the entries on synthetic rows, which have types of their own, with seeded noise."""
    rows = synthetic_rows(study)
    _asked(study, rows, types=None)
    with insecure_seed(0), progress_bar(study.models, "dry run", progress) as models:
        return {model.name: model.call(rows, types=None, progress=False) for model in models}


def _fits(study: Study, left: list[tuple[Asked, Charge]], progress: bool | None) -> dict:
    """Run the entries with what was reserved; after a failure the remaining ones fail too."""
    fits = {}
    try:
        with progress_bar(study.models, "study", progress) as models:
            for model in models:
                reserved = _Reserved(*left.pop(0))
                fits[model.name] = model.call(study.data, budget=reserved, progress=False)
    finally:
        for _, charge in left:
            charge.fail()
    return fits


def _write(study: Study, fits: dict, target: Path, publication, command: str) -> Path:
    """Write the record of all results by name, and of the tables that the study asks for."""
    results = {}
    for model in study.models:
        several = fits[model.name] if len(model.formulas) > 1 else {"": fits[model.name]}
        results |= zip(model.result_names, several.values(), strict=True)
    tables = {table.name: table.filled(results) for table in study.tables}
    limit = study.limit
    together = None if limit is None else (limit.epsilon, limit.delta)
    return write_record(results, target, publication, command, tables, together)
