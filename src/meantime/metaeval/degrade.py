"""Bad translations stay bad: what no metric may take for a translation, and how far below it is.

Six kinds, from what systems do when they fail (an empty line, the source left as it is, a loop, a
sentence of another segment) and from what deceives metrics of word overlap (the function words
alone, the right words in no order). Each is made from real pairs; chance comes in by argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy

from meantime.errors import InputError, UsageError
from meantime.metaeval.meaning import Share, tally, tied
from meantime.protocols import Analyser, Array, Metric
from meantime.scoring import Progress, measure
from meantime.types import Corpus, Level, Pair, Sentence, primary

Degradation: TypeAlias = Callable[[Sequence[Pair], numpy.random.Generator], "list[Sentence | None]"]
"""For each pair something bad in place of its hypothesis; None where that cannot be made."""

_FUNCTION_WORDS = frozenset(
    """
    a about above after against all also although am among an and any are as at be because been
    before behind being below beneath beside between both but by can could did do does doing
    down during each either else every few for from had has have having he her here hers him his
    how i if in into is it its may me might mine more most much must my near neither no nor not of
    off on once only onto or other our ours out over own same shall she should since so some such
    than that the their theirs them then there these they this those though through till to too
    toward towards under unless until up upon us very was we were what when where whether which
    while who whom whose why will with within without would yet you your yours
    """.split()
)
"""Words of the closed classes of English: articles, pronouns, prepositions, auxiliaries, …"""

_EDGES = ".,;:!?\"'()[]…“”‘’"
_TRIES = 20


def other_sentence(pairs: Sequence[Pair], rng: numpy.random.Generator) -> list[Sentence | None]:
    """The hypothesis of another segment, drawn at random; never the same text.

    None where all hypotheses are the same text.
    """
    count = len(pairs)
    drawn: list[Sentence | None] = []
    for place, pair in enumerate(pairs):
        unlike = {pair.hypothesis.text, *(one.text for one in pair.segment.references)}
        order = [int(number) for number in rng.integers(0, count, _TRIES)]
        # So many draws nearly always do; where texts repeat, look at all of them in turn.
        order += [(place + step) % count for step in range(1, count)]
        found = next((n for n in order if pairs[n].hypothesis.text not in unlike), None)
        drawn.append(None if found is None else _bare(pair, pairs[found].hypothesis.text))
    return drawn


def source_copied(pairs: Sequence[Pair], rng: numpy.random.Generator) -> list[Sentence | None]:
    """The source as it is, in its own language; None where it is not known or is the reference."""
    return [
        None
        if pair.segment.source is None
        or pair.segment.source.text in {one.text for one in pair.segment.references}
        else _bare(pair, pair.segment.source.text)
        for pair in pairs
    ]


def empty(pairs: Sequence[Pair], rng: numpy.random.Generator) -> list[Sentence | None]:
    """Nothing at all; None where the reference is nothing too."""
    return [_bare(pair, "") if _reference(pair, rng) else None for pair in pairs]


def repeated_words(pairs: Sequence[Pair], rng: numpy.random.Generator) -> list[Sentence | None]:
    """One to three words of the hypothesis, again and again up to its length.

    None where it has fewer than four words, which would say too much of it.
    """
    made: list[Sentence | None] = []
    for pair in pairs:
        words = pair.hypothesis.text.split()
        length = int(rng.integers(1, 4))
        if len(words) < 4:
            made.append(None)
            continue
        start = int(rng.integers(0, len(words) - length + 1))
        loop = words[start : start + length]
        made.append(_bare(pair, " ".join(loop[n % length] for n in range(len(words)))))
    return made


def function_words(pairs: Sequence[Pair], rng: numpy.random.Generator) -> list[Sentence | None]:
    """What is left of a reference without its content words, in order.

    None where nothing or everything is left.

    Raises:
        UsageError: The references are not English.
    """
    made: list[Sentence | None] = []
    for pair in pairs:
        for reference in pair.segment.references:
            if primary(reference.lang) != "en":
                raise UsageError(
                    f"function words are known of English alone, and segment {pair.segment.id} is "
                    f"in {reference.lang!r}; leave this kind out"
                )
        words = _reference(pair, rng)
        kept = [word for word in words if word.strip(_EDGES).lower() in _FUNCTION_WORDS]
        made.append(_bare(pair, " ".join(kept)) if 0 < len(kept) < len(words) else None)
    return made


def shuffled_reference(pairs: Sequence[Pair], rng: numpy.random.Generator) -> list[Sentence | None]:
    """The words of a reference in random order; None where there is only one order."""
    made: list[Sentence | None] = []
    for pair in pairs:
        words = _reference(pair, rng)
        if len(set(words)) < 2:
            made.append(None)
            continue
        shuffled = words
        while shuffled == words:
            shuffled = [words[n] for n in rng.permutation(len(words))]
        made.append(_bare(pair, " ".join(shuffled)))
    return made


DEGRADATIONS: Mapping[str, Degradation] = {
    "other": other_sentence,
    "source": source_copied,
    "empty": empty,
    "repeated": repeated_words,
    "function": function_words,
    "shuffled": shuffled_reference,
}
"""All kinds, by the names they have in results."""


def _bare(pair: Pair, text: str) -> Sentence:
    """A text in place of the hypothesis, said to be in its language and not analysed."""
    return Sentence(text, pair.hypothesis.lang)


def _reference(pair: Pair, rng: numpy.random.Generator) -> list[str]:
    """The words of a reference, drawn where there are several."""
    references = pair.segment.references
    if not references:
        raise InputError(
            f"segment {pair.segment.id} has no reference; give one, or leave the segment out"
        )
    return references[int(rng.integers(0, len(references)))].text.split()


@dataclass(frozen=True, slots=True)
class Gap:
    """How far one kind is below real translations, by one metric.

    Attributes:
        metric: The metric's specification.
        kind: The kind of bad translation.
        real: Mean score of the real translations of these segments.
        degraded: Mean score of the bad ones.
        difference: Mean of real minus bad, turned round where lower is better: positive is right.
        spread: `difference` in standard deviations of the real scores; infinite where they
            are all the same and differ from the bad ones.
        below: In how many segments the real one wins.
    """

    metric: str
    kind: str
    real: float
    degraded: float
    difference: float
    spread: float
    below: Share


def find_gaps(
    pairs: Sequence[Pair],
    metrics: Sequence[str | Metric],
    rng: numpy.random.Generator,
    *,
    kinds: Sequence[str] = tuple(DEGRADATIONS),
    jobs: int = 1,
    progress: Progress | None = None,
    analyser: Analyser | None = None,
) -> list[Gap]:
    """Score real translations, and bad ones in their place.

    A kind that cannot be made for a segment leaves it out; a kind that can be made for none is not
    in the result.

    Args:
        pairs: Real translations with their segments.
        metrics: Names with or without options, or metrics.
        rng: Where chance comes from.
        kinds: Names from `DEGRADATIONS`.
        jobs: Number of processes; 0 for one a core.
        progress: Told how far the work has come.
        analyser: For metrics that need analysis; by default the shipped one.

    Returns:
        For each metric, in order, each kind.

    Raises:
        InputError: There is no pair.
        UsageError: No kind has this name.
    """
    if not pairs:
        raise InputError("no real translation was given; there is nothing to be below of")
    unknown = [kind for kind in kinds if kind not in DEGRADATIONS]
    if unknown:
        raise UsageError(
            f"no kind of bad translation is called {unknown[0]!r}; there are "
            f"{', '.join(DEGRADATIONS)}"
        )
    made = {kind: DEGRADATIONS[kind](pairs, rng) for kind in kinds}
    real = tuple(pair.hypothesis for pair in pairs)
    outputs = {_REAL: real}
    for kind, sentences in made.items():
        # Where it cannot be made, the real one holds the place; its score is not looked at.
        outputs[kind] = tuple(
            good if bad is None else bad for good, bad in zip(real, sentences, strict=True)
        )
    corpus = Corpus(
        tuple(replace(pair.segment, id=str(n)) for n, pair in enumerate(pairs)), outputs
    )
    measured = measure(
        corpus,
        metrics,
        lang=real[0].lang,
        jobs=jobs,
        progress=progress,
        analyser=analyser,
    )
    gaps = []
    for index, metric in enumerate(measured.metrics):
        scores = {
            system: numpy.array(
                [metric.score(row, Level.SEGMENT).value for row in measured.rows[system, index]]
            )
            for system in measured.systems
        }
        for kind, sentences in made.items():
            there = numpy.array([sentence is not None for sentence in sentences])
            if there.any():
                gaps.append(
                    _gap(
                        measured.specifications[index],
                        kind,
                        scores[_REAL][there],
                        scores[kind][there],
                        1 if metric.higher_is_better else -1,
                    )
                )
    return gaps


_REAL = "real"


def _gap(metric: str, kind: str, real: Array, degraded: Array, sign: int) -> Gap:
    differences = sign * (real - degraded)
    difference = float(differences.mean())
    deviation = float(real.std())
    if deviation == 0:
        spread = 0.0 if difference == 0 else float(numpy.copysign(numpy.inf, difference))
    else:
        spread = difference / deviation
    won = [
        0.5 if tied(good, bad) else float(apart > 0)
        for good, bad, apart in zip(real, degraded, differences, strict=True)
    ]
    return Gap(
        metric, kind, float(real.mean()), float(degraded.mean()), difference, spread, tally(won)
    )
