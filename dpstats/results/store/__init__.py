"""Write results as plain content and JSON, and restore their fields.

Files for readers are in ``record``, and the classes that are restored above.
"""
