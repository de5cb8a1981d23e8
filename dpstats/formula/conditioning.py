"""Tell how far the columns of a design are from orthogonal on its public box."""

import numpy as np
import pandas as pd

from dpstats.formula.design import Design
from dpstats.formula.schema_frame import schema_frame
from dpstats.numerics import ColumnBasis

# Correlations of more columns than a schema frame tells apart are not judged.
_MOST_COLUMNS = 30
# From here on the noise on a direction costs more than ten times what it does on a column.
_HIGH = 50.0


def collinear_columns(design: Design, basis: ColumnBasis | None = None) -> tuple[str, ...]:
    """Name the numeric columns that are nearly collinear where variables are uniform on the box.

    They are those of the smallest eigenvalue of the columns' correlations, where its ratio to the
    largest is above 50. Columns of a basis stand for those of the design, if there is one. A
    function of the public schema alone.

    >>> from dpstats.formula import Formula
    >>> from dpstats.schema import Numeric
    >>> schema = {"y": Numeric(0, 1), "x": Numeric(20, 60), "z": Numeric(0, 1)}
    >>> collinear_columns(Formula.parse("y ~ x + I(x**2) + z").design(schema))
    ('x', 'I(x ** 2)')
    >>> collinear_columns(Formula.parse("y ~ poly(x, 2) + z").design(schema))
    ()
    """
    numeric = design.layout.numeric
    if not 2 <= len(numeric) <= _MOST_COLUMNS:
        return ()
    frame = schema_frame(design.schema)
    batch = {
        name: values.codes.astype(np.int64) if isinstance(values, pd.Categorical) else values
        for name, values in frame.items()
    }
    Z = design.rows(batch).numbers
    Z = (Z if basis is None else Z @ basis.matrix)[:, numeric]
    Z = Z - Z.mean(axis=0)
    sizes = np.linalg.norm(Z, axis=0)
    varying = sizes > 1e-9 * np.abs(Z).max(initial=1.0)
    if varying.sum() < 2:
        return ()
    U = Z[:, varying] / sizes[varying]
    values, vectors = np.linalg.eigh(U.T @ U)
    if values[-1] < _HIGH * max(values[0], 0.0):
        return ()
    weight = np.abs(vectors[:, 0])
    places = numeric[varying][weight > 0.1 * weight.max()]
    return tuple(design.names[j] for j in places)
