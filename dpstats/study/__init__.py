"""Run a study: a text file with data, declarations and entries, on real or synthetic rows.

Each entry is one call of a verb, and nothing here sees rows or noise.
"""

from dpstats.study.models import Model
from dpstats.study.run import run_study
from dpstats.study.study_file import Study

__all__ = [
    "Model",
    "Study",
    "run_study",
]
