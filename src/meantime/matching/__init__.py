"""Kernels on arrays of numbers. They know numpy and numba, not sentences."""
