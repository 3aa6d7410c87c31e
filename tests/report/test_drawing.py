"""One drawing of an alignment: from explanation to figure to SVG, and the same in a page."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from meantime.report.figures import as_figure, clean
from meantime.report.html import script_of_drawing
from meantime.report.losses import losses
from meantime.report.svg import WIDTH, draw, draw_svg, measure, number, style
from meantime.scoring import measure as measure_corpus
from meantime.types import Corpus, Explanation, Part, Score, Segment, Sentence, Span
from tests.worded import explained as worded

ROOT = Path(__file__).resolve().parents[2]
METRICS = ("meant", "umeant", "ter", "wer")
NASTY = ("<script>alert(1)</script>", "a\"b'c & d", "x\u202ey\x07z", "naïve 中文 🙂 ﷽", "w" * 300)


def lines(name: str) -> list[str]:
    return (ROOT / "examples" / f"{name}.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def explanations() -> list[Explanation]:
    """Explanations by several metrics of ordinary, empty, long and hostile texts."""
    references = [*lines("reference")[:6], *NASTY, "", "One. " * 40, "Nobody came."]
    hypotheses = [*lines("fluent")[:6], *NASTY[::-1], "Something", "One. " * 30, ""]
    corpus = Corpus(
        tuple(Segment(str(n), (Sentence(text),)) for n, text in enumerate(references)),
        {"a": tuple(map(Sentence, hypotheses))},
    )
    measured = measure_corpus(corpus, METRICS)
    return [
        metric.explain(pair)
        for metric in measured.metrics
        for pair in measured.corpus.pairs("a")
        if metric.needs or pair.hypothesis.text
    ]


def trained() -> Explanation:
    """As a metric of somebody else may explain itself: parts nowhere, some of them negative."""
    parts = (
        Part("length", None, None, -0.25),
        Part("<b>frames</b>", None, None, 0.5),
        Part("word", Span(0, 1), Span(1, 2), 0.125),
    )
    return Explanation("other", Score(0.375), ("a", "b"), ("b", "a"), 0, parts)


def figure(one: Explanation) -> dict:
    return as_figure(one, decimals=4, higher_is_better=True)


MADE = (trained(), worded(), worded(framed=False))


def test_figures_are_plain_and_whole(explanations) -> None:
    for one in [*explanations, *MADE]:
        made = figure(one)
        assert json.loads(json.dumps(made, allow_nan=False)) == made
        assert len(made.get("a", "")) in (0, len(made["h"]))
        assert len(made.get("b", "")) in (0, len(made["r"]))
        assert not any(isinstance(value, float) for value in _leaves(made))
        assert all(clean(value) == value for value in _leaves(made) if isinstance(value, str))


def _leaves(value) -> Iterator:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    else:
        yield value


def test_every_drawing_is_sound_and_fits(explanations) -> None:
    for one, width in itertools.product([*explanations, *MADE], (320, WIDTH)):
        drawn = draw_svg(figure(one), segment="<&>", width=width)
        root = ElementTree.fromstring(drawn)
        tags = {node.tag.rpartition("}")[2] for node in root.iter()}
        assert tags <= {"svg", "title", "rect", "text", "tspan", "path"}
        for node in root.iter("{http://www.w3.org/2000/svg}rect"):
            right = float(node.get("x")) + float(node.get("width"))
            assert float(node.get("x")) >= -16
            assert right <= width - 14
        assert 'class="' not in drawn


def test_everything_that_was_lost_is_drawn(explanations) -> None:
    for one in explanations:
        drawn = draw_svg(figure(one))
        words = "".join(ElementTree.fromstring(drawn).itertext())
        for loss in losses(one)[:1]:
            if loss.points >= 0.0005:
                assert number(-round(1000 * loss.points)) in words


def test_marks_name_what_differs() -> None:
    corpus = Corpus(
        (Segment("1", (Sentence("The mayor did not sign the contract."),)),),
        {"a": (Sentence("The mayor did sign the contract."),)},
    )
    measured = measure_corpus(corpus, ["meant", "ter"])
    [pair] = measured.corpus.pairs("a")
    meant, ter = (figure(metric.explain(pair)) for metric in measured.metrics)
    assert meant["b"][meant["r"].index("not")] == "f"
    assert set(meant["a"]) == {"."}
    assert ter["b"][ter["r"].index("not")] == "m"
    drawn = draw_svg(meant)
    assert "missing" in drawn
    assert number(-meant["l"][0][0]) in drawn


def test_words_that_only_stand_elsewhere_are_no_facts() -> None:
    pairs = (
        ("The mayor has the contract not signed.", "The mayor did not sign the contract."),
        ("The president criticised the journalist.", "The journalist criticised the president."),
    )
    corpus = Corpus(
        tuple(Segment(str(n), (Sentence(theirs),)) for n, (_, theirs) in enumerate(pairs)),
        {"a": tuple(Sentence(ours) for ours, _ in pairs)},
    )
    measured = measure_corpus(corpus, ["meant"])
    torn, changed = map(measured.metrics[0].explain, measured.corpus.pairs("a"))
    assert any(fact.kind == "order" for fact in torn.facts)
    made = figure(torn)
    assert "f" not in made["a"] + made["b"]
    # Its agent is in another event; the words are there all the same.
    assert set(zip(made["h"], made["a"], strict=True)) >= {
        ("The", "."),
        ("mayor", "."),
        ("has", "x"),
    }
    assert any(fact.kind == "actors" for fact in changed.facts)
    made = figure(changed)
    assert made["a"] == "pp.pp."
    assert "changed places" in draw_svg(made)


def test_a_word_the_other_side_has_is_not_called_unlike_all_of_it() -> None:
    made = figure(worded())
    # "did" is little like itself in another place, "it" is nowhere in the reference.
    assert made["a"] == "....w."
    assert made["b"] == "...m..w."


def test_the_trained_metric_shows_what_words_are_worth() -> None:
    one = worded()
    made = figure(one)
    assert "p" not in made
    assert "o" not in made
    assert made["w"][0] == [2, 3, 0, 62, 62]
    assert [words[4] for words in made["w"]] == sorted((w[4] for w in made["w"]), reverse=True)
    count, share, loss = made["v"]
    assert count + len(made["w"]) == len(one.words)
    # To a thousandth and its rounding, what is shown is the whole score, and all of its loss.
    assert share + sum(words[3] for words in made["w"]) == pytest.approx(
        1000 * one.score.value, abs=len(made["w"])
    )
    assert loss + sum(words[4] for words in made["w"]) == pytest.approx(
        1000 * sum(word.loss for word in one.words), abs=len(made["w"])
    )
    for width in (320, WIDTH):
        drawn = draw_svg(made, segment="7", width=width)
        words = " ".join(ElementTree.fromstring(drawn).itertext())
        assert "Words that cost most" in words
        assert "share 0.062, lost 0.062" in words
        assert "6 other words: share" in words
        assert "Who did what to whom" in words
    assert "Who did" not in draw_svg(figure(worded(framed=False)))


def test_the_dearest_words_are_named_as_losses() -> None:
    said = [loss.what for loss in losses(worded(framed=False))]
    assert said[0] == "missing: 'not'"
    assert "too much: 'it'" in said
    # It stands on both sides, and means something else, or stands for something else.
    assert "not the same there: 'did' of the reference" in said
    assert "missing: 'did'" not in said
    one = worded(framed=False)
    words = tuple(replace(it, found=0.75) if it.word == "it" else it for it in one.words)
    assert "partly too much: 'it'" in [loss.what for loss in losses(replace(one, words=words))]
    # With frames, what they speak of is told with its role.
    said = [loss.what for loss in losses(worded())]
    assert "missing in '<b>sign</b>': negation 'not'" in said
    assert "missing: 'not'" not in said


def test_order_is_one_loss_with_its_dearest_places() -> None:
    corpus = Corpus(
        (Segment("1", (Sentence("The committee rejected the proposal on Monday."),)),),
        {"a": (Sentence("On Monday, the proposal was turned down by the committee."),)},
    )
    measured = measure_corpus(corpus, ["meant"])
    [pair] = measured.corpus.pairs("a")
    explained = measured.metrics[0].explain(pair)
    (order,) = [loss for loss in losses(explained) if loss.what.startswith("order: ")]
    (component,) = [one for one in explained.components if one.name == "order"]
    assert order.points == pytest.approx(component.weight * (1 - component.value))
    dearest = max(
        (fact for fact in explained.facts if fact.kind == "order"), key=lambda one: one.loss
    )
    tokens = getattr(explained, f"{dearest.side}_tokens")
    words = " ".join(tokens[dearest.span.start : dearest.span.end])
    assert order.what.startswith(f"order: torn apart at {words!r}, ")
    assert order.what.endswith(", …")


def test_agreeing_neighbours_are_drawn_together() -> None:
    corpus = Corpus((Segment("1", (Sentence("a b c d e"),)),), {"a": (Sentence("a b c d e"),)})
    measured = measure_corpus(corpus, ["ter"])
    made = figure(measured.metrics[0].explain(measured.corpus.pairs("a")[0]))
    assert [part[1:5] for part in made["p"]] == [[0, 3, 0, 3], [3, 5, 3, 5]]


def test_a_metric_of_somebody_else_is_drawn_from_the_protocol_alone() -> None:
    made = figure(trained())
    assert made["o"] == [["length", -250], ["<b>frames</b>", 500]]
    assert made["p"] == [["word", 0, 1, 1, 2, 125]]
    drawn = draw_svg(made)
    assert "&lt;b&gt;frames&lt;/b&gt;" in drawn
    assert "−0.250" in drawn


def test_widths_cover_what_there_is() -> None:
    assert len(style()["widths"]) == 95
    assert measure("") == 0
    assert measure("中") == 13
    assert measure("e\u0301") == measure("e")
    assert measure("ab") <= measure("a") + measure("b")


@pytest.mark.needs("chromium")
def test_a_page_draws_the_same_to_the_last_character(explanations) -> None:
    from playwright.sync_api import sync_playwright

    figures = [figure(one) for one in [*explanations, *MADE]]
    widths = (280, 347, 704)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page()
        theirs = page.evaluate(
            f"([figures, widths]) => {{ const one = {script_of_drawing()};"
            "return figures.map((figure) => widths.map((width) => {"
            "const {body, height} = one.draw(figure, width, 'seven');"
            "return [body, height]; })); }",
            [figures, list(widths)],
        )
        browser.close()
    for made, by_width in zip(figures, theirs, strict=True):
        for width, (body, height) in zip(widths, by_width, strict=True):
            assert (body, height) == draw(made, width, "seven")
