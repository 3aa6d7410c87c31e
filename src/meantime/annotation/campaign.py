"""What a campaign is: its labels, how many people see what, weights; who may do what."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from meantime.errors import UsageError
from meantime.metrics.hmeant_arithmetic import Weights

CONTROL = "reference"
"""The system name of the control condition: the reference, read as if a system had made it."""


class Role(StrEnum):
    """What a person does in a campaign: one thing, so that no judge has ever read."""

    ANNOTATOR = "annotator"
    JUDGE = "judge"
    RANKER = "ranker"
    RATER = "rater"
    ADMINISTRATOR = "administrator"


class Kind(StrEnum):
    """What a task asks."""

    MARK = "mark"
    JUDGE = "judge"
    RANK = "rank"
    RATE = "rate"
    TRAINING = "training"


TASKS: Mapping[Role, Kind] = {
    Role.ANNOTATOR: Kind.MARK,
    Role.JUDGE: Kind.JUDGE,
    Role.RANKER: Kind.RANK,
    Role.RATER: Kind.RATE,
}
"""What a role works on."""


class State(StrEnum):
    """Whether a campaign gives out work. Closed is for good."""

    OPEN = "open"
    PAUSED = "paused"
    CLOSED = "closed"


class Training(StrEnum):
    """The training round before somebody's first real item: examples with a known answer."""

    OFF = "off"
    SHOWN = "shown"
    REQUIRED = "required"


class VersionKind(StrEnum):
    """What a text to be read is: a system's, the control, or the key others are held against."""

    SYSTEM = "system"
    CONTROL = "control"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class Label:
    """What a stretch of words can be called. The first label of a campaign is the predicate's."""

    name: str
    asks: str
    help: str
    core: bool = False


# Lo and Wu 2010, Table 1, with words of our own to explain them.
LABELS = (
    Label(
        "action", "did", "The word that says what happened: usually one verb, without its helpers."
    ),
    Label("agent", "who", "Who or what does it, or makes it happen.", core=True),
    Label(
        "experiencer", "what", "What it happens to, or what is said, thought or felt.", core=True
    ),
    Label("patient", "whom", "To whom or for whom it is done.", core=True),
    Label("temporal", "when", "When, how long or how often."),
    Label("location", "where", "Where, from where or to where."),
    Label("other", "why / how", "Why, how, how much, whether at all: anything else about it."),
)


KEYS = ("people", "analyser", "file")
"""Who marks the frames of the reference: an annotator more, the analyser, or a file of them."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What an administrator decides. The defaults are the paper's, where it says."""

    labels: tuple[Label, ...] = LABELS
    annotators: int = 2
    judges: int = 3
    rankers: int = 1
    raters: int = 0
    control: bool = True
    key: str = "people"
    weights: Weights = field(default_factory=Weights)
    lease_minutes: float = 120.0
    repeat_every: int = 10
    prefill: float = 0.0
    training: Training = Training.REQUIRED
    training_pass: float = 0.7
    seed: int = 12345

    def __post_init__(self) -> None:
        names = [label.name for label in self.labels]
        if len(names) < 2 or len(set(names)) != len(names):
            raise UsageError("labels: there must be two or more, each once; give different names")
        for label in self.labels:
            if not label.name.strip() or len(label.name) > 40 or len(label.help) > 500:
                raise UsageError(
                    f"label {label.name!r}: give a name of 1 to 40 characters and help of up to 500"
                )
        for name, value, least, most in (
            ("annotators", self.annotators, 2, 20),
            ("judges", self.judges, 1, 20),
            ("rankers", self.rankers, 0, 20),
            ("raters", self.raters, 0, 20),
            ("lease_minutes", self.lease_minutes, 1, 60 * 24 * 30),
            ("repeat_every", self.repeat_every, 0, 1000),
            ("prefill", self.prefill, 0, 1),
            ("training_pass", self.training_pass, 0, 1),
            ("w0", self.weights.predicate, 0, 1000),
            ("w1", self.weights.core, 0, 1000),
            ("w2", self.weights.adjunct, 0, 1000),
            ("partial", self.weights.partial, 0, 1),
        ):
            if not (math.isfinite(value) and least <= value <= most):
                raise UsageError(f"{name} is {value}; give a number from {least} to {most}")
        if self.key not in KEYS:
            raise UsageError(f"key is {self.key!r}; give {', '.join(KEYS)}")

    @property
    def predicate(self) -> str:
        """The name of the predicate's label."""
        return self.labels[0].name

    def named(self, usual: str) -> str:
        """What one of the usual labels is called here: by its place, where labels were renamed.

        The last label where there is none like it.
        """
        names = [label.name for label in self.labels]
        if usual in names:
            return usual
        places = [label.name for label in LABELS]
        if len(names) == len(places) and usual in places:
            return names[places.index(usual)]
        return names[-1]

    @property
    def roles(self) -> tuple[Label, ...]:
        """The labels of arguments."""
        return self.labels[1:]

    @property
    def core(self) -> frozenset[str]:
        """The names of the labels of core arguments."""
        return frozenset(label.name for label in self.labels if label.core)


