"""Write results as text, LaTeX and HTML, and draw them.

No number is computed here that a result does not give.
"""

from dpstats.results.show.coefficient_plot import Intervals
from dpstats.results.show.documents import Printed, PrintedTable

__all__ = ["Intervals", "Printed", "PrintedTable"]
