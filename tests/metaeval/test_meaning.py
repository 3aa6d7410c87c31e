"""Meaning tests: the frozen suite, the shares, suites of one's own, outside commands."""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from meantime.errors import FormatError, InputError, LengthMismatch, UsageError
from meantime.metaeval.command import run_command
from meantime.metaeval.meaning import (
    FIELDS,
    VERSION,
    Item,
    Suite,
    ask,
    judge,
    lines_for_command,
    read_suite,
    shipped,
    wilson,
)

# To change an item is to change what every published share means: raise VERSION in
# meaning.py, add the new hash here, and measure the tables of the docs again.
FROZEN = {"1": "c4631728063722805f38bf88bf8f530b90c7db4bf402a2b78ab34b3536cb8d45"}

PHENOMENA = ("roles", "negation", "number", "modality", "circumstance", "omission")
STRINGS = {"bleu", "chrf", "ter", "meteor", "nist", "wer", "gtm"}
KINDS = ("passive", "synonym", "reordered", "split")


def test_the_suite_is_frozen() -> None:
    assert shipped().digest == FROZEN[VERSION]
    assert shipped().version == VERSION


def test_every_phenomenon_meets_every_faithful_change_equally_often() -> None:
    suite = shipped()
    assert suite.phenomena == PHENOMENA
    assert suite.kinds == KINDS
    cells = Counter((item.phenomenon, item.kind) for item in suite.items)
    assert cells == {(phenomenon, kind): 11 for phenomenon in PHENOMENA for kind in KINDS}


@pytest.mark.parametrize("item", shipped().items, ids=lambda item: item.id)
def test_form_of_an_item(item: Item) -> None:
    texts = (item.reference, item.faithful, item.damaged)
    assert len(set(texts)) == 3
    for text in texts:
        assert text == " ".join(text.split())
        assert text[0].isupper() or text[0].isdigit()
        assert text[-1] in ".!?"
    assert 8 <= len(item.reference.split()) <= 40
    if item.phenomenon == "omission":
        assert len(item.damaged.split()) < len(item.reference.split())
        # Nothing is said that the reference does not say.
        added = _words(item.damaged) - _words(item.reference)
        assert sum(added.values()) <= 1
    if item.phenomenon == "number":
        # Only a few words at one place differ.
        assert sum((_words(item.reference) - _words(item.damaged)).values()) <= 2


def _words(text: str) -> Counter[str]:
    return Counter(text.lower().replace(",", "").replace(".", "").replace("'s", "").split())


def test_no_text_stands_twice() -> None:
    texts = [t for i in shipped().items for t in (i.reference, i.faithful, i.damaged)]
    assert len(set(texts)) == len(texts)


@pytest.mark.needs("shared")
def test_no_item_is_taken_from_the_evaluation_data(shared: Path) -> None:
    import gzip

    pieces = {}
    for item in shipped().items:
        words = item.reference.lower().split()
        for start in range(len(words) - 7):
            pieces[" ".join(words[start : start + 8])] = item.id
    for name in ("wmt15-da-toen", "wmt16-da-toen", "wmt17-da-toen"):
        with gzip.open(shared / "wmt" / f"{name}.tsv.gz", "rt", encoding="utf-8") as file:
            header = file.readline().rstrip("\n").split("\t")
            place = header.index("ref")
            for row in file:
                words = row.rstrip("\n").split("\t")[place].lower().split()
                for start in range(len(words) - 7):
                    assert " ".join(words[start : start + 8]) not in pieces


# Shares


def small(*phenomena: str) -> Suite:
    items = tuple(
        Item(str(n), phenomenon, "passive", f"Reference {n}.", f"Faithful {n}.", f"Damaged {n}.")
        for n, phenomenon in enumerate(phenomena)
    )
    return Suite("small", None, "0" * 64, items)


def test_ties_count_half() -> None:
    suite = small("a", "a", "b", "b")
    result = judge(suite, "mine", [1, 2, 3, 4], [0, 2, 4, 3])
    overall = result.overall()
    assert (overall.items, overall.wins, overall.ties, overall.value) == (4, 2, 1, 0.625)
    assert {name: share.value for name, share in result.by_phenomenon().items()} == {
        "a": 0.75,
        "b": 0.5,
    }
    assert [one.win for one in result.outcomes] == [1, 0.5, 0, 1]


