"""N-best lists as decoders write them, and everything that can be wrong with them."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from meantime.errors import FormatError, InputError, UsageError
from meantime.formats.nbest import Candidate, group, read_nbest, render_candidate

MOSES = """\
0 ||| the cat  sat ||| LM0= -12.5 TM0= -1 -2.25 d_x=y= 1 ||| -4.5 ||| 0-0 1-1=2
0 ||| a cat sat ||| LM0= -13 TM0= -1 -2 ||| -5
1 |||  ||| LM0= 0 TM0= 0 0
"""


def read(text: str | bytes, **options) -> list[Candidate]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(read_nbest("-", stdin=io.BytesIO(data), **options))


def test_moses() -> None:
    first, second, third = read(MOSES)
    assert first.segment == 0
    assert first.text == "the cat  sat"
    assert first.names == ("LM0", "TM0[0]", "TM0[1]", "d_x=y")
    assert first.values == (-12.5, -1, -2.25, 1)
    assert first.score == -4.5
    assert second.names == ("LM0", "TM0[0]", "TM0[1]")
    assert second.line == 2
    assert (third.segment, third.text, third.score) == (1, "", None)


def test_old_and_other_decoders() -> None:
    [old] = read("3 ||| ein haus ||| d: 0 -1 lm: -3.5 w: -2 ||| -1")
    assert old.names == ("d[0]", "d[1]", "lm", "w")
    [joined] = read("0 ||| x y ||| lm_0=-3.5 WordPenalty=-2e-1 ||| -1.5 ||| 0-0")
    assert joined.names == ("lm_0", "WordPenalty")
    assert joined.values == (-3.5, -0.2)
    [aligned] = read("0 ||| x ||| lm= 1 ||| 0-0 1-1")
    assert aligned.score is None
    [bare] = read("7 ||| only text\n")
    assert (bare.segment, bare.text, bare.names) == (7, "only text", ())


def test_zmert() -> None:
    text = "0 ||| a b ||| -1 2.5\n0 ||| b a ||| -2 3 ||| whatever\n"
    first, second = read(text)
    assert first.names == ("f1", "f2")
    assert second.values == (-2, 3)
    assert read(text, names=("lm", "tm[0]"))[0].names == ("lm", "tm[0]")


def test_jsonl() -> None:
    text = (
        '{"segment": 0, "hypothesis": "a", "features": {"lm": -1, "tm": [1, 2]}, "score": -3}\n'
        "\n"
        '{"segment": 1, "candidates": ["b", {"text": "c", "features": [0.5]}]}\n'
    )
    first, second, third = read(text)
    assert first == Candidate(0, "a", ("lm", "tm[0]", "tm[1]"), (-1, 1, 2), -3, 1)
    assert (second.segment, second.text, second.line) == (1, "b", 3)
    assert third.names == ("f1",)


def test_plain_text() -> None:
    assert [c.segment for c in read("a\nb\n\nc\n", size=2)] == [0, 0, 1, 1]
    assert [c.segment for c in read("a\nb\n")] == [0, 1]
    with pytest.raises(FormatError, match="3 lines are no multiple of 2"):
        read("a\nb\nc\n", size=2)
    with pytest.raises(UsageError, match="for plain text, and this is moses"):
        read("0 ||| a\n", size=2)


def test_a_file_is_read_as_it_is_asked_for(tmp_path: Path) -> None:
    """The end is broken, and nobody who stops before it is told."""
    path = tmp_path / "list.gz"
    packed = gzip.compress(("0 ||| a ||| lm= 1\n" * 50_000).encode())
    path.write_bytes(packed[: len(packed) // 2])
    reading = read_nbest(path)
    assert next(reading).text == "a"
    with pytest.raises(FormatError, match=r"list.gz: the gzip data end too early, after line \d+"):
        list(reading)


def test_gzip_and_standard_input() -> None:
    assert read(gzip.compress(MOSES.encode())) == read(MOSES)
    assert read("\ufeff" + MOSES) == read(MOSES)
    assert read(MOSES.replace("\n", "\r\n")) == read(MOSES)


def test_what_is_written_can_be_read() -> None:
    for format in ("moses", "jsonl"):
        lines = [render_candidate(candidate, format=format) for candidate in read(MOSES)]
        again = read("".join(lines))
        for one, other in zip(read(MOSES), again, strict=True):
            assert (one.segment, one.text, one.names, one.values, one.score) == (
                other.segment,
                other.text,
                other.names,
                other.values,
                other.score,
            )


def test_values_are_grouped_by_feature() -> None:
    assert group(("a", "b[0]", "b[1]"), (1, 2, 3)) == {"a": (1,), "b": (2, 3)}
    # A gap says that the brackets belong to the name.
    assert group(("b[1]", "b[2]"), (2, 3)) == {"b[1]": (2,), "b[2]": (3,)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("0 ||| a\nnothing here", r":2: no \|\|\| in it"),
        ("x ||| a", ":1: the segment is 'x'"),
        ("-1 ||| a", ":1: the segment is '-1'"),
        ("0 ||| a ||| lm= nan", ":1: feature lm is nan"),
        ("0 ||| a ||| lm= 1 2 -inf", r":1: feature lm is -inf"),
        ("0 ||| a ||| lm= x", ":1: feature lm is 'x', not a number"),
        ("0 ||| a ||| lm= 1e308", r":1: feature lm is 1e\+308, too large to be searched in"),
        ("4000000000 ||| a", ":1: the segment is '4000000000'; write its number"),
        ("9" * 5000 + " ||| a", ":1: the segment is '9999"),
        ("0 ||| a ||| lm= tm= 1", ":1: feature lm has no value"),
        ("0 ||| a ||| lm= 1 lm= 2", ":1: feature lm stands there twice"),
        ("0 ||| a ||| lm= 1\n0 ||| a ||| 1", ":2: the features begin with '1'"),
        ("0 ||| a ||| lm= 1 ||| nan", ":1: the total score is nan"),
        ("0 ||| a ||| 1 2\n0 ||| b ||| 1", ":2: 1 features, expected 2"),
        ("0 ||| a ||| 1 2\n0 ||| b ||| 1 inf", ":2: feature f2 is inf"),
        ('{"segment": 0, "hypothesis": "a"}\n{', ":2: not JSON"),
        ('{"segment": 0, "hypothesis": "a"}\n[]', ":2: not a JSON object"),
        ('{"hypothesis": "a"}', ':1: no "segment"'),
        ('{"segment": -1, "hypothesis": "a"}', ':1: no "segment"'),
        ('{"segment": 4000000000, "hypothesis": "a"}', ':1: no "segment"'),
        (
            '{"segment": 0, "hypothesis": "a", "features": {"lm": 1' + "0" * 400 + "}}",
            ":1: lm has 401 digits",
        ),
        (
            '{"segment": 0, "hypothesis": "a", "features": {"lm": -1e200}}',
            r":1: lm is -1e\+200, too large",
        ),
        ('{"segment": true, "hypothesis": "a"}', ':1: no "segment"'),
        ('{"segment": 0}', ':1: no "hypothesis"'),
        ('{"segment": 0, "hypothesis": "a", "features": {"lm": NaN}}', ":1: lm is nan"),
        ('{"segment": 0, "hypothesis": "a", "features": {"lm": "1"}}', ":1: lm is '1'"),
        ('{"segment": 0, "hypothesis": "a", "features": {"l m": 1}}', "white space"),
        ('{"segment": 0, "hypothesis": "\\ud800"}', ":1: half a character"),
        (b"0 ||| a\n0 ||| \xff", ":2: byte 0xff is not UTF-8"),
        ("0 ||| a".encode("utf-16"), ":1: UTF-16"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(text)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        list(read_nbest(tmp_path / "none"))
    with pytest.raises(InputError, match="this is a folder"):
        list(read_nbest(tmp_path))
    with pytest.raises(UsageError, match="unknown format"):
        list(read_nbest(tmp_path, format="cdec"))
