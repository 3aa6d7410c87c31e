"""The store on both databases: rules that hold whoever asks, steps taken once, links."""

from __future__ import annotations

import random
import threading
from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from meantime.annotation import marks
from meantime.annotation.campaign import Kind, Person, Role, Settings, State, Training, VersionKind
from meantime.annotation.simulate import Simulation
from meantime.annotation.store import Conflict, Gone, NewCampaign, NotAllowed
from meantime.annotation.store.store import UNDO
from meantime.errors import InputError, UsageError

COUNT = 9


def _label(label, *words):
    return lambda answer: marks.label_words(answer, label, words, COUNT, Settings())


def _simulate(store, truth, settings, clock, error=0.1):
    return Simulation(store, truth, settings, random.Random(1), clock, error)


def test_nobody_reads_two_versions_and_no_reader_judges(
    store, make, settings, truth, clock
) -> None:
    campaign, people = make(store, settings, 2, annotator=9, judge=3, ranker=1)
    _simulate(store, truth, settings, clock).work(people)
    data = store.everything(campaign)
    read: dict[tuple[str, str], set[str]] = {}
    for task in data.tasks:
        if task.kind is Kind.MARK:
            read.setdefault((task.person, task.segment), set()).add(task.target)
    assert all(len(versions) == 1 for versions in read.values())
    readers = {person for person, _ in read}
    judges: dict[str, set[str]] = {}
    for task in data.tasks:
        if task.kind is Kind.JUDGE:
            assert task.person not in readers
            judges.setdefault(task.target, set()).add(task.person)
    # 2 segments, 3 systems and the control, two readings each, three judges each.
    assert len(judges) == 2 * 4 * 2
    assert all(len(who) == 3 for who in judges.values())
    progress = store.progress(campaign)
    assert {kind: (p.done, p.total) for kind, p in progress.items()} == {
        Kind.MARK: (18, 18),
        Kind.JUDGE: (48, 48),
        Kind.RANK: (2, 2),
    }


def test_the_log_keeps_the_order_of_what_happens_at_one_moment(store, make, settings) -> None:
    # The tests' clock stands still: everything here is logged at one moment.
    campaign, _ = make(store, settings)
    people = [store.add_person(campaign, f"person {n}", Role.ANNOTATOR) for n in range(30)]
    logged = [one.about for one in store.log(campaign) if one.action == "add person"]
    assert logged == [one.id for one in reversed(people)]


def test_a_step_is_taken_once_however_often_it_is_sent(store, make, settings) -> None:
    _, [ann] = make(store, settings, annotator=1)
    task, _ = store.claim(ann)
    first = store.save(task.id, ann, "key-one-", 0, _label("action", 2))
    again = store.save(task.id, ann, "key-one-", 0, _label("action", 2))
    assert first == again
    assert again.revision == 1
    with pytest.raises(Conflict, match="another window"):
        store.save(task.id, ann, "key-two-", 0, _label("action", 3))
    assert len(store.task(task.id).answer["frames"]) == 1
    done = store.finish(task.id, ann, "key-three", 1, lambda _: None)
    assert store.finish(task.id, ann, "key-three", 1, lambda _: None) == done
    with pytest.raises(Gone, match="finished"):
        store.save(task.id, ann, "key-four", done.revision, _label("action", 3))


