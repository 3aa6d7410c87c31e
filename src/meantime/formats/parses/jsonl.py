"""JSONL, one object a sentence: the format that holds everything but vectors.

Keys: `text`, `lang`, `tokens`, `offsets`, `pos`, `tree` (a bracketed string), `tree_score`,
`frames`. A layer that is absent or `null` is not known, an empty list is known to be empty.
Spans count tokens and are half-open. The `text` of predicates and roles is for the eye: it is
written and not read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NoReturn

from meantime.errors import InputError
from meantime.formats.opening import Text
from meantime.formats.parses import brackets, roles
from meantime.formats.parses.attaching import plain_token
from meantime.formats.parses.parsed import Parsed, Place, of_tokens
from meantime.types import Frame, Role, Sentence, Span, Tree

_GAP = " … "


def parse(text: Text, format: str, lang: str) -> list[Parsed]:
    """Read sentences, one JSON object a line.

    Raises:
        FormatError: A line is no object, a value has the wrong type, or layers disagree.
    """
    return [
        _Object(Place(text.name, [number]), line).parsed(lang)
        for number, line in enumerate(text.content.split("\n"), start=1)
        if line.strip()
    ]


class _Object:
    """One line, its values checked as they are asked for."""

    def __init__(self, place: Place, content: str) -> None:
        self._place = place
        try:
            values = json.loads(content)
            if "\\u" in content:
                # A lone surrogate is legal in JSON and in no UTF-8 file.
                json.dumps(values, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            self._refuse("half a character (a lone surrogate); repair the text")
        except (ValueError, RecursionError) as error:
            self._refuse(f"not JSON ({error}); write one object a line")
        if not isinstance(values, dict):
            self._refuse("not a JSON object; write one object in braces a line")
        self._values: dict[str, Any] = values

    def _refuse(self, what: str) -> NoReturn:
        self._place.refuse(0, what)

    def parsed(self, default_lang: str) -> Parsed:
        lang = self._values.get("lang")
        lang = default_lang if lang is None else self._string(lang, "lang")
        text = self._values.get("text")
        tokens = self._strings("tokens")
        if tokens is None:
            for layer in ("offsets", "pos", "tree", "frames"):
                if self._values.get(layer) is not None:
                    self._refuse(f"{layer} without tokens; add the tokens that it speaks of")
            if text is None:
                self._refuse("neither text nor tokens; add one of them")
            return Parsed(Sentence(self._string(text, "text"), lang), self._place)
        pos = self._strings("pos")
        if pos is not None and len(pos) != len(tokens):
            self._refuse(
                f"pos has {len(pos)} parts of speech for {len(tokens)} tokens; give one a token"
            )
        tree = self._tree(tokens)
        score = self._score()
        frames = self._frames(len(tokens))
        if text is None:
            sentence = of_tokens(tokens, lang=lang, pos=pos, tree=tree, frames=frames)
            text, offsets = sentence.text, sentence.offsets
        else:
            text = self._string(text, "text")
            offsets = self._offsets(text, len(tokens))
        return Parsed(
            Sentence(
                text,
                lang,
                tokens=tokens,
                offsets=offsets,
                pos=pos,
                tree=tree,
                tree_score=score,
                frames=frames,
            ),
            self._place,
        )

    def _string(self, value: object, called: str) -> str:
        if not isinstance(value, str):
            self._refuse(f"{called} is not a text; put it between quotes")
        return value

    def _list(self, value: object, called: str) -> list[Any]:
        if not isinstance(value, list):
            self._refuse(f"{called} is not a list; put it between square brackets")
        return value

    def _strings(self, key: str) -> tuple[str, ...] | None:
        if self._values.get(key) is None:
            return None
        return tuple(
            self._string(value, f"{key}[{number}]")
            for number, value in enumerate(self._list(self._values[key], key))
        )

    def _score(self) -> float | None:
        value = self._values.get("tree_score")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._refuse("tree_score is not a number; write it without quotes")
        try:
            return float(value)
        except OverflowError:
            self._refuse("tree_score is larger than any number here; write one that fits")

    def _numbers(self, value: object, called: str) -> tuple[int, int]:
        pair = self._list(value, called)
        if len(pair) != 2 or not all(type(number) is int for number in pair):
            self._refuse(f"{called} is not two whole numbers; write [start, end]")
        return pair[0], pair[1]

    def _offsets(self, text: str, length: int) -> tuple[tuple[int, int], ...] | None:
        if self._values.get("offsets") is None:
            return None
        listed = self._list(self._values["offsets"], "offsets")
        if len(listed) != length:
            self._refuse(f"{len(listed)} offsets for {length} tokens; give one a token")
        offsets = []
        reached = 0
        for number, value in enumerate(listed):
            start, end = self._numbers(value, f"offsets[{number}]")
            if not reached <= start <= end <= len(text):
                self._refuse(
                    f"token {number + 1} at [{start}, {end}) is out of order or outside the "
                    f"text of {len(text)} characters; give places in this text, left to right"
                )
            offsets.append((start, end))
            reached = start
        return tuple(offsets)

    def _tree(self, tokens: Sequence[str]) -> Tree | None:
        value = self._values.get("tree")
        if value is None:
            return None
        return brackets.tree_from_text(self._string(value, "tree"), tokens, _is_same, self._refuse)

    def _frames(self, length: int) -> tuple[Frame, ...] | None:
        value = self._values.get("frames")
        if value is None:
            return None
        frames = []
        for number, item in enumerate(self._list(value, "frames")):
            called = f"frames[{number}]"
            entry = self._entry(item, called)
            predicate = self._span(
                self._entry(entry.get("predicate"), f"{called}.predicate"), f"{called}.predicate"
            )
            listed = entry.get("roles")
            found = tuple(
                self._role(role, f"{called}.roles[{place}]")
                for place, role in enumerate(
                    [] if listed is None else self._list(listed, f"{called}.roles")
                )
            )
            frame = Frame(predicate, found)
            fault = roles.find_fault(frame, length)
            if fault is not None:
                self._refuse(f"{called}: {fault}")
            frames.append(frame)
        return tuple(frames)

    def _entry(self, value: object, called: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._refuse(f"{called} is missing or not an object; put it between braces")
        return value

    def _span(self, entry: dict[str, Any], called: str) -> Span:
        return self._checked([entry.get("start"), entry.get("end")], called)

    def _checked(self, value: object, called: str) -> Span:
        start, end = self._numbers(value, f"{called} (start, end)")
        if not 0 <= start < end:
            self._refuse(
                f"{called} [{start}, {end}) is empty or negative; spans are half-open token "
                "ranges with 0 <= start < end"
            )
        return Span(start, end)

    def _role(self, value: object, called: str) -> Role:
        entry = self._entry(value, called)
        label = self._string(entry.get("label"), f"{called}.label")
        several = entry.get("spans")
        if several is None:
            return Role(label, (self._span(entry, called),))
        spans = tuple(
            self._checked(span, f"{called}.spans[{number}]")
            for number, span in enumerate(self._list(several, f"{called}.spans"))
        )
        if not spans:
            self._refuse(f"{called}.spans is empty; leave it out, or leave the role out")
        if entry.get("start") is not None and self._span(entry, called) != spans[0]:
            self._refuse(f"{called} is not the first of its spans; start and end repeat that one")
        return Role(label, spans)


def _is_same(word: str, token: str) -> bool:
    return word == brackets.escape(token) or plain_token(word) == plain_token(token)


def render(sentences: Sequence[Sentence], format: str, first: int = 0) -> str:
    """Write sentences, one JSON object a line.

    Raises:
        InputError: The layers of a sentence disagree.
    """
    return "".join(
        json.dumps(_write(sentence, f"sentence {number}"), ensure_ascii=False) + "\n"
        for number, sentence in enumerate(sentences, start=first + 1)
    )


def _write(sentence: Sentence, where: str) -> dict[str, Any]:
    row: dict[str, Any] = {"text": sentence.text, "lang": sentence.lang}
    tokens = sentence.tokens
    if tokens is None:
        if any(
            layer is not None
            for layer in (sentence.offsets, sentence.pos, sentence.tree, sentence.frames)
        ):
            raise InputError(f"{where} has layers and no tokens; they speak of tokens: add them")
        return row
    row["tokens"] = list(tokens)
    for name, layer in (("offsets", sentence.offsets), ("pos", sentence.pos)):
        if layer is None:
            continue
        if len(layer) != len(tokens):
            raise InputError(
                f"{where}: {len(layer)} {name}, {len(tokens)} tokens; give one a token"
            )
        row[name] = [list(item) if isinstance(item, tuple) else item for item in layer]
    if sentence.tree is not None:
        brackets.check_tree(sentence.tree, len(tokens), where)
        row["tree"] = brackets.tree_as_text(sentence.tree, tokens)
    if sentence.tree_score is not None:
        if not math.isfinite(sentence.tree_score):
            raise InputError(
                f"{where}: JSON has no number for the tree's score {sentence.tree_score}; "
                "leave it out"
            )
        row["tree_score"] = sentence.tree_score
    if sentence.frames is not None:
        row["frames"] = [_write_frame(frame, sentence, where) for frame in sentence.frames]
    return row


def _write_frame(frame: Frame, sentence: Sentence, where: str) -> dict[str, Any]:
    assert sentence.tokens is not None
    roles.check(frame, len(sentence.tokens), where)
    return {
        "predicate": _write_span(frame.predicate, sentence),
        "roles": [_write_role(role, sentence) for role in frame.roles],
    }


def _write_role(role: Role, sentence: Sentence) -> dict[str, Any]:
    row = {"label": role.label, **_write_span(role.spans[0], sentence)}
    if len(role.spans) > 1:
        row["text"] = _GAP.join(filler(sentence, span) for span in role.spans)
        row["spans"] = [[span.start, span.end] for span in role.spans]
    return row


def _write_span(span: Span, sentence: Sentence) -> dict[str, Any]:
    return {"start": span.start, "end": span.end, "text": filler(sentence, span)}


def filler(sentence: Sentence, span: Span) -> str:
    """The words of a span: as in the text where that is known, else its tokens."""
    if sentence.offsets is None:
        return " ".join((sentence.tokens or ())[span.start : span.end])
    start, end = sentence.offsets[span.start][0], sentence.offsets[span.end - 1][1]
    return sentence.text[start:end]
