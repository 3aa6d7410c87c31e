"""The training loop: batches of whole groups, what is asked of them, and a running average.

What is asked of a batch:

    value     machine translations have the value that is known of them, or thought to be
    within    beside each other, those of one segment differ as one judge's scores do
    orders    what is known to be better is, by a margin
    others    what can be counted of a pair can be told from the states
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.metric.material import Batch, Material
from training.metric.model import Configuration, Judge, match_plainly


@dataclass(slots=True)
class Settings:
    """How to train once."""

    steps: int = 2000
    rate: float = 2e-4
    head_rate: float = 1e-3
    decay: float = 0.01
    warm_up: float = 0.06
    average: float = 0.998
    value: float = 1.0
    within: float = 0.3
    orders: float = 1.0
    others: float = 0.3
    blind: float = 0.5
    """Share of the rows whose surface is hidden, so that words must be found by their states."""
    frozen: int = 0
    """The lowest layers, and what is below them, that stay as they are."""
    report: int = 200


@dataclass
class Goals:
    """What is known or thought of every row of the material; NaN where nothing is."""

    value: Tensor
    """What the score should be."""
    judge: Tensor
    """One judge's score."""
    weight: Tensor
    """How much the judge's score counts."""
    others: Tensor
    """(rows, OTHERS)."""


def losses(guessed: Tensor, others: Tensor, batch: Batch, goals: Goals) -> dict[str, Tensor]:
    """Each part of the loss of one batch."""
    found = {}
    value = goals.value[batch.rows]
    known = ~torch.isnan(value)
    error = torch.where(known, guessed - torch.nan_to_num(value), 0.0)
    found["value"] = (error.clamp(-4, 4) ** 2).sum() / known.sum().clamp_min(1)
    judge, weight = goals.judge[batch.rows], goals.weight[batch.rows]
    known = ~torch.isnan(judge)
    weight = torch.where(known, weight, 0.0)
    gap = torch.where(known, guessed - torch.nan_to_num(judge), 0.0) * weight
    groups = len(batch.reference)
    total = torch.zeros(groups, device=guessed.device).index_add_(0, batch.group, weight)
    summed = torch.zeros(groups, device=guessed.device).index_add_(0, batch.group, gap)
    mean = (summed / total.clamp_min(1e-6))[batch.group]
    apart = torch.where(known, guessed - torch.nan_to_num(judge) - mean, 0.0)
    found["within"] = (weight * apart.clamp(-3, 3) ** 2).sum() / weight.sum().clamp_min(1)
    wanted = goals.others[batch.rows]
    known = ~torch.isnan(wanted)
    error = torch.where(known, others - torch.nan_to_num(wanted), 0.0).clamp(-4, 4) ** 2
    found["others"] = error.sum() / known.sum().clamp_min(1)
    better = guessed[batch.better] - guessed[batch.worse]
    each = functional.softplus(3.0 * (batch.margin - better)) / 3.0
    found["orders"] = each.sum() / max(1, len(each))
    return found


HEADS = ("hidden", "score", "direct", "others", "lower", "upper")


def parameters(model: Judge, settings: Settings) -> list[dict[str, Any]]:
    """The encoder slowly, the rest faster; word vectors stay, since few are seen often."""
    for one in model.parameters():
        one.requires_grad_(True)
    still = [model.word, *model.layers[: settings.frozen]]
    still += [model.position, model.norm] if settings.frozen else []
    for one in still:
        one.requires_grad_(False)
    slow, fast = [], []
    for name, one in model.named_parameters():
        if one.requires_grad:
            head = name.startswith(HEADS)
            (fast if head else slow).append(one)
    return [
        {"params": slow, "lr": settings.rate, "peak": settings.rate},
        {"params": fast, "lr": settings.head_rate, "peak": settings.head_rate},
    ]


class Average:
    """A running mean of the weights, which answers better than the last ones."""

    def __init__(self, model: nn.Module, keep: float) -> None:
        self.keep = keep
        self.steps = 0
        self.own = [one for one in model.parameters() if one.requires_grad]
        self.values = [one.detach().clone() for one in self.own]

    @torch.no_grad()
    def update(self) -> None:
        self.steps += 1
        keep = min(self.keep, (1 + self.steps) / (10 + self.steps))
        torch._foreach_lerp_(self.values, self.own, 1 - keep)

    @torch.no_grad()
    def put(self) -> None:
        for one, value in zip(self.own, self.values, strict=True):
            one.copy_(value)


