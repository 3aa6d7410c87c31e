"""Numbers, dates, negation, modality and names, by rule."""

from __future__ import annotations

import pytest

from meantime.alignment.facts import (
    Kind,
    differing,
    is_negated,
    modality,
    modals,
    names,
    negations,
    numbers,
)
from meantime.analysis import open_analyser
from meantime.types import Frame, Role, Sentence, Span


def sentence(text: str, pos: str | None = None) -> Sentence:
    return Sentence(text, tokens=tuple(text.split()), pos=tuple(pos.split()) if pos else None)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2,000 people", ["2000"]),
        ("two thousand people", ["2000"]),
        ("two hundred and five", ["205"]),
        ("a hundred and a dozen", ["100", "12"]),
        ("twenty - one days", ["21"]),
        ("the twenty - first day", ["21#"]),
        ("the 21st day", ["21#"]),
        ("3.5 million euros", ["3500000"]),
        ("3.5m euros and 2 bn", ["3500000", "2000000000"]),
        ("4 % , 4 percent , 4 per cent , 4%", ["4%", "4%", "4%", "4%"]),
        ("on Jan. 3 at 10:30", ["january", "3", "10:30"]),
        ("from Monday to Tues .", ["monday", "tuesday"]),
        ("once , twice", ["1", "2"]),
        ("no one was the one", []),
        ("one of the two", ["1", "2"]),
        ("one million and three hundred thousand five", ["1300005"]),
        ("they may march", []),
        ("in May", ["may"]),
        ("1.50 and 1.5", ["1.5", "1.5"]),
        ("A320 is a plane", []),
    ],
)
def test_numbers(text: str, values: list[str]) -> None:
    assert [fact.value for fact in numbers(sentence(text))] == values


def test_where_a_number_stands() -> None:
    (fact,) = numbers(sentence("about two hundred and five people"))
    assert fact.span == Span(1, 5)
    assert fact.kind is Kind.NUMBER


def test_tags_tell_a_number_from_a_pronoun() -> None:
    assert numbers(sentence("one must go", "PRP MD VB")) == []
    assert [fact.value for fact in numbers(sentence("one man", "CD NN"))] == ["1"]
    assert numbers(sentence("wait a second", "VB DT NN")) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("he did n't go", 1),
        ("he did not go and never came", 2),
        ("nobody cannot do without", 3),
        ("a knot", 0),
    ],
)
def test_negations(text: str, count: int) -> None:
    assert len(negations(sentence(text))) == count


@pytest.mark.parametrize(
    ("text", "pos", "values"),
    [
        ("you must go", "PRP MD VB", ["must"]),
        ("you have to go", "PRP VBP TO VB", ["must"]),
        ("you might go", "PRP MD VB", ["may"]),
        ("you will go", "PRP MD VB", ["will"]),
        ("you are going to go", "PRP VBP VBG TO VB", ["will"]),
        ("going to town", "VBG IN NN", []),
        ("his will", "PRP$ NN", []),
        ("she was able to go", "PRP VBD JJ TO VB", ["can"]),
        ("a can", "DT NN", []),
    ],
)
def test_modals(text: str, pos: str, values: list[str]) -> None:
    assert [fact.value for fact in modals(sentence(text, pos))] == values


def test_names_leave_dates_out() -> None:
    one = sentence("John Smith left Paris on Monday", "NNP NNP VBD NNP IN NNP")
    assert [fact.value for fact in names(one)] == ["john smith", "paris"]
    assert names(sentence("John Smith")) == []


def test_what_a_frame_says() -> None:
    tokens = ("no", "member", "must", "not", "sign")
    denied = Frame(Span(4, 5), (Role("ARG0", (Span(0, 2),)), Role("ARGM-MOD", (Span(2, 3),))))
    one = Sentence(" ".join(tokens), tokens=tokens, frames=(denied,))
    assert is_negated(one, denied)
    assert modality(one, denied) == {"must"}
    assert is_negated(one, Frame(Span(4, 5), (Role("ARGM-NEG", (Span(3, 4),)),)))
    assert not is_negated(one, Frame(Span(4, 5), (Role("ARG1", (Span(1, 2),)),)))


def test_differing_counts_equals() -> None:
    left = numbers(sentence("3 and 3 and 4"))
    right = numbers(sentence("3 and 5"))
    extra, missing = differing(left, right)
    assert [fact.value for fact in extra] == ["3", "4"]
    assert [fact.value for fact in missing] == ["5"]


def test_on_analysed_text() -> None:
    text = "The mayor didn't sign the two hundred and five contracts on May 3, 2014."
    found = open_analyser(threads=1).analyse([Sentence(text)])[0]
    assert [fact.value for fact in numbers(found)] == ["205", "may", "3", "2014"]
    assert len(negations(found)) == 1
