"""Errors of meaning made by rule: each rule by hand, and all of them on real sentences."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy
import pytest

from meantime import Sentence
from meantime.analysis import open_analyser
from meantime.errors import InputError, UnsupportedLanguage, UsageError
from meantime.metaeval import english
from meantime.metaeval.damage import KINDS, damage, find_damages
from meantime.metaeval.meaning import shipped
from meantime.types import Frame, Role, Span


def sentence(tagged: str, *frames: str) -> Sentence:
    """A sentence from word/TAG, and frames as `predicate ARG0=0-2 ARGM-TMP=5-7`."""
    items = [item.rsplit("/", 1) for item in tagged.split()]
    words = [word for word, _ in items]
    text, offsets = "", []
    for word, tag in items:
        glued = (
            tag in (".", ",", ":") or word in ("n't", "'s", ")", "%") or text.endswith(("(", "$"))
        )
        text += "" if glued or not text else " "
        offsets.append((len(text), len(text) + len(word)))
        text += word
    made = []
    for frame in frames:
        place, *roles = frame.split()
        made.append(
            Frame(
                Span(int(place), int(place) + 1),
                tuple(
                    Role(label, (Span(*map(int, bounds.split("-"))),))
                    for label, bounds in (role.split("=") for role in roles)
                ),
            )
        )
    return Sentence(
        text,
        tokens=tuple(words),
        offsets=tuple(offsets),
        pos=tuple(tag for _, tag in items),
        frames=tuple(made),
    )


def made(kind: str, of: Sentence, seed: int = 1) -> list[str]:
    return [one.text for one in find_damages(of, kind, numpy.random.default_rng(seed))]


def anything(kind: str, of: Sentence, seeds: int = 60) -> set[str]:
    """What chance can make."""
    return {text for seed in range(seeds) for text in made(kind, of, seed)}


# Who did what to whom


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (
            sentence("The/DT dog/NN bit/VBD a/DT man/NN ./.", "2 ARG0=0-2 ARG1=3-5"),
            "A man bit the dog.",
        ),
        (
            sentence("Anna/NNP saw/VBD him/PRP ./.", "1 ARG0=0-1 ARG1=2-3"),
            "He saw Anna.",
        ),
        (
            sentence("I/PRP told/VBD the/DT boss/NN ./.", "1 ARG0=0-1 ARG1=2-4"),
            "The boss told me.",
        ),
        (
            sentence(
                "Troops/NNS were/VBD beaten/VBN by/IN a/DT rebel/NN today/NN ./.",
                "2 ARG1=0-1 ARG0=3-6 ARGM-TMP=6-7",
            ),
            "A rebel was beaten by troops today.",
        ),
        (
            sentence("Wolves/NNS follow/VBP the/DT herd/NN ./.", "1 ARG0=0-1 ARG1=2-4"),
            "The herd follows wolves.",
        ),
        (
            sentence(
                "The/DT herd/NN does/VBZ n't/RB fear/VB wolves/NNS ./.", "4 ARG0=0-2 ARG1=5-6"
            ),
            "Wolves don't fear the herd.",
        ),
        (
            sentence("Fishermen/NNS found/VBD 14/CD boys/NNS ./.", "1 ARG0=0-1 ARG1=2-4"),
            "14 boys found fishermen.",
        ),
    ],
)
def test_doer_and_done_to_change_places(of: Sentence, expected: str) -> None:
    assert made("roles", of) == [expected]


@pytest.mark.parametrize(
    "of",
    [
        # Another verb's subject: who sends has no finite verb here.
        sentence(
            "He/PRP laughed/VBD and/CC promised/VBD to/TO send/VB Tom/NNP ./.",
            "5 ARG0=0-1 ARG1=6-7",
        ),
        # What is said is no noun phrase.
        sentence("Ann/NNP said/VBD he/PRP left/VBD ./.", "1 ARG0=0-1 ARG1=2-4"),
        # One of them speaks of the other.
        sentence("Ann/NNP sold/VBD her/PRP$ car/NN ./.", "1 ARG0=0-1 ARG1=2-4"),
        sentence("It/PRP hit/VBD a/DT car/NN ./.", "1 ARG0=0-1 ARG1=2-4"),
    ],
)
def test_what_cannot_be_swapped_is_left(of: Sentence) -> None:
    assert made("roles", of) == []


# Negation


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (sentence("He/PRP never/RB paid/VBD ./.", "2 ARG0=0-1 ARGM-NEG=1-2"), "He paid."),
        (
            sentence("He/PRP does/VBZ n't/RB carry/VB any/DT money/NN ./."),
            "He carries some money.",
        ),
        (sentence("They/PRP ca/MD n't/RB come/VB ./."), "They can come."),
        (sentence("They/PRP did/VBD not/RB come/VB ./."), "They did come."),
        (sentence("Do/VBP not/RB wash/VB it/PRP ./."), "Wash it."),
        (sentence("We/PRP had/VBD no/DT old/JJ map/NN ./."), "We had an old map."),
        (sentence("We/PRP had/VBD no/DT maps/NNS ./."), "We had some maps."),
        (sentence("Nobody/NN came/VBD ./."), "Somebody came."),
        (sentence("It/PRP is/VBZ not/RB yet/RB dark/JJ ./."), "It is already dark."),
    ],
)
def test_a_negation_is_dropped(of: Sentence, expected: str) -> None:
    assert made("negation", of)[0] == expected


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (sentence("He/PRP carries/VBZ it/PRP ./.", "1 ARG0=0-1"), "He does not carry it."),
        (sentence("They/PRP carry/VBP it/PRP ./.", "1 ARG0=0-1"), "They do not carry it."),
        (sentence("He/PRP stopped/VBD ./.", "1 ARG0=0-1"), "He did not stop."),
        # Of hop or of hope? Then without the base.
        (sentence("He/PRP hoped/VBD ./.", "1 ARG0=0-1"), "He never hoped."),
        (sentence("He/PRP will/MD go/VB ./.", "2 ARG0=0-1"), "He will not go."),
        (sentence("He/PRP can/MD go/VB ./.", "2 ARG0=0-1"), "He cannot go."),
        (
            sentence("It/PRP was/VBD quickly/RB sold/VBN ./.", "3 ARG1=0-1"),
            "It was not quickly sold.",
        ),
        (sentence("It/PRP is/VBZ red/JJ ./.", "1 ARG1=0-1"), "It is not red."),
    ],
)
def test_a_negation_is_added(of: Sentence, expected: str) -> None:
    assert made("negation", of) == [expected]


def test_what_is_negated_is_not_negated_twice() -> None:
    of = sentence("He/PRP did/VBD not/RB go/VB ./.", "3 ARG0=0-1 ARGM-NEG=2-3")
    assert made("negation", of) == ["He did go."]
    only = sentence("It/PRP is/VBZ not/RB only/RB red/JJ ./.")
    assert made("negation", only) == []


# Numbers


def test_a_number_becomes_another_of_its_shape() -> None:
    for text in anything("number", sentence("It/PRP cost/VBD $/$ 3.2/CD million/CD ./.")):
        assert re.fullmatch(
            r"It cost \$\d\.\d million\.|It cost \$3\.2 (hundred|thousand|billion)\.", text
        ), text
        assert text != "It cost $3.2 million."
    for text in anything("number", sentence("1,700/CD houses/NNS burnt/VBD ./.")):
        assert re.fullmatch(r"(\d,\d{3}|17,000) houses burnt\.", text), text
    for text in anything("number", sentence("She/PRP left/VBD in/IN 1987/CD ./.")):
        year = int(re.findall(r"\d+", text)[0])
        assert 1967 <= year <= 2007
        assert year != 1987
    for text in anything("number", sentence("On/IN 9/CD October/NNP ./.")):
        assert re.fullmatch(r"On \d+ [A-Z][a-z]+\.", text)
        assert 1 <= int(re.findall(r"\d+", text)[0]) <= 28
    assert anything("number", sentence("Two/CD men/NNS fell/VBD ./.")) == {
        f"{word.capitalize()} men fell."
        for word in "three four five six seven eight nine ten eleven twelve".split()
    }
    assert "He left on Tuesday." in anything(
        "number", sentence("He/PRP left/VBD on/IN Monday/NNP ./.")
    )


def test_one_and_may_are_left_alone() -> None:
    # One dog would need dogs, and this May is no month.
    assert anything("number", sentence("One/CD dog/NN ./.")) == set()
    assert anything("number", sentence("He/PRP may/MD go/VB ./.")) == set()


# Modality


def test_a_modal_becomes_another() -> None:
    assert anything("modality", sentence("You/PRP must/MD go/VB ./.")) == {
        "You may go.", "You can go.", "You could go.",
    }  # fmt: skip
    assert anything("modality", sentence("You/PRP must/MD not/RB go/VB ./.")) == {
        "You need not go."
    }
    assert anything("modality", sentence("You/PRP ca/MD n't/RB go/VB ./.")) == set()
    assert anything("modality", sentence("He/PRP had/VBD to/TO go/VB ./.")) == {
        "He could go.", "He might go.",
    }  # fmt: skip
    assert made("modality", sentence("Perhaps/RB he/PRP knew/VBD ./.")) == ["Certainly he knew."]
    assert made("modality", sentence("He/PRP is/VBZ likely/JJ to/TO win/VB ./.")) == [
        "He is certain to win."
    ]
    assert made("modality", sentence("He/PRP allegedly/RB lied/VBD ./.")) == ["He lied."]


# When and where

MONDAY = sentence(
    "On/IN Monday/NNP the/DT mayor/NN spoke/VBD ,/, and/CC the/DT crowd/NN left/VBD ./.",
    "4 ARGM-TMP=0-2 ARG0=2-4",
    "9 ARG0=7-9",
)


def test_a_time_goes_to_another_event() -> None:
    assert made("circumstance", MONDAY) == ["The mayor spoke, and the crowd left on Monday."]


def test_two_times_change_places() -> None:
    of = sentence(
        "He/PRP came/VBD in/IN May/NNP and/CC left/VBD in/IN June/NNP ./.",
        "1 ARG0=0-1 ARGM-TMP=2-4",
        "5 ARG0=0-1 ARGM-TMP=6-8",
    )
    assert made("circumstance", of) == ["He came in June and left in May."]


def test_what_belongs_to_both_events_stays() -> None:
    of = sentence(
        "He/PRP came/VBD and/CC left/VBD in/IN June/NNP ./.",
        "1 ARG0=0-1 ARGM-TMP=4-6",
        "3 ARG0=0-1 ARGM-TMP=4-6",
    )
    assert made("circumstance", of) == []


def test_a_place_without_its_preposition_stays() -> None:
    of = sentence(
        "It/PRP goes/VBZ into/IN the/DT oven/NN and/CC burns/VBZ ./.",
        "1 ARG1=0-1 ARGM-LOC=3-5",
        "6 ARG1=0-1",
    )
    assert made("circumstance", of) == []
    assert made("omission", of) == []


# What is left out


def test_a_part_is_left_out() -> None:
    of = sentence(
        "In/IN May/NNP ,/, Ann/NNP gave/VBD a/DT book/NN to/TO Tom/NNP ,/, at/IN home/NN ,/, "
        "for/IN fun/NN ./.",
        "4 ARGM-TMP=0-2 ARG0=3-4 ARG1=5-7 ARG2=7-9 ARGM-LOC=10-12 ARGM-PRP=13-15",
    )
    assert made("omission", of) == [
        "Ann gave a book to Tom, at home, for fun.",
        "In May, Ann gave a book, at home, for fun.",
        "In May, Ann gave a book to Tom, for fun.",
        "In May, Ann gave a book to Tom, at home.",
    ]


def test_what_the_sentence_cannot_do_without_stays() -> None:
    # Who and what, negation and modality; an adverb alone; nearly everything.
    of = sentence(
        "He/PRP could/MD not/RB even/RB see/VB the/DT old/JJ house/NN ./.",
        "4 ARG0=0-1 ARGM-MOD=1-2 ARGM-NEG=2-3 ARGM-ADV=3-4 ARG1=5-8",
    )
    assert made("omission", of) == []
    short = sentence("He/PRP sat/VBD in/IN a/DT car/NN ./.", "1 ARG0=0-1 ARGM-LOC=2-5")
    assert made("omission", short) == []


# All of them


def test_articles_are_mended_where_something_changed_and_nowhere_else() -> None:
    of = sentence(
        "A/DT U.S./NNP judge/NN read/VBD a/DT short/JJ note/NN ./.", "3 ARG0=0-3 ARG1=4-7"
    )
    assert made("roles", of) == ["A short note read a U.S. judge."]
    eight = sentence("A/DT ten/CD mile/NN walk/NN ./.")
    assert "An eleven mile walk." in anything("number", eight)
    assert "A two mile walk." in anything("number", eight)


def test_a_full_stop_at_the_end_is_not_doubled() -> None:
    of = sentence(
        "He/PRP died/VBD in/IN the/DT U.S./NNP yesterday/NN ./.",
        "1 ARG1=0-1 ARGM-LOC=2-5 ARGM-TMP=5-6",
    )
    assert "He died in the U.S." in made("omission", of)


def test_what_was_touched_is_told() -> None:
    (one,) = find_damages(MONDAY, "circumstance", numpy.random.default_rng(1))
    assert (one.kind, one.rule, one.touched) == ("circumstance", "move", (Span(0, 2),))


def test_what_is_not_analysed_or_not_english_is_refused() -> None:
    rng = numpy.random.default_rng(1)
    with pytest.raises(InputError, match="lacks tokens, parts of speech or frames"):
        find_damages(Sentence("He left."), "roles", rng)
    with pytest.raises(UnsupportedLanguage, match="'de'"):
        find_damages(replace(MONDAY, lang="de"), "roles", rng)
    with pytest.raises(UsageError, match="no damage is called 'tense'"):
        find_damages(MONDAY, "tense", rng)
    empty = Sentence("", tokens=(), offsets=(), pos=(), frames=())
    assert damage(empty, rng) is None
    assert damage(sentence("Hello/UH ./."), rng) is None


def test_chance_comes_in_by_argument() -> None:
    assert damage(MONDAY, numpy.random.default_rng(5)) == damage(
        MONDAY, numpy.random.default_rng(5)
    )
    kinds = {damage(MONDAY, numpy.random.default_rng(seed)).kind for seed in range(40)}  # type: ignore[union-attr]
    assert kinds == {"number", "negation", "circumstance", "omission"}


def test_parses_without_offsets_are_read_too() -> None:
    assert made("circumstance", replace(MONDAY, offsets=None)) == [
        "The mayor spoke, and the crowd left on Monday."
    ]


@pytest.fixture(scope="module")
def references() -> list[Sentence]:
    """Every fourth reference of the suite, analysed."""
    return open_analyser().analyse([Sentence(item.reference) for item in shipped().items[::4]])


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_sentences_are_well_formed(kind: str, references: list[Sentence]) -> None:
    rng = numpy.random.default_rng(1)
    found = 0
    for of in references:
        damages = find_damages(of, kind, rng)
        found += bool(damages)
        for one in damages:
            assert one.kind == kind
            assert one.text not in (of.text, "")
            assert not re.search(r"\s\s|\s[.,;:!?]|,,|,\.|^\W|\ba [aeio]|\s$", one.text), one
            assert one.text[0].isupper() or one.text[0].isdigit()
            assert one.text[-1] == of.text[-1]
            assert of.tokens is not None
            assert all(0 <= span.start < span.end <= len(of.tokens) for span in one.touched)
            if kind in ("negation", "number", "modality"):
                changed = set(one.text.split()) ^ set(of.text.split())
                assert len(changed) <= 6, one
    # Out of 66: how many sentences a rule finds something to do in.
    assert found >= {"modality": 12, "number": 20, "roles": 15, "circumstance": 15}.get(kind, 45)


# Forms


@pytest.mark.parametrize(
    ("past", "base"),
    [
        ("stopped", "stop"), ("called", "call"), ("carried", "carry"), ("loved", "love"),
        ("went", "go"), ("put", "put"), ("added", "add"), ("watched", "watch"),
        ("controlled", "control"), ("argued", "argue"), ("visited", "visit"), ("fixed", "fix"),
        ("hoped", None), ("used", None), ("created", None), ("belonged", None), ("saw", "see"),
    ],
)  # fmt: skip
def test_base_of_a_past_form(past: str, base: str | None) -> None:
    assert english.base_of_past(past) == base


def test_third_persons_and_bases_go_both_ways() -> None:
    for base in "carry play pass fix watch wash go do have be know see agree tie make".split():
        third = english.third_person(base)
        if base != "tie":
            assert english.base_of_third(third) == base
    assert english.third_person("carry") == "carries"
    assert english.agree("are", "third") == "is"
    assert english.agree("was", "plural") == "were"
    assert english.agree("has", "first") == "have"
    assert english.agree("am", "third") == "is"


def test_articles() -> None:
    shown = {word: english.article(word) for word in "apple house hour user one old unit".split()}
    assert shown == {
        "apple": "an", "house": "a", "hour": "an", "user": "a", "one": "a", "old": "an",
        "unit": "a",
    }  # fmt: skip