def test_lower_is_better_turns_round() -> None:
    suite = small("a", "a", "a")
    up = judge(suite, "up", [1, 2, 3], [0, 2, 4])
    down = judge(suite, "down", [-1, -2, -3], [0, -2, -4], higher_is_better=False)
    assert [one.win for one in up.outcomes] == [one.win for one in down.outcomes]


def test_the_same_number_added_up_in_another_order_is_a_tie() -> None:
    result = judge(small("a"), "sum", [0.1 + 0.2 + 0.3], [0.3 + 0.2 + 0.1])
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    assert result.overall().ties == 1


def test_infinite_scores_are_compared_and_what_is_no_number_is_refused() -> None:
    assert judge(small("a"), "m", [0.0], [float("-inf")]).overall().wins == 1
    with pytest.raises(InputError, match="item 0, damaged"):
        judge(small("a"), "m", [0.0], [float("nan")])


def test_unequal_lengths_are_errors() -> None:
    with pytest.raises(LengthMismatch, match="2 scores of damaged renderings for 1 items"):
        judge(small("a"), "m", [0.0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("successes", "count", "low", "high"),
    [
        # Newcombe 1998, Table I, method 3 (the score interval).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_as_published(successes: int, count: int, low: float, high: float) -> None:
    assert wilson(successes, count) == pytest.approx((low, high), abs=5e-5)


def test_wilson_of_nothing_is_everything() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(7, 7)[1] == 1.0


def test_a_metric_is_asked_on_the_scores_it_gives() -> None:
    import meantime

    suite = replace(shipped(), items=shipped().items[:30])
    (result,) = ask(suite, ["ter"])
    segments = [
        meantime.Segment(item.id, (meantime.Sentence(item.reference),)) for item in suite.items
    ]
    metric = meantime.create("ter").prepare(segments)
    for item, segment, outcome in zip(suite.items, segments, result.outcomes, strict=True):
        rows = metric.measure(
            [
                meantime.Pair(meantime.Sentence(text), segment)
                for text in (item.faithful, item.damaged)
            ]
        )
        values = [metric.score(row, meantime.Level.SEGMENT).value for row in rows]
        assert [outcome.faithful, outcome.damaged] == values
        # TER is an error rate.
        assert outcome.win == (values[0] < values[1]) + (values[0] == values[1]) / 2


def test_processes_do_not_change_a_share() -> None:
    assert ask(shipped(), ["wer"], jobs=2) == ask(shipped(), ["wer"])


@pytest.mark.needs("wordnet")
def test_the_table_of_the_page_is_what_the_metrics_give(root: Path) -> None:
    page = (root / "docs" / "meaning-test.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.split("## Results")[1].split("## How")[0].splitlines()
        if line.startswith("|")
    ]
    shown = {row[0]: dict(zip(rows[0], row, strict=True)) for row in rows[2:]}
    # What needs analysis is left out here: it takes a minute.
    names = [head.split()[0] for head in rows[0][2:] if head.split()[0] in STRINGS]
    assert set(names) == STRINGS
    for result in ask(shipped(), names):
        arrow = "↑" if result.higher_is_better else "↓"
        groups = {"all": result.overall(), **result.by_phenomenon(), **result.by_kind()}
        for name, share in groups.items():
            value, low, high = (100 * one for one in (share.value, share.low, share.high))
            cell = shown[name][f"{result.metric} {arrow}"]
            assert cell == f"{value:.1f} [{low:.1f}, {high:.1f}]", (name, result.metric)
            assert shown[name]["items"] == str(share.items)
        assert str(result.signature) in page


# Suites of one's own


def test_a_written_suite_is_read_again(tmp_path: Path) -> None:
    items = shipped().items[:5]
    jsonl = tmp_path / "mine.jsonl"
    jsonl.write_text("".join(json.dumps(asdict(item)) + "\n" for item in items), encoding="utf-8")
    tsv = tmp_path / "mine.tsv"
    rows = [[*reversed(FIELDS), "note"]]
    rows += [[*(getattr(item, name) for name in reversed(FIELDS)), "x"] for item in items]
    tsv.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    assert read_suite(jsonl).items == read_suite(tsv).items == items
    assert read_suite(jsonl).name == "mine"
    assert read_suite(jsonl).version is None
    bare = tmp_path / "mine"
    bare.write_bytes(jsonl.read_bytes())
    assert read_suite(bare).items == items


GOOD = {name: name.capitalize() for name in FIELDS}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (json.dumps(GOOD) + "\n{", "mine.jsonl:2: not JSON"),
        (json.dumps(GOOD) + "\n\n" + json.dumps(GOOD), "mine.jsonl:3: the id 'Id' is already"),
        ("[1]", "mine.jsonl:1: not an object"),
        (json.dumps({**GOOD, "damaged": None}), "mine.jsonl:1: no 'damaged'"),
        (json.dumps({**GOOD, "faithful": 3}), "mine.jsonl:1: 'faithful' is not a text"),
        (json.dumps({**GOOD, "faithful": " "}), "mine.jsonl:1: 'faithful' is empty"),
        (json.dumps({**GOOD, "faithful": "a\tb"}), "mine.jsonl:1: 'faithful' holds a tab"),
        (json.dumps({**GOOD, "faithful": GOOD["damaged"]}), "mine.jsonl:1: .* the same text"),
        ("\n", "mine.jsonl: holds no item"),
        ("", "mine.jsonl: holds no item"),
    ],
)
def test_what_is_wrong_in_a_jsonl_suite_is_named(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_suite(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id\tphenomenon\tkind\treference\tfaithful\n", "mine.tsv:1: no column damaged"),
        ("\t".join([*FIELDS, "id"]) + "\n", "mine.tsv:1: two columns id"),
        ("\t".join(FIELDS) + "\na\tb\n", "mine.tsv:2: 2 columns, the header has 6"),
        ("\t".join(FIELDS) + "\n1\troles\tsplit\tR\t\tD\n", "mine.tsv:2: 'faithful' is empty"),
        ("\t".join(FIELDS) + "\n", "mine.tsv: holds no item"),
    ],
)
def test_what_is_wrong_in_a_tsv_suite_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_suite(path)


def test_a_suite_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b"\n\xe9")
    with pytest.raises(FormatError, match=r"mine.jsonl:2: byte 0xe9"):
        read_suite(path)


