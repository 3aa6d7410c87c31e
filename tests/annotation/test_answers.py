"""Steps of marking, judging and ordering, as pure values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meantime.annotation import judging, marks
from meantime.annotation.campaign import (
    LABELS,
    Label,
    Role,
    Settings,
    find_problems,
    settings_as_json,
    settings_from_json,
)
from meantime.annotation.words import split_words
from meantime.errors import InputError, UsageError
from meantime.types import Frame, Span
from meantime.types import Role as Filler

SETTINGS = Settings()


def _label(answer, label, *words):
    return marks.label_words(answer, label, words, 10, SETTINGS)


def test_frames_are_made_around_their_actions() -> None:
    answer = _label(marks.empty(), "action", 2)
    answer = _label(answer, "agent", 0, 1)
    answer = _label(answer, "action", 5)
    answer = _label(answer, "patient", 7, 3, 8)
    assert marks.as_frames(answer) == (
        Frame(Span(2, 3), (Filler("agent", (Span(0, 2),)),)),
        Frame(Span(5, 6), (Filler("patient", (Span(3, 4), Span(7, 9))),)),
    )
    # The action again: back to its frame. The same words and label again: taken away.
    answer = _label(answer, "action", 2)
    assert answer["current"] == 0
    answer = _label(answer, "agent", 0, 1)
    assert answer["frames"][0]["roles"] == []
    assert marks.remove_frame(answer, 0)["frames"] == answer["frames"][1:]
    assert marks.remove_role(answer, 1, 0)["frames"][1]["roles"] == []


def test_overlapping_fillers_are_kept() -> None:
    answer = _label(marks.empty(), "action", 2)
    answer = _label(answer, "temporal", 0, 1)
    answer = _label(answer, "other", 1, 2)
    assert len(answer["frames"][0]["roles"]) == 2


@pytest.mark.parametrize(
    ("label", "words", "message"),
    [
        ("agent", [0], "Mark the action first"),
        ("action", [], "Select one or more words"),
        ("action", [0, 2], "stand together"),
        ("action", [10], "not in the sentence"),
        ("hero", [0], "no label"),
    ],
)
def test_impossible_steps_say_why(label, words, message) -> None:
    with pytest.raises(InputError, match=message):
        _label(marks.empty(), label, *words)


_STEPS = st.lists(
    st.tuples(
        st.sampled_from([label.name for label in LABELS]),
        st.lists(st.integers(-1, 10), max_size=4),
    ),
    max_size=12,
)


@given(_STEPS)
def test_any_steps_give_frames_of_the_sentence(steps) -> None:
    answer = marks.empty()
    for label, words in steps:
        before = answer
        try:
            answer = _label(answer, label, *words)
        except InputError:
            assert answer == before
    assert marks.check(answer, 10, SETTINGS) == answer
    assert len(marks.as_frames(answer)) == len(answer["frames"])
    assert marks.as_frames(marks.from_frames(marks.as_frames(answer))) == marks.as_frames(answer)


def test_an_analysers_labels_become_the_campaigns() -> None:
    frame = Frame(
        Span(2, 3),
        tuple(
            Filler(label, (Span(n, n + 1),))
            for n, label in enumerate(
                ["ARG0", "R-ARG1", "ARG2", "ARGM-TMP", "ARGM-LOC", "ARGM-NEG"]
            )
        ),
    )
    [found] = marks.translate([frame, Frame(Span(9, 10))], SETTINGS)
    assert [role.label for role in found.roles] == [
        "agent", "experiencer", "patient", "temporal", "location", "other",
    ]  # fmt: skip
    renamed = Settings(labels=tuple(Label(f"L{n}", "", "") for n in range(7)))
    [found] = marks.translate([frame], renamed)
    assert [role.label for role in found.roles] == ["L1", "L2", "L3", "L4", "L5", "L6"]


OURS = (
    Frame(Span(1, 2), (Filler("agent", (Span(0, 1),)), Filler("other", (Span(3, 4),)))),
    Frame(Span(5, 6)),
)
THEIRS = (
    Frame(Span(1, 2), (Filler("agent", (Span(0, 1),)), Filler("patient", (Span(2, 3),)))),
    Frame(Span(4, 5), ()),
)


def test_judging_from_first_to_last() -> None:
    answer = judging.empty()
    assert len(judging.missing_decisions(answer, THEIRS)) == 2
    answer = judging.match_frame(answer, 0, 0, OURS, THEIRS)
    answer = judging.match_frame(answer, 1, None, OURS, THEIRS)
    # Agents are put beside each other; the patient has nothing of its label.
    assert [role["hypothesis"] for role in answer["matches"]["0"]["roles"]] == [0, "unsaid"]
    assert judging.extra_roles(answer, 0, OURS) == [1]
    left = judging.missing_decisions(answer, THEIRS)
    assert [one.split(",")[1].split(":")[0] for one in left] == [" agent", " patient"]
    answer = judging.judge_role(answer, 0, 0, 0, "partial", OURS)
    answer = judging.judge_role(answer, 0, 1, None, None, OURS)
    assert judging.missing_decisions(answer, THEIRS) == []
    judgement = judging.as_judgement(answer, "joe")
    assert judging.from_judgement(judgement, THEIRS) == answer
    [match] = judgement.matches
    assert [(v.hypothesis, v.reference, str(v.verdict)) for v in match.verdicts] == [
        (0, 0, "partial"),
        (None, 1, "incorrect"),
    ]


def test_a_frame_and_a_role_stand_for_one_other() -> None:
    answer = judging.match_frame(judging.empty(), 0, 0, OURS, THEIRS)
    answer = judging.judge_role(answer, 0, 0, 0, "correct", OURS)
    answer = judging.judge_role(answer, 0, 1, 0, "correct", OURS)
    roles = answer["matches"]["0"]["roles"]
    assert roles[0] == {"hypothesis": "unsaid", "verdict": None}
    answer = judging.match_frame(answer, 1, 0, OURS, THEIRS)
    assert "0" not in answer["matches"]


def test_orders_and_ties() -> None:
    answer = judging.empty_order(["a", "b", "c"], "seed")
    assert answer == judging.empty_order(["c", "a", "b"], "seed")
    answer = {"order": ["a", "b", "c"], "tied": [False] * 3, "touched": False}
    answer = judging.move(answer, 2, -1)
    assert answer["order"] == ["a", "c", "b"]
    answer = judging.tie(answer, 2, True)
    assert judging.ranks(answer) == {"a": 1, "c": 2.5, "b": 2.5}
    assert judging.ranks(judging.move(answer, 0, 1)) == {"c": 1, "a": 2, "b": 3}
    with pytest.raises(InputError, match="further"):
        judging.move(answer, 0, -1)
    with pytest.raises(InputError, match="Nothing stands above"):
        judging.tie(answer, 0, True)


@pytest.mark.parametrize(
    ("text", "lang", "words"),
    [
        ("He didn't go.", "en", ["He", "did", "n't", "go", "."]),
        ("至此，SK-II 产品", "zh", ["至", "此", "，", "SK-II", "产", "品"]),
        ("ذَهَبَ إلى المدرسةِ.", "ar", ["ذَهَبَ", "إلى", "المدرسةِ", "."]),
        ("उसने किताब पढ़ी।", "hi", ["उसने", "किताब", "पढ़ी", "।"]),
        ("L'été, 4,5 %", "fr", ["L'été", ",", "4,5", "%"]),
        ("", "en", []),
    ],
)
def test_words(text, lang, words) -> None:
    sentence = split_words(text, lang)
    assert list(sentence.tokens) == words
    assert [text[start:end] for start, end in sentence.offsets] == words


def test_settings_are_kept_as_they_are_and_checked() -> None:
    settings = Settings(annotators=3, lease_minutes=5)
    assert settings_from_json(settings_as_json(settings)) == settings
    for values, message in [
        ({"annotators": 1}, "annotators is 1"),
        ({"judges": "3"}, "judges is '3'"),
        ({"partial": 2.0}, "partial is 2"),
        ({"control": 1}, "control is 1"),
        ({"annotator": 2}, "no setting is called 'annotator'"),
        ({"labels": [{"name": "x", "asks": "", "help": ""}]}, "two or more"),
        ({"labels": [{"nam": "x"}]}, "labels: "),
        ({"key": "magic"}, "people, analyser, file"),
        ({"training": "maybe"}, "off, shown, required"),
        ({"training": True}, "training is True"),
        ({"training_pass": 1.5}, "training_pass is 1.5"),
        ({"w0": float("nan")}, "w0 is nan"),
    ]:
        with pytest.raises(UsageError, match=message):
            settings_from_json(values)


def test_rules_that_cannot_be_met_are_named() -> None:
    people = {Role.ANNOTATOR: 9, Role.JUDGE: 3, Role.RANKER: 1}
    assert find_problems(Settings(), 3, people) == []
    [problem] = find_problems(Settings(), 3, {**people, Role.ANNOTATOR: 8})
    assert problem.startswith("8 of at least 9 annotators: ")
    assert "invite 1 more" in problem
    assert (
        find_problems(Settings(control=False, key="analyser"), 3, {**people, Role.ANNOTATOR: 6})
        == []
    )
    [problem] = find_problems(Settings(), 3, {**people, Role.JUDGE: 0})
    assert "0 of at least 3 judges" in problem
