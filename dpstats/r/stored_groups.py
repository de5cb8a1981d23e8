"""Keep what groups released for inference as text, and answer R from it."""

import base64
import io
import zipfile
from collections.abc import Mapping

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
    file = io.BytesIO()
    combinations = np.vstack([np.eye(result.size), result.x_new])
    arrays: dict = {"combinations": combinations, **_prefixed(result.stack)}
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


def _restored(state: str) -> tuple[Uncertainty, np.ndarray]:
    """Restore the uncertainty of the groups, and each quantity as weights of coefficients."""
    try:
        with np.load(io.BytesIO(base64.b64decode(state)), allow_pickle=False) as arrays:
            stack = {
                name.removeprefix("stack_"): arrays[name]
                for name in arrays.files
                if name.startswith("stack_")
            }
            return uncertainty(stack), arrays["combinations"]
    except (TypeError, ValueError, KeyError, OSError, zipfile.BadZipFile):
        raise ArgumentError("expected groups that were made by dp_ols()") from None
