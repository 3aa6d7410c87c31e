"""From prepared material to arrays: groups of renderings of one segment, and orders among them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from meantime.learned.encoding import Pieces, Text, measure_surface
from training.metric.model import SURFACE, TARGETS

Floats = NDArray[numpy.float32]
MOST = 220
"""Pairs of more pieces are left out of training."""


@dataclass(slots=True)
class Group:
    """Renderings of one segment, all against one reference.

    `score` and `others` are NaN where nothing is known. `orders` are pairs of renderings, the
    better one first, and by how much at least it should be.
    """

    reference: str
    texts: list[str]
    score: list[float]
    others: list[list[float]]
    orders: list[tuple[int, int, float]]
    pieces: list[tuple[int, ...]] = field(default_factory=list)
    """Of the reference and of each rendering."""
    surface: Floats = field(default_factory=lambda: numpy.zeros((0, SURFACE), numpy.float32))

    @property
    def length(self) -> int:
        """Of the longest pair, with marks."""
        return len(self.pieces[0]) + max(len(one) for one in self.pieces[1:])


def encode(groups: Sequence[Group], pieces: Pieces) -> list[Group]:
    """Fill in pieces and surface; groups that are too long are left out."""
    found = []
    for at in range(0, len(groups), 500):
        some = groups[at : at + 500]
        texts = list({t for g in some for t in (g.reference, *g.texts)})
        known: dict[str, Text] = dict(zip(texts, pieces.split(texts), strict=True))
        pairs = [(known[t], known[g.reference]) for g in some for t in g.texts]
        surface = measure_surface(pairs).astype(numpy.float32)
        start = 0
        for group in some:
            n = len(group.texts)
            group.surface = surface[start : start + n]
            start += n
            start_mark, end_mark = pieces.marks
            group.pieces = [
                (start_mark, *known[text].pieces, end_mark)
                for text in (group.reference, *group.texts)
            ]
            if group.length <= MOST:
                found.append(group)
    return found


@dataclass(frozen=True, slots=True)
class Batch:
    """Renderings of several groups, filled up to one length."""

    texts: NDArray[numpy.int64]
    index: NDArray[numpy.int64]
    side: NDArray[numpy.int64]
    surface: Floats
    score: Floats
    others: Floats
    better: NDArray[numpy.int64]
    worse: NDArray[numpy.int64]
    margin: Floats


def collate(groups: Sequence[Group]) -> Batch:
    """One batch of these groups."""
    every = [one for group in groups for one in group.pieces]
    longest = max(len(one) for one in every)
    texts = numpy.zeros((len(every), longest), numpy.int64)
    for n, one in enumerate(every):
        texts[n, : len(one)] = one
    size = max(group.length for group in groups)
    rows = sum(len(group.texts) for group in groups)
    index = numpy.full((rows, size), -1, numpy.int64)
    side = numpy.full((rows, size), 3, numpy.int64)
    row = first = 0
    for group in groups:
        reference = len(group.pieces[0])
        for n in range(1, len(group.pieces)):
            own = len(group.pieces[n])
            both = own + reference
            index[row, :own] = (first + n) * longest + numpy.arange(own)
            index[row, own:both] = first * longest + numpy.arange(reference)
            side[row, :own] = 0
            side[row, own:both] = 1
            side[row, [0, own - 1]] = 2
            side[row, [own, both - 1]] = 3
            row += 1
        first += len(group.pieces)
    better, worse, margin = [], [], []
    start = 0
    for group in groups:
        for one, other, by in group.orders:
            better.append(start + one)
            worse.append(start + other)
            margin.append(by)
        start += len(group.texts)
    return Batch(
        texts,
        index,
        side,
        numpy.concatenate([group.surface for group in groups]),
        numpy.array([x for group in groups for x in group.score], numpy.float32),
        numpy.array([x for group in groups for x in group.others], numpy.float32),
        numpy.array(better, numpy.int64),
        numpy.array(worse, numpy.int64),
        numpy.array(margin, numpy.float32),
    )


def batches(
    groups: Sequence[Group], size: int, rng: numpy.random.Generator
) -> Iterator[list[Group]]:
    """All groups once, in random order, those of about one length together."""
    order = rng.permutation(len(groups))
    for at in range(0, len(order), 4000):
        pool = sorted(order[at : at + 4000], key=lambda n: groups[n].length)
        cut: list[list[int]] = [[]]
        rows = longest = 0
        for n in pool:
            more = len(groups[n].texts)
            longest = max(longest, groups[n].length)
            if cut[-1] and (rows + more) * longest > size:
                cut.append([])
                rows, longest = 0, groups[n].length
            cut[-1].append(n)
            rows += more
        for place in rng.permutation(len(cut)):
            yield [groups[n] for n in cut[place]]


# What the first training learns from


NAN = float("nan")
UNKNOWN = [NAN] * len(TARGETS)


def read_material(folder: Path, parts: Iterable[int] | None = None) -> list[dict[str, Any]]:
    """The prepared segments."""
    paths = sorted(folder.glob("part-*.jsonl"))
    return [
        json.loads(line)
        for path in paths
        if parts is None or int(path.stem.split("-")[1]) in parts
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and spread of each target, and of what the score is made of."""

    mean: Floats
    deviation: Floats


