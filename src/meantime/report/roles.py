"""Which roles each system loses: who did what to whom, when and where, class by class.

Every word of a reference's filler is found again in the hypothesis in a filler of the same role
class (kept), elsewhere in it (moved), or not at all (lost); a word counts as often as it stands
there, and what is kept cannot be moved too. Words that frames share are counted in each role.
Lower-cased words are compared as they are: a synonym is lost, whatever it means. The shares of
kept words are the lexical overlap of fillers by role of Lo and Wu 2010, section 2.3, on the side of
the reference. Of several references the one of which most is kept counts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from meantime.alignment.roles import CLASSES, PREDICATE, role_class
from meantime.errors import UsageError
from meantime.types import Corpus, Segment, Sentence


@dataclass(frozen=True, slots=True)
class RoleCounts:
    """Words of reference fillers of one role class, and what became of them."""

    words: int
    kept: int
    moved: int

    @property
    def lost(self) -> int:
        """Words that are nowhere in the hypothesis."""
        return self.words - self.kept - self.moved


@dataclass(frozen=True, slots=True)
class RoleLosses:
    """What each system did with each role class."""

    systems: tuple[str, ...]
    classes: tuple[str, ...]
    """Those that occur, in the order of the MEANT papers."""
    counts: dict[str, dict[str, RoleCounts]]
    """By system, then class."""


def find_role_losses(corpus: Corpus) -> RoleLosses:
    """Count kept, moved and lost words by system and role class.

    Raises:
        UsageError: Sentences have no frames yet.
    """
    counts = {}
    for system, output in corpus.outputs.items():
        totals: Counter[tuple[str, str]] = Counter()
        for hypothesis, segment in zip(output, corpus.segments, strict=True):
            totals.update(_segment(hypothesis, segment, system))
        counts[system] = {
            name: RoleCounts(totals[name, "words"], totals[name, "kept"], totals[name, "moved"])
            for name in CLASSES
        }
    classes = tuple(name for name in CLASSES if any(one[name].words for one in counts.values()))
    return RoleLosses(
        tuple(counts),
        classes,
        {system: {name: one[name] for name in classes} for system, one in counts.items()},
    )


def _segment(hypothesis: Sentence, segment: Segment, system: str) -> Counter[tuple[str, str]]:
    theirs = _fillers(hypothesis, f"segment {segment.id} of {system}")
    everything = Counter(word.lower() for word in hypothesis.tokens or ())
    best: Counter[tuple[str, str]] = Counter()
    best_share = -1.0
    for reference in segment.references:
        found: Counter[tuple[str, str]] = Counter()
        for name, ours in _fillers(reference, f"a reference of segment {segment.id}").items():
            kept = ours & theirs.get(name, Counter())
            # What stays of the hypothesis once the kept words are taken.
            moved = (ours - kept) & (everything - kept)
            found[name, "words"] = ours.total()
            found[name, "kept"] = kept.total()
            found[name, "moved"] = moved.total()
        words = sum(count for (_, what), count in found.items() if what == "words")
        kept_words = sum(count for (_, what), count in found.items() if what == "kept")
        share = kept_words / words if words else 0.0
        if share > best_share:
            best, best_share = found, share
    return best


def _fillers(sentence: Sentence, where: str) -> dict[str, Counter[str]]:
    """The words of a sentence's fillers, by role class."""
    if sentence.tokens == ():
        return {}
    if sentence.tokens is None or sentence.frames is None:
        raise UsageError(f"{where} has no frames, which roles are counted from; analyse it first")
    found: dict[str, Counter[str]] = {}
    for frame in sentence.frames:
        parts = [(PREDICATE, frame.predicate)]
        parts += [(role_class(role.label), span) for role in frame.roles for span in role.spans]
        for name, span in parts:
            counted = found.setdefault(name, Counter())
            counted.update(word.lower() for word in sentence.tokens[span.start : span.end])
    return found
