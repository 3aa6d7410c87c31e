"""The alignment of one segment drawn as SVG: a function of a figure and a width.

`static/drawing.js` is the same drawing for pages, where it is made when it is looked at; a test
holds both to the same characters, so change them together. Sizes are whole numbers, text is
measured by a table of widths and told its length, so that it fits whatever the reader's font.
Colour only repeats what lines, marks and words say.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any
from xml.sax.saxutils import escape

from meantime.report.figures import Figure

WIDTH = 720
NARROWEST = 280
_LINE = 20
_FONT = "Helvetica, Arial, 'Liberation Sans', 'Noto Sans', sans-serif"
_Word = tuple[str, bool]
"""A word, and whether it differs."""
_SYMBOLS = {
    "match": "=", "exact": "=", "stem": "≈", "synonym": "≈", "substitution": "≠", "shift": "⇄",
    "insertion": "missing", "deletion": "extra",
}  # fmt: skip


@cache
def style() -> dict[str, Any]:
    """Widths of characters, colours (light, dark) and the look of each kind of thing drawn."""
    text = files("meantime.report").joinpath("data/drawing.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def draw_svg(figure: Figure, *, segment: str = "", width: int = WIDTH) -> str:
    """A drawing that stands alone, for slides and papers: light colours, nothing to load."""
    body, height = draw(figure, width - 32, segment)
    for name, look in style()["styles"].items():
        attributes = " ".join(
            f'{key}="{style()["colours"].get(value, [value])[0]}"' for key, value in look.items()
        )
        body = body.replace(f'class="d-{name}"', attributes)
    title = _xml(f"{figure['m']} {figure['s']}" + (f", segment {segment}" if segment else ""))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-16 -12 {width} {height + 24}" '
        f'width="{width}" height="{height + 24}" font-family="{_FONT}" role="img">\n'
        f"<title>{title}</title>\n"
        f'<rect x="-16" y="-12" width="{width}" height="{height + 24}" fill="#ffffff"/>\n'
        f"{body}</svg>\n"
    )


def draw(figure: Figure, width: int, segment: str = "") -> tuple[str, int]:
    """The inside of a drawing, in classes `d-…` that a page gives colours to, and its height."""
    canvas = _Canvas(figure, max(width, NARROWEST))
    if segment:
        canvas.title(segment)
    canvas.sentence("reference", figure["r"], figure.get("b", ""))
    canvas.sentence("hypothesis", figure["h"], figure.get("a", ""))
    canvas.legend()
    canvas.losses()
    canvas.components()
    canvas.costs()
    canvas.frames()
    canvas.parts()
    canvas.elsewhere()
    return "".join(canvas.out), canvas.y


def css() -> str:
    """The looks of a drawing inside a page; the page has a variable for each colour."""
    colours = style()["colours"]
    rules = []
    for name, look in style()["styles"].items():
        pairs = [
            f"{key}:{f'var(--{value})' if value in colours else value}"
            + ("px" if key == "font-size" else "")
            for key, value in look.items()
        ]
        rules.append(f".d-{name}{{{';'.join(pairs)}}}")
    return "\n".join(rules) + "\n"


def variables(theme: int) -> str:
    """The colours as variables: 0 light, 1 dark."""
    return "".join(f"--{name}:{pair[theme]};" for name, pair in style()["colours"].items())


def measure(text: str, size: int = 13) -> int:
    """How wide a text is, about."""
    table = style()
    widths, other = table["widths"], table["other"]
    units = 0
    for mark in text:
        code = ord(mark)
        if 32 <= code < 127:
            units += widths[code - 32]
        elif any(low <= code <= high for low, high in table["none"]):
            continue
        elif any(low <= code <= high for low, high in table["wide"]):
            units += 1000
        else:
            units += other
    return -(-units * size // 1000)


def number(value: int) -> str:
    """Thousandths as they are written: -110 is −0.110."""
    size = abs(value)
    return f"{'−' if value < 0 else ''}{size // 1000}.{size % 1000:03d}"


def hundredths(value: int) -> str:
    """Thousandths, written shorter."""
    size = (abs(value) + 5) // 10
    return f"{'−' if value < 0 else ''}{size // 100}.{size % 100:02d}"


def _worth(share: int, loss: int) -> str:
    return f"share {number(share)}, lost {number(loss)}"


def _xml(text: str) -> str:
    return escape(text, {'"': "&quot;"})


def _pieces(text: str, room: int, size: int = 13) -> list[str]:
    """A word, cut where it is wider than the room."""
    if measure(text, size) <= room:
        return [text]
    made = [""]
    for mark in text:
        if made[-1] and measure(made[-1] + mark, size) > room:
            made.append("")
        made[-1] += mark
    return made


def _compared(words: Sequence[str], others: Sequence[str]) -> list[_Word]:
    """Words, and whether each differs from all of the other filler, where there is one."""
    known = {word.lower() for word in others}
    return [(word, bool(others) and word != "…" and word.lower() not in known) for word in words]


class _Canvas:
    """What is drawn so far, from the top down."""

    def __init__(self, figure: Figure, width: int) -> None:
        self.figure = figure
        self.width = width
        self.out: list[str] = []
        self.y = 0

    # Pieces

    def text(self, x: int, y: int, kind: str, text: str, length: int = 0) -> None:
        """A text; told its length where it has to fit."""
        fit = f' textLength="{length}" lengthAdjust="spacingAndGlyphs"' if length else ""
        self.out.append(f'<text x="{x}" y="{y}" class="d-{kind}"{fit}>{_xml(text)}</text>\n')

    def fitted(self, x: int, y: int, kind: str, text: str, room: int, size: int = 13) -> None:
        """A text in so much room, squeezed if it must be."""
        self.text(x, y, kind, text, room if measure(text, size) > room else 0)

    def rect(self, x: int, y: int, width: int, height: int, kind: str, round: int = 3) -> None:
        self.out.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{round}" '
            f'class="d-{kind}"/>\n'
        )

    def path(self, steps: str, kind: str) -> None:
        self.out.append(f'<path d="{steps}" class="d-{kind}"/>\n')

    def heading(self, text: str) -> None:
        self.y += 12
        self.fitted(0, self.y + 14, "h", text, self.width)
        self.y += 24

    # Parts of the drawing, in order

    def title(self, segment: str) -> None:
        better = "higher is better" if self.figure["u"] else "lower is better"
        self.text(0, 14, "h", f"{self.figure['m']} {self.figure['s']}")
        shown = f"segment {segment}, {better}"
        left = measure(f"{self.figure['m']} {self.figure['s']}") + 24
        self.fitted(left, 14, "k", shown, self.width - left, 11)
        self.y = 28

    def sentence(self, name: str, tokens: Sequence[str], marks: str) -> None:
        """Words with their marks, broken at the width."""
        self.text(0, self.y + 12, "k", name)
        self.y += 18
        x = 0
        if not tokens:
            self.text(0, self.y + 13, "k", "(empty)")
        for place, token in enumerate(tokens):
            mark = marks[place] if place < len(marks) else "."
            for piece in _pieces(token, self.width):
                size = measure(piece)
                if x > 0 and x + size > self.width:
                    x = 0
                    self.y += _LINE + 4
                if mark == "f":
                    self.rect(x - 2, self.y - 1, size + 4, 19, "fact")
                self.text(x, self.y + 13, "t", piece, size)
                self.mark(x, self.y + 17, size, mark)
                x += size + 4
        self.y += _LINE + 8

    def mark(self, x: int, y: int, size: int, mark: str) -> None:
        """What stands under a word."""
        if mark == "w":
            self.path(f"M{x} {y}h{size}", "dot")
        elif mark == "m":
            steps = "".join(f"l3 {-3 if n % 2 else 3}" for n in range(size // 3))
            self.path(f"M{x} {y - 1}{steps}", "zig")
        elif mark == "p":
            self.path(f"M{x} {y}h{size}", "partly")
        elif mark == "x":
            self.path(f"M{x} {y - 1}h{size}M{x} {y + 2}h{size}", "dbl")

    def legend(self) -> None:
        """What the marks that are there mean."""
        used = self.figure.get("a", "") + self.figure.get("b", "")
        x = 0
        for mark, meaning in (
            ("m", "missing"), ("x", "too much"), ("w", "unlike all words of the other side"),
            ("p", "changed places"),
            ("f", "a fact only one side has"),
        ):  # fmt: skip
            if mark not in used:
                continue
            size = measure(meaning, 11)
            if x > 0 and x + 28 + size > self.width:
                x = 0
                self.y += 16
            if mark == "f":
                self.rect(x, self.y + 1, 22, 11, "fact")
            else:
                self.mark(x, self.y + 8, 21, mark)
            self.fitted(x + 28, self.y + 11, "k", meaning, self.width - 28, 11)
            x += size + 46
        if x > 0:
            self.y += 18

    def losses(self) -> None:
        found = self.figure.get("l", [])
        if not found:
            return
        self.heading("Lost most by")
        for points, what in found:
            self.text(48, self.y + 13, "n", number(-points))
            lines = self.wrapped([(what, False)], self.width - 60)
            for line in lines:
                self.text(60, self.y + 13, "t", " ".join(word for word, _ in line))
                self.y += _LINE
        self.y += 2

    def components(self) -> None:
        found = self.figure.get("c", [])
        if not found:
            return
        self.heading("Value × weight = share")
        heaviest = max(1, *(one[2] for one in found))
        room = self.width - 86 - 138
        for name, value, weight, share in found:
            self.fitted(0, self.y + 13, "t", name, 80)
            whole = room * weight // heaviest
            part = min(whole, max(0, whole * value // 1000))
            if whole > part:
                self.rect(86 + part, self.y + 3, whole - part, 12, "less", 0)
            if part:
                self.rect(86, self.y + 3, part, 12, "full", 0)
            shown = f"{number(value)} × {number(weight)} = {number(share)}"
            self.text(self.width, self.y + 13, "e", shown)
            self.y += _LINE

    def costs(self) -> None:
        """Words that cost most: bars as long as what they decide, full as far as won."""
        found = self.figure.get("w", [])
        if not found:
            return
        self.heading("Words that cost most")
        most = max(1, *(share + loss for _, _, _, share, loss in found))
        room = self.width - 86 - 138
        for name, side, tokens in (
            ("in the reference", 2, self.figure["r"]), ("in the hypothesis", 1, self.figure["h"]),
        ):  # fmt: skip
            rows = [one for one in found if one[0] == side]
            if rows:
                self.text(0, self.y + 11, "k", name)
                self.y += 16
            for _, place, _, share, loss in rows:
                self.fitted(0, self.y + 13, "t", tokens[place], 80)
                whole = room * (share + loss) // most
                part = room * share // most
                if whole > part:
                    self.rect(86 + part, self.y + 3, whole - part, 12, "less", 0)
                if part:
                    self.rect(86, self.y + 3, part, 12, "full", 0)
                self.text(self.width, self.y + 13, "e", _worth(share, loss))
                self.y += _LINE
        others = self.figure.get("v")
        if others:
            count, share, loss = others
            said = f"{count} other word{'' if count == 1 else 's'}: {_worth(share, loss)}"
            self.fitted(0, self.y + 11, "k", said, self.width, 11)
            self.y += 16

    def frames(self) -> None:
        found = self.figure.get("f", [])
        if not found:
            return
        self.heading("Who did what to whom")
        middle = 150 if self.width >= 560 else 88
        column = (self.width - middle) // 2
        self.text(0, self.y + 9, "k", "reference")
        self.text(column + middle, self.y + 9, "k", "hypothesis")
        self.y += 16
        for place, (sides, share, loss, phrases) in enumerate(found):
            if place:
                self.path(f"M0 {self.y + 4}h{self.width}", "rule")
                self.y += 12
            only = ("", ", only in the hypothesis", ", only in the reference")[sides]
            shown = f"event {place + 1}{only}: share {number(share)}"
            if loss > 0:
                shown += f", lost {number(loss)}"
            self.fitted(0, self.y + 11, "k", shown, self.width, 11)
            self.y += 18
            for phrase in phrases:
                self.phrase(phrase, column, middle)

    def phrase(self, phrase: Sequence[Any], column: int, middle: int) -> None:
        """Two fillers, and between them what they are and how alike."""
        role, left, right, similarity, _, loss = phrase
        theirs = self.words(right, self.figure["r"])
        ours = self.words(left, self.figure["h"])
        sides = (
            self.wrapped(_compared(theirs, ours), column - 16),
            self.wrapped(_compared(ours, theirs), column - 16),
        )
        height = max(36, *(_LINE * len(lines) + 8 for lines in sides))
        centre = self.y + height // 2
        for lines, there, x in (
            (sides[0], right, 0),
            (sides[1], left, column + middle),
        ):
            tall = max(28, _LINE * len(lines) + 8)
            top = self.y + (height - tall) // 2
            self.rect(x, top, column, tall, "box" if there else "gap")
            if not there:
                said = "missing" if x else "not in the reference"
                self.fitted_middle(x + column // 2, centre + 4, "a", said, column - 8)
            for n, line in enumerate(lines):
                self.line(x + 8, top + 18 + _LINE * n, line)
        x = column + middle // 2
        self.fitted_middle(x, centre - 7, "g", role, middle - 8)
        if left and right:
            kind = "strong" if similarity >= 800 else "partly" if similarity >= 400 else "weak"
            self.path(f"M{column} {centre}h{middle}", kind)
            said = hundredths(similarity)
        else:
            start, end = (column, x - 6) if right else (column + middle, x + 6)
            self.path(f"M{start} {centre}H{end}", "weak")
            self.path(f"M{x - 5} {centre - 5}l10 10m0 -10l-10 10", "cross")
            said = ""
        if loss > 0:
            said += f"{' ' if said else ''}{number(-loss)}"
        if said:
            self.fitted_middle(x, centre + 16, "a" if loss > 0 else "c", said, middle - 8)
        self.y += height + 8

    def fitted_middle(self, x: int, y: int, kind: str, text: str, room: int) -> None:
        self.text(x, y, kind, text, room if measure(text, 11) > room else 0)

    def words(self, spans: Sequence[int] | int, tokens: Sequence[str]) -> list[str]:
        """The words of a filler; none where it is not there."""
        if isinstance(spans, int):
            return []
        found = []
        for n in range(0, len(spans), 2):
            if n:
                found.append("…")
            found += tokens[spans[n] : spans[n + 1]]
        return found

    def wrapped(self, words: Sequence[_Word], room: int) -> list[list[_Word]]:
        """Words in lines of so much room; no line where there is no word."""
        lines: list[list[_Word]] = []
        x = 0
        for text, differs in words:
            for word in text.split(" "):
                for piece in _pieces(word, room):
                    size = measure(piece)
                    if not lines or (x > 0 and x + 4 + size > room):
                        lines.append([])
                        x = 0
                    lines[-1].append((piece, differs))
                    x += size + (4 if x > 0 else 0)
        return lines

    def line(self, x: int, y: int, words: Sequence[_Word]) -> None:
        """Words in a row; those that differ stand out."""
        runs = []
        for n, (word, differs) in enumerate(words):
            space = " " if n else ""
            shown = f'<tspan class="d-d">{_xml(word)}</tspan>' if differs else _xml(word)
            runs.append(space + shown)
        length = measure(" ".join(word for word, _ in words))
        self.out.append(
            f'<text x="{x}" y="{y}" class="d-t" textLength="{length}" '
            f'lengthAdjust="spacingAndGlyphs">{"".join(runs)}</text>\n'
        )

    def parts(self) -> None:
        """Pieces of both sides above each other, for metrics that compare words."""
        found = self.figure.get("p", [])
        if not found:
            return
        self.heading("Word by word: reference above, hypothesis below")
        x = 0
        for label, start, end, first, last, _ in found:
            below = " ".join(self.figure["h"][start:end]) if start >= 0 else ""
            above = " ".join(self.figure["r"][first:last]) if first >= 0 else ""
            sign = _SYMBOLS.get(label, label)
            size = max(measure(above), measure(below), measure(sign, 11)) + 14
            size = min(size, self.width)
            if x > 0 and x + size > self.width:
                x = 0
                self.y += 74
            missing = start < 0 or first < 0
            agrees = not missing and sign == "="
            self.rect(x, self.y, size, 66, "box" if agrees else "gap" if missing else "bar")
            self.fitted(x + 7, self.y + 18, "t", above, size - 14)
            self.fitted_middle(x + size // 2, self.y + 37, "c" if agrees else "a", sign, size - 8)
            self.fitted(x + 7, self.y + 56, "t", below, size - 14)
            x += size + 5
        self.y += 74

    def elsewhere(self) -> None:
        """Parts that belong to no word: bars left and right of nothing."""
        found = self.figure.get("o", [])
        if not found:
            return
        self.heading("What the score is made of")
        most = max(1, *(abs(one[1]) for one in found))
        names = min(200, self.width * 2 // 5)
        room = self.width - names - 70
        negative = any(one[1] < 0 for one in found)
        half = room // 2 if negative else room
        origin = names + 6 + (half if negative else 0)
        for label, value in found:
            self.fitted(0, self.y + 13, "t", label, names)
            size = half * abs(value) // most
            if size:
                start = origin - size if value < 0 else origin
                self.rect(start, self.y + 3, size, 12, "less" if value < 0 else "full", 0)
            self.text(self.width, self.y + 13, "e", number(value))
            self.y += _LINE
        self.path(f"M{origin} {self.y - _LINE * len(found)}V{self.y}", "rule")
