"""bleu and chrf equal sacreBLEU's, to 1e-9, at both levels, for every option they share."""

from __future__ import annotations

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from meantime.metrics.bleu import Bleu
from meantime.metrics.chrf import Chrf
from meantime.types import Level, Pair, Segment, Sentence

HYPOTHESES = [
    "On Monday, the proposal was turned down by the committee.",
    "The mayor did sign the contract.",
    "the the the cat",
    "",
    "ok",
    "Prices rose by 4.5% (in March)...",
    "It's a 'test' — naïve café, isn't it?  Double  spaces \t tab",
    "狗咬了人，但他没有报警。",
    "犬が人を噛んだ。",
    "개가 사람을 물었다.",
    "<skipped> &quot;quoted&quot; &amp; 1,000,000.50",
]
FIRST = [
    "The committee rejected the proposal on Monday.",
    "The mayor did not sign the contract.",
    "The cat sat on the mat.",
    "Something.",
    "OK",
    "Prices rose by 4.5 percent (in March)…",
    "It is a 'test' — naïve café, is it not? Double spaces tab",
    "狗咬了那个人，但是他没有报警。",
    "犬はその人を噛みました。",
    "그 개는 사람을 물었다.",
    "&quot;quoted&quot; & 1,000,000.50",
]
SECOND = [
    "On Monday the committee turned the proposal down.",
    "The contract was not signed by the mayor.",
    "A cat was on the mat, and the dog was not.",
    "Anything else.",
    "Yes.",
    "In March prices rose 4.5%.",
    "This is a naive test.",
    "那条狗咬了人。",
    "人が犬に噛まれた。",
    "사람이 개에게 물렸다.",
    "quoted",
]


def _pairs(*references: list[str]) -> list[Pair]:
    return [
        Pair(Sentence(hypothesis), Segment(str(n), tuple(Sentence(r[n]) for r in references)))
        for n, hypothesis in enumerate(HYPOTHESES)
    ]


def _both(metric, pairs: list[Pair]) -> tuple[list[float], float]:
    prepared = metric.prepare([pair.segment for pair in pairs])
    rows = prepared.measure(pairs)
    each = [prepared.score(row, Level.SEGMENT).value for row in rows]
    return each, prepared.score(rows.sum(axis=0), Level.CORPUS).value


@pytest.mark.parametrize("references", [[FIRST], [FIRST, SECOND], [SECOND, FIRST]])
@pytest.mark.parametrize("smooth", ["exp", "floor", "add-k", "none"])
@pytest.mark.parametrize("tokeniser", ["13a", "intl", "zh", "char", "none", "ja-mecab", "ko-mecab"])
@pytest.mark.parametrize("lowercase", [False, True])
def test_bleu(references, smooth: str, tokeniser: str, lowercase: bool) -> None:
    metric = Bleu(smooth=smooth, tokeniser=tokeniser, lowercase=lowercase)
    each, whole = _both(metric, _pairs(*references))
    options = {"smooth_method": smooth, "tokenize": tokeniser, "lowercase": lowercase}
    theirs = sacrebleu.BLEU(**options)
    assert whole == pytest.approx(theirs.corpus_score(HYPOTHESES, references).score, abs=1e-9)
    theirs = sacrebleu.BLEU(**options, effective_order=True)
    for n, value in enumerate(each):
        segment = theirs.sentence_score(HYPOTHESES[n], [r[n] for r in references]).score
        assert value == pytest.approx(segment, abs=1e-9), HYPOTHESES[n]


@pytest.mark.parametrize("max_order", [1, 2, 3, 5])
@pytest.mark.parametrize(("smooth", "value"), [("floor", 0.5), ("add-k", 2.0), ("exp", None)])
@pytest.mark.parametrize("effective", ["always", "never"])
def test_bleu_orders(max_order: int, smooth: str, value: float | None, effective: str) -> None:
    metric = Bleu(max_order=max_order, smooth=smooth, smooth_value=value, effective_order=effective)
    each, whole = _both(metric, _pairs(FIRST))
    theirs = sacrebleu.BLEU(
        max_ngram_order=max_order,
        smooth_method=smooth,
        smooth_value=value,
        effective_order=effective == "always",
    )
    assert whole == pytest.approx(theirs.corpus_score(HYPOTHESES, [FIRST]).score, abs=1e-9)
    for n, score in enumerate(each):
        segment = theirs.sentence_score(HYPOTHESES[n], [FIRST[n]]).score
        assert score == pytest.approx(segment, abs=1e-9)


