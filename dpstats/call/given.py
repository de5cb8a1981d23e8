"""Hold what a caller gave to a call, and the columns that it names beside those of formulas."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dpstats.engines import AnyTable
from dpstats.estimators.contract import Method
from dpstats.formula import Formula, InstrumentFormula
from dpstats.rows import Offset, PrivacyUnit, Weights
from dpstats.rows.cluster import checked_cluster, cluster_schema, declared_cluster
from dpstats.rows.offset import declared_offset
from dpstats.rows.privacy_unit import check_unit, declared_unit
from dpstats.rows.weights import check_weights, declared_weights
from dpstats.schema import Schema


@dataclass(frozen=True, kw_only=True)
class Given:
    """Hold the arguments of a call beside formula, data and declarations, unchecked.

    ``methods`` are those that the verb knows, by default ``METHODS``, and ``outcomes`` the formulas
    by name that one release fits.
    """

    method: Any
    epsilon: Any
    delta: Any
    neighbors: Any
    options: Mapping[str, Any]
    x_new: Any = None
    missing: Any = "drop"
    row_norm: Any = None
    methods: Mapping[str, Method] | None = None
    select: Any = None
    k: Any = None
    select_share: Any = None
    companion: Any = None
    companion_share: Any = None
    by: Any = None
    weights: Any = None
    trim_weights: Any = None
    subset: Any = None
    unit: Any = None
    max_rows: Any = None
    max_groups: Any = None
    cluster: Any = None
    instruments: InstrumentFormula | None = None
    offset: Any = None
    exposure: Any = None
    outcomes: Mapping[str, Formula] | None = None


@dataclass(frozen=True)
class RowColumns:
    """Hold the columns that say what a row counts for, what is added to it and whose it is."""

    weights: Weights | None
    offset: Offset | None
    unit: PrivacyUnit | None
    cluster: str | None

    @classmethod
    def of(cls, given: Given, bounds: Mapping, table: AnyTable) -> "RowColumns":
        """Check the columns against their bounds and the table; ArgumentError otherwise."""
        weights = declared_weights(given.weights, given.trim_weights, bounds, table)
        offset = declared_offset(given.offset, given.exposure, bounds, table)
        unit = declared_unit(given.unit, given.max_rows, given.max_groups, table, given.by)
        cluster = declared_cluster(given.cluster, given.options, unit, given.by, table)
        return cls(weights, offset, unit, cluster)

    def of_method(self, method: Method, select, formula: Formula) -> "RowColumns":
        """Return the columns as the method takes them, or raise ArgumentError."""
        if self.weights is not None:
            check_weights(method, select, formula, self.unit is not None)
        check_unit(method, self.unit, select, formula)
        return replace(self, cluster=checked_cluster(method, self.cluster, formula.absorbed))

    def beside(self, schema: Schema) -> Schema:
        """Add these columns to the schema of a formula, whose own kinds take precedence."""
        known = {} if self.weights is None else {self.weights.column: self.weights.kind}
        known = {**known, **schema}
        added = {} if self.offset is None else self.offset.schema
        return {**cluster_schema(self.cluster, known), **added, **known}
