"""The five papers: their tables and figures as data, their baselines, and what runs them.

Not installed with Ulmus. `ulmus reproduce` finds this folder in the clone.
"""
