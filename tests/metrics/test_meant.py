"""The default metric: its components, its explanation, and what it must tell apart."""

from __future__ import annotations

import math
from functools import cache

import pytest

from meantime import Level, Pair, Segment, Sentence, create
from meantime.analysis import open_analyser
from meantime.errors import UsageError
from meantime.metrics.meant import COMPONENTS, Meant, MeantExplanation

PAIRS = [
    ("The mayor did sign the contract.", "The mayor did not sign the contract."),
    ("Three fishermen were rescued by a child.", "Three children were rescued by a fisherman."),
    ("The proposal was turned down on Monday.", "The committee rejected the proposal on Monday."),
    ("A picture of Berlin.", "Berlin, in 1945"),
    ("Yes.", "Yes."),
    ("He paid 300 euros and must go.", "He paid 400 euros and may go."),
    ("x", "The talks ended."),
]


@cache
def analysed(text: str) -> Sentence:
    return open_analyser(threads=1).analyse([Sentence(text)])[0]


def pair(hypothesis: str, *references: str) -> Pair:
    return Pair(analysed(hypothesis), Segment("1", tuple(map(analysed, references))))


def score(one: Pair, specification: str = "meant"):
    metric = create(specification).prepare([one.segment])
    return metric.score(metric.measure([one])[0], Level.SEGMENT)


@pytest.mark.parametrize(("hypothesis", "reference"), PAIRS)
def test_the_components_rebuild_the_score(hypothesis: str, reference: str) -> None:
    metric = Meant()
    found = score(pair(hypothesis, reference))
    total = sum(metric.shares.values())
    rebuilt = sum(metric.shares[name] * found.parts[name] for name in COMPONENTS) / total
    assert found.value == pytest.approx(rebuilt, abs=1e-12)
    assert all(0 <= found.parts[name] <= 1 for name in COMPONENTS)


@pytest.mark.parametrize(("hypothesis", "reference"), PAIRS)
def test_the_explanation_rebuilds_the_score(hypothesis: str, reference: str) -> None:
    one = pair(hypothesis, reference)
    explanation = Meant().prepare([one.segment]).explain(one)
    assert isinstance(explanation, MeantExplanation)
    assert explanation.score.value == pytest.approx(score(one).value, abs=1e-12)
    assert sum(part.value for part in explanation.parts) == pytest.approx(
        explanation.score.value, abs=1e-9
    )
    assert sum(one.share for one in explanation.components) == pytest.approx(
        explanation.score.value, abs=1e-9
    )
    frames = sum(frame.share for frame in explanation.frames)
    if explanation.frames:
        assert frames == pytest.approx(explanation.components[0].share, abs=1e-9)


def test_what_is_named_as_lost() -> None:
    one = pair(*PAIRS[0])
    explanation = Meant().prepare([one.segment]).explain(one)
    assert [(fact.kind, fact.side) for fact in explanation.facts] == [("negation", "reference")]
    lost = [
        phrase for frame in explanation.frames for phrase in frame.phrases
        if phrase.hypothesis is None
    ]  # fmt: skip
    assert [phrase.role for phrase in lost] == ["negation"]
    assert lost[0].loss > 0


def test_a_fact_costs_what_it_says() -> None:
    """Putting a fact right raises the score by its loss."""
    one = pair("He paid 300 euros and may go.", "He paid 400 euros and may go.")
    explanation = Meant().prepare([one.segment]).explain(one)
    cost = sum(fact.loss for fact in explanation.facts if fact.kind == "numbers")
    values = {one.name: one for one in explanation.components}
    assert values["numbers"].value + cost / values["numbers"].weight == pytest.approx(1.0)


def test_places_torn_apart_are_named_with_what_order_costs() -> None:
    one = pair("In the town was a child by three fishermen found.", PAIRS[1][0])
    explanation = Meant().prepare([one.segment]).explain(one)
    lost = [fact for fact in explanation.facts if fact.kind == "order"]
    (order,) = [part for part in explanation.components if part.name == "order"]
    assert order.value < 0.9
    assert sum(fact.loss for fact in lost) == pytest.approx(order.weight * (1 - order.value))
    assert {fact.side for fact in lost} == {"hypothesis", "reference"}
    assert all(1 <= fact.span.end - fact.span.start <= 2 for fact in lost)


