"""Tokens and their places, on good text and on bad."""

from __future__ import annotations

import html
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meantime.analysis.tokenise import _TOKEN, _walk, tokenise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The dog didn't bite.", "The dog did n't bite ."),
        ("It’s John’s, they’re", "It ’s John ’s , they ’re"),
        ("I cannot; I'm gonna", "I can not ; I 'm gon na"),
        ("a well-known U.S.-based firm", "a well - known U.S. - based firm"),
        ("non-human e-mail ten-fold", "non-human e-mail ten-fold"),
        ("and/or on 9/11", "and / or on 9/11"),
        ("$1,000.50 (US$5) 10% 5kg", "$ 1,000.50 ( US$ 5 ) 10 % 5 kg"),
        ("Mr. Smith left. He ran", "Mr. Smith left . He ran"),
        ("J. K. Rowling, Plan B.", "J. K. Rowling , Plan B ."),
        ("at 10:30 a.m. in the U.S.", "at 10:30 a.m. in the U.S."),
        ('"Quoted" [text] {x}', '" Quoted " [ text ] { x }'),
        ("wait... what?!! no --- yes", "wait ... what ?!! no --- yes"),
        ("end.Next one,two(three)four", "end . Next one , two ( three ) four"),
        ("see http://a.bc/d?e=f. or x@y.org", "see http://a.bc/d?e=f . or x@y.org"),
        ("good :) #tag @name 👍🏽", "good :) #tag @name 👍🏽"),
        ("狗咬人abc犬", "狗 咬 人 abc 犬"),
        ("the the the", "the the the"),
        ("do n't it 's", "do n't it 's"),
        ("in the '90s and 1990s, 3rd", "in the '90s and 1990s , 3rd"),
        ("Ünïcödé naïve café", "Ünïcödé naïve café"),
    ],
)
def test_examples(text: str, expected: str) -> None:
    assert [token.text for token in tokenise(text)] == expected.split()


def test_entities_are_resolved_and_keep_their_place() -> None:
    text = "&quot;A&amp;E&quot; &lt;b&gt; &#39;x&#x27; &nope; &"
    tokens = tokenise(text)
    assert [token.text for token in tokens][:4] == ['"', "A&E", '"', "<"]
    for token in tokens:
        assert html.unescape(text[token.start : token.end]) == token.text


def test_control_and_zero_width_characters_are_between_tokens() -> None:
    assert [t.text for t in tokenise("a\x00b\u200bc\ufeffd\x85e\u2028f")] == list("abcdef")


def test_nothing() -> None:
    assert tokenise("") == []
    assert tokenise(" \n\t\x00") == []


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_tokens_cover_the_text_in_order(text: str) -> None:
    tokens = tokenise(text)
    place = 0
    for token in tokens:
        assert token.text
        assert place <= token.start < token.end <= len(text)
        if "&" not in text:
            assert token.text == text[token.start : token.end]
        place = token.end
    if "&" not in text:
        covered = "".join(token.text for token in tokens)
        left = [c for c in text if not c.isspace() and c.isprintable()]
        assert [c for c in covered if c.isprintable()] == left or "\u00ad" in text


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["dog", "bit", "it", ",", "(", "5"]), min_size=1, max_size=10))
def test_spaced_words_stay_themselves(words: list[str]) -> None:
    assert [token.text for token in tokenise(" ".join(words))] == words


_PIECES = [
    "a", "é", "B.", "-", "+", "_", ".", ",", "@", "#", "'s", "com", ".com", ".org/", "co.uk",
    "www.", "http://", "1", "12", "/", ":", ")", "!", "$", "犬", "👍", "\x07", "\u200b", "<", "”",
    "x@y.org", "non-", "'",
]  # fmt: skip


@settings(max_examples=1000, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=14).map("".join))
def test_long_stretches_are_read_by_the_same_rules(text: str) -> None:
    plain = [(one.lastgroup, one.span()) for one in _TOKEN.finditer(text)]
    assert [(one.lastgroup, one.span()) for one in _walk(text, 0, len(text))] == plain


@pytest.mark.parametrize(
    "piece", ["a-", "a.", "a+", "1,", "a@", "a'", "-", "x.com/", "http://", "é_"]
)
@pytest.mark.parametrize("end", ["", "@", ".", ".co", "@b"])
def test_the_time_grows_with_the_length_alone(piece: str, end: str) -> None:
    start = time.process_time()
    tokenise(piece * 30_000 + end)
    # What grew with its square took minutes.
    assert time.process_time() - start < 5
