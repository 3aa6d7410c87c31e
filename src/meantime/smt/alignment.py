"""Which word translates which, in both directions, by fast_align (Dyer and others 2013).

The model of one direction gives every word of one side the probability of coming from each
word of the other. Both are kept: the decoder smooths its phrase table with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
from numpy.typing import NDArray

from meantime.errors import InputError
from meantime.smt.thot import load_part, one_thread

Tokens = Sequence[Sequence[str]]
ITERATIONS = 5
_SOME = 1000
"""Sentences that are aligned between two words on progress."""


@dataclass(frozen=True)
class Links:
    """Links of many sentence pairs, joined from both directions.

    Those of pair n are `left[starts[n]:starts[n + 1]]` and the same of `right`, places counted
    from 0 in the source and in the target.
    """

    left: NDArray[numpy.int32]
    right: NDArray[numpy.int32]
    starts: NDArray[numpy.int64]


def train_direction(
    given: Tokens,
    made: Tokens,
    prefix: Path,
    *,
    iterations: int = ITERATIONS,
    progress: Callable[[int, int], None] | None = None,
) -> NDArray[numpy.int32]:
    """Learn which given word each made word comes from; write the model.

    Returns:
        For every word of `made`, end to end, the place of its word in `given`, counted from 1,
        or 0.
    """
    model = load_part("alignment").FastAlignModel()
    for one, other in zip(given, made, strict=True):
        model.add_sentence_pair(list(one), list(other), 1)
    steps = iterations + 1
    with one_thread():
        model.start_training()
        for done in range(iterations):
            model.train()
            if progress:
                progress(done + 1, steps)
        model.end_training()
    found: list[int] = []
    for start in range(0, len(given), _SOME):
        part = slice(start, start + _SOME)
        aligned = model.get_best_alignments(
            [list(one) for one in given[part]], [list(one) for one in made[part]]
        )
        for _, matrix in aligned:
            found.extend(matrix.to_list())
    if not model.print(str(prefix)):
        raise InputError(f"{prefix.parent}: cannot be written; check the folder and the disk")
    if progress:
        progress(steps, steps)
    return numpy.array(found, dtype=numpy.int32)


def offsets_of(sentences: Tokens) -> NDArray[numpy.int64]:
    """Where each sentence begins, all of them end to end, and where the last ends."""
    offsets = numpy.zeros(len(sentences) + 1, dtype=numpy.int64)
    numpy.cumsum([len(one) for one in sentences], out=offsets[1:])
    return offsets


def join(
    forward: NDArray[numpy.int32],
    backward: NDArray[numpy.int32],
    source: Tokens,
    target: Tokens,
) -> Links:
    """Links of both directions as one; `forward` is of the target's words."""
    from meantime.matching.phrase_pairs import symmetrise

    left, right, starts = symmetrise(forward, backward, offsets_of(source), offsets_of(target))
    return Links(left, right, starts)
