"""Where systems differ: scores by kinds of segments.

A feature sorts segments, by what their references are like, into buckets; each bucket is a small
test set of its own, scored as a corpus from the rows that are there. Systems share the buckets,
for what sorts a segment never depends on an output.

    length     words of the reference (characters where the language has no spaces)
    numbers    whether it has a digit
    negation   whether it has a word of negation (English)
    frames     how many events it has
    role       which role classes it has; a segment is in several buckets
    unseen     how many of its words do not occur in a text that was given
    domain     as given for each segment
    document   as the corpus says

Where there are several references the first one counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy

from meantime.alignment.roles import CLASSES, role_class
from meantime.errors import LengthMismatch, UsageError
from meantime.metaeval import paired
from meantime.report.comparison import NO_DOCUMENT
from meantime.scoring import Interval, Measured, percentiles
from meantime.types import Corpus, Layer, Segment, primary


class Feature(StrEnum):
    """What segments are sorted by."""

    LENGTH = "length"
    NUMBERS = "numbers"
    NEGATION = "negation"
    FRAMES = "frames"
    ROLE = "role"
    UNSEEN = "unseen"
    DOMAIN = "domain"
    DOCUMENT = "document"


NEEDS: dict[Feature, Layer] = {Feature.FRAMES: Layer.FRAMES, Feature.ROLE: Layer.FRAMES}
"""What must be known of references beyond their text."""

LENGTHS = (10, 20, 30, 40)
"""Upper ends of the buckets by length."""

NEGATIONS = frozenset(
    "no not never none nothing nobody nowhere neither nor cannot without hardly barely".split()
)
_UNSPACED = ("zh", "ja", "th", "km", "lo", "my", "bo")
_EDGES = "\"'“”‘’„«»()[]{}<>.,;:!?…–—-"


@dataclass(frozen=True, slots=True)
class BucketScores:
    """One bucket: its segments, and what one metric says of each system there."""

    name: str
    segments: tuple[int, ...]
    """Their places in the corpus."""
    scores: tuple[float, ...]
    """In the order of the systems."""
    intervals: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class Buckets:
    """All buckets of one feature under one metric."""

    feature: Feature
    specification: str
    higher_is_better: bool
    decimals: int
    systems: tuple[str, ...]
    buckets: tuple[BucketScores, ...]
    overlapping: bool
    """Whether a segment may be in several."""


def sort_segments(
    corpus: Corpus,
    feature: Feature | str,
    *,
    seen: Collection[str] | None = None,
    domains: Sequence[str] | None = None,
) -> dict[str, tuple[int, ...]]:
    """The places of the segments of each bucket, in an order that makes sense.

    Args:
        corpus: Its references must have frames where the feature needs them.
        feature: What to sort by.
        seen: Words, lower-cased, that count as seen; for `unseen`.
        domains: One a segment; for `domain`.

    Raises:
        UsageError: The corpus lacks what the feature needs.
        LengthMismatch: There are more or fewer domains than segments.
    """
    try:
        which = Feature(feature)
    except ValueError:
        raise UsageError(f"no feature is called {feature!r}; use {', '.join(Feature)}") from None
    _check(corpus, which, seen, domains)
    named: list[tuple[str, ...]]
    if which is Feature.DOMAIN:
        named = [(name,) for name in domains or ()]
    elif which is Feature.DOCUMENT:
        named = [(segment.document or NO_DOCUMENT,) for segment in corpus.segments]
    else:
        sort = _SORTERS[which]
        named = [sort(segment, seen or ()) for segment in corpus.segments]
    members: dict[str, list[int]] = {}
    for place, names in enumerate(named):
        for name in names:
            members.setdefault(name, []).append(place)
    order = [name for name in _ORDER.get(which, ()) if name in members] or list(members)
    return {name: tuple(members[name]) for name in order}


def score_buckets(
    measured: Measured,
    feature: Feature | str,
    *,
    seen: Collection[str] | None = None,
    domains: Sequence[str] | None = None,
    resamples: int = 200,
    confidence: float = 0.95,
    seed: int = 12345,
) -> tuple[Buckets, ...]:
    """The scores of every system in every bucket, for each metric."""
    sorted_segments = sort_segments(measured.corpus, feature, seen=seen, domains=domains)
    found = []
    for number, metric in enumerate(measured.metrics):
        made = []
        for name, places in sorted_segments.items():
            rows = [measured.rows[system, number][list(places)] for system in measured.systems]
            drawn = paired.bootstrap_scores(
                metric, rows, rng=numpy.random.default_rng(seed), resamples=resamples
            )
            made.append(
                BucketScores(
                    name,
                    places,
                    tuple(paired.system_scores(metric, rows).tolist()),
                    tuple(percentiles(column, confidence) for column in drawn.T),
                )
            )
        found.append(
            Buckets(
                feature=Feature(feature),
                specification=measured.specifications[number],
                higher_is_better=metric.higher_is_better,
                decimals=getattr(metric, "decimals", 4),
                systems=measured.systems,
                buckets=tuple(made),
                overlapping=Feature(feature) is Feature.ROLE,
            )
        )
    return tuple(found)


def _check(
    corpus: Corpus,
    feature: Feature,
    seen: Collection[str] | None,
    domains: Sequence[str] | None,
) -> None:
    bare = next((segment for segment in corpus.segments if not segment.references), None)
    if bare is not None:
        raise UsageError(f"segment {bare.id} has no reference, which segments are sorted by")
    references = [segment.references[0] for segment in corpus.segments]
    if feature in NEEDS and any(one.frames is None and one.tokens != () for one in references):
        raise UsageError(
            f"sorting by {feature} needs the frames of the references; analyse the corpus first"
        )
    if feature is Feature.NEGATION:
        foreign = next((one.lang for one in references if primary(one.lang) != "en"), None)
        if foreign is not None:
            raise UsageError(
                f"words of negation are known for English, not for {foreign!r}; leave out "
                "the feature negation"
            )
    if feature is Feature.UNSEEN and seen is None:
        raise UsageError("sorting by unseen words needs a text that was seen; give one")
    if feature is Feature.DOMAIN:
        if domains is None:
            raise UsageError("sorting by domain needs the domain of each segment; give them")
        if len(domains) != len(corpus.segments):
            raise LengthMismatch(
                f"{len(domains)} domains for {len(corpus.segments)} segments; give one for each"
            )
    if feature is Feature.DOCUMENT and not any(one.document for one in corpus.segments):
        raise UsageError("no segment names its document; there is nothing to sort by")


def words(text: str) -> list[str]:
    """Words without marks at their edges, lower-cased."""
    found = (word.strip(_EDGES).lower() for word in text.split())
    return [word for word in found if word]


def _length(segment: Segment, _seen: Collection[str]) -> tuple[str, ...]:
    reference = segment.references[0]
    unspaced = primary(reference.lang) in _UNSPACED
    count = len("".join(reference.text.split())) if unspaced else len(reference.text.split())
    start = 0
    for end in LENGTHS:
        if count <= end:
            return (f"{start}-{end}",)
        start = end + 1
    return (f"{start} and more",)


def _numbers(segment: Segment, _seen: Collection[str]) -> tuple[str, ...]:
    has = any(mark.isdigit() for mark in segment.references[0].text)
    return ("number" if has else "no number",)


def _negation(segment: Segment, _seen: Collection[str]) -> tuple[str, ...]:
    found = words(segment.references[0].text.replace("’", "'"))
    has = any(word in NEGATIONS or word.endswith("n't") for word in found)
    return ("negation" if has else "no negation",)


def _frames(segment: Segment, _seen: Collection[str]) -> tuple[str, ...]:
    count = len(segment.references[0].frames or ())
    return (str(count) if count < 5 else "5 and more",)


def _role(segment: Segment, _seen: Collection[str]) -> tuple[str, ...]:
    frames = segment.references[0].frames or ()
    found = {role_class(role.label) for frame in frames for role in frame.roles}
    return tuple(name for name in CLASSES if name in found) or ("no role",)


def _unseen(segment: Segment, seen: Collection[str]) -> tuple[str, ...]:
    count = sum(word not in seen for word in words(segment.references[0].text))
    return (str(count) if count < 3 else "3 and more",)


_SORTERS: dict[Feature, Callable[[Segment, Collection[str]], tuple[str, ...]]] = {
    Feature.LENGTH: _length,
    Feature.NUMBERS: _numbers,
    Feature.NEGATION: _negation,
    Feature.FRAMES: _frames,
    Feature.ROLE: _role,
    Feature.UNSEEN: _unseen,
}

_ORDER: dict[Feature, tuple[str, ...]] = {
    Feature.LENGTH: (
        *(
            f"{low}-{high}"
            for low, high in zip((0, *(n + 1 for n in LENGTHS)), LENGTHS, strict=False)
        ),
        f"{LENGTHS[-1] + 1} and more",
    ),
    Feature.NUMBERS: ("number", "no number"),
    Feature.NEGATION: ("negation", "no negation"),
    Feature.FRAMES: ("0", "1", "2", "3", "4", "5 and more"),
    Feature.ROLE: (*CLASSES, "no role"),
    Feature.UNSEEN: ("0", "1", "2", "3 and more"),
}
