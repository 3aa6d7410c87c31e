"""Sources of word similarity and ways from words to phrases: how fast, and what they tell apart.

    python benchmarks/similarity.py [--only speed|order] [--pairs N] [--json FILE]

Order: `similarity.tsv` holds pairs of words and of phrases that mean the same (synonym), have to
do with each other (related), are alike but for what matters (opposite), or have nothing in common
(unrelated). Of each source, and of each method on one source: the mean similarity of each kind,
and how often a pair of one kind is above a pair of another, over all such pairs of pairs (ties
count one half). Synonyms should be above all others, related pairs above unrelated ones.
Opposites are the trap: they stand in the same company as each other.

Speed: sentence pairs of WMT15 where ../shared is there, the shipped example otherwise, analysed
beforehand. Sources: word pairs and sentence pairs a second, one core. Methods: all fillers of a
hypothesis with all of its reference's. Turns are taken in alternation and the fastest counts;
kernels are compiled, and pairs of words that a source remembers looked up, before the first.
Also how the cost of the bracketing grammar grows with the length of the phrases, exact and
bounded, and how much of the exact value the bounds keep.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from meantime.analysis import open_analyser
from meantime.errors import MeantimeError
from meantime.matching import itg, phrases
from meantime.protocols import Similarity
from meantime.similarity import open_similarity
from meantime.types import Sentence

HERE = Path(__file__).resolve().parent
WMT15 = HERE.parents[1] / "shared" / "data" / "wmt" / "wmt15-da-toen.tsv.gz"
EXAMPLES = HERE.parent / "examples"
KINDS = ("synonym", "related", "opposite", "unrelated")
ABOVE = (
    ("synonym", "related"),
    ("synonym", "opposite"),
    ("synonym", "unrelated"),
    ("related", "unrelated"),
)
SPECIFICATIONS = (
    "exact",
    "stem",
    "characters",
    "context:cosine",
    "context:mutual-information",
    "context:jensen-shannon",
    "context:dice",
    "context:jaccard",
    "context:jaccard?characters:2",
    "vectors",
    "occurrences",
    "vectors*0.7+characters*0.3",
)
FLOOR = 0.01
NULL = 0.1
METHODS_ON = "vectors"
"""The source whose similarities the methods get."""
TURNS = 5

Matrix = NDArray[numpy.float64]
Layout = tuple[Matrix, Any, Any, Any, Any]
Method = Callable[[Layout], Matrix]


def _five(method: int) -> Method:
    def compare(layout: Layout) -> Matrix:
        rows, columns = layout[0].shape
        return phrases.phrase_matrix(
            *layout,
            row_weights=numpy.ones(rows),
            column_weights=numpy.ones(columns),
            method=method,
            floor=FLOOR,
        )

    return compare


def _grammar(method: int, null_weight: float) -> Method:
    return lambda layout: itg.itg_matrix(*layout, method=method, null_weight=null_weight)


METHODS: dict[str, Method] = {
    "arithmetic": _five(phrases.ARITHMETIC),
    f"geometric, floor {FLOOR:g}": _five(phrases.GEOMETRIC),
    "competitive linking": _five(phrases.LINKING),
    "Mihalcea": _five(phrases.MIHALCEA),
    "best match": _five(phrases.BEST_MATCH),
    "itg best, no null": _grammar(itg.BEST, 0.0),
    f"itg best, null {NULL:g}": _grammar(itg.BEST, NULL),
    "itg inside, no null": _grammar(itg.INSIDE, 0.0),
    f"itg inside, null {NULL:g}": _grammar(itg.INSIDE, NULL),
}


def sources(console: Console) -> dict[str, Similarity]:
    """Those that can be opened here."""
    found = {}
    for specification in SPECIFICATIONS:
        try:
            found[specification] = open_similarity(specification)
        except (MeantimeError, ModuleNotFoundError) as error:
            console.print(f"left out {specification}: {error}")
    return found


# Order


def read_list() -> list[dict[str, str]]:
    lines = (HERE / "similarity.tsv").read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(lines[1:], delimiter="\t", quoting=csv.QUOTE_NONE)
    return list(rows)


def whole(matrix: Matrix) -> Layout:
    """All rows as one phrase, all columns as another."""
    rows, columns = matrix.shape
    return (
        numpy.ascontiguousarray(matrix),
        numpy.array([0, rows]),
        numpy.arange(rows),
        numpy.array([0, columns]),
        numpy.arange(columns),
    )


def share_above(higher: Sequence[float], lower: Sequence[float]) -> float:
    """How often the first is above the second; ties count one half."""
    a, b = numpy.array(higher)[:, None], numpy.array(lower)[None, :]
    # Equal but for rounding is equal.
    return float(((a > b + 1e-9) + 0.5 * (abs(a - b) <= 1e-9)).mean())


def order(console: Console, opened: dict[str, Similarity]) -> list[dict[str, Any]]:
    rows = read_list()
    analyser = open_analyser()
    texts = [Sentence(row[side]) for row in rows for side in ("left", "right")]
    analysed = analyser.analyse(texts)
    pairs = list(zip(analysed[::2], analysed[1::2], strict=True))
    results = []
    for unit, title, specifications, methods in (
        ("word", "words", tuple(opened), ("best match",)),
        ("phrase", "phrases, best match", tuple(opened), ("best match",)),
        ("phrase", f"phrases, {METHODS_ON}", (METHODS_ON,), tuple(METHODS)),
    ):
        table = Table(title=f"{title}: mean similarity, and share of pairs in the right order")
        table.add_column("method" if len(methods) > 1 else "source")
        for column in (*KINDS, *(f"{one} > {other}" for one, other in ABOVE)):
            table.add_column(column, justify="right")
        chosen = [n for n, row in enumerate(rows) if row["unit"] == unit]
        for specification in specifications:
            matrices = open_similarity(specification).matrices([pairs[n] for n in chosen])
            for method in methods:
                by_kind: dict[str, list[float]] = {kind: [] for kind in KINDS}
                for n, matrix in zip(chosen, matrices, strict=True):
                    by_kind[rows[n]["kind"]].append(float(METHODS[method](whole(matrix))[0, 0]))
                means = {kind: float(numpy.mean(by_kind[kind])) for kind in KINDS}
                shares = {
                    f"{one} > {other}": share_above(by_kind[one], by_kind[other])
                    for one, other in ABOVE
                }
                results.append(
                    {"unit": unit, "source": specification, "method": method, **means, **shares}
                )
                table.add_row(
                    method if len(methods) > 1 else specification,
                    *(f"{value:.3f}" for value in means.values()),
                    *(f"{value:.2f}" for value in shares.values()),
                )
        console.print(table)
    return results


# Speed


def load(count: int) -> tuple[str, list[tuple[Sentence, Sentence]]]:
    """Analysed (hypothesis, reference) pairs, and where they are from."""
    if WMT15.is_file():
        with gzip.open(WMT15, "rt", encoding="utf-8", newline="\n") as file:
            rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            texts = [(row["hyp"], row["ref"]) for row in rows][:: max(1, 2000 // count)][:count]
        name = "WMT15 into English"
    else:
        references = (EXAMPLES / "reference.txt").read_text(encoding="utf-8").split("\n")[:-1]
        texts = []
        for system in ("faithful", "fluent", "literal"):
            lines = (EXAMPLES / f"{system}.txt").read_text(encoding="utf-8").split("\n")[:-1]
            texts += list(zip(lines, references, strict=True))
        name = "the shipped example (no ../shared/data here)"
    analysed = open_analyser().analyse([Sentence(text) for pair in texts for text in pair])
    return name, list(zip(analysed[::2], analysed[1::2], strict=True))


def fillers(sentence: Sentence) -> list[list[int]]:
    return [
        [token for span in role.spans for token in range(span.start, span.end)]
        for frame in sentence.frames or ()
        for role in frame.roles
    ]


def lay_out(matrix: Matrix, left: list[list[int]], right: list[list[int]]) -> Layout:
    parts: list[Any] = [numpy.ascontiguousarray(matrix)]
    for side in (left, right):
        parts.append(numpy.cumsum([0, *map(len, side)]))
        parts.append(numpy.array([token for one in side for token in one], dtype=numpy.int64))
    return tuple(parts)  # type: ignore[return-value]


def fastest(turns: dict[str, Callable[[], object]], times: int = TURNS) -> dict[str, float]:
    """Seconds of the fastest turn of each, turns taken in alternation."""
    found = dict.fromkeys(turns, math.inf)
    for turn in turns.values():
        turn()
    for _ in range(times):
        for name, turn in turns.items():
            begin = time.process_time()
            turn()
            found[name] = min(found[name], time.process_time() - begin)
    return found


def speed(console: Console, opened: dict[str, Similarity], count: int) -> dict[str, Any]:
    name, pairs = load(count)
    words = sum(len(a.tokens or ()) * len(b.tokens or ()) for a, b in pairs)
    console.print(f"{len(pairs)} sentence pairs, {words / len(pairs):.0f} word pairs each: {name}")
    batches = [pairs[n : n + 256] for n in range(0, len(pairs), 256)]

    def all_of(source: Similarity) -> Callable[[], object]:
        return lambda: [source.matrices(batch) for batch in batches]

    results: dict[str, Any] = {}
    table = Table(title="sources, one core")
    for column in ("source", "word pairs a second", "sentence pairs a second", "µs a pair"):
        table.add_column(column, justify="left" if column == "source" else "right")
    for source, seconds in fastest({one: all_of(made) for one, made in opened.items()}).items():
        results[source] = seconds / len(pairs)
        table.add_row(
            source,
            f"{words / seconds:,.0f}",
            f"{len(pairs) / seconds:,.0f}",
            f"{seconds / len(pairs) * 1e6:.0f}",
        )
    console.print(table)
    matrices = open_similarity("occurrences").matrices(pairs)
    layouts = [
        lay_out(matrix, fillers(a), fillers(b))
        for matrix, (a, b) in zip(matrices, pairs, strict=True)
    ]
    compared = sum((one[1].size - 1) * (one[3].size - 1) for one in layouts)
    table = Table(title=f"methods: all {compared / len(pairs):.0f} filler pairs of a sentence pair")
    for column in ("method", "sentence pairs a second", "µs a pair"):
        table.add_column(column, justify="left" if column == "method" else "right")

    def each(method: Method) -> Callable[[], object]:
        return lambda: [method(layout) for layout in layouts]

    for method, seconds in fastest({one: each(made) for one, made in METHODS.items()}).items():
        results[method] = seconds / len(pairs)
        table.add_row(method, f"{len(pairs) / seconds:,.0f}", f"{seconds / len(pairs) * 1e6:.1f}")
    console.print(table)
    results["growth"] = growth(console)
    return results


def growth(console: Console) -> list[dict[str, float]]:
    """The cost of one pair of phrases, by their length."""
    chance = numpy.random.default_rng(7)
    table = Table(title=f"one pair of phrases of n tokens each, null weight {NULL:g}, milliseconds")
    columns = ("n", "best match", "best, exact", "best, bounded", "kept", "inside, exact")
    for column in (*columns, "inside, bounded", "kept"):
        table.add_column(column, justify="right")
    rows = []
    for size in (5, 10, 15, 20, 30, 40):
        matrix = chance.random((size, size)) * 0.4
        for i in range(size):
            if chance.random() < 0.7:
                matrix[i, min(size - 1, max(0, i + chance.integers(-2, 3)))] = chance.random()
        layout = whole(matrix)
        turns: dict[str, Callable[[], object]] = {}
        values = {}
        for kind, method in (("best", itg.BEST), ("inside", itg.INSIDE)):
            for limit in (math.inf, 0.0):
                turn = partial(
                    itg.itg_matrix, *layout, method=method, null_weight=NULL, limit=limit
                )
                exact = limit > 0
                turns[f"{kind}, {'exact' if exact else 'bounded'}"] = turn
                values[kind, exact] = float(turn()[0, 0])
        turns["best match"] = partial(METHODS["best match"], layout)
        seconds = fastest(turns, 3)
        milliseconds = {one: value * 1e3 for one, value in seconds.items()}
        ratios = {kind: values[kind, False] / values[kind, True] for kind in ("best", "inside")}
        rows.append({"n": size, **milliseconds, "best kept": ratios["best"],
                     "inside kept": ratios["inside"]})  # fmt: skip
        table.add_row(
            str(size),
            *(f"{milliseconds[one]:.3f}" for one in columns[1:4]),
            f"{ratios['best']:.3f}",
            f"{milliseconds['inside, exact']:.3f}",
            f"{milliseconds['inside, bounded']:.3f}",
            f"{ratios['inside']:.3f}",
        )
    console.print(table)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("speed", "order"), help="one half of it")
    parser.add_argument("--pairs", type=int, default=500, help="sentence pairs to time")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    arguments = parser.parse_args()
    console = Console(width=170)
    opened = sources(console)
    results: dict[str, Any] = {}
    if arguments.only != "speed":
        results["order"] = order(console, opened)
    if arguments.only != "order":
        results["speed"] = speed(console, opened, max(1, arguments.pairs))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