def test_the_reference_in_no_order_is_not_in_order() -> None:
    reference = "The committee rejected the proposal of the mayor on Monday morning."
    real = score(pair("On Monday morning the committee refused the mayor's plan.", reference))
    words = "mayor the on proposal The Monday of rejected the morning committee ."
    shuffled = score(pair(words, reference))
    assert shuffled.parts["order"] < 0.7 < real.parts["order"]
    assert shuffled.value < real.value


def test_actors_that_changed_places_cost_more_than_a_passive() -> None:
    reference = "The soldiers attacked the rebels."
    passive, exchanged = (
        pair(text, reference)
        for text in (
            "The rebels were attacked by the soldiers.",
            "The rebels attacked the soldiers.",
        )
    )
    assert score(passive).parts["actors"] == 1
    assert score(exchanged).parts["actors"] < 0.7
    explanation = Meant().prepare([exchanged.segment]).explain(exchanged)
    (fact,) = [fact for fact in explanation.facts if fact.kind == "actors"]
    assert fact.other is not None
    tokens = explanation.hypothesis_tokens
    named = {" ".join(tokens[span.start : span.end]) for span in (fact.span, fact.other)}
    assert named == {"The rebels", "the soldiers"}
    (actors,) = [part for part in explanation.components if part.name == "actors"]
    assert fact.loss == pytest.approx(actors.weight * (1 - actors.value))


def test_without_frames_words_stand_in() -> None:
    one = pair("A picture of Berlin.", "A photo of Berlin.")
    found = score(one)
    assert found.parts["framed"] == 0
    assert found.parts["frames"] == found.parts["words"]
    assert score(one, "meant:no_frames=zero").parts["frames"] == 0


def test_empty_sides() -> None:
    assert score(pair("", "The talks ended.")).value == 0
    assert score(pair("The talks ended.", "")).value == 0
    assert score(pair("", "")).value == 1
    assert score(pair("", "The talks ended."), "meant:empty_hypothesis=0.1").value == 0.1


def test_names_are_compared_by_spelling() -> None:
    reference = "Talks with Gorbachev failed."
    same, near, other = (
        score(pair(f"Talks with {name} failed.", reference)).parts["names"]
        for name in ("Gorbachev", "Gorbatchev", "Thatcher")
    )
    assert same == 1
    assert 0.5 < near < 1
    assert other == 0


def test_shares_are_checked() -> None:
    with pytest.raises(UsageError, match="all shares are 0"):
        create("meant:" + ",".join(f"{name}_share=0" for name in COMPONENTS))


def test_bounds_of_order_are_checked() -> None:
    with pytest.raises(UsageError, match=r"order_least=0\.9 is not below order_enough=0\.8"):
        create("meant:order_least=0.9,order_enough=0.8")


def test_the_signature_publishes_the_shares() -> None:
    signature = str(create("meant").signature())
    for name, value in Meant().shares.items():
        assert f"|{name}_share:{value:g}|" in signature


@pytest.mark.parametrize(
    ("reference", "faithful", "damaged"),
    [
        (
            "The company will not close the factory.",
            "The firm is not going to shut the plant.",
            "The company will close the factory.",
        ),
    ],
)
def test_more_than_words(reference: str, faithful: str, damaged: str) -> None:
    """Not that every such pair comes out right: see the meaning tests for how many do."""
    good, bad = score(pair(faithful, reference)).parts, score(pair(damaged, reference)).parts
    assert good["negation"] > bad["negation"]


def test_several_references() -> None:
    one = pair(PAIRS[2][0], PAIRS[0][1], PAIRS[2][1])
    alone = score(pair(PAIRS[2][0], PAIRS[2][1])).value
    assert score(one).value == pytest.approx(alone)
    explanation = Meant().prepare([one.segment]).explain(one)
    assert explanation.reference == 1
    assert score(one, "meant:several=mean").value < alone
    assert not math.isnan(explanation.components[0].precision)
