"""An explanation as small plain data: what a drawing of it needs, and no more.

One shape serves everything that draws: `svg` draws it in Python, `static/drawing.js` in a page. It
is made for any `Explanation`; frames, components, words and facts are drawn where it has such.
All numbers are whole, so that both draw the same to the last character, and all text is clean:
what would act on a reader is replaced by `�`.

    m  name of the metric          s  score, as printed           u  1 where higher is better
    h  tokens of the hypothesis    a  a mark for each of them
    r  tokens of the reference     b  likewise
    c  components   [name, value, weight, share]                  in thousandths
    f  frames       [sides, share, loss, phrases]                 sides: 0 both, 1 hyp., 2 ref.
         phrases    [role, spans, spans, similarity, share, loss] hypothesis first; 0: not there
    p  other parts  [label, start, end, start, end, value]        hypothesis first; -1: not there
    o  parts that stand nowhere    [label, value]
    l  losses       [points, what]

Marks: `.` nothing to say, `w` unlike anything on the other side, `m` missing, `x` too much, `f` a
number, name, negation or modal word that only this side has, or one of two actors that have changed
places.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from meantime.report.losses import losses
from meantime.types import Explanation, Part, Span

Figure = dict[str, Any]

LOSSES = 5
"""So many losses are named."""
UNLIKE = 0.35
"""Words less similar than this to any on the other side are marked: a cosine of 0.7, cubed."""
SAME = frozenset({"match", "exact"})
"""Labels of parts that agree; neighbours are drawn together."""
TOGETHER = 3
"""So many of them at most."""
_JOINERS = "\u200c\u200d"


def clean(text: str) -> str:
    """A text without marks that act: they are replaced, white space becomes a space."""
    if text.isascii() and text.isprintable():
        return text
    kept = (
        mark if mark.isprintable() or mark in _JOINERS else " " if mark.isspace() else "�"
        for mark in text
    )
    return "".join(kept)


def as_figure(explanation: Explanation, *, decimals: int, higher_is_better: bool) -> Figure:
    """What a drawing of an explanation needs."""
    frames = getattr(explanation, "frames", ())
    components = getattr(explanation, "components", ())
    marks = _marks(explanation)
    figure: Figure = {
        "m": clean(explanation.metric),
        "s": f"{explanation.score.value:.{decimals}f}",
        "u": int(higher_is_better),
        "h": [clean(token) for token in explanation.hypothesis_tokens],
        "r": [clean(token) for token in explanation.reference_tokens],
        "a": marks[0],
        "b": marks[1],
    }
    if components:
        figure["c"] = [
            [clean(one.name), *map(_thousandths, (one.value, one.weight, one.share))]
            for one in components
        ]
    if frames:
        figure["f"] = [_frame(one) for one in frames]
    if not frames and not components:
        placed = [one for one in explanation.parts if one.hypothesis or one.reference]
        figure["p"] = _together(placed)
        nowhere = [one for one in explanation.parts if not (one.hypothesis or one.reference)]
        figure["o"] = [[clean(one.label), _thousandths(one.value)] for one in nowhere]
    found = [loss for loss in losses(explanation) if loss.points >= 0.0005][:LOSSES]
    if found:
        figure["l"] = [[_thousandths(one.points), clean(one.what)] for one in found]
    return {key: value for key, value in figure.items() if value or key in ("h", "r", "u")}


def _thousandths(value: float) -> int:
    return round(1000 * value) if math.isfinite(value) else 0


def _frame(frame: Any) -> list[Any]:
    head = frame.phrases[0]
    sides = 2 if head.hypothesis is None else 1 if head.reference is None else 0
    phrases = [
        [
            clean(one.role),
            _flat(one.hypothesis),
            _flat(one.reference),
            *map(_thousandths, (one.similarity, one.share, one.loss)),
        ]
        for one in frame.phrases
    ]
    return [sides, _thousandths(frame.share), _thousandths(frame.loss), phrases]


def _flat(spans: Sequence[Span] | None) -> list[int] | int:
    return 0 if spans is None else [place for span in spans for place in (span.start, span.end)]


def _together(parts: Sequence[Part]) -> list[list[Any]]:
    """Parts with their places; agreeing ones that follow each other on both sides as one."""
    made: list[list[Any]] = []
    for one in parts:
        left = (one.hypothesis.start, one.hypothesis.end) if one.hypothesis else (-1, -1)
        right = (one.reference.start, one.reference.end) if one.reference else (-1, -1)
        last = made[-1] if made else None
        if (
            last is not None
            and one.label in SAME
            and last[0] == one.label
            and (last[2], last[4]) == (left[0], right[0])
            and left[1] - last[1] <= TOGETHER
        ):
            last[2], last[4] = left[1], right[1]
            last[5] += _thousandths(one.value)
        else:
            made.append([clean(one.label), *left, *right, _thousandths(one.value)])
    return made


def _marks(explanation: Explanation) -> tuple[str, str]:
    """A mark for each token of either side, the stronger ones written over the weaker."""
    left = ["."] * len(explanation.hypothesis_tokens)
    right = ["."] * len(explanation.reference_tokens)
    words = getattr(explanation, "words", ())
    frames = getattr(explanation, "frames", ())
    if len(words) == len(left) + len(right):
        for marks, values in zip(
            (left, right), _similarities(explanation, words, len(left)), strict=True
        ):
            for place, value in enumerate(values):
                if value < UNLIKE:
                    marks[place] = "w"
    elif not frames:
        _mark_parts(explanation, left, right)
    for frame in frames:
        for phrase in frame.phrases:
            if phrase.hypothesis is None:
                _put(right, phrase.reference or (), "m")
            elif phrase.reference is None:
                _put(left, phrase.hypothesis, "x")
    if frames:
        _spare_shared(explanation, frames, left, right)
    for fact in getattr(explanation, "facts", ()):
        # Neighbours torn apart are everywhere once something has moved: they would hide the rest.
        if fact.kind != "order":
            spans = (fact.span,) if fact.other is None else (fact.span, fact.other)
            _put(left if fact.side == "hypothesis" else right, spans, "f")
    return "".join(left), "".join(right)


def _mark_parts(explanation: Explanation, left: list[str], right: list[str]) -> None:
    """By parts that name words: what stands on one side only, and what was replaced."""
    for part in explanation.parts:
        if part.label == "shift":
            continue
        if part.hypothesis is None and part.reference is not None:
            _put(right, (part.reference,), "m")
        elif part.reference is None and part.hypothesis is not None:
            _put(left, (part.hypothesis,), "x")
        elif part.label == "substitution" and part.hypothesis and part.reference:
            _put(left, (part.hypothesis,), "w")
            _put(right, (part.reference,), "w")


def _spare_shared(
    explanation: Explanation, frames: Sequence[Any], left: list[str], right: list[str]
) -> None:
    """What stands in an aligned phrase too is neither missing nor too much."""
    for frame in frames:
        for phrase in frame.phrases:
            if phrase.hypothesis is None or phrase.reference is None:
                continue
            for marks, spans in ((left, phrase.hypothesis), (right, phrase.reference)):
                for span in spans:
                    for place in range(span.start, span.end):
                        if marks[place] in "mx":
                            marks[place] = "."


def _put(marks: list[str], spans: Sequence[Span], mark: str) -> None:
    for span in spans:
        for place in range(span.start, min(span.end, len(marks))):
            marks[place] = mark


def _similarities(
    explanation: Explanation, words: Sequence[Part], count: int
) -> tuple[list[float], list[float]]:
    """How similar each word's best match is.

    The parts hold shares of the score, which are in proportion to similarities; the mean of these
    is the component's precision on one side, its recall on the other.
    """
    means = next(
        (
            (one.precision, one.recall)
            for one in getattr(explanation, "components", ())
            if one.name == "words"
        ),
        (1.0, 1.0),
    )
    found = []
    for side, mean in zip((words[:count], words[count:]), means, strict=True):
        values = [part.value for part in side]
        total = sum(values)
        scale = mean * len(values) / total if total > 0 else 0.0
        found.append([scale * value for value in values])
    return found[0], found[1]
