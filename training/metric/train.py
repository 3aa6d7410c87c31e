"""Two trainings: on what can be said without a judge, then on judgements.

A step takes a batch of whole groups. The loss is that of the score (where it is known), of the
other targets, and of orders: the better rendering of two should be better by a margin.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor, nn
from torch.nn import functional

from training.metric.material import Batch, Group, batches, collate
from training.metric.model import Configuration, Judge


@dataclass(slots=True)
class Settings:
    """How to train."""

    minutes: float = 60.0
    epochs: float = 1.0
    pieces: int = 2400
    rate: float = 1e-4
    head_rate: float = 1e-3
    decay: float = 0.01
    warm_up: float = 0.05
    average: float = 0.998
    orders: float = 0.5
    others: float = 0.3
    seed: int = 1


def tensors(batch: Batch) -> dict[str, Tensor]:
    return {
        name: torch.from_numpy(getattr(batch, name))
        for name in ("texts", "index", "side", "surface")
    }


def loss_of(answer: tuple[Tensor, Tensor], batch: Batch, settings: Settings) -> dict[str, Tensor]:
    """Each part of the loss."""
    guessed, guessed_others = answer
    zero = guessed.sum() * 0.0
    found = {"score": zero, "orders": zero, "others": zero}
    score = torch.from_numpy(batch.score)
    known = ~torch.isnan(score)
    if known.any():
        found["score"] = functional.mse_loss(guessed[known], score[known])
    others = torch.from_numpy(batch.others)
    known = ~torch.isnan(others)
    if known.any():
        error = (guessed_others - torch.nan_to_num(others)).clamp(-5, 5) ** 2
        found["others"] = (error * known).sum() / known.sum()
    if len(batch.better):
        gap = guessed[torch.from_numpy(batch.better)]
        gap = gap - guessed[torch.from_numpy(batch.worse)]
        wanted = torch.from_numpy(batch.margin)
        found["orders"] = functional.softplus(3.0 * (wanted - gap)).mean() / 3.0
    return found


def parameters(model: Judge, settings: Settings) -> list[dict[str, Any]]:
    """The encoder slowly, the rest faster; word vectors stay, since few are seen often."""
    model.word.weight.requires_grad_(False)
    slow, fast = [], []
    for name, one in model.named_parameters():
        if one.requires_grad:
            head = name.startswith(("hidden", "score", "others", "lower", "upper"))
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
        self.values = {
            n: p.detach().clone() for n, p in model.named_parameters() if p.requires_grad
        }

    def update(self, model: nn.Module) -> None:
        self.steps += 1
        keep = min(self.keep, (1 + self.steps) / (10 + self.steps))
        with torch.no_grad():
            for name, one in model.named_parameters():
                if one.requires_grad:
                    self.values[name].lerp_(one, 1 - keep)

    def put(self, model: nn.Module) -> None:
        with torch.no_grad():
            for name, one in model.named_parameters():
                if one.requires_grad:
                    one.copy_(self.values[name])


def run(
    model: Judge,
    source: Iterator[list[Group]],
    settings: Settings,
    report: float = 60.0,
    keep: Path | None = None,
    total: int | None = None,
) -> Judge:
    """Train until the time is over, or for `total` steps; the average weights remain."""
    torch.manual_seed(settings.seed)
    optimiser = torch.optim.AdamW(parameters(model, settings), weight_decay=settings.decay)
    average = Average(model, settings.average)
    begun = told = time.perf_counter()
    limit = settings.minutes * 60
    sums: dict[str, float] = {}
    pairs = since = 0
    model.train()
    for steps, groups in enumerate(source):
        spent = time.perf_counter() - begun
        done = steps / total if total else spent / limit
        if done >= 1:
            break
        factor = min(1.0, done / settings.warm_up) * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
        for one in optimiser.param_groups:
            one["lr"] = one["peak"] * max(factor, 1e-3)
        batch = collate(groups)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            answered = model(**tensors(batch))
        parts = loss_of(answered, batch, settings)
        loss = (
            parts["score"] + settings.orders * parts["orders"] + settings.others * parts["others"]
        )
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
        optimiser.step()
        average.update(model)
        since += 1
        pairs += len(batch.score)
        for name, value in parts.items():
            sums[name] = sums.get(name, 0.0) + float(value.detach())
        if time.perf_counter() - told > report:
            told = time.perf_counter()
            figures = " ".join(f"{name} {value / since:.4f}" for name, value in sums.items())
            rate = pairs / (told - begun)
            print(
                f"{told - begun:6.0f} s {steps + 1:6d} steps {pairs:8d} pairs {rate:5.1f}/s "
                + figures,
                flush=True,
            )
            sums, since = {}, 0
            if keep is not None:
                save(model, keep.with_suffix(".last"), average)
    average.put(model)
    if keep is not None:
        save(model, keep)
    return model


def save(model: Judge, path: Path, average: Average | None = None) -> None:
    state = model.state_dict()
    if average is not None:
        state = {**state, **average.values}
    hidden = path.with_name(path.name + ".tmp")
    torch.save({"configuration": model.c.as_dict(), "state": state}, hidden)
    hidden.replace(path)


def load(path: Path) -> Judge:
    found = torch.load(path, weights_only=True)
    model = Judge(Configuration(**found["configuration"]))
    model.load_state_dict(found["state"])
    return model


def answer(model: Judge, groups: Sequence[Group], pieces: int = 6000) -> list[numpy.ndarray]:
    """The scores of all renderings, group by group."""
    model.eval()
    order = sorted(range(len(groups)), key=lambda n: groups[n].length)
    found: list[Any] = [None] * len(groups)
    at = 0
    with torch.no_grad():
        while at < len(order):
            rows = 0
            end = at
            while end < len(order):
                more = rows + len(groups[order[end]].texts)
                if end > at and more * groups[order[end]].length > pieces:
                    break
                rows, end = more, end + 1
            some = [groups[n] for n in order[at:end]]
            batch = collate(some)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                scores = model(**tensors(batch))[0].float().numpy()
            start = 0
            for n, group in zip(order[at:end], some, strict=True):
                found[n] = scores[start : start + len(group.texts)]
                start += len(group.texts)
            at = end
    return found


def forever(
    groups: Sequence[Group], size: int, rng: numpy.random.Generator
) -> Iterator[list[Group]]:
    while True:
        yield from batches(groups, size, rng)
