"""The papers' worked examples."""

from __future__ import annotations

import math

import pytest

from meantime.registry import create
from meantime.types import Level, Pair, Segment, Sentence


def _score(specification: str, hypothesis: str, *references: str) -> float:
    segment = Segment("1", tuple(Sentence(reference) for reference in references))
    metric = create(specification).prepare([segment])
    return metric.score(
        metric.measure([Pair(Sentence(hypothesis), segment)])[0], Level.SEGMENT
    ).value


WALKED = ("he walked the dog", "he took the dog for a walk")
STORE = ("he went to the store", "to the store he went")


@pytest.mark.parametrize(
    ("specification", "pair", "expected"),
    [
        ("wer:unit=count", WALKED, 4),
        ("per:unit=count", WALKED, 4),
        ("wer:unit=count", STORE, 4),
        ("per:unit=count", STORE, 0),
        ("wer", WALKED, 4 / 7),
        ("per", WALKED, 4 / 7),
        ("gtm", WALKED, 6 / 11),
        ("gtm:exponent=2", WALKED, 2 * math.sqrt(5) / 11),
        ("bleu:max_order=1,brevity_penalty=no", WALKED, 75),
        ("bleu:max_order=2,brevity_penalty=no", WALKED, 50),
        ("bleu:brevity_penalty=no,smooth=none", WALKED, 0),
    ],
)
def test_kulesza_2004(specification: str, pair: tuple[str, str], expected: float) -> None:
    """Section 1.2 of "A learning approach to improving sentence-level MT evaluation"."""
    assert _score(specification, *pair) == pytest.approx(expected)


def test_kulesza_2004_precisions() -> None:
    segment = Segment("1", (Sentence(WALKED[1]),))
    metric = create("bleu:smooth=none").prepare([segment])
    row = metric.measure([Pair(Sentence(WALKED[0]), segment)])[0]
    parts = metric.score(row, Level.SEGMENT).parts
    assert parts["precision_1"] == pytest.approx(75)
    assert parts["precision_2"] == pytest.approx(100 / 3)
    assert parts["precision_3"] == 0


def test_finch_2005_penalty() -> None:
    """NIST's penalty is 0.5 where the hypothesis has two thirds of the length (section 2.4)."""
    reference = "a b c d e f"
    with_penalty = _score("nist:max_order=1", "a b c d", reference)
    without = _score("nist:max_order=1,brevity_penalty=no", "a b c d", reference)
    assert with_penalty == pytest.approx(without / 2)


def test_finch_2005_figure_2() -> None:
    """Five of six words match: PER is the one non-match, NN 1/6."""
    assert _score("per", "the cat sat on the mat", "the dog sat on the mat") == pytest.approx(1 / 6)


def test_finch_2005_per_takes_the_larger_difference() -> None:
    assert _score("per", "a b c x y z", "a b c") == pytest.approx(3 / 3)
    assert _score("per", "a b", "a b c d") == pytest.approx(2 / 4)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_finch_2005_bleu_without_penalty(order: int) -> None:
    """A prefix has precision 1 at every order; only the penalty could lower it."""
    specification = f"bleu:max_order={order},brevity_penalty=no"
    assert _score(specification, "the cat sat on", "the cat sat on the mat") == pytest.approx(100)


def test_nist_information() -> None:
    """log2(6/1) for a word seen once in six, log2(6/2) for one seen twice."""
    value = _score("nist:max_order=1", "the cat", "the cat sat on the mat")
    penalty = math.exp(math.log(0.5) / math.log(1.5) ** 2 * math.log(2 / 6) ** 2)
    assert value == pytest.approx(penalty * (math.log2(6) + math.log2(3)) / 2)


def test_several_references_take_the_minimum() -> None:
    for name in ("wer", "per", "cder"):
        for unit in ("rate", "count"):
            both = _score(f"{name}:unit={unit}", "a b c d", "a b c d e f g h", "a x c y")
            alone = [
                _score(f"{name}:unit={unit}", "a b c d", reference)
                for reference in ("a b c d e f g h", "a x c y")
            ]
            assert both == pytest.approx(min(alone))


def test_gtm_takes_the_best_reference() -> None:
    assert _score("gtm", "a b", "c d", "a b") == 1.0
