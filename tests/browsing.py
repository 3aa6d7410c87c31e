"""What tests in a browser share: opening it, looking at a page closely, keyboards alone."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMAGES = "MEANTIME_SCREENSHOTS"
"""Where screenshots are kept, if this names a folder; by default they are thrown away."""
SIZES = {"phone": (360, 800), "desk": (1400, 900)}
THEMES = ("light", "dark")


@contextlib.contextmanager
def chromium() -> Iterator:
    """A browser that talks to nobody."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[
                "--no-sandbox",
                "--disable-background-networking",
                "--disable-component-update",
                "--no-first-run",
            ],
        )
        yield browser
        browser.close()


@contextlib.contextmanager
def visiting(browser, address: str) -> Iterator:
    """Opens pages at an address, and waits until each is ready; all are closed in the end."""
    opened = []

    def visit(**options):
        context = page_in(browser, allowed=address, **options)
        page = context.__enter__()
        opened.append(context)
        page.goto(address)
        if options.get("java_script_enabled", True):
            until(page, "document.documentElement.dataset.ready === 'yes'")
        return page

    yield visit
    for context in opened:
        context.__exit__(None, None, None)


@contextlib.contextmanager
def page_in(browser, *, size: str = "desk", theme: str = "light", allowed: str = "", **options):
    """A page; fails on anything the console complains of or that is asked of another address."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, **options
    )
    page = context.new_page()
    page.set_default_timeout(60000)
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda asked: (
            asked.url.startswith((allowed, "blob:", "data:")) or complaints.append(asked.url)
        ),
    )
    yield page
    context.close()
    # What is refused on purpose is answered with codes that Chromium notes.
    left = [one for one in complaints if "status of 4" not in one]
    assert not left, left


@contextlib.contextmanager
def serving(app) -> Iterator[str]:
    """The address of a server for an application."""
    import uvicorn

    bound = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://localhost:{bound.getsockname()[1]}"
    server.should_exit = True
    thread.join(20)


def fits(page) -> None:
    """Nothing sticks out to the side, everything one can use has a name, text can be told apart."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    nameless = page.evaluate(
        """[...document.querySelectorAll(
          'button, input:not([type=hidden]), select, textarea, a, svg[role=img]')]
        .filter((one) => !(one.getAttribute('aria-label') || '').trim()
          && !(one.labels && [...one.labels].some((label) => label.textContent.trim()))
          && !one.textContent.trim())
        .map((one) => one.outerHTML)"""
    )
    assert nameless == []
    assert faint(page) == []


def faint(page) -> list[str]:
    """Texts whose contrast with what is behind them is below 4.5 to 1 (WCAG AA)."""
    return page.evaluate(
        """() => {
      const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
      const rgb = (colour) => {
        canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
      };
      const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
        .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
      const behind = (node) => {
        for (let one = node; one; one = one.parentElement) {
          const colour = rgb(getComputedStyle(one).backgroundColor);
          if (colour[3] > 250) return colour;
        }
        return rgb('white');
      };
      const found = [];
      for (const node of document.querySelectorAll('body *')) {
        const own = [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
        if (!own || !node.checkVisibility()) continue;
        if (node.closest('script, style, :disabled, option')) continue;
        const style = getComputedStyle(node);
        const svg = node.namespaceURI.endsWith('svg');
        const [a, b] = [light(rgb(svg ? style.fill : style.color)), light(behind(node))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) found.push(`${contrast.toFixed(2)} ${node.outerHTML.slice(0, 90)}`);
      }
      return found;
    }"""
    )


def keep(page, name: str, **options) -> None:
    """A screenshot, kept where it is asked for; looking at it at all must work."""
    folder = os.environ.get(IMAGES)
    image = page.screenshot(**options)
    assert len(image) > 1000
    if folder:
        Path(folder, f"{name}.png").write_bytes(image)


def until(page, expression: str, seconds: float = 30) -> None:
    """Wait for a truth; Playwright's own way is a script that strict policies do not allow."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if page.evaluate(expression):
            return
        time.sleep(0.03)
    raise AssertionError(f"not so within {seconds} seconds: {expression}")


def tab_to(page, expression: str, most: int = 150) -> None:
    """Press Tab until what has the focus fits."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate(f"((one) => {expression})(document.activeElement)"):
            return
    raise AssertionError(f"the keyboard never gets to {expression}")
