from __future__ import annotations

import numpy
import pytest

from meantime import Corpus, Segment, Sentence
from meantime.report.cautions import Caution, Kind, _longest_run, find_cautions
from meantime.report.comparison import compare
from meantime.scoring import measure

WORDS = (
    "the a of to and in is that it was for on are with as his they at be this from have or by one "
    "had not but what all were when we there can an your which their said if do will each about"
).split()
NAMES = [f"{a}{b}" for a in ("bar", "tol", "mek", "sun", "rif") for b in ("dale", "vik", "ton")]


def texts(count: int, rng: numpy.random.Generator) -> list[str]:
    def word() -> str:
        return str(rng.choice(NAMES if rng.random() < 0.4 else WORDS))

    return [" ".join(word() for _ in range(rng.integers(9, 20))) for _ in range(count)]


def corpus(count: int = 200) -> tuple[Corpus, list[str]]:
    """A good system and one to be spoilt, with references of their own."""
    rng = numpy.random.default_rng(2)
    references = texts(count, rng)
    sources = [" ".join(f"q{word}" for word in text.split()) for text in references]
    segments = tuple(
        Segment(str(n), (Sentence(text),), Sentence(source, "und"))
        for n, (text, source) in enumerate(zip(references, sources, strict=True), 1)
    )
    good = tuple(Sentence(text + " indeed so") for text in references)
    return Corpus(segments, {"good": good}), sources


def found(whole: Corpus, changes: dict[int, str]) -> list[Caution]:
    """What is said where some outputs of the second system are changed."""
    spoilt = list(whole.outputs["good"])
    for place, text in changes.items():
        spoilt[place] = Sentence(text)
    both = Corpus(whole.segments, {**whole.outputs, "bad": tuple(spoilt)})
    return list(find_cautions(compare(measure(both, ["wer"]), resamples=100, trials=100)))


def test_nothing_is_said_of_ordinary_output() -> None:
    whole, _ = corpus()
    assert found(whole, {}) == []
    assert found(whole, {0: "Yes.", 1: "Yes.", 2: "Yes.", 3: "no no no"}) == []


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        (Kind.EMPTY, {3: "", 7: " \t"}),
        (Kind.LOOP, {5: "he said that he said that he said that he said that he said that he"}),
        (
            Kind.LANGUAGE,
            {9: "Сьогодні ми поїхали до міста і повернулися", 11: "今天我们去了城里买东西然后回家"},
        ),
        (
            Kind.LANGUAGE,
            dict.fromkeys(
                (2, 4, 6), "qui mange du pain avec nous dans cette maison sans aucun doute"
            ),
        ),
        (Kind.REPEATED, dict.fromkeys((1, 8, 20), "they are all of one mind about this")),
    ],
)
def test_each_rule(kind: Kind, changes: dict[int, str]) -> None:
    whole, _ = corpus()
    if kind is Kind.LANGUAGE:
        # Only the rule in question: no two outputs alike.
        changes = {place: f"{text} {'x' * place}" for place, text in changes.items()}
    cautions = found(whole, changes)
    assert [one.kind for one in cautions] == [kind]
    assert cautions[0].system == "bad"
    assert cautions[0].segments == tuple(changes)
    assert f"{len(changes)} of 200 segments" in cautions[0].text
    assert f"({', '.join(str(place + 1) for place in changes)})" in cautions[0].text


def test_the_source_again() -> None:
    whole, sources = corpus()
    [caution] = found(whole, {4: sources[4].upper()})
    assert (caution.kind, caution.segments) == (Kind.SOURCE, (4,))


def test_what_the_reference_does_too_is_right() -> None:
    chant = "hallo hallo hallo hallo hallo hallo"
    segments = (
        Segment("1", (Sentence(chant),), Sentence(chant, "und")),
        Segment("2", (Sentence(""),)),
    )
    outputs = {name: (Sentence(chant), Sentence("")) for name in ("one", "two")}
    comparison = compare(measure(Corpus(segments, outputs), ["wer"]), resamples=100, trials=100)
    assert find_cautions(comparison) == ()


def test_references_made_from_a_system() -> None:
    whole, _ = corpus()
    references = [segment.references[0].text for segment in whole.segments]
    [caution] = found(whole, {n: references[n] for n in range(0, 200, 5)})
    assert caution.kind is Kind.REFERENCE
    assert len(caution.segments) == 40
    assert found(whole, {n: references[n] for n in range(0, 200, 20)}) == []


def test_length() -> None:
    whole, _ = corpus()
    short = {n: one.text[: len(one.text) // 2] for n, one in enumerate(whole.outputs["good"])}
    [caution] = found(whole, short)
    assert caution.kind is Kind.LENGTH
    assert "shorter than the references" in caution.text


@pytest.mark.parametrize("metric", ["wer", "chrf"])
def test_a_ranking_explained_by_length(metric: str) -> None:
    whole, _ = corpus(40)

    def cut(keep: float) -> tuple[Sentence, ...]:
        words = [segment.references[0].text.split() for segment in whole.segments]
        return tuple(Sentence(" ".join(one[: round(keep * len(one))])) for one in words)

    outputs = {f"s{n}": cut(0.6 + 0.08 * n) for n in range(5)}
    comparison = compare(
        measure(Corpus(whole.segments, outputs), [metric]), resamples=100, trials=100
    )
    [caution] = [one for one in find_cautions(comparison) if one.kind is Kind.RANKING]
    assert caution.metric == metric
    assert "longer ones higher (Spearman 1.00)" in caution.text
    four = dict(list(outputs.items())[:4])
    comparison = compare(measure(Corpus(whole.segments, four), [metric]), resamples=100, trials=100)
    assert not [one for one in find_cautions(comparison) if one.kind is Kind.RANKING]


@pytest.mark.parametrize(
    ("text", "runs"),
    [("", 0), ("a", 1), ("a b c", 1), ("a a b", 2), ("a b a b a b c", 3), ("x a b c a b c", 2)],
)
def test_runs(text: str, runs: int) -> None:
    assert _longest_run(text.split()) == runs
