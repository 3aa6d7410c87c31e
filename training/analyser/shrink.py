"""Make the role head narrower: drop the least useful inner units, then learn from the whole head.

    python -m training.analyser.shrink --out DIR --inner 256 --minutes 12

The head runs once for every predicate and costs a third of an analysis. Only what the second
graph holds is changed: encoder and projections stay, and so does `first.onnx`. Both heads read
the same states of text nobody annotated, and the narrow one learns the answers of the other.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import replace
from pathlib import Path

import numpy
import torch
from torch import Tensor
from torch.nn import functional

from training.analyser.__main__ import load_pack
from training.analyser.data import Arrays
from training.analyser.model import Analyser, RoleHead
from training.analyser.train import load, save


def prune(model: Analyser, inner: int) -> Analyser:
    """A copy whose role head keeps the inner units that move most."""
    small = Analyser(replace(model.c, role_inner=inner))
    weights = {k: v.clone() for k, v in model.state_dict().items()}
    for n, layer in enumerate(model.roles.layers):
        use = layer.up.weight.norm(dim=1) * layer.down.weight.norm(dim=0)
        kept = use.topk(inner).indices.sort().values
        name = f"roles.layers.{n}"
        weights[f"{name}.up.weight"] = layer.up.weight[kept]
        weights[f"{name}.up.bias"] = layer.up.bias[kept]
        weights[f"{name}.down.weight"] = layer.down.weight[:, kept]
    small.load_state_dict(weights)
    return small


Batch = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


@torch.no_grad()
def states(model: Analyser, arrays: Arrays, count: int, seed: int) -> list[Batch]:
    """(token, predicate, row, place, there) of batches of text, by the frozen model."""
    chosen = numpy.random.default_rng(seed).permutation(len(arrays))[:count]
    chosen = sorted(
        (int(n) for n in chosen if 4 < len(arrays.firsts[n]) <= 60),
        key=lambda n: len(arrays.pieces[n]),
    )
    batches = []
    for start in range(0, len(chosen), 24):
        part = chosen[start : start + 24]
        size = max(len(arrays.pieces[n]) for n in part)
        words = max(len(arrays.firsts[n]) for n in part)
        pieces = torch.zeros(len(part), size, dtype=torch.long)
        shapes = torch.zeros(len(part), size, dtype=torch.long)
        there = torch.zeros(len(part), size)
        firsts = torch.zeros(len(part), words, dtype=torch.long)
        words_there = torch.zeros(len(part), words)
        for row, n in enumerate(part):
            length, width = len(arrays.pieces[n]), len(arrays.firsts[n])
            pieces[row, :length] = torch.from_numpy(arrays.pieces[n].astype(numpy.int64))
            shapes[row, :length] = torch.from_numpy(arrays.shapes[n].astype(numpy.int64))
            there[row, :length] = 1
            firsts[row, :width] = torch.from_numpy(arrays.firsts[n].astype(numpy.int64))
            words_there[row, :width] = 1
        syntax, semantic, *_ = model.words(pieces, shapes, there, firsts)
        found = (model.is_predicate(syntax)[..., 0] > 0) & (words_there > 0)
        row, place = torch.nonzero(found, as_tuple=True)
        if len(row):
            token, predicate = model.roles.project(semantic)
            batches.append((token.half(), predicate.half(), row, place, words_there))
    return batches


def teach(small: RoleHead, whole: RoleHead, batches: list[Batch], minutes: float) -> None:
    """Let the narrow head learn the whole head's answers."""
    for part in (small.token, small.predicate):
        part.requires_grad_(False)
    parameters = [p for p in small.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=6e-4, weight_decay=0.01)
    small.eval()
    whole.eval()
    order = numpy.random.default_rng(1)
    began = shown = time.monotonic()
    total = count = 0.0
    while True:
        for n in order.permutation(len(batches)):
            part = (time.monotonic() - began) / (60 * minutes)
            if part >= 1:
                return
            rate = 6e-4 * min(1.0, part / 0.03) * 0.5 * (1 + math.cos(math.pi * part))
            for group in optimizer.param_groups:
                group["lr"] = rate
            token, predicate, row, place, there = batches[n]
            token, predicate = token.float(), predicate.float()
            with torch.no_grad():
                aim = whole(token, predicate, row, place, there).softmax(-1)
            logs = small(token, predicate, row, place, there).log_softmax(-1)
            weight = there[row]
            loss = (functional.kl_div(logs, aim, reduction="none").sum(-1) * weight).sum()
            loss = loss / weight.sum()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            total, count = total + loss.item(), count + 1
            if time.monotonic() - shown > 30:
                print(f"{part:.0%}  {total / count:.5f}", flush=True)
                shown, total, count = time.monotonic(), 0.0, 0.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.analyser.shrink")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--inner", type=int, default=256)
    parser.add_argument("--go-on", action="store_true", help="from the last narrow one")
    parser.add_argument("--sentences", type=int, default=12_000)
    parser.add_argument("--minutes", type=float, default=12)
    options = parser.parse_args()
    whole = load(options.out / "student").eval()
    begun = options.out / "narrow"
    small = prune(load(begun) if options.go_on else whole, options.inner).eval()
    parts, _ = load_pack(options.out)
    began = time.monotonic()
    batches = states(whole, parts["text"], options.sentences, seed=3)
    print(f"{len(batches)} batches in {time.monotonic() - began:.0f} s", flush=True)
    teach(small.roles, whole.roles, batches, options.minutes)
    save(small, begun)


if __name__ == "__main__":
    main()
