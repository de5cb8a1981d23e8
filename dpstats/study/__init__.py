"""Run a study: a text file with data, declarations and models, on real or synthetic rows.

Each model is one call of ``dp_ols``, and nothing here sees rows or noise.
"""

from dpstats.study.models import Model
from dpstats.study.run import run_study
from dpstats.study.study_file import Study

__all__ = [
    "Model",
    "Study",
    "run_study",
]
