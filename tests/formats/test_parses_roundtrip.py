"""Parses written and read again are equal, in what each format can hold."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meantime.errors import InputError
from meantime.formats.opening import encode
from meantime.formats.parses import PARSE_FORMATS, read_parses, render_parses, write_parses
from meantime.types import Frame, Role, Sentence, Span, Tree

TRICKY = [
    "-",
    "*",
    "#",
    "#empty",
    "(",
    ")",
    "[",
    "]",
    "-LRB-",
    "{",
    "0:",
    "``",
    "a*b",
    "e\u0301",
    "日本",
    "\u00a0",
    "\u2028",
    "&amp;",
    "\ufeff",
    "x]",
    "[ARG0",
    '"',
    "\\",
]
TOKEN = st.one_of(
    st.sampled_from(TRICKY),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5),
)
LABELS = ["ARG0", "ARG1", "ARGM-TMP", "R-ARG0", "C-V", "ARG1-DSP", "ARGA"]


@st.composite
def trees(draw: st.DrawFn, pos: tuple[str, ...], start: int, end: int, depth: int = 0) -> Tree:
    """A constituent over a range of tokens."""
    if end - start == 1 and (depth > 3 or draw(st.booleans())):
        return Tree(pos[start], Span(start, end))
    cuts = sorted(
        draw(st.sets(st.integers(start + 1, end - 1), max_size=3)) if end > start + 1 else []
    )
    if depth > 3:
        cuts = list(range(start + 1, end))
    children = tuple(
        draw(trees(pos, low, high, depth + 1)) for low, high in pairwise([start, *cuts, end])
    )
    label = draw(st.sampled_from(["S", "NP", "VP", "TOP", "NP-SBJ"]))
    return Tree(label, Span(start, end), children)


@st.composite
def frames(draw: st.DrawFn, length: int) -> Frame:
    """A predicate, and roles that share no token, some in several parts."""
    cuts = sorted(draw(st.sets(st.integers(0, length), min_size=2, max_size=8)))
    spans = [Span(low, high) for low, high in pairwise(cuts)]
    predicate = spans.pop(draw(st.integers(0, len(spans) - 1)))
    roles: list[tuple[str, list[Span]]] = []
    for span in spans:
        choice = draw(st.sampled_from(["none", "new", "more"]))
        if choice == "new" or (choice == "more" and not roles):
            roles.append((draw(st.sampled_from(LABELS)), [span]))
        elif choice == "more":
            label = draw(st.sampled_from([label for label, _ in roles]))
            # The latest of its label: what a continuation in a column continues.
            next(role for role in reversed(roles) if role[0] == label)[1].append(span)
    return Frame(predicate, tuple(Role(label, tuple(parts)) for label, parts in roles))


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    tokens = tuple(draw(st.lists(TOKEN, max_size=9)))
    offsets = []
    text = ""
    for token in tokens:
        text += draw(st.sampled_from(["", " ", "  "]))
        offsets.append((len(text), len(text) + len(token)))
        text += token
    length = len(tokens)
    tag = st.sampled_from(["NN", "VB", ".", "-LRB-", "PRP$", "''"])
    pos = tuple(draw(tag) for _ in tokens)
    tree = None
    if tokens and draw(st.booleans()):
        below = draw(trees(pos, 0, length))
        tree = Tree("TOP", Span(0, length), (below,))
    found = draw(st.lists(frames(length), max_size=3)) if length else []
    return Sentence(
        text,
        draw(st.sampled_from(["en", "de"])),
        tokens=tokens,
        offsets=draw(st.sampled_from([tuple(offsets), None])),
        pos=draw(st.sampled_from([pos, None])) if tree is None else pos,
        tree=tree,
        tree_score=draw(st.one_of(st.none(), st.floats(-1e6, 0))),
        frames=draw(st.sampled_from([tuple(found), None])),
    )


def read_text(text: str, format: str, **options: object) -> list[Sentence]:
    # As a file would be: through bytes.
    return read_parses("-", format=format, stdin=io.BytesIO(encode(text)), **options)  # type: ignore[arg-type]


def as_columns(sentence: Sentence, format: str) -> Sentence:
    """What a format of columns or lines keeps of a sentence."""
    tokens = sentence.tokens or ()
    starts = [sum(len(token) + 1 for token in tokens[:n]) for n in range(len(tokens))]
    kept = replace(
        sentence,
        text=" ".join(tokens),
        lang="en",
        offsets=tuple((s, s + len(token)) for s, token in zip(starts, tokens, strict=True)),
        tree_score=None,
    )
    if format == "assert":
        return replace(kept, pos=None, tree=None)
    return kept if tokens else replace(kept, pos=(), frames=())


HOLDS = {
    "conll2012": lambda s: not any(re.search(r"[\t\r\n]|^ | $", t) for t in s.tokens),
    "conll2005": lambda s: HOLDS["conll2012"](s) and s.frames is not None,
    "assert": lambda s: (
        s.frames is not None and not any(re.search(r"[ \t\r\n]|-[LR]SB-", t) for t in s.tokens)
    ),
    "jsonl": lambda s: True,
}


@pytest.mark.parametrize("format", PARSE_FORMATS)
@settings(max_examples=150, deadline=None)
@given(st.lists(sentences(), max_size=4))
def test_written_and_read_again(format: str, given_ones: list[Sentence]) -> None:
    held = [sentence for sentence in given_ones if HOLDS[format](sentence)]
    back = read_text(render_parses(held, format=format), format)
    if format == "jsonl":
        assert back == held
    else:
        assert back == [as_columns(sentence, format) for sentence in held]


@pytest.mark.parametrize("format", PARSE_FORMATS)
@settings(max_examples=100, deadline=None)
@given(sentences())
def test_written_or_refused(format: str, sentence: Sentence) -> None:
    if HOLDS[format](sentence):
        assert render_parses([sentence], format=format)
    elif sentence.tokens or sentence.frames is None:
        if format == "conll2005" and not sentence.tokens:
            return
        with pytest.raises(InputError, match=r"^sentence 1.*;"):
            render_parses([sentence], format=format)


@pytest.mark.parametrize("format", ["conll2005", "conll2012", "assert", "jsonl"])
def test_in_parts_as_in_one(format: str) -> None:
    sentence = Sentence(
        "I see", tokens=("I", "see"), frames=(Frame(Span(1, 2), (Role("ARG0", (Span(0, 1),)),)),)
    )
    parts = [render_parses([sentence], format=format, first=number) for number in range(3)]
    assert "".join(parts) == render_parses([sentence] * 3, format=format)


def test_a_role_split_around_another_of_its_label_needs_jsonl() -> None:
    roles = (Role("ARG1", (Span(0, 1), Span(3, 4))), Role("ARG1", (Span(2, 3),)))
    sentence = Sentence("a b c d", tokens=tuple("abcd"), frames=(Frame(Span(1, 2), roles),))
    for format in ("conll2005", "conll2012", "assert"):
        with pytest.raises(InputError, match="write jsonl"):
            render_parses([sentence], format=format)
    assert read_text(render_parses([sentence], format="jsonl"), "jsonl") == [sentence]


@pytest.mark.parametrize("name", ["a.jsonl", "a.conll", "a.conll.gz", "a.conll05", "a.assert"])
def test_files(name: str, tmp_path: Path) -> None:
    sentence = as_columns(
        Sentence("", tokens=("I", "see"), frames=(Frame(Span(1, 2)),)),
        "assert",
    )
    write_parses([sentence], tmp_path / name)
    assert read_parses(tmp_path / name) == [sentence]
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_is_written_wholly_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    with pytest.raises(InputError, match=r"a\.conll: sentence 2 has no tokens; "):
        write_parses([Sentence("", tokens=()), Sentence("I see")], path)
    with pytest.raises(InputError, match="half a character"):
        write_parses([Sentence("\ud800", tokens=("\ud800",))], path)
    assert not path.exists()


def test_a_tree_as_deep_as_a_long_sentence() -> None:
    length = 2000
    tree = Tree("NN", Span(length - 1, length))
    for start in range(length - 2, -1, -1):
        tree = Tree("X", Span(start, length), (Tree("NN", Span(start, start + 1)), tree))
    tree = Tree("TOP", Span(0, length), (tree,))
    tokens = ("a",) * length
    sentence = Sentence(" ".join(tokens), tokens=tokens, pos=("NN",) * length, tree=tree)
    for format in ("conll2012", "jsonl"):
        text = render_parses([sentence], format=format)
        # Compared as text: comparing trees this deep is more than Python does.
        assert render_parses(read_text(text, format), format=format).count("(X") == length - 1


@pytest.mark.needs("shared")
@pytest.mark.parametrize("name", ["ewt.dev", "ewt.test", "wsj.test"])
def test_real_files(name: str, shared: Path) -> None:
    path = shared / "propbank" / f"{name}.gold_conll.gz"
    read = read_parses(path)
    assert len(read) == {"ewt.dev": 1959, "ewt.test": 2054, "wsj.test": 2693}[name]
    predicates = sum(len(sentence.frames or ()) for sentence in read)
    assert predicates == {"ewt.dev": 4949, "ewt.test": 4795, "wsj.test": 9645}[name]
    assert all(sentence.tree is not None for sentence in read)
    for format in PARSE_FORMATS:
        back = read_text(render_parses(read, format=format), "auto")
        if format == "assert":
            assert back == [replace(sentence, pos=None, tree=None) for sentence in read]
        else:
            assert back == read
