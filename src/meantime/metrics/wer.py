r"""WER, the word error rate (Su, Wu and Chang 1992; for translation, Nießen and others 2000).

    WER = (insertions + deletions + substitutions) / reference words

with the fewest edits that turn the hypothesis into the reference (Levenshtein 1966).
Equal to Moses' `evaluator`, which prints one minus the rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy
from numpy.typing import NDArray

from meantime.matching.edits import edit_distances, edit_path
from meantime.metrics.rates import ErrorRate
from meantime.metrics.tokens import Batch
from meantime.types import Explanation, Level, Pair, Part, Span

_LABELS = ("match", "substitution", "deletion", "insertion")
"""What turns the hypothesis into the reference: an insertion adds a word it lacks."""


@dataclass(frozen=True, kw_only=True)
class Wer(ErrorRate):
    """Fewest insertions, deletions and substitutions per reference word."""

    name: ClassVar[str] = "wer"
    summary: ClassVar[str] = "fewest word insertions, deletions and substitutions"
    paper: ClassVar[str] = "Su, Wu and Chang 1992; Kulesza 2004, section 1.2.1"

    def edits(self, batch: Batch) -> NDArray[numpy.int64]:
        return edit_distances(*batch)

    def explain(self, pair: Pair) -> Explanation:
        """The edits, in order. Their values sum to the count; over the length, to the rate."""
        batch = self.batch([pair])
        edits = self.edits(batch)
        best = int(self.chosen(batch, edits)[0])
        start, end = batch.reference_offsets[best : best + 2]
        path = edit_path(batch.hypotheses, batch.references[start:end])
        parts = []
        i = j = 0
        for operation in path:
            taken = operation != 3
            asked = operation != 2
            parts.append(
                Part(
                    _LABELS[operation],
                    Span(i, i + 1) if taken else None,
                    Span(j, j + 1) if asked else None,
                    float(operation > 0),
                )
            )
            i += int(taken)
            j += int(asked)
        return Explanation(
            self.name,
            self.score(self.rows(batch, edits)[best], Level.SEGMENT),
            self.words(pair.hypothesis),
            self.words(pair.segment.references[best]),
            best,
            tuple(parts),
        )
