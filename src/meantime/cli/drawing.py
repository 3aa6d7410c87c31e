"""Analysed sentences drawn for a terminal: frames with their roles under the words, and trees.

Everything here is a function of a sentence and a width; nothing prints. Colour repeats what
labels and brackets say already.

    The committee rejected the proposal on Monday .
    [ARG0───────] V        [ARG1──────] [ARGM-TMP]
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from meantime.types import Frame, Sentence, Span, Tree

NARROWEST = 40
"""Terminals narrower than this are drawn for as if they were this wide."""

_INDENT = 2
_PREDICATE = "V"
_PREDICATE_STYLE = "bold"
_STYLES = {"ARG0": "cyan", "ARG1": "green", "ARG2": "yellow", "ARG3": "magenta", "ARG4": "blue"}
_MODIFIER_STYLE = "bright_blue"
_OTHER_STYLE = "magenta"
_CORE = re.compile(r"(?:[CR]-)*(ARG(?:M|[0-9A]))")
# Characters that move the cursor, break the line or turn the direction of writing.
_UNSHOWABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def show(text: str) -> str:
    """A text without characters that would act on the terminal; each is replaced by `�`."""
    if text.isascii() and text.isprintable():
        return text
    kept = _TURNING.sub("�", text)
    return "".join("�" if unicodedata.category(c) in _UNSHOWABLE else c for c in kept)


def style_of(label: str) -> str:
    """The colour of a role."""
    if label == _PREDICATE:
        return _PREDICATE_STYLE
    core = _CORE.match(label)
    if core is None:
        return _OTHER_STYLE
    return _MODIFIER_STYLE if core[1] == "ARGM" else _STYLES.get(core[1], _OTHER_STYLE)


def paint(drawing: Text, *, colour: bool) -> str:
    """A drawing as characters, with codes for colours or without; ends with a line feed."""
    if not colour:
        return "\n".join(line.rstrip() for line in drawing.plain.split("\n")) + "\n"
    console = Console(force_terminal=True, highlight=False, width=10_000)
    with console.capture() as capture:
        console.print(drawing, soft_wrap=True)
    return capture.get()


def draw_frames(sentence: Sentence, *, number: int, width: int) -> Text:
    """A sentence, its number, and each of its frames.

    A frame takes two lines, more where the sentence is wider than the terminal: the words, and
    below them the predicate (`V`) and the roles.
    """
    width = max(width, NARROWEST)
    drawing = _heading(sentence, number)
    if sentence.tokens is None or sentence.frames is None:
        _add(drawing, "(frames not analysed)")
    elif not sentence.tokens:
        _add(drawing, "(no words)")
    elif not sentence.frames:
        _add(drawing, "(no frames)")
    else:
        for place, frame in enumerate(sentence.frames):
            if place:
                drawing.append("\n")
            for line in _draw_frame(sentence.tokens, frame, width - _INDENT):
                drawing.append("\n" + " " * _INDENT)
                drawing.append_text(line)
    return drawing


def _heading(sentence: Sentence, number: int) -> Text:
    drawing = Text(f"{number}:")
    if sentence.text:
        drawing.append(f" {show(sentence.text)}", style="bold")
    return drawing


def _add(drawing: Text, line: str) -> None:
    drawing.append(f"\n{' ' * _INDENT}{line}")


@dataclass(slots=True)
class _Unit:
    """What stays together: a token, or a piece of one wider than the terminal."""

    text: str
    width: int
    glued: bool
    """Whether it follows the unit before without a space."""
    line: int = 0
    column: int = 0


@dataclass(slots=True)
class _Block:
    """Units under one label, or one token under none."""

    label: str | None
    units: list[_Unit]
    bare: bool = False
    """Whether the label goes without brackets: a predicate of one token."""

    @property
    def least(self) -> int:
        """Cells the label needs."""
        if self.label is None:
            return 0
        return cell_len(self.label) + (0 if self.bare else 2)


@dataclass(slots=True)
class _Line:
    """Two lines of the drawing, filled from left to right."""

    words: Text = field(default_factory=Text)
    labels: Text = field(default_factory=Text)

    def put(self, on: Text, column: int, text: str, style: str) -> None:
        on.append(" " * (column - cell_len(on.plain)))
        on.append(text, style=style)


def _draw_frame(tokens: Sequence[str], frame: Frame, width: int) -> list[Text]:
    parts = [(_PREDICATE, frame.predicate)]
    for role in frame.roles:
        parts += [
            (show(f"C-{role.label}" if place else role.label), span)
            for place, span in enumerate(role.spans)
        ]
    kept, others = _disjoint(parts, len(tokens))
    blocks = _blocks(tokens, kept, width)
    _lay_out(blocks, width)
    lines = _fill(blocks)
    drawn: list[Text] = []
    for line in lines:
        drawn.append(line.words)
        if line.labels.plain:
            drawn.append(line.labels)
    for label, span in others:
        filler = show(" ".join(tokens[span.start : span.end]))
        drawn.append(Text(f"also [{label}] {filler}", style=style_of(label)))
    return drawn


def _disjoint(
    parts: Sequence[tuple[str, Span]], length: int
) -> tuple[list[tuple[str, Span]], list[tuple[str, Span]]]:
    """Spans that can be drawn in one line, the predicate first of all, and the others."""
    kept: list[tuple[str, Span]] = []
    others: list[tuple[str, Span]] = []
    taken = [False] * length
    for label, span in parts:
        if any(taken[span.start : span.end]):
            others.append((label, span))
        else:
            taken[span.start : span.end] = [True] * len(span)
            kept.append((label, span))
    return sorted(kept, key=lambda part: part[1]), others


def _blocks(tokens: Sequence[str], parts: Sequence[tuple[str, Span]], width: int) -> list[_Block]:
    blocks: list[_Block] = []
    place = 0
    for label, span in parts:
        blocks += [_Block(None, _units(token, width)) for token in tokens[place : span.start]]
        units = [unit for token in tokens[span.start : span.end] for unit in _units(token, width)]
        bare = label == _PREDICATE and len(span) == 1
        blocks.append(_Block(label, units, bare))
        place = span.end
    return blocks + [_Block(None, _units(token, width)) for token in tokens[place:]]


def _units(token: str, width: int) -> list[_Unit]:
    shown = show(token)
    if cell_len(shown) <= width:
        return [_Unit(shown, cell_len(shown), glued=False)]
    pieces = [""]
    for character in shown:
        if cell_len(pieces[-1] + character) > width:
            pieces.append("")
        pieces[-1] += character
    return [_Unit(piece, cell_len(piece), glued=n > 0) for n, piece in enumerate(pieces)]


def _cells(units: Sequence[_Unit]) -> int:
    gaps = sum(not unit.glued for unit in units[1:])
    return sum(unit.width for unit in units) + gaps


def _lay_out(blocks: Sequence[_Block], width: int) -> None:
    """Give every unit its line and column.

    A role is broken only behind enough of it to carry its label; else it begins a line.
    """
    line, column = 0, 0
    for block in blocks:
        whole = max(_cells(block.units), block.least)
        if column and not _may_begin(block, width - column - 1, whole):
            line, column = line + 1, 0
        for place, unit in enumerate(block.units):
            gap = int(column > 0 and not (place and unit.glued))
            if column and column + gap + unit.width > width:
                line, column, gap = line + 1, 0, 0
            unit.line, unit.column = line, column + gap
            column = unit.column + unit.width
        if block.units[0].line == line:
            column = max(column, block.units[0].column + block.least)


def _may_begin(block: _Block, room: int, whole: int) -> bool:
    if whole <= room:
        return True
    if block.label is None:
        return False
    fitting = 0
    while fitting < len(block.units) and _cells(block.units[: fitting + 1]) <= room:
        fitting += 1
    return fitting > 0 and _cells(block.units[:fitting]) >= block.least


def _fill(blocks: Sequence[_Block]) -> list[_Line]:
    lines: list[_Line] = []
    for block in blocks:
        style = "" if block.label is None else style_of(block.label)
        first, last = block.units[0].line, block.units[-1].line
        while len(lines) <= last:
            lines.append(_Line())
        for number in range(first, last + 1):
            line = lines[number]
            units = [unit for unit in block.units if unit.line == number]
            for unit in units:
                line.put(line.words, unit.column, unit.text, style)
            if block.label is not None:
                start = units[0].column
                cells = units[-1].column + units[-1].width - start
                if number == first:
                    # Room for the label: nothing follows where the role goes on below.
                    cells = max(cells, block.least)
                drawn = _bracket(block, cells, opens=number == first, closes=number == last)
                line.put(line.labels, start, drawn, style)
    return lines


def _bracket(block: _Block, cells: int, *, opens: bool, closes: bool) -> str:
    """A label over so many cells; a bracket is left open where the role goes on."""
    label = block.label or ""
    if block.bare:
        return label if opens else ""
    left, right = "[" if opens else "─", "]" if closes else "─"
    if cells < 2:
        return right
    inner = cells - 2
    # The first line has room for the label, on others it is a help where it fits.
    name = label if opens or cell_len(label) <= inner else ""
    return f"{left}{name}{'─' * (inner - cell_len(name))}{right}"


def draw_tree(sentence: Sentence, *, number: int, width: int) -> Text:
    """A sentence, its number, and its tree in brackets, a constituent that fits in one line."""
    width = max(width, NARROWEST)
    drawing = _heading(sentence, number)
    if sentence.tree is None or sentence.tokens is None:
        without = sentence.tokens is not None and not sentence.tokens
        _add(drawing, "(no words)" if without else "(no tree)")
        return drawing
    for line in _draw_tree(sentence.tree, sentence.tokens, width - _INDENT):
        drawing.append("\n" + " " * _INDENT)
        drawing.append_text(line)
    if sentence.tree_score is not None:
        _add(drawing, f"log-probability {sentence.tree_score:.3f}")
    return drawing


def _draw_tree(tree: Tree, tokens: Sequence[str], width: int) -> list[Text]:
    lines: list[Text] = []
    waiting: list[tuple[Tree, int, int]] = [(tree, 0, 0)]
    while waiting:
        node, depth, closing = waiting.pop()
        flat = _flat(node, tokens, width)
        # Deep trees would be drawn off the right edge; from there on depth is not shown.
        indent = min(depth * 2, width // 2)
        line = Text(" " * indent)
        if not node.children or (flat is not None and indent + cell_len(flat) + closing <= width):
            line.append(flat or _leaf(node, tokens))
            line.append(")" * closing)
        else:
            line.append(f"({show(node.label)}", style="bold")
            last = len(node.children) - 1
            waiting += [
                (child, depth + 1, closing + 1 if place == last else 0)
                for place, child in reversed(list(enumerate(node.children)))
            ]
        lines.append(line)
    return lines


def _leaf(node: Tree, tokens: Sequence[str]) -> str:
    return f"({show(node.label)} {_escape(tokens[node.span.start])})"


def _escape(token: str) -> str:
    return re.sub(r"\s", "_", show(token)).replace("(", "-LRB-").replace(")", "-RRB-")


def _flat(tree: Tree, tokens: Sequence[str], width: int) -> str | None:
    """A constituent in one line; none where that is wider than the terminal."""
    # Each token takes at least a cell and a space: no need to write out a long one.
    if len(tree.span) * 2 > width:
        return None
    from meantime.formats.parses.brackets import tree_as_text

    text = show(tree_as_text(tree, tokens))
    return text if cell_len(text) <= width else None
