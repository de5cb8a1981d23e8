"""Keep what groups released for inference as text, and answer R from it."""

import base64
import io
import zipfile
from collections.abc import Mapping, Sequence

import numpy as np

from dpstats.errors import ArgumentError
from dpstats.inference import Uncertainty, uncertainty
from dpstats.option_checks import checked_alpha
from dpstats.results import DPGroupResults


def group_state(result: DPGroupResults) -> str:
    """Write the released numbers behind the intervals of groups as text.

    >>> import dpstats as dp
    >>> df = dp.simulate.line(400, seed=1).assign(g=["a", "b"] * 200)
    >>> by = dp.dp_ols("y ~ x", df, by="g", groups=["a", "b"], epsilon=4, method="noisy_moments",
    ...                bounds={"x": (0, 1), "y": (0, 1)})
    >>> intervals = group_conf_int(group_state(by), 0.95)
    >>> intervals["low"] == by.frame["lower"].tolist()
    True
    """
    return _written(result.stack, np.vstack([np.eye(result.size), result.x_new]))


def _written(stack: Mapping[str, np.ndarray], combinations: np.ndarray) -> str:
    file = io.BytesIO()
    arrays: dict = {"combinations": combinations, **_prefixed(stack)}
    np.savez_compressed(file, **arrays)
    return base64.b64encode(file.getvalue()).decode("ascii")


def _prefixed(stack: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Rename the arrays, lest one be taken for an argument of NumPy's writer."""
    return {f"stack_{name}": values for name, values in stack.items()}


def group_conf_int(state: str, level: float) -> dict:
    """Compute the intervals of all quantities, by group and then by name."""
    alpha = checked_alpha(1 - level)
    errors, combinations = _restored(state)
    ends = errors.intervals(combinations, alpha)
    return {"low": ends[..., 0].ravel().tolist(), "high": ends[..., 1].ravel().tolist()}


def group_covariances(state: str) -> list[float]:
    """List the covariance matrices of the coefficients, group by group."""
    errors, _ = _restored(state)
    return errors.covariance().ravel().tolist()


def group_predict(state: str, groups: Sequence[float], rows: Sequence[float], level: float) -> dict:
    """Compute standard errors and intervals of predictions at design rows, each of one group.

    ``groups`` are the numbers of their groups from 1, ``rows`` the design row by row.
    """
    alpha = checked_alpha(1 - level)
    stack, _ = _arrays(state)
    numbers = np.asarray(groups, dtype=int) - 1
    X = np.reshape(np.asarray(rows, dtype=float), (len(numbers), -1))
    table = np.full((len(numbers), 3), np.nan)
    for g in np.unique(numbers):
        here, errors = numbers == g, uncertainty(_picked(stack, [g]))
        table[here, 0] = errors.errors(X[here])[0]
        table[here, 1:] = errors.intervals(X[here], alpha)[0]
    return {
        name: column.tolist()
        for name, column in zip(("std_error", "low", "high"), table.T, strict=True)
    }


def group_subset(state: str, groups: Sequence[float]) -> str:
    """Keep some of the groups, given by their numbers from 1."""
    stack, combinations = _arrays(state)
    return _written(_picked(stack, np.asarray(groups, dtype=int) - 1), combinations)


def _picked(stack: Mapping[str, np.ndarray], places) -> dict[str, np.ndarray]:
    """Select groups from a stack by their places."""
    return {name: values[places] for name, values in stack.items()}


def _restored(state: str) -> tuple[Uncertainty, np.ndarray]:
    """Restore the uncertainty of the groups, and each quantity as weights of coefficients."""
    stack, combinations = _arrays(state)
    return uncertainty(stack), combinations


def _arrays(state: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Read the stack of the groups, and each quantity as weights of coefficients."""
    try:
        with np.load(io.BytesIO(base64.b64decode(state)), allow_pickle=False) as arrays:
            stack = {
                name.removeprefix("stack_"): arrays[name]
                for name in arrays.files
                if name.startswith("stack_")
            }
            return stack, arrays["combinations"]
    except (TypeError, ValueError, KeyError, OSError, zipfile.BadZipFile):
        raise ArgumentError("expected groups that were made by dp_ols()") from None
