"""The loop around the seam: the same numbers however it is cut."""

from __future__ import annotations

import json

import numpy
import pytest

import meantime
from meantime.cli.output import as_json
from meantime.errors import InputError, LengthMismatch, UnsupportedLanguage, UsageError
from meantime.registry import create
from meantime.scoring import bootstrap, score
from meantime.types import Corpus, Layer, Level, Segment, Sentence

METRICS = ["bleu", "chrf", "ter", "nist", "wer", "gtm:exponent=2"]


def _corpus(repeats: int = 1) -> Corpus:
    references = ["the cat sat on the mat", "he did not go home", "prices rose by 5 %"] * repeats
    return Corpus(
        tuple(Segment(str(n), (Sentence(text),)) for n, text in enumerate(references, 1)),
        {
            "good": tuple(Sentence(text) for text in references),
            "bad": tuple(Sentence(f"{text.upper()} {n}") for n, text in enumerate(references)),
        },
    )


def test_order_and_contents() -> None:
    results = score(_corpus(), METRICS, segments=True)
    assert [(r.system, r.specification) for r in results] == [
        (system, metric) for system in ("good", "bad") for metric in METRICS
    ]
    first = results[0]
    assert first.metric == "bleu"
    assert first.score.value == pytest.approx(100)
    assert first.segments is not None
    assert len(first.segments) == 3
    assert results[METRICS.index("gtm:exponent=2")].metric == "gtm"


def test_processes_give_the_same_numbers() -> None:
    corpus = _corpus(300)
    alone = score(corpus, METRICS, segments=True, resamples=100)
    together = score(corpus, METRICS, segments=True, resamples=100, jobs=3)
    assert as_json(alone) == as_json(together)


def test_progress_reaches_the_end() -> None:
    seen: list[tuple[int, int]] = []
    score(_corpus(200), ["wer", "bleu"], progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 2400)
    assert seen[-1] == (2400, 2400)
    assert seen == sorted(seen)


def test_bootstrap_holds_the_score_and_repeats() -> None:
    corpus = _corpus(30)
    metric = create("chrf").prepare(corpus.segments)
    rows = metric.measure(corpus.pairs("bad"))
    one = bootstrap(metric, rows, numpy.random.default_rng(7), resamples=300)
    two = bootstrap(metric, rows, numpy.random.default_rng(7), resamples=300)
    other = bootstrap(metric, rows, numpy.random.default_rng(8), resamples=300)
    assert one == two != other
    value = metric.score(rows.sum(axis=0), Level.CORPUS).value
    assert one.low < value < one.high


def test_bootstrap_against_sacrebleu() -> None:
    """Their interval (half width, mean plus or minus) within the noise of both."""
    import sacrebleu

    rng = numpy.random.default_rng(3)
    words = "a b c d e f g h i j".split()
    references = [" ".join(rng.choice(words, 12)) for _ in range(200)]
    hypotheses = [
        " ".join(w if rng.random() < 0.8 else "x" for w in text.split()) for text in references
    ]
    corpus = Corpus(
        tuple(Segment(str(n), (Sentence(text),)) for n, text in enumerate(references)),
        {"s": tuple(Sentence(text) for text in hypotheses)},
    )
    ours = score(corpus, ["chrf"], resamples=1000)[0].interval
    theirs = sacrebleu.CHRF().corpus_score(hypotheses, [references], n_bootstrap=1000)
    assert ours is not None
    assert ours.high - ours.low == pytest.approx(2 * theirs._ci, rel=0.2)


def test_nothing_to_score() -> None:
    corpus = _corpus()
    with pytest.raises(InputError, match="no segment"):
        score(Corpus((), {}), ["wer"])
    with pytest.raises(InputError, match="no system output"):
        score(Corpus(corpus.segments, {}), ["wer"])
    with pytest.raises(UsageError, match="no metric"):
        score(corpus, [])


def test_unequal_lengths_are_refused() -> None:
    corpus = _corpus()
    with pytest.raises(LengthMismatch, match="'s' has 1 segments, the references have 3"):
        Corpus(corpus.segments, {"s": (Sentence("x"),)})


def test_missing_reference_is_refused() -> None:
    corpus = Corpus((Segment("7", ()),), {"s": (Sentence("x"),)})
    for name in METRICS:
        with pytest.raises(InputError, match="segment 7 has no reference"):
            score(corpus, [name])


def test_five_lines_of_python(root) -> None:
    """What the README shows."""
    corpus = meantime.read(
        [root / "examples" / "fluent.txt"], references=[root / "examples" / "reference.txt"]
    )
    results = meantime.score(corpus, ["bleu", "chrf", "ter"])
    assert [r.metric for r in results] == ["bleu", "chrf", "ter"]
    assert json.loads(as_json(results))["results"][0]["system"] == "fluent"


def test_metrics_that_need_analysis_get_it_and_sign_it() -> None:
    from meantime.conformance import analyse

    class Toy:
        name = "toy"
        identity = "0123456789abcdef"
        layers = frozenset(Layer)
        languages = frozenset({"en"})
        asked = 0

        def analyse(self, sentences):
            self.asked += len(sentences)
            return [analyse(sentence.text) for sentence in sentences]

    corpus = _corpus()
    toy = Toy()
    stm, wer = score(corpus, ["stm", "wer"], analyser=toy)[:2]
    assert toy.asked == 9
    assert stm.score.value == 1.0
    assert str(stm.signature).endswith("|analysis:toy-01234567|version:1")
    assert "analysis" not in str(wer.signature)
    score(corpus, ["wer"], analyser=toy)
    assert toy.asked == 9
    given = Corpus(
        tuple(
            Segment(segment.id, tuple(analyse(r.text) for r in segment.references))
            for segment in corpus.segments
        ),
        {"good": tuple(analyse(sentence.text) for sentence in corpus.outputs["good"])},
    )
    assert "analysis:given" in str(score(given, ["stm"], analyser=toy)[0].signature)
    assert toy.asked == 9


@pytest.mark.parametrize(
    ("lang", "message"),
    [("ja", r"english .*'ja'"), ("zh", r"no Chinese parser yet .*'zh'.*--analyser unparsed")],
)
def test_a_language_the_analyser_does_not_know_is_refused(lang: str, message: str) -> None:
    corpus = Corpus(
        (Segment("1", (Sentence("狗", lang=lang),)),), {"s": (Sentence("狗", lang=lang),)}
    )
    with pytest.raises(UnsupportedLanguage, match=message):
        score(corpus, ["stm"])


def test_what_is_given_is_not_analysed_away() -> None:
    from dataclasses import replace

    from meantime.scoring import analyse
    from meantime.types import Frame, Span

    own = Sentence("a b", tokens=("a", "b"), pos=("X", "Y"), frames=(Frame(Span(0, 1)),))
    corpus = Corpus((Segment("1", (own,)),), {"s": (replace(own, frames=None),)})
    found, origin = analyse(corpus, frozenset({Layer.FRAMES, Layer.VECTORS}), None)
    reference = found.segments[0].references[0]
    assert (reference.pos, reference.frames) == (own.pos, own.frames)
    assert reference.vectors is not None
    assert found.outputs["s"][0].pos == ("X", "Y")
    assert found.outputs["s"][0].frames is not None
    assert origin.endswith("+given")


def test_metric_objects_are_told_apart() -> None:
    metrics = [create("bleu", max_order=1), create("bleu", max_order=2), create("bleu")]
    found = [result.specification for result in score(_corpus(), metrics)[:3]]
    assert found == ["bleu:max_order=1", "bleu:max_order=2", "bleu"]
