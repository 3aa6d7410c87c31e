"""Warnings that matter: what makes a comparison say something else than it seems to.

Each rule is simple enough to check by eye, and its warning names the segments. Short segments
(under `WORDS` words) may well be copied, repeated or equal to the reference, and do not count.

    empty        nothing but white space where the reference has text
    source       the source repeated word for word
    language     another script than the reference, or none of the references' most common words
    repeated     one output for several segments whose references differ
    loop         words said over and over within one output
    reference    outputs equal to the reference in a large share of segments
    length       a system much shorter or longer than the references
    ranking      systems ordered as their lengths are
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import numpy

from meantime.report.buckets import words
from meantime.report.comparison import Comparison
from meantime.types import Corpus, Segment, Sentence

WORDS = 5
"""Fewer words than this may be equal by chance."""
COPIED_SHARE = 0.1
"""From this share of outputs equal to the reference on there is a warning."""
LENGTH_RATIOS = (0.85, 1.15)
"""Outside these a system's length is a warning."""
RANK_SYSTEMS = 5
"""Fewer systems than this are in order of their lengths too easily."""
RANK_CORRELATION = 0.9
SPREAD = 0.03
"""Lengths that differ by less than this share explain nothing."""
LOOPS = 4
"""So many times in a row, and more often than in the reference, is a loop."""
FEW = 3
"""Fewer segments without a common word may be lists of names."""
COMMON = 100
ENOUGH = 2000
"""Words of references it takes to know the common ones."""


class Kind(StrEnum):
    """What is wrong."""

    EMPTY = "empty"
    SOURCE = "source"
    LANGUAGE = "language"
    REPEATED = "repeated"
    LOOP = "loop"
    REFERENCE = "reference"
    LENGTH = "length"
    RANKING = "ranking"


@dataclass(frozen=True, slots=True)
class Caution:
    """One warning."""

    kind: Kind
    text: str
    system: str | None = None
    metric: str | None = None
    segments: tuple[int, ...] = ()
    """Their places in the corpus."""


def find_cautions(comparison: Comparison) -> tuple[Caution, ...]:
    """Everything to warn of, by system, then by metric."""
    corpus = comparison.corpus
    common = _common_words(corpus)
    found: list[Caution] = []
    for system, output in corpus.outputs.items():
        found += _system(corpus, system, output, common)
    found += _rankings(comparison)
    return tuple(found)


def _system(
    corpus: Corpus, system: str, output: Sequence[Sentence], common: frozenset[str]
) -> Iterator[Caution]:
    pairs = list(zip(output, corpus.segments, strict=True))
    rules = (
        (Kind.EMPTY, _is_empty, "is empty where the reference has text"),
        (Kind.SOURCE, _is_source, "repeats the source"),
        (Kind.LOOP, _is_loop, "says the same words over and over"),
    )
    for kind, rule, what in rules:
        places = tuple(n for n, (one, segment) in enumerate(pairs) if rule(one, segment))
        if places:
            yield Caution(
                kind, f"{system} {what} in {_where(places, corpus)}", system, None, places
            )
    found = {n for n, (one, segment) in enumerate(pairs) if _is_foreign(one, segment)}
    unlike = {n for n, (one, segment) in enumerate(pairs) if _is_unlike(one, segment, common)}
    if len(unlike) >= FEW:
        found |= unlike
    if found:
        places = tuple(sorted(found))
        text = f"{system} seems to be in another language in {_where(places, corpus)}"
        yield Caution(Kind.LANGUAGE, text, system, None, places)
    yield from _repeated(corpus, system, output)
    yield from _copied(corpus, system, output)
    yield from _length(corpus, system, output)


def _where(places: Sequence[int], corpus: Corpus) -> str:
    """`3 of 20 segments (4, 7, 12)`."""
    named = ", ".join(corpus.segments[place].id for place in places[:5])
    more = ", …" if len(places) > 5 else ""
    return f"{len(places)} of {len(corpus.segments)} segments ({named}{more})"


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _long(text: str) -> bool:
    """Whether a text is too long to be equal to another by chance."""
    return len(text.split()) >= WORDS or sum(map(_wide, text)) >= 2 * WORDS


def _wide(mark: str) -> bool:
    return unicodedata.east_asian_width(mark) in "WF"


def _is_empty(one: Sentence, segment: Segment) -> bool:
    return not one.text.strip() and any(other.text.strip() for other in segment.references)


def _is_source(one: Sentence, segment: Segment) -> bool:
    if segment.source is None or not _long(one.text):
        return False
    plain = _plain(one.text)
    copied = plain == _plain(segment.source.text)
    # Where the reference keeps the source too, keeping it is right.
    return copied and all(_plain(other.text) != plain for other in segment.references)


def _is_loop(one: Sentence, segment: Segment) -> bool:
    runs = _longest_run(words(one.text))
    return runs >= LOOPS and all(
        runs > _longest_run(words(other.text)) for other in segment.references
    )


