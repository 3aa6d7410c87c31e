r"""CDER, the cover disjoint error rate (Leusch, Ueffing and Ney 2006).

    CDER = (fewest edits and jumps that cover the reference) / reference words

Every word of the reference is covered once; the hypothesis may be read in any order of
blocks, each jump from one block to the next at the cost of one edit. Equal to Moses'
`evaluator`, which prints one minus the rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy
from numpy.typing import NDArray

from meantime.matching.edits import edit_distances
from meantime.metrics.rates import ErrorRate
from meantime.metrics.tokens import Batch


@dataclass(frozen=True, kw_only=True)
class Cder(ErrorRate):
    """Word error rate in which a block may stand elsewhere at the cost of one edit."""

    name: ClassVar[str] = "cder"
    summary: ClassVar[str] = "word error rate with jumps between blocks of words"
    paper: ClassVar[str] = "Leusch, Ueffing and Ney 2006"
    empty_count: ClassVar[str] = "every reference word; against an empty reference 1"

    def edits(self, batch: Batch) -> NDArray[numpy.int64]:
        return edit_distances(*batch, jumps=True)
