"""What an annotator's answer is, and each step by which it comes about.

An answer is plain values, as they are kept: frames with a predicate and roles, in the order in
which they were made, and the frame worked on. A step gives a new answer; none changes one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from meantime.alignment.roles import role_class
from meantime.annotation.campaign import Settings
from meantime.errors import InputError
from meantime.types import Frame, Role, Span

Answer = Mapping[str, Any]

# PropBank's classes as the paper's labels: Table 1 beside the examples of Figure 3 and Table 2.
_CLASSES = {
    "arg0": "agent",
    "arg1": "experiencer",
    "arg2": "patient",
    "temporal": "temporal",
    "locative": "location",
}


def empty() -> dict[str, Any]:
    """An answer nobody has worked on."""
    return {"frames": [], "current": None}


def runs(words: Sequence[int]) -> list[list[int]]:
    """Spans [start, end) of word numbers, joined where they are neighbours."""
    spans: list[list[int]] = []
    for word in sorted(set(words)):
        if spans and spans[-1][1] == word:
            spans[-1][1] = word + 1
        else:
            spans.append([word, word + 1])
    return spans


def label_words(
    answer: Answer, label: str, words: Sequence[int], count: int, settings: Settings
) -> dict[str, Any]:
    """Call selected words something.

    The predicate's label begins a new frame, or takes up one that has this predicate; any other
    adds a role to the frame worked on, or takes away one of the same label and words.

    Raises:
        InputError: No words, words that are not there, or no frame to add to; in words for the
            annotator.
    """
    if label not in {one.name for one in settings.labels}:
        raise InputError(f"There is no label “{label}”. Choose one of those shown.")
    if not words:
        raise InputError("Select one or more words first, then choose what they are.")
    if not all(0 <= word < count for word in words):
        raise InputError("These words are not in the sentence. Load the page again.")
    spans = runs(words)
    frames = [dict(frame) for frame in answer["frames"]]
    if label == settings.predicate:
        if len(spans) != 1:
            raise InputError(
                f"The {label} is one word or words that stand together. Leave out the helpers."
            )
        for number, frame in enumerate(frames):
            if frame["predicate"] == spans[0]:
                return {"frames": frames, "current": number}
        frames.append({"predicate": spans[0], "roles": []})
        return {"frames": frames, "current": len(frames) - 1}
    current = answer["current"]
    if current is None:
        raise InputError(
            f"Mark the {settings.predicate} first: select its word, then choose that label."
        )
    frame = frames[current]
    role = {"label": label, "spans": spans}
    kept = [one for one in frame["roles"] if one != role]
    if len(kept) == len(frame["roles"]):
        kept.append(role)
    frames[current] = {**frame, "roles": kept}
    return {"frames": frames, "current": current}


def choose_frame(answer: Answer, number: int) -> dict[str, Any]:
    """Work on another frame."""
    if not 0 <= number < len(answer["frames"]):
        raise InputError("This frame is not there any more. Load the page again.")
    return {"frames": list(answer["frames"]), "current": number}


def remove_frame(answer: Answer, number: int) -> dict[str, Any]:
    """Take a frame away."""
    choose_frame(answer, number)
    frames = [one for place, one in enumerate(answer["frames"]) if place != number]
    return {"frames": frames, "current": len(frames) - 1 if frames else None}


def remove_role(answer: Answer, number: int, role: int) -> dict[str, Any]:
    """Take a role of a frame away."""
    choose_frame(answer, number)
    frames = [dict(frame) for frame in answer["frames"]]
    roles = frames[number]["roles"]
    if not 0 <= role < len(roles):
        raise InputError("This role is not there any more. Load the page again.")
    frames[number]["roles"] = [one for place, one in enumerate(roles) if place != role]
    return {"frames": frames, "current": number}


def as_frames(answer: Answer) -> tuple[Frame, ...]:
    """The frames of an answer, left to right; roles by their first word."""
    frames = [
        Frame(
            Span(*frame["predicate"]),
            tuple(
                sorted(
                    (
                        Role(role["label"], tuple(Span(*span) for span in role["spans"]))
                        for role in frame["roles"]
                    ),
                    key=lambda role: (role.spans, role.label),
                )
            ),
        )
        for frame in answer["frames"]
    ]
    return tuple(sorted(frames, key=lambda frame: frame.predicate))


def from_frames(frames: Sequence[Frame]) -> dict[str, Any]:
    """An answer that says what frames say."""
    listed = [
        {
            "predicate": [frame.predicate.start, frame.predicate.end],
            "roles": [
                {"label": role.label, "spans": [[span.start, span.end] for span in role.spans]}
                for role in frame.roles
            ],
        }
        for frame in frames
    ]
    return {"frames": listed, "current": len(listed) - 1 if listed else None}


def translate(frames: Sequence[Frame], settings: Settings) -> tuple[Frame, ...]:
    """An analyser's frames under a campaign's labels; frames without roles are left out.

    Numbered arguments and the two commonest adjuncts have their label where the campaign has it;
    everything else has the last one.
    """
    found = []
    for frame in frames:
        roles = []
        for role in frame.roles:
            usual = _CLASSES.get(role_class(role.label), "other")
            roles.append(Role(settings.named(usual), role.spans))
        if roles:
            found.append(Frame(frame.predicate, tuple(roles)))
    return tuple(found)


def check(content: object, count: int, settings: Settings) -> dict[str, Any]:
    """An answer from outside (an import), refused where it is none.

    Raises:
        InputError: It is no answer for a sentence of so many words.
    """
    try:
        assert isinstance(content, Mapping)
        names = {label.name for label in settings.roles}
        for frame in as_frames(content):
            assert frame.predicate.end <= count
            for role in frame.roles:
                assert role.label in names
                assert role.spans
                assert all(span.end <= count for span in role.spans)
        current = content["current"]
        assert current is None or 0 <= current < len(content["frames"])
    except (AssertionError, KeyError, TypeError) as error:
        raise InputError(f"this is no marking of {count} words: {content!r}") from error
    return dict(content)
