"""The phrase table: what each phrase was translated to, and how often.

    count(target) and count(source, target) stand in the file; the decoder takes
    p(source | target) = count(source, target) / count(target), and the other direction from the
    sums over targets.

A phrase of the source keeps its most frequent translations.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from meantime.smt.alignment import Links, Tokens, offsets_of

LONGEST = 7
KEPT = 20


@dataclass(frozen=True)
class PhraseTable:
    """Phrase pairs with their counts."""

    rows: Sequence[tuple[str, str, int, int]]
    """Source, target, count of the target phrase, count of the pair."""

    def render(self) -> bytes:
        """The table as Thot reads it."""
        out = io.StringIO()
        for source, target, alone, together in self.rows:
            out.write(f"{target} ||| {source} ||| {alone} {together}\n")
        return out.getvalue().encode("utf-8")


def build_table(
    source: Tokens, target: Tokens, links: Links, *, longest: int = LONGEST, kept: int = KEPT
) -> PhraseTable:
    """Count the phrase pairs that fit the links.

    Args:
        source: Tokens by sentence.
        target: Likewise.
        links: Between them.
        longest: Words in a phrase, on either side.
        kept: Translations a source phrase may have.
    """
    from meantime.matching.phrase_pairs import extract, number_spans

    source_offsets, target_offsets = offsets_of(source), offsets_of(target)
    found = extract(links.left, links.right, links.starts, source_offsets, target_offsets, longest)
    flat_source, flat_target = _flat(source), _flat(target)
    source_numbers = number_spans(_numbered(flat_source), source_offsets, longest)
    target_numbers = number_spans(_numbered(flat_target), target_offsets, longest)
    left = source_numbers[found[:, 0], found[:, 1] - 1]
    right = target_numbers[found[:, 2], found[:, 3] - 1]
    several = int(right.max(initial=0)) + 1
    keys, firsts, together = numpy.unique(
        left * several + right, return_index=True, return_counts=True
    )
    lefts, rights = keys // several, keys % several
    alone = numpy.bincount(rights, weights=together, minlength=1).astype(numpy.int64)
    # By source phrase, the most frequent first; of equals, the one met first.
    order = numpy.lexsort((firsts, -together, lefts))
    ranks = _ranks(lefts[order])
    rows = []
    for n in order[ranks < kept]:
        begin, size, place, length = found[firsts[n]]
        rows.append(
            (
                " ".join(flat_source[begin : begin + size]),
                " ".join(flat_target[place : place + length]),
                int(alone[rights[n]]),
                int(together[n]),
            )
        )
    return PhraseTable(rows)


def _flat(sentences: Tokens) -> list[str]:
    return [word for sentence in sentences for word in sentence]


def _numbered(words: Sequence[str]) -> Any:
    known: dict[str, int] = {}
    return numpy.fromiter(
        (known.setdefault(word, len(known)) for word in words), numpy.int64, len(words)
    )


def _ranks(groups: Any) -> Any:
    """The place of each item in its group, of groups that stand together."""
    places = numpy.arange(len(groups))
    if not len(groups):
        return places
    new = numpy.concatenate(([True], groups[1:] != groups[:-1]))
    return places - numpy.maximum.accumulate(numpy.where(new, places, 0))
