"""A campaign to look at: our own sentences, worked on by simulated people who err."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from meantime.annotation.campaign import Person, Role, Settings
from meantime.annotation.simulate import (
    Clock,
    Simulation,
    TrueSegment,
    add_people,
    demo_segments,
)
from meantime.annotation.store import NewCampaign, Store

BETTER = {"faithful": 0.95, "literal": 0.6, "fluent": 0.35}
"""How well the systems of the demo keep the meaning, as its rankers and raters find."""
PEOPLE = {Role.ANNOTATOR: 10, Role.JUDGE: 4, Role.RANKER: 2, Role.RATER: 2}
VISITORS = (Role.ANNOTATOR, Role.JUDGE, Role.RANKER, Role.RATER)


@dataclass(frozen=True, slots=True)
class Demo:
    """A campaign that was made, and people for the visitor to be."""

    campaign: str
    visitors: tuple[Person, ...]
    tasks: int


def make_demo(
    store: Store,
    clock: Clock,
    *,
    name: str = "Demo (simulated people)",
    seed: int = 7,
    error: float = 0.13,
    finished: int | None = 9,
    settings: Settings | None = None,
    segments: tuple[TrueSegment, ...] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Demo:
    """Make a campaign and let simulated people work on its first segments.

    Args:
        store: Where; its clock must be `clock`.
        clock: Begins some days ago and ends now, so that times look like those of work.
        name: The campaign's.
        seed: Of all chance in it.
        error: How often people err.
        finished: How many segments they finish; the rest is for visitors. None for all.
        settings: The campaign's.
        segments: What is read; by default the sentences of the demo.
        progress: Told how many segments are finished, and of how many.
    """
    settings = settings or Settings(rankers=2, raters=2, repeat_every=8)
    truth = segments or demo_segments()
    count = len(truth) if finished is None else min(finished, len(truth))
    later = truth[count:]
    made = NewCampaign(name, settings, tuple(one.new() for one in truth[:count]))
    campaign = store.create_campaign(made)
    people = add_people(store, campaign, PEOPLE)
    simulation = Simulation(
        store,
        {one.name: one for one in truth},
        settings,
        random.Random(seed),
        clock,
        error,
        BETTER,
    )
    expected = count * (
        settings.annotators * 4 * (1 + settings.judges) + 1 + settings.rankers + 3 * settings.raters
    )
    done = 0

    def told() -> bool:
        nonlocal done
        done += 1
        if progress is not None:
            progress(min(done, expected), expected)
        return False

    tasks = simulation.work(people, until=told)
    visitors = []
    if later:
        store.add_segments(campaign, [one.new() for one in later])
        clock.now = max(clock.now, time.time())
        for role in VISITORS:
            visitors.append(store.add_person(campaign, f"visiting {role}", role))
        # Two readings of the new segments are there, so that a visiting judge has work at once.
        _read_some(store, simulation, people)
    return Demo(campaign, tuple(visitors), tasks)


def _read_some(store: Store, simulation: Simulation, people: list[Person]) -> None:
    """Let annotators mark a few of the segments that are left, the key among them."""
    readers = [one for one in people if one.role is Role.ANNOTATOR]
    careful = replace(simulation)
    for person in readers[:7]:
        task, _ = store.claim(person)
        if task is not None:
            careful.do(task, person)
