"""Simulated people, for the demo, the experiment and tests: they know the truth and err from it.

They work through the store as the pages do, step by step. Nothing here measures people.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files

from meantime.annotation import judging, marks, training
from meantime.annotation.campaign import CONTROL, Kind, Person, Role, Settings, VersionKind
from meantime.annotation.store import NewSegment, Store, Task
from meantime.annotation.words import split_words
from meantime.errors import FormatError
from meantime.types import Frame, Sentence, Span, Verdict
from meantime.types import Role as Filler

_VERDICTS = {"C": Verdict.CORRECT, "P": Verdict.PARTIAL, "I": Verdict.INCORRECT}


@dataclass(frozen=True, slots=True)
class TrueRole:
    """A role of an output as careful people would mark and judge it."""

    filler: Filler
    reference: int | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class TrueFrame:
    """A frame likewise, with the number of the reference's frame it matches."""

    predicate: Span
    roles: tuple[TrueRole, ...]
    reference: int | None

    @property
    def frame(self) -> Frame:
        return Frame(self.predicate, tuple(role.filler for role in self.roles))


@dataclass(frozen=True, slots=True)
class TrueSegment:
    """A segment with the truth about each text."""

    name: str
    source: Sentence
    reference: Sentence
    frames: tuple[Frame, ...]
    outputs: Mapping[str, tuple[Sentence, tuple[TrueFrame, ...]]]

    def new(self) -> NewSegment:
        """What a campaign takes of it."""
        return NewSegment(
            self.name,
            self.source,
            self.reference,
            {system: sentence for system, (sentence, _) in self.outputs.items()},
        )


def demo_segments() -> tuple[TrueSegment, ...]:
    """The sentences of the demo, shipped with the package."""
    text = (files("meantime.annotation") / "data" / "demo.txt").read_text(encoding="utf-8")
    return read_truth(text, "demo.txt", source_lang="de")


def read_truth(content: str, name: str, *, source_lang: str) -> tuple[TrueSegment, ...]:
    """Read the format of `data/demo.txt`."""
    segments: list[TrueSegment] = []
    texts: dict[str, tuple[Sentence, list[str]]] = {}
    latest = ""

    def close() -> None:
        if texts:
            segments.append(_segment(str(len(segments) + 1), texts, name))
            texts.clear()

    for number, line in enumerate(content.split("\n"), 1):
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("  "):
            texts[latest][1].append(line.strip())
            continue
        latest, colon, text = line.partition(": ")
        if not colon:
            raise FormatError(f"{name}:{number}: expected 'name: text'")
        if latest == "source":
            close()
        lang = source_lang if latest == "source" else "en"
        texts[latest] = (split_words(text, lang), [])
    close()
    return tuple(segments)


def _segment(
    number: str, texts: Mapping[str, tuple[Sentence, list[str]]], name: str
) -> TrueSegment:
    reference, lines = texts["reference"]
    frames = tuple(_true_frame(line, reference, (), name).frame for line in lines)
    outputs = {}
    for system, (sentence, lines) in texts.items():
        if system not in ("source", "reference"):
            found = tuple(_true_frame(line, sentence, frames, name) for line in lines)
            outputs[system] = (sentence, found)
    return TrueSegment(number, texts["source"][0], reference, frames, outputs)


def _true_frame(line: str, sentence: Sentence, reference: Sequence[Frame], name: str) -> TrueFrame:
    head, *parts = (part.strip() for part in line.split("|"))
    predicate, _, match = (part.strip() for part in head.partition("="))
    matched = int(match) - 1 if match else None
    theirs = list(enumerate(reference[matched].roles)) if matched is not None else []
    roles = []
    for part in parts:
        label, _, rest = part.partition(": ")
        filler, _, verdict = (one.strip() for one in rest.partition(" /"))
        spans = tuple(_find(words.strip(), sentence, name) for words in filler.split("…"))
        same = next(((n, role) for n, role in theirs if role.label == label), None)
        if verdict and same is not None:
            theirs.remove(same)
            roles.append(TrueRole(Filler(label, spans), same[0], _VERDICTS[verdict]))
        else:
            roles.append(TrueRole(Filler(label, spans), None, Verdict.INCORRECT))
    return TrueFrame(_find(predicate, sentence, name), tuple(roles), matched)


def _find(words: str, sentence: Sentence, name: str) -> Span:
    wanted = split_words(words, sentence.lang).tokens or ()
    tokens = sentence.tokens or ()
    for start in range(len(tokens) - len(wanted) + 1):
        if tokens[start : start + len(wanted)] == wanted:
            return Span(start, start + len(wanted))
    raise FormatError(f"{name}: {words!r} is not in {sentence.text!r}")


@dataclass
class Clock:
    """A time of one's own, for times of work in the past."""

    now: float

    def __call__(self) -> float:
        return self.now

    def pass_seconds(self, amount: float) -> None:
        self.now += amount