def settings_as_json(settings: Settings) -> dict[str, Any]:
    """Settings as plain values, for keeping and exporting."""
    weights = settings.weights
    return {
        "labels": [
            {"name": one.name, "asks": one.asks, "help": one.help, "core": one.core}
            for one in settings.labels
        ],
        "annotators": settings.annotators,
        "judges": settings.judges,
        "rankers": settings.rankers,
        "raters": settings.raters,
        "control": settings.control,
        "key": settings.key,
        "w0": weights.predicate,
        "w1": weights.core,
        "w2": weights.adjunct,
        "partial": weights.partial,
        "lease_minutes": settings.lease_minutes,
        "repeat_every": settings.repeat_every,
        "prefill": settings.prefill,
        "training": str(settings.training),
        "training_pass": settings.training_pass,
        "seed": settings.seed,
    }


def settings_from_json(values: Mapping[str, Any]) -> Settings:
    """Settings from plain values; what is left out has its default.

    Raises:
        UsageError: A value is not what it should be, or nobody knows its name.
    """
    given = dict(values)
    known = settings_as_json(Settings())
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise UsageError(f"no setting is called {unknown[0]!r}; there are {', '.join(known)}")
    for name, value in given.items():
        expected = type(known[name])
        accepted = (int, float) if expected is float else expected
        if not isinstance(value, accepted) or (expected is not bool and isinstance(value, bool)):
            raise UsageError(f"{name} is {value!r}; give a value like {known[name]!r}")
    names = {"w0": "predicate", "w1": "core", "w2": "adjunct", "partial": "partial"}
    weights = replace(
        Weights(), **{kind: float(given.pop(name)) for name, kind in names.items() if name in given}
    )
    if "training" in given:
        try:
            given["training"] = Training(given["training"])
        except ValueError as error:
            raise UsageError(
                f"training is {given['training']!r}; give {', '.join(Training)}"
            ) from error
    if "labels" in given:
        try:
            given["labels"] = tuple(Label(**label) for label in given["labels"])
        except TypeError as error:
            raise UsageError(f"labels: {error}; give name, asks, help and core") from error
    return Settings(weights=weights, **given)


def settings_text(settings: Settings) -> str:
    """Settings as they are kept."""
    return json.dumps(settings_as_json(settings), ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a role; an administrator without a campaign has all of them."""

    id: str
    campaign: str | None
    name: str
    role: Role
    active: bool = True


def find_problems(settings: Settings, systems: int, people: Mapping[Role, int]) -> list[str]:
    """Why the rules cannot be met with the people there are; empty if they can.

    An annotator never sees two versions of a segment, so a segment needs as many annotators as
    it has readings: of each system, of the control and of the key.
    """
    readings = systems * settings.annotators
    said = f"{systems} systems × {settings.annotators}"
    if settings.control:
        readings += settings.annotators
        said += f" + {settings.annotators} for the control"
    if settings.key == "people":
        readings += 1
        said += " + 1 for the reference's own frames"
    needed = (
        (Role.ANNOTATOR, readings, f"each segment has {readings} readings ({said}), and nobody may "
         "read two versions of a segment"),
        (Role.JUDGE, settings.judges, f"each reading is judged by {settings.judges}"),
        (Role.RANKER, settings.rankers, f"each segment is ordered by {settings.rankers}"),
        (Role.RATER, settings.raters, f"each output is rated by {settings.raters}"),
    )  # fmt: skip
    problems = []
    for role, count, reason in needed:
        there = people.get(role, 0)
        if there < count:
            problems.append(
                f"{there} of at least {count} {role}s: {reason}; invite {count - there} more"
                + (" or ask for fewer readings" if role is Role.ANNOTATOR else "")
            )
    return problems