def run(
    model: Judge, source: Iterator[tuple[Batch, Goals, dict[str, float]]], settings: Settings,
    name: str,
) -> Judge:  # fmt: skip
    """Train for so many steps; the average weights remain.

    Args:
        source: Batches, what is known of their rows, and what each part of the loss weighs.
    """
    groups = parameters(model, settings)
    fused = next(model.parameters()).is_cuda
    optimiser = torch.optim.AdamW(groups, weight_decay=settings.decay, fused=fused)
    average = Average(model, settings.average)
    device = next(model.parameters()).device.type
    sums: dict[str, Tensor] = {}
    since: dict[str, int] = {}
    begun = time.perf_counter()
    model.train()
    for step in range(settings.steps):
        batch, goals, weights = next(source)
        done = step / settings.steps
        factor = min(1.0, done / settings.warm_up) * 0.5 * (1 + math.cos(math.pi * done))
        for one in optimiser.param_groups:
            one["lr"] = one["peak"] * max(factor, 1e-3)
        surface = batch.surface
        if settings.blind:
            seen = torch.rand(len(surface), 1, device=surface.device) >= settings.blind
            surface = surface * seen
        with torch.autocast(device, dtype=torch.bfloat16):
            guessed, others = model(batch.hypothesis, batch.reference, batch.group, surface)
        parts = losses(guessed.float(), others.float(), batch, goals)
        loss = sum((weights[part] * value for part, value in parts.items()), guessed.sum() * 0)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(average.own, 1.0)
        optimiser.step()
        average.update()
        for part, value in parts.items():
            if weights[part]:
                sums[part] = sums.get(part, torch.zeros((), device=value.device)) + value.detach()
                since[part] = since.get(part, 0) + 1
        if (step + 1) % settings.report == 0:
            told = " ".join(f"{part} {float(sums[part]) / since[part]:.4f}" for part in sums)
            spent = time.perf_counter() - begun
            print(f"{name} {spent:5.0f} s {step + 1:6d}/{settings.steps} {told}", flush=True)
            sums, since = {}, {}
    average.put()
    return model


@torch.no_grad()
def answer(model: Judge, material: Material, groups: numpy.ndarray, size: int = 100000) -> Tensor:
    """The score of every row of these groups, on the CPU; NaN for all other rows."""
    model.eval()
    found = torch.full((len(material.row_text),), math.nan, device=material.device)
    device = next(model.parameters()).device.type
    for some in material.cut(groups, size, None):
        batch = material.batch(some)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            guessed, _ = model(batch.hypothesis, batch.reference, batch.group, batch.surface)
        found[batch.rows] = guessed.float()
    return found.cpu()


@torch.no_grad()
def nearness(model: Judge, material: Material, groups: numpy.ndarray, size: int = 60000) -> Tensor:
    """What the middle states alone say of every machine translation and its like."""
    model.eval()
    found = torch.full((len(material.row_text),), math.nan, device=material.device)
    for some in material.cut(groups, size, None):
        batch = material.batch(some)
        with torch.autocast(batch.hypothesis.device.type, dtype=torch.bfloat16):
            ours, _ = model.read(batch.hypothesis, batch.hypothesis != 0)
            theirs, _ = model.read(batch.reference, batch.reference != 0)
        rarity = (model.rarity[batch.hypothesis], model.rarity[batch.reference][batch.group])
        found[batch.rows] = match_plainly((ours, theirs[batch.group]), rarity).float()
    return found


def save(model: Judge, path: Path) -> None:
    """All weights but the word vectors, which stay the encoder's, at half their size."""
    state = {
        name: value.to(torch.bfloat16) if value.dtype == torch.float32 else value
        for name, value in model.state_dict().items()
        if name != "word.weight"
    }
    hidden = path.with_name(path.name + ".tmp")
    torch.save({"configuration": model.c.as_dict(), "state": state}, hidden)
    hidden.replace(path)


def load(path: Path, encoder: dict[str, Tensor]) -> Judge:
    """A saved model, its word vectors from the encoder."""
    found = torch.load(path, weights_only=True, map_location="cpu")
    model = Judge(Configuration(**found["configuration"]))
    model.load_encoder(encoder)
    state = {name: value.float() for name, value in found["state"].items()}
    model.load_state_dict(state, strict=False)
    return model
