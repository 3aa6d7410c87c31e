r"""Whether two members of matched groups have changed places: who did it, and to whom.

In a group matched with another (a frame with a frame), let a and b be members of different
classes on the left, and c and d members of the same two classes on the right. They fit crosswise
by

    exchange = (s(a, d) + s(b, c) - s(a, c) - s(b, d)) / 2 * s(heads)

where it is above 0, s the similarity of phrases. A pair's exchange is the greatest of all its
groups: 0 as long as every member is more like what stands in its place than like what stands in
another's, however much or little that is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray

from meantime.matching.structures import Matched, Method, Sides, _similarity

Whole = NDArray[numpy.int64]
Floats = NDArray[numpy.float64]


@dataclass(frozen=True, slots=True)
class Exchanges:
    """The greatest exchange of every pair."""

    values: Floats
    phrases: Whole
    """The four phrases a, b, c, d of each; -1 where there is no exchange."""


@njit(cache=True)
def _exchanges(
    matrices: Any,
    matrix_offsets: Any,
    left: Any,
    right: Any,
    left_groups: Any,
    right_groups: Any,
    left_weights: Any,
    right_weights: Any,
    matched_groups: Any,
    matched_similarities: Any,
    asked: Any,
    settings: Any,
    values: Any,
    phrases: Any,
) -> None:
    method, alpha, floor, null_weight, limit, beam = settings
    left_tokens, left_offsets, left_classes = left
    right_tokens, right_offsets, right_classes = right
    left_group_offsets, left_first = left_groups
    right_group_offsets, _ = right_groups
    left_token_weights, left_first_token = left_weights
    right_token_weights, right_first_token = right_weights
    for pair in range(left_first.size - 1):
        height = left_first_token[pair + 1] - left_first_token[pair]
        width = right_first_token[pair + 1] - right_first_token[pair]
        start = matrix_offsets[pair]
        matrix = matrices[start : start + height * width].reshape((height, width))
        row_weights = left_token_weights[left_first_token[pair] : left_first_token[pair + 1]]
        column_weights = right_token_weights[right_first_token[pair] : right_first_token[pair + 1]]
        for g in range(left_first[pair], left_first[pair + 1]):
            h = matched_groups[g]
            if h < 0:
                continue
            i = left_group_offsets[g] + 1
            i_end = left_group_offsets[g + 1]
            j = right_group_offsets[h] + 1
            j_end = right_group_offsets[h + 1]
            heads = min(1.0, matched_similarities[i - 1])
            if heads <= values[pair]:
                # Nothing here can be greater than what was found.
                continue
            known = numpy.zeros((i_end - i, j_end - j))
            for a in range(i, i_end):
                if not asked[left_classes[a]]:
                    continue
                rows = left_tokens[left_offsets[a] : left_offsets[a + 1]]
                for b in range(j, j_end):
                    if asked[right_classes[b]]:
                        columns = right_tokens[right_offsets[b] : right_offsets[b + 1]]
                        known[a - i, b - j] = _similarity(
                            matrix, rows, columns, row_weights, column_weights,
                            method, alpha, floor, null_weight, limit, beam,
                        )  # fmt: skip
            for a in range(i, i_end):
                if not asked[left_classes[a]]:
                    continue
                for b in range(a + 1, i_end):
                    if not asked[left_classes[b]] or left_classes[a] == left_classes[b]:
                        continue
                    for c in range(j, j_end):
                        if right_classes[c] != left_classes[a]:
                            continue
                        for d in range(j, j_end):
                            if right_classes[d] != left_classes[b]:
                                continue
                            across = known[a - i, d - j] + known[b - i, c - j]
                            along = known[a - i, c - j] + known[b - i, d - j]
                            value = min(1.0, (across - along) / 2.0 * heads)
                            if value > values[pair]:
                                values[pair] = value
                                phrases[pair, 0] = a
                                phrases[pair, 1] = b
                                phrases[pair, 2] = c
                                phrases[pair, 3] = d


def find_exchanges(
    matrices: Floats,
    matrix_offsets: Whole,
    left: Sides,
    right: Sides,
    matched: Matched,
    method: Method,
    classes: Whole,
) -> Exchanges:
    """The greatest exchange in matched groups, for every pair of a batch.

    Args:
        matrices: Token similarities of all pairs, each row by row, end to end.
        matrix_offsets: Where the matrix of each pair begins.
        left: The left sides.
        right: The right sides.
        matched: Which groups go together, and how similar their heads are.
        method: How phrases are compared.
        classes: The classes that may change places.
    """
    count = len(left.first_group) - 1
    values = numpy.zeros(count)
    phrases = numpy.full((count, 4), -1, dtype=numpy.int64)
    highest = max(int(side.classes.max(initial=0)) for side in (left, right))
    asked = numpy.zeros(max(highest, int(classes.max())) + 1, dtype=numpy.bool_)
    asked[classes] = True
    _exchanges(
        matrices,
        matrix_offsets,
        (left.tokens, left.phrase_offsets, left.classes),
        (right.tokens, right.phrase_offsets, right.classes),
        (left.group_offsets, left.first_group),
        (right.group_offsets, right.first_group),
        (left.weights, left.first_token),
        (right.weights, right.first_token),
        matched.groups,
        matched.similarities,
        asked,
        (method.number, method.alpha, method.floor, method.null_weight, method.limit, method.beam),
        values,
        phrases,
    )
    return Exchanges(values, phrases)
