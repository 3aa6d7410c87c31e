"""From treebank files to arrays: words, tags, constituents, predicates and roles.

Reads the eight-column PropBank layout (document, sentence, token, word, part of speech,
bracket, lemma, roleset, then a column a predicate) and OntoNotes' CoNLL-2012 files (part,
word, tag, bracket, lemma, frameset, sense, speaker, entities, a column a predicate, and
coreference last), told apart by their `#begin` lines.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy

from meantime.analysis.subwords import Subwords

_BRACKET = re.compile(r"\(([^\s()*]+)|(\*)|(\))")


@dataclass(slots=True)
class Example:
    """A sentence as the treebank has it."""

    words: list[str]
    tags: list[str]
    spans: list[tuple[int, int, str]]
    predicates: list[int]
    roles: list[list[tuple[int, int, str]]] = field(default_factory=list)


def read(paths: Iterable[Path]) -> Iterator[Example]:
    """The sentences of treebank files, in order."""
    for path in paths:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8", newline="\n") as file:
            rows: list[list[str]] = []
            ontonotes = False
            for number, line in enumerate(file, 1):
                text = line.rstrip("\n")
                if text.startswith("#begin"):
                    ontonotes = True
                elif text.startswith("#"):
                    continue
                elif text.strip():
                    rows.append(text.split("\t") if "\t" in text else text.split())
                elif rows:
                    yield _example(rows, ontonotes, f"{path}:{number - len(rows)}")
                    rows = []
            if rows:
                yield _example(rows, ontonotes, str(path))


def _example(rows: Sequence[Sequence[str]], ontonotes: bool, place: str) -> Example:
    word, first, last = (3, 11, -1) if ontonotes else (3, 8, None)
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        raise ValueError(f"{place}: rows of different widths; a tab or a column is missing")
    spans = _spans([row[word + 2] for row in rows], place)
    columns = list(zip(*(row[first:last] for row in rows), strict=True)) if width > first else []
    predicates = [n for n, row in enumerate(rows) if row[7] not in ("-", "_")]
    if len(predicates) != len(columns):
        raise ValueError(f"{place}: {len(predicates)} predicates but {len(columns)} role columns")
    roles = [[span for span in _spans(column, place) if span[2] != "V"] for column in columns]
    return Example(
        [row[word] for row in rows],
        [row[word + 1] for row in rows],
        [(start, end, label) for start, end, label in spans if label not in ("TOP", "ROOT")],
        predicates,
        roles,
    )


def _spans(cells: Sequence[str], place: str) -> list[tuple[int, int, str]]:
    """Labelled spans of a bracket column, outer before inner."""
    found: list[tuple[int, int, str]] = []
    stack: list[tuple[int, str, int]] = []
    for n, cell in enumerate(cells):
        for label, _, close in _BRACKET.findall(cell):
            if label:
                stack.append((n, label, len(found)))
                found.append((n, n, label))
            elif close:
                if not stack:
                    raise ValueError(f"{place}: a bracket closes that was never opened")
                start, name, index = stack.pop()
                found[index] = (start, n + 1, name)
    if stack:
        raise ValueError(f"{place}: a bracket is never closed")
    return found


def chains(spans: Sequence[tuple[int, int, str]]) -> dict[tuple[int, int], str]:
    """One label a span: unary chains joined from the top with `+`."""
    joined: dict[tuple[int, int], str] = {}
    for start, end, label in spans:
        key = (start, end)
        joined[key] = f"{joined[key]}+{label}" if key in joined else label
    return joined


@dataclass(slots=True)
class Labels:
    """What each head can say."""

    tags: list[str]
    constituents: list[str]
    roles: list[str]

    @property
    def states(self) -> list[str]:
        """The states of a role sequence: O, then B and I of each role."""
        return ["O", *(f"{mark}-{role}" for role in self.roles for mark in "BI")]


def collect(examples: Sequence[Example], least: int = 2) -> Labels:
    """Labels seen at least this often. The first constituent is "no constituent"."""
    tags = Counter(tag for example in examples for tag in example.tags)
    constituents = Counter(
        label for example in examples for label in chains(example.spans).values()
    )
    roles = Counter(
        label for example in examples for spans in example.roles for _, _, label in spans
    )
    return Labels(
        sorted(tags),
        ["", *sorted(label for label, count in constituents.items() if count >= least)],
        sorted(label for label, count in roles.items() if count >= least),
    )


@dataclass(slots=True)
class Arrays:
    """A data set as numbers, sentence after sentence."""

    pieces: list[numpy.ndarray]  # subword numbers with the two marks around them
    shapes: list[numpy.ndarray]  # the shape of the word of each subword
    firsts: list[numpy.ndarray]  # where each word begins
    tags: list[numpy.ndarray]
    spans: list[numpy.ndarray]  # (start, end, label) rows
    predicates: list[numpy.ndarray]
    roles: list[numpy.ndarray]  # (predicates, words) states

    def __len__(self) -> int:
        return len(self.pieces)


def number(examples: Sequence[Example], labels: Labels, subwords: Subwords) -> Arrays:
    """Turn sentences into arrays; what a label list does not hold becomes "nothing"."""
    tag_of = {tag: n for n, tag in enumerate(labels.tags)}
    constituent_of = {label: n for n, label in enumerate(labels.constituents)}
    state_of = {state: n for n, state in enumerate(labels.states)}
    arrays = Arrays([], [], [], [], [], [], [])
    for example in examples:
        _add_words(arrays, example.words, subwords)
        arrays.tags.append(
            numpy.array([tag_of.get(tag, -100) for tag in example.tags], numpy.int16)
        )
        spans = [
            (start, end, constituent_of.get(label, 0))
            for (start, end), label in chains(example.spans).items()
        ]
        arrays.spans.append(numpy.array(spans, numpy.int16).reshape(-1, 3))
        arrays.predicates.append(numpy.array(example.predicates, numpy.int16))
        states = numpy.zeros((len(example.predicates), len(example.words)), numpy.int16)
        for row, spans_of in zip(states, example.roles, strict=True):
            for start, end, label in spans_of:
                if f"B-{label}" in state_of:
                    row[start:end] = state_of[f"I-{label}"]
                    row[start] = state_of[f"B-{label}"]
        arrays.roles.append(states)
    return arrays


def number_text(sentences: Iterable[list[str]], subwords: Subwords) -> Arrays:
    """Turn bare sentences into arrays."""
    arrays = Arrays([], [], [], [], [], [], [])
    for words in sentences:
        _add_words(arrays, words, subwords)
    return arrays


def _add_words(arrays: Arrays, words: Sequence[str], subwords: Subwords) -> None:
    encoded = subwords.encode(words)
    arrays.pieces.append(numpy.array(encoded.pieces, numpy.int32))
    arrays.shapes.append(numpy.array(encoded.shapes, numpy.int8))
    arrays.firsts.append(numpy.array(encoded.firsts, numpy.int16))


def add_noise(example: Example, rng: numpy.random.Generator) -> Example:
    """The sentence as a machine might spoil it, with the analysis that remains true.

    Drops the mark at the end, drops articles and other small words, repeats a word.
    """
    kept = list(range(len(example.words)))
    if len(kept) > 2 and example.tags[-1] == "." and rng.random() < 0.5:
        kept.pop()
    small = {"DT", "PRP$", "TO", "IN", "POS"}
    if rng.random() < 0.6:
        kept = [
            n
            for n in kept
            if example.tags[n] not in small or n in example.predicates or rng.random() > 0.3
        ]
    if len(kept) > 1 and rng.random() < 0.3:
        place = int(rng.integers(len(kept)))
        if kept[place] not in example.predicates:
            kept.insert(place, kept[place])
    if not kept:
        return example
    return _keep(example, kept)


def spoil(words: list[str], rng: numpy.random.Generator) -> list[str]:
    """Bare words as a machine might spoil them: dropped, repeated, swapped, without an end."""
    kept = [word for word in words if word.lower() not in _SMALL or rng.random() > 0.25]
    if len(kept) > 2 and not kept[-1][0].isalnum() and rng.random() < 0.5:
        kept.pop()
    if len(kept) > 2 and rng.random() < 0.4:
        place = int(rng.integers(len(kept) - 1))
        kept[place], kept[place + 1] = kept[place + 1], kept[place]
    if len(kept) > 1 and rng.random() < 0.3:
        place = int(rng.integers(len(kept)))
        kept.insert(place, kept[place])
    return kept or words


_SMALL = frozenset("a an the of to in for on at by his her its their 's".split())


def _keep(example: Example, kept: Sequence[int]) -> Example:
    """The sentence of these words (in order, some perhaps twice) with its spans moved."""
    origin = numpy.array(kept)

    def move(spans: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
        moved = []
        for start, end, label in spans:
            inside = numpy.flatnonzero((origin >= start) & (origin < end))
            if len(inside):
                moved.append((int(inside[0]), int(inside[-1]) + 1, label))
        return moved

    where = {old: new for new, old in reversed(list(enumerate(kept)))}
    pairs = [
        (where[predicate], move(spans))
        for predicate, spans in zip(example.predicates, example.roles, strict=True)
        if predicate in where
    ]
    spans = []
    seen: set[tuple[int, int, str]] = set()
    for span in move(example.spans):
        # Words that went may leave a constituent equal to the one around it.
        if span not in seen:
            seen.add(span)
            spans.append(span)
    return Example(
        [example.words[n] for n in kept],
        [example.tags[n] for n in kept],
        spans,
        [predicate for predicate, _ in pairs],
        [roles for _, roles in pairs],
    )


def pack(arrays: Arrays) -> dict[str, numpy.ndarray]:
    """Everything end to end, for one compressed file."""
    packed = {
        "lengths": numpy.array([len(pieces) for pieces in arrays.pieces], numpy.int32),
        "pieces": numpy.concatenate(arrays.pieces).astype(numpy.uint16),
        "shapes": numpy.concatenate(arrays.shapes),
        "words": numpy.array([len(firsts) for firsts in arrays.firsts], numpy.int32),
        "firsts": numpy.concatenate(arrays.firsts),
    }
    if arrays.tags:
        packed |= {
            "tags": numpy.concatenate(arrays.tags),
            "span_counts": numpy.array([len(spans) for spans in arrays.spans], numpy.int32),
            "spans": numpy.concatenate(arrays.spans),
            "predicate_counts": numpy.array([len(p) for p in arrays.predicates], numpy.int32),
            "predicates": numpy.concatenate(arrays.predicates),
            "roles": numpy.concatenate([states.ravel() for states in arrays.roles]),
        }
    return packed


def unpack(packed: dict[str, numpy.ndarray]) -> Arrays:
    """Undo `pack`."""

    def cut(values: numpy.ndarray, lengths: numpy.ndarray) -> list[numpy.ndarray]:
        return numpy.split(values, numpy.cumsum(lengths)[:-1])

    arrays = Arrays(
        [pieces.astype(numpy.int32) for pieces in cut(packed["pieces"], packed["lengths"])],
        cut(packed["shapes"], packed["lengths"]),
        cut(packed["firsts"], packed["words"]),
        [], [], [], [],
    )  # fmt: skip
    if "tags" in packed:
        arrays.tags = cut(packed["tags"], packed["words"])
        arrays.spans = cut(packed["spans"], packed["span_counts"])
        arrays.predicates = cut(packed["predicates"], packed["predicate_counts"])
        sizes = packed["predicate_counts"] * packed["words"]
        arrays.roles = [
            states.reshape(-1, words)
            for states, words in zip(cut(packed["roles"], sizes), packed["words"], strict=True)
        ]
    return arrays
