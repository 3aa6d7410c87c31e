"""Everything the metric learns from and is chosen by, in one file of plain arrays.

Texts are in pieces already and surfaces are counted, so that training needs torch and numpy alone
and may run on another machine. A group is one reference with renderings of it, a row a rendering:

    wild    machine translations, copies with an error of meaning, and what is no translation
    judged  the judgements of 2015 and 2016, with damaged copies
    sample  MQM of 2020, to choose by
    darr    preferences of 2019, to choose by

Orders say which of two rows of a group is better, and by how much at least.
"""

from __future__ import annotations

import collections
import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy

from meantime.learned.encoding import Pieces, Text, measure_surface
from training.metric.data import NOISY, read_rows
from training.metric.harmless import retouch
from training.metric.layout import (
    COPY,
    DAMAGED,
    DAMAGED_REFERENCE,
    HARMLESS,
    LONGEST,
    MACHINE,
    SETS,
    SPOILT,
    pack_surface,
)

NAN = float("nan")
GOOD = 0.8
"""A judged translation so many standard deviations above the mean is a good one."""
PSEUDO = 3
"""Other systems' outputs beside which each machine translation is laid."""
EVERY = 6
"""One of so many preferences of 2019 is kept: they are many."""
MARKS = (0, 100, 101, 102, 103)


@dataclass(slots=True)
class Group:
    """Renderings of one segment, all against one reference."""

    kind: int
    source: str
    reference: str
    texts: list[str] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    score: list[float] = field(default_factory=list)
    judges: list[int] = field(default_factory=list)
    system: list[str] = field(default_factory=list)
    orders: list[tuple[int, int, float]] = field(default_factory=list)

    def add(
        self, text: str, kind: int, score: float = NAN, judges: int = 0, system: str = ""
    ) -> int:
        """Add a rendering; its place."""
        self.texts.append(text)
        self.kinds.append(kind)
        self.score.append(score)
        self.judges.append(judges)
        self.system.append(system)
        return len(self.texts) - 1


# Groups


