"""Write results as text, LaTeX and HTML, and draw them.

No number is computed here that a result does not give.
"""