def _longest_run(tokens: Sequence[str], longest: int = 6) -> int:
    """How often the same one to six words stand in a row at most."""
    best = 1 if tokens else 0
    for size in range(1, longest + 1):
        same = 0
        for place in range(len(tokens) - size):
            same = same + 1 if tokens[place] == tokens[place + size] else 0
            if same % size == 0:
                best = max(best, 1 + same // size)
    return best


def _common_words(corpus: Corpus) -> frozenset[str]:
    """The references' most common words; none where there are too few to tell."""
    counts = Counter(
        word
        for segment in corpus.segments
        for reference in segment.references
        for word in words(reference.text)
        if not any(mark.isdigit() for mark in word)
    )
    if counts.total() < ENOUGH:
        return frozenset()
    return frozenset(word for word, _ in counts.most_common(COMMON))


def _is_foreign(one: Sentence, segment: Segment) -> bool:
    if not _long(one.text) or not segment.references:
        return False
    scripts = {_script(other.text) for other in segment.references}
    script = _script(one.text)
    return bool(script and scripts - {""} and script not in scripts)


def _is_unlike(one: Sentence, segment: Segment, common: frozenset[str]) -> bool:
    """Whether a long output has none of the common words, as the references do."""
    found = words(one.text)
    if not common or len(found) < 2 * WORDS:
        return False
    references = [words(other.text) for other in segment.references]
    unlike = not any(word in common for word in found)
    # A list of names has no common word in the reference either.
    return unlike and all(any(word in common for word in other) for other in references)


def _script(text: str) -> str:
    """The script most letters are of, as Unicode names it: LATIN, CYRILLIC, CJK."""
    counts: Counter[str] = Counter()
    for mark, count in Counter(text).items():
        if mark.isalpha():
            counts[_script_of(mark)] += count
    # Japanese is written in three.
    japanese = counts.get("HIRAGANA", 0) + counts.get("KATAKANA", 0)
    if japanese:
        counts["JAPANESE"] = japanese + counts.get("CJK", 0)
    return max(counts, key=lambda name: (counts[name], name)) if counts else ""


@lru_cache(maxsize=1 << 14)
def _script_of(mark: str) -> str:
    return unicodedata.name(mark, "").partition(" ")[0]


def _repeated(corpus: Corpus, system: str, output: Sequence[Sentence]) -> Iterator[Caution]:
    groups = defaultdict(list)
    for place, one in enumerate(output):
        if _long(one.text):
            groups[_plain(one.text)].append(place)
    places: list[int] = []
    for members in groups.values():
        references = {
            tuple(_plain(other.text) for other in corpus.segments[place].references)
            for place in members
        }
        if len(members) > 1 and len(references) > 1:
            places += members
    # Twice may be chance, as with greetings and captions.
    if len(places) > 2:
        places.sort()
        text = (
            f"{system} gives the same output for segments with different references, in "
            f"{_where(places, corpus)}"
        )
        yield Caution(Kind.REPEATED, text, system, None, tuple(places))


def _copied(corpus: Corpus, system: str, output: Sequence[Sentence]) -> Iterator[Caution]:
    counted = [n for n, one in enumerate(output) if _long(one.text)]
    same = tuple(
        n
        for n in counted
        if any(other.text == output[n].text for other in corpus.segments[n].references)
    )
    if len(same) > 2 and len(same) >= COPIED_SHARE * len(counted):
        text = (
            f"{system} is equal to a reference in {_where(same, corpus)}; was the reference made "
            "from it, or it from the reference?"
        )
        yield Caution(Kind.REFERENCE, text, system, None, same)


def _length(corpus: Corpus, system: str, output: Sequence[Sentence]) -> Iterator[Caution]:
    ours = _size(one.text for one in output)
    theirs = sum(
        _size(other.text for other in segment.references) / len(segment.references)
        for segment in corpus.segments
        if segment.references
    )
    if not theirs:
        return
    ratio = ours / theirs
    if not LENGTH_RATIOS[0] <= ratio <= LENGTH_RATIOS[1]:
        change = f"{abs(ratio - 1):.0%} {'shorter' if ratio < 1 else 'longer'}"
        text = f"{system} is {change} than the references; metrics may punish or reward just that"
        yield Caution(Kind.LENGTH, text, system)


def _size(texts: Iterable[str]) -> int:
    """Characters but white space."""
    return sum(len("".join(text.split())) for text in texts)


def _rankings(comparison: Comparison) -> Iterator[Caution]:
    corpus = comparison.corpus
    sizes = numpy.array([_size(one.text for one in output) for output in corpus.outputs.values()])
    if len(sizes) < RANK_SYSTEMS or sizes.max() - sizes.min() < SPREAD * sizes.mean():
        return
    from scipy.stats import spearmanr

    for metric in comparison.metrics:
        scores = {one.system: one.score for one in metric.standings}
        values = [scores[system] for system in comparison.systems]
        if len(set(values)) < 2 or len(set(sizes.tolist())) < 2:
            continue
        found = float(spearmanr(values, sizes).statistic)
        if not metric.higher_is_better:
            found = -found
        if abs(found) >= RANK_CORRELATION:
            which = "longer" if found > 0 else "shorter"
            text = (
                f"{metric.specification} ranks systems as their lengths do: {which} ones higher "
                f"(Spearman {found:.2f}); look at another metric, or at segments of equal length"
            )
            yield Caution(Kind.RANKING, text, None, metric.specification)
