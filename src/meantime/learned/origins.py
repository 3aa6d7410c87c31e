"""Human or machine (Kulesza 2004): examples from references and outputs, no judgement needed.

Of a segment with n references, each reference is a human example against the n - 1 others, and
machine translations are examples against n - 1 references too, one left out by chance. So both
classes have the same number of references, no translation is compared with itself, and both classes
have as many examples in each segment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

from meantime.errors import InputError
from meantime.types import Pair, Segment, Sentence

HUMAN = 1
"""The class of human translations; machines' are 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Origins:
    """Translations, who made them, and of which segment they are."""

    pairs: tuple[Pair, ...]
    labels: NDArray[numpy.int64]
    segments: tuple[str, ...]
    references: int
    """How many each translation is compared with."""
    notes: tuple[str, ...] = ()


def make_origins(
    segments: Sequence[Segment], outputs: Mapping[str, Sequence[Sentence]], *, seed: int = 1
) -> Origins:
    """Examples of both classes from references and outputs of the same segments.

    Args:
        segments: With two references or more, the same number each.
        outputs: What each system made of them.
        seed: What decides which reference a machine translation goes without.

    Raises:
        InputError: Segments have different numbers of references, or fewer than two.
    """
    counts = Counter(len(segment.references) for segment in segments)
    if not segments or not outputs:
        raise InputError("human or machine needs references and outputs; one of them is missing")
    if len(counts) > 1:
        usual = counts.most_common(1)[0][0]
        odd = next(one for one in segments if len(one.references) != usual)
        raise InputError(
            f"segment {odd.id} has {len(odd.references)} references and most have {usual}; both "
            "classes must be compared with the same number: give every segment as many"
        )
    [count] = counts
    if count < 2:
        raise InputError(
            f"{count} reference a segment; human or machine needs two or more, for a reference is "
            "a human translation only against another: give --refs again"
        )
    rng = numpy.random.default_rng(seed)
    pairs: list[Pair] = []
    labels: list[int] = []
    names: list[str] = []
    alike = 0
    for place, segment in enumerate(segments):
        references = segment.references
        texts = [reference.text.strip() for reference in references]
        ways = [
            Segment(segment.id, references[:n] + references[n + 1 :], segment.source)
            for n in range(count)
        ]
        people = [
            Pair(reference, way)
            for n, (reference, way) in enumerate(zip(references, ways, strict=True))
            if texts[n] and texts[n] not in texts[:n] + texts[n + 1 :]
        ]
        found = {output[place].text.strip(): output[place] for output in outputs.values()}
        machines = [text for text in found if text]
        # Drawn for every segment, so that one segment cannot move what the others get.
        order = rng.permutation(max(1, len(machines)))
        gaps = rng.permutation(count)
        chosen = [machines[n] for n in order if n < len(machines)][:count]
        both = min(len(people), len(chosen))
        alike += not both
        keep = sorted(rng.permutation(max(1, len(people)))[:both].tolist())
        pairs += [people[n] for n in keep]
        pairs += [Pair(found[text], ways[gaps[n]]) for n, text in enumerate(chosen[:both])]
        labels += [HUMAN] * both + [0] * both
        names += [str(place)] * (2 * both)
    notes = []
    if alike:
        notes.append(
            f"{alike} of {len(segments)} segments give no example: their references are equal, or "
            "no system has an output"
        )
    return Origins(tuple(pairs), numpy.array(labels, dtype=numpy.int64), tuple(names), count - 1,
                   tuple(notes))  # fmt: skip
