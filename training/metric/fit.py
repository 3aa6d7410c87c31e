"""The two trainings with their material: what is taken, in which proportion, and what for."""

from __future__ import annotations

import collections
import json
import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy
import torch

from meantime.learned.encoding import Pieces
from training.metric.evaluate import correlate, darr, judged, mqm_sample, within
from training.metric.material import (
    NAN,
    UNKNOWN,
    Group,
    batches,
    build,
    encode,
    measure_spread,
    read_material,
)
from training.metric.model import Configuration, Judge
from training.metric.train import Settings, answer, forever, load, run

MARKS = (0, 101, 102, 103)
GOOD = 0.8
"""A judged translation so many standard deviations above the mean is a good one."""


def measure_rarity(segments: Sequence[dict[str, Any]], pieces: Pieces, size: int) -> torch.Tensor:
    """What each piece weighs: the rarer it is in references, the more; marks nothing."""
    split = pieces.split([segment["reference"] for segment in segments])
    counts = collections.Counter(piece for text in split for piece in set(text.pieces))
    n = len(segments)
    rarity = torch.full((size,), math.log(n + 1))
    for piece, count in counts.items():
        rarity[piece] = math.log((n + 1) / (count + 0.5))
    rarity = (rarity / rarity.max()).clamp_min(0.05)
    rarity[list(MARKS)] = 0
    return rarity


def pretrain(
    material: Path, encoder: Path, out: Path, settings: Settings, parts: Collection[int] | None
) -> Judge:
    """Learn from the prepared machine translations, starting from MiniLM."""
    pieces = Pieces(encoder / "tokenizer.json")
    segments = read_material(material, parts)
    rng = numpy.random.default_rng(settings.seed + 4)
    groups = encode(build(segments, measure_spread(segments), rng), pieces)
    told = f"{len(segments)} segments, {sum(len(one.texts) for one in groups)} renderings"
    print(told, flush=True)
    model = Judge(Configuration())
    model.load_encoder(encoder / "model.safetensors")
    model.rarity.copy_(measure_rarity(segments, pieces, model.c.vocabulary))
    return run(model, forever(groups, settings.pieces, rng), settings, keep=out)


def read_judged(path: Path) -> list[dict[str, Any]]:
    """The judged translations, their scores brought to one mean and spread a language pair."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for source in {row["source"] for row in rows}:
        mine = [row for row in rows if row["source"] == source]
        scores = numpy.array([row["score"] for row in mine])
        for row, score in zip(mine, scores, strict=True):
            row["score"] = float((score - scores.mean()) / scores.std())
    return rows


def is_held(row: dict[str, Any], held: Collection[str]) -> bool:
    """Whether a judged translation's language pair is held out."""
    return row["source"].split("/")[1] in held


def judged_groups(rows: Sequence[dict[str, Any]], margin: float) -> list[Group]:
    """Judged translations; a damaged copy is worse than the translation, and so is a damaged
    reference than a good translation.
    """
    found = []
    for row in rows:
        texts, score = [row["hypothesis"]], [row["score"]]
        orders: list[tuple[int, int, float]] = []
        for one in row["damaged"]:
            own = one["of"] == 0
            if own or (row["score"] > GOOD and len(orders) < 2):
                texts.append(one["text"])
                score.append(NAN)
                orders.append((0, len(texts) - 1, margin if own else 0.1))
        found.append(Group(row["reference"], texts, score, [UNKNOWN] * len(texts), orders))
    return found


def unjudged_groups(
    segments: Sequence[dict[str, Any]], spread: Any, rng: numpy.random.Generator
) -> list[Group]:
    """Machine translations again, now only for which is better than which."""
    groups = build(segments, spread, rng)
    for group in groups:
        known = [n for n, score in enumerate(group.score) if not math.isnan(score)]
        group.orders += [
            (i, j, 0.15) for i in known for j in known if group.score[i] - group.score[j] > 0.5
        ]
        group.score = [NAN] * len(group.score)
    return groups


def tuning(epochs: float, rate: float) -> Settings:
    """How people's judgements are learned: slowly, with a short memory of the weights."""
    return Settings(
        epochs=epochs, rate=rate, head_rate=5 * rate, orders=0.5, others=0.1, average=0.99
    )


def finetune(
    start: Path,
    material: Path,
    pieces: Pieces,
    out: Path,
    settings: Settings,
    *,
    held: Collection[str] = (),
    mix: float = 1.0,
    margin: float = 0.3,
    parts: Collection[int] | None = None,
) -> Judge:
    """Learn what people say, and keep what was learned before.

    Args:
        held: Language pairs that are left out, to be validated on.
        mix: Groups of machine translations, five renderings each, for each judged translation
            divided by five.
    """
    rng = numpy.random.default_rng(settings.seed + 2)
    rows = [row for row in read_judged(material / "judged.jsonl") if not is_held(row, held)]
    segments = read_material(material, parts)
    more = unjudged_groups(segments, measure_spread(segments), rng)
    chosen = rng.permutation(len(more))[: int(len(rows) * mix / 5)]
    groups = encode(judged_groups(rows, margin) + [more[n] for n in chosen], pieces)
    total = sum(1 for _ in batches(groups, settings.pieces, numpy.random.default_rng(0)))
    print(f"{len(rows)} judged, {len(chosen)} unjudged groups, {total} steps an epoch", flush=True)
    steps = round(total * settings.epochs)
    source = forever(groups, settings.pieces, rng)
    return run(load(start), source, settings, keep=out, total=steps)


def validate(
    model: Judge, material: Path, pieces: Pieces, held: Collection[str] = (), every: int = 12
) -> dict[str, float]:
    """Figures to choose by: on language pairs held out (all, if none were), and validation sets."""
    groups = {
        name: some
        for name, some in judged(pieces).items()
        if not held or name.split("/")[1] in held
    }
    sample, human = mqm_sample(pieces)
    preferred = numpy.array([one[0] - one[1] for one in answer(model, darr(pieces, every))])
    good = [
        Group(row["reference"], [row["hypothesis"], damaged[0]], [0, 0], [UNKNOWN] * 2, [])
        for row in read_judged(material / "judged.jsonl")
        if row["score"] > GOOD and (not held or is_held(row, held))
        for damaged in [[one["text"] for one in row["damaged"] if one["of"] < 0]]
        if damaged
    ]
    wins = [one[0] > one[1] for one in answer(model, encode(good, pieces))]
    return {
        "wmt15+16 r": float(numpy.mean(list(correlate(model, groups).values()))),
        "wmt20 in segments": within(answer(model, sample), human),
        "wmt19": float((preferred > 0).mean() - (preferred <= 0).mean()),
        "good above damaged reference": float(numpy.mean(wins)),
    }
