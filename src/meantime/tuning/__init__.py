"""Choosing among translations with any metric: tuning, reranking, minimum Bayes risk.

Everything here receives a metric and works on the rows its `measure` gives; since rows add up,
the score of any choice of candidates is that of a sum.
"""
