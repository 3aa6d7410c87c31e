r"""STM, the subtree metric (Liu and Gildea 2005; Lo and Wu 2010, section 2.2).

    STM = (1/D) * sum over d = 1..D of  found_d / total_d

total_d is the number of subtrees of depth d in the hypothesis' constituent tree, found_d how
many of them the reference's tree has too, each as often as there. Words do not count: the
leaves are parts of speech.

A subtree of depth d is a node with everything below it, cut off after d levels, the node
itself being the first. A node has one for each d up to its height, a part of speech only
that of depth 1. So depth 1 counts labels, depth 2 rules, depth 3 rules over rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy

from meantime.errors import UsageError
from meantime.metrics.base import BaseMetric, ratio, ratios, require_references
from meantime.options import option
from meantime.protocols import Array
from meantime.types import Layer, Level, Pair, Score, Sentence, Tree

_Numbers = dict[tuple[str, tuple[int, ...]], int]
"""Subtrees of one batch, by label and the numbers of what is below it, and their numbers."""

_ROOT = "TOP"


@dataclass(frozen=True, kw_only=True)
class Stm(BaseMetric):
    """Share of the hypothesis' subtrees that the reference has, averaged over depths."""

    name: ClassVar[str] = "stm"
    summary: ClassVar[str] = "share of constituent subtrees that the reference has too"
    paper: ClassVar[str] = "Liu and Gildea 2005; Lo and Wu 2010, section 2.2"
    empty: ClassVar[str] = "0; two empty sides 1"

    depth: int = option(4, "deepest subtree counted", minimum=1, maximum=100)

    @property
    def needs(self) -> frozenset[Layer]:
        return frozenset({Layer.TREE})

    @property
    def scale(self) -> tuple[float, float]:
        return (0.0, 1.0)

    @property
    def statistics(self) -> tuple[str, ...]:
        depths = range(1, self.depth + 1)
        return (*(f"matches_{d}" for d in depths), *(f"total_{d}" for d in depths))

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """Matches, then totals, of each depth.

        Where the hypothesis has no subtree of a depth that every reference has, it counts as
        having one that is wrong.
        """
        require_references(self.name, (pair.segment for pair in pairs))
        rows = numpy.zeros((len(pairs), 2 * self.depth))
        numbers: _Numbers = {}
        for row, pair in zip(rows, pairs, strict=True):
            references = [
                self._count(reference, pair, numbers) for reference in pair.segment.references
            ]
            hypothesis = self._count(pair.hypothesis, pair, numbers)
            for depth, found in enumerate(hypothesis):
                if not found:
                    row[self.depth + depth] = all(counts[depth] for counts in references)
                    continue
                row[depth] = sum(
                    min(count, max(counts[depth][subtree] for counts in references))
                    for subtree, count in found.items()
                )
                row[self.depth + depth] = found.total()
        return rows

    def score(self, total: Array, level: Level) -> Score:
        """The mean of the shares, over the depths that there are."""
        values = total.tolist()
        matches, totals = values[: self.depth], values[self.depth :]
        shares = {
            f"share_{depth}": ratio(found, of, on_empty=0.0)
            for depth, (found, of) in enumerate(zip(matches, totals, strict=True), 1)
            if of > 0
        }
        # Without any subtree on either side, nothing is wrong.
        value = ratio(sum(shares.values()), len(shares), on_empty=1.0)
        return Score(value, {**shares, "depths": float(len(shares))})

    def scores(self, totals: Array, level: Level) -> Array:
        """What `score` gives, for all rows at once."""
        matches, counts = totals[:, : self.depth], totals[:, self.depth :]
        shares = numpy.zeros(len(totals))
        for depth in range(self.depth):
            shares += ratios(matches[:, depth], counts[:, depth], on_empty=0.0)
        depths = (counts > 0).sum(axis=1).astype(numpy.float64)
        return ratios(shares, depths, on_empty=1.0)

    def _count(self, sentence: Sentence, pair: Pair, numbers: _Numbers) -> list[Counter[int]]:
        """How often a sentence has each subtree, by depth from 1."""
        if sentence.tokens == ():
            return [Counter() for _ in range(self.depth)]
        if sentence.tree is None:
            raise UsageError(_missing(self.name, sentence, pair))
        return count_subtrees(sentence.tree, self.depth, numbers)


def _missing(name: str, sentence: Sentence, pair: Pair) -> str:
    side = "hypothesis" if sentence is pair.hypothesis else "reference"
    text = sentence.text if len(sentence.text) <= 60 else f"{sentence.text[:59]}…"
    remedy = (
        "analyse the sentences first, or give trees of your own"
        if sentence.tokens is None
        else "use an analyser that makes trees, or give trees of your own"
    )
    return (
        f"{name} compares constituent trees, and the {side} of segment {pair.segment.id} "
        f"({text!r}) has none; {remedy}"
    )


def count_subtrees(tree: Tree, depth: int, numbers: _Numbers) -> list[Counter[int]]:
    """How often a tree has each subtree of depth 1 to `depth`, the root `TOP` left out.

    Subtrees are known by numbers: equal ones, of any tree counted with the same `numbers`,
    have the same number. Without recursion, since trees of bad output may be deep.
    """
    found: list[list[int]] = [[] for _ in range(depth)]
    # Each node's own subtrees, by depth, up to its height; children come before parents.
    ready: list[list[int]] = []
    nodes = tree.bottom_up()
    if tree.label == _ROOT and tree.children:
        nodes.pop()
    for node in nodes:
        label = node.label
        own = [numbers.setdefault((label, ()), len(numbers))]
        count = len(node.children)
        if count:
            below = ready[-count:]
            del ready[-count:]
            height = min(depth, max(map(len, below)) + 1)
            for level in range(height - 1):
                # A child that ends higher up is there as a whole.
                cut = tuple([child[level] if level < len(child) else child[-1] for child in below])
                own.append(numbers.setdefault((label, cut), len(numbers)))
        for level, number in enumerate(own):
            found[level].append(number)
        ready.append(own)
    return [Counter(some) for some in found]
