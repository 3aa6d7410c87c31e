"""Lists gathered into arrays: merged, without duplicates, checked; and files of weights."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from meantime.errors import FormatError, InputError
from meantime.formats.nbest import Candidate
from meantime.tuning.candidates import Gathering, arrange
from meantime.tuning.weights import read_weights, render_weights, write_weights

NAMES = ("lm", "tm")


def one(segment: int, text: str, values=(1.0, 2.0), names=NAMES, line: int = 1) -> Candidate:
    return Candidate(segment, text, names, tuple(values), line=line)


def test_lists_are_merged_without_duplicates() -> None:
    gathering = Gathering(2)
    first = gathering.add("1", [one(1, "b"), one(0, "a"), one(0, "a"), one(0, "a", (3.0, 2.0))])
    assert (first.read, first.new) == (4, 3)
    second = gathering.add("2", [one(0, "a"), one(0, "c"), one(1, "b")])
    assert (second.read, second.new) == (3, 1)
    built = gathering.build()
    assert built.segments == 2
    assert list(built.first) == [0, 3, 4]
    assert built.chosen(range(4)) == ["a", "a", "c", "b"]
    # A text under two derivations has one row.
    assert built.text[0] == built.text[1]
    assert len(built.texts) == 3
    assert list(built.origin) == [0, 0, 1, 0]
    assert built.texts[second.firsts[0]] == (0, "a")


def test_the_same_text_in_two_segments_is_two_texts() -> None:
    gathering = Gathering(2)
    gathering.add("1", [one(0, "a"), one(1, "a")])
    assert len(gathering.build().texts) == 2


def test_order_of_features_on_a_line_does_not_matter() -> None:
    gathering = Gathering(1)
    gathering.add("1", [one(0, "a"), one(0, "b", (2.0, 1.0), ("tm", "lm"))])
    assert (gathering.build().features == [[1, 2], [1, 2]]).all()


def test_sparse_features_may_be_missing() -> None:
    gathering = Gathering(1)
    gathering.add(
        "1",
        [
            one(0, "a", (1, 5, 2), ("lm", "w_x", "tm")),
            one(0, "b"),
            one(0, "c", (1, 2, 3, 4), ("lm", "tm", "w_y", "w_x")),
        ],
    )
    built = gathering.build()
    assert built.names == NAMES
    assert built.sparse_names == ("w_x", "w_y")
    assert (built.matrix() == [[1, 2, 5, 0], [1, 2, 0, 0], [1, 2, 4, 3]]).all()
    weights = arrange({"lm": 1, "tm": 0, "w_x": 2}, built, "weights")
    assert list(weights) == [1, 0, 2, 0]
    assert list(built.model(weights)) == [11, 1, 9]
    assert list(built.best(built.model(weights))) == [0]


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ([one(0, "a"), one(2, "b", line=2)], "list:2: segment 2, but the references have 2"),
        ([one(0, "a"), one(1, "b", (1.0,), ("lm",), 7)], "list:7: lacks the feature tm, which"),
        (
            [one(0, "a"), one(1, "b", (1, 2, 3), ("lm", "tm", "x"), 3)],
            "list:3: has the feature x, which list:1 does not have",
        ),
    ],
)
def test_lines_that_do_not_fit(candidates, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        Gathering(2).add("list", candidates)


def test_a_list_is_taken_whole_or_not_at_all() -> None:
    good = [one(0, "a", (1, 2, 3), ("lm", "tm", "w_x")), one(1, "b")]
    later = [one(0, "c", (1, 2, 3), ("lm", "tm", "w_z")), one(1, "d"), one(0, "a")]
    bad = [one(0, "x", (1, 2, 3), ("lm", "tm", "w_y")), one(0, "a"), one(1, "y"), one(5, "z")]
    plain, disturbed = Gathering(2), Gathering(2)
    with pytest.raises(FormatError):
        disturbed.add("bad", [one(0, "q", (1.0,), ("other",)), one(7, "q", (1.0,), ("other",))])
    for gathering in (plain, disturbed):
        gathering.add("good", good)
    with pytest.raises(FormatError):
        disturbed.add("bad", bad)
    with pytest.raises(InputError):
        disturbed.add("short", bad[:1])
    for gathering in (plain, disturbed):
        assert gathering.add("later", later).new == 3
    one_way, other_way = plain.build(), disturbed.build()
    assert one_way.texts == other_way.texts
    assert one_way.all_names == other_way.all_names
    assert (one_way.matrix() == other_way.matrix()).all()
    assert list(one_way.origin) == list(other_way.origin)


def test_a_segment_without_candidates_is_named() -> None:
    with pytest.raises(InputError, match=r"list: no candidate for segment 1 \(2 of 4 segments"):
        Gathering(4).add("list", [one(0, "a"), one(2, "b")])
    with pytest.raises(InputError, match="no candidate for segment 1"):
        Gathering(None).add("list", [one(0, "a"), one(2, "b")])
    with pytest.raises(InputError, match="no candidate"):
        Gathering(None).add("list", [])
    # One wrong number may not cost memory for all the segments it says there are.
    with pytest.raises(InputError, match=r"segment 1 \(999999998 of 1000000000 segments"):
        Gathering(None).add("list", [one(0, "a"), one(999_999_999, "b")])


def test_agreement_tells_whether_the_first_is_the_best() -> None:
    gathering = Gathering(2)
    added = gathering.add(
        "1", [one(0, "a", (1, 0)), one(0, "b", (0, 5)), one(1, "c", (3, 0)), one(1, "d", (0, 1))]
    )
    assert gathering.agreement(added, {"lm": 1, "tm": 0}) == 1
    assert gathering.agreement(added, {"lm": 1, "tm": 1}) == 0.5


def test_weights_must_fit_the_features() -> None:
    gathering = Gathering(1)
    gathering.add("1", [one(0, "a")])
    built = gathering.build()
    assert list(arrange({"tm": 2, "lm": 1}, built, "w")) == [1, 2]
    with pytest.raises(InputError, match="w: no weight for the feature lm"):
        arrange({"tm": 1}, built, "w")
    with pytest.raises(InputError, match="w: the lists have no feature x"):
        arrange({"tm": 1, "lm": 1, "x": 1}, built, "w")


def test_weights_are_read_as_they_were_written(tmp_path: Path) -> None:
    weights = {"LM0": 0.1, "TM0[0]": 1 / 3, "TM0[1]": -2e-30, "d_x=y": 5.0}
    path = tmp_path / "weights.txt"
    write_weights(path, weights)
    assert path.read_text() == render_weights(weights)
    assert path.read_text().splitlines()[1] == f"TM0= {1 / 3!r} -2e-30"
    assert read_weights(path) == weights


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[weight]\n# from somewhere\nLM0= 0.5  # good\n\nTM0= 1 2\n",
         {"LM0": 0.5, "TM0[0]": 1, "TM0[1]": 2}),
        ("lm 0.5\nw=-1\n", {"lm": 0.5, "w": -1}),
        ('{"lm": 0.5, "tm": [1, 2]}', {"lm": 0.5, "tm[0]": 1, "tm[1]": 2}),
    ],
)  # fmt: skip
def test_weights_in_other_forms(tmp_path: Path, text: str, expected: dict[str, float]) -> None:
    path = tmp_path / "w"
    path.write_text(text)
    assert read_weights(path) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "w: holds no weight"),
        ("lm= 1\ntm=\n", "w:2: tm has no weight"),
        ("lm= x\n", "w:1: lm has 'x'"),
        ("lm= nan\n", "w:1: lm has nan"),
        ("lm= 1\nlm= 2\n", "w:2: lm is there twice"),
        ("{", "w: not JSON"),
    ],
)
def test_weights_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "w"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_weights(path)


def test_build_is_in_order_of_segments_then_of_arrival() -> None:
    gathering = Gathering(3)
    gathering.add("1", [one(2, "z"), one(0, "x"), one(1, "y"), one(0, "w")])
    built = gathering.build()
    assert built.chosen(range(4)) == ["x", "w", "y", "z"]
    assert numpy.isnan(built.scores).all()


def test_tuning_knows_no_metric() -> None:
    """It receives one; what it does must hold for those that nobody has written yet."""
    folder = Path(__file__).resolve().parents[2] / "src" / "meantime" / "tuning"
    modules = list(folder.glob("*.py"))
    assert len(modules) > 8
    for path in modules:
        assert "meantime.metrics" not in path.read_text(encoding="utf-8"), path
