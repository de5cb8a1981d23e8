"""Run a study: a text file with data, declarations and models, on real or on synthetic rows."""

from dpstats.study.run import run_study
from dpstats.study.study_file import Model, Study

__all__ = [
    "Model",
    "Study",
    "run_study",
]