def test_the_same_step_from_two_threads_is_taken_once(store, make, settings) -> None:
    _, [ann] = make(store, settings, annotator=1)
    task, _ = store.claim(ann)
    errors: list[Exception] = []

    def press(key: str) -> None:
        try:
            store.save(task.id, ann, key, 0, _label("action", 2))
        except Conflict as error:
            errors.append(error)

    threads = [threading.Thread(target=press, args=(f"key-{n % 2}-xx",)) for n in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    found = store.task(task.id)
    assert found.revision == 1
    assert len(found.answer["frames"]) == 1
    assert len(errors) == 4


def test_undo_goes_back_step_by_step_to_the_start(store, make, settings) -> None:
    _, [ann] = make(store, settings, annotator=1)
    task, _ = store.claim(ann)
    seen = [task.answer]
    for number, change in enumerate(
        [_label("action", 2), _label("agent", 0, 1), _label("patient", 4)]
    ):
        task = store.save(task.id, ann, f"step-{number}", task.revision, change)
        seen.append(task.answer)
    for number, expected in enumerate(reversed(seen[:-1])):
        task = store.save(task.id, ann, f"undo-{number}", task.revision, UNDO)
        assert task.answer == expected
    with pytest.raises(InputError, match="nothing to undo"):
        store.save(task.id, ann, "undo-last", task.revision, UNDO)
    task = store.save(task.id, ann, "step-new", task.revision, _label("action", 5))
    task = store.save(task.id, ann, "undo-new", task.revision, UNDO)
    assert task.answer == seen[0]


def test_nobody_changes_anothers_task(store, make, settings) -> None:
    _, [ann, ben] = make(store, settings, annotator=2)
    task, _ = store.claim(ann)
    for act in (
        lambda: store.save(task.id, ben, "key-ben-", 0, _label("action", 2)),
        lambda: store.finish(task.id, ben, "key-ben-", 0, lambda _: None),
        lambda: store.save("nowhere", ben, "key-ben-", 0, _label("action", 2)),
    ):
        with pytest.raises(Gone, match="not yours"):
            act()


def test_abandoned_work_goes_back_and_its_reader_keeps_their_version(
    store, make, settings, clock
) -> None:
    settings = replace(settings, lease_minutes=30)
    _, [ann, ben] = make(store, settings, 1, annotator=2)
    task, _ = store.claim(ann)
    store.save(task.id, ann, "key-ann-", 0, _label("action", 2))
    clock.pass_seconds(29 * 60)
    store.claim(ben)
    assert store.task(task.id).person == ann.id
    clock.pass_seconds(2 * 60)
    store.claim(ben)
    found = store.task(task.id)
    assert (found.state, found.person) == ("open", None)
    assert found.answer["frames"] == []
    with pytest.raises(Gone, match="back to the pool"):
        store.save(task.id, ann, "key-late", 1, _label("action", 3))
    # Ann has seen this version: she may read no other of the segment, but this one anew.
    again, _ = store.claim(ann)
    assert again.target == task.target
    assert again.answer["frames"] == []
    # Who comes back before anybody else asked goes on where they were.
    store.save(again.id, ann, "key-back", again.revision, _label("action", 3))
    clock.pass_seconds(40 * 60)
    assert store.claim(ann)[0].answer["frames"]


def test_what_is_kept_cannot_be_changed_even_in_the_database(store, make, settings) -> None:
    _, [ann] = make(store, settings, annotator=1)
    task, _ = store.claim(ann)
    store.save(task.id, ann, "key-one-", 0, _label("action", 2))
    for statement in (
        "UPDATE saves SET content = ''",
        "DELETE FROM saves",
        "UPDATE log SET action = ''",
        "DELETE FROM log",
    ):
        with (
            pytest.raises(DatabaseError, match="append-only"),
            store._engine.begin() as connection,
        ):
            connection.execute(text(statement))


def test_links_expire_are_revoked_and_single_ones_are_used_once(
    store, make, settings, clock
) -> None:
    campaign, [ann] = make(store, settings, annotator=1)
    link = store.make_link(ann.id, days=1)
    session = store.enter(link)
    assert store.who(session) == ann
    assert store.enter(link) is not None
    clock.pass_seconds(2 * 86400)
    assert store.enter(link) is None
    assert store.who_may_enter(link) is None
    assert store.who(session) == ann
    clock.pass_seconds(20 * 86400)
    assert store.who(session) is None
    fresh = store.make_link(ann.id)
    session = store.enter(fresh)
    store.revoke(ann.id)
    assert store.who(session) is None
    assert store.enter(fresh) is None
    single = store.make_link(ann.id, single=True)
    found: list[str | None] = []
    threads = [threading.Thread(target=lambda: found.append(store.enter(single))) for _ in range(5)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sum(one is not None for one in found) == 1
    assert store.who("nonsense") is None
    # No secret is in the database, only hashes.
    dumped = repr(list(store.dump()))
    assert not any(secret in dumped for secret in (link, fresh, single, session))
    assert campaign in dumped


def test_removing_somebody_gives_their_work_back(store, make, settings) -> None:
    _, [ann, ben] = make(store, settings, 1, annotator=2)
    task, _ = store.claim(ann)
    session = store.enter(store.make_link(ann.id))
    store.remove_person(ann.id)
    assert store.task(task.id).state == "open"
    assert store.who(session) is None
    with pytest.raises(NotAllowed, match="removed"):
        store.make_link(ann.id)
    assert store.claim(ben)[0] is not None


def test_work_that_nobody_may_do_any_more_is_named(store, make, settings, truth, clock) -> None:
    campaign, people = make(store, settings, 2, annotator=9, judge=3)
    assert store.find_stuck(campaign) == []
    for person in people[:3]:
        task, _ = store.claim(person)
        store.finish(task.id, person, "finished", task.revision, lambda _: None)
    assert store.find_stuck(campaign) == []
    # Two leave: one has read segment 1, the other nothing; segment 2 lacks both.
    store.remove_person(people[0].id)
    store.remove_person(people[8].id)
    assert store.find_stuck(campaign) == [
        "segment 1: 6 to mark, and 5 annotators who still may; invite 1 more",
        "segment 2: 9 to mark, and 7 annotators who still may; invite 2 more",
    ]
    store.remove_person(people[-1].id)
    assert [one for one in store.find_stuck(campaign) if "to judge" in one] == [
        "segment 1: 3 to judge, and 2 judges who still may; invite 1 more"
    ]


def test_pausing_stops_everything_and_closing_is_for_good(store, make, settings) -> None:
    campaign, [ann] = make(store, settings, annotator=1)
    task, _ = store.claim(ann)
    store.set_state(campaign, State.PAUSED)
    assert store.claim(ann) == (None, "The campaign is paused: there is no work now.")
    with pytest.raises(NotAllowed, match="paused"):
        store.save(task.id, ann, "key-one-", 0, _label("action", 2))
    store.set_state(campaign, State.OPEN)
    store.save(task.id, ann, "key-one-", 0, _label("action", 2))
    store.set_state(campaign, State.CLOSED)
    with pytest.raises(NotAllowed, match="stays closed"):
        store.set_state(campaign, State.OPEN)


def test_a_campaign_can_be_extended(store, make, settings, truth, clock) -> None:
    settings = replace(settings, control=False, judges=1)
    campaign, people = make(store, settings, 1, annotator=10, judge=2, ranker=2)
    _simulate(store, truth, settings, clock).work(people)
    more = replace(settings, annotators=3, judges=2, rankers=2)
    store.change_settings(campaign, more)
    store.add_segments(campaign, [truth["2"].new()])
    _simulate(store, truth, more, clock).work(people)
    progress = store.progress(campaign)
    assert all(p.done == p.total for p in progress.values())
    assert progress[Kind.MARK].total == 2 * (3 * 3 + 1)
    assert progress[Kind.JUDGE].total == 2 * 3 * 3 * 2
    assert progress[Kind.RANK].total == 4
    with pytest.raises(NotAllowed, match="judges can be raised"):
        store.change_settings(campaign, replace(more, judges=1))
    renamed = (replace(more.labels[0], name="deed"), *more.labels[1:])
    with pytest.raises(NotAllowed, match="Labels cannot be renamed"):
        store.change_settings(campaign, replace(more, labels=renamed))
    helped = (replace(more.labels[0], help="better words"), *more.labels[1:])
    store.change_settings(campaign, replace(more, labels=helped))
    assert store.campaign(campaign).settings.labels[0].help == "better words"
    other = replace(truth["4"].new(), outputs={"else": truth["4"].reference})
    with pytest.raises(InputError, match="same systems"):
        store.add_segments(campaign, [other])


def test_training_comes_first_and_counts_for_nothing(store, make, settings, truth, clock) -> None:
    settings = replace(settings, training=Training.SHOWN)
    campaign, [ann] = make(store, settings, annotator=1)
    kinds = []
    for _ in range(4):
        task, _ = store.claim(ann)
        assert store.claim(ann)[0].id == task.id
        kinds.append(task.kind)
        if task.kind is Kind.TRAINING:
            store.finish(task.id, ann, "finish-it", task.revision, lambda _: None)
    assert kinds == [*[Kind.TRAINING] * 3, Kind.MARK]
    assert store.done_by(ann.id) == 0
    assert Kind.MARK in store.progress(campaign)


def test_repeats_measure_oneself_and_are_kept_apart(store, make, settings, truth, clock) -> None:
    settings = replace(settings, repeat_every=2, control=False)
    campaign, people = make(store, settings, 3, annotator=7)
    _simulate(store, truth, settings, clock).work(people)
    data = store.everything(campaign)
    repeats = [task for task in data.tasks if task.repeat_of is not None]
    firsts = {task.id: task for task in data.tasks}
    assert repeats
    for task in repeats:
        first = firsts[task.repeat_of]
        assert (first.person, first.target) == (task.person, task.target)
    assert store.progress(campaign)[Kind.MARK].total == 3 * 7


def test_a_key_by_the_analyser_needs_no_reader(store, truth) -> None:
    settings = Settings(key="analyser", training=Training.OFF)
    new = replace(truth["1"].new(), key=truth["1"].frames)
    campaign = store.create_campaign(NewCampaign("given", settings, (new,)))
    ann = store.add_person(campaign, "ann", Role.ANNOTATOR)
    task, _ = store.claim(ann)
    version = store.version(task.target)
    assert version.kind is not VersionKind.KEY
    store.finish(task.id, ann, "finish-it", task.revision, lambda _: None)
    assert store.progress(campaign)[Kind.JUDGE].open == 3
    assert marks.as_frames(store.key_answer(task.segment)) == truth["1"].frames


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda new: replace(new, name=" "), "name of 1 to 200"),
        (lambda new: replace(new, segments=()), "no segment"),
        (lambda new: replace(new, segments=(replace(new.segments[0], outputs={}),)), "no system"),
        (
            lambda new: replace(
                new,
                segments=(
                    replace(new.segments[0], outputs={"reference": new.segments[0].reference}),
                ),
            ),
            "cannot be called",
        ),
        (lambda new: replace(new, segments=new.segments * 2), "same name"),
    ],
)
def test_a_campaign_that_cannot_be_is_refused_whole(small, truth, change, message) -> None:
    with pytest.raises(InputError, match=message):
        small.create_campaign(change(NewCampaign("x", Settings(), (truth["1"].new(),))))
    assert small.campaigns() == []
    with pytest.raises(UsageError, match="no campaign"):
        small.campaign("nowhere")


def test_names_are_one_to_a_campaign(small, make, settings) -> None:
    campaign, _ = make(small, settings, annotator=1)
    with pytest.raises(InputError, match="somebody called"):
        small.add_person(campaign, " annotator  0 ", Role.JUDGE)
    with pytest.raises(InputError, match="1 to 80"):
        small.add_person(campaign, " ", Role.JUDGE)
    assert isinstance(small.add_person(None, "boss", Role.ADMINISTRATOR), Person)
