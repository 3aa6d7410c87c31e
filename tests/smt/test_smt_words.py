"""Words, case, and the way back to text."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from meantime.smt.truecasing import capitalise, train_truecaser
from meantime.smt.words import SPACE, join_words, split_words


@pytest.mark.parametrize(
    ("lang", "text", "words"),
    [
        ("en", "He didn't say: \"no\".", 'He did n\'t say : " no " .'),
        ("en", "The man's half-open door (red) costs $5.50, 20%.",
         "The man 's half-open door ( red ) costs $ 5.50 , 20% ."),
        ("en", "the ladies' room", "the ladies' room"),
        ("en", "a U.S. flag at www.example.org/a.", "a U.S. flag at www.example.org/a ."),
        ("de", "Ein Mann sagt: „Hallo“.", "Ein Mann sagt : „ Hallo “ ."),
        ("fr", "L'homme d'à côté n'a qu'une voiture.", "L' homme d' à côté n' a qu' une voiture ."),
        ("zh", "两个人，Tom和我。", "两 个 人 ， Tom 和 我 。"),
        ("zh", "共１２３页", "共 123 页"),
    ],
)  # fmt: skip
def test_words(lang: str, text: str, words: str) -> None:
    assert split_words(text, lang) == words.split()


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("en", 'He didn\'t say: "no", but she\'s said "yes".'),
        ("en", "The man's half-open door (red) costs $5.50, or 20% of it; it's a bargain!"),
        ("en", "I know 'that' word."),
        ("de", "Er sagt: „Hallo Welt“, und geht."),
        ("fr", "L'homme d'à côté n'a qu'une voiture."),
        ("zh", "两个人坐在Google Maps旁边，说“你好”。"),
        ("zh", "他有3,500本书（都是新的）！"),
    ],
)
def test_there_and_back(lang: str, text: str) -> None:
    assert join_words(split_words(text, lang), lang) == text


def test_a_rendering_of_several_words_is_spread() -> None:
    assert join_words(["on", f"July{SPACE}5,{SPACE}2014", "."]) == "on July 5, 2014."


@pytest.mark.needs("shared")
@pytest.mark.parametrize(("name", "share"), [("en", 0.998), ("de", 0.99), ("fr", 0.998)])
def test_ordinary_text_comes_back(shared: Path, name: str, share: float) -> None:
    with gzip.open(shared / f"parallel/multi30k.val.{name}.gz", "rt", encoding="utf-8") as file:
        texts = [" ".join(line.split()) for line in file]
    same = sum(join_words(split_words(text, name), name) == text for text in texts)
    assert same / len(texts) >= share


def test_truecaser() -> None:
    text = ["The dog sees Anna .", "A dog runs .", "Anna sees the dog .", "Then Anna runs ."]
    truecaser = train_truecaser(line.split() for line in text)
    assert truecaser.forms == {"anna": "Anna"}
    assert truecaser.apply("The dog . Anna runs !".split()) == "the dog . Anna runs !".split()
    assert truecaser.apply(["Unseen", "Words"]) == ["unseen", "Words"]
    assert truecaser.apply(["NATO", "acts"]) == ["NATO", "acts"]
    assert truecaser.apply(['"', "The"]) == ['"', "the"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the dog. it runs", "The dog. It runs"),
        ('"the" dog', '"The" dog'),
        ("costs 3.5 euros", "Costs 3.5 euros"),
        ("", ""),
        ("ßtart", "ßtart"),
        ("5 men", "5 men"),
    ],
)
def test_capitals(text: str, shown: str) -> None:
    assert capitalise(text) == shown
