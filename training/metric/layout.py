"""What the packed material is made of, for those who write it and those who read it."""

from __future__ import annotations

import numpy

SETS = ("wild", "judged", "sample", "darr")
MACHINE, DAMAGED, DAMAGED_REFERENCE, SPOILT, COPY, HARMLESS = range(6)
LONGEST = 126
"""Texts of more pieces are left out."""
START, END = 101, 102
SHIFT = numpy.array([0, 0, 0, 0, 0, 2.0])
SCALE = numpy.array([255, 255, 255, 255, 255, 255 / 4])
"""Surfaces are kept as bytes; the last one, the ratio of lengths, goes from -2 to 2."""


def pack_surface(surface: numpy.ndarray) -> numpy.ndarray:
    return numpy.clip(numpy.rint((surface + SHIFT) * SCALE), 0, 255).astype(numpy.uint8)


def unpack_surface(packed: numpy.ndarray) -> numpy.ndarray:
    return (packed / SCALE - SHIFT).astype(numpy.float32)
