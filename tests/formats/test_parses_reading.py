"""Parses read from files as their makers write them, and refused where they are broken."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from meantime.errors import FormatError, InputError, UsageError
from meantime.formats.parses import read_parses, render_parses, write_parses
from meantime.types import Frame, Role, Sentence, Span, Tree

Make = Callable[[str, str | bytes], Path]

WORDS = ("The", "committee", "rejected", "the", "proposal", "on", "Monday", ".")
FRAME = Frame(
    Span(2, 3),
    (
        Role("ARG0", (Span(0, 2),)),
        Role("ARG1", (Span(3, 5),)),
        Role("ARGM-TMP", (Span(5, 7),)),
    ),
)
POS = ("DT", "NN", "VBD", "DT", "NN", "IN", "NNP", ".")
PARSE = "(S(NP* *) (VP* (NP* *) (PP* (NP*))) *)".split()
ROLES = "(A0* *) (V*) (A1* *) (AM-TMP* *) *".split()


def leaf(token: int) -> Tree:
    return Tree(POS[token], Span(token, token + 1))


TREE = Tree(
    "TOP",
    Span(0, 8),
    (
        Tree(
            "S",
            Span(0, 8),
            (
                Tree("NP", Span(0, 2), (leaf(0), leaf(1))),
                Tree(
                    "VP",
                    Span(2, 7),
                    (
                        leaf(2),
                        Tree("NP", Span(3, 5), (leaf(3), leaf(4))),
                        Tree("PP", Span(5, 7), (leaf(5), Tree("NP", Span(6, 7), (leaf(6),)))),
                    ),
                ),
                leaf(7),
            ),
        ),
    ),
)


def read_text(text: str, format: str = "auto", **options: object) -> list[Sentence]:
    return read_parses("-", format=format, stdin=io.BytesIO(text.encode()), **options)  # type: ignore[arg-type]


def refused(text: str, *words: str, format: str = "auto", **options: object) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(text, format, **options)
    for word in words:
        assert word in str(caught.value), caught.value
    assert ";" in str(caught.value), "the remedy comes after a semicolon"
    assert str(caught.value).startswith("standard input:"), caught.value


def columns(*given: list[str] | tuple[str, ...], separator: str = " ") -> str:
    return "".join(separator.join(row) + "\n" for row in zip(*given, strict=True)) + "\n"


TARGET = ["reject" if word == "rejected" else "-" for word in WORDS]
STARS = ["*"] * 8


# CoNLL-2005


@pytest.mark.parametrize(
    ("layout", "known"),
    [
        ([WORDS, POS, PARSE, TARGET, ROLES], True),
        ([WORDS, POS, PARSE, STARS, TARGET, ROLES], True),
        ([WORDS, STARS, POS, STARS, STARS, PARSE, ["-"] * 8, TARGET, ROLES], True),
        ([WORDS, TARGET, ROLES], False),
    ],
    ids=["four", "entities", "task", "words and roles"],
)
@pytest.mark.parametrize("separator", [" ", "\t", "     "])
def test_conll2005(layout: list[list[str]], known: bool, separator: str) -> None:
    # The second sentence has no predicate: the layout is that of the file.
    without = [[*column] for column in layout[:-1]]
    without[-1] = ["-"] * 8
    text = columns(*layout, separator=separator) + columns(*without, separator=separator)
    first, second = read_text(text)
    assert first.tokens == WORDS
    assert first.text == "The committee rejected the proposal on Monday ."
    assert first.offsets is not None
    assert [first.text[start:end] for start, end in first.offsets] == list(WORDS)
    assert first.frames == (FRAME,)
    assert (first.pos, first.tree) == ((POS, TREE) if known else (None, None))
    assert second.frames == ()


def test_old_labels_are_renamed() -> None:
    cells = "(A0*) (R-A0*) (V*) (AM-NEG*) (C-A0*) (AA*) (A1-DSP*) (AMOUNT*)".split()
    [sentence] = read_text(columns(WORDS, TARGET, cells))
    assert sentence.frames is not None
    assert [role.label for role in sentence.frames[0].roles] == [
        "ARG0",
        "R-ARG0",
        "ARGM-NEG",
        "ARGA",
        "ARG1-DSP",
        "AMOUNT",
    ]
    assert sentence.frames[0].roles[0].spans == (Span(0, 1), Span(4, 5))
    assert "(C-A0*)" in render_parses([sentence], format="conll2005")


@pytest.mark.parametrize("root", ["(S1", "(ROOT", "(", "(TOP"])
def test_the_root_is_called_top(root: str) -> None:
    parse = [root + PARSE[0], *PARSE[1:-1], PARSE[-1] + ")"]
    [sentence] = read_text(columns(WORDS, POS, parse, TARGET, ROLES))
    assert sentence.tree == TREE


def test_several_roots_get_one() -> None:
    [sentence] = read_text("a NN (NP*) -\nb NN * -\n")
    assert sentence.tree == Tree(
        "TOP",
        Span(0, 2),
        (Tree("NP", Span(0, 1), (Tree("NN", Span(0, 1)),)), Tree("NN", Span(1, 2))),
    )


def test_labels_may_be_repeated_where_brackets_close() -> None:
    [sentence] = read_text("a - (A0*\nb - *A0)\nc see (V*V)\n")
    assert sentence.frames == (Frame(Span(2, 3), (Role("ARG0", (Span(0, 2),)),)),)


def test_a_number_sign_is_a_word_of_2005() -> None:
    [sentence] = read_text("# - *\n3 cost (V*)\n", "conll2005")
    assert sentence.tokens == ("#", "3")


# CoNLL-2012


def propbank(roles: list[str]) -> str:
    lemma = ["reject" if word == "rejected" else "-" for word in WORDS]
    senses = ["reject.01" if word == "rejected" else "-" for word in WORDS]
    numbers = [str(n) for n in range(8)]
    return columns(
        ["d"] * 8, ["0"] * 8, numbers, WORDS, POS, PARSE, lemma, senses, roles, separator="\t"
    )


NEW_ROLES = "(ARG0* *) (V*) (ARG1* *) (ARGM-TMP* *) *".split()


def test_propbank() -> None:
    [sentence] = read_text(propbank(NEW_ROLES))
    assert (sentence.tokens, sentence.pos, sentence.tree) == (WORDS, POS, TREE)
    assert sentence.frames == (FRAME,)
    assert sentence.tree_score is None
    assert sentence.vectors is None


def test_ontonotes() -> None:
    rows = [
        "bc/cctv/00   0   0   It      PRP  (TOP(S(NP*)   -   -   -   Speaker#1  *  (ARG1*)  (12)",
        "bc/cctv/00   0   1   failed  VBD  (VP*)         fail 01  1   Speaker#1  *  (V*)     -",
        "bc/cctv/00   0   2   /.      .    *))           -   -   -   Speaker#1  *  *        -",
    ]
    again = [
        "bc/cctv/00   0   0   Yes      UH  (TOP(INTJ*))   yes   -   1   Speaker#1  *  -",
    ]
    text = "\n".join(
        ["#begin document (bc/cctv/00); part 000", *rows, "", *again, "#end document", ""]
    )
    first, second = read_text(text)
    assert first.tokens == ("It", "failed", "/.")
    assert first.frames == (Frame(Span(1, 2), (Role("ARG1", (Span(0, 1),)),)),)
    assert second.tokens == ("Yes",)
    assert second.frames == ()
    # With the text, tokens are its characters.
    first, second = read_text(text, texts=["It failed.", "Yes"])
    assert first.tokens == ("It", "failed", ".")
    assert first.offsets == ((0, 2), (3, 9), (9, 10))


def test_continuations_are_joined() -> None:
    cells = "(ARG1*) * (V*) (C-V*) (C-ARG1*) (R-ARG1*) (C-ARG2*) (C-ARG1*)".split()
    [sentence] = read_text(propbank(cells))
    assert sentence.frames is not None
    assert sentence.frames[0].roles == (
        Role("ARG1", (Span(0, 1), Span(4, 5), Span(7, 8))),
        Role("C-V", (Span(3, 4),)),
        Role("R-ARG1", (Span(5, 6),)),
        # Nothing to continue: a role all the same.
        Role("ARG2", (Span(6, 7),)),
    )


def test_frames_may_be_absent() -> None:
    [sentence] = read_text("d 0 0 Hello UH (TOP*)\n")
    assert sentence.frames is None
    [sentence] = read_text("d 0 0 Hello - - - -\n")
    assert (sentence.pos, sentence.tree, sentence.frames) == (None, None, ())


def test_an_empty_sentence_keeps_its_place() -> None:
    empty = Sentence("", tokens=(), offsets=(), pos=(), frames=())
    word = Sentence("a", tokens=("a",), offsets=((0, 1),), frames=())
    for format in ("conll2005", "conll2012", "jsonl", "assert"):
        text = render_parses([empty, word, empty, empty], format=format)
        back = read_text(text)
        assert [sentence.tokens for sentence in back] == [(), ("a",), (), ()], format


# ASSERT


def test_assert() -> None:
    first, second, third, fourth = read_text(
        "0: [ARG0 The committee] [TARGET rejected ] [ARG1 the proposal] [ARGM-TMP on Monday] .\n"
        "1: [ARG1 What] [ARG0 he] [TARGET said ] pleased -LSB- them -RSB-\n"
        "1: [ARG0 What he said] [TARGET pleased] [ARG1 -LSB- them -RSB-]\n"
        "2: No verb here .\n"
        "3:\n"
    )
    assert first.frames == (FRAME,)
    assert (first.pos, first.tree) == (None, None)
    assert second.tokens == ("What", "he", "said", "pleased", "[", "them", "]")
    assert second.frames is not None
    assert [frame.predicate for frame in second.frames] == [Span(2, 3), Span(3, 4)]
    assert third.tokens == ("No", "verb", "here", ".")
    assert third.frames == ()
    assert (fourth.tokens, fourth.frames) == ((), ())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0: [ARG0 I [TARGET see ]\n", [":1:", "[TARGET opens inside [ARG0"]),
        ("0: [ARG0 I\n", [":1:", "[ARG0 is never closed"]),
        ("0: I] [TARGET see ]\n", [":1:", "'I]'"]),
        ("0: [ARG0 ] [TARGET see ]\n", [":1:", "no word"]),
        ("0: [ARG0 I] see\n", [":1:", "0 predicates"]),
        ("0: a b\n0: a c\n", [":2:", "token 2", "'c'", "'b'"]),
        ("0: a b\n0: a\n", [":2:", "token 2", "the end"]),
        ("0: a\n2: b\n", [":2:", "sentence 2", "0 comes before"]),
        ("5: a\n", [":1:", "sentence 5"]),
        ("0: a\nand so on\n", [":2:", "no sentence number"]),
    ],
)
def test_broken_assert(text: str, words: list[str]) -> None:
    refused(text, *words, format="assert")


# JSONL

OBJECT = {
    "text": "The committee rejected the proposal on Monday.",
    "tokens": list(WORDS),
    "pos": list(POS),
    "tree": "(S (NP (DT The) (NN committee)) (VP (VBD rejected) (NP (DT the) (NN proposal)) "
    "(PP (IN on) (NP (NNP Monday)))) (. .))",
    "tree_score": -3,
    "frames": [
        {
            "predicate": {"start": 2, "end": 3, "text": "rejected"},
            "roles": [
                {"label": "ARG0", "start": 0, "end": 2, "text": "The committee"},
                {"label": "ARG1", "start": 3, "end": 5},
                {"label": "ARGM-TMP", "start": 5, "end": 7},
            ],
        }
    ],
}


def test_jsonl() -> None:
    [sentence] = read_text(json.dumps(OBJECT))
    assert sentence == Sentence(
        "The committee rejected the proposal on Monday.",
        tokens=WORDS,
        pos=POS,
        tree=TREE,
        tree_score=-3.0,
        frames=(FRAME,),
    )


def test_jsonl_as_written() -> None:
    role = Role("ARG1", (Span(0, 1), Span(2, 4)))
    sentence = Sentence(
        "He, I see (him)",
        tokens=("He", ",", "I", "see", "(", "him", ")"),
        offsets=((0, 2), (2, 3), (4, 5), (6, 9), (10, 11), (11, 14), (14, 15)),
        tree=Tree("TOP", Span(0, 7), tuple(Tree("X", Span(n, n + 1)) for n in range(7))),
        frames=(Frame(Span(5, 7), (role,)),),
    )
    assert json.loads(render_parses([sentence], format="jsonl")) == {
        "text": "He, I see (him)",
        "lang": "en",
        "tokens": ["He", ",", "I", "see", "(", "him", ")"],
        "offsets": [[0, 2], [2, 3], [4, 5], [6, 9], [10, 11], [11, 14], [14, 15]],
        "tree": "(TOP (X He) (X ,) (X I) (X see) (X -LRB-) (X him) (X -RRB-))",
        "frames": [
            {
                "predicate": {"start": 5, "end": 7, "text": "him)"},
                "roles": [
                    {
                        "label": "ARG1",
                        "start": 0,
                        "end": 1,
                        "text": "He … I see",
                        "spans": [[0, 1], [2, 4]],
                    }
                ],
            }
        ],
    }


def test_absent_is_not_empty() -> None:
    first, second, third = read_text(
        '{"text": "a"}\n\n{"tokens": ["a"], "frames": []}\n{"text": "a", "tokens": null, "x": 1}\n'
    )
    assert first == third == Sentence("a")
    assert second == Sentence("a", tokens=("a",), offsets=((0, 1),), frames=())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tokens": None}, ["pos without tokens"]),
        ({"tokens": "The committee"}, ["tokens is not a list"]),
        ({"tokens": [1]}, ["tokens[0] is not a text"]),
        ({"pos": ["DT"]}, ["1 parts of speech for 8 tokens"]),
        ({"offsets": [[0, 3]]}, ["1 offsets for 8 tokens"]),
        ({"offsets": [[0, 99]] * 8}, ["token 1 at [0, 99)"]),
        ({"offsets": [[3, 4], *[[0, 1]] * 7]}, ["token 2 at [0, 1)", "out of order"]),
        ({"offsets": [[0]] * 8}, ["offsets[0] is not two whole numbers"]),
        ({"tree": "(S (DT The)"}, ["(S of the tree is never closed"]),
        ({"tree": "(S (DT The) (NN cat))"}, ["word 2 of the tree is 'cat'", "'committee'"]),
        ({"tree": "(S (DT The))"}, ["1 words", "8 tokens"]),
        ({"tree": "(DT The))"}, ["closes a bracket that was not opened"]),
        ({"tree": "(DT The (X y))"}, ["(DT … holds a bracket"]),
        ({"tree": "(DT The committee)"}, ["'committee' out of place"]),
        ({"tree": "(NP)"}, ["(NP) of the tree is empty"]),
        ({"tree": "(NP ((DT The)))"}, ["no label"]),
        ({"tree": ""}, ["tree is empty", "8 tokens"]),
        ({"tree_score": "high"}, ["tree_score is not a number"]),
        ({"frames": [{}]}, ["frames[0].predicate is missing"]),
        ({"frames": [{"predicate": {"start": 1, "end": True}}]}, ["frames[0].predicate"]),
        ({"frames": [{"predicate": {"start": 1, "end": 1}}]}, ["[1, 1) is empty"]),
        ({"frames": [{"predicate": {"start": 7, "end": 9}}]}, ["token 9 of 8"]),
        (
            {
                "frames": [
                    {
                        "predicate": {"start": 0, "end": 2},
                        "roles": [{"label": "ARG0", "start": 1, "end": 3}],
                    }
                ]
            },
            ["frames[0]: V and ARG0 overlap at token 2"],
        ),
        (
            {"frames": [{"predicate": {"start": 0, "end": 1}, "roles": [{"start": 1, "end": 2}]}]},
            ["frames[0].roles[0].label is not a text"],
        ),
        (
            {
                "frames": [
                    {
                        "predicate": {"start": 0, "end": 1},
                        "roles": [{"label": "A", "start": 1, "end": 2, "spans": [[2, 3]]}],
                    }
                ]
            },
            ["not the first of its spans"],
        ),
    ],
)
def test_broken_jsonl(changes: dict[str, object], words: list[str]) -> None:
    with pytest.raises(FormatError) as caught:
        read_text("\n" + json.dumps(OBJECT | changes))
    assert str(caught.value).startswith("standard input:2: ")
    assert ";" in str(caught.value)
    assert any(word in str(caught.value) for word in words), caught.value


@pytest.mark.parametrize(
    "line", ["[1]", "{", '{"text": "\\ud800"}', "{}", '{"text": 1}', "[" * 100_000]
)
def test_lines_that_are_no_objects(line: str) -> None:
    refused(line, ":1:", format="jsonl")


# Broken columns


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        ("(ARG0* * (V*) * * * * *", [":1:", "(ARG0", "never closed"]),
        ("(ARG0* *)) (V*) * * * * *", [":2:", "not opened"]),
        ("(ARG0 *) (V*) * * * * *", [":1:", "'(ARG0'", "not a bracket cell"]),
        ("(ARG0*(V*) * * * * * * *", [":1:", "not a bracket cell"]),
        ("(ARG0* (ARG1*) *) (V*) * * * *", [":2:", "ARG1 inside another bracket"]),
        ("(ARG0(ARG1*)) * (V*) * * * * *", [":1:", "ARG1 inside another bracket"]),
        ("(ARG0*) * (V*) (V*) * * * *", [":1:", "2 predicates"]),
        ("(V*) * * * * * * *", [":1:", "column 8 has -"]),
        ("(*) * (V*) * * * * *", [":1:", "no label"]),
    ],
)
def test_broken_roles(roles: str, words: list[str]) -> None:
    refused(propbank(roles.split()), "column 9", *words)


def test_an_unmarked_predicate_is_the_one_named() -> None:
    [sentence] = read_text(propbank("(ARG0* *) * * * * * *".split()))
    assert sentence.frames == (Frame(Span(2, 3), (Role("ARG0", (Span(0, 2),)),)),)


def test_a_predicate_without_roles_column() -> None:
    text = "\n".join(line.rpartition("\t")[0] for line in propbank(STARS).split("\n"))
    refused(text, ":3:", "column 8 names a predicate", format="conll2012")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("d 0 0 a NN * - -\nd 0 1 b NN * -\n", [":2:", "7 columns, expected 8"]),
        ("d 0 0 a NN * -\n", [":1:", "7 columns, expected 8"]),
        ("d\t0\t0\ta\t\t*\t-\t-\n", [":1:", "column 5 is empty"]),
        ("d 0 0 a NN (S* - -\n", [":1:", "(S opened here in the parse", "never closed"]),
        ("d 0 0 a NN *) - -\n", [":1:", "parse closes"]),
        ("d 0 0 a NN S - -\n", [":1:", "parse 'S'"]),
        ("d 0 0 a NN (S(*)) - -\n", [":1:", "parse has no label"]),
    ],
)
def test_broken_columns(text: str, words: list[str]) -> None:
    refused(text, *words, format="conll2012")


def test_too_few_columns_of_2005() -> None:
    refused("a NN\n", ":1:", "2 columns, expected 4", "state the format")
    refused("a\n", ":1:", "1 columns")


# Files


def test_compressed_and_named(make: Make) -> None:
    text = propbank(NEW_ROLES)
    [plain] = read_parses(make("a.conll", text))
    [zipped] = read_parses(make("b.gold_conll.gz", gzip.compress(text.encode())))
    assert plain == zipped
    assert read_parses(make("empty.conll", "")) == []
    with pytest.raises(FormatError, match=r"c\.conll:2: "):
        read_parses(make("c.conll", "d 0 0 a NN * - -\nb\n"))
    with pytest.raises(InputError, match="no such file"):
        read_parses("nowhere.conll")


def test_a_name_may_say_columns_and_not_whose(make: Make) -> None:
    [sentence] = read_parses(make("a.conll", columns(WORDS, POS, PARSE, TARGET, ROLES)))
    assert sentence.frames == (FRAME,)


def test_unknown_formats(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="conllu"):
        read_parses("-", format="conllu")
    with pytest.raises(UsageError, match="auto"):
        render_parses([], format="auto")
    with pytest.raises(UsageError, match=r"a\.txt: the name tells no format"):
        write_parses([], tmp_path / "a.txt")
    with pytest.raises(UsageError, match="list"):
        read_text("", texts="I see")


# The page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "parses.md"


@pytest.mark.parametrize("format", ["conll2005", "conll2012", "assert"])
def test_examples_of_the_page(format: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    example = text.partition(f"```{format}\n")[2].partition("```")[0]
    first, *_ = read_text(example)
    assert read_text(example) == read_text(example, format)
    assert first.tokens == WORDS
    assert first.frames == (FRAME,)
    assert first.tree == (None if format == "assert" else TREE)


def test_the_object_of_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    example = text[text.index('    {"text"') :].partition("\n\n")[0].replace("\n", " ")
    [sentence] = read_text(example)
    assert json.loads(render_parses([sentence], format="jsonl")) == json.loads(example)
