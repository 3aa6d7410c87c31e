"""Columns, one token a line: the layouts of the shared tasks of 2005 and 2012 and PropBank's.

Sentences end with an empty line, columns are separated by tabs or else by spaces. Which layout
a file has is found by counting: every sentence has its fixed columns and one more a predicate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from meantime.errors import FormatError, InputError
from meantime.formats.opening import Text, lines
from meantime.formats.parses import brackets, roles
from meantime.formats.parses.brackets import INSIDE, NOTHING
from meantime.formats.parses.parsed import Parsed, Place, of_tokens
from meantime.types import Frame, Sentence, Span

EMPTY = "#empty"
"""A line that stands for a sentence without tokens, which columns cannot show."""

_OLD = re.compile(r"^((?:[CR]-)*)A([0-9AM])((?:-.+)?)$")
_NEW = re.compile(r"^((?:[CR]-)*)ARG([0-9AM])((?:-.+)?)$")
_UNHOLDABLE = re.compile(r"[\t\r\n]|^ | $|^$")


@dataclass(frozen=True, slots=True)
class Layout:
    """Which column holds what; frames may be absent, and columns may come behind them."""

    word: int
    pos: int | None
    tree: int | None
    marked: int | None
    first: int
    behind: int = 0
    strict: bool = True
    """Whether every marked predicate has a column of roles and the other way round."""


_EIGHT = Layout(word=3, pos=4, tree=5, marked=7, first=8)
_SIX = Layout(word=3, pos=4, tree=5, marked=None, first=6)
# OntoNotes marks word senses of more words than have roles.
_ONTONOTES = Layout(word=3, pos=4, tree=5, marked=7, first=11, behind=1, strict=False)
_TASK_2005 = (
    Layout(word=0, pos=1, tree=2, marked=3, first=4),
    Layout(word=0, pos=1, tree=2, marked=4, first=5),
    Layout(word=0, pos=None, tree=None, marked=1, first=2),
    # The task's own order: entities, tag, chunks, clauses, parse, sense, target.
    Layout(word=0, pos=2, tree=5, marked=7, first=8),
)


class _Block(NamedTuple):
    """The rows of a sentence and their lines."""

    rows: list[list[str]]
    lines: list[int]


def _fields(line: str) -> list[str]:
    line = line.rstrip(" \t")
    if "\t" in line:
        return [field.strip(" ") for field in line.split("\t")]
    return [field for field in line.split(" ") if field]


def _blocks(text: Text, *, comments: bool) -> Iterator[_Block]:
    """Sentences as rows; those without tokens have none."""
    block = _Block([], [])
    for number, line in enumerate(lines(text.content), start=1):
        fields = _fields(line)
        note = fields == [EMPTY] or (comments and line.startswith("#"))
        if fields and not note:
            block.rows.append(fields)
            block.lines.append(number)
            continue
        if block.rows:
            yield block
            block = _Block([], [])
        if fields == [EMPTY]:
            yield _Block([], [number])
    if block.rows:
        yield block


def parse(text: Text, format: str, lang: str) -> list[Parsed]:
    """Read sentences of columns.

    Raises:
        FormatError: Rows have different numbers of columns, or brackets do not match.
    """
    modern = format == "conll2012"
    blocks = list(_blocks(text, comments=modern))
    for block in blocks:
        _check_rows(block, text.name)
    layout = _modern_layout(blocks) if modern else _old_layout(blocks)
    return [_read(block, layout, text.name, lang, modern) for block in blocks]


def _check_rows(block: _Block, name: str) -> None:
    for row, line in zip(block.rows, block.lines, strict=bool(block.rows)):
        if len(row) != len(block.rows[0]):
            raise FormatError(
                f"{name}:{line}: {len(row)} columns, expected {len(block.rows[0])} as in the "
                "first line of the sentence; fill empty columns with - or *, and put an empty "
                "line between sentences"
            )
        if "" in row:
            raise FormatError(
                f"{name}:{line}: column {row.index('') + 1} is empty; fill it with - or *"
            )


def _modern_layout(blocks: Sequence[_Block]) -> Layout:
    # OntoNotes has word senses where PropBank's own layout has the first predicate's roles.
    votes = sum(
        1 if len(row) >= 12 and INSIDE not in row[8] else -1
        for block in blocks
        for row in block.rows[:1]
    )
    return _ONTONOTES if votes > 0 else _EIGHT


def _old_layout(blocks: Sequence[_Block]) -> Layout:
    """The layout that most sentences fit; the usual one where none fits any."""
    return max(_TASK_2005, key=lambda layout: sum(_fits(block.rows, layout) for block in blocks))


def _fits(rows: Sequence[Sequence[str]], layout: Layout) -> bool:
    if not rows or layout.marked is None or len(rows[0]) < layout.first:
        return False
    marked = [row[layout.marked] for row in rows]
    predicates = sum(mark != NOTHING for mark in marked)
    return (
        not any(INSIDE in mark for mark in marked)
        and all(INSIDE in cell for row in rows for cell in row[layout.first :])
        and (predicates > 0) == (len(rows[0]) > layout.first)
        and (layout.tree is None or len({INSIDE in row[layout.tree] for row in rows}) == 1)
    )


def _read(block: _Block, layout: Layout, name: str, lang: str, modern: bool) -> Parsed:
    place = Place(name, block.lines)
    rows = block.rows
    if not rows:
        return Parsed(of_tokens((), lang=lang, pos=(), tree=None, frames=()), place)
    if layout is _EIGHT and len(rows[0]) == _SIX.first:
        layout = _SIX
    width = len(rows[0])
    least = layout.first + layout.behind
    if width < least or (layout is _SIX and width > least):
        place.refuse(
            0,
            f"{width} columns, expected {least} and one more a predicate; fill what is missing "
            "with - or *, or state the format if it is another",
        )
    pos = None if layout.pos is None else tuple(row[layout.pos] for row in rows)
    if pos is not None and all(tag == NOTHING for tag in pos):
        pos = None
    tree = None
    if layout.tree is not None:
        tree = brackets.read_tree([row[layout.tree] for row in rows], pos, place, "parse")
    frames = None if layout.marked is None else _read_frames(rows, layout, place, modern)
    tokens = [row[layout.word] for row in rows]
    return Parsed(of_tokens(tokens, lang=lang, pos=pos, tree=tree, frames=frames), place)


def _read_frames(
    rows: Sequence[Sequence[str]], layout: Layout, place: Place, modern: bool
) -> tuple[Frame, ...]:
    assert layout.marked is not None
    marked = [token for token, row in enumerate(rows) if row[layout.marked] != NOTHING]
    columns = range(layout.first, len(rows[0]) - layout.behind)
    frames = []
    for number, column in enumerate(columns):
        called = f"column {column + 1}"
        parts = _read_parts([row[column] for row in rows], place, called, modern)
        predicates = [span for label, span in parts if label == roles.PREDICATE]
        if not predicates and len(marked) == len(columns):
            predicates = [Span(marked[number], marked[number] + 1)]
        if len(predicates) != 1:
            place.refuse(
                0,
                f"{called} has {len(predicates)} predicates; mark one with (V*)",
            )
        [predicate] = predicates
        if layout.strict and not any(predicate.start <= token < predicate.end for token in marked):
            place.refuse(
                predicate.start,
                f"{called} has its predicate here, where column {layout.marked + 1} has -; "
                "name the predicate there",
            )
        others = [part for part in parts if part[0] != roles.PREDICATE]
        frame = Frame(predicate, roles.join(others))
        fault = roles.find_fault(frame, len(rows))
        if fault is not None:
            place.refuse(predicate.start, f"{called}: {fault}")
        frames.append(frame)
    if layout.strict:
        for token in marked:
            if not any(f.predicate.start <= token < f.predicate.end for f in frames):
                place.refuse(
                    token,
                    f"column {layout.marked + 1} names a predicate here and no column has its "
                    "roles; add one with (V*) in this line, or write -",
                )
    return tuple(frames)


def _read_parts(
    cells: Sequence[str], place: Place, column: str, modern: bool
) -> list[tuple[str, Span]]:
    found = brackets.read_spans(cells, place, column)
    for bracket in found:
        if bracket.depth:
            place.refuse(
                bracket.span.start,
                f"{column} has {bracket.label} inside another bracket; the roles of a frame "
                "share no token: close the other one before, or keep one of them",
            )
    return [(b.label if modern else _as_new(b.label), b.span) for b in found]


def _as_new(label: str) -> str:
    """A0 and AM-TMP of 2005 as ARG0 and ARGM-TMP."""
    return _OLD.sub(r"\1ARG\2\3", label)


def _as_old(label: str) -> str:
    return _NEW.sub(r"\1A\2\3", label)


def render(sentences: Sequence[Sentence], format: str, first: int = 0) -> str:
    """Write sentences as columns, separated by tabs.

    Raises:
        InputError: A sentence holds what columns cannot.
    """
    modern = format == "conll2012"
    written = []
    for number, sentence in enumerate(sentences, start=first):
        rows = _write(sentence, f"sentence {number + 1}", number, modern)
        written += ["\t".join(row) for row in rows] or [EMPTY]
        written.append("")
    return "".join(f"{line}\n" for line in written)


def _write(sentence: Sentence, where: str, number: int, modern: bool) -> list[list[str]]:
    tokens = sentence.tokens
    if tokens is None:
        raise InputError(f"{where} has no tokens; analyse it first, or write jsonl")
    length = len(tokens)
    for token in tokens:
        if _UNHOLDABLE.search(token):
            raise InputError(
                f"{where}: the token {token!r} is empty or has white space that columns cannot "
                "hold; write jsonl"
            )
    pos, tree = _write_tree(sentence, length, where)
    marks, columns = _write_frames(sentence, tokens, where, modern)
    rows = []
    for index, token in enumerate(tokens):
        props = [column[index] for column in columns]
        if not modern:
            rows.append([token, pos[index], tree[index], marks[index], *props])
            continue
        row = [NOTHING, str(number), str(index), token, pos[index], tree[index]]
        if sentence.frames is not None:
            # Senses are not known: PropBank's own word for that is XX.
            mark = marks[index]
            row += [mark, NOTHING if mark == NOTHING else f"{mark}.XX", *props]
        rows.append(row)
    return rows


def _write_tree(sentence: Sentence, length: int, where: str) -> tuple[list[str], list[str]]:
    """The columns of parts of speech and of brackets."""
    tags = [NOTHING] * length
    cells = [NOTHING] * length
    if sentence.tree is not None:
        brackets.check_tree(sentence.tree, length, where)
        cells = brackets.write_tree(sentence.tree, length)
        tags = brackets.leaves(sentence.tree)
    if sentence.pos is None:
        return tags, cells
    if len(sentence.pos) != length:
        raise InputError(
            f"{where}: {len(sentence.pos)} parts of speech, {length} tokens; give one a token"
        )
    if sentence.tree is not None and tags != list(sentence.pos):
        raise InputError(
            f"{where}: the tree has other parts of speech than the sentence; columns hold one a "
            "token: make them agree, or write jsonl"
        )
    if not all(map(brackets.is_label, sentence.pos)) or (
        length and all(tag == NOTHING for tag in sentence.pos)
    ):
        raise InputError(
            f"{where}: a part of speech has white space, a bracket or a star, or all are -; "
            "write jsonl"
        )
    return list(sentence.pos), cells


def _write_frames(
    sentence: Sentence, tokens: Sequence[str], where: str, modern: bool
) -> tuple[list[str], list[list[str]]]:
    """The column that names predicates, and one column of roles a predicate."""
    marks = [NOTHING] * len(tokens)
    columns: list[list[str]] = []
    if sentence.frames is None:
        if not modern and tokens:
            raise InputError(
                f"{where} has no frames known; this layout cannot leave them out: write "
                "conll2012 or jsonl"
            )
        return marks, columns
    for frame in sentence.frames:
        roles.check(frame, len(tokens), where)
        roles.check_parts(frame, where)
        parts = []
        for label, span in roles.split(frame.roles):
            written = label if modern else _as_old(label)
            known = written if modern else _as_new(written)
            if not brackets.is_label(written) or known != label or written == roles.PREDICATE:
                raise InputError(
                    f"{where}: columns cannot hold the role label {label!r}; rename it, or "
                    "write jsonl"
                )
            parts.append((written, span))
        columns.append(
            brackets.write_spans([(roles.PREDICATE, frame.predicate), *parts], len(tokens))
        )
        start = frame.predicate.start
        lemma = tokens[start].lower().replace(INSIDE, "_")
        # A lone hyphen would say that there is no predicate, a star that this is a bracket.
        marks[start] = "hyphen" if lemma == NOTHING else lemma
    return marks, columns
