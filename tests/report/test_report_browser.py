"""A report in Chromium: every control, light and dark, narrow and wide, by keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from meantime.report.cautions import find_cautions
from meantime.report.comparison import compare
from meantime.report.findings import Findings
from meantime.report.gathering import gather
from meantime.report.html import render_html
from meantime.scoring import measure
from meantime.types import Corpus, Segment, Sentence
from tests.browsing import SIZES, THEMES, chromium, fits, keep, page_in, tab_to, until, visiting

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("faithful", "fluent", "literal")
HOSTILE = "<script>document.title='owned'</script>"
ENDING = "</script><img src=x onerror=\"document.title='owned'\"><!--"

pytestmark = pytest.mark.needs("chromium")


def lines(name: str) -> list[str]:
    return (ROOT / "examples" / f"{name}.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def browser() -> Iterator:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    """A report of the examples three times over, so that there are pages, and of hostile texts."""
    extra = [HOSTILE, ENDING]
    references = lines("reference") * 3 + ["Nobody was there.", ENDING]
    sources = lines("source") * 3 + extra
    segments = tuple(
        Segment(str(n + 1), (Sentence(text),), Sentence(sources[n], "de"), f"day {n // 21 + 1}")
        for n, text in enumerate(references)
    )
    outputs = {name: tuple(map(Sentence, lines(name) * 3 + extra)) for name in NAMES}
    outputs["literal"] = (*outputs["literal"][:-4], *map(Sentence, ("", "", HOSTILE, "x")))
    measured = measure(Corpus(segments, outputs), ["meant", "bleu", "ter"])
    compared = compare(measured, resamples=100, trials=200)
    report = gather(measured, compared, Findings(cautions=find_cautions(compared)))
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_html(report, title="Three renderings"), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def visit(browser, address):
    with visiting(browser, address) as opened:
        yield opened


def shown(page) -> list[str]:
    return page.locator(".segment .id").all_inner_texts()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES)
def test_it_looks_right(visit, size: str, theme: str) -> None:
    page = visit(size=size, theme=theme)
    fits(page)
    keep(page, f"report-top-{size}-{theme}")
    page.locator("#roles").scroll_into_view_if_needed()
    keep(page, f"report-roles-{size}-{theme}")
    page.locator(".row").nth(1).click()
    page.get_by_role("button", name="Why this meant?").nth(1).click()
    page.wait_for_selector("svg.drawing")
    page.get_by_role("button", name="Why this ter?").nth(1).click()
    until(page, "document.querySelectorAll('svg.drawing').length === 2")
    fits(page)
    page.evaluate("document.querySelector('.row[aria-expanded=true]').scrollIntoView()")
    keep(page, f"report-segment-{size}-{theme}")
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    colour = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (colour == "rgb(255, 255, 255)") != dark


def test_every_control(visit) -> None:
    page = visit()
    assert shown(page) == [str(n) for n in range(1, 21)]
    assert page.inner_text("#found") == "1–20 of 62 segments"
    # Pages
    assert page.is_disabled("#previous")
    page.click("#next")
    assert shown(page)[0] == "21"
    page.fill("#page", "4")
    page.press("#page", "Enter")
    assert shown(page) == ["61", "62"]
    assert page.is_disabled("#next")
    page.click("#previous")
    assert shown(page)[0] == "41"
    page.fill("#page", "99")
    page.press("#page", "Enter")
    assert shown(page) == ["61", "62"]
    # Search: any text of a segment, whatever its case
    page.fill("#search", "BÜRGERMEISTER")
    until(page, "document.querySelectorAll('.segment').length === 3")
    assert shown(page) == ["2", "22", "42"]
    page.locator(".row").first.click()
    assert page.locator("mark").first.inner_text() == "Bürgermeister"
    page.fill("#search", "nowhere at all")
    until(page, "document.querySelectorAll('.segment').length === 0")
    assert "Reset" in page.inner_text("#found")
    page.get_by_role("button", name="Reset").click()
    assert len(shown(page)) == 20
    # Kinds
    page.select_option("#kind", label="negation (9)")
    assert page.inner_text("#found").startswith("1–9 of 9 segments (62 in all)")
    page.select_option("#kind", label="day 2 (21)")
    assert shown(page)[0] == "22"
    page.get_by_role("button", name="Reset").click()
    # Orders
    page.select_option("#system", label="fluent")
    page.select_option("#other", label="faithful")
    for order in ("worst", "best"):
        page.select_option("#order", order)
        values = [float(one.split()[1]) for one in page.locator(".figures").all_inner_texts()]
        assert values == sorted(values, reverse=order == "best")
    page.select_option("#order", "behind")
    gaps = [one.replace("·", "").split() for one in page.locator(".figures").all_inner_texts()]
    differences = [float(one[1]) - float(one[3]) for one in gaps]
    assert differences == sorted(differences)
    assert differences[0] < -0.05
    page.select_option("#order", "ahead")
    gaps = [one.replace("·", "").split() for one in page.locator(".figures").all_inner_texts()]
    assert float(gaps[0][1]) - float(gaps[0][3]) > 0
    page.select_option("#order", "differ")
    first = shown(page)[0]
    page.select_option("#order", "contrary")
    assert shown(page)
    # Metric: for all of the page
    page.select_option("#metric", label="ter")
    page.select_option("#order", "worst")
    values = [float(one.split()[1]) for one in page.locator(".figures").all_inner_texts()]
    assert values == sorted(values, reverse=True)
    assert page.locator("#ranking .of:not([hidden]) .caption").inner_text().startswith("ter")
    page.select_option("#metric", label="meant")
    # From lists, kinds and warnings to segments
    page.get_by_role("button", name="Reset").click()
    link = page.locator("#segments .of:not([hidden]) a.to").first
    assert link.inner_text() == f"segment {first}"
    link.click()
    until(page, "document.querySelectorAll('.row[aria-expanded=true]').length === 1")
    assert page.locator(".segment:has(.row[aria-expanded=true]) .id").inner_text() == first
    page.locator("#kinds .of:not([hidden]) button.show", has_text="negation").first.click()
    assert page.inner_text("#found").startswith("1–13 of 13 segments")
    page.locator(".warning button.show").first.click()
    assert 0 < len(shown(page)) < 20
    # Details open and close
    page.get_by_role("button", name="Reset").click()
    row = page.locator(".row").first
    row.click()
    assert page.locator(".output").count() == 3
    row.click()
    assert page.locator(".output:visible").count() == 0
    summary = page.locator("#kinds .of:not([hidden]) summary").first
    summary.click()
    assert page.locator("#kinds .of:not([hidden]) details:not([open])").count() == 1


def test_explanations_are_drawn_and_fit_their_place(visit) -> None:
    page = visit()
    page.locator(".row").nth(1).click()
    block = page.locator(".output", has=page.get_by_text("fluent", exact=True))
    button = block.get_by_role("button", name="Why this meant?")
    button.click()
    drawing = block.locator("svg.drawing")
    drawing.wait_for()
    assert "missing: negation 'not'" in drawing.get_attribute("aria-label")
    wide = drawing.bounding_box()["width"]
    page.set_viewport_size({"width": 360, "height": 800})
    until(page, f"document.querySelector('svg.drawing').clientWidth < {wide} - 100")
    fits(page)
    button.click()
    assert not drawing.is_visible()
    assert button.get_attribute("aria-expanded") == "false"


def test_differences_are_marked_by_more_than_colour(visit) -> None:
    page = visit()
    page.locator(".row").nth(1).click()
    block = page.locator(".output", has=page.get_by_text("faithful", exact=True))
    assert block.locator("u").all_inner_texts() == ["has", "signed", "agreement."]
    weight = block.locator("u").first.evaluate("one => getComputedStyle(one).fontWeight")
    assert int(weight) >= 600


def test_without_spaces_every_character_counts(browser, tmp_path) -> None:
    texts = {"a": "部长签署了合同，SK-II。", "b": "部长没有签署合同，SK-II。"}
    outputs = {name: (Sentence(text, "zh"),) for name, text in texts.items()}
    corpus = Corpus((Segment("1", (Sentence(texts["b"], "zh"),)),), outputs)
    measured = measure(corpus, ["bleu"])
    report = gather(measured, compare(measured, resamples=100, trials=100), Findings())
    path = tmp_path / "report.html"
    path.write_text(render_html(report), encoding="utf-8")
    with page_in(browser, allowed=path.as_uri()) as page:
        page.goto(path.as_uri())
        until(page, "document.documentElement.dataset.ready === 'yes'")
        assert page.inner_text("#found") == "1 segment"
        assert "2 systems, 1 segment;" in page.inner_text("#method")
        page.locator(".row").click()
        block = page.locator(".output", has=page.get_by_text("a", exact=True))
        assert block.locator("u").all_inner_texts() == ["了"]
        assert block.locator(".text").inner_text() == texts["a"]


def test_texts_cannot_act(visit) -> None:
    page = visit()
    page.fill("#page", "4")
    page.press("#page", "Enter")
    for row in page.locator(".row").all():
        row.click()
    for button in page.locator(".output button").all():
        button.click()
    until(page, "document.querySelectorAll('svg.drawing').length === 12")
    assert page.title() == "Three renderings"
    assert page.locator("img").count() == 0
    assert HOSTILE in page.inner_text("#list")
    assert ENDING in page.inner_text("#list")


def test_by_keyboard_alone(visit) -> None:
    page = visit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    tab_to(page, "one.id === 'metric'")
    page.keyboard.press("ArrowDown")
    until(page, "document.querySelector('#ranking .of:not([hidden])').dataset.metric === '1'")
    page.keyboard.press("ArrowUp")
    tab_to(page, "one.id === 'search'")
    page.keyboard.type("contract")
    until(page, "document.querySelectorAll('.segment').length === 3")
    tab_to(page, "one.matches('.row')")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    tab_to(page, "one.textContent === 'Why this meant?'")
    page.keyboard.press("Space")
    page.wait_for_selector("svg.drawing")
    tab_to(page, "one.matches('.copy')")
    # Wide tables scroll by keyboard: they can have the focus.
    assert page.locator(".wide:not([tabindex])").count() == 0


def test_a_link_opens_its_segment(browser, address) -> None:
    with page_in(browser, allowed=address.partition("#")[0]) as page:
        page.goto(f"{address}#segment-45")
        until(page, "document.querySelectorAll('.row[aria-expanded=true]').length === 1")
        assert page.locator(".segment:has(.row[aria-expanded=true]) .id").inner_text() == "45"
        assert page.input_value("#page") == "3"


def test_signatures_can_be_copied(browser, address) -> None:
    with page_in(
        browser, allowed=address, permissions=["clipboard-read", "clipboard-write"]
    ) as page:
        page.goto(address)
        until(page, "document.documentElement.dataset.ready === 'yes'")
        page.locator(".copy").first.click()
        until(page, "document.querySelector('.copy').textContent !== 'Copy'")
        assert page.locator(".copy").first.inner_text().startswith(("Copied", "Selected"))


def test_without_a_script_the_numbers_are_there(visit) -> None:
    page = visit(java_script_enabled=False)
    assert page.locator("#ranking .of").count() == 3
    assert page.locator("#ranking .of:visible").count() == 3
    assert page.locator("noscript").count() == 1
    assert not page.locator("#controls").is_visible()


def test_print_shows_all_metrics_on_light_paper(visit) -> None:
    page = visit(theme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    colour = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert colour == "rgb(255, 255, 255)"
    assert page.locator("#ranking .of:visible").count() == 3
    assert not page.locator("#controls").is_visible()
    # Names of kinds are buttons on the screen, names on paper.
    assert page.locator("#kinds th[scope=row]", has_text="negation").first.inner_text().strip()
    assert page.locator("#kinds button.show").first.is_visible()
    assert not page.locator(".warning button.show").first.is_visible()
    # Of segments those that are open.
    assert page.locator(".row:visible").count() == 0
    page.emulate_media(media="screen", color_scheme="dark")
    page.locator(".row").nth(1).click()
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator(".row:visible").count() == 1
    assert page.locator(".row:visible .id").inner_text() == "2"
    assert page.locator(".output:visible").count() == 3
    document = page.pdf(format="A4")
    assert document.startswith(b"%PDF")
