"""Fit with a seed, and read texts whatever their line breaks."""

import dpstats as dp

AREAS = ["a0", "a1", "a2"]


def words(text) -> str:
    """A text in one line."""
    return " ".join(str(text).split())


def squeezed(text) -> str:
    """A text without white space, so that breaks after hyphens do not matter."""
    return "".join(str(text).split())


def seeded(fit, *arguments, seed=6, **keywords):
    with dp.testing.insecure_seed(seed):
        return fit(*arguments, **keywords)
