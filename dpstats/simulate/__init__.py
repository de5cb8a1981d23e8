"""Simulate data to try methods on: the Opportunity Atlas, points around a line, and a panel.

Nothing here is a release and nothing is private: the rows come from NumPy generators and public
constants, so they may be shown, plotted and repeated with a seed.
"""

from dpstats.simulate.census_tracts import STATES, State, atlas
from dpstats.simulate.person_panel import panel
from dpstats.simulate.regression_line import line

__all__ = ["STATES", "State", "atlas", "line", "panel"]
