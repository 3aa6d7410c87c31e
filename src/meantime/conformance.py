"""What every metric must keep, as checks anyone can run.

A package that adds a metric runs them in its own tests:

    import pytest
    from meantime.conformance import CHECKS
    from meantime.registry import create

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    def test_conformance(check):
        check(create("my-metric"))

Each check raises `AssertionError` with what was broken. They need no test library.
"""

from __future__ import annotations

import dataclasses
import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy

from meantime.protocols import Array, ManyScorer, Metric
from meantime.types import (
    Frame,
    FrameMatch,
    Judgement,
    Judgements,
    Level,
    Pair,
    Reading,
    Role,
    RoleVerdict,
    Score,
    Segment,
    Sentence,
    Span,
    Tree,
    Verdict,
)

Check = Callable[[Metric], None]

_TEXTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("The mayor did not sign the contract.", ("The mayor did not sign the contract.",)),
    ("On Monday the proposal was rejected.", ("The committee rejected the proposal on Monday.",)),
    ("the the the the cat cat", ("The cat sat on the mat, and the dog sat on the cat.",)),
    ("Nobody was hurt.", ("Nobody was injured when the bridge collapsed last night.",)),
    (
        "Prices rose by 4.5% in March",
        ("In March, prices rose by 4.5 percent.", "Prices rose 4.5%."),
    ),
    ("She sold the old car to him for 900 euros .", ("He bought her old car for 900 euros.",)),
    ("ok", ("Yes.", "OK")),
    ("a b c d e f g h i j", ("j i h g f e d c b a",)),
    ("Der Hund biss den Mann – «nie» 狗咬人 🙂", ("The dog bit the man – “never” 狗咬人 🙂",)),
)


def analyse(text: str) -> Sentence:
    """A sentence with every layer, by rules simple enough to see through.

    Words at white space; the second word is the predicate, the first its ARG0, the others its
    ARG1; a tree that branches to the right; vectors that depend on the letters alone.
    """
    words = tuple(text.split())
    count = len(words)
    if not count:
        empty = numpy.zeros((0, 26), numpy.float16)
        return Sentence(text, tokens=(), offsets=(), pos=(), frames=(), vectors=empty)
    offsets = []
    place = 0
    for word in words:
        start = text.index(word, place)
        place = start + len(word)
        offsets.append((start, place))
    pos = tuple("VB" if n == 1 else "NN" for n in range(count))
    tree = Tree(pos[-1], Span(count - 1, count))
    for n in range(count - 2, -1, -1):
        leaf = Tree(pos[n], Span(n, n + 1))
        tree = Tree("VP" if n else "S", Span(n, count), (leaf, tree))
    frames = []
    if count > 1:
        roles = [Role("ARG0", (Span(0, 1),))]
        roles += [Role("ARG1", (Span(2, count),))] if count > 2 else []
        frames.append(Frame(Span(1, 2), tuple(roles)))
    letters = [[word.lower().count(chr(97 + n)) + 0.01 for n in range(26)] for word in words]
    return Sentence(
        text,
        tokens=words,
        offsets=tuple(offsets),
        pos=pos,
        tree=Tree("TOP", Span(0, count), (tree,)),
        tree_score=-float(count),
        frames=tuple(frames),
        vectors=numpy.array(letters, numpy.float16),
    )


def judge(hypothesis: Sentence, segment: Segment) -> Judgements:
    """What a reader and a judge would say by rule, of the first reference.

    Frames are those `analyse` finds. The first ones match if their predicates are the same word;
    roles of the same label are correct where they say the same, partial where they share a word.
    """
    reference = segment.references[0]
    ours, theirs = hypothesis.frames or (), reference.frames or ()
    words, others = hypothesis.tokens or (), reference.tokens or ()
    matches = []
    if ours and theirs and words[1].lower() == others[1].lower():
        verdicts = []
        for number, (left, right) in enumerate(zip(ours[0].roles, theirs[0].roles, strict=False)):
            [span], [other] = left.spans, right.spans
            said, wanted = words[span.start : span.end], others[other.start : other.end]
            verdict = Verdict.PARTIAL if set(said) & set(wanted) else Verdict.INCORRECT
            verdict = Verdict.CORRECT if said == wanted else verdict
            verdicts.append(RoleVerdict(number, number, verdict))
        matches.append(FrameMatch(0, 0, tuple(verdicts)))
    return Judgements(theirs, (Reading("reader", ours, (Judgement("judge", tuple(matches)),)),))


