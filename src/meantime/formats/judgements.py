"""People's frames and judgements as JSONL, one object a hypothesis: what `hmeant` is made of.

    {"segment": "1", "system": "MT1",
     "hypothesis": {"text": "…", "tokens": ["So", "far", …]},
     "reference": {"text": "…", "tokens": […], "frames": [FRAME, …]},
     "core": ["agent", "experiencer", "patient"],
     "readings": [{"annotator": "ann", "frames": [FRAME, …],
                   "judgements": [{"judge": "joe", "matches": [
                     {"hypothesis": 0, "reference": 1, "verdicts": [
                       {"hypothesis": 1, "reference": 0, "verdict": "partial"}, …]}]}]}]}

A FRAME is `{"predicate": [start, end], "roles": [{"label": "agent", "spans": [[start, end], …]}]}`;
spans are half-open ranges of the tokens. In matches `hypothesis` and `reference` count frames, in
verdicts roles of these frames, from 0; `null` stands for a role that is missing from the
hypothesis or extra in it. `core` may be left out, and so may the texts; the `text` of predicates
and roles is for the eye: it is written and not read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, NoReturn

from meantime.errors import FormatError, InputError
from meantime.formats.opening import decode, display, encode, load, save
from meantime.types import (
    Corpus,
    Frame,
    FrameMatch,
    Judgement,
    Judgements,
    Reading,
    Role,
    RoleVerdict,
    Sentence,
    Span,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Judged:
    """A line of the file: a hypothesis, whose it is, and what people say of it."""

    segment: str
    system: str
    hypothesis: Sentence
    reference: Sentence
    judgements: Judgements


def read_judgements(
    path: str | Path, *, lang: str = "en", stdin: IO[bytes] | None = None
) -> list[Judged]:
    """Read a file of judgements.

    Raises:
        InputError: The file cannot be read.
        FormatError: A line is not what the format says, or a hypothesis stands twice.
    """
    return parse_judgements(decode(display(path), load(path, stdin)), display(path), lang)


def parse_judgements(content: str, name: str, lang: str = "en") -> list[Judged]:
    """Read the text of such a file; `name` is what to call it in messages."""
    found: dict[tuple[str, str], int] = {}
    judged = []
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        one = _Line(f"{name}:{number}", line).judged(lang)
        first = found.setdefault((one.system, one.segment), number)
        if first != number:
            raise FormatError(
                f"{name}:{number}: segment {one.segment} of system {one.system} stands in line "
                f"{first} already; put all its readings into one line"
            )
        judged.append(one)
    if not judged:
        raise FormatError(f"{name}: holds no judgement; write one object a hypothesis")
    return judged


def write_judgements(judged: Iterable[Judged], path: str | Path) -> None:
    """Write a file of judgements, wholly or not at all."""
    save(Path(path), encode(render_judgements(judged)))


def render_judgements(judged: Iterable[Judged]) -> str:
    """The text of such a file."""
    return "".join(json.dumps(_render(one), ensure_ascii=False) + "\n" for one in judged)


def attach_judgements(corpus: Corpus, judged: Sequence[Judged], name: str) -> Corpus:
    """The corpus with the judgements of its systems, found by system and segment.

    Args:
        corpus: What was judged.
        judged: The lines of a file.
        name: What to call that file.

    Raises:
        InputError: The file has nothing on a system here, or speaks of another text.
    """
    known = {(one.system, one.segment): one for one in judged}
    systems = dict.fromkeys(one.system for one in judged)
    found: dict[str, tuple[Judgements | None, ...]] = {}
    for system, output in corpus.outputs.items():
        if system not in systems:
            raise InputError(
                f"{name}: no judgement of system {system!r}; it has {', '.join(systems)}: a "
                "system is called after its file, so rename the file or leave it out"
            )
        column: list[Judgements | None] = []
        for sentence, segment in zip(output, corpus.segments, strict=True):
            one = known.get((system, segment.id))
            if one is None:
                column.append(None)
                continue
            texts = [("hypothesis", one.hypothesis, sentence)]
            texts += [("reference", one.reference, one_of) for one_of in segment.references[:1]]
            for side, theirs, ours in texts:
                if theirs.text and theirs.text.split() != ours.text.split():
                    raise InputError(
                        f"{name}: segment {segment.id} of system {system}: the {side} judged is "
                        f"{theirs.text[:60]!r}, not {ours.text[:60]!r}; give the files that "
                        "were judged, in their order"
                    )
            column.append(one.judgements)
        found[system] = tuple(column)
    return replace(corpus, judgements=found)


class _Line:
    """One line, its values checked as they are asked for."""

    def __init__(self, place: str, content: str) -> None:
        self._place = place
        try:
            values = json.loads(content)
        except (ValueError, RecursionError) as error:
            self._refuse(f"not JSON ({error}); write one object a line")
        self._values = self._object(values, "the line")

    def _refuse(self, what: str) -> NoReturn:
        raise FormatError(f"{self._place}: {what}")

    def judged(self, lang: str) -> Judged:
        values = self._values
        hypothesis = self._sentence(values.get("hypothesis"), "hypothesis", lang)
        reference = self._sentence(values.get("reference"), "reference", lang)
        stated = self._object(values.get("reference"), "reference").get("frames")
        frames = self._frames(stated, "reference.frames", reference)
        readings = tuple(
            self._reading(one, f"readings[{number}]", hypothesis, frames)
            for number, one in enumerate(self._list(values.get("readings"), "readings"))
        )
        names = [reading.annotator for reading in readings]
        if len(set(names)) != len(names):
            self._refuse("an annotator has two readings of one hypothesis; keep one")
        core = values.get("core")
        return Judged(
            self._name(values.get("segment"), "segment"),
            self._name(values.get("system"), "system"),
            hypothesis,
            replace(reference, frames=frames),
            Judgements(
                frames,
                readings,
                None
                if core is None
                else frozenset(self._string(one, "core") for one in self._list(core, "core")),
            ),
        )

    def _reading(
        self, value: object, called: str, hypothesis: Sentence, reference: tuple[Frame, ...]
    ) -> Reading:
        entry = self._object(value, called)
        frames = self._frames(entry.get("frames"), f"{called}.frames", hypothesis)
        judgements = []
        listed = self._list(entry.get("judgements", []), f"{called}.judgements")
        for number, one in enumerate(listed):
            place = f"{called}.judgements[{number}]"
            item = self._object(one, place)
            judgements.append(
                Judgement(
                    self._name(item.get("judge"), f"{place}.judge"),
                    tuple(
                        self._match(match, f"{place}.matches[{n}]")
                        for n, match in enumerate(
                            self._list(item.get("matches"), f"{place}.matches")
                        )
                    ),
                )
            )
        for judgement in judgements:
            self._check(judgement, frames, reference)
        return Reading(
            self._name(entry.get("annotator"), f"{called}.annotator"), frames, tuple(judgements)
        )

    def _check(
        self, judgement: Judgement, frames: Sequence[Frame], reference: Sequence[Frame]
    ) -> None:
        """Numbers of frames and roles that are there; the metric checks the rest."""
        for match in judgement.matches:
            if match.hypothesis >= len(frames) or match.reference >= len(reference):
                self._refuse(
                    f"judge {judgement.judge} matches frame {match.hypothesis} with frame "
                    f"{match.reference}; there are {len(frames)} and {len(reference)}, counted "
                    "from 0"
                )
            ours, theirs = frames[match.hypothesis].roles, reference[match.reference].roles
            for verdict in match.verdicts:
                for number, roles in ((verdict.hypothesis, ours), (verdict.reference, theirs)):
                    if number is not None and number >= len(roles):
                        self._refuse(
                            f"judge {judgement.judge} speaks of role {number} of a frame that "
                            f"has {len(roles)}; they are counted from 0"
                        )

    def _match(self, value: object, called: str) -> FrameMatch:
        entry = self._object(value, called)
        verdicts = []
        for number, one in enumerate(self._list(entry.get("verdicts", []), f"{called}.verdicts")):
            place = f"{called}.verdicts[{number}]"
            item = self._object(one, place)
            said = item.get("verdict")
            if said not in list(Verdict):
                self._refuse(f"{place}: the verdict {said!r}; write {', '.join(Verdict)}")
            numbers = [
                None if item.get(side) is None else self._number(item[side], f"{place}.{side}")
                for side in ("hypothesis", "reference")
            ]
            verdicts.append(RoleVerdict(numbers[0], numbers[1], Verdict(said)))
        return FrameMatch(
            self._number(entry.get("hypothesis"), f"{called}.hypothesis"),
            self._number(entry.get("reference"), f"{called}.reference"),
            tuple(verdicts),
        )

    def _frames(self, value: object, called: str, sentence: Sentence) -> tuple[Frame, ...]:
        frames = []
        for number, one in enumerate(self._list(value, called)):
            place = f"{called}[{number}]"
            entry = self._object(one, place)
            roles = []
            listed = self._list(entry.get("roles", []), f"{place}.roles")
            for n, role in enumerate(listed):
                where = f"{place}.roles[{n}]"
                item = self._object(role, where)
                spans = tuple(
                    self._span(span, f"{where}.spans", sentence)
                    for span in self._list(item.get("spans"), f"{where}.spans")
                )
                if not spans:
                    self._refuse(f"{where} has no span; leave it out")
                roles.append(Role(self._name(item.get("label"), f"{where}.label"), spans))
            predicate = self._span(entry.get("predicate"), f"{place}.predicate", sentence)
            frames.append(Frame(predicate, tuple(roles)))
        return tuple(frames)

    def _sentence(self, value: object, called: str, lang: str) -> Sentence:
        entry = self._object(value, called)
        tokens = tuple(
            self._string(token, f"{called}.tokens")
            for token in self._list(entry.get("tokens"), f"{called}.tokens")
        )
        text = self._string(entry.get("text", ""), f"{called}.text")
        return Sentence(text, self._string(entry.get("lang", lang), f"{called}.lang"), tokens)

    def _span(self, value: object, called: str, sentence: Sentence) -> Span:
        pair = self._list(value, called)
        if len(pair) != 2 or not all(type(one) is int for one in pair):
            self._refuse(f"{called} is not two whole numbers; write [start, end]")
        count = len(sentence.tokens or ())
        if not 0 <= pair[0] < pair[1] <= count:
            self._refuse(
                f"{called} [{pair[0]}, {pair[1]}) is empty or outside the {count} tokens; spans "
                "are half-open token ranges"
            )
        return Span(pair[0], pair[1])

    def _object(self, value: object, called: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._refuse(f"{called} is missing or no object; put it between braces")
        return value

    def _list(self, value: object, called: str) -> list[Any]:
        if not isinstance(value, list):
            self._refuse(f"{called} is missing or no list; put it between square brackets")
        return value

    def _string(self, value: object, called: str) -> str:
        if not isinstance(value, str):
            self._refuse(f"{called} is no text; put it between quotes")
        return value

    def _name(self, value: object, called: str) -> str:
        if not isinstance(value, str) or not value:
            self._refuse(f"{called} is missing or no text; put a name between quotes")
        return value

    def _number(self, value: object, called: str) -> int:
        if type(value) is not int or value < 0:
            self._refuse(f"{called} is no number from 0 up; count from 0")
        return value


def _render(one: Judged) -> dict[str, Any]:
    hypothesis, reference, judgements = one.hypothesis, one.reference, one.judgements
    row: dict[str, Any] = {
        "segment": one.segment,
        "system": one.system,
        "hypothesis": _render_sentence(hypothesis),
        "reference": {
            **_render_sentence(reference),
            "frames": [_render_frame(f, reference) for f in judgements.reference_frames],
        },
    }
    if judgements.core is not None:
        row["core"] = sorted(judgements.core)
    row["readings"] = [
        {
            "annotator": reading.annotator,
            "frames": [_render_frame(frame, hypothesis) for frame in reading.frames],
            "judgements": [
                {
                    "judge": judgement.judge,
                    "matches": [
                        {
                            "hypothesis": match.hypothesis,
                            "reference": match.reference,
                            "verdicts": [
                                {
                                    "hypothesis": verdict.hypothesis,
                                    "reference": verdict.reference,
                                    "verdict": str(verdict.verdict),
                                }
                                for verdict in match.verdicts
                            ],
                        }
                        for match in judgement.matches
                    ],
                }
                for judgement in reading.judgements
            ],
        }
        for reading in judgements.readings
    ]
    return row


def _render_sentence(sentence: Sentence) -> dict[str, Any]:
    return {
        "text": sentence.text,
        "lang": sentence.lang,
        "tokens": list(sentence.tokens or ()),
    }


def _render_frame(frame: Frame, sentence: Sentence) -> Mapping[str, Any]:
    def words(span: Span) -> str:
        return " ".join((sentence.tokens or ())[span.start : span.end])

    return {
        "predicate": [frame.predicate.start, frame.predicate.end],
        "text": words(frame.predicate),
        "roles": [
            {
                "label": role.label,
                "spans": [[span.start, span.end] for span in role.spans],
                "text": " … ".join(map(words, role.spans)),
            }
            for role in frame.roles
        ],
    }
