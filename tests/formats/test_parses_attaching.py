"""Parses put onto the texts they are of, and refused where they are of others."""

from __future__ import annotations

import io
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meantime.errors import FormatError, LengthMismatch
from meantime.formats.parses import attach, attach_file, plain_token, read_parses
from meantime.formats.parses.attaching import _locate_exactly, _locate_loosely, _stream
from meantime.types import Frame, Sentence, Span


def parsed(*tokens: str) -> Sentence:
    return Sentence(" ".join(tokens), tokens=tokens, frames=())


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        ("I can't.", "I ca n't .", None),
        ("  I\u00a0see  ", "I see", None),
        ("(yes)", "-LRB- yes -RRB-", "( yes )"),
        ("-LRB- yes", "-LRB- yes", None),
        ("[a] {b}", "-LSB- a -RSB- -LCB- b -RCB-", "[ a ] { b }"),
        ('"Yes"', "`` Yes ''", '" Yes "'),
        ("“Yes”", "`` Yes ''", "“ Yes ”"),
        ("“Yes”", '" Yes "', "“ Yes ”"),
        ("''Yes''", "`` Yes ''", "'' Yes ''"),
        ("‘Yes’", "` Yes '", "‘ Yes ’"),
        ("it’s", "it 's", "it ’s"),
        ("a — b…", "a -- b ...", "a — b …"),
        ("and/or 5*", "and\\/or 5 \\*", "and/or 5 *"),
        ("a :)", "a :-RRB-", "a :)"),
        ("AT&amp;T &lt; B", "AT&T < B", None),
        ("A &amp; B", "A &amp; B", None),
        ("A &amp; B", "A & amp ; B", None),
        ("caf&eacute; &#39;x&#x27;", "café ' x '", None),
        ("R&D &amp; co", "R&D & co", None),
        ("?a=1&copy=2", "?a=1&copy=2", None),
        ("a\u200bb \u202ec", "ab c", None),
        ("日本 語", "日 本語", None),
        ("", "", None),
        ("👍🏽 ok", "👍🏽 ok", None),
    ],
)
def test_tokens_are_found(text: str, tokens: str, expected: str | None) -> None:
    [sentence] = attach([Sentence(text, "und")], [parsed(*tokens.split())], "file")
    assert sentence.text == text
    assert sentence.lang == "und"
    assert sentence.tokens == tuple((expected or tokens).split())
    assert sentence.offsets is not None
    reached = 0
    for start, end in sentence.offsets:
        assert reached <= start < end
        reached = end
    assert sentence.frames == ()


def test_places() -> None:
    [sentence] = attach(
        [Sentence("AT&amp;T isn't (it)")], [parsed(*"AT&T is n't -LRB- it -RRB-".split())], "f"
    )
    assert sentence.offsets == ((0, 8), (9, 11), (11, 14), (15, 16), (16, 18), (18, 19))


@pytest.mark.parametrize(
    ("text", "tokens", "words"),
    [
        ("I see you", "I saw you", ["token 2 'saw'", "'see you'"]),
        ("I see", "I see you", ["token 3 'you'", "its end"]),
        ("I see you", "I see", ["tokens end", "'you'"]),
        ("I see you", "", ["tokens end", "'I see you'"]),
        ("", "I", ["token 1 'I'", "its end"]),
        ("you see I", "I see you", ["token 1 'I'"]),
        ("A &amp; B", "A & C", ["token 3 'C'", "'B'"]),
        ("x" * 100, "y", ["x" * 40 + "…"]),
    ],
)
def test_other_texts_are_refused(text: str, tokens: str, words: list[str]) -> None:
    with pytest.raises(FormatError) as caught:
        attach([Sentence("ok"), Sentence(text)], [parsed("ok"), parsed(*tokens.split())], "a.conll")
    assert str(caught.value).startswith("a.conll: sentence 2: ")
    assert "; give the parses of this very text" in str(caught.value)
    for word in words:
        assert word in str(caught.value)


CONLL = "d 0 0 I PRP * - -\nd 0 1 see VBP * - -\n\nd 1 0 Yes UH * - -\n"