def pair(hypothesis: Sentence, segment: Segment) -> Pair:
    """A pair with everything a metric may need, judgements too."""
    return Pair(hypothesis, segment, judge(hypothesis, segment))


def sample() -> tuple[tuple[Segment, ...], tuple[Pair, ...]]:
    """Segments and pairs to try a metric on: plain, repeated, reordered, in many scripts."""
    segments = tuple(
        Segment(
            str(number),
            tuple(analyse(text) for text in references),
            source=replace(analyse(references[0].swapcase()), lang="und"),
        )
        for number, (_, references) in enumerate(_TEXTS, 1)
    )
    pairs = tuple(
        pair(analyse(hypothesis), segment)
        for (hypothesis, _), segment in zip(_TEXTS, segments, strict=True)
    )
    return segments, pairs


def _prepared(metric: Metric) -> tuple[Metric, tuple[Pair, ...]]:
    segments, pairs = sample()
    return metric.prepare(segments), pairs


def _in_scale(metric: Metric, score: Score, what: str) -> None:
    low, high = metric.scale
    assert math.isfinite(score.value), f"{metric.name}: {what} scores {score.value}"
    assert low - 1e-9 <= score.value <= high + 1e-9, (
        f"{metric.name}: {what} scores {score.value}, outside its scale {metric.scale}"
    )


def _same(one: Array, other: Array, what: str) -> None:
    assert one.shape == other.shape, f"{what}: shapes {one.shape} and {other.shape}"
    assert numpy.array_equal(one, other), f"{what}: rows differ by {abs(one - other).max()}"


def keeps_the_protocol(metric: Metric) -> None:
    """It has every attribute and method of `meantime.protocols.Metric`."""
    assert isinstance(metric, Metric), f"{metric!r} lacks a part of the Metric protocol"
    low, high = metric.scale
    assert low < high, f"{metric.name}: scale {metric.scale} is not (smallest, largest)"
    assert isinstance(metric.higher_is_better, bool)
    assert isinstance(metric.copy_is_best, bool)


def signs_before_scoring(metric: Metric) -> None:
    """The signature is there from the start, names the metric and states every option."""
    before = str(metric.signature())
    assert before.startswith(f"{metric.name}|"), f"{before!r} does not begin with {metric.name}"
    assert f"version:{metric.signature().version}" in before
    if dataclasses.is_dataclass(metric):
        for field in dataclasses.fields(metric):
            assert f"|{field.name}:" in before, f"{before!r} does not state {field.name}"
    prepared, pairs = _prepared(metric)
    signed = str(prepared.signature())
    prepared.measure(pairs)
    assert str(prepared.signature()) == signed, "scoring changed the signature"


def stays_still(metric: Metric) -> None:
    """Preparing and measuring leave a metric as it was, and its options cannot be set."""
    before = str(metric.signature())
    _prepared(metric)[0].measure(sample()[1])
    assert str(metric.signature()) == before, "prepare changed the metric it was called on"
    if dataclasses.is_dataclass(metric):
        for field in dataclasses.fields(metric):
            try:
                setattr(metric, field.name, getattr(metric, field.name))
            except dataclasses.FrozenInstanceError:
                continue
            raise AssertionError(f"{metric.name}.{field.name} can be set; freeze the metric")


