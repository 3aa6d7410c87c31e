"""The page of `meantime serve` in Chromium: every control, light and dark, by keyboard alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.browsing import SIZES, THEMES, chromium, fits, keep, serving, tab_to, until, visiting
from tests.serving.conftest import make_app

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
DRAWN = "document.querySelectorAll('svg.drawing').length === {}"

pytestmark = pytest.mark.needs("chromium")


def example(name: str) -> str:
    return str(ROOT / "examples" / f"{name}.txt")


@pytest.fixture(scope="module")
def browser() -> Iterator:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving(make_app()) as found:
        yield found


@pytest.fixture
def visit(browser, address):
    with visiting(browser, address) as opened:
        yield opened


def scored(page, drawings: int) -> None:
    until(page, "document.getElementById('told').textContent.startsWith('Scored')", 120)
    until(page, DRAWN.format(drawings))


def rescored(page, ask) -> None:
    """Ask for scores, and wait until others are shown."""
    page.evaluate("document.querySelector('#scores table').id = 'old'")
    ask()
    until(page, "document.querySelector('#scores table') && !document.getElementById('old')", 60)


def cells(page, metric: str) -> list[str]:
    name = re.compile(rf"^{metric}(\s|$)")
    row = page.locator("#scores tbody tr", has=page.locator("th", has_text=name))
    return row.locator("td").all_inner_texts()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES)
def test_it_looks_right(visit, size: str, theme: str) -> None:
    page = visit(size=size, theme=theme)
    fits(page)
    page.get_by_role("button", name="Load an example").click()
    scored(page, 3)
    page.locator("#more summary").click()
    fits(page)
    keep(page, f"serve-{size}-{theme}", full_page=True)
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    colour = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (colour == "rgb(255, 255, 255)") != dark


def test_texts_are_scored_while_they_are_typed(visit) -> None:
    page = visit()
    page.get_by_role("button", name="Score", exact=True).click()
    assert not page.is_visible("#scores")
    page.fill("#reference", "The mayor did not sign the contract.")
    page.fill("#translation-1", "The mayor did sign the contract.")
    scored(page, 1)
    first = cells(page, "meant")
    page.select_option("#explainer", "meant")
    page.fill("#translation-1", "The mayor did not sign the contract.")
    until(page, "document.querySelector('.why b').textContent.endsWith('meant 1.0000')", 60)
    assert cells(page, "meant") == ["1.0000"] != first
    # Not while one is asked not to.
    page.uncheck("#live")
    page.fill("#translation-1", "Nothing of the kind.")
    page.wait_for_timeout(1000)
    assert cells(page, "meant") == ["1.0000"]
    rescored(page, lambda: page.locator("#translation-1").press("Control+Enter"))
    assert cells(page, "meant") != ["1.0000"]
    # More translations, under names of their own.
    page.get_by_role("button", name="Add a translation").click()
    page.get_by_role("textbox", name="Name of translation 2").fill("second")
    page.fill("#translation-2", "The mayor did not sign the contract.")
    rescored(page, page.get_by_role("button", name="Score", exact=True).click)
    assert page.evaluate(DRAWN.format(2))
    assert page.locator("#scores thead th").all_inner_texts()[1:] == ["translation 1", "second"]
    assert [one.endswith("★") for one in cells(page, "meant")] == [False, True]
    page.get_by_role("button", name="Remove translation 1").click()
    rescored(page, page.get_by_role("button", name="Score", exact=True).click)
    assert page.evaluate(DRAWN.format(1))
    assert not page.get_by_role("button", name="Remove translation 2").is_visible()
    for _ in range(7):
        page.get_by_role("button", name="Add a translation").click()
    assert page.is_disabled("#add")


def test_a_drawing_can_be_chosen_and_kept(visit) -> None:
    page = visit()
    page.get_by_role("button", name="Load an example").click()
    scored(page, 3)
    page.select_option("#explainer", "ter")
    assert "ter" in page.locator(".why b").first.inner_text()
    page.select_option("#explainer", "meant")
    with page.expect_download() as found:
        page.get_by_role("button", name="Download the drawing of fluent as SVG").click()
    assert found.value.suggested_filename == "alignment-2.svg"
    root = ElementTree.parse(found.value.path()).getroot()
    assert "negation" in "".join(root.itertext())
    # A language without a parser: what cannot say anything says why, the others go on.
    page.locator("#more summary").click()
    page.fill("#lang", "de")
    rescored(page, page.get_by_role("button", name="Score", exact=True).click)
    assert "cannot treat the language 'de'" in cells(page, "meant")[0]
    assert cells(page, "bleu")[1].endswith("★")


def test_texts_cannot_act(visit) -> None:
    page = visit()
    page.fill("#reference", HOSTILE)
    page.get_by_role("textbox", name="Name of translation 1").fill(HOSTILE[:90])
    page.fill("#translation-1", HOSTILE + " more")
    scored(page, 1)
    assert page.title() == "meantime"
    assert page.locator("main img, main script").count() == 0
    fits(page)


def test_files_are_compared(visit) -> None:
    page = visit()
    page.set_input_files("#systems", [example("faithful"), example("fluent")])
    page.set_input_files("#references", example("reference"))
    page.set_input_files("#source-file", example("source"))
    page.fill("#title", "Two & <more>")
    for name in ("meant", "chrf"):
        page.locator("#choices").get_by_label(name, exact=True).uncheck()
    page.get_by_role("button", name="Compare", exact=True).click()
    until(page, "!document.getElementById('done').hidden", 120)
    assert page.inner_text("#state") == "The report is ready."
    assert page.evaluate("document.activeElement.id") == "open"
    with page.expect_popup() as found:
        page.click("#open")
    report = found.value
    until(report, "document.documentElement.dataset.ready === 'yes'")
    assert report.inner_text("h1") == "Two & <more>"
    assert report.locator(".segment").count() == 20
    report.close()
    with page.expect_download() as kept:
        page.click("#download")
    assert "Two &amp; &lt;more&gt;" in Path(kept.value.path()).read_text(encoding="utf-8")
    with page.expect_download() as numbers:
        page.click("#numbers")
    assert json.loads(Path(numbers.value.path()).read_text(encoding="utf-8"))["meantime"]
    # What cannot be compared says why.
    page.set_input_files("#systems", [example("faithful")])
    page.get_by_role("button", name="Compare", exact=True).click()
    until(page, "document.getElementById('state').classList.contains('error')")
    assert "one system, nothing to compare it with" in page.inner_text("#state")
    assert page.is_enabled("#start")


def test_a_comparison_can_be_stopped(visit) -> None:
    page = visit()
    page.set_input_files("#systems", [example("faithful"), example("literal")])
    page.set_input_files("#references", example("reference"))
    page.get_by_role("button", name="Compare", exact=True).click()
    until(page, "!document.getElementById('stop').hidden")
    page.get_by_role("button", name="Stop").click()
    until(page, "document.getElementById('stop').hidden", 60)
    assert page.inner_text("#state") in ("Stopped.", "The report is ready.")
    assert page.is_enabled("#start")


def test_by_keyboard_alone(visit) -> None:
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    tab_to(page, "one.id === 'reference'")
    page.keyboard.type("He did not come.")
    tab_to(page, "one.id === 'translation-1'")
    page.keyboard.type("He did come.")
    scored(page, 1)
    tab_to(page, "one.id === 'explainer'")
    before = page.input_value("#explainer")
    page.keyboard.press("ArrowDown")
    assert page.input_value("#explainer") != before
    tab_to(page, "one.id === 'systems'")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    tab_to(page, "one.id === 'start'")


def test_without_a_script_it_says_so(visit) -> None:
    page = visit(java_script_enabled=False)
    assert "needs JavaScript" in page.locator("noscript").inner_text()
