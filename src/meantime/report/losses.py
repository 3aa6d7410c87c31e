"""What cost most, in words: read off any explanation that has frames, facts or words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from meantime.types import Explanation, Span

SIDES = {"hypothesis": "too much", "reference": "missing"}
SMALLEST = 0.0005
"""What costs less is not named."""
UNLIKE = 0.5
"""Words less similar than this to any on the other side count as not there."""
TORN = 3
"""So many places where neighbours are torn apart are named."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that cost points, in words."""

    points: float
    what: str


def losses(explanation: Explanation) -> list[Loss]:
    """What cost most, the dearest first."""
    found = []
    for frame in getattr(explanation, "frames", ()):
        head = frame.phrases[0]
        alone = head.hypothesis is None or head.reference is None
        predicate = phrase_words(explanation, head) or "?"
        if alone:
            side = "reference" if head.hypothesis is None else "hypothesis"
            whole = _frame_words(explanation, frame, side)
            found.append(Loss(frame.loss, f"{SIDES[side]}: the event {whole!r}"))
            continue
        for phrase in frame.phrases:
            if phrase.loss <= 0:
                continue
            ours = span_words(explanation.hypothesis_tokens, phrase.hypothesis)
            theirs = span_words(explanation.reference_tokens, phrase.reference)
            if phrase.hypothesis is None:
                what = f"missing in {predicate!r}: {phrase.role} {theirs!r}"
            elif phrase.reference is None:
                what = f"too much in {predicate!r}: {phrase.role} {ours!r}"
            elif ours.lower() == theirs.lower():
                continue
            else:
                what = f"{phrase.role} of {predicate!r}: {ours!r} for {theirs!r}"
            found.append(Loss(phrase.loss, what))
    torn: list[Loss] = []
    for fact in getattr(explanation, "facts", ()):
        tokens = (
            explanation.hypothesis_tokens
            if fact.side == "hypothesis"
            else explanation.reference_tokens
        )
        word = span_words(tokens, (fact.span,))
        if fact.kind == "order":
            torn.append(Loss(fact.loss, word))
            continue
        if fact.kind == "actors":
            other = span_words(tokens, (fact.other,))
            found.append(Loss(fact.loss, f"changed places: {word!r} and {other!r}"))
            continue
        found.append(Loss(fact.loss, f"{SIDES[fact.side]}: {fact.kind} {word!r}"))
    if torn:
        found.append(_order_loss(torn))
    found += _word_losses(explanation)
    return sorted(found, key=lambda loss: -loss.points)


def _order_loss(torn: Sequence[Loss]) -> Loss:
    """What order costs as a whole: each place alone says little, and there are many."""
    ranked = sorted(torn, key=lambda loss: -loss.points)
    words = list(dict.fromkeys(repr(one.what) for one in ranked))
    more = ", …" if len(words) > TORN else ""
    where = ", ".join(words[:TORN]) + more
    return Loss(sum(one.points for one in torn), f"order: torn apart at {where}")


def _word_losses(explanation: Explanation) -> list[Loss]:
    """What words cost that no frame speaks of, for metrics that say what each word costs."""
    words = costed(explanation)
    told = {
        (side, place)
        for frame in getattr(explanation, "frames", ())
        for phrase in frame.phrases
        for side in SIDES
        for span in getattr(phrase, side) or ()
        for place in range(span.start, span.end)
    }
    spelt = {
        "hypothesis": {token.lower() for token in explanation.reference_tokens},
        "reference": {token.lower() for token in explanation.hypothesis_tokens},
    }

    def say(one: Any) -> str:
        if one.word.lower() in spelt[one.side]:
            return f"not the same there: {one.word!r} of the {one.side}"
        return f"{'' if one.found < UNLIKE else 'partly '}{SIDES[one.side]}: {one.word!r}"

    return [Loss(one.loss, say(one)) for one in words if (one.side, one.span.start) not in told]


def costed(explanation: Explanation) -> tuple[Any, ...]:
    """The words of both sides with what each is worth, of metrics that say so."""
    return tuple(one for one in getattr(explanation, "words", ()) if hasattr(one, "loss"))


def dearest(words: Sequence[Any]) -> list[Any]:
    """Words by what they cost, the dearest first."""
    return sorted(words, key=lambda one: -one.loss)


def phrase_words(explanation: Explanation, phrase: Any) -> str:
    """A predicate in the words of both sides, where they differ."""
    ours = span_words(explanation.hypothesis_tokens, phrase.hypothesis)
    theirs = span_words(explanation.reference_tokens, phrase.reference)
    if not ours or not theirs or ours.lower() == theirs.lower():
        return ours or theirs
    return f"{ours} / {theirs}"


def span_words(tokens: Sequence[str], spans: Sequence[Span] | None) -> str:
    """The words of a filler; an ellipsis where it is split."""
    parts = [" ".join(tokens[span.start : span.end]) for span in spans or ()]
    return " … ".join(parts)


def _frame_words(explanation: Explanation, frame: Any, side: str) -> str:
    """All the words of a frame on one side, in the order of the sentence."""
    tokens = getattr(explanation, f"{side}_tokens")
    spans = [span for phrase in frame.phrases for span in getattr(phrase, side) or ()]
    places = sorted({place for span in spans for place in range(span.start, span.end)})
    return " ".join(tokens[place] for place in places)
