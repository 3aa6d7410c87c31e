"""What the trained metric's network is given."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meantime import Level, Pair, Segment, Sentence, create
from meantime.errors import InputError
from meantime.learned.encoding import SURFACE, Pieces, measure_surface, read_entities
from meantime.learned.network import shipped

PIECES = Pieces(shipped() / "meantime" / "tokenizer.json")


def surface(hypothesis: str, reference: str) -> dict[str, float]:
    one, other = PIECES.split([hypothesis, reference])
    return dict(zip(SURFACE, measure_surface([(one, other)])[0].tolist(), strict=True))


def test_by_hand() -> None:
    # Pieces: the cat sat / the cat sat down. Pairs of them: 2 of 2, and 2 of 3.
    found = surface("the cat sat", "the cat sat down")
    assert found["piece-precision"] == 1
    assert found["piece-recall"] == 0.75
    assert found["piece-pairs"] == pytest.approx(4 / 5)
    assert found["length-ratio"] == pytest.approx(numpy.log(4 / 5))


def test_a_copy_and_nothing() -> None:
    assert surface("the cat", "the cat") == dict.fromkeys(SURFACE[:5], 1.0) | {"length-ratio": 0.0}
    assert set(surface("", "").values()) == {0.0}
    assert surface("", "the cat")["length-ratio"] == pytest.approx(numpy.log(1 / 3))
    assert measure_surface([]).shape == (0, len(SURFACE))


@given(st.text(max_size=40), st.text(max_size=40))
def test_characters_are_those_of_chrf(hypothesis: str, reference: str) -> None:
    found = surface(hypothesis, reference)
    precision, recall = found["character-precision"], found["character-recall"]
    wanted = 0.0 if precision + recall == 0 else 2 * precision * recall / (precision + recall)
    chrf = create("chrf:beta=1")
    segment = Segment("1", (Sentence(reference),))
    rows = chrf.prepare([segment]).measure([Pair(Sentence(hypothesis), segment)])
    counts = rows.reshape(6, 3)
    # chrf counts no n-grams of an order that the other side does not have.
    if (counts[:, 0] > 0).tolist() == (counts[:, 1] > 0).tolist():
        assert 100 * wanted == pytest.approx(chrf.score(rows[0], Level.SEGMENT).value, abs=1e-9)


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=6))
def test_the_same_in_any_batch(pairs: list[tuple[str, str]]) -> None:
    split = [tuple(PIECES.split(pair)) for pair in pairs]
    together = measure_surface(split)  # type: ignore[arg-type]
    for pair, row in zip(split, together, strict=True):
        assert (measure_surface([pair])[0] == row).all()  # type: ignore[list-item]


def test_offsets_count_characters() -> None:
    (text,) = PIECES.split(["“Ünïcode” 😀 x"])
    shown = "".join(text.text[start:end] for start, end in text.offsets)
    assert shown == "“Ünïcode”😀x"


def test_a_missing_tokeniser_is_named(tmp_path) -> None:
    with pytest.raises(InputError, match=r"tokenizer\.json: no such file"):
        Pieces(tmp_path / "tokenizer.json").split(["x"])


def test_entities_are_read_as_characters() -> None:
    written, meant = PIECES.split(["it &apos;s R&amp;D caf&eacute;s &#39;", "it 's R&D cafés '"])
    assert written.pieces == meant.pieces
    assert written.offsets[-1] == (len(written.text) - 5, len(written.text) - 4)
    assert (measure_surface([(written, meant)]) == [[1, 1, 1, 1, 1, 0]]).all()
    assert read_entities("AT&T; &nosuch;") == "AT&T; &nosuch;"