@dataclass
class Simulation:
    """People of a campaign at work.

    Attributes:
        store: Where the campaign is.
        truth: Its segments by name.
        clock: The store's clock, moved on as they work; none leaves the time alone.
        error: How often annotators and judges err, from 0 (never) up.
    """

    store: Store
    truth: Mapping[str, TrueSegment]
    settings: Settings
    rng: random.Random
    clock: Clock | None = None
    error: float = 0.15
    better: Mapping[str, float] = field(default_factory=dict)
    """How good rankers and raters find each system, 0 to 1, on the whole."""

    def work(self, people: Sequence[Person], *, until: Callable[[], bool] | None = None) -> int:
        """Let people work in turns until nobody gets a task; returns how many were finished."""
        finished = 0
        idle: set[str] = set()
        waiting = list(people)
        while waiting and not (until is not None and until()):
            person = self.rng.choice(waiting)
            task, _ = self.store.claim(person)
            if task is None:
                idle.add(person.id)
                waiting = [one for one in people if one.id not in idle]
                continue
            # Whoever finishes something may have made work for the others.
            idle.clear()
            waiting = list(people)
            self.do(task, person)
            finished += 1
        return finished

    def do(self, task: Task, person: Person) -> Task:
        """Do one task from where it stands to its end."""
        self._take_time(self.rng.uniform(2, 6))
        if task.kind is Kind.TRAINING:
            return self._train(task, person)
        segment = self.store.segment(task.segment or "")
        truth = self.truth[segment.name]
        if task.kind is Kind.MARK:
            return self._mark(task, person, truth)
        if task.kind is Kind.JUDGE:
            return self._judge(task, person, truth)
        if task.kind is Kind.RANK:
            return self._rank(task, person)
        return self._rate(task, person)

    def _train(self, task: Task, person: Person) -> Task:
        """Answer an example, sometimes with something left out; the next try is better."""
        example = training.open_example(self.store.example(task), self.settings)
        if example.kind is Kind.MARK:
            answer = marks.from_frames(example.frames)
            for frame in answer["frames"]:
                frame["roles"] = [role for role in frame["roles"] if not self._errs()]
        else:
            assert example.judgement is not None
            answer = judging.from_judgement(example.judgement, example.theirs)
            for match in answer["matches"].values():
                for role in match["roles"]:
                    if isinstance(role["hypothesis"], int) and self._errs():
                        role["verdict"] = str(self.rng.choice(list(Verdict)))
        task = self._save(task, person, lambda _: {**training.begin(), **answer})
        graded = partial(training.graded, example=example, settings=self.settings)
        self._take_time(self.rng.uniform(1, 4))
        return self.store.finish(
            task.id, person, self._key(), task.revision, lambda _: None, graded
        )

    def _take_time(self, amount: float) -> None:
        if self.clock is not None:
            self.clock.pass_seconds(amount)

    def _key(self) -> str:
        return f"{self.rng.getrandbits(64):016x}"

    def _save(
        self, task: Task, person: Person, change: Callable[[judging.Answer], judging.Answer]
    ) -> Task:
        self._take_time(self.rng.uniform(2, 9))
        return self.store.save(task.id, person, self._key(), task.revision, change)

    def _finish(self, task: Task, person: Person) -> Task:
        self._take_time(self.rng.uniform(1, 4))
        return self.store.finish(task.id, person, self._key(), task.revision, lambda _: None)

    def _errs(self, share: float = 1.0) -> bool:
        return self.rng.random() < self.error * share

    def _mark(self, task: Task, person: Person, truth: TrueSegment) -> Task:
        version = self.store.version(task.target)
        assert version is not None
        if version.kind is VersionKind.SYSTEM:
            frames = [one.frame for one in truth.outputs[version.system][1]]
        else:
            frames = list(truth.frames)
        count = len(version.sentence.tokens or ())
        # A prefilled answer is put right from the start, as its reader would.
        while task.answer["frames"]:
            task = self._save(task, person, lambda answer: marks.remove_frame(answer, 0))
        careful = 0.4 if version.kind is VersionKind.KEY else 1.0
        for frame in frames:
            if self._errs(0.5 * careful):
                continue
            words = list(range(frame.predicate.start, frame.predicate.end))
            task = self._save(task, person, self._label(self.settings.predicate, words, count))
            for role in frame.roles:
                if self._errs(0.8 * careful):
                    continue
                label = role.label
                if self._errs(careful):
                    label = self.rng.choice([one.name for one in self.settings.roles])
                words = [w for span in role.spans for w in range(span.start, span.end)]
                if self._errs(careful):
                    words = self._shift(words, count)
                before = task
                task = self._save(task, person, self._label(label, words, count))
                if len(task.answer["frames"]) < len(before.answer["frames"]):
                    task = before
        return self._finish(task, person)

    def _label(
        self, label: str, words: Sequence[int], count: int
    ) -> Callable[[marks.Answer], marks.Answer]:
        return lambda answer: marks.label_words(answer, label, words, count, self.settings)

    def _shift(self, words: list[int], count: int) -> list[int]:
        if len(words) > 1 and self.rng.random() < 0.5:
            return words[1:] if self.rng.random() < 0.5 else words[:-1]
        return [*words, words[-1] + 1] if words[-1] + 1 < count else words

    def _judge(self, task: Task, person: Person, truth: TrueSegment) -> Task:
        reading = self.store.task(task.target)
        assert reading is not None
        version = self.store.version(reading.target)
        assert version is not None
        key = marks.as_frames(self.store.key_answer(task.segment or ""))
        ours = marks.as_frames(reading.answer)
        if version.system == CONTROL:
            true = [
                TrueFrame(
                    frame.predicate,
                    tuple(TrueRole(r, n, Verdict.CORRECT) for n, r in enumerate(frame.roles)),
                    number,
                )
                for number, frame in enumerate(truth.frames)
            ]
        else:
            true = list(truth.outputs[version.system][1])
        for number, frame in enumerate(key):
            wanted = next(
                (n for n, f in enumerate(truth.frames) if _meet(f.predicate, frame.predicate)), None
            )
            matched = self._matching(ours, true, wanted)
            taken = {match["hypothesis"] for match in task.answer["matches"].values()}
            if matched in taken:
                matched = None
            task = self._save(
                task,
                person,
                partial(
                    judging.match_frame, reference=number, hypothesis=matched, ours=ours, theirs=key
                ),
            )
            if matched is None or wanted is None:
                continue
            known = next(one for one in true if one.reference == wanted)
            task = self._judge_roles(
                task, person, number, (frame, truth.frames[wanted]), (ours[matched], known), ours
            )
        return self._finish(task, person)

    def _matching(
        self, ours: Sequence[Frame], true: Sequence[TrueFrame], wanted: int | None
    ) -> int | None:
        known = next((one for one in true if wanted is not None and one.reference == wanted), None)
        if known is None or self._errs(0.3):
            return None
        return next(
            (n for n, frame in enumerate(ours) if _meet(frame.predicate, known.predicate)), None
        )

    def _judge_roles(
        self,
        task: Task,
        person: Person,
        number: int,
        theirs: tuple[Frame, Frame],
        read: tuple[Frame, TrueFrame],
        ours: Sequence[Frame],
    ) -> Task:
        frame, true_frame = theirs
        reading, known = read
        used: set[int] = set()
        for place, role in enumerate(frame.roles):
            reference = next(
                (n for n, one in enumerate(true_frame.roles) if _alike(one, role)), None
            )
            said = next(
                (r for r in known.roles if reference is not None and r.reference == reference), None
            )
            found = None
            if said is not None:
                found = next(
                    (
                        n
                        for n, one in enumerate(reading.roles)
                        if n not in used and _alike(one, said.filler)
                    ),
                    None,
                )
            verdict: Verdict | None = None
            if found is not None and said is not None:
                used.add(found)
                verdict = said.verdict
                if reading.roles[found].label != role.label and verdict is Verdict.CORRECT:
                    # The words are right and are read as something else.
                    verdict = Verdict.INCORRECT
                if self._errs(0.7):
                    verdict = self.rng.choice(list(Verdict))
            task = self._save(
                task,
                person,
                partial(
                    judging.judge_role,
                    reference=number,
                    role=place,
                    hypothesis=found,
                    verdict=None if verdict is None else str(verdict),
                    ours=ours,
                ),
            )
        return task

    def _rank(self, task: Task, person: Person) -> Task:
        systems = {v.id: v.system for v in self.store.versions(task.segment or "")}
        worth = {
            version: self.better.get(systems[version], 0.5) + self.rng.gauss(0, 0.5 * self.error)
            for version in task.answer["order"]
        }
        wanted = sorted(worth, key=lambda version: -worth[version])
        for place, version in enumerate(wanted):
            while task.answer["order"].index(version) > place:
                at = task.answer["order"].index(version)
                task = self._save(task, person, partial(judging.move, place=at, by=-1))
        return self._finish(task, person)

    def _rate(self, task: Task, person: Person) -> Task:
        version = self.store.version(task.target)
        assert version is not None
        worth = self.better.get(version.system, 0.5) + self.rng.gauss(0, self.error)
        rating = min(5, max(1, round(1 + 4 * worth)))
        task = self._save(task, person, lambda answer: {"rating": rating})
        return self._finish(task, person)


def _meet(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _alike(one: Filler, other: Filler) -> bool:
    """Whether two fillers have most of their words in common."""
    ours = {w for span in one.spans for w in range(span.start, span.end)}
    theirs = {w for span in other.spans for w in range(span.start, span.end)}
    return len(ours & theirs) * 2 > min(len(ours), len(theirs))


def add_people(store: Store, campaign: str, counts: Mapping[Role, int]) -> list[Person]:
    """People called after their role and a number."""
    return [
        store.add_person(campaign, f"{role} {number}", role)
        for role, count in counts.items()
        for number in range(1, count + 1)
    ]


def true_segments_by_name(segments: Sequence[TrueSegment]) -> dict[str, TrueSegment]:
    """What a simulation knows."""
    return {segment.name: replace(segment) for segment in segments}
