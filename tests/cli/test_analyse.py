"""`meantime analyse` with an analyser made up for the tests, and its drawings."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from typer.testing import CliRunner, Result

import meantime.analysis
from meantime.cli import analyse as verb
from meantime.cli import drawing
from meantime.cli.drawing import draw_frames, draw_tree, paint
from meantime.errors import FormatError, InputError, MeantimeError
from meantime.formats.parses import read_parses
from meantime.types import Frame, Layer, Role, Sentence, Span, Tree

TEXT = "The committee rejected the proposal on Monday."
TOKENS = ("The", "committee", "rejected", "the", "proposal", "on", "Monday", ".")
POS = ("DT", "NN", "VBD", "DT", "NN", "IN", "NNP", ".")


def leaf(token: int) -> Tree:
    return Tree(POS[token], Span(token, token + 1))


def node(label: str, *children: Tree) -> Tree:
    return Tree(label, Span(children[0].span.start, children[-1].span.end), children)


SENTENCE = Sentence(
    TEXT,
    tokens=TOKENS,
    offsets=((0, 3), (4, 13), (14, 22), (23, 26), (27, 35), (36, 38), (39, 45), (45, 46)),
    pos=POS,
    tree=node(
        "TOP",
        node(
            "S",
            node("NP", leaf(0), leaf(1)),
            node(
                "VP",
                leaf(2),
                node("NP", leaf(3), leaf(4)),
                node("PP", leaf(5), node("NP", leaf(6))),
            ),
            leaf(7),
        ),
    ),
    tree_score=-1.25,
    frames=(
        Frame(
            Span(2, 3),
            (
                Role("ARG0", (Span(0, 2),)),
                Role("ARG1", (Span(3, 5),)),
                Role("ARGM-TMP", (Span(5, 7),)),
            ),
        ),
    ),
)
DRAWN = """\
1: The committee rejected the proposal on Monday.
  The committee rejected the proposal on Monday  .
  [ARG0───────] V        [ARG1──────] [ARGM-TMP]
