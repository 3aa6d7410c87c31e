"""From a corpus to what a campaign is made of: words to select, frames suggested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from meantime.annotation import marks
from meantime.annotation.campaign import CONTROL, Settings
from meantime.annotation.store import NewSegment
from meantime.annotation.words import LONGEST, split_words
from meantime.errors import InputError, UnsupportedLanguage
from meantime.protocols import Analyser
from meantime.types import Corpus, Frame, Sentence, primary

Gold = Mapping[str, tuple[Sentence, tuple[Frame, ...]]]
"""Frames of references that somebody gives, by the segment's name, with the words they are of."""


def needs_analyser(settings: Settings) -> bool:
    """Whether frames are suggested, or the key made, by an analyser."""
    return settings.prefill > 0 or settings.key == "analyser"


def make_segments(
    corpus: Corpus,
    settings: Settings,
    analyser: Analyser | None = None,
    gold: Gold | None = None,
) -> tuple[NewSegment, ...]:
    """The segments of a campaign; of several references the first.

    Args:
        corpus: Sources if there are any, references, outputs of systems.
        settings: The campaign's.
        analyser: Needed where `needs_analyser` says so.
        gold: Frames of the references, where the settings say that they come from a file.

    Raises:
        InputError: A segment has no reference, or the frames given are of other words.
        UnsupportedLanguage: The analyser does not know the language of the texts.
    """
    for segment in corpus.segments:
        if not segment.references:
            raise InputError(f"Segment {segment.id} has no reference; judges need one.")
    _check_lengths(corpus)
    references = [split_words(s.references[0].text, s.references[0].lang) for s in corpus.segments]
    outputs = {
        system: [split_words(sentence.text, sentence.lang) for sentence in output]
        for system, output in corpus.outputs.items()
    }
    found: dict[str, list[tuple[Frame, ...]]] = {}
    if needs_analyser(settings) and analyser is not None:
        found[CONTROL] = _analyse(references, settings, analyser)
        for system, sentences in outputs.items():
            found[system] = _analyse(sentences, settings, analyser)
    keys: list[tuple[Frame, ...] | None] = [None] * len(references)
    if settings.key == "analyser" and found:
        keys = list(found[CONTROL])
    elif gold:
        keys = _given(corpus, references, gold)
    made = []
    for place, segment in enumerate(corpus.segments):
        made.append(
            NewSegment(
                name=segment.id,
                source=segment.source,
                reference=references[place],
                outputs={system: sentences[place] for system, sentences in outputs.items()},
                key=keys[place],
                suggested={system: frames[place] for system, frames in found.items()} or None,
            )
        )
    return tuple(made)


def _check_lengths(corpus: Corpus) -> None:
    """Refuse, before any work, what nobody could read in one piece."""
    for place, segment in enumerate(corpus.segments):
        texts = [("source", segment.source), ("reference", segment.references[0])]
        texts += [(f"output of {system}", one[place]) for system, one in corpus.outputs.items()]
        for what, sentence in texts:
            count = 0 if sentence is None else len(sentence.text)
            if count > LONGEST:
                raise InputError(
                    f"Segment {segment.id}: the {what} has {count:,} characters; people can mark "
                    f"up to {LONGEST:,}. Split it."
                )


def _given(
    corpus: Corpus, references: Sequence[Sentence], gold: Gold
) -> list[tuple[Frame, ...] | None]:
    unknown = sorted(set(gold) - {segment.id for segment in corpus.segments})
    if unknown:
        raise InputError(
            f"The file of frames speaks of segment {unknown[0]}, which is not among these; they "
            f"are called {corpus.segments[0].id}, …"
        )
    keys: list[tuple[Frame, ...] | None] = []
    for segment, reference in zip(corpus.segments, references, strict=True):
        sentence, frames = gold.get(segment.id, (None, None))
        if sentence is not None and sentence.tokens != reference.tokens:
            raise InputError(
                f"The file of frames has “{sentence.text[:60]}” for segment {segment.id}, whose "
                f"reference is “{reference.text[:60]}”; give frames of these references."
            )
        keys.append(frames)
    return keys


def _analyse(
    sentences: Sequence[Sentence], settings: Settings, analyser: Analyser
) -> list[tuple[Frame, ...]]:
    for lang in {sentence.lang for sentence in sentences}:
        if primary(lang) not in analyser.languages:
            raise UnsupportedLanguage(
                f"the analyser {analyser.name} does not know the language {lang!r}; let people "
                "mark the key and prefill nothing"
            )
    plain = [Sentence(sentence.text, sentence.lang) for sentence in sentences]
    frames = []
    for sentence, analysed in zip(sentences, analyser.analyse(plain), strict=True):
        # Its words are those that people select, or else its spans would be of other words.
        same = analysed.offsets == sentence.offsets
        frames.append(marks.translate(analysed.frames or (), settings) if same else ())
    return frames
