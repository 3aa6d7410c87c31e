r"""Features of pairs, for classifiers and regressors.

Parts of speech (Finch, Hwang and Sumita 2005, section 2.5). For each tag t,

    pos+:t = words of s with tag t that r has too / |s|
    pos-:t = words of s with tag t that r has not / |s|

so that the first sum to the share of matched words, the second to the rest.

Parses (Kulesza 2004, section 3.2). The log-probability of the hypothesis' tree, its ratio
to that of the references' trees, and for each label in `LABELS` the ratio of how often
hypothesis and reference have it; of each ratio the least and the greatest over the
references.

`meantime.learned.overlaps` has features of words in common, `meantime.learned.meanings` those of
MEANT and of any metric, and `meantime.learned.groups` all of them by name.

Nothing here is ever infinite or not a number. A ratio x / 0 is 1 + |x|: so 0 / 0 is 1, "as
many as in the reference", and each one more than none adds 1. No ratio exceeds a million
(a reference of one word may have a log-probability next to 0).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy

from meantime.analysis.stems import stem
from meantime.errors import UsageError
from meantime.learned.choices import Stemming
from meantime.metrics.base import require_references
from meantime.protocols import Array
from meantime.types import Layer, Pair, Segment, Sentence, Tree

if TYPE_CHECKING:
    from meantime.learned.synonyms import Synonyms

VERSION = 1
"""Of all feature sets: raised when the same pair gets other numbers, so that a model trained on
the old ones is refused."""

STEMMING = tuple(map(str, Stemming))
"""Which words are compared by their stem."""

TAGS = (
    *"CC CD DT EX FW IN JJ JJR JJS LS MD NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP".split(),
    *"SYM TO UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB # $ . , : -LRB- -RRB- `` ''".split(),
    *"HYPH NFP ADD AFX GW XX".split(),
    "other",
)
"""Tags of the Penn Treebank, those OntoNotes and the Web Treebank add, and `other` for any
tag not listed."""

LABELS = ("ADJP", "FRAG", "NP", "NPB", "PP", "SBAR", "VP")
"""Constituents that are counted. `NPB` is derived: see `count_labels`."""

_LARGEST_RATIO = 1e6
_COLUMNS = {tag: column for column, tag in enumerate(TAGS)}


@dataclass(frozen=True, kw_only=True)
class FeatureSet(ABC):
    """Named numbers of a pair. Frozen: the same pair gets the same numbers, in any batch."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """What the columns of `values` are called, all different."""

    @property
    @abstractmethod
    def needs(self) -> frozenset[Layer]:
        """What must be known of each sentence beyond its text."""

    @abstractmethod
    def values(self, pairs: Sequence[Pair]) -> Array:
        """One row a pair, one column a name; every number finite."""

    def prepare(self, segments: Sequence[Segment]) -> Self:
        """Bind what depends on the whole reference set; returns a new feature set."""
        return self

    @property
    def recipe(self) -> str:
        """Everything its numbers depend on but the pairs, in words."""
        return repr(self)

    def describe(self, pair: Pair) -> dict[str, float]:
        """The features of one pair, by name."""
        return dict(zip(self.names, self.values([pair])[0].tolist(), strict=True))

    def __add__(self, other: FeatureSet) -> FeatureSet:
        """The features of both, side by side."""
        return JoinedFeatures(sets=(*_members(self), *_members(other)))


def _members(features: FeatureSet) -> tuple[FeatureSet, ...]:
    return features.sets if isinstance(features, JoinedFeatures) else (features,)


@dataclass(frozen=True, kw_only=True)
class JoinedFeatures(FeatureSet):
    """Several feature sets side by side."""

    sets: tuple[FeatureSet, ...]

    def __post_init__(self) -> None:
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        if twice:
            raise UsageError(
                f"two feature sets both have {', '.join(sorted(twice)[:3])}; join sets whose "
                "names differ"
            )

    def prepare(self, segments: Sequence[Segment]) -> Self:
        return replace(self, sets=tuple(one.prepare(segments) for one in self.sets))

    @property
    def recipe(self) -> str:
        return "\n".join(one.recipe for one in self.sets)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for features in self.sets for name in features.names)

    @property
    def needs(self) -> frozenset[Layer]:
        return frozenset[Layer]().union(*(features.needs for features in self.sets))

    def values(self, pairs: Sequence[Pair]) -> Array:
        columns = [features.values(pairs) for features in self.sets]
        return numpy.concatenate([numpy.zeros((len(pairs), 0)), *columns], axis=1)


@dataclass(frozen=True, kw_only=True)
class BothDirections(FeatureSet):
    """Features of hypothesis and reference, averaged with those of the sides exchanged.

    Of several references, the mean over them is taken where the sides are exchanged; the other
    direction is as the feature set has it.
    """

    features: FeatureSet

    def prepare(self, segments: Sequence[Segment]) -> Self:
        return replace(self, features=self.features.prepare(segments))

    @property
    def recipe(self) -> str:
        return f"both directions of {self.features.recipe}"

    @property
    def names(self) -> tuple[str, ...]:
        return self.features.names

    @property
    def needs(self) -> frozenset[Layer]:
        return self.features.needs

    def values(self, pairs: Sequence[Pair]) -> Array:
        require_references("a feature set", (pair.segment for pair in pairs))
        forward = self.features.values(pairs)
        if not pairs:
            return forward
        swapped = [
            Pair(reference, Segment(pair.segment.id, (pair.hypothesis,)))
            for pair in pairs
            for reference in pair.segment.references
        ]
        backward = self.features.values(swapped)
        counts = numpy.array([len(pair.segment.references) for pair in pairs])
        starts = numpy.cumsum([0, *counts[:-1]])
        mean = numpy.add.reduceat(backward, starts, axis=0) / counts[:, None]
        averaged: Array = (forward + mean) / 2
        return averaged


# Parts of speech


@dataclass(frozen=True, kw_only=True)
class PosFeatures(FeatureSet):
    """Shares of matched and unmatched words, by part of speech (POS+ and POS-).

    Of a segment with several references, the mean over them.

    Args:
        matches: Have the elements of matched words (POS+).
        non_matches: Have those of unmatched words (POS-).
        both_directions: Take each sentence as hypothesis and as reference in turn, and
            average; Finch and others do.
        lowercase: Compare words without regard to case.
        stem: Compare nouns and verbs by their English stem, other words as they are; or one of
            `STEMMING`.
        synonyms: Words that match besides equal ones; none unless given.
    """

    matches: bool = True
    non_matches: bool = True
    both_directions: bool = False
    lowercase: bool = False
    stem: bool | str = True
    synonyms: Synonyms | None = None

    def __post_init__(self) -> None:
        if not (self.matches or self.non_matches):
            raise UsageError("no features are left; set matches or non_matches")
        stemming(self.stem)

    @property
    def names(self) -> tuple[str, ...]:
        matched = [f"pos+:{tag}" for tag in TAGS] if self.matches else []
        unmatched = [f"pos-:{tag}" for tag in TAGS] if self.non_matches else []
        return (*matched, *unmatched)

    @property
    def needs(self) -> frozenset[Layer]:
        return frozenset({Layer.TOKENS, Layer.POS})

    def values(self, pairs: Sequence[Pair]) -> Array:
        require_references("a feature set", (pair.segment for pair in pairs))
        rows = numpy.zeros((len(pairs), 2, len(TAGS)))
        for row, pair in zip(rows, pairs, strict=True):
            hypothesis = self._words(pair.hypothesis)
            references = [self._words(reference) for reference in pair.segment.references]
            for reference in references:
                _share(hypothesis, reference, row, self.synonyms)
                if self.both_directions:
                    _share(reference, hypothesis, row, self.synonyms)
            numpy.divide(row, len(references) * (1 + self.both_directions), out=row)
        chosen = [self.matches, self.non_matches]
        return rows[:, chosen].reshape(len(pairs), len(self.names))

    def _words(self, sentence: Sentence) -> list[tuple[str, str]]:
        """Words as they are compared, with their tags."""
        return tagged_words(sentence, self.lowercase, stemming(self.stem))


def stemming(choice: bool | str) -> str:
    """One of `STEMMING`; yes and no stand for nouns and verbs, and for none."""
    name = (
        {True: "nouns-verbs", False: "none"}.get(choice, choice)
        if isinstance(choice, bool)
        else choice
    )
    if name not in STEMMING:
        raise UsageError(f"stem={choice!r}; give one of {', '.join(STEMMING)}")
    return str(name)


def tagged_words(sentence: Sentence, lowercase: bool, which: str) -> list[tuple[str, str]]:
    """The words of a sentence as they are compared, with their tags.

    Args:
        sentence: It must have tokens and parts of speech.
        lowercase: Whether case counts for nothing.
        which: One of `STEMMING`.
    """
    if sentence.tokens is None or (sentence.pos is None and sentence.tokens):
        raise UsageError(
            f"the features need words and their parts of speech, and {sentence.text[:60]!r} "
            "has none; analyse the sentences first, or give tags of your own"
        )
    words = []
    for token, tag in zip(sentence.tokens, sentence.pos or (), strict=True):
        word = token.lower() if lowercase else token
        if which == "all" or (which == "nouns-verbs" and tag.startswith(("NN", "VB"))):
            word = stem(word)
        words.append((word, tag))
    return words


def pos_features(
    hypothesis: Sentence,
    reference: Sentence,
    *,
    both_directions: bool = False,
    lowercase: bool = False,
    stem: bool = True,
) -> dict[str, float]:
    """The features of `PosFeatures` for two sentences, by name."""
    features = PosFeatures(both_directions=both_directions, lowercase=lowercase, stem=stem)
    return features.describe(Pair(hypothesis, Segment("", (reference,))))


def _share(
    words: list[tuple[str, str]],
    others: list[tuple[str, str]],
    row: Array,
    synonyms: Synonyms | None = None,
) -> None:
    """Add the shares of words that others have (row 0) and have not (row 1), by tag."""
    one = 1 / max(1, len(words))
    for (_, tag), matched in zip(words, match_words(words, others, synonyms), strict=True):
        row[0 if matched else 1, _column(tag)] += one


def match_words(
    words: list[tuple[str, str]],
    others: list[tuple[str, str]],
    synonyms: Synonyms | None = None,
) -> list[bool]:
    """Which words the others have, each word of theirs matched once.

    Where a word could match words of different tags, it goes to one with its own tag; then to the
    first in order. What is left then matches synonyms, as many as can be.
    """
    same = Counter(others)
    left = Counter(word for word, _ in others)
    found = [False] * len(words)
    for place, item in enumerate(words):
        if same[item]:
            same[item] -= 1
            left[item[0]] -= 1
            found[place] = True
    for place, (word, _) in enumerate(words):
        if not found[place] and left[word] > 0:
            left[word] -= 1
            found[place] = True
    if synonyms is None or all(found):
        return found
    rest = []
    for word, tag in reversed(others):
        # The last ones of a word are those left over, for the first in order are matched first.
        if left[word] > 0:
            left[word] -= 1
            rest.append((word, tag))
    places = [place for place, matched in enumerate(found) if not matched]
    if not rest:
        return found
    for place in synonyms.matched([words[place] for place in places], rest[::-1]):
        found[places[place]] = True
    return found


def _column(tag: str) -> int:
    return _COLUMNS.get(tag, len(TAGS) - 1)


# Parses


@dataclass(frozen=True, kw_only=True)
class ParseFeatures(FeatureSet):
    """Score of the parse and counts of its constituents, against the references'.

    A sentence whose parser found no tree has no constituents and the score 0, as has an
    empty one.

    Args:
        score: Have the three elements made of the trees' log-probabilities, which trees read
            from a file may lack.
    """

    score: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        ratios = [*(["score"] if self.score else []), *LABELS]
        pairs = [f"parse:{what}/{which}" for what in ratios for which in ("min", "max")]
        return (*(["parse:score"] if self.score else []), *pairs)

    @property
    def needs(self) -> frozenset[Layer]:
        return frozenset({Layer.TOKENS, Layer.TREE})

    def values(self, pairs: Sequence[Pair]) -> Array:
        require_references("a feature set", (pair.segment for pair in pairs))
        if not pairs:
            return numpy.zeros((0, len(self.names)))
        hypotheses = numpy.array([self._facts(pair.hypothesis) for pair in pairs])
        several = [pair.segment.references for pair in pairs]
        references = numpy.array([self._facts(one) for some in several for one in some])
        counts = [len(some) for some in several]
        starts = numpy.cumsum([0, *counts[:-1]])
        ratios = bounded_ratios(numpy.repeat(hypotheses, counts, axis=0), references)
        least = numpy.minimum.reduceat(ratios, starts)
        greatest = numpy.maximum.reduceat(ratios, starts)
        both = numpy.stack([least, greatest], axis=2).reshape(len(pairs), -1)
        return numpy.concatenate([hypotheses[:, :1], both], axis=1) if self.score else both

    def _facts(self, sentence: Sentence) -> list[float]:
        """The score, if it is asked for, and the counts."""
        if sentence.tokens is None and sentence.tree is None:
            raise UsageError(
                f"the features need a constituent tree, and {sentence.text[:60]!r} has none; "
                "analyse the sentences first, or give trees of your own"
            )
        counted = count_labels(sentence.tree)
        counts = [float(counted[label]) for label in LABELS]
        if not self.score:
            return counts
        if sentence.tree is None:
            return [0.0, *counts]
        if sentence.tree_score is None or not numpy.isfinite(sentence.tree_score):
            raise UsageError(
                f"the tree of {sentence.text[:60]!r} has the score {sentence.tree_score}; "
                "analyse the sentence, or leave the scores out with ParseFeatures(score=False)"
            )
        return [float(sentence.tree_score), *counts]


def parse_features(pair: Pair, *, score: bool = True) -> dict[str, float]:
    """The features of `ParseFeatures` for a pair, by name."""
    return ParseFeatures(score=score).describe(pair)


def count_labels(tree: Tree | None) -> Counter[str]:
    """How often each constituent occurs, parts of speech left out; none without a tree.

    `NPB`, the base noun phrase of Collins (1999), is an `NP` that contains no other `NP` but
    possessive ones (those that end in `POS`); it counts both as `NP` and as `NPB`.
    """
    counts: Counter[str] = Counter()
    if tree is None:
        return counts
    inside: list[bool] = []
    for node in tree.bottom_up():
        if not node.children:
            inside.append(False)
            continue
        counts[node.label] += 1
        below = inside[-len(node.children) :]
        del inside[-len(node.children) :]
        contains = any(below)
        if node.label == "NP":
            counts["NPB"] += not contains
            contains |= node.children[-1].label != "POS"
        inside.append(contains)
    return counts


def bounded_ratios(numerators: Array, denominators: Array) -> Array:
    """Quotients; x / 0 is 1 + |x|, so that nothing over nothing is 1; none beyond the limit."""
    found = 1 + numpy.abs(numerators)
    with numpy.errstate(over="ignore"):
        numpy.divide(numerators, denominators, out=found, where=denominators != 0)
    clipped: Array = numpy.clip(found, -_LARGEST_RATIO, _LARGEST_RATIO)
    return clipped
