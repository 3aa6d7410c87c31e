"""Who gets which task: rules, balance, and that nothing is left lying."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from meantime.annotation.assignment import Candidate, Worker, choose, wants_repeat


def _play(people: int, segments: int, systems: int, slots: int, seed: int, speeds):
    """People take tasks at their speeds until nobody gets one; returns who had what."""
    rng = random.Random(seed)
    waiting = [
        Candidate(f"{s}-{v}-{n}", f"s{s}", f"s{s}-v{v}", f"v{v}", s)
        for s in range(segments)
        for v in range(systems)
        for n in range(slots)
    ]
    total = len(waiting)
    had: dict[str, list[Candidate]] = {f"p{n}": [] for n in range(people)}
    idle: set[str] = set()
    while waiting and len(idle) < people:
        [name] = rng.choices(list(had), speeds)
        workers = {
            one: Worker(
                one,
                {f"v{v}": sum(c.system == f"v{v}" for c in mine) for v in range(systems)},
                {c.segment: c.target for c in mine},
                {c.target for c in mine},
            )
            for one, mine in had.items()
        }
        me = workers.pop(name)
        chosen = choose(me, list(workers.values()), waiting, total, whole_segments=True)
        if chosen is None:
            idle.add(name)
            continue
        idle.clear()
        waiting.remove(chosen)
        had[name].append(chosen)
    return had, waiting


@given(
    st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), st.integers(0, 4), st.integers(0, 99)
)
@settings(max_examples=60, deadline=None)
def test_with_enough_people_everything_is_done_by_the_rules(
    segments, systems, slots, spare, seed
) -> None:
    people = systems * slots + spare
    had, left = _play(people, segments, systems, slots, seed, [1] * people)
    assert not left
    for mine in had.values():
        assert len({c.segment for c in mine}) == len(mine)


def test_the_quick_do_not_take_what_the_slow_can_do() -> None:
    had, left = _play(8, 8, 3, 2, 1, [30, 20, 10, 1, 1, 1, 1, 1])
    assert not left
    # 48 tasks, 8 people: a share of 6; more is for what nobody else may take.
    assert max(map(len, had.values())) <= 8
    assert min(map(len, had.values())) >= 5


def test_systems_are_spread_over_people() -> None:
    had, _ = _play(6, 30, 3, 2, 3, [1] * 6)
    for mine in had.values():
        counts = [sum(c.system == f"v{v}" for c in mine) for v in range(3)]
        assert max(counts) - min(counts) <= 6


def test_too_few_people_leave_something_and_break_no_rule() -> None:
    had, left = _play(5, 4, 3, 2, 1, [1] * 5)
    assert left
    for mine in had.values():
        assert len({c.segment for c in mine}) == len(mine)


def test_repeats_come_one_in_so_many() -> None:
    assert [wants_repeat(done, done // 10, 10) for done in (0, 9, 10, 19, 20)] == [False] * 5
    assert wants_repeat(10, 0, 10)
    assert not wants_repeat(100, 0, 0)