@pytest.mark.parametrize("references", [[FIRST], [FIRST, SECOND], [SECOND, FIRST]])
@pytest.mark.parametrize("char_order", [1, 6])
@pytest.mark.parametrize("word_order", [0, 2])
@pytest.mark.parametrize("beta", [1, 2, 3])
@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("whitespace", [False, True])
@pytest.mark.parametrize("smooth", ["effective", "epsilon"])
def test_chrf(references, char_order, word_order, beta, lowercase, whitespace, smooth) -> None:
    metric = Chrf(
        char_order=char_order,
        word_order=word_order,
        beta=float(beta),
        lowercase=lowercase,
        whitespace=whitespace,
        smooth=smooth,
    )
    each, whole = _both(metric, _pairs(*references))
    theirs = sacrebleu.CHRF(
        char_order=char_order,
        word_order=word_order,
        beta=beta,
        lowercase=lowercase,
        whitespace=whitespace,
        eps_smoothing=smooth == "epsilon",
    )
    assert whole == pytest.approx(theirs.corpus_score(HYPOTHESES, references).score, abs=1e-9)
    for n, value in enumerate(each):
        segment = theirs.sentence_score(HYPOTHESES[n], [r[n] for r in references]).score
        assert value == pytest.approx(segment, abs=1e-9), HYPOTHESES[n]


TEXT = st.lists(st.sampled_from(["a", "b", "c", "the", "dog.", "(x", "É", " "]), max_size=12).map(
    " ".join
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(TEXT, TEXT, TEXT), min_size=1, max_size=5))
def test_random_texts(triples) -> None:
    hypotheses, first, second = (list(side) for side in zip(*triples, strict=True))
    pairs = [
        Pair(Sentence(h), Segment(str(n), (Sentence(first[n]), Sentence(second[n]))))
        for n, h in enumerate(hypotheses)
    ]
    each, whole = _both(Bleu(), pairs)
    assert whole == pytest.approx(
        sacrebleu.corpus_bleu(hypotheses, [first, second]).score, abs=1e-9
    )
    for n, value in enumerate(each):
        theirs = sacrebleu.sentence_bleu(hypotheses[n], [first[n], second[n]]).score
        assert value == pytest.approx(theirs, abs=1e-9)
    for word_order in (0, 2):
        each, whole = _both(Chrf(word_order=word_order), pairs)
        theirs = sacrebleu.CHRF(word_order=word_order)
        assert whole == pytest.approx(
            theirs.corpus_score(hypotheses, [first, second]).score, abs=1e-9
        )
        for n, value in enumerate(each):
            score = theirs.sentence_score(hypotheses[n], [first[n], second[n]]).score
            assert value == pytest.approx(score, abs=1e-9)


@pytest.mark.needs("shared")
def test_real_segments(shared) -> None:
    """The 400 golden segments, raw."""
    import csv
    import gzip

    path = shared / "golden" / "newstest2021-zhen-NiuTrans.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    hypotheses = [row["hyp"] for row in rows]
    references = [row["ref"] for row in rows]
    pairs = [
        Pair(Sentence(h), Segment(str(n), (Sentence(references[n]),)))
        for n, h in enumerate(hypotheses)
    ]
    for metric, theirs in (
        (Bleu(), sacrebleu.BLEU(effective_order=True)),
        (Chrf(), sacrebleu.CHRF()),
    ):
        each, whole = _both(metric, pairs)
        assert whole == pytest.approx(theirs.corpus_score(hypotheses, [references]).score, abs=1e-9)
        for n, value in enumerate(each):
            score = theirs.sentence_score(hypotheses[n], [references[n]]).score
            assert value == pytest.approx(score, abs=1e-9)