def targets(segment: dict[str, Any]) -> list[list[float]]:
    """What is known of each hypothesis, in the order of `TARGETS`."""
    found = []
    for one in segment["hypotheses"]:
        parts = one["parts"]
        score = one["score"] if one["score"] is not None else NAN
        found.append([*parts[:3], *parts[4:10], *one["consensus"], score])
    return found


def measure_spread(segments: Sequence[dict[str, Any]]) -> Spread:
    values = numpy.array([row for segment in segments for row in targets(segment)], numpy.float64)
    return Spread(
        numpy.nanmean(values, 0).astype(numpy.float32),
        numpy.maximum(numpy.nanstd(values, 0), 1e-3).astype(numpy.float32),
    )


def build(
    segments: Sequence[dict[str, Any]], spread: Spread, rng: numpy.random.Generator
) -> list[Group]:
    """Groups of machine translations, damaged copies and things that are no translations."""
    found = []
    for place, segment in enumerate(segments):
        texts = [one["text"] for one in segment["hypotheses"]]
        raw = numpy.array(targets(segment), numpy.float32)
        values = (raw - spread.mean) / spread.deviation
        # The score of a machine translation: near the reference, and near what others wrote.
        known = numpy.where(numpy.isnan(values[:, 9]), values[:, 0], values[:, 9])
        score = (0.5 * values[:, 0] + 0.5 * known).tolist()
        others = [row.tolist() for row in values]
        orders: list[tuple[int, int, float]] = []
        by_score = numpy.argsort(score)
        for one in segment["damaged"]:
            texts.append(one["text"])
            others.append(UNKNOWN)
            score.append(NAN)
            if one["of"] >= 0:
                orders.append((one["of"], len(texts) - 1, 0.6))
            else:
                # A damaged reference looks perfect; good translations are better all the same.
                best = int(by_score[-1])
                orders.append((best, len(texts) - 1, 0.2 if score[best] > 0 else 0.0))
        if rng.random() < 0.6:
            spoilt = _spoil(segment["reference"], texts[: len(raw)], segments, place, rng)
            if spoilt is not None:
                texts.append(spoilt)
                others.append(UNKNOWN)
                score.append(NAN)
                orders.append((int(by_score[len(by_score) // 2]), len(texts) - 1, 1.0))
                orders.append((int(by_score[0]), len(texts) - 1, 0.3))
        if rng.random() < 0.1:
            # The reference itself is best.
            texts.append(segment["reference"])
            others.append(UNKNOWN)
            score.append(NAN)
            orders.append((len(texts) - 1, int(by_score[-1]), 0.0))
            orders += [(len(texts) - 1, len(raw) + n, 0.8) for n in range(len(segment["damaged"]))]
        found.append(Group(segment["reference"], texts, score, others, orders))
    return found


def _spoil(
    reference: str,
    hypotheses: Sequence[str],
    segments: Sequence[dict[str, Any]],
    place: int,
    rng: numpy.random.Generator,
) -> str | None:
    """Something that is no translation, or a bad one."""
    words = reference.split() if rng.random() < 0.5 else str(rng.choice(hypotheses)).split()
    n = len(words)
    if n < 4:
        return None
    kind = int(rng.integers(0, 7))
    if kind == 0:
        return " ".join(words[int(k)] for k in rng.permutation(n))
    if kind == 1:
        # Shuffled a little: every word moves by up to three places.
        order = numpy.argsort(numpy.arange(n) + rng.uniform(0, 4, n))
        return " ".join(words[int(k)] for k in order)
    if kind == 2:
        start, size = int(rng.integers(0, n - 3)), int(rng.integers(1, 4))
        loop = words[start : start + size]
        return " ".join(loop[k % size] for k in range(n))
    if kind == 3:
        other = segments[(place + int(rng.integers(1, len(segments)))) % len(segments)]
        return str(other["hypotheses"][0]["text"])
    if kind == 4:
        return " ".join(words[: max(1, int(n * rng.uniform(0.3, 0.7)))])
    if kind == 5:
        kept = [word for word in words if len(word) <= 3]
        return " ".join(kept) if kept and len(kept) < n else None
    kept = [word for word in words if rng.random() > 0.25]
    return " ".join(kept) if kept and len(kept) < n else None
