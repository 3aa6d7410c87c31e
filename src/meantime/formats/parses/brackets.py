"""Brackets, in columns and in strings: constituents and labelled spans.

A column has one cell a token: what opens before it, a star, what closes behind it, as in
`(S(NP*` or `*))`. A string has the words in it: `(TOP (S (NP (PRP I)) (VP (VBP see))))`.
Nothing here calls itself: a sentence of two thousand tokens may be nested as deep.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from meantime.errors import InputError
from meantime.formats.parses.parsed import Place
from meantime.types import Span, Tree

ROOT = "TOP"
NOTHING = "-"
"""What stands in a column where a layer is absent, or nothing is marked."""
INSIDE = "*"

# The older shared tasks repeat the label where a bracket closes: (A0*A0).
_CELL = re.compile(r"((?:\([^()*\s]*)*)\*((?:[^()*\s]*\))*)")
_LABEL = re.compile(r"[^()*\s]+")
_PIECE = re.compile(r"[()]|[^()\s]+")
_ROOTS = frozenset({ROOT, "ROOT", "S1", ""})
_ESCAPES = {"(": "-LRB-", ")": "-RRB-"}


class Bracket(NamedTuple):
    """A labelled span, and how many brackets were open around it."""

    label: str
    span: Span
    depth: int


def is_label(text: str) -> bool:
    """Whether a text can label a bracket."""
    return _LABEL.fullmatch(text) is not None


def _open(cell: str, token: int, place: Place, column: str) -> tuple[list[str], int]:
    """The labels that open at a cell, and how many brackets close."""
    found = _CELL.fullmatch(cell)
    if found is None:
        place.refuse(
            token,
            f"{column} {cell!r} is not a bracket cell; write what opens, a star, what closes, "
            "as in (S(NP* or *)",
        )
    return found[1].split("(")[1:], found[2].count(")")


def _surplus(token: int, place: Place, column: str) -> NoReturn:
    place.refuse(
        token, f"{column} closes a bracket that was not opened; remove it or open one before"
    )


def _unclosed(label: str, token: int, place: Place, column: str) -> NoReturn:
    place.refuse(
        token,
        f"the bracket ({label} opened here in the {column} is never closed; close it before "
        "the sentence ends",
    )


def read_spans(cells: Sequence[str], place: Place, column: str) -> list[Bracket]:
    """The labelled spans of a column, in the order they open.

    Raises:
        FormatError: A cell is no bracket cell, or brackets do not match.
    """
    found: list[Bracket | None] = []
    waiting: list[tuple[int, str, int]] = []
    for token, cell in enumerate(cells):
        if cell == INSIDE:
            continue
        opened, closed = _open(cell, token, place, column)
        for label in opened:
            if not label:
                place.refuse(token, f"a bracket of the {column} has no label; add one")
            waiting.append((len(found), label, token))
            found.append(None)
        for _ in range(closed):
            if not waiting:
                _surplus(token, place, column)
            number, label, start = waiting.pop()
            found[number] = Bracket(label, Span(start, token + 1), len(waiting))
    if waiting:
        _unclosed(waiting[-1][1], waiting[-1][2], place, column)
    return [bracket for bracket in found if bracket is not None]


def write_spans(spans: Sequence[tuple[str, Span]], length: int) -> list[str]:
    """The column of labelled spans, outer ones before inner ones where they nest."""
    opened = [""] * length
    closed = [0] * length
    for label, span in spans:
        opened[span.start] += f"({label}"
        closed[span.end - 1] += 1
    return [f"{before}*{')' * behind}" for before, behind in zip(opened, closed, strict=True)]


@dataclass(slots=True)
class _Open:
    label: str
    start: int
    children: list[Tree] = field(default_factory=list)

    def close(self, end: int) -> Tree:
        return Tree(self.label, Span(self.start, end), tuple(self.children))


def read_tree(
    cells: Sequence[str], pos: Sequence[str] | None, place: Place, column: str
) -> Tree | None:
    """The tree of a column; none where the column is empty.

    Raises:
        FormatError: A cell is no bracket cell, or brackets do not match.
    """
    if all(cell in (NOTHING, INSIDE) for cell in cells):
        return None
    stack = [_Open("", 0)]
    for token, cell in enumerate(cells):
        opened, closed = _open(cell, token, place, column)
        for label in opened:
            if not label and (token or len(stack) > 1):
                place.refuse(token, f"a bracket of the {column} has no label; add one")
            stack.append(_Open(label, token))
        tag = NOTHING if pos is None else pos[token]
        stack[-1].children.append(Tree(tag, Span(token, token + 1)))
        for _ in range(closed):
            if len(stack) == 1:
                _surplus(token, place, column)
            node = stack.pop()
            stack[-1].children.append(node.close(token + 1))
    if len(stack) > 1:
        _unclosed(stack[-1].label, stack[-1].start, place, column)
    return _rooted(stack[0].children)


def _rooted(forest: Sequence[Tree]) -> Tree:
    """One tree whose root is TOP, whatever the parser called it or left out."""
    first = forest[0]
    if len(forest) == 1 and first.children and first.label in _ROOTS:
        return Tree(ROOT, first.span, first.children)
    return Tree(ROOT, Span(0, forest[-1].span.end), tuple(forest))


def check_tree(tree: Tree, length: int, where: str) -> None:
    """Refuse a tree that no format can hold.

    Raises:
        InputError: It does not cover the sentence, constituents have gaps, or labels are odd.
    """
    if tree.label != ROOT or tree.span != Span(0, length) or not tree.children:
        raise InputError(
            f"{where}: the root of the tree is {tree.label} over tokens {tree.span.start} to "
            f"{tree.span.end} of {length}; it must be {ROOT}, over all of them and not empty"
        )
    for node in tree:
        if not is_label(node.label):
            raise InputError(
                f"{where}: {node.label!r} cannot label a constituent; leave out white space, "
                "brackets and stars"
            )
        start = node.span.start
        for child in node.children:
            if child.span.start != start:
                raise InputError(
                    f"{where}: the parts of {node.label} over tokens {node.span.start} to "
                    f"{node.span.end} leave a gap or overlap; they must follow each other"
                )
            start = child.span.end
        end = start if node.children else start + 1
        if end != node.span.end:
            raise InputError(
                f"{where}: {node.label} over tokens {node.span.start} to {node.span.end} is "
                "more than its parts; a constituent is its parts, a part of speech one token"
            )


def write_tree(tree: Tree, length: int) -> list[str]:
    """The column of a tree that `check_tree` lets pass."""
    inner = [(node.label, node.span) for node in tree if node.children]
    return write_spans(inner, length)


def leaves(tree: Tree) -> list[str]:
    """The parts of speech of a tree."""
    return [node.label for node in tree if not node.children]


def escape(token: str) -> str:
    """A token as it stands in a bracketed string; there only for the eye."""
    escaped = re.sub(r"\s", "_", token)
    for character, name in _ESCAPES.items():
        escaped = escaped.replace(character, name)
    return escaped or "-NONE-"


def tree_as_text(tree: Tree, tokens: Sequence[str]) -> str:
    """A tree as one bracketed line."""
    pieces: list[str] = []
    waiting: list[Tree | None] = [tree]
    while waiting:
        node = waiting.pop()
        if node is None:
            pieces.append(")")
            continue
        gap = " " if pieces else ""
        if node.children:
            pieces.append(f"{gap}({node.label}")
            waiting.append(None)
            waiting.extend(reversed(node.children))
        else:
            pieces.append(f"{gap}({node.label} {escape(tokens[node.span.start])})")
    return "".join(pieces)


def tree_from_text(
    text: str,
    tokens: Sequence[str],
    same: Callable[[str, str], bool],
    refuse: Callable[[str], NoReturn],
) -> Tree:
    """The tree of a bracketed string.

    Args:
        text: The brackets, with labels and words.
        tokens: The tokens that its words must be.
        same: Whether a word and a token are the same.
        refuse: Called with what is wrong.
    """
    stack = [_Open("", 0)]
    token = 0
    before = ""
    for piece in _PIECE.findall(text):
        if piece == "(":
            if before == "" and len(stack) > 1:
                refuse(f"the part of speech ({stack[-1].label} … holds a bracket; close it before")
            stack.append(_Open("", token))
        elif piece == ")":
            _close(stack, token, before, refuse)
        elif before == "(":
            stack[-1].label = piece
        else:
            # A second word behind a bracket: the label was a part of speech.
            if len(stack) == 1 or stack[-1].children or before in ("(", ")", ""):
                refuse(f"the tree has {piece!r} out of place; write (LABEL (POS word) …)")
            if token == len(tokens) or not same(piece, tokens[token]):
                there = repr(tokens[token]) if token < len(tokens) else "the end"
                refuse(
                    f"word {token + 1} of the tree is {piece!r}, of the tokens {there}; "
                    "give the tree of these tokens"
                )
            stack[-1].children.append(Tree("", Span(token, token + 1)))
            token += 1
            piece = ""  # noqa: PLW2901
        before = piece
    if len(stack) > 1:
        refuse(f"the bracket ({stack[-1].label} of the tree is never closed; close it")
    if token != len(tokens):
        refuse(f"the tree has {token} words, the sentence {len(tokens)} tokens; they must agree")
    if not stack[0].children:
        refuse("the tree is empty; leave it out or write (LABEL (POS word) …)")
    return _rooted(stack[0].children)


def _close(stack: list[_Open], token: int, before: str, refuse: Callable[[str], NoReturn]) -> None:
    if len(stack) == 1:
        refuse("the tree closes a bracket that was not opened; remove it or open one before")
    node = stack.pop()
    if not node.children:
        refuse(f"the constituent ({node.label}) of the tree is empty; remove it or fill it")
    if not node.label and len(stack) > 1:
        refuse("a bracket of the tree has no label; add one")
    if before == "":
        # The word of a part of speech came last.
        stack[-1].children.append(Tree(node.label, Span(node.start, token)))
    else:
        stack[-1].children.append(node.close(token))