def measures_rows(metric: Metric) -> None:
    """One finite row a pair."""
    prepared, pairs = _prepared(metric)
    rows = prepared.measure(pairs)
    assert rows.dtype == numpy.float64, f"rows are {rows.dtype}, not float64"
    assert rows.ndim == 2, f"rows have {rows.ndim} dimensions, not 2"
    assert len(rows) == len(pairs), f"{len(rows)} rows for {len(pairs)} pairs"
    assert numpy.isfinite(rows).all(), "a row is not finite"


def stays_in_scale(metric: Metric) -> None:
    """Segment and corpus scores lie in the declared scale."""
    prepared, pairs = _prepared(metric)
    rows = prepared.measure(pairs)
    for one, row in zip(pairs, rows, strict=True):
        _in_scale(prepared, prepared.score(row, Level.SEGMENT), repr(one.hypothesis.text))
    _in_scale(prepared, prepared.score(rows.sum(axis=0), Level.CORPUS), "the corpus")


def knows_a_copy(metric: Metric) -> None:
    """A copy is no worse than nonsense, a corpus of copies is better; where `copy_is_best`
    says so, copies get the best score there is.
    """
    segments, _ = sample()
    prepared = metric.prepare(segments)
    copies = [pair(segment.references[0], segment) for segment in segments]
    nonsense = [pair(analyse("zq xv wk"), segment) for segment in segments]
    best = prepared.scale[1 if prepared.higher_is_better else 0]
    sign = 1 if prepared.higher_is_better else -1
    copied, unlike = prepared.measure(copies), prepared.measure(nonsense)
    for one, row, other in zip(copies, copied, unlike, strict=True):
        score = prepared.score(row, Level.SEGMENT).value
        worse = prepared.score(other, Level.SEGMENT).value
        what = f"{one.hypothesis.text!r}: a copy scores {score}, nonsense {worse}, best {best}"
        assert sign * score >= sign * worse, what
        assert not prepared.copy_is_best or abs(score - best) < 1e-6, what
    score = prepared.score(copied.sum(axis=0), Level.CORPUS).value
    worse = prepared.score(unlike.sum(axis=0), Level.CORPUS).value
    what = f"a corpus of copies scores {score}, one of nonsense {worse}, best {best}"
    assert sign * score > sign * worse, what
    assert not prepared.copy_is_best or abs(score - best) < 1e-6, what


def ignores_order(metric: Metric) -> None:
    """Pairs in another order give the same rows in that order."""
    prepared, pairs = _prepared(metric)
    backward = prepared.measure(pairs[::-1])
    _same(prepared.measure(pairs), backward[::-1], "pairs in reverse order")


def ignores_batches(metric: Metric) -> None:
    """A pair gives the same row whatever it is measured with."""
    prepared, pairs = _prepared(metric)
    alone = numpy.concatenate([prepared.measure([one]) for one in pairs])
    _same(prepared.measure(pairs), alone, "pairs one by one")
    _same(prepared.measure(pairs * 3)[: len(pairs)], alone, "pairs among many")


def splits_and_merges(metric: Metric) -> None:
    """Totals of parts add up to the total of the whole, and to its score."""
    prepared, pairs = _prepared(metric)
    whole = prepared.measure(pairs).sum(axis=0)
    parts = prepared.measure(pairs[:4]).sum(axis=0) + prepared.measure(pairs[4:]).sum(axis=0)
    assert numpy.allclose(whole, parts, rtol=1e-12, atol=1e-12), "parts do not add up"
    one = prepared.score(whole, Level.CORPUS).value
    other = prepared.score(parts, Level.CORPUS).value
    assert abs(one - other) <= 1e-9 * max(1.0, abs(one)), f"scores {one} and {other}"


