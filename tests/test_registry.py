"""Names, options, and metrics from outside packages."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from meantime import registry
from meantime.errors import OptionError, UnknownMetric, UnsupportedLanguage
from meantime.options import describe


def test_options_by_text_and_by_keyword_agree() -> None:
    text = registry.create("bleu:max_order=2,smooth=add-k,smooth_value=0.5,lowercase=yes")
    keyword = registry.create("bleu", max_order=2, smooth="add-k", smooth_value=0.5, lowercase=True)
    assert text == keyword
    assert str(text.signature()) == str(keyword.signature())


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        ("bleu:max_ordr=2", "did you mean max_order"),
        ("bleu:max_order=two", "a whole number from 1 to 12"),
        ("bleu:max_order=0", "a whole number from 1 to 12"),
        ("bleu:smooth=magic", "exp, floor, add-k, none"),
        ("bleu:lowercase=perhaps", "yes or no"),
        ("bleu:max_order", "not option=value"),
        ("bleu:", "ends in a colon"),
        ("bleu:max_order=1,max_order=2", "twice"),
        ("gtm:exponent=0.5", "a number from 1 to 10"),
        ("gtm:exponent=nan", "a number from 1 to 10"),
    ],
)
def test_bad_options_are_named(specification: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        registry.create(specification)


def test_keywords_are_checked_like_text() -> None:
    with pytest.raises(OptionError, match="max_order"):
        registry.create("bleu", max_order=True)
    with pytest.raises(OptionError, match="tokeniser"):
        registry.create("wer", tokeniser="flores200")


def test_a_comma_in_a_value() -> None:
    assert registry.parse(r"meteor:wordnet=/a\,b,beam=3") == (
        "meteor",
        {"wordnet": "/a,b", "beam": "3"},
    )


@pytest.mark.parametrize(
    ("name", "near"), [("blue", "bleu"), ("chrF", "chrf"), ("metoer", "meteor"), ("TER", "ter")]
)
def test_unknown_metric_names_the_nearest(name: str, near: str) -> None:
    with pytest.raises(UnknownMetric, match=f"did you mean .*{near}"):
        registry.create(name)


def test_unknown_metric_far_from_all() -> None:
    with pytest.raises(UnknownMetric, match="there are bleu, chrf"):
        registry.create("zzzzzzzzz")


@pytest.mark.parametrize("name", ["z" * 5000, "z\0"])
def test_a_name_no_folder_can_have_is_an_unknown_metric(name: str) -> None:
    with pytest.raises(UnknownMetric, match="no metric is called"):
        registry.create(name)


def test_languages() -> None:
    assert registry.create("bleu", lang="zh-Hans").tokeniser == "zh"
    assert registry.create("bleu:tokeniser=char", lang="zh").tokeniser == "char"
    assert registry.create("wer", lang="ja").tokeniser == "ja-mecab"
    assert registry.create("chrf", lang="th").name == "chrf"
    for name in ("bleu", "ter", "wer", "gtm"):
        with pytest.raises(UnsupportedLanguage, match=rf"{name} .*'th'"):
            registry.create(name, lang="th")
    with pytest.raises(UnsupportedLanguage, match=r"meteor .*'de'"):
        registry.create("meteor:modules=exact", lang="de")


def test_prepare_refuses_a_language_too() -> None:
    from meantime.types import Segment, Sentence

    with pytest.raises(UnsupportedLanguage, match="'th'"):
        registry.create("wer").prepare([Segment("1", (Sentence("x", lang="th"),))])


def test_every_option_has_words_for_its_values() -> None:
    for name in registry.BUILT_IN:
        for option in describe(registry.find(name)):
            assert option.help
            assert option.values()


OUTSIDE = '''
from dataclasses import dataclass
import numpy
from meantime.metrics.base import BaseMetric
from meantime.options import option
from meantime.types import Score

@dataclass(frozen=True, kw_only=True)
class Exact(BaseMetric):
    """Share of segments that are a reference to the letter."""

    name = "exact"
    summary = "share of exact copies"
    paper = "none"
    empty = "0; two empty sides 1"
    strip: bool = option(True, "ignore white space around")

    @property
    def scale(self):
        return (0.0, 1.0)

    def measure(self, pairs):
        rows = [
            (any(p.hypothesis.text == r.text for r in p.segment.references), 1.0) for p in pairs
        ]
        return numpy.array(rows, dtype=numpy.float64).reshape(len(pairs), 2)

    def score(self, total, level):
        return Score(float(total[0] / total[1]) if total[1] else 0.0)
'''

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from meantime import registry
from meantime.conformance import CHECKS
assert "exact" in registry.names(), registry.names()
for check in CHECKS:
    check(registry.create("exact:strip=no"))
assert registry.find("bleu").__module__ == "meantime.metrics.bleu"
from meantime.errors import MissingPart
try:
    registry.create("broken")
except MissingPart as error:
    assert "outside-package" in str(error), error
else:
    raise AssertionError("a broken package was not reported")
"""


def test_an_outside_package_adds_a_metric(tmp_path: Path) -> None:
    """Found by its entry point, kept by the conformance suite, unable to replace ours."""
    (tmp_path / "outside.py").write_text(OUTSIDE)
    information = tmp_path / "outside_package-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: outside-package\nVersion: 1.0\n"
    )
    (information / "entry_points.txt").write_text(
        textwrap.dedent("""
        [meantime.metrics]
        exact = outside:Exact
        bleu = outside:Exact
        broken = outside:Missing
        """)
    )
    subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], check=True)
