"""A report as one page: what stands in it, that nothing escapes, and that it loads nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy
import pytest

from meantime.analysis import open_analyser
from meantime.cli.app import run
from meantime.protocols import Analyser
from meantime.report.cautions import find_cautions
from meantime.report.comparison import compare
from meantime.report.explained import TOGETHER, explain_all, pack, unpack
from meantime.report.findings import Findings
from meantime.report.gathering import Report, gather
from meantime.report.html import render_html
from meantime.scoring import measure, ready_to_explain
from meantime.types import Corpus, Segment, Sentence
from tests.worded import Worded

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "<script>document.title='owned'</script>"
ENDING = "</script><img src=x onerror=alert(1)>]]><!--"


def lines(name: str) -> list[str]:
    return (ROOT / "examples" / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def corpus(systems: dict[str, list[str]], references: list[str], **names) -> Corpus:
    segments = tuple(
        Segment(
            names.get("ids", {}).get(n, str(n + 1)),
            (Sentence(text),),
            Sentence(f"Quelle {n}", "de"),
            document=names.get("document"),
        )
        for n, text in enumerate(references)
    )
    return Corpus(segments, {name: tuple(map(Sentence, texts)) for name, texts in systems.items()})


def report(made: Corpus, metrics=("wer", "bleu"), **options) -> Report:
    measured = measure(made, metrics)
    compared = compare(measured, resamples=100, trials=100)
    return gather(measured, compared, Findings(cautions=find_cautions(compared)), **options)


@pytest.fixture(scope="module")
def whole() -> Report:
    names = ("faithful", "fluent", "literal")
    made = corpus({name: lines(name) for name in names}, lines("reference"))
    return report(made, ("meant", "bleu", "ter"))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict]] = []
        self.text = ""

    def handle_starttag(self, tag, attributes) -> None:
        self.found.append((tag, dict(attributes)))
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes) -> None:
        self.found.append((tag, dict(attributes)))

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        if self.open[-1:] not in (["script"], ["style"]):
            self.text += data


def parsed(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    return tags


def test_everything_is_there(whole) -> None:
    page = render_html(whole, title="Three renderings")
    tags = parsed(page)
    ids = [attributes["id"] for _, attributes in tags.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    for name in ("short", "ranking", "pairs", "spread", "roles", "kinds", "segments", "method"):
        assert name in ids
    links = [one["href"] for tag, one in tags.found if tag == "a" and "href" in one]
    assert all(link.startswith("#") for link in links)
    assert {link[1:] for link in links if not link.startswith("#segment")} <= set(ids)
    for one in whole.comparison.metrics:
        assert str(one.signature) in tags.text
        for standing in one.standings:
            assert f"{standing.score:.{one.decimals}f}" in tags.text
    assert "<title>Three renderings</title>" in page
    assert "Length of the reference" in tags.text
    assert "temporal" in tags.text
    labelled = {one.get("for") for tag, one in tags.found if tag == "label"}
    for tag, one in tags.found:
        if tag in ("select", "input") and one.get("id") != "page":
            assert one["id"] in labelled


def test_nothing_is_loaded_and_only_our_script_may_run(whole) -> None:
    page = render_html(whole)
    outside = re.findall(r"https?://[^\s\"'<)]+", page)
    assert set(outside) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"(src|href)=[\"'](?!#)", page)
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_what_comes_from_data_stays_text() -> None:
    made = corpus(
        {HOSTILE: [HOSTILE, ENDING, "x"], ENDING: [ENDING, "<b>", "\u202ey\x00"]},
        [ENDING, HOSTILE, "&amp; <i>"],
        ids={0: HOSTILE, 1: ENDING},
        document=ENDING,
    )
    page = render_html(report(made), title=HOSTILE)
    tags = parsed(page)
    assert page.count("<script") == len([tag for tag, _ in tags.found if tag == "script"])
    assert "img" not in {tag for tag, _ in tags.found}
    assert "onerror" not in {name for _, one in tags.found for name in one}
    assert HOSTILE in tags.text
    assert "\u202e" not in tags.text
    [data] = re.findall(r'id="data">([^<]*)</script>', page)
    content = unpack(data)
    assert content["systems"] == [HOSTILE, ENDING]
    assert content["outputs"][0][1] == ENDING


def test_packed_data_hold_texts_scores_and_figures(whole) -> None:
    page = render_html(whole)
    data = unpack(re.findall(r'id="data">([^<]*)</script>', page)[0])
    assert data["systems"] == list(whole.comparison.systems)
    assert data["outputs"][1] == lines("fluent")
    for number, (name, up, decimals, scores) in enumerate(data["metrics"]):
        metric = whole.comparison.metrics[number]
        assert (name, bool(up)) == (metric.specification, metric.higher_is_better)
        assert numpy.array(scores) / 10**decimals == pytest.approx(
            metric.segment_scores, abs=0.51 * 10**-decimals
        )
    figures = [one for text in whole.explained.packed for one in unpack(text)]
    assert len(figures) == 20
    assert data["explained"]["metrics"] == [0, 2]
    assert sorted(data["explained"]["segments"]) == list(range(20))
    for place, by_system in zip(whole.explained.segments, figures, strict=True):
        for system, by_metric in enumerate(by_system):
            for number, figure in zip((0, 2), by_metric, strict=True):
                metric = whole.comparison.metrics[number]
                score = metric.segment_scores[system, place]
                assert figure["s"] == f"{score:.{metric.decimals}f}"


def test_what_does_not_fit_is_what_differs_least() -> None:
    references = [f"w{n} x y z" for n in range(3 * TOGETHER)]
    worse = [text if n % 2 else "q" for n, text in enumerate(references)]
    made = corpus({"a": references, "b": worse}, references)
    measured = measure(made, ["wer"])
    compared = compare(measured, resamples=100, trials=100)
    some = explain_all(measured, compared, most=2 * TOGETHER)
    assert some.segments == tuple(range(0, 2 * TOGETHER, 2))
    tight = explain_all(measured, compared, most_bytes=1)
    assert len(tight.packed) == 1
    gathered = report(made, ("wer",), explanations=2 * TOGETHER)
    assert f"{TOGETHER} of {3 * TOGETHER} segments" in render_html(gathered)


def test_processes_change_nothing() -> None:
    references = [f"w{n} x y z" for n in range(3 * TOGETHER)]
    made = corpus({"a": references, "b": ["q r"] * len(references)}, references)
    measured = measure(made, ["wer"])
    compared = compare(measured, resamples=100, trials=100)
    seen = []
    alone = explain_all(measured, compared, progress=lambda *told: seen.append(told))
    assert alone == explain_all(measured, compared, jobs=2)
    assert seen[-1] == (3 * TOGETHER, 3 * TOGETHER)


def test_packing_is_undone() -> None:
    for value in ({"a": ["</script>", None, 1, "ü"]}, [], "x" * 100000):
        assert unpack(pack(value)) == value
        assert not set(pack(value)) & set("<>&\"'")
    assert unpack(pack("\ud800")) == "?"


def test_strange_comparisons_have_a_page_too() -> None:
    same = corpus({"a": ["x"], "b": ["x"]}, ["x"])
    page = render_html(report(same, ("wer",)))
    assert "cannot be told apart" in page
    assert parsed(page)
    empty = corpus({"a": ["", ""], "b": ["", "y z"]}, ["", "x y"])
    assert parsed(render_html(report(empty, ("meant", "ter", "nist"))))
    measured = measure(corpus({"a": ["x"] * 3, "b": ["y"] * 3}, ["x"] * 3), ["chrf"])
    compared = compare(measured, resamples=100, trials=100, baseline="a")
    assert parsed(render_html(gather(measured, compared, Findings())))


def test_the_command_writes_it(tmp_path, capsys) -> None:
    target = tmp_path / "report.html"
    files = [str(ROOT / "examples" / f"{name}.txt") for name in ("faithful", "fluent")]
    common = ["compare", *files, "-r", str(ROOT / "examples" / "reference.txt")]
    common += ["--trials", "100", "--resamples", "100"]
    assert run([*common, "--html", str(target), "--title", "A & B", "--jobs", "2"]) == 0
    page = target.read_text(encoding="utf-8")
    assert "<title>A &amp; B</title>" in page
    assert "meant ↑" in capsys.readouterr().out
    assert run([*common, "--title", "x"]) == 2
    assert "--html" in capsys.readouterr().err
    assert run([*common, "-m", "wer", "--html", str(tmp_path / "no" / "where.html")]) == 1
    assert not (tmp_path / "no").exists()


def test_a_report_without_explanations_says_so() -> None:
    made = corpus({"a": ["x"], "b": ["y"]}, ["x"])
    bare = report(made, explanations=0)
    assert "Explanations were left out." in bare.notes
    assert not [note for note in bare.notes if "0 of" in note]


def test_a_warning_of_many_systems_is_told_once() -> None:
    looping = ["no no no no no no no no", "a b c d e f g", "h i j k l m n"]
    systems = dict.fromkeys(("one", "<two>", "three"), looping)
    page = render_html(report(corpus(systems, ["a b c d e f", "a b c d e f g", "h i j k l m n"])))
    [line] = re.findall(r"<li>(The same words over and over.*?)</li>", page)
    assert re.sub("<.*?>|show", "", line).replace("  ", " ") == (
        "The same words over and over, of 3 segments: one 1 , &lt;two&gt; 1 , three 1 "
    )
    assert line.count('class="show"') == 3
    two = {name: systems[name] for name in ("one", "three")}
    page = render_html(report(corpus(two, ["a b c d e f", "a b c d e f g", "h i j k l m n"])))
    assert "one says the same words over and over in 1 of 3 segments (1)" in page


def test_what_words_are_worth_stands_in_a_report() -> None:
    """As the trained metric explains itself; analysed once before, for its frames."""
    made = corpus({"a": lines("faithful")[:3], "b": lines("fluent")[:3]}, lines("reference")[:3])
    measured = measure(made, [Worded(), "bleu"])
    assert measured.corpus.segments[0].references[0].frames is None
    ready = ready_to_explain(measured, open_analyser)
    found = explain_all(ready, compare(ready, resamples=100, trials=100))
    assert found.metrics == (0,)
    [[ours, _], *_] = unpack(found.packed[0])
    assert ours[0]["w"][0] == [2, 3, 0, 62, 62]
    assert ours[0]["f"]
    assert "p" not in ours[0]


def test_what_cannot_be_analysed_is_explained_without() -> None:
    made = corpus({"a": ["eins"], "b": ["zwei"]}, ["eins"])
    german = Corpus(
        tuple(replace(one, references=(Sentence("eins", "de"),)) for one in made.segments),
        {name: (Sentence("zwei", "de"),) for name in "ab"},
    )
    measured = measure(german, [Worded()], lang="de")
    assert ready_to_explain(measured, open_analyser) is measured
    assert ready_to_explain(measure(german, ["wer"], lang="de"), _nobody).metrics


def _nobody() -> Analyser:
    raise AssertionError("no analyser is needed for this")
