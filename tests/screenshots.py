"""Makes the pictures of the docs from what they show: run again when a page's looks change.

    python -m tests.screenshots [report] [serve] [drawing]

Everything is made from `examples/`, drawn by Debian's Chromium. Look at what changed before you
keep it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from meantime.analysis import open_analyser
from meantime.cli.app import run
from meantime.serving import create_app
from tests.browsing import ROOT, chromium, page_in, serving, until

IMAGES = ROOT / "docs" / "images"
EXAMPLES = ROOT / "examples"
SYSTEMS = ("faithful", "fluent", "literal")
LARGEST = 200_000
"""Bytes of a picture: pages are read where lines are slow, too."""


def picture(page, name: str, height: int) -> None:
    """The window, so high, as a picture."""
    page.set_viewport_size({"width": 1100, "height": height})
    path = IMAGES / f"{name}.png"
    path.write_bytes(page.screenshot())
    size = path.stat().st_size
    assert size < LARGEST, f"{path} has {size} bytes; show less of the page"
    print(f"{path.relative_to(ROOT)}: {size} bytes")


def report() -> None:
    """The top of a report, and a segment with a drawn explanation."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        path = Path(folder, "report.html")
        systems = [str(EXAMPLES / f"{name}.txt") for name in SYSTEMS]
        texts = ["-r", str(EXAMPLES / "reference.txt"), "-s", str(EXAMPLES / "source.txt")]
        asked = ["compare", *systems, *texts, "--html", str(path), "--output", f"{folder}/out"]
        assert run([*asked, "--title", "Three ways to translate"]) == 0
        with page_in(browser, allowed=path.as_uri()) as page:
            page.goto(path.as_uri())
            until(page, "document.documentElement.dataset.ready === 'yes'")
            picture(page, "report-top", 820)
            page.locator(".row").nth(1).click()
            page.get_by_role("button", name="Why this meant?").nth(1).click()
            page.wait_for_selector("svg.drawing")
            page.set_viewport_size({"width": 1100, "height": 1000})
            page.evaluate(
                "scrollTo(0, document.querySelector('.row[aria-expanded=true]')"
                ".getBoundingClientRect().top + scrollY - 60)"
            )
            picture(page, "report-segment", 1000)


def serve() -> None:
    """The page to try texts on, with its example."""
    app = create_app(
        try_analyser=lambda progress: open_analyser(progress=progress),
        file_analyser=lambda progress: open_analyser(progress=progress),
    )
    with (
        serving(app) as address,
        chromium() as browser,
        page_in(browser, allowed=address) as page,
    ):
        page.goto(address)
        until(page, "document.documentElement.dataset.ready === 'yes'")
        page.get_by_role("button", name="Load an example").click()
        until(page, "document.querySelectorAll('svg.drawing').length === 3", seconds=120)
        picture(page, "serve-texts", 1000)


def drawing() -> None:
    """The drawing that stands alone."""
    texts = [str(EXAMPLES / "fluent.txt"), "-r", str(EXAMPLES / "reference.txt")]
    where = ["--segment", "2", "--svg", str(IMAGES / "explain.svg")]
    with tempfile.TemporaryDirectory() as folder:
        assert run(["explain", *texts, *where, "--output", f"{folder}/out"]) == 0


ALL: dict[str, Callable[[], None]] = {"report": report, "serve": serve, "drawing": drawing}

if __name__ == "__main__":
    for name in sys.argv[1:] or ALL:
        ALL[name]()
