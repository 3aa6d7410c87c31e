"""The training round: shipped examples, what is said of an answer, and who may go on."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from meantime.annotation import judging, marks, training
from meantime.annotation.campaign import Kind, Label, Role, Settings, Training
from meantime.annotation.simulate import Simulation
from meantime.annotation.store import NewCampaign, NotAllowed
from meantime.annotation.store.store import UNDO
from meantime.errors import FormatError
from meantime.types import Frame, Span
from meantime.types import Role as Filler

SETTINGS = Settings()
NAMES = [name for kind in training.TRAINED for name in training.shipped_names(kind)]


def _key(example):
    if example.kind is Kind.MARK:
        return marks.from_frames(example.frames)
    return judging.from_judgement(example.judgement, example.theirs)


@pytest.mark.parametrize("name", NAMES)
def test_the_key_of_every_shipped_example_agrees_with_itself(name) -> None:
    example = training.open_example(training.shipped_content(name), SETTINGS)
    feedback = training.grade(example, _key(example), SETTINGS)
    assert feedback.agreement == 1
    assert all(note.right for note in feedback.notes)
    assert feedback.more == ()
    assert example.note
    assert training.grade(example, training.begin(), SETTINGS).agreement < 0.5
    if example.kind is Kind.JUDGE:
        assert judging.missing_decisions(_key(example), example.theirs) == []


@pytest.mark.parametrize("name", NAMES)
def test_shipped_examples_are_those_that_can_be_uploaded(name) -> None:
    content = training.shipped_content(name)
    assert training.read_examples(json.dumps(content), "x", SETTINGS) == [content]


def test_shipped_examples_speak_of_renamed_labels() -> None:
    renamed = Settings(labels=tuple(Label(f"L{n}", "", "") for n in range(7)))
    example = training.open_example(training.shipped_content("baker"), renamed)
    assert [role.label for role in example.frames[0].roles] == ["L1", "L2", "L3", "L4", "L5"]


def _marking(frames):
    baker = training.open_example(training.shipped_content("baker"), SETTINGS)
    return training.grade(baker, marks.from_frames(frames), SETTINGS)


def test_spans_may_be_a_word_off_and_predicates_are_not_their_neighbours() -> None:
    # Yesterday the baker sold the last loaf to a tourist in front of her shop.
    shorter = (
        Filler("agent", (Span(2, 3),)),
        Filler("experiencer", (Span(4, 8),)),
        Filler("patient", (Span(8, 10),)),
        Filler("temporal", (Span(0, 1),)),
        Filler("location", (Span(10, 15),)),
    )
    assert _marking([Frame(Span(3, 4), shorter)]).agreement == 1
    assert _marking([Frame(Span(2, 3), shorter)]).agreement == 0
    two_off = (replace(shorter[1], spans=(Span(6, 8),)), *shorter[2:])
    feedback = _marking([Frame(Span(3, 4), (shorter[0], *two_off))])
    assert [note.right for note in feedback.notes] == [True, True, False, True, True, True]
    assert feedback.more == ("loaf to (experiencer)",)
    assert feedback.agreement == 2 * 5 / (6 + 6)


def test_what_is_marked_beyond_the_key_costs_too() -> None:
    feedback = _marking(
        [
            Frame(Span(3, 4), (Filler("other", (Span(1, 3),)),)),
            Frame(Span(12, 13), (Filler("agent", (Span(13, 15),)),)),
        ]
    )
    said = {note.label: note.said for note in feedback.notes}
    assert said["action"] == ""
    assert said["agent"] == "you called it other"
    # Right: the action. The key has 6, the answer 2 + 2.
    assert feedback.agreement == 2 / (6 + 4)
    assert feedback.more == ("of (action)",)


def test_an_example_without_any_event() -> None:
    bare = training.open_example({"text": "Good morning!", "frames": []}, SETTINGS)
    assert training.grade(bare, marks.empty(), SETTINGS).agreement == 1
    one = marks.from_frames([Frame(Span(1, 2))])
    assert training.grade(bare, one, SETTINGS).agreement == 0


def test_missing_and_incorrect_are_the_same_verdict() -> None:
    dog = training.open_example(training.shipped_content("dog"), SETTINGS)
    answer = _key(dog)
    answer["matches"]["0"]["roles"][1] = {"hypothesis": None, "verdict": None}
    assert training.grade(dog, answer, SETTINGS).agreement == 1
    answer["matches"]["1"] = {"hypothesis": 0, "roles": [{"hypothesis": None, "verdict": None}] * 2}
    assert training.grade(dog, answer, SETTINGS).agreement == 5 / 6


def _campaign(store, truth, **changes):
    settings = Settings(repeat_every=0, **changes)
    campaign = store.create_campaign(NewCampaign("t", settings, (truth["1"].new(),)))
    return campaign, settings


def test_what_must_be_passed_comes_again_until_it_is(store, truth) -> None:
    campaign, settings = _campaign(store, truth)
    ann = store.add_person(campaign, "ann", Role.ANNOTATOR)
    seen = []
    for number in range(5):
        task, _ = store.claim(ann)
        seen.append(task.example)
        example = training.open_example(store.example(task), settings)
        if number not in (0, 2):
            task = store.save(task.id, ann, "the-key-1", 0, lambda _, one=example: _key(one))
        task = store.finish(
            task.id,
            ann,
            "finished1",
            task.revision,
            lambda _: None,
            lambda answer, one=example: training.graded(answer, one, settings),
        )
        assert task.answer["agreement"] == (0 if number in (0, 2) else 1)
    assert seen == ["baker", "baker", "pilot", "pilot", "storm"]
    found = store.trained(ann)
    assert (found.examples, found.passed, found.tries, found.over) == (3, 3, 5, True)
    assert found.agreement == pytest.approx(1 / 3)
    real, _ = store.claim(ann)
    assert real.kind is Kind.MARK
    # Whoever has begun is not sent back by examples that come later.
    store.set_examples(campaign, [{"text": "Rain.", "frames": []}])
    assert store.claim(ann)[0].id == real.id
    ben = store.add_person(campaign, "ben", Role.ANNOTATOR)
    assert store.claim(ben)[0].example not in NAMES
    ranker = store.add_person(campaign, "ranker", Role.RANKER)
    assert store.claim(ranker)[0].kind is Kind.RANK
    assert store.done_by(ann.id) == 0
    store.set_state(campaign, "closed")
    with pytest.raises(NotAllowed, match="closed"):
        store.set_examples(campaign, [])


def test_steps_of_training_are_saved_and_undone_like_any(store, truth) -> None:
    campaign, settings = _campaign(store, truth)
    ann = store.add_person(campaign, "ann", Role.ANNOTATOR)
    task, _ = store.claim(ann)
    label = lambda answer: marks.label_words(answer, "action", [3], 15, settings)  # noqa: E731
    first = store.save(task.id, ann, "step-one", 0, label)
    assert store.claim(ann)[0].answer == first.answer
    assert store.save(task.id, ann, "step-two", 1, UNDO).answer["frames"] == []


def test_an_easier_mark_lets_those_go_on_who_reached_it(store, truth) -> None:
    campaign, settings = _campaign(store, truth)
    ann = store.add_person(campaign, "ann", Role.ANNOTATOR)
    task, _ = store.claim(ann)
    half = lambda answer: {**answer, "agreement": 0.5}  # noqa: E731
    store.finish(task.id, ann, "finished1", 0, lambda _: None, half)
    assert store.claim(ann)[0].example == "baker"
    store.change_settings(campaign, replace(settings, training_pass=0.5))
    assert store.trained(ann).passed == 1
    assert store.claim(ann)[0].example == "pilot"
    store.change_settings(campaign, replace(settings, training=Training.OFF))
    assert store.claim(ann)[0].kind is Kind.MARK


def test_simulated_people_train_and_then_work(store, truth, clock) -> None:
    campaign, settings = _campaign(store, truth, judges=1, control=False)
    people = [store.add_person(campaign, f"a{n}", Role.ANNOTATOR) for n in range(7)]
    people.append(store.add_person(campaign, "joe", Role.JUDGE))
    Simulation(store, truth, settings, random.Random(3), clock, 0.3).work(people)
    progress = store.progress(campaign)
    assert progress[Kind.MARK].done == 7
    assert progress[Kind.JUDGE].done == 6
    assert all(store.trained(one).over for one in people)
    assert sum(store.trained(one).tries for one in people) > 7 * 3 + 2
    # Nothing of the training round is among the results.
    assert {task.kind for task in store.everything(campaign).tasks if task.segment} == {
        Kind.MARK,
        Kind.JUDGE,
    }


def test_a_line_of_exported_judgements_is_an_example(small, truth, clock) -> None:
    from meantime.annotation.results import collect_judgements
    from meantime.formats.judgements import render_judgements

    campaign, settings = _campaign(small, truth, training=Training.OFF, judges=1, control=False)
    people = [small.add_person(campaign, f"a{n}", Role.ANNOTATOR) for n in range(7)]
    people.append(small.add_person(campaign, "joe", Role.JUDGE))
    Simulation(small, truth, settings, random.Random(1), clock, 0.0).work(people)
    exported = render_judgements(collect_judgements(small.everything(campaign)))
    line = json.loads(exported.splitlines()[0])
    with pytest.raises(FormatError, match="2 readings; an example has one"):
        training.read_examples(json.dumps(line), "x", settings)
    line["readings"] = line["readings"][:1]
    [content] = training.read_examples(json.dumps(line), "x", settings)
    example = training.open_example(content, settings)
    assert training.grade(example, _key(example), settings).agreement == 1
    gold = training.read_gold(exported, "x", settings)
    assert gold["1"][1] == truth["1"].frames
