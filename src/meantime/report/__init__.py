"""What comes after scores: comparing systems, and drawing what was found.

`comparison` computes frozen data; `tables` and what stands beside it draw them. Nothing here
prints.
"""
