"""Run a study: a text file with data, declarations and models, on real or on synthetic rows."""

from dpstats.study.models import Model
from dpstats.study.run import run_study
from dpstats.study.study_file import Study

__all__ = [
    "Model",
    "Study",
    "run_study",
]
