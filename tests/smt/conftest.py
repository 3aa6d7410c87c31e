"""A tiny parallel text, and a system trained from it."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from meantime.smt.preparation import Preparation
from meantime.smt.training import Settings, train

WORDS = {"der Hund": "the dog", "die Katze": "the cat", "ein Mann": "a man", "eine Frau": "a woman"}
VERBS = {"sieht": "sees", "hört": "hears", "ruft": "calls"}
OTHERS = {"sees": "looks at", "hears": "can hear", "a woman": "a lady", "the dog": "the hound"}
"""What every third sentence says instead."""


def sentences() -> list[tuple[str, str]]:
    """German and English, word by word."""
    pairs = []
    for (one, first), (verb, does), (other, second) in itertools.product(
        WORDS.items(), VERBS.items(), WORDS.items()
    ):
        if one == other:
            continue
        words = [first, does, second]
        if len(pairs) % 3 == 0:
            words = [OTHERS.get(word, word) for word in words]
        source = f"{one} {verb} {other}."
        target = f"{' '.join(words)}."
        pairs.append((source[0].upper() + source[1:], target[0].upper() + target[1:]))
    return pairs


@pytest.fixture(scope="session")
def parallel(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two files."""
    folder = tmp_path_factory.mktemp("parallel")
    pairs = sentences()
    for name, side in (("de", 0), ("en", 1)):
        text = "".join(pair[side] + "\n" for pair in pairs)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "de", folder / "en"


@pytest.fixture(scope="session")
def model(parallel: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained system; tests that change it copy it."""
    out = tmp_path_factory.mktemp("models") / "de-en"
    train(*parallel, out, Preparation("de", "en"), Settings(order=3))
    return out
