"""The trained metric: its contract, what it says of plain cases, and why."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meantime import Level, Pair, Segment, Sentence, create
from meantime.errors import InputError, UsageError
from meantime.learned import network
from meantime.learned.network import KEPT, WINDOW, Network, TrainedModel, installed, shipped
from meantime.learned.trained import Meantime, TrainedExplanation
from meantime.types import Role, Span

MODEL = shipped() / "meantime"


def score(hypothesis: str, *references: str, options: str = "") -> float:
    segment = Segment("1", tuple(Sentence(one) for one in references))
    metric = create(f"meantime{options}").prepare([segment])
    row = metric.measure([Pair(Sentence(hypothesis), segment)])[0]
    return metric.score(row, Level.SEGMENT).value


def explain(hypothesis: str, reference: str) -> TrainedExplanation:
    found = Meantime().explain(Pair(Sentence(hypothesis), Segment("1", (Sentence(reference),))))
    assert isinstance(found, TrainedExplanation)
    return found


REFERENCE = "The minister did not sign the contract with the builders on Monday."


def test_what_means_the_same_is_better_than_what_looks_the_same() -> None:
    paraphrase = score(
        "On Monday, the contract with the builders was not signed by the minister.", REFERENCE
    )
    assert paraphrase > score(
        "The minister did sign the contract with the builders on Monday.", REFERENCE
    )


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "   ",
        "The weather will be fine in the north tomorrow.",
        "Der Minister unterschrieb den Vertrag mit den Bauleuten am Montag nicht.",
        "the the the the the the the the the the",
        "The did not the with the on.",
        "Monday contract the on builders sign did minister the with not the.",
        "部长周一没有与建筑商签订合同。",
        "\u0000\u0001",
    ],
)  # fmt: skip
def test_what_is_no_translation_is_far_below_one(bad: str) -> None:
    real = score("The minister didn't sign the contract with builders Monday.", REFERENCE)
    assert score(bad, REFERENCE) < real - 0.25


def test_empty_sides() -> None:
    assert score("", REFERENCE) == 0
    assert score(" \u00a0", REFERENCE) == 0
    assert score("something", "") == 0
    assert score("", "") == 1


def test_a_copy_is_near_the_top() -> None:
    assert score(REFERENCE, REFERENCE) > 0.9


def test_several_references() -> None:
    one, other = REFERENCE, "The contract was left unsigned by the minister on Monday."
    hypothesis = "The minister did not sign the contract on Monday."
    alone = [score(hypothesis, one), score(hypothesis, other)]
    assert score(hypothesis, one, other) == max(alone)
    assert score(hypothesis, one, other, options=":several=mean") == pytest.approx(
        sum(alone) / 2, abs=1e-12
    )


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_has_a_score(hypothesis: str, reference: str) -> None:
    assert 0 <= score(hypothesis, reference) <= 1


def test_long_texts_are_read_in_parts() -> None:
    sentence = "The committee met on Tuesday and rejected the plan to close the harbour. "
    long = sentence * 60
    assert len(Network(TrainedModel(MODEL)).read([long])[0]) > 1
    assert score(long, long) > 0.9
    assert score("The harbour will be closed. " * 80, long) < score(long, long) - 0.25
    # One side long, the other short: the short one has fewer words than parts.
    assert 0 <= score("No.", long) < 0.5
    assert 0 <= score(long, "No.") < 0.5
    assert WINDOW < 510


def test_no_neighbour_changes_a_score() -> None:
    texts = [f"Number {n} of them was sold in the year {1900 + n}." for n in range(12)]
    segments = [Segment(str(n), (Sentence(text),)) for n, text in enumerate(texts)]
    pairs = [Pair(Sentence(texts[(n * 5) % 12]), segment) for n, segment in enumerate(segments)]
    metric = create("meantime").prepare(segments)
    together = metric.measure(pairs)
    network.open_network.cache_clear()
    alone = numpy.concatenate([metric.measure([one]) for one in pairs[::-1]])[::-1]
    assert (together == alone).all()


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "KEPT", 3)
    found = Network(TrainedModel(MODEL))
    found.read([f"text {n}" for n in range(8)])
    assert len(found._kept) == 3
    assert KEPT > 3
    # What was dropped while it was asked for is read all the same.
    assert [one[0].text.text for one in found.read(["text 0", "text 7"])] == ["text 0", "text 7"]


def test_the_scale_is_monotone_and_published() -> None:
    metric = Meantime()
    knots = TrainedModel(MODEL).configuration["knots"]
    assert len(knots) > 100
    values = [metric.rank(raw) for raw in numpy.linspace(knots[0] - 1, knots[-1] + 1, 500)]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (0, 1)
    assert metric.rank(knots[len(knots) // 2]) == pytest.approx(0.5, abs=0.01)


# Why


def test_shares_sum_to_the_score_and_losses_to_the_rest() -> None:
    for hypothesis in ("The minister did sign the contract.", REFERENCE, "Nothing of the kind 😀"):
        found = explain(hypothesis, REFERENCE)
        assert found.score.value == score(hypothesis, REFERENCE)
        assert sum(one.share for one in found.words) == pytest.approx(found.score.value)
        assert sum(part.value for part in found.parts) == pytest.approx(found.score.value)
        assert sum(one.loss for one in found.words) == pytest.approx(1 - found.score.value)
        assert [one.word for one in found.words if one.side == "hypothesis"] == list(
            found.hypothesis_tokens
        )
        assert [one.word for one in found.words if one.side == "reference"] == list(
            found.reference_tokens
        )


def test_frames_gather_their_words() -> None:
    found = explain("The minister did sign the contract with the builders.", REFERENCE)
    worth = {(one.side, one.span.start): one for one in found.words}
    phrases = [phrase for frame in found.frames for phrase in frame.phrases]
    assert any(phrase.role == "negation" and phrase.hypothesis is None for phrase in phrases)
    for phrase in phrases:
        inside = [
            worth[side, place]
            for side in ("hypothesis", "reference")
            for span in getattr(phrase, side) or ()
            for place in range(span.start, span.end)
        ]
        assert phrase.loss == pytest.approx(sum(one.loss for one in inside))
    for frame in found.frames:
        assert frame.loss == pytest.approx(sum(phrase.loss for phrase in frame.phrases))


def test_explanations_without_analysis() -> None:
    found = Meantime().explain(
        Pair(Sentence("der Hund bellt", "de"), Segment("1", (Sentence("die Katze schläft", "de"),)))
    )
    assert found.frames == ()
    assert found.hypothesis_tokens == ("der", "Hund", "bellt")
    assert sum(one.share for one in found.words) == pytest.approx(found.score.value)
    empty = explain("", REFERENCE)
    assert (empty.score.value, empty.words, empty.parts) == (0, (), ())


def test_given_analyses_are_used() -> None:
    # Offsets that are not the analyser's: explanations speak of the words that are given.
    text = "she sleeps"
    given = Sentence(
        text, tokens=("she", "sleeps"), offsets=((0, 3), (4, 10)), frames=(), pos=("PRP", "VBZ")
    )
    found = Meantime().explain(Pair(given, Segment("1", (given,))))
    assert found.hypothesis_tokens == ("she", "sleeps")
    assert found.frames == ()
    assert (Role("ARG0", (Span(0, 1),)),) != ()


# Models


def test_the_shipped_model_is_whole() -> None:
    (model,) = [one for one in installed() if one.name == "meantime"]
    model.check()
    assert model.size < 35e6
    assert {"for", "licence", "figures", "data", "made_by"} <= set(model.facts)
    assert "licence" in model.card.lower()
    assert str(model.identity)[:8] in str(create("meantime").signature())


def test_the_card_and_the_page_say_what_was_measured_with_this_model() -> None:
    (model,) = [one for one in installed() if one.name == "meantime"]
    assert model.identity[:12] in model.card
    root = Path(__file__).resolve().parents[2]
    lines = (root / "benchmarks" / "accuracy.jsonl").read_text(encoding="utf-8").splitlines()
    ours = [
        one["figures"]["meantime"]
        for one in map(json.loads, lines)
        if f"meantime-{model.identity[:8]}" in one["signatures"].get("meantime", "")
    ]
    measured = ours[-1]
    row = next(
        line
        for line in (root / "docs" / "which-metric.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `meantime` |")
    )
    told = model.facts["figures"]
    for name, column in (
        ("wmt17 (Pearson, mean over language pairs)", "wmt17 r"),
        ("wmt21 MQM, within segments (tau-b)", "wmt21 mqm in segs"),
        ("wmt22 MQM, within segments (tau-b)", "wmt22 mqm in segs"),
    ):
        assert told[name] == round(measured[column], 3)
        assert f"| {measured[column]:.3f} " in row
        assert f" {measured[column]:.3f} |" in model.card


def test_a_model_by_its_folder(tmp_path: Path) -> None:
    copy = tmp_path / "mine"
    shutil.copytree(MODEL, copy)
    assert score(REFERENCE, REFERENCE, options=f":model={copy}") == score(REFERENCE, REFERENCE)
    settings = json.loads((copy / "configuration.json").read_text())
    settings["knots"] = [one + 1 for one in settings["knots"]]
    (copy / "configuration.json").write_text(json.dumps(settings))
    changed = Meantime(model=str(copy))
    assert str(changed.signature()) != str(Meantime().signature())
    with pytest.raises(InputError, match="damaged or changed"):
        TrainedModel(copy).check()


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda f: (f / "upper.onnx").unlink(), r"upper\.onnx is missing"),
        (lambda f: (f / "upper.onnx").write_bytes(b"nonsense"), r"upper\.onnx: damaged"),
        (lambda f: (f / "configuration.json").write_text("{"), "not JSON"),
        (lambda f: (f / "configuration.json").write_text('{"format": 9}'), "of format 1"),
        (
            lambda f: (f / "configuration.json").write_text('{"format": 1, "knots": [2, 1]}'),
            "lacks knots",
        ),
    ],
    ids=["missing", "damaged", "not-json", "format", "knots"],
)
def test_damaged_models_are_refused(break_it, message: str, tmp_path: Path) -> None:
    copy = tmp_path / "mine"
    shutil.copytree(MODEL, copy)
    break_it(copy)
    with pytest.raises(InputError, match=message):
        score("a", "b", options=f":model={copy}")


def test_unknown_models_are_refused() -> None:
    with pytest.raises(UsageError, match=r"no model 'nowhere'; shipped are meantime"):
        create("meantime:model=nowhere")


def test_half_a_character_stops_nothing() -> None:
    assert 0 < score("The cat \ud800 sat.", "The cat \udfff sat.") <= 1
    assert explain("The cat \ud800 sat.", "A cat sat.").hypothesis_tokens