def wild_groups(material: Path, pieces: Pieces, rng: numpy.random.Generator) -> list[Group]:
    """The prepared segments, with their damaged copies and things that are no translations."""
    found = []
    sources = _source_texts()
    for path in sorted(material.glob("part-*.jsonl")):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        near = _nearness(lines, pieces)
        for place, line in enumerate(lines):
            group = Group(SETS.index("wild"), line["source"], line["reference"])
            for one in line["hypotheses"]:
                score = NAN if one["score"] is None else one["score"]
                group.add(one["text"], MACHINE, score, one["judges"], one["system"])
            count = len(group.texts)
            ranked = numpy.argsort(near[place])
            for one in line["damaged"]:
                if one["of"] >= 0:
                    new = group.add(one["text"], DAMAGED)
                    group.orders.append((one["of"], new, 0.6))
                else:
                    # A damaged reference looks perfect; good translations are better all the same.
                    new = group.add(one["text"], DAMAGED_REFERENCE)
                    best = ranked[count - max(1, count // 3) :]
                    group.orders += [(int(n), new, 0.1) for n in best]
            texts = group.texts[:count]
            untranslated = sources.get((line["source"], line["segment"]))
            other = lines[(place + int(rng.integers(1, len(lines)))) % len(lines)]
            bad = _spoil(line["reference"], texts, other["hypotheses"][0]["text"], rng)
            if untranslated and rng.random() < 0.15:
                bad = untranslated
            if bad is not None and rng.random() < 0.7:
                new = group.add(bad, SPOILT)
                group.orders.append((int(ranked[count // 2]), new, 1.0))
                group.orders.append((int(ranked[0]), new, 0.3))
            _add_faithful(group, line["reference"], ranked, rng)
            found.append(group)
    return found


def _add_faithful(
    group: Group, reference: str, ranked: numpy.ndarray, rng: numpy.random.Generator
) -> None:
    """What looks like the reference and says the same is better than what does not say it."""
    damaged = [n for n, kind in enumerate(group.kinds) if kind == DAMAGED_REFERENCE]
    made = [(retouch(reference, rng), HARMLESS) for _ in range(2)]
    if rng.random() < 0.15:
        made.append((reference, COPY))
    for text, kind in dict.fromkeys(made):
        if text is None:
            continue
        new = group.add(text, kind)
        group.orders += [(new, n, 0.8) for n in damaged]
        group.orders.append((new, int(ranked[-1]), 0.0))
        group.orders.append((new, int(ranked[len(ranked) // 2]), 0.2))
    for of, kind in enumerate(group.kinds[: len(ranked)]):
        if kind == MACHINE and rng.random() < 0.1:
            # A translation retouched is as good: better than its damaged copies.
            text = retouch(group.texts[of], rng)
            worse = [b for a, b, _ in group.orders if a == of and group.kinds[b] == DAMAGED]
            if text is not None and worse:
                new = group.add(text, HARMLESS)
                group.orders += [(new, n, 0.6) for n in worse]


def _nearness(lines: Sequence[dict[str, Any]], pieces: Pieces) -> list[numpy.ndarray]:
    """How near each machine translation of some segments is to the reference, by characters."""
    texts = [t for line in lines for t in [line["reference"], *_texts(line)]]
    split = iter(pieces.split(texts))
    pairs, sizes = [], []
    for line in lines:
        reference = next(split)
        pairs += [(next(split), reference) for _ in line["hypotheses"]]
        sizes.append(len(line["hypotheses"]))
    surface = measure_surface(pairs)
    score = surface[:, :2].sum(1)
    return numpy.split(score, numpy.cumsum(sizes)[:-1])


def _texts(line: dict[str, Any]) -> list[str]:
    return [str(one["text"]) for one in line["hypotheses"]]


def _source_texts() -> dict[tuple[str, str], str]:
    """What was to be translated, where the files have it; for "not translated at all"."""
    return {
        (f"{name.removesuffix('-da-toen')}/{row['lp']}", row["seg"]): row["src"]
        for name in NOISY
        for row in read_rows(name)
        if row.get("src")
    }


def _spoil(
    reference: str, hypotheses: Sequence[str], stranger: str, rng: numpy.random.Generator
) -> str | None:
    """Something that is no translation, or a bad one."""
    words = reference.split() if rng.random() < 0.5 else str(rng.choice(hypotheses)).split()
    n = len(words)
    if n < 4:
        return None

    def shuffled() -> str:
        return " ".join(words[int(k)] for k in rng.permutation(n))

    def shaken() -> str:
        # Every word moves by up to three places.
        order = numpy.argsort(numpy.arange(n) + rng.uniform(0, 4, n))
        return " ".join(words[int(k)] for k in order)

    def looped() -> str:
        start, size = int(rng.integers(0, n - 3)), int(rng.integers(1, 4))
        loop = words[start : start + size]
        return " ".join(loop[k % size] for k in range(n))

    def cut() -> str:
        return " ".join(words[: max(1, int(n * rng.uniform(0.3, 0.7)))])

    def short_words() -> str:
        return " ".join(word for word in words if len(word) <= 3)

    def thinned() -> str:
        return " ".join(word for word in words if rng.random() > 0.25)

    ways: list[Callable[[], str]] = [
        shuffled, shaken, looped, lambda: stranger, cut, short_words, thinned
    ]  # fmt: skip
    made = ways[int(rng.integers(len(ways)))]()
    return made if made and made != " ".join(words) else None


def judged_groups(material: Path) -> list[Group]:
    """The judged translations; their scores have one mean and spread a language pair."""
    path = material / "judged.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    by_source = collections.defaultdict(list)
    for line in lines:
        by_source[line["source"]].append(line["score"])
    spread = {name: (numpy.mean(some), numpy.std(some)) for name, some in by_source.items()}
    found = []
    for line in lines:
        mean, deviation = spread[line["source"]]
        score = float((line["score"] - mean) / deviation)
        group = Group(SETS.index("judged"), line["source"], line["reference"])
        group.add(line["hypothesis"], MACHINE, score, 15)
        references = 0
        for one in line["damaged"]:
            if one["of"] == 0:
                group.orders.append((0, group.add(one["text"], DAMAGED), 0.3))
            elif score > GOOD and references < 2:
                references += 1
                group.orders.append((0, group.add(one["text"], DAMAGED_REFERENCE), 0.1))
        found.append(group)
    return found


def sample_groups() -> list[Group]:
    """MQM of 2020."""
    by_segment: dict[str, Group] = {}
    for row in read_rows("wmt20-news-zhen-mqm-sample"):
        if row["is_human"] != "1":
            new = Group(SETS.index("sample"), "wmt20/zh-en", row["ref"])
            group = by_segment.setdefault(row["seg"], new)
            group.add(row["hyp"], MACHINE, float(row["score"]), 3, row["system"])
    return list(by_segment.values())


def darr_groups() -> list[Group]:
    """Preferences of 2019: the better rendering, then the worse."""
    found = []
    for row in list(read_rows("wmt19-darr-toen"))[::EVERY]:
        group = Group(SETS.index("darr"), f"wmt19/{row['lp']}", row["ref"])
        group.add(row["better"], MACHINE, 1.0, 1)
        group.add(row["worse"], MACHINE, 0.0, 1)
        found.append(group)
    return found


# Arrays


class Texts:
    """Every text once, in pieces."""

    def __init__(self, pieces: Pieces) -> None:
        self.pieces = pieces
        self.number: dict[str, int] = {}
        self.split: list[Text] = []

    def add(self, texts: Sequence[str]) -> None:
        new = [one for one in dict.fromkeys(texts) if one not in self.number]
        for text, split in zip(new, self.pieces.split(new), strict=True):
            self.number[text] = len(self.split)
            self.split.append(split)

    def fits(self, text: str) -> bool:
        return 0 < len(self.split[self.number[text]].pieces) <= LONGEST

    def surface(self, pairs: Sequence[tuple[str, str]]) -> numpy.ndarray:
        found = [
            measure_surface(
                [
                    (self.split[self.number[a]], self.split[self.number[b]])
                    for a, b in pairs[at : at + 2000]
                ]
            )
            for at in range(0, len(pairs), 2000)
        ]
        return pack_surface(numpy.concatenate(found))


def measure_rarity(references: Sequence[Text], size: int) -> numpy.ndarray:
    """What each piece weighs: the rarer it is in references, the more; marks nothing."""
    counts = collections.Counter(piece for text in references for piece in set(text.pieces))
    n = len(references)
    rarity = numpy.full(size, math.log(n + 1))
    for piece, count in counts.items():
        rarity[piece] = math.log((n + 1) / (count + 0.5))
    rarity = numpy.maximum(rarity / rarity.max(), 0.05)
    rarity[list(MARKS)] = 0
    return rarity.astype(numpy.float32)


def pack(material: Path, tokenizer: Path, out: Path, seed: int = 5) -> None:
    """Write the one file."""
    rng = numpy.random.default_rng(seed)
    pieces = Pieces(tokenizer)
    groups = [
        *wild_groups(material, pieces, rng), *judged_groups(material),
        *sample_groups(), *darr_groups(),
    ]  # fmt: skip
    texts = Texts(pieces)
    for at in range(0, len(groups), 500):
        some = groups[at : at + 500]
        texts.add([text for group in some for text in (group.reference, *group.texts)])
    groups = [
        group for group in groups
        if texts.fits(group.reference) and all(texts.fits(text) for text in group.texts)
    ]  # fmt: skip
    arrays = _lay_out(groups, texts, rng)
    wild = [group for group in groups if group.kind == 0]
    arrays["rarity"] = measure_rarity(
        [texts.split[texts.number[group.reference]] for group in wild], 30522
    )
    hidden = out.with_name(out.name + ".tmp.npz")
    numpy.savez_compressed(hidden, **arrays)
    os.replace(hidden, out)
    told = collections.Counter(SETS[group.kind] for group in groups)
    print(f"{out}: {dict(told)} groups, {len(arrays['row_text'])} renderings, "
          f"{len(texts.split)} texts, {out.stat().st_size / 1e6:.1f} MB")  # fmt: skip


def _lay_out(groups: Sequence[Group], texts: Texts, rng: numpy.random.Generator) -> dict[str, Any]:
    number = texts.number
    sources = sorted({group.source for group in groups})
    systems = sorted({f"{group.source} {one}" for group in groups for one in group.system})
    named = {name: n for n, name in enumerate(systems)}
    starts = numpy.cumsum([0] + [len(group.texts) for group in groups])
    rows = [(group, text) for group in groups for text in group.texts]
    pseudo = []
    for group, start in zip(groups, starts[:-1].tolist(), strict=True):
        if group.kind:
            continue
        machine = [n for n, kind in enumerate(group.kinds) if kind == MACHINE]
        for n in machine:
            others = [k for k in machine if group.texts[k] != group.texts[n]]
            for k in rng.permutation(others)[:PSEUDO]:
                pseudo.append((start + n, group.texts[n], group.texts[int(k)]))
    orders = [
        (start + a, start + b, by)
        for group, start in zip(groups, starts[:-1].tolist(), strict=True)
        for a, b, by in group.orders
    ]
    every = [piece for one in texts.split for piece in one.pieces]
    flat = {
        name: [value for group in groups for value in getattr(group, name)]
        for name in ("kinds", "score", "judges")
    }
    return {
        "pieces": numpy.array(every, numpy.uint16),
        "text_at": numpy.cumsum([0] + [len(one.pieces) for one in texts.split]).astype(numpy.int32),
        "group_set": numpy.array([group.kind for group in groups], numpy.int8),
        "group_source": numpy.array([sources.index(g.source) for g in groups], numpy.int16),
        "group_reference": numpy.array([number[g.reference] for g in groups], numpy.int32),
        "group_at": starts.astype(numpy.int32),
        "row_text": numpy.array([number[text] for _, text in rows], numpy.int32),
        "row_kind": numpy.array(flat["kinds"], numpy.int8),
        "row_score": numpy.array(flat["score"], numpy.float32),
        "row_judges": numpy.array(flat["judges"], numpy.uint8),
        "row_system": numpy.array(
            [named[f"{g.source} {one}"] for g in groups for one in g.system], numpy.int16
        ),
        "row_surface": texts.surface([(text, group.reference) for group, text in rows]),
        "pseudo_row": numpy.array([row for row, _, _ in pseudo], numpy.int32),
        "pseudo_text": numpy.array([number[other] for _, _, other in pseudo], numpy.int32),
        "pseudo_surface": texts.surface([(own, other) for _, own, other in pseudo]),
        "order_better": numpy.array([a for a, _, _ in orders], numpy.int32),
        "order_worse": numpy.array([b for _, b, _ in orders], numpy.int32),
        "order_margin": numpy.array([by for _, _, by in orders], numpy.float16),
        "sources": numpy.array(sources),
    }
