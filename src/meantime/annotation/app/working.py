"""The pages of annotators, judges, rankers and raters: what to do next, and doing it.

Every step is a form: it works without a script too. The script sends it in the background, again
and again until it is answered, under the key it had: a step that arrives twice is taken once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from meantime.annotation import judging, marks, training
from meantime.annotation.app.making import Here, Site, Worker, redirect
from meantime.annotation.campaign import (
    TASKS,
    Kind,
    Person,
    Settings,
    State,
    Training,
    VersionKind,
)
from meantime.annotation.store import Conflict, Gone, NotAllowed, Task, Version
from meantime.annotation.store.store import UNDO, Change
from meantime.annotation.training import Example, words_of
from meantime.errors import InputError
from meantime.types import Frame, Sentence

router = APIRouter()


@router.get("/work")
def work(request: Request, here: Here, me: Worker, none: str = "") -> Response:
    """What to do, how to do it, and a way on."""
    campaign = here.store.campaign(me.campaign or "")
    reason = ""
    if campaign.state is not State.OPEN:
        reason = f"The campaign is {campaign.state}: there is no work now."
    elif none:
        reason = (
            "Nothing that you may still do is open now. Thank you for your work; look again later."
        )
    return here.page(
        request,
        "work.html",
        me=me,
        campaign=campaign,
        kind=TASKS[me.role],
        done=here.store.done_by(me.id),
        reason=reason,
        examples=training.shipped(),
        trained=here.store.trained(me),
        required=campaign.settings.training is Training.REQUIRED,
        ratings=judging.RATINGS,
    )


@router.post("/work/next")
def proceed(here: Here, me: Worker) -> Response:
    """Get the next task."""
    task, _ = here.store.claim(me)
    return redirect(f"/task/{task.id}" if task is not None else "/work?none=1")


@router.get("/task/{task}")
def show(request: Request, here: Here, me: Worker, task: str) -> Response:
    """A task as it was saved last."""
    return _page(request, here, me, _own(here, me, task))


@router.post("/task/{task}")
async def step(request: Request, here: Here, me: Worker, task: str) -> Response:
    """Take one step, or finish."""
    form = await request.form()
    return await run_in_threadpool(_step, request, here, me, task, form)


def _own(here: Site, me: Person, task: str) -> Task:
    """Somebody's own task; another's is as if it were not there."""
    found = here.store.task(task)
    if found is None or found.person != me.id or found.campaign != me.campaign:
        raise HTTPException(404)
    return found


def _step(request: Request, here: Site, me: Person, name: str, form: FormData) -> Response:
    def text(field: str) -> str:
        value = form.get(field, "")
        return value if isinstance(value, str) else ""

    found = here.store.task(name)
    if found is not None and found.campaign != me.campaign:
        raise HTTPException(404)
    if found is None or (found.person != me.id and found.person is not None):
        raise HTTPException(404)
    key, revision = text("key"), text("revision")
    if not re.fullmatch(r"[\w-]{8,80}", key) or not re.fullmatch(r"[0-9]{1,9}", revision):
        raise HTTPException(400, "The form lacks its key. Load the page again.")
    subject = _subject(here, found)
    do = text("do")
    if text("label"):
        do = "label"
    try:
        if do == "done":
            change = None
            if found.kind is Kind.RATE:
                change = _rate(text("rating"))
            if subject.training is not None:
                change = partial(
                    training.graded, example=subject.training, settings=subject.settings
                )
            confirmed = bool(text("confirm"))
            after = here.store.finish(
                name, me, key, int(revision), partial(_complete, subject, confirmed), change
            )
            if after.kind is Kind.TRAINING:
                return _go(request, f"/task/{name}")
            following, _ = here.store.claim(me)
            return _go(request, f"/task/{following.id}" if following else "/work?none=1")
        made: Change | str = UNDO if do == "undo" else _change(subject, do, form, text)
        after = here.store.save(name, me, key, int(revision), made)
        return _answer(request, here, me, after, "", 200)
    except Gone as error:
        return _answer(request, here, me, None, str(error), 409)
    except (Conflict, NotAllowed) as error:
        return _answer(request, here, me, _own(here, me, name), str(error), 409)
    except InputError as error:
        return _answer(request, here, me, _own(here, me, name), str(error), 422)


def _go(request: Request, path: str) -> Response:
    if request.headers.get("x-fragment"):
        return HTMLResponse("", headers={"X-Location": path})
    return redirect(path)


def _answer(
    request: Request, here: Site, me: Person, task: Task | None, message: str, status: int
) -> Response:
    if task is None:
        if request.headers.get("x-fragment"):
            return here.page(request, "_gone.html", status, me=me, message=message)
        return here.problem(request, status, "Not yours any more", message, me)
    if request.headers.get("x-fragment"):
        return _page(request, here, me, task, message=message, status=status, fragment=True)
    if message:
        return _page(request, here, me, task, message=message, status=status)
    return redirect(f"/task/{task.id}")


# What a task is about


@dataclass(frozen=True, slots=True)
class Subject:
    """What a page of a task shows."""

    task: Task
    settings: Settings
    version: Version | None = None
    sentence: Sentence | None = None
    ours: tuple[Frame, ...] = ()
    theirs: tuple[Frame, ...] = ()
    key: Version | None = None
    source: Sentence | None = None
    reference: Sentence | None = None
    outputs: dict[str, Version] | None = None
    training: Example | None = None

    @property
    def kind(self) -> Kind:
        """What is done, in training too."""
        return self.task.kind if self.training is None else self.training.kind


def _subject(here: Site, task: Task) -> Subject:
    settings = here.store.campaign(task.campaign).settings
    store = here.store
    if task.kind is Kind.TRAINING:
        return _training_subject(here, task, settings)
    if task.kind is Kind.MARK:
        version = store.version(task.target)
        assert version is not None
        return Subject(task, settings, version=version, sentence=version.sentence)
    if task.kind is Kind.JUDGE:
        reading = store.task(task.target)
        assert reading is not None
        version = store.version(reading.target)
        versions = store.versions(task.segment or "")
        return Subject(
            task,
            settings,
            version=version,
            ours=marks.as_frames(reading.answer),
            theirs=marks.as_frames(store.key_answer(task.segment or "")),
            key=next(one for one in versions if one.kind is VersionKind.KEY),
        )
    segment = store.segment(task.segment or "")
    outputs = {
        one.id: one for one in store.versions(task.segment or "") if one.kind is VersionKind.SYSTEM
    }
    return Subject(
        task,
        settings,
        version=outputs.get(task.target),
        source=segment.source,
        reference=segment.reference,
        outputs=outputs,
    )


def _training_subject(here: Site, task: Task, settings: Settings) -> Subject:
    example = training.open_example(here.store.example(task), settings)
    if example.kind is Kind.MARK:
        return Subject(task, settings, sentence=example.sentence, training=example)
    assert example.reference is not None
    # The page of judging shows two texts of a campaign; these are of none.
    shown = [
        Version("", "", kind, "", sentence, None)
        for kind, sentence in (
            (VersionKind.SYSTEM, example.sentence),
            (VersionKind.KEY, example.reference),
        )
    ]
    return Subject(
        task,
        settings,
        version=shown[0],
        ours=example.frames,
        theirs=example.theirs,
        key=shown[1],
        training=example,
    )


# Steps


def _change(subject: Subject, do: str, form: FormData, text: Callable[[str], str]) -> Change:
    """The change a form asks for.

    Raises:
        InputError: It asks for nothing that is known.
    """
    verb, *numbers = do.split(":")
    kind = subject.kind
    try:
        if kind is Kind.MARK:
            return _mark_change(subject, verb, numbers, form, text)
        if kind is Kind.JUDGE:
            return _judge_change(subject, verb, numbers, text)
        if kind is Kind.RANK and verb in ("up", "down"):
            return partial(judging.move, place=int(numbers[0]), by=-1 if verb == "up" else 1)
        if kind is Kind.RANK and verb in ("tie", "untie"):
            return partial(judging.tie, place=int(numbers[0]), tied=verb == "tie")
        if kind is Kind.RANK and verb == "place":
            return partial(_place, start=int(numbers[0]), end=int(numbers[1]))
        if kind is Kind.RATE and verb == "rate":
            change = _rate(text("rating"))
            if change is not None:
                return change
    except (ValueError, IndexError) as error:
        raise InputError("The page asked for something unknown. Load it again.") from error
    raise InputError("Nothing was chosen.")


def _mark_change(
    subject: Subject, verb: str, numbers: list[str], form: FormData, text: Callable[[str], str]
) -> Change:
    assert subject.sentence is not None
    if verb == "label":
        words = [int(str(word)) for word in form.getlist("word")]
        return partial(
            marks.label_words,
            label=text("label"),
            words=words,
            count=len(subject.sentence.tokens or ()),
            settings=subject.settings,
        )
    if verb == "choose":
        return partial(marks.choose_frame, number=int(numbers[0]))
    if verb == "remove":
        return partial(marks.remove_frame, number=int(numbers[0]))
    if verb == "remove-role":
        return partial(marks.remove_role, number=int(numbers[0]), role=int(numbers[1]))
    raise InputError("Nothing was chosen.")


def _judge_change(
    subject: Subject, verb: str, numbers: list[str], text: Callable[[str], str]
) -> Change:
    number = int(numbers[0]) if numbers else -1
    if verb == "match":
        chosen = text(f"match-{number}")
        if chosen == "":
            return partial(judging.open_frame, reference=number)
        return partial(
            judging.match_frame,
            reference=number,
            hypothesis=None if chosen == "none" else int(chosen),
            ours=subject.ours,
            theirs=subject.theirs,
        )
    if verb in ("role", "verdict"):
        role = int(numbers[1])
        chosen = text(f"role-{number}-{role}")
        hypothesis: int | str | None = judging.NOT_SAID if chosen == "" else None
        if chosen not in ("", "none"):
            hypothesis = int(chosen)
        verdict = numbers[2] if verb == "verdict" else None
        if verdict is not None and not isinstance(hypothesis, int):
            raise InputError("Choose the words that say it first; what is missing is incorrect.")
        return partial(
            judging.judge_role,
            reference=number,
            role=role,
            hypothesis=hypothesis,
            verdict=verdict,
            ours=subject.ours,
        )
    raise InputError("Nothing was chosen.")


def _place(answer: judging.Answer, start: int, end: int) -> dict[str, Any]:
    """Move an output to another place of the order."""
    count = len(answer["order"])
    if not (0 <= start < count and 0 <= end < count) or start == end:
        raise InputError("It cannot go there.")
    by = 1 if end > start else -1
    moved: dict[str, Any] = dict(answer)
    for place in range(start, end, by):
        moved = judging.move(moved, place, by)
    return moved


def _rate(text: str) -> Change | None:
    if text not in [str(number) for number, *_ in judging.RATINGS]:
        return None
    return lambda answer: {"rating": int(text)}


def _complete(subject: Subject, confirmed: bool, task: Task) -> str | None:
    """What is missing from an answer, in words; none if nothing is."""
    if subject.kind is Kind.MARK:
        if not task.answer["frames"] and not confirmed:
            return (
                "You have marked nothing. If the sentence truly says of nobody that they did "
                "something, tick the box beside “Done”."
            )
        bare = [one for one in task.answer["frames"] if not one["roles"]]
        if bare and not confirmed:
            assert subject.sentence is not None
            words = (subject.sentence.tokens or ())[slice(*bare[0]["predicate"])]
            return (
                f"Nobody and nothing is marked around “{' '.join(words)}”. If that is right, tick "
                "the box beside “Done”."
            )
        return None
    if subject.kind is Kind.JUDGE:
        left = judging.missing_decisions(task.answer, subject.theirs)
        return None if not left else f"Still to decide: {left[0]}"
    if task.kind is Kind.RANK:
        if not task.answer["touched"] and not confirmed:
            return "You have moved nothing. If the order is right as it is, tick the box."
        return None
    return None if task.answer["rating"] else "Choose a number from 1 to 5."


# Pages


def _page(
    request: Request,
    here: Site,
    me: Person,
    task: Task,
    *,
    message: str = "",
    status: int = 200,
    fragment: bool = False,
) -> HTMLResponse:
    subject = _subject(here, task)
    name = str(subject.kind)
    if task.state == "done":
        name = "feedback" if task.kind is Kind.TRAINING else "finished"
    values: dict[str, Any] = {
        "me": me,
        "task": task,
        "subject": subject,
        "settings": subject.settings,
        "message": message,
    }
    if name == "mark":
        values |= _mark_values(subject)
    elif name == "feedback":
        values |= _feedback_values(subject)
    elif name == "judge":
        values |= _judge_values(subject)
    elif name == "rank":
        values |= {"ranks": judging.ranks(task.answer)}
    elif name == "rate":
        values |= {"ratings": judging.RATINGS}
    return here.page(
        request,
        f"_{name}.html" if fragment else "task.html",
        status,
        part=f"_{name}.html",
        **values,
    )


def _mark_values(subject: Subject) -> dict[str, Any]:
    sentence, answer = subject.sentence, subject.task.answer
    assert sentence is not None
    numbers = {label.name: n for n, label in enumerate(subject.settings.labels)}
    current = answer["current"]
    marked: dict[int, list[tuple[int, str]]] = {}
    heads: dict[int, str] = {}
    if current is not None:
        frame = answer["frames"][current]
        spans = [(subject.settings.predicate, frame["predicate"])]
        spans += [(role["label"], span) for role in frame["roles"] for span in role["spans"]]
        for label, (start, end) in spans:
            heads[start] = f"{heads[start]} {label}" if start in heads else label
            for word in range(start, end):
                marked.setdefault(word, []).append((numbers.get(label, 0), label))
    return {
        "words": [
            {
                "number": number,
                "text": word,
                "tight": _tight(sentence, number),
                "marks": marked.get(number, []),
                "head": heads.get(number, ""),
            }
            for number, word in enumerate(sentence.tokens or ())
        ],
        "frames": [_shown(frame, sentence) for frame in answer["frames"]],
        "current": current,
    }


def _tight(sentence: Sentence, number: int) -> bool:
    """Whether a word stands right behind the one before it."""
    offsets = sentence.offsets
    return bool(number and offsets and offsets[number][0] == offsets[number - 1][1])


def _shown(frame: Any, sentence: Sentence) -> dict[str, Any]:
    return {
        "predicate": words_of(sentence, [frame["predicate"]]),
        "roles": [
            {"label": role["label"], "text": words_of(sentence, role["spans"])}
            for role in frame["roles"]
        ],
    }


def show_frames(frames: tuple[Frame, ...], sentence: Sentence) -> list[dict[str, Any]]:
    """Frames as a page shows them."""
    return [_shown(frame, sentence) for frame in marks.from_frames(frames)["frames"]]


def _judge_values(subject: Subject) -> dict[str, Any]:
    assert subject.version is not None
    assert subject.key is not None
    answer = subject.task.answer
    ours = show_frames(subject.ours, subject.version.sentence)
    theirs = show_frames(subject.theirs, subject.key.sentence)
    left = judging.missing_decisions(answer, subject.theirs)
    taken = {
        match["hypothesis"]: int(number)
        for number, match in answer["matches"].items()
        if match["hypothesis"] is not None
    }
    return {
        "ours": ours,
        "theirs": theirs,
        "matches": {int(number): match for number, match in answer["matches"].items()},
        "taken": taken,
        "extra": {
            number: judging.extra_roles(answer, number, subject.ours)
            for number in range(len(theirs))
        },
        "left": left,
        "decided": {
            number
            for number in range(len(theirs))
            if not any(re.match(rf"Event {number + 1}[,:]", one) for one in left)
        },
        "unsaid": judging.NOT_SAID,
    }


def _feedback_values(subject: Subject) -> dict[str, Any]:
    """A training answer beside the example's: what agrees, what differs, and why."""
    assert subject.training is not None
    feedback = training.grade(subject.training, subject.task.answer, subject.settings)
    return {
        "feedback": feedback,
        "right": sum(note.right for note in feedback.notes),
        "passed": training.passes(feedback, subject.settings),
        "required": subject.settings.training is Training.REQUIRED,
        "example": subject.training,
    }
