"""Two levels of matching: groups of phrases of two sides, and the phrases inside matched groups.

A *phrase* is a list of tokens (numbers of rows or columns of a matrix of token similarities) and
has a class. A *group* is a head phrase and any number of others. (Above this room a group is a
frame, its head the predicate, the others the fillers of its roles.)

For each pair of sides

1. groups are matched so that the sum of their weights is greatest: the similarity of their
   heads, or (`WHOLE`) the similarity of head and members together,

       (head + sum of the members' similarities, matched as in 2) / mean number of phrases;

2. inside matched groups, members are matched so that the sum of their similarities is greatest,
   only within one class where that is required. Heads go with heads.

Pairs that are not alike at all (0) are not matched. A pair of sides with g and h groups of at
most k members costs g · h phrase comparisons and min(g, h)² · max(g, h) steps, and as many as
min(g, h) (with `WHOLE`, g · h) times k² comparisons and k³ steps inside.

Everything is flat: phrases of all sides of a batch stand end to end, so that one call serves
hundreds of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray

from meantime.matching.bipartite import _match
from meantime.matching.itg import itg_similarity
from meantime.matching.phrases import phrase_similarity

HEADS, WHOLE = range(2)
"""What groups are matched by."""

ITG_BEST, ITG_INSIDE = 10, 11
"""Phrase methods beside those of `meantime.matching.phrases`."""

Whole = NDArray[numpy.int64]
Floats = NDArray[numpy.float64]


@dataclass(frozen=True, slots=True)
class Sides:
    """One side of every pair of a batch: tokens in phrases in groups."""

    tokens: Whole
    """Token numbers of all phrases, end to end; each counts within its own sentence."""
    phrase_offsets: Whole
    """Phrase p is `tokens[phrase_offsets[p] : phrase_offsets[p + 1]]`."""
    classes: Whole
    """Class of each phrase."""
    group_offsets: Whole
    """Group g is phrases `group_offsets[g]` to `group_offsets[g + 1]`, its head first."""
    first_group: Whole
    """Pair p has groups `first_group[p]` to `first_group[p + 1]`."""
    weights: Floats
    """Weight of each token of each sentence, for phrase methods that weigh tokens."""
    first_token: Whole
    """Sentence p has tokens `first_token[p]` to `first_token[p + 1]`."""


@dataclass(frozen=True, slots=True)
class Method:
    """How the similarity of two phrases comes from those of their tokens."""

    number: int
    alpha: float = 0.5
    floor: float = 0.0
    null_weight: float = 0.0
    limit: float = 0.0
    """Steps up to which an ITG is parsed exactly."""
    beam: int = 16
    """Spans an ITG keeps for each span of the other side beyond that."""


@dataclass(frozen=True, slots=True)
class Matched:
    """What goes with what; numbers of the right side, -1 for what stays alone."""

    groups: Whole
    """For each left group."""
    phrases: Whole
    """For each left phrase; heads of matched groups go together."""
    similarities: Floats
    """Of each left phrase with its partner; 0 without one."""


@njit(cache=True)
def _similarity(
    matrix: Any,
    rows: Any,
    columns: Any,
    row_weights: Any,
    column_weights: Any,
    method: int,
    alpha: float,
    floor: float,
    null_weight: float,
    limit: float,
    beam: int,
) -> Any:
    if method >= ITG_BEST:
        return itg_similarity(matrix, rows, columns, method - ITG_BEST, null_weight, limit, beam)
    return phrase_similarity(
        matrix, rows, columns, row_weights, column_weights, method, alpha, floor
    )


@njit(cache=True)
def _match_members(
    matrix: Any,
    left: Any,
    right: Any,
    left_from: int,
    left_to: int,
    right_from: int,
    right_to: int,
    row_weights: Any,
    column_weights: Any,
    same_class: bool,
    settings: Any,
    partner: Any,
    similar: Any,
) -> float:
    """Match members of two groups; fill in partner and similarity by left member; their sum."""
    method, alpha, floor, null_weight, limit, beam = settings
    left_tokens, left_offsets, left_classes = left
    right_tokens, right_offsets, right_classes = right
    n = left_to - left_from
    m = right_to - right_from
    partner[:n] = -1
    similar[:n] = 0.0
    if n == 0 or m == 0:
        return 0.0
    values = numpy.zeros((n, m))
    for a in range(n):
        i = left_from + a
        rows = left_tokens[left_offsets[i] : left_offsets[i + 1]]
        for b in range(m):
            j = right_from + b
            if same_class and left_classes[i] != right_classes[j]:
                continue
            columns = right_tokens[right_offsets[j] : right_offsets[j + 1]]
            values[a, b] = _similarity(
                matrix, rows, columns, row_weights, column_weights,
                method, alpha, floor, null_weight, limit, beam,
            )  # fmt: skip
    _match(values, 0.0, partner[:n])
    total = 0.0
    for a in range(n):
        if partner[a] >= 0:
            similar[a] = values[a, partner[a]]
            total += similar[a]
    return total


@njit(cache=True)
def _match_sides(
    matrices: Any,
    matrix_offsets: Any,
    left: Any,
    right: Any,
    left_groups: Any,
    right_groups: Any,
    left_weights: Any,
    right_weights: Any,
    by: int,
    same_class: bool,
    threshold: float,
    settings: Any,
    found_groups: Any,
    found_phrases: Any,
    found_similarities: Any,
) -> None:
    method, alpha, floor, null_weight, limit, beam = settings
    left_tokens, left_offsets, _ = left
    right_tokens, right_offsets, _ = right
    left_group_offsets, left_first = left_groups
    right_group_offsets, right_first = right_groups
    left_token_weights, left_first_token = left_weights
    right_token_weights, right_first_token = right_weights
    most = 1
    for g in range(left_group_offsets.size - 1):
        most = max(most, left_group_offsets[g + 1] - left_group_offsets[g])
    partner = numpy.empty(most, dtype=numpy.int64)
    similar = numpy.empty(most, dtype=numpy.float64)
    for pair in range(left_first.size - 1):
        first = left_first[pair]
        second = right_first[pair]
        n = left_first[pair + 1] - first
        m = right_first[pair + 1] - second
        if n == 0 or m == 0:
            continue
        height = left_first_token[pair + 1] - left_first_token[pair]
        width = right_first_token[pair + 1] - right_first_token[pair]
        start = matrix_offsets[pair]
        matrix = matrices[start : start + height * width].reshape((height, width))
        row_weights = left_token_weights[left_first_token[pair] : left_first_token[pair + 1]]
        column_weights = right_token_weights[right_first_token[pair] : right_first_token[pair + 1]]
        values = numpy.zeros((n, m))
        heads = numpy.zeros((n, m))
        for a in range(n):
            i = left_group_offsets[first + a]
            i_end = left_group_offsets[first + a + 1]
            rows = left_tokens[left_offsets[i] : left_offsets[i + 1]]
            for b in range(m):
                j = right_group_offsets[second + b]
                j_end = right_group_offsets[second + b + 1]
                columns = right_tokens[right_offsets[j] : right_offsets[j + 1]]
                heads[a, b] = _similarity(
                    matrix, rows, columns, row_weights, column_weights,
                    method, alpha, floor, null_weight, limit, beam,
                )  # fmt: skip
                values[a, b] = heads[a, b]
                if by == WHOLE:
                    inside = _match_members(
                        matrix, left, right, i + 1, i_end, j + 1, j_end,
                        row_weights, column_weights, same_class, settings, partner, similar,
                    )  # fmt: skip
                    size = (i_end - i + j_end - j) / 2.0
                    values[a, b] = (heads[a, b] + inside) / size
        _match(values, threshold, found_groups[first : first + n])
        for a in range(n):
            b = found_groups[first + a]
            if b < 0:
                continue
            found_groups[first + a] = second + b
            i = left_group_offsets[first + a]
            i_end = left_group_offsets[first + a + 1]
            j = right_group_offsets[second + b]
            j_end = right_group_offsets[second + b + 1]
            found_phrases[i] = j
            found_similarities[i] = heads[a, b]
            _match_members(
                matrix, left, right, i + 1, i_end, j + 1, j_end,
                row_weights, column_weights, same_class, settings, partner, similar,
            )  # fmt: skip
            for k in range(i_end - i - 1):
                if partner[k] >= 0:
                    found_phrases[i + 1 + k] = j + 1 + partner[k]
                    found_similarities[i + 1 + k] = similar[k]


def match_sides(
    matrices: Floats,
    matrix_offsets: Whole,
    left: Sides,
    right: Sides,
    method: Method,
    *,
    by: int = HEADS,
    same_class: bool = True,
    threshold: float = 0.0,
) -> Matched:
    """Match groups and their members, for every pair of a batch.

    Args:
        matrices: Token similarities of all pairs, each row by row, end to end.
        matrix_offsets: Where the matrix of each pair begins.
        left: The left sides.
        right: The right sides.
        method: How phrases are compared.
        by: What groups are matched by, `HEADS` or `WHOLE`.
        same_class: Whether members are matched only with members of their class.
        threshold: Groups are matched only if they weigh more.
    """
    groups = numpy.full(len(left.group_offsets) - 1, -1, dtype=numpy.int64)
    phrases = numpy.full(len(left.classes), -1, dtype=numpy.int64)
    similarities = numpy.zeros(len(left.classes))
    _match_sides(
        matrices,
        matrix_offsets,
        (left.tokens, left.phrase_offsets, left.classes),
        (right.tokens, right.phrase_offsets, right.classes),
        (left.group_offsets, left.first_group),
        (right.group_offsets, right.first_group),
        (left.weights, left.first_token),
        (right.weights, right.first_token),
        by,
        same_class,
        threshold,
        (method.number, method.alpha, method.floor, method.null_weight, method.limit, method.beam),
        groups,
        phrases,
        similarities,
    )
    return Matched(groups, phrases, similarities)


@dataclass(frozen=True, slots=True)
class Shares:
    """Precision and recall of every pair, as sums over groups."""

    precision: Floats
    precision_of: Floats
    recall: Floats
    recall_of: Floats


@njit(cache=True)
def _share(
    left_offsets: Any,
    left_classes: Any,
    left_groups: Any,
    left_first: Any,
    right_offsets: Any,
    right_classes: Any,
    right_groups: Any,
    right_first: Any,
    groups: Any,
    phrases: Any,
    similarities: Any,
    class_weights: Any,
    by_length: bool,
    count_unmatched: bool,
    found: Any,
) -> None:
    matched = numpy.zeros(right_groups.size - 1, dtype=numpy.bool_)
    for pair in range(left_first.size - 1):
        for g in range(left_first[pair], left_first[pair + 1]):
            i = left_groups[g]
            i_end = left_groups[g + 1]
            weight = 0.0
            for k in range(i, i_end):
                weight += class_weights[left_classes[k]]
            size = float(left_offsets[i_end] - left_offsets[i]) if by_length else 1.0
            h = groups[g]
            if weight > 0.0 and (count_unmatched or h >= 0):
                found[pair, 1] += size
            if h < 0:
                continue
            matched[h] = True
            j = right_groups[h]
            j_end = right_groups[h + 1]
            other = 0.0
            for k in range(j, j_end):
                other += class_weights[right_classes[k]]
            size_other = float(right_offsets[j_end] - right_offsets[j]) if by_length else 1.0
            if other > 0.0:
                found[pair, 3] += size_other
            alike = 0.0
            alike_other = 0.0
            for k in range(i, i_end):
                if phrases[k] >= 0:
                    alike += class_weights[left_classes[k]] * similarities[k]
                    alike_other += class_weights[right_classes[phrases[k]]] * similarities[k]
            if weight > 0.0:
                found[pair, 0] += size * (alike / weight)
            if other > 0.0:
                found[pair, 2] += size_other * (alike_other / other)
        if count_unmatched:
            for h in range(right_first[pair], right_first[pair + 1]):
                if matched[h]:
                    continue
                j = right_groups[h]
                j_end = right_groups[h + 1]
                other = 0.0
                for k in range(j, j_end):
                    other += class_weights[right_classes[k]]
                if other > 0.0:
                    found[pair, 3] += (
                        float(right_offsets[j_end] - right_offsets[j]) if by_length else 1.0
                    )


def share(
    left: Sides,
    right: Sides,
    matched: Matched,
    class_weights: Floats,
    *,
    by_length: bool = True,
    count_unmatched: bool = True,
) -> Shares:
    """How much of each side's groups the other side has.

    A matched group counts for the weighted share of its phrases that are matched,

        sum of weight(class) · similarity / sum of weight(class),

    an unmatched one for nothing. Groups whose phrases all weigh 0 do not count.

    Args:
        left: The left sides: precision.
        right: The right sides: recall.
        matched: What goes with what.
        class_weights: One weight a class.
        by_length: Whether a group counts by the number of its tokens; else all count alike.
        count_unmatched: Whether unmatched groups count among what could have been matched.
    """
    found = numpy.zeros((len(left.first_group) - 1, 4))
    _share(
        left.phrase_offsets,
        left.classes,
        left.group_offsets,
        left.first_group,
        right.phrase_offsets,
        right.classes,
        right.group_offsets,
        right.first_group,
        matched.groups,
        matched.phrases,
        matched.similarities,
        class_weights,
        by_length,
        count_unmatched,
        found,
    )
    return Shares(found[:, 0], found[:, 1], found[:, 2], found[:, 3])


@njit(cache=True)
def _whole(
    matrices: Any,
    matrix_offsets: Any,
    left_weights: Any,
    left_first: Any,
    right_weights: Any,
    right_first: Any,
    wanted: Any,
    settings: Any,
    found: Any,
) -> None:
    method, alpha, floor, null_weight, limit, beam = settings
    for pair in wanted:
        height = left_first[pair + 1] - left_first[pair]
        width = right_first[pair + 1] - right_first[pair]
        start = matrix_offsets[pair]
        matrix = matrices[start : start + height * width].reshape((height, width))
        found[pair] = _similarity(
            matrix,
            numpy.arange(height),
            numpy.arange(width),
            left_weights[left_first[pair] : left_first[pair + 1]],
            right_weights[right_first[pair] : right_first[pair + 1]],
            method,
            alpha,
            floor,
            null_weight,
            limit,
            beam,
        )


def whole_similarities(
    matrices: Floats,
    matrix_offsets: Whole,
    left: Sides,
    right: Sides,
    method: Method,
    wanted: Whole,
) -> Floats:
    """The similarity of whole sentences, taken as one phrase each; 0 for pairs not wanted."""
    found = numpy.zeros(len(left.first_token) - 1)
    _whole(
        matrices,
        matrix_offsets,
        left.weights,
        left.first_token,
        right.weights,
        right.first_token,
        wanted,
        (method.number, method.alpha, method.floor, method.null_weight, method.limit, method.beam),
        found,
    )
    return found