"""


class Fake:
    """Knows one sentence; of all others, that their words have no frames."""

    name = "fake"
    identity = "fake-1"
    layers = frozenset(Layer)
    languages = frozenset({"en"})

    def __init__(self) -> None:
        self.batches: list[int] = []

    def analyse(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        self.batches.append(len(sentences))
        return [self._one(sentence) for sentence in sentences]

    def _one(self, sentence: Sentence) -> Sentence:
        if sentence.text == TEXT:
            return replace(SENTENCE, lang=sentence.lang)
        tokens = tuple(sentence.text.split())
        return replace(sentence, tokens=tokens, pos=("NN",) * len(tokens), frames=())


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Fake:
    analyser = Fake()
    asked: list[tuple[str | None, int]] = []

    def open_analyser(
        name: str | None = None, *, threads: int = 0, progress: object = None
    ) -> Fake:
        asked.append((name, threads))
        return analyser

    analyser.asked = asked  # type: ignore[attr-defined]
    monkeypatch.setattr(meantime.analysis, "open_analyser", open_analyser)
    monkeypatch.setenv("MEANTIME_CACHE", str(tmp_path / "cache.sqlite"))
    monkeypatch.setenv("COLUMNS", "80")
    return analyser


app = typer.Typer()
app.command()(verb.analyse)


def run(*arguments: str, stdin: str | bytes = TEXT + "\n") -> Result:
    return CliRunner().invoke(app, list(arguments), input=stdin, catch_exceptions=True)


def output(*arguments: str, stdin: str | bytes = TEXT + "\n") -> str:
    done = run(*arguments, stdin=stdin)
    assert done.exit_code == 0, done.exception
    return done.stdout


# The command


@pytest.mark.usefixtures("fake")
def test_frames_are_drawn() -> None:
    assert output() == DRAWN
    assert output("-") == DRAWN


@pytest.mark.usefixtures("fake")
def test_tree() -> None:
    assert output("--format", "tree") == (
        "1: The committee rejected the proposal on Monday.\n"
        "  (TOP\n"
        "    (S\n"
        "      (NP (DT The) (NN committee))\n"
        "      (VP\n"
        "        (VBD rejected)\n"
        "        (NP (DT the) (NN proposal))\n"
        "        (PP (IN on) (NP (NNP Monday))))\n"
        "      (. .)))\n"
        "  log-probability -1.250\n"
    )


@pytest.mark.usefixtures("fake")
def test_what_is_printed_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "parses"
    stdin = f"{TEXT}\n\nno verb here\n"
    texts = stdin.splitlines()
    for format in ("conll", "jsonl"):
        path.write_text(output("--format", format, stdin=stdin), encoding="utf-8")
        first, second, third = read_parses(path, texts=texts)
        if format == "conll":
            assert first == replace(SENTENCE, tree_score=None)
        else:
            assert first == SENTENCE
        assert (second.tokens, second.frames) == ((), ())
        assert third.tokens == ("no", "verb", "here")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert rows[0]["frames"][0]["predicate"] == {"start": 2, "end": 3, "text": "rejected"}


@pytest.mark.usefixtures("fake")
def test_empty_lines_keep_their_place() -> None:
    assert output(stdin="\nno verb\n") == "1:\n  (no words)\n\n2: no verb\n  (no frames)\n"
    assert output("--format", "tree", stdin="\na\n") == "1:\n  (no words)\n\n2: a\n  (no tree)\n"
    assert [
        json.loads(line)["tokens"]
        for line in output("--format", "jsonl", stdin="\n\na\n").splitlines()
    ] == [[], [], ["a"]]
    assert output(stdin="") == ""


def test_batches_are_printed_as_they_come(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "FIRST_BATCH", 2)
    monkeypatch.setattr(verb, "BATCH", 3)
    stdin = "".join(f"line {n}\n" for n in range(7))
    parts = output("--no-cache", stdin=stdin)
    assert fake.batches == [2, 3, 2]
    monkeypatch.setattr(verb, "FIRST_BATCH", 100)
    assert output("--no-cache", stdin=stdin) == parts
    assert parts.count("(no frames)") == 7
    assert "\n\n7: line 6\n" in parts
    conll = output("--format", "conll", "--no-cache", stdin=stdin)
    assert [line.split("\t")[1] for line in conll.splitlines() if line][-1] == "6"


def test_analyses_are_kept(fake: Fake) -> None:
    assert output() == output() == DRAWN
    assert fake.batches == [1]
    assert output("--no-cache") == DRAWN
    assert fake.batches == [1, 1]


def test_options_reach_the_analyser(fake: Fake) -> None:
    output("--analyser", "other", "--threads", "3")
    assert fake.asked == [("other", 3)]  # type: ignore[attr-defined]


@pytest.mark.usefixtures("fake")
def test_files(tmp_path: Path) -> None:
    source = tmp_path / "text.gz"
    source.write_bytes(gzip.compress(f"{TEXT}\r\n".encode()))
    target = tmp_path / "out.txt"
    assert output(str(source), "-o", str(target)) == ""
    assert target.read_text(encoding="utf-8") == DRAWN
    assert output(str(source), "-o", "-") == DRAWN
    zipped = tmp_path / "out.jsonl.gz"
    output(str(source), "--format", "jsonl", "-o", str(zipped))
    assert read_parses(zipped) == [SENTENCE]


def error(*arguments: str, stdin: str | bytes = TEXT) -> MeantimeError:
    done = run(*arguments, stdin=stdin)
    assert isinstance(done.exception, MeantimeError)
    return done.exception


def test_errors(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "nowhere.txt: no such file" in str(error("nowhere.txt"))
    assert isinstance(error(stdin=b"\xff\xff"), FormatError)
    target = tmp_path / "none" / "out"
    assert "cannot be written" in str(error("-o", str(target)))
    monkeypatch.setattr(Fake, "analyse", lambda self, sentences: [])
    wrong = error("--no-cache")
    assert isinstance(wrong, InputError)
    assert "gave 0 sentences for 1; " in str(wrong)


@pytest.mark.usefixtures("fake")
def test_other_languages_are_noted_and_analysed() -> None:
    done = run("--lang", "de", "--format", "jsonl")
    assert done.exit_code == 0
    assert "fake is made for en" in done.stderr
    assert json.loads(done.stdout)["lang"] == "de"
    assert run().stderr == ""


def test_a_reader_that_leaves(fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(verb, "FIRST_BATCH", 1)
    monkeypatch.setattr(verb, "BATCH", 1)
    with (tmp_path / "pipe").open("w") as stand_in:

        class Broken:
            def write(self, text: str) -> int:
                raise BrokenPipeError

            def isatty(self) -> bool:
                return False

            def flush(self) -> None: ...

            def fileno(self) -> int:
                return stand_in.fileno()

        path = tmp_path / "text"
        path.write_text("a\nb\nc\n", encoding="utf-8")
        monkeypatch.setattr(sys, "stdout", Broken())
        verb.analyse(str(path), no_cache=True)
    assert fake.batches == [1], "nobody reads the rest"


# Drawings


def frames_of(sentence: Sentence, width: int = 80) -> str:
    return paint(draw_frames(sentence, number=1, width=width), colour=False)


def sentence_of(tokens: Sequence[str], *frames: Frame) -> Sentence:
    return Sentence("x", tokens=tuple(tokens), frames=frames)


def test_colour_adds_codes_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    import re

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = paint(draw_frames(SENTENCE, number=1, width=80), colour=True)
    assert "\x1b[" in coloured
    plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in plain.split("\n")] == DRAWN.split("\n")


def test_a_role_goes_on_in_the_next_line() -> None:
    tokens = [*"I see that you were looking at me when the lights went out".split(), "."]
    frame = Frame(Span(1, 2), (Role("ARG0", (Span(0, 1),)), Role("ARG1", (Span(2, 13),))))
    assert frames_of(sentence_of(tokens, frame), 40) == (
        "1: x\n"
        "  I      see that you were looking at me\n"
        "  [ARG0] V   [ARG1──────────────────────\n"
        "  when the lights went out .\n"
        "  ─ARG1──────────────────]\n"
    )


def test_a_short_role_is_kept_whole() -> None:
    tokens = "a word and a word and a word and another on Monday morning".split()
    frame = Frame(Span(0, 1), (Role("ARGM-TMP", (Span(10, 13),)),))
    assert frames_of(sentence_of(tokens, frame), 42).splitlines()[-2:] == [
        "  on Monday morning",
        "  [ARGM-TMP───────]",
    ]


def test_split_roles_and_long_predicates() -> None:
    frame = Frame(
        Span(1, 3), (Role("ARG1", (Span(0, 1), Span(3, 4))), Role("R-ARG0", (Span(4, 5),)))
    )
    assert frames_of(sentence_of(["it", "gave", "up", "going", "who"], frame)).splitlines()[1:] == [
        "  it     gave up going    who",
        "  [ARG1] [V────] [C-ARG1] [R-ARG0]",
    ]


def test_wide_characters_are_aligned() -> None:
    frame = Frame(Span(1, 2), (Role("ARG0", (Span(0, 1),)), Role("ARG1", (Span(2, 3),))))
    words, labels = frames_of(
        sentence_of(["委員会委員会", "e\u0301", "提案提案"], frame)
    ).splitlines()[1:]
    assert words == "  委員会委員会 e\u0301 提案提案"
    assert labels == "  [ARG0──────] V [ARG1──]"
    assert cell_len(words) == cell_len(labels)


def test_overlapping_roles_are_all_shown() -> None:
    frame = Frame(Span(1, 2), (Role("ARG0", (Span(0, 2),)), Role("ARG1", (Span(2, 3),))))
    assert frames_of(sentence_of(["I", "see", "him"], frame)).splitlines()[1:] == [
        "  I see him",
        "    V   [ARG1]",
        "  also [ARG0] I see",
    ]


def test_nothing_acts_on_the_terminal() -> None:
    tokens = ["\x1b[31mred", "a\rb", "\u202eturned", "x\x07", "[bold]", "\x9b"]
    sentence = replace(
        sentence_of(tokens, Frame(Span(0, 1))),
        text="\x1b]0;title\x07",
        tree=Tree("TOP", Span(0, 6), tuple(Tree("\x1bX", Span(n, n + 1)) for n in range(6))),
    )
    for drawn in (
        frames_of(sentence),
        paint(draw_tree(sentence, number=1, width=80), colour=False),
    ):
        assert not set(drawn) & set("\x1b\r\x07\x9b\u202e")
        assert "[bold]" in drawn
        assert "�[31mred" in drawn


def test_absent_is_said() -> None:
    assert frames_of(Sentence("I see")) == "1: I see\n  (frames not analysed)\n"


WORD = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)


@settings(max_examples=200, deadline=None)
@given(st.lists(WORD | st.just("long" * 30), min_size=1, max_size=30), st.data())
def test_drawings_fit_and_lose_nothing(tokens: list[str], data: st.DataObject) -> None:
    places = st.integers(0, len(tokens) - 1)
    spans = st.tuples(places, places).map(lambda p: Span(min(p), max(p) + 1))
    roles = data.draw(
        st.lists(st.builds(Role, st.sampled_from(["ARG0", "ARGM-TMP"]), st.tuples(spans)))
    )
    predicate = data.draw(spans)
    width = data.draw(st.integers(10, 120))
    sentence = sentence_of(tokens, Frame(predicate, tuple(roles)))
    lines = frames_of(sentence, width).split("\n")[1:]
    shown = "".join(lines)
    assert all(
        cell_len(line) <= max(width, drawing.NARROWEST) or line.startswith("  also ")
        for line in lines
    )
    assert "V" in shown
    for role in roles:
        assert f"[{role.label}" in shown
