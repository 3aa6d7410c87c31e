"""Explanations drawn for a terminal, and as JSON: functions of an explanation, nothing prints."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from meantime.cli.drawing import show
from meantime.report.losses import SMALLEST, costed, dearest, losses, phrase_words, span_words
from meantime.types import Explanation, Span

NARROWEST = 60
LOSSES = 5
"""How many losses are named at the top."""
WORDS = 8
"""How many words are listed, of metrics that say what each costs."""


def as_data(explanation: Explanation, segment: str) -> dict[str, Any]:
    """An explanation as JSON's types; numbers that do not exist are null."""
    found = {"segment": segment, **_plain(explanation)}
    score = found.pop("score")
    found["score"] = score["value"]
    found["score_parts"] = score["parts"]
    return found


def as_json(explanations: Sequence[dict[str, Any]], signature: str) -> str:
    """Explanations as the JSON others may read."""
    from meantime import __version__

    made = {
        "meantime": __version__,
        "signature": signature,
        "explanations": list(explanations),
    }
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        made = {item.name: _plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
        if hasattr(type(value), "share") and "share" not in made:
            made["share"] = _plain(getattr(value, "share"))  # noqa: B009
        return made
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def draw(
    explanation: Explanation, *, segment: str, width: int, higher_is_better: bool, decimals: int
) -> Text:
    """An explanation: score, what cost most, both sentences, and the parts that made the score."""
    width = max(width, NARROWEST)
    drawing = Text()
    drawing.append(f"segment {show(segment)}", style="bold")
    better = "higher is better" if higher_is_better else "lower is better"
    drawing.append(f"  {explanation.metric} {explanation.score.value:.{decimals}f}", style="bold")
    drawing.append(f"  ({better})\n")
    for name, tokens in (
        ("hypothesis", explanation.hypothesis_tokens),
        ("reference", explanation.reference_tokens),
    ):
        drawing.append(f"  {name:<10}  ", style="dim")
        drawing.append(_wrapped(show(" ".join(tokens)) or "(empty)", width, 14) + "\n")
    found = [loss for loss in losses(explanation) if loss.points >= SMALLEST][:LOSSES]
    if found:
        drawing.append("\n  lost most by\n", style="bold")
        for loss in found:
            drawing.append(f"  {-loss.points:>7.3f}  ", style="red")
            drawing.append(_wrapped(show(loss.what), width, 11) + "\n")
    components = getattr(explanation, "components", ())
    if components:
        drawing.append_text(_draw_components(components))
    for number, frame in enumerate(getattr(explanation, "frames", ()), 1):
        drawing.append_text(_draw_frame(explanation, frame, number, width))
    words = costed(explanation)
    if words:
        drawing.append_text(_draw_words(words))
    elif not components:
        drawing.append_text(_draw_parts(explanation, width))
    return drawing


def _draw_words(words: Sequence[Any]) -> Text:
    """The words that cost most: where they stand, how well the other side has them."""
    drawing = Text()
    drawing.append("\n  words that cost most\n", style="bold")
    dear = [one for one in dearest(words) if one.loss >= SMALLEST][:WORDS]
    for one in dear:
        drawing.append(f"    {one.side:<10}  {_fit(show(one.word), 20)}  found ")
        drawing.append(f"{one.found:.2f}", style=_style(one.found))
        drawing.append(f"  share {one.share:.3f}  lost {one.loss:.3f}\n")
    named = {id(one) for one in dear}
    others = [one for one in words if id(one) not in named]
    if others:
        share, loss = (sum(getattr(one, name) for one in others) for name in ("share", "loss"))
        many = f"and {len(others)} other{'' if len(others) == 1 else 's'}"
        drawing.append(f"    {many:<44}  share {share:.3f}  lost {loss:.3f}\n")
    return drawing


def _draw_components(components: Sequence[Any]) -> Text:
    drawing = Text()
    drawing.append("\n  component    value × weight = share\n", style="bold")
    for one in components:
        drawing.append(f"  {one.name:<11}  {one.value:.3f}   {one.weight:.3f}    {one.share:.3f}\n")
    return drawing


def _draw_frame(explanation: Explanation, frame: Any, number: int, width: int) -> Text:
    drawing = Text()
    head = frame.phrases[0]
    alone = head.hypothesis is None or head.reference is None
    words = show(phrase_words(explanation, head) or "?")
    drawing.append(f"\n  frame {number}: {words}", style="bold")
    if alone:
        where = "reference" if head.hypothesis is None else "hypothesis"
        drawing.append(f"  only in the {where}", style="red")
    drawing.append(f"  share {frame.share:.3f}")
    drawing.append(f", lost {frame.loss:.3f}\n" if frame.loss >= 0.0005 else "\n")
    column = max(12, (width - 45) // 2)
    for phrase in frame.phrases:
        left = span_words(explanation.hypothesis_tokens, phrase.hypothesis)
        right = span_words(explanation.reference_tokens, phrase.reference)
        drawing.append(f"    {phrase.role:<10}")
        for text, there in ((left, phrase.hypothesis), (right, phrase.reference)):
            cell = _fit(show(text) if there is not None else "—", column)
            drawing.append(cell + "  ", style="" if there is not None else "dim")
        if phrase.hypothesis is None:
            drawing.append("missing ", style="red")
        elif phrase.reference is None:
            drawing.append("extra   ", style="yellow")
        else:
            drawing.append(f"{phrase.similarity:7.2f} ", style=_style(phrase.similarity))
        drawing.append(f"share {phrase.share:.3f}")
        drawing.append(f"  lost {phrase.loss:.3f}\n" if phrase.loss >= 0.0005 else "\n")
    return drawing


def _draw_parts(explanation: Explanation, width: int) -> Text:
    drawing = Text()
    if not explanation.parts:
        return drawing
    drawing.append("\n  part          hypothesis / reference\n", style="bold")
    column = max(12, (width - 40) // 2)
    for part in explanation.parts:
        left = _part_text(part.hypothesis, explanation.hypothesis_tokens)
        right = _part_text(part.reference, explanation.reference_tokens)
        drawing.append(f"  {show(part.label):<12}  {_fit(left, column)}  {_fit(right, column)}")
        drawing.append(f"  {part.value:.4f}\n")
    return drawing


def _part_text(span: Span | None, tokens: Sequence[str]) -> str:
    return "—" if span is None else show(span_words(tokens, (span,)))


def _style(similarity: float) -> str:
    if similarity >= 0.8:
        return "green"
    return "yellow" if similarity >= 0.4 else "red"


def _fit(text: str, width: int) -> str:
    """A text in so many cells: cut with an ellipsis, or filled up."""
    if cell_len(text) <= width:
        return text + " " * (width - cell_len(text))
    kept = ""
    for mark in text:
        if cell_len(kept + mark) > width - 1:
            break
        kept += mark
    return kept + "…" + " " * (width - 1 - cell_len(kept))


def _wrapped(text: str, width: int, indent: int) -> str:
    """A text broken at spaces, its further lines indented."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(longer) > width - indent and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = longer
    return ("\n" + " " * indent).join(lines)
