"""Whom to trust: human scores, agreement of metrics with them, and significance.

What is computed on arrays stands in `correlation` (one number from two vectors), `grids` (segment
level), `systems` (system level), `intervals`, `difference` (of two metrics) and `multiple` (many
comparisons). They know numpy, not sentences: a grid is an array of segments by systems.
"""