def test_file_line_and_token(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text(CONLL, encoding="utf-8")
    with pytest.raises(FormatError, match=r"a\.conll:2: sentence 1: token 2 'see' .*'saw'"):
        attach_file([Sentence("I saw"), Sentence("Yes")], path)
    with pytest.raises(FormatError, match=r"a\.conll:4: sentence 2: token 1 'Yes' "):
        read_parses(path, texts=["I see", "No"])
    with pytest.raises(FormatError, match=r"a\.conll:4: sentence 2: the tokens end "):
        read_parses(path, texts=["I see", "Yes!"])
    first, second = attach_file([Sentence("I see", "x"), Sentence("Yes", "y")], path)
    assert (first.lang, second.lang) == ("x", "y")


def test_numbers_of_sentences() -> None:
    stdin = lambda: io.BytesIO(CONLL.encode())  # noqa: E731
    with pytest.raises(LengthMismatch, match="standard input: 2 sentences, the text has 3; "):
        read_parses("-", texts=["I see", "Yes", "Yes"], stdin=stdin())
    with pytest.raises(LengthMismatch, match="2 sentences, the text has 1; "):
        read_parses("-", texts=["I see"], stdin=stdin())
    # Where one is missing in the middle, the first token that is wrong tells more.
    with pytest.raises(FormatError, match=r":4: sentence 2: token 1 'Yes'"):
        read_parses("-", texts=["I see", "No", "Yes"], stdin=stdin())
    with pytest.raises(LengthMismatch, match=r"has 4 \(1 of them empty\)"):
        read_parses("-", texts=["I see", "Yes", "No", ""], stdin=stdin())


def test_empty_lines_may_be_left_out() -> None:
    read = read_parses("-", texts=["", "I see", " \t", "Yes"], stdin=io.BytesIO(CONLL.encode()))
    assert [sentence.tokens for sentence in read] == [(), ("I", "see"), (), ("Yes",)]
    assert [sentence.frames for sentence in read] == [()] * 4
    assert [sentence.text for sentence in read] == ["", "I see", " \t", "Yes"]
    assert [sentence.pos for sentence in read] == [(), ("PRP", "VBP"), (), ("UH",)]
    assert attach([Sentence(" ")], [], "f")[0].tokens == ()
    assert attach([], [], "f") == []


def test_layers_are_those_of_the_parse() -> None:
    vectors = numpy.zeros((2, 1), numpy.float16)
    old = Sentence("I see", tokens=("I see",), pos=("X",), tree_score=-1.0, vectors=vectors)
    frames = (Frame(Span(1, 2)),)
    [new] = attach([old], [Sentence("?", tokens=("I", "see"), frames=frames)], "f")
    assert new == Sentence("I see", tokens=("I", "see"), offsets=((0, 1), (2, 5)), frames=frames)
    assert new.vectors is None


def test_a_text_without_tokens_is_compared() -> None:
    assert attach([Sentence("I  see")], [Sentence("I see")], "f") == [Sentence("I  see")]
    with pytest.raises(FormatError, match="sentence 1"):
        attach([Sentence("I see")], [Sentence("I saw")], "f")


def test_offsets_of_the_same_text_are_kept() -> None:
    given = Sentence("a b", tokens=("A", "B"), offsets=((0, 1), (2, 3)))
    assert attach([Sentence("a b")], [given], "f") == [given]


def test_plain_tokens() -> None:
    written = ["-LRB-", "``", "''", "`", "and\\/or", "/.", "--", "x"]
    assert [plain_token(token) for token in written] == [
        "(",
        '"',
        '"',
        "'",
        "and/or",
        ".",
        "--",
        "x",
    ]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text("ab&;amp(\"'-L. \u00a0é", min_size=1, max_size=4)), st.data())
def test_fast_as_slow(tokens: list[str], data: st.DataObject) -> None:
    tokens = [token for token in map(str.strip, tokens) if token]
    text = "".join(token + data.draw(st.sampled_from(["", " ", "\t"])) for token in tokens)
    fast = _locate_exactly(tokens, text)
    slow, complete = _locate_loosely(tokens, text, _stream(text, resolve=False))
    assert fast is not None
    assert complete
    assert fast.offsets == slow.offsets
    assert fast.tokens == slow.tokens == tokens
