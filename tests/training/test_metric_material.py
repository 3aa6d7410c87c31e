"""What the trained metric learns from, as far as it can be tried without torch."""

from __future__ import annotations

import numpy
import pytest

from training.metric.harmless import retouch
from training.metric.layout import pack_surface, unpack_surface


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("They do not know.", "They don't know."),
        ("In the morning, the council met again.", "The council met again in the morning."),
        ("He came late, and she left at once.", "He came late. She left at once."),
    ],
)
def test_harmless_changes_are_made(text: str, changed: str) -> None:
    made = {retouch(text, numpy.random.default_rng(seed)) for seed in range(60)}
    assert changed in {one.rstrip(".") + "." for one in made if one}


@pytest.mark.parametrize(
    "text", ["They do not know 12 of the people.", "Nobody will ever tell us.", "She never paid."]
)
def test_harmless_changes_keep_negations_and_numbers(text: str) -> None:
    for seed in range(40):
        made = retouch(text, numpy.random.default_rng(seed))
        if made is None:
            continue
        for kept in ("not", "12", "Nobody", "never"):
            if kept in text:
                said = made.lower().replace("don't", "do not")
                assert kept.lower() in said


def test_what_cannot_be_changed_is_left() -> None:
    assert retouch("xyz", numpy.random.default_rng(1)) is None


def test_surfaces_survive_being_packed() -> None:
    rng = numpy.random.default_rng(2)
    surface = numpy.concatenate([rng.random((50, 5)), rng.uniform(-2, 2, (50, 1))], 1)
    packed = pack_surface(surface)
    assert packed.dtype == numpy.uint8
    assert numpy.abs(unpack_surface(packed) - surface).max() < 4 / 255