def scores_many_alike(metric: Metric) -> None:
    """Where it has `scores`, that gives what `score` gives, at both levels and on empty input."""
    if not isinstance(metric, ManyScorer):
        return
    segments, _ = sample()
    empty = Segment("empty", (analyse(""),), source=analyse(""))
    prepared = metric.prepare([*segments, empty])
    assert isinstance(prepared, ManyScorer), f"{metric.name}: prepare drops scores"
    texts = [*(hypothesis for hypothesis, _ in _TEXTS), ""]
    pairs = [pair(analyse(text), one) for one in (*segments, empty) for text in texts]
    rows = prepared.measure(pairs)
    totals = numpy.concatenate([rows, numpy.cumsum(rows, axis=0), rows[::-1] * 3])
    for level in Level:
        many = prepared.scores(totals, level)
        assert many.shape == (len(totals),), f"{len(totals)} rows give scores {many.shape}"
        for total, value in zip(totals, many, strict=True):
            one = prepared.score(total, level).value
            assert abs(value - one) <= 1e-9 * max(1.0, abs(one)), (
                f"{metric.name}: scores gives {value} where score gives {one} ({level})"
            )
    assert prepared.scores(totals[:0], Level.CORPUS).shape == (0,)


def defines_empty_input(metric: Metric) -> None:
    """No pairs, an empty hypothesis, an empty reference and two empty sides are defined."""
    segments, _ = sample()
    empty = Segment("empty", (analyse(""),), source=analyse(""))
    prepared = metric.prepare([*segments, empty])
    width = prepared.measure([pair(analyse("a"), segments[0])]).shape[1]
    none = prepared.measure([])
    assert none.shape == (0, width), f"no pairs give rows of shape {none.shape}"
    cases: Sequence[tuple[str, Pair]] = (
        ("an empty hypothesis", pair(analyse(""), segments[0])),
        ("a blank hypothesis", pair(analyse(" \u00a0\t"), segments[0])),
        ("an empty reference", pair(analyse("something"), empty)),
        ("two empty sides", pair(analyse(""), empty)),
    )
    for what, one in cases:
        row = prepared.measure([one])[0]
        assert numpy.isfinite(row).all(), f"{what}: a row that is not finite"
        _in_scale(prepared, prepared.score(row, Level.SEGMENT), what)
        _in_scale(prepared, prepared.score(row, Level.CORPUS), f"{what}, alone in a corpus")


def repeats_itself(metric: Metric) -> None:
    """The same pairs give the same rows again, after a copy to another process too."""
    prepared, pairs = _prepared(metric)
    rows = prepared.measure(pairs)
    _same(rows, prepared.measure(pairs), "measured again")
    copied: Metric = pickle.loads(pickle.dumps(prepared))
    _same(rows, copied.measure(pairs), "measured by a pickled copy")
    again, _ = _prepared(metric)
    _same(rows, again.measure(pairs), "prepared again")


def keeps_symmetry(metric: Metric) -> None:
    """Where it declares itself `symmetric`, two texts score the same whichever is the reference.

    Minimum Bayes risk measures half of the pairs then; a metric that declares nothing has them
    all measured.
    """
    if not getattr(metric, "symmetric", False):
        return
    texts = dict.fromkeys(text for one, others in _TEXTS for text in (one, *others, ""))
    segments = [Segment(str(n), (analyse(text),), analyse(text)) for n, text in enumerate(texts)]
    prepared = metric.prepare(segments)
    pairs = [pair(analyse(text), segment) for text in texts for segment in segments]
    rows = prepared.measure(pairs)
    scores = numpy.array([prepared.score(row, Level.SEGMENT).value for row in rows])
    matrix = scores.reshape(len(segments), len(segments))
    off = numpy.abs(matrix - matrix.T)
    assert off.max() <= 1e-9, (
        f"{metric.name} declares itself symmetric, and differs by {off.max():g} where the sides "
        "change places"
    )


CHECKS: tuple[Check, ...] = (
    keeps_the_protocol,
    signs_before_scoring,
    stays_still,
    measures_rows,
    stays_in_scale,
    knows_a_copy,
    ignores_order,
    ignores_batches,
    splits_and_merges,
    scores_many_alike,
    defines_empty_input,
    repeats_itself,
    keeps_symmetry,
)
"""Every check, in the order a metric's author best mends them."""
