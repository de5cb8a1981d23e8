"""Check cluster=, the column that standard errors are clustered by, and cov_type beside it."""

from collections.abc import Mapping

from dpstats.engines import AnyTable
from dpstats.errors import ArgumentError, shown
from dpstats.estimators import METHODS
from dpstats.estimators.contract import Method
from dpstats.option_checks import is_word
from dpstats.rows.group_labels import columns_of
from dpstats.rows.privacy_unit import PrivacyUnit
from dpstats.schema import Kind, Labels, Schema
from dpstats.spelling import no_column


def declared_cluster(
    column, options: Mapping, unit: PrivacyUnit | None, by, table: AnyTable
) -> str | None:
    """Check ``cluster=`` against the table and the arguments beside it.

    Returns
    -------
    str or None
        The column; None where none is named, or it is the privacy unit, by which standard errors
        are clustered anyway.

    Raises
    ------
    ArgumentError
        With what to write instead.
    """
    if column is None:
        return None
    if not isinstance(column, str):
        raise ArgumentError(
            f'expected cluster to name a column, as in cluster="state", got {shown(column)}'
        )
    if column not in table.columns:
        raise no_column(column, table.columns)
    if not is_word(options.get("cov_type"), "cluster"):
        raise ArgumentError(
            f"cluster={column!r} is for standard errors that allow for clusters; add "
            'cov_type="cluster"'
        )
    if table.kind(column) == "other":
        raise ArgumentError(
            f"cluster={column!r} is of a type without labels; convert the column first"
        )
    if by is not None and column in columns_of(by):
        raise ArgumentError(
            f"by={by!r} leaves one cluster of cluster={column!r} in a group; name another column"
        )
    return None if unit is not None and unit.column == column else column


def checked_cluster(method: Method, cluster: str | None, absorbed: str | None) -> str | None:
    """Return the column that rows need labels of for standard errors, if any.

    The labels of the ``absorbed`` column are there anyway.

    Raises
    ------
    ArgumentError
        Where a method has no standard errors clustered by the column.
    """
    if cluster is not None and cluster == absorbed and "absorbed clusters" in method.takes:
        return None
    if cluster is not None and absorbed is not None:
        raise ArgumentError(
            f"cluster={cluster!r} is not available with | {absorbed}, where the default method "
            f"clusters errors by {absorbed}; name that with it, or write C({absorbed}) with levels="
        )
    if cluster is not None and "clusters" not in method.takes:
        able = ", ".join(name for name, known in METHODS.items() if "clusters" in known.takes)
        raise ArgumentError(
            f"{method.name} has no standard errors clustered by a column that is not the unit; "
            f"with cluster={cluster!r} use {able}"
        )
    return cluster


def with_cov_type(
    method: Method,
    options: Mapping,
    unit: PrivacyUnit | None,
    cluster: str | None,
    *,
    weighted: bool = False,
) -> Mapping:
    """Return the options with cov_type="cluster" where, and only where, there are clusters."""
    asked = options.get("cov_type")
    # what can cluster by a column counts weighted rows in parts, whose errors are robust
    if is_word(asked, "nonrobust") and weighted and "clusters" in method.takes:
        raise ArgumentError(
            "cov_type='nonrobust' takes errors of one variance, which weighted rows have not, for "
            'granted; with weights= leave it out, which stands for "HC1"'
        )
    if unit is None:
        named = cluster is not None or "absorbed clusters" in method.takes
        if is_word(asked, "cluster") and not named:
            raise ArgumentError(
                'cov_type="cluster" needs what to cluster by; name a column, as in '
                'cluster="state", or the persons that are protected with all of their rows, as in '
                'unit="person_id"'
            )
        return options
    if asked is not None and not is_word(asked, "cluster"):
        raise ArgumentError(
            f"cov_type={shown(asked)} takes the rows of a person for independent; with "
            f'unit={unit.column!r} leave it out, which stands for "cluster"'
        )
    return {**options, "cov_type": "cluster" if "cov_type" in method.options else None}


def cluster_schema(cluster: str | None, schema: Schema) -> dict[str, Kind]:
    """Describe the column: its values in the formula tell clusters apart, else its labels do."""
    return {} if cluster is None or cluster in schema else {cluster: Labels()}


def cluster_note(cluster: str, unit: PrivacyUnit | None) -> str:
    """Say what standard errors are clustered by, and what becomes of a unit in several clusters."""
    said = (
        f"standard errors are clustered by {cluster}, whose labels stay private and are not what "
        "is protected; a row without one is left out"
    )
    if unit is None:
        return said
    return f"{said}; the rows of one {unit.column} count for the {cluster} that most of them are in"
