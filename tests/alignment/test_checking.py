"""What the gate finds, and what it lets pass, on sentences read by the shipped analyser."""

from __future__ import annotations

from functools import cache

import pytest

from meantime.alignment.checking import WORDS, Rule, check, check_source
from meantime.analysis import open_analyser
from meantime.similarity import open_similarity
from meantime.types import Sentence


@cache
def analysed(text: str) -> Sentence:
    return open_analyser(threads=1).analyse([Sentence(text)])[0]


def rules(hypothesis: str, reference: str, **options) -> set[str]:
    found = check(
        analysed(hypothesis),
        analysed(reference),
        open_similarity(WORDS),
        open_similarity("characters"),
        **options,
    )
    return {finding.rule.value for finding in found}


@pytest.mark.parametrize(
    ("hypothesis", "reference", "rule"),
    [
        ("The mayor signed the contract.", "The mayor did not sign the contract.", "negation"),
        ("Nobody saw the thief.", "Somebody saw the thief.", "negation"),
        ("Prices rose by 5.4 percent.", "Prices rose by 4.5 percent.", "number"),
        ("They met on Tuesday in Bonn.", "They met on Monday in Bonn.", "number"),
        ("You must park here.", "You may park here.", "modal"),
        ("The dog chased the postman.", "The postman chased the dog.", "swapped"),
        ("Mary Smith won the race.", "Peter Jones won the race.", "name"),
        ("The contract was signed.", "The mayor signed the contract.", "actor"),
    ],
)
def test_what_is_found(hypothesis: str, reference: str, rule: str) -> None:
    assert rule in rules(hypothesis, reference)


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [
        ("The mayor did not sign the contract.", "The mayor didn't sign the contract."),
        ("The contract was signed by the mayor.", "The mayor signed the contract."),
        ("Two thousand people came on January 3.", "2,000 people came on Jan. 3."),
        ("You have to leave now.", "You must leave now."),
        ("Farmers are no longer allowed to burn straw.", "Farmers may no longer burn straw."),
        ("", ""),
    ],
)
def test_what_is_let_pass(hypothesis: str, reference: str) -> None:
    assert rules(hypothesis, reference) == set()


def test_rules_can_be_chosen() -> None:
    pair = ("The mayor signed 3 contracts.", "The mayor did not sign 4 contracts.")
    assert rules(*pair, rules=[Rule.NUMBER]) == {"number"}
    assert {"negation", "number"} <= rules(*pair)


def test_a_missing_event() -> None:
    pair = ("The bank closed.", "The bank closed and the mayor resigned.")
    assert "event" not in rules(*pair)
    assert rules(*pair, rules=[Rule.EVENT]) == {"event"}


def test_an_empty_hypothesis_lacks_everything() -> None:
    assert rules("", "Mary did not pay 3 euros.") >= {"negation", "number", "name"}


def found_in(hypothesis: str, source: str, lang: str) -> list[str]:
    return [
        finding.message
        for finding in check_source(
            analysed(hypothesis), Sentence(source, lang), open_similarity("characters")
        )
    ]


@pytest.mark.parametrize(
    ("hypothesis", "source", "lang"),
    [
        ("He paid 1,000 euros.", "Er zahlte 1.000 Euro.", "de"),
        ("He paid one thousand euros.", "Er zahlte 1.000 Euro.", "de"),
        ("It grew by 3.5 percent.", "Es wuchs um 3,5 Prozent.", "de"),
        ("It cost 30 million yuan.", "它花了3000万元。", "zh"),
        ("He bought an iPhone.", "他买了一部iPhone。", "zh"),
        ("The Berlin police came.", "La police de Berlin est venue.", "fr"),
        ("At 10:30 he left.", "Um 10:30 ging er.", "de"),
    ],
)
def test_source_kept(hypothesis: str, source: str, lang: str) -> None:
    assert found_in(hypothesis, source, lang) == []


@pytest.mark.parametrize(
    ("hypothesis", "source", "lang", "said"),
    [
        ("He paid 100 euros.", "Er zahlte 1.000 Euro.", "de", "1.000"),
        ("It cost 3 million yuan.", "它花了3000万元。", "zh", "3000万"),
        ("He bought a tablet.", "他买了一部iPhone。", "zh", "iPhone"),
        ("The police came.", "La police de Berlin est venue.", "fr", "Berlin"),
    ],
)
def test_source_lost(hypothesis: str, source: str, lang: str, said: str) -> None:
    (message,) = found_in(hypothesis, source, lang)
    assert said in message
