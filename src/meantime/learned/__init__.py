"""Metrics that are learned: features of pairs, and what is trained on them."""
