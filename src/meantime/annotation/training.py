"""The training round: examples with a known answer, and what is said of somebody's own.

An example is plain values, as it is shipped, uploaded and kept. One to mark has a text and its
frames; one to judge has the two texts, the frames of both and what the judge should decide:

    {"text": "…", "frames": [FRAME, …], "note": "…"}
    {"reference": {"text": "…", "frames": [FRAME, …]}, "hypothesis": {"text": "…"},
     "readings": [{"frames": [FRAME, …], "judgements": [{"matches": [MATCH, …]}]}], "note": "…"}

The second is a line of the file of judgements (`formats.judgements`) with one reading and one
judgement. A FRAME is as it is there, with `spans`; or with the words themselves, the parts of a
split filler separated by …: `{"predicate": "sold", "roles": [{"label": "agent", "words":
"the baker"}]}`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NoReturn

from meantime.annotation import judging, marks
from meantime.annotation.agreement import is_same
from meantime.annotation.campaign import Kind, Settings, Training
from meantime.annotation.words import LONGEST, split_words
from meantime.errors import FormatError, InputError
from meantime.formats.judgements import parse_judgements
from meantime.types import Frame, Judgement, Role, Sentence, Span

TRAINED = (Kind.MARK, Kind.JUDGE)
"""What there are examples of; to order and to rate needs none."""
MOST_EXAMPLES = 50


@dataclass(frozen=True, slots=True)
class Example:
    """One example with its key.

    Attributes:
        kind: Whether it is marked or judged.
        sentence: What is marked, or the translation that is judged.
        frames: The key of the marking, or what a reader found in the translation.
        reference: What a judge compares with.
        theirs: The reference's frames.
        judgement: The key of the judging.
        note: What to learn from it.
    """

    kind: Kind
    sentence: Sentence
    frames: tuple[Frame, ...]
    note: str = ""
    reference: Sentence | None = None
    theirs: tuple[Frame, ...] = ()
    judgement: Judgement | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """One thing the key says, and whether an answer says it too."""

    label: str
    words: str
    key: str
    right: bool
    said: str


@dataclass(frozen=True, slots=True)
class Feedback:
    """An answer beside the key.

    Attributes:
        notes: What the key says, in its order.
        more: What the answer says beyond it, in words.
        agreement: Twice what is the same, by what both say together.
    """

    notes: tuple[Note, ...]
    more: tuple[str, ...]
    agreement: float


@cache
def shipped() -> Mapping[str, Any]:
    """The examples of the package: the paper's, and by kind those of the training round."""
    text = (files("meantime.annotation") / "data" / "examples.json").read_text(encoding="utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


def shipped_names(kind: Kind) -> tuple[str, ...]:
    """What the shipped examples of a kind are called; no name is ever used again."""
    return tuple(shipped()["training"].get(str(kind), {}))


def shipped_content(name: str) -> Mapping[str, Any] | None:
    """A shipped example as plain values, if there is one of this name."""
    for examples in shipped()["training"].values():
        if name in examples:
            found: Mapping[str, Any] = examples[name]
            return found
    return None


def open_example(content: Mapping[str, Any], settings: Settings, place: str = "example") -> Example:
    """An example made of plain values; its labels are the campaign's, or the usual ones.

    Raises:
        FormatError: It is none, or speaks of words or labels that are not there.
    """
    return _Reader(content, place, settings.named).example()


def read_examples(content: str, name: str, settings: Settings) -> list[dict[str, Any]]:
    """Examples of a JSONL file, each checked; `name` is what to call it in messages.

    Raises:
        FormatError: A line is no example for this campaign.
        InputError: There are none, or too many.
    """
    labels = {label.name for label in settings.roles}
    found = []
    for place, values in _lines(content, name):
        example = _Reader(values, place, lambda label: label).example()
        for frame in (*example.frames, *example.theirs):
            for role in frame.roles:
                if role.label not in labels:
                    raise FormatError(
                        f"{place}: the campaign has no label {role.label!r}; its labels are "
                        f"{', '.join(one.name for one in settings.roles)}"
                    )
        found.append(values)
    if not found:
        raise InputError(f"{name}: holds no example; write one object a line")
    if len(found) > MOST_EXAMPLES:
        raise InputError(
            f"{name}: {len(found)} examples; a training round is short, give {MOST_EXAMPLES} at "
            "most"
        )
    return found


def kind_of(content: Mapping[str, Any]) -> Kind:
    """Whether an example is marked or judged."""
    return Kind.JUDGE if "readings" in content else Kind.MARK


def read_gold(
    content: str, name: str, settings: Settings
) -> dict[str, tuple[Sentence, tuple[Frame, ...]]]:
    """Frames of references by the segment's name, from a JSONL file.

    A line is `{"segment": "1", "text": "…", "frames": [FRAME, …]}`, or one of a file of judgements,
    whose `reference` is taken.

    Raises:
        FormatError: A line is not like that, or two differ about a segment.
    """
    labels = {label.name for label in settings.roles}
    found: dict[str, tuple[Sentence, tuple[Frame, ...]]] = {}
    for place, values in _lines(content, name):
        reader = _Reader(values, place, lambda label: label)
        segment, sentence, frames = reader.gold()
        for frame in frames:
            for role in frame.roles:
                if role.label not in labels:
                    raise FormatError(f"{place}: the campaign has no label {role.label!r}")
        if found.setdefault(segment, (sentence, frames)) != (sentence, frames):
            raise FormatError(f"{place}: segment {segment} stands above with other frames")
    if not found:
        raise FormatError(f"{name}: holds no frames; write one object a line")
    return found


def _lines(content: str, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in enumerate(content.removeprefix("\ufeff").split("\n"), 1):
        if not line.strip():
            continue
        place = f"{name}:{number}"
        try:
            values = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{place}: not JSON ({error}); write one object a line") from error
        if not isinstance(values, dict):
            raise FormatError(f"{place}: no object; write {{…}}, one a line")
        yield place, values


class _Reader:
    """One example, its values checked as they are asked for."""

    def __init__(self, content: Mapping[str, Any], place: str, named: Callable[[str], str]) -> None:
        self._content = content
        self._place = place
        self._named = named

    def _refuse(self, what: str) -> NoReturn:
        raise FormatError(f"{self._place}: {what}")

    def example(self) -> Example:
        note = self._content.get("note", "")
        if not isinstance(note, str) or len(note) > 2000:
            self._refuse("note: give a text of up to 2000 characters")
        if kind_of(self._content) is Kind.MARK:
            sentence = self._sentence(self._content, "the line")
            return Example(Kind.MARK, sentence, self._frames(self._content, sentence), note)
        reference, theirs = self._side("reference")
        entry = self._object(self._content.get("hypothesis"), "hypothesis")
        sentence = self._sentence(entry, "hypothesis")
        reading = self._only(self._content.get("readings"), "reading")
        frames = self._frames(reading, sentence)
        judged = self._only(reading.get("judgements"), "judgement")
        judgement = self._judgement(reference, theirs, sentence, frames, judged)
        return Example(Kind.JUDGE, sentence, frames, note, reference, theirs, judgement)

    def gold(self) -> tuple[str, Sentence, tuple[Frame, ...]]:
        """Segment, reference and its frames."""
        segment = self._content.get("segment")
        if isinstance(segment, int) and not isinstance(segment, bool):
            segment = str(segment)
        if not isinstance(segment, str) or not segment.strip():
            self._refuse('no segment; add "segment": "1", the name it has in the campaign')
        if "reference" in self._content:
            return (segment, *self._side("reference"))
        sentence = self._sentence(self._content, "the line")
        return segment, sentence, self._frames(self._content, sentence)

    def _side(self, side: str) -> tuple[Sentence, tuple[Frame, ...]]:
        entry = self._object(self._content.get(side), side)
        sentence = self._sentence(entry, side)
        return sentence, self._frames(entry, sentence)

    def _object(self, value: object, called: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self._refuse(f"{called} is missing or no object")
        return value

    def _only(self, value: object, called: str) -> Mapping[str, Any]:
        if not isinstance(value, list) or len(value) != 1:
            count = len(value) if isinstance(value, list) else 0
            self._refuse(f"{count} {called}s; an example has one, which is the key: keep that")
        return self._object(value[0], called)

    def _sentence(self, entry: Mapping[str, Any], called: str) -> Sentence:
        text, lang = entry.get("text"), entry.get("lang", "en")
        if not isinstance(text, str) or not text.strip() or "\0" in text:
            self._refuse(f"{called}: text is missing; give the sentence")
        if len(text) > LONGEST:
            self._refuse(f"{called}: {len(text):,} characters; give up to {LONGEST:,}")
        if not isinstance(lang, str):
            self._refuse(f"{called}: lang is {lang!r}; give a code like en")
        sentence = split_words(text, lang)
        tokens = entry.get("tokens")
        if tokens is not None and list(tokens) != list(sentence.tokens or ()):
            self._refuse(
                f"{called}: its tokens are not the words people select here "
                f"({' | '.join((sentence.tokens or ())[:12])} …); leave out tokens and write "
                "words instead of spans"
            )
        return sentence

    def _frames(self, entry: Mapping[str, Any], sentence: Sentence) -> tuple[Frame, ...]:
        listed = entry.get("frames")
        if not isinstance(listed, list):
            self._refuse("frames is missing or no list; [] says that there are none")
        frames = []
        for one in listed:
            frame = self._object(one, "a frame")
            predicate = self._spans(frame.get("predicate"), sentence, "a predicate")
            if len(predicate) != 1:
                self._refuse("a predicate is in several parts; it is words that stand together")
            roles = []
            given = frame.get("roles", [])
            if not isinstance(given, list):
                self._refuse("roles is no list")
            for item in given:
                role = self._object(item, "a role")
                label = role.get("label")
                if not isinstance(label, str):
                    self._refuse("a role has no label")
                stated = role["words"] if "words" in role else role.get("spans")
                spans = self._spans(stated, sentence, f"{label}")
                roles.append(Role(self._named(label), spans))
            frames.append(Frame(predicate[0], tuple(roles)))
        # In their order: decisions on them go by number.
        return tuple(frames)

    def _spans(self, value: object, sentence: Sentence, called: str) -> tuple[Span, ...]:
        if isinstance(value, str):
            return tuple(self._find(part, sentence) for part in value.split("…"))
        count = len(sentence.tokens or ())
        spans = value if isinstance(value, list) else []
        if spans and not isinstance(spans[0], list):
            spans = [spans]
        found = []
        for span in spans:
            if (
                not isinstance(span, list)
                or len(span) != 2
                or not all(type(end) is int for end in span)
                or not 0 <= span[0] < span[1] <= count
            ):
                self._refuse(f"{called}: {span!r} is no span of {count} words; give [start, end]")
            found.append(Span(*span))
        if not found:
            self._refuse(f"{called}: {value!r}; give its words, or spans of word numbers")
        return tuple(found)

    def _find(self, words: str, sentence: Sentence) -> Span:
        wanted = split_words(words.strip()[:LONGEST], sentence.lang).tokens or ()
        tokens = sentence.tokens or ()
        places = [
            start
            for start in range(len(tokens) - len(wanted) + 1)
            if wanted and tokens[start : start + len(wanted)] == wanted
        ]
        if len(places) != 1:
            what = "is not" if not places else f"stands {len(places)} times"
            rest = "write it as it is there" if not places else "give spans of word numbers"
            self._refuse(f"{words.strip()!r} {what} in {sentence.text!r}; {rest}")
        return Span(places[0], places[0] + len(wanted))

    def _judgement(
        self,
        reference: Sentence,
        theirs: tuple[Frame, ...],
        sentence: Sentence,
        frames: tuple[Frame, ...],
        judged: Mapping[str, Any],
    ) -> Judgement:
        """What the key decides, read and checked as a line of a file of judgements is."""
        line = {
            "segment": "example",
            "system": "example",
            "hypothesis": {"tokens": list(sentence.tokens or ())},
            "reference": {
                "tokens": list(reference.tokens or ()),
                "frames": marks.from_frames(theirs)["frames"],
            },
            "readings": [
                {
                    "annotator": "key",
                    "frames": marks.from_frames(frames)["frames"],
                    "judgements": [{"judge": "key", "matches": judged.get("matches")}],
                }
            ],
        }
        try:
            [found] = parse_judgements(json.dumps(line), "example")
        except FormatError as error:
            self._refuse(str(error).partition(": ")[2])
        return found.judgements.readings[0].judgements[0]


# What is said of an answer


def begin() -> dict[str, Any]:
    """What training begins with, of either kind: each step looks at its own half."""
    return {**marks.empty(), **judging.empty()}


def grade(example: Example, answer: Mapping[str, Any], settings: Settings) -> Feedback:
    """An answer held against the key; spans may be a word longer or shorter at either end."""
    if example.kind is Kind.JUDGE:
        return _grade_judging(example, answer)
    return _grade_marking(example, marks.as_frames(answer), settings)


def passes(feedback: Feedback, settings: Settings) -> bool:
    """Whether an answer is near enough to the key to go on."""
    return (
        settings.training is not Training.REQUIRED or feedback.agreement >= settings.training_pass
    )


def graded(answer: Mapping[str, Any], example: Example, settings: Settings) -> dict[str, Any]:
    """The answer as it is kept when it is finished: with how far it agrees."""
    return {**answer, "agreement": grade(example, answer, settings).agreement}


def _grade_marking(example: Example, found: Sequence[Frame], settings: Settings) -> Feedback:
    text = example.sentence
    notes: list[Note] = []
    more: list[str] = []
    free = list(found)
    beyond = 0
    # What is the same to the word is taken first, then what is a word off.
    for frame in example.frames:
        free.sort(key=lambda one: one.predicate != frame.predicate)
        same = next((one for one in free if is_same([one.predicate], [frame.predicate])), None)
        if same is not None:
            free.remove(same)
        notes.append(
            Note(
                settings.predicate,
                words_of(text, [frame.predicate]),
                "",
                same is not None,
                "" if same else "not marked",
            )
        )
        left = list(same.roles) if same else []
        for role in frame.roles:
            alike = [one for one in left if is_same(one.spans, role.spans)]
            # Of two with the same words the one with the same label.
            alike.sort(key=lambda one: one.label != role.label)
            right = bool(alike) and alike[0].label == role.label
            said = "not marked with these words"
            if alike:
                left.remove(alike[0])
                said = "" if right else f"you called it {alike[0].label}"
            if alike and not right:
                beyond += 1
            notes.append(Note(role.label, words_of(text, role.spans), "", right, said))
        beyond += len(left)
        more += [f"{words_of(text, one.spans)} ({one.label})" for one in left]
    for frame in free:
        beyond += 1 + len(frame.roles)
        more.append(f"{words_of(text, [frame.predicate])} ({settings.predicate})")
    return Feedback(tuple(notes), tuple(more), _agreement(notes, beyond))


def _agreement(notes: Sequence[Note], beyond: int) -> float:
    right = sum(note.right for note in notes)
    both = len(notes) + right + beyond
    return 2 * right / both if both else 1.0


def _grade_judging(example: Example, answer: Mapping[str, Any]) -> Feedback:
    assert example.judgement is not None
    assert example.reference is not None
    key = judging.from_judgement(example.judgement, example.theirs)["matches"]
    notes = []
    for number, frame in enumerate(example.theirs):
        wanted, said = key[str(number)], answer["matches"].get(str(number))
        said = said or {"hypothesis": None, "roles": []}
        predicate = words_of(example.reference, [frame.predicate])
        same = wanted["hypothesis"] == said["hypothesis"]
        notes.append(
            Note(
                f"Event {number + 1}",
                predicate,
                _matched(example, wanted["hypothesis"]),
                same,
                "" if same else _matched(example, said["hypothesis"]),
            )
        )
        if wanted["hypothesis"] is None:
            continue
        for place, role in enumerate(frame.roles):
            decided = [
                _verdict(one["roles"][place]) if one["roles"] else "" for one in (wanted, said)
            ]
            # Missing is incorrect by another name.
            ours, theirs = (one.replace("missing", "incorrect") for one in decided)
            right = same and ours == theirs
            notes.append(
                Note(
                    role.label,
                    words_of(example.reference, role.spans),
                    decided[0],
                    right,
                    "" if right else decided[1] or "not asked for this match",
                )
            )
    right = sum(note.right for note in notes)
    return Feedback(tuple(notes), (), right / len(notes) if notes else 1.0)


def _matched(example: Example, number: int | None) -> str:
    if number is None:
        return "none"
    return words_of(example.sentence, [example.frames[number].predicate])


def _verdict(role: Mapping[str, Any]) -> str:
    return str(role["verdict"] or "incorrect") if isinstance(role["hypothesis"], int) else "missing"


def words_of(sentence: Sentence, spans: Sequence[Any]) -> str:
    """The words of spans as they stand in the text."""
    offsets = sentence.offsets or ()
    parts = []
    for span in spans:
        start, end = (span.start, span.end) if isinstance(span, Span) else span
        if offsets:
            parts.append(sentence.text[offsets[start][0] : offsets[end - 1][1]])
        else:
            parts.append(" ".join((sentence.tokens or ())[start:end]))
    return " … ".join(parts)