# Outside commands


def program(code: str) -> str:
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"


LENGTH = """
import sys
for line in sys.stdin:
    hypothesis, reference = line.rstrip("\\n").split("\\t")
    print(abs(len(hypothesis) - len(reference)))
"""


def test_a_command_scores_every_line() -> None:
    pairs = [("ab", "abc"), ("é", "é"), ("", "xyz")]
    assert run_command(program(LENGTH), pairs) == [1, 0, 3]


def test_what_a_command_is_asked() -> None:
    suite = small("a", "b")
    assert lines_for_command(suite) == [
        ("Faithful 0.", "Reference 0."),
        ("Damaged 0.", "Reference 0."),
        ("Faithful 1.", "Reference 1."),
        ("Damaged 1.", "Reference 1."),
    ]


@pytest.mark.parametrize(
    ("command", "kind", "message"),
    [
        ("", UsageError, "the command is empty"),
        ("no-such-program-here", InputError, "was not found"),
        (program("raise SystemExit(3)"), InputError, "failed with exit code 3"),
        ("kill -9 $$", InputError, "was ended by signal 9"),
        (program("print(1)"), LengthMismatch, "printed 1 lines for 2"),
        (program("print(1);print(2);print(3)"), LengthMismatch, "printed 3 lines for 2"),
        (program("print(1);print('two')"), InputError, "line 2 of its output: 'two'"),
        (program("print(1);print('nan')"), InputError, "line 2 of its output: 'nan'"),
        (program("print('inf');print(1)"), InputError, "line 1 of its output: 'inf'"),
        (program("import sys; sys.stdout.buffer.write(b'\\xff\\n1\\n')"), InputError, "not UTF-8"),
    ],
)
def test_what_a_command_does_wrong_is_named(
    command: str, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        run_command(command, [("a", "b"), ("c", "d")])


def test_a_text_a_line_cannot_hold_is_refused() -> None:
    with pytest.raises(InputError, match="holds a tab or line break"):
        run_command("cat", [("a\tb", "c")])
