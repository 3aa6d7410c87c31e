"""Training: fixed shapes, so that a whole step can be one CUDA graph.

Sentences are put into buckets by length; every batch of a bucket has the same shape, is laid
out once on the device, and a step (forward, backward, clipping, update, average) is captured
once a bucket and replayed. On a CPU the same step runs plainly.
"""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
import torch
from torch import Tensor
from torch.nn import functional

from training.analyser.data import Arrays, Labels
from training.analyser.model import Analyser, Configuration, Encoder

BUCKETS = (12, 20, 28, 36, 48, 64, 96, 160, 256)
MASK = 103


@dataclass(slots=True)
class Settings:
    """How to train."""

    epochs: float = 40.0
    minutes: float | None = None
    pieces: int = 2200
    encoder_rate: float = 2.5e-4
    head_rate: float = 1e-3
    decay: float = 0.01
    warm_up: float = 0.06
    average: float = 0.9995
    mask: float = 0.06
    plain_case: float = 0.08
    tag_weight: float = 0.3
    predicate_weight: float = 0.5
    role_weight: float = 1.0
    span_weight: float = 2.0
    vector_weight: float = 1.0
    seed: int = 1


class Bucket:
    """All sentences of about one length, as tensors on the device."""

    def __init__(
        self, arrays: Arrays, members: Sequence[int], size: int, pieces: int, device: torch.device
    ) -> None:
        self.size = size
        self.words = size - 2
        self.rows = max(1, pieces // size)
        self.labelled = bool(arrays.tags)
        count = len(members)
        ids = numpy.zeros((count, size), numpy.int64)
        shapes = numpy.zeros((count, size), numpy.int64)
        there = numpy.zeros((count, size), numpy.float32)
        firsts = numpy.zeros((count, self.words), numpy.int64)
        words_there = numpy.zeros((count, self.words), numpy.float32)
        tags = numpy.full((count, self.words), -100, numpy.int64)
        predicates = numpy.zeros((count, self.words), numpy.float32)
        spans = numpy.zeros((count, self.words + 1, self.words + 1), numpy.int16)
        most = max([len(arrays.predicates[m]) for m in members]) if arrays.predicates else 0
        places = numpy.full((count, max(most, 1)), -1, numpy.int64)
        states = numpy.full((count, max(most, 1), self.words), -100, numpy.int16)
        for n, m in enumerate(members):
            length, width = len(arrays.pieces[m]), len(arrays.firsts[m])
            ids[n, :length] = arrays.pieces[m]
            shapes[n, :length] = arrays.shapes[m]
            there[n, :length] = 1
            firsts[n, :width] = arrays.firsts[m]
            words_there[n, :width] = 1
            if self.labelled:
                tags[n, :width] = arrays.tags[m]
                predicates[n, arrays.predicates[m]] = 1
                for start, end, label in arrays.spans[m]:
                    spans[n, start, end] = label
                states[n, : len(arrays.roles[m]), :width] = arrays.roles[m]
            if arrays.predicates:
                places[n, : len(arrays.predicates[m])] = arrays.predicates[m]
        move = lambda x: torch.from_numpy(x).to(device)  # noqa: E731
        self.ids, self.shapes, self.there = move(ids), move(shapes), move(there)
        self.firsts, self.words_there = move(firsts), move(words_there)
        self.tags, self.predicates, self.spans = move(tags), move(predicates), move(spans)
        self.places, self.states = move(places), move(states)
        self.count = count
        # Room for the predicates of a batch: a little over the mean, the rest wait.
        average = float((places >= 0).sum()) / max(1, count)
        self.pairs = max(4, int(self.rows * average * 1.25) + 4)


def make_buckets(arrays: Arrays, pieces: int, device: torch.device) -> list[Bucket]:
    """Sort sentences into buckets; those longer than the last are left out."""
    members: dict[int, list[int]] = {size: [] for size in BUCKETS}
    for n, sentence in enumerate(arrays.pieces):
        size = next((size for size in BUCKETS if len(sentence) <= size), None)
        if size is not None:
            members[size].append(n)
    return [Bucket(arrays, which, size, pieces, device) for size, which in members.items() if which]


class Step:
    """One step of training on batches of one bucket."""

    def __init__(self, trainer: Trainer, bucket: Bucket) -> None:
        self.trainer = trainer
        self.bucket = bucket
        device = trainer.device
        self.chosen = torch.zeros(bucket.rows, dtype=torch.long, device=device)
        self.row = torch.zeros(bucket.pairs, dtype=torch.long, device=device)
        self.place = torch.zeros(bucket.pairs, dtype=torch.long, device=device)
        self.which = torch.zeros(bucket.pairs, dtype=torch.long, device=device)
        self.real = torch.zeros(bucket.pairs, device=device)
        self.losses = torch.zeros(5, device=device)
        self.graph: torch.cuda.CUDAGraph | None = None

    def fill(self, members: Tensor, rng: numpy.random.Generator) -> None:
        """Choose the sentences; list their predicates (on the CPU, from a small table)."""
        self.chosen.copy_(members, non_blocking=True)
        table = self.trainer.tables[id(self.bucket)]
        rows, which = numpy.nonzero(table[members.cpu().numpy()] >= 0)
        if len(rows) > self.bucket.pairs:
            kept = rng.choice(len(rows), self.bucket.pairs, replace=False)
            rows, which = rows[kept], which[kept]
        places = table[members.cpu().numpy()][rows, which]
        filled = numpy.zeros((4, self.bucket.pairs), numpy.int64)
        filled[0, : len(rows)], filled[1, : len(rows)] = rows, which
        filled[2, : len(rows)], filled[3, : len(rows)] = places, 1
        moved = torch.from_numpy(filled).to(self.trainer.device, non_blocking=True)
        self.row.copy_(moved[0])
        self.which.copy_(moved[1])
        self.place.copy_(moved[2])
        self.real.copy_(moved[3])

    def run(self) -> None:
        if not self.trainer.graphs:
            self._step()
            return
        if self.graph is None:
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(2):
                    self._step()
            torch.cuda.current_stream().wait_stream(stream)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, pool=self.trainer.pool):
                self._step()
            return
        self.graph.replay()

    def _step(self) -> None:
        trainer = self.trainer
        trainer.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(
            trainer.device.type,
            dtype=torch.bfloat16,
            enabled=trainer.device.type == "cuda",
            cache_enabled=False,
        ):
            losses = self._losses()
        total = losses.sum()
        total.backward()
        torch.nn.utils.clip_grad_norm_(trainer.parameters, 1.0, foreach=True)
        trainer.optimizer.step()
        # Not `_foreach_lerp_`: it reads its weight back to the CPU, which a graph cannot.
        with torch.no_grad():
            moves = torch._foreach_sub(trainer.parameters, trainer.averaged)
            torch._foreach_mul_(moves, trainer.pull)
            torch._foreach_add_(trainer.averaged, moves)
        self.losses.copy_(losses.detach())

    def _losses(self) -> Tensor:
        trainer, bucket, s = self.trainer, self.bucket, self.trainer.settings
        chosen = self.chosen
        there, words_there = bucket.there[chosen], bucket.words_there[chosen]
        ids, shapes = bucket.ids[chosen], bucket.shapes[chosen]
        firsts = bucket.firsts[chosen]
        clean, clean_shapes = ids, shapes
        # Words hidden, and whole sentences without their case: machine output has both.
        hidden = (torch.rand(ids.shape, device=ids.device) < s.mask) & (shapes > 0)
        ids = torch.where(hidden, MASK, ids)
        plain = torch.rand((len(ids), 1), device=ids.device) < s.plain_case
        cased = (shapes >= 2) & (shapes <= 5)
        shapes = torch.where(plain & cased, 1, shapes)
        out = trainer.model(ids, shapes, there, firsts, words_there, self.row, self.place)
        targets = trainer.teach(self, clean, clean_shapes, there, firsts, words_there)
        word_count = words_there.sum().clamp(min=1)
        tags, predicates, spans, roles = targets[:4]
        ends = _upper(words_there)
        losses = [
            s.tag_weight * _mean(_cross(out["tags"], tags), words_there * _given(tags)),
            s.predicate_weight
            * _mean(
                functional.binary_cross_entropy_with_logits(
                    out["predicates"].float(), predicates, reduction="none"
                )
                * 4.0,
                words_there,
            ),
            s.span_weight * (_cross(out["spans"], spans) * ends).sum() / word_count / 2.0,
            s.role_weight
            * (_cross(out["roles"], roles) * words_there[self.row] * self.real[:, None]).sum()
            / (words_there[self.row] * self.real[:, None]).sum().clamp(min=1)
            * 3.0,
        ]
        with torch.no_grad():
            states = trainer.original(clean, torch.zeros_like(clean_shapes), there)[-1]
            aim = states.gather(1, firsts[:, :, None].expand(-1, -1, states.shape[-1]))
        near = 1 - functional.cosine_similarity(out["vectors"].float(), aim.float(), dim=-1)
        losses.append(s.vector_weight * _mean(near, words_there))
        return torch.stack([loss.float() for loss in losses])


def _given(targets: Tensor) -> Tensor:
    return (targets >= 0).float() if targets.dtype == torch.long else torch.ones(())


def _mean(values: Tensor, weights: Tensor) -> Tensor:
    return (values * weights).sum() / weights.sum().clamp(min=1)


def _cross(scores: Tensor, targets: Tensor) -> Tensor:
    """Cross entropy with labels (numbers) or with a teacher's shares (of the same shape)."""
    logs = functional.log_softmax(scores.float(), -1)
    if targets.dim() == scores.dim():
        return -(targets * logs).sum(-1)
    return -logs.gather(-1, targets.clamp(min=0)[..., None])[..., 0]


def _upper(words_there: Tensor) -> Tensor:
    """Which (start, end) are spans of the sentence."""
    padded = functional.pad(words_there, (1, 0), value=1.0)
    both = padded[:, :, None] * padded[:, None, :]
    return torch.triu(both, diagonal=1)


class Trainer:
    """Model, teachers, data, and the loop."""

    def __init__(
        self,
        model: Analyser,
        original: Encoder,
        gold: list[Bucket],
        text: list[Bucket],
        teachers: list[Analyser],
        settings: Settings,
        device: torch.device,
        *,
        spoilt: list[Bucket] | None = None,
        spoilt_share: float = 0.25,
        graphs: bool = True,
        say: Path | None = None,
        checkpoint: Path | None = None,
    ) -> None:
        self.model = model.to(device).train()
        self.original = original.to(device).eval().requires_grad_(False)
        self.teachers = [teacher.to(device).eval().requires_grad_(False) for teacher in teachers]
        self.gold, self.text = gold, text
        self.spoilt, self.spoilt_share = spoilt or [], spoilt_share
        self.settings, self.device = settings, device
        self.log = say
        self.checkpoint = checkpoint
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.averaged = [p.detach().clone() for p in self.parameters]
        encoder = list(model.encoder.parameters())
        known = {id(p) for p in encoder}
        heads = [p for p in self.parameters if id(p) not in known]
        self.rates = [torch.tensor(0.0, device=device) for _ in range(2)]
        cuda = device.type == "cuda"
        self.optimizer = torch.optim.AdamW(
            [
                {"params": encoder, "lr": self.rates[0]},
                {"params": heads, "lr": self.rates[1]},
            ],
            weight_decay=settings.decay,
            betas=(0.9, 0.98),
            fused=cuda,
            capturable=cuda,
        )
        self.pull = torch.tensor(1 - settings.average, device=device)
        self.graphs = cuda and graphs
        self.pool = torch.cuda.graph_pool_handle() if self.graphs else None
        every = [*gold, *text, *self.spoilt]
        self.tables = {id(b): b.places.cpu().numpy() for b in every}
        self.steps = {id(b): Step(self, b) for b in every}

    def teach(
        self,
        step: Step,
        ids: Tensor,
        shapes: Tensor,
        there: Tensor,
        firsts: Tensor,
        words_there: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What to aim at: the treebank's labels, or the mean of the teachers' answers."""
        bucket, chosen = step.bucket, step.chosen
        if bucket.labelled:
            return (
                bucket.tags[chosen],
                bucket.predicates[chosen],
                bucket.spans[chosen].long(),
                bucket.states[chosen][step.row, step.which].long(),
            )
        sums: list[Tensor] = []
        with torch.no_grad():
            for teacher in self.teachers:
                out = teacher(ids, shapes, there, firsts, words_there, step.row, step.place)
                answers = [
                    out["tags"].float().softmax(-1),
                    out["predicates"].float().sigmoid(),
                    out["spans"].float().softmax(-1),
                    out["roles"].float().softmax(-1),
                ]
                sums = answers if not sums else [a + b for a, b in zip(sums, answers, strict=True)]
        tags, predicates, spans, roles = (total / len(self.teachers) for total in sums)
        return tags, predicates, spans, roles

    def run(self, dev: Dev | None) -> None:
        """Train; print figures as it goes."""
        s = self.settings
        rng = numpy.random.default_rng(s.seed)
        plan = self._plan(rng)
        per_epoch = len(plan)
        total = math.ceil(s.epochs * per_epoch)
        began = time.monotonic()
        done = 0
        shown = time.monotonic()
        while True:
            for bucket, members in plan:
                elapsed = time.monotonic() - began
                part = elapsed / (60 * s.minutes) if s.minutes else done / total
                if part >= 1:
                    break
                scale = min(1.0, part / s.warm_up) if part < s.warm_up else 1.0
                scale *= 0.5 * (
                    1 + math.cos(math.pi * max(0.0, part - s.warm_up) / (1 - s.warm_up))
                )
                self.rates[0].fill_(s.encoder_rate * scale)
                self.rates[1].fill_(s.head_rate * scale)
                self.pull.fill_(max(1 - s.average, 1 / (done + 10)))
                step = self.steps[id(bucket)]
                step.fill(members, rng)
                step.run()
                done += 1
                if time.monotonic() - shown > 20:
                    shown = time.monotonic()
                    named = [round(x, 3) for x in step.losses.tolist()]
                    self.say(
                        f"{elapsed:5.0f} s  step {done}  epoch {done / per_epoch:.1f}  "
                        f"{part:.0%}  losses {named}"
                    )
            else:
                plan = self._plan(rng)
                if dev is not None and int(done / per_epoch) % 8 == 0:
                    self.say(f"dev {dev.figures(self.model)}")
                    if self.checkpoint is not None:
                        save(self.model, self.checkpoint)
                continue
            break
        self.swap()
        if dev is not None:
            self.say(f"dev, averaged {dev.figures(self.model)}")

    def swap(self) -> None:
        """Put the averaged weights into the model."""
        with torch.no_grad():
            for parameter, average in zip(self.parameters, self.averaged, strict=True):
                parameter.copy_(average)

    def _plan(self, rng: numpy.random.Generator) -> list[tuple[Bucket, Tensor]]:
        """The batches of an epoch of the treebank, some of them spoilt, and as many of text."""
        gold = self._batches(self.gold, rng)
        spoilt = self._batches(self.spoilt, rng)
        rng.shuffle(spoilt)
        gold += spoilt[: int(len(spoilt) * self.spoilt_share)]
        text = self._batches(self.text, rng) if self.text else []
        rng.shuffle(text)
        plan = gold + text[: len(gold)]
        rng.shuffle(plan)
        return plan

    def _batches(
        self, buckets: list[Bucket], rng: numpy.random.Generator
    ) -> list[tuple[Bucket, Tensor]]:
        batches = []
        for bucket in buckets:
            order = rng.permutation(bucket.count)
            for start in range(0, bucket.count, bucket.rows):
                members = order[start : start + bucket.rows]
                if len(members) < bucket.rows:
                    members = numpy.concatenate(
                        [members, rng.integers(0, bucket.count, bucket.rows - len(members))]
                    )
                batches.append((bucket, torch.from_numpy(members)))
        return batches

    def say(self, text: str) -> None:
        print(text, flush=True)
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(text + "\n")


class Dev:
    """Quick figures while training: greedy answers, without constraints or trees."""

    def __init__(self, arrays: Arrays, labels: Labels, device: torch.device) -> None:
        self.buckets = make_buckets(arrays, 8000, device)
        self.states = labels.states
        self.device = device

    @torch.no_grad()
    def figures(self, model: Analyser) -> dict[str, float]:
        was = model.training
        model.eval()
        hits = numpy.zeros(11)
        for bucket in self.buckets:
            for start in range(0, bucket.count, bucket.rows):
                hits += self._batch(model, bucket, start)
        model.train(was)
        f = lambda right, said, gold: round(float(200 * right / max(1.0, said + gold)), 2)  # noqa: E731
        return {
            "tags": round(float(100 * hits[0] / hits[1]), 2),
            "predicates": f(*hits[2:5]),
            "spans": f(*hits[5:8]),
            "roles": f(*hits[8:11]),
        }

    def _batch(self, model: Analyser, bucket: Bucket, start: int) -> numpy.ndarray:
        chosen = torch.arange(start, min(start + bucket.rows, bucket.count), device=self.device)
        places = bucket.places[chosen]
        row, which = torch.nonzero(places >= 0, as_tuple=True)
        if not len(row):
            row = which = torch.zeros(1, dtype=torch.long, device=self.device)
        place = places[row, which].clamp(min=0)
        there = bucket.words_there[chosen]
        with torch.autocast(self.device.type, torch.bfloat16, self.device.type == "cuda"):
            out = model(
                bucket.ids[chosen], bucket.shapes[chosen], bucket.there[chosen],
                bucket.firsts[chosen], there, row, place,
            )  # fmt: skip
        words = there > 0
        tags = bucket.tags[chosen]
        said = out["predicates"] > 0
        gold = bucket.predicates[chosen] > 0
        spans, gold_spans = out["spans"].argmax(-1), bucket.spans[chosen].long()
        inside = _upper(there) > 0
        counts = [
            ((out["tags"].argmax(-1) == tags) & words).sum(), (words & (tags >= 0)).sum(),
            (said & gold & words).sum(), (said & words).sum(), (gold & words).sum(),
            ((spans == gold_spans) & (gold_spans > 0) & inside).sum(),
            ((spans > 0) & inside).sum(), ((gold_spans > 0) & inside).sum(),
        ]  # fmt: skip
        roles = out["roles"].argmax(-1).cpu().numpy()
        answers = bucket.states[chosen][row, which].cpu().numpy()
        lengths = there[row].sum(1).long().cpu().numpy()
        right = said_roles = gold_roles = 0
        for mine, theirs, length in zip(roles, answers, lengths, strict=True):
            one, other = _decode(mine[:length]), _decode(theirs[:length])
            right += len(one & other)
            said_roles += len(one)
            gold_roles += len(other)
        if not (places >= 0).any():
            right = said_roles = gold_roles = 0
        return numpy.array([*(float(c) for c in counts), right, said_roles, gold_roles])


def _decode(states: numpy.ndarray) -> set[tuple[int, int, int]]:
    """Spans of a state sequence: 0 is O, odd numbers begin a role, the next even go on."""
    spans = set()
    start, label = -1, -1
    for n, state in enumerate([*states.tolist(), 0]):
        goes_on = state > 0 and state % 2 == 0 and (state - 1) // 2 == label
        if not goes_on:
            if label >= 0:
                spans.add((start, n, label))
            start, label = (n, (state - 1) // 2) if state > 0 else (-1, -1)
    return spans


def find_predicates(
    teachers: list[Analyser], arrays: Arrays, device: torch.device, threshold: float = 0.4
) -> None:
    """Give bare text the predicates the teachers see, so that roles can be taught on it."""
    buckets: dict[int, list[int]] = {}
    for n, pieces in enumerate(arrays.pieces):
        size = next((size for size in BUCKETS if len(pieces) <= size), None)
        if size is not None:
            buckets.setdefault(size, []).append(n)
    predicates = [numpy.zeros(0, numpy.int16)] * len(arrays.pieces)
    with torch.no_grad():
        for size, members in buckets.items():
            for start in range(0, len(members), 512):
                part = members[start : start + 512]
                bucket = Bucket(arrays, part, size, size * len(part), device)
                total = torch.zeros(bucket.words_there.shape, device=device)
                for teacher in teachers:
                    with torch.autocast(device.type, torch.bfloat16, device.type == "cuda"):
                        syntax, *_ = teacher.words(
                            bucket.ids, bucket.shapes, bucket.there, bucket.firsts
                        )
                        total += teacher.is_predicate(syntax)[..., 0].float().sigmoid()
                found = (
                    ((total / len(teachers) > threshold) & (bucket.words_there > 0)).cpu().numpy()
                )
                for n, row in zip(part, found, strict=True):
                    predicates[n] = numpy.flatnonzero(row).astype(numpy.int16)
    arrays.predicates = predicates


def save(model: Analyser, path: Path) -> None:
    """Weights in half precision (bfloat16), in files of at most 15 MB."""
    from safetensors.torch import save_file

    final, path = path, path.with_name(f".{path.name}.part")
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    (path / "sizes.json").write_text(json.dumps(model.c.as_dict()))
    part: dict[str, Tensor] = {}
    size = number = 0
    tensors = {
        k: v.detach().to(torch.bfloat16).cpu().contiguous() for k, v in model.state_dict().items()
    }
    cut: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        # The largest, the word embedding, is over the limit by itself.
        if tensor.numel() * 2 > 14_000_000:
            for n, piece in enumerate(tensor.chunk(2)):
                cut[f"{name}#{n}"] = piece.contiguous()
        else:
            cut[name] = tensor
    for name, tensor in cut.items():
        if size + tensor.numel() * 2 > 15_000_000:
            save_file(part, str(path / f"weights-{number}.safetensors"))
            part, size, number = {}, 0, number + 1
        part[name] = tensor
        size += tensor.numel() * 2
    save_file(part, str(path / f"weights-{number}.safetensors"))
    # All of it or nothing: a run that is stopped leaves the last whole one.
    shutil.rmtree(final, ignore_errors=True)
    path.rename(final)


def load(path: Path) -> Analyser:
    """Undo `save`."""
    from safetensors.torch import load_file

    model = Analyser(Configuration(**json.loads((path / "sizes.json").read_text())))
    given: dict[str, Tensor] = {}
    for file in sorted(path.glob("weights-*.safetensors")):
        given |= load_file(str(file))
    whole: dict[str, Tensor] = {}
    for name, tensor in given.items():
        plain, _, _ = name.partition("#")
        if plain != name:
            whole.setdefault(
                plain, torch.cat([given[k] for k in sorted(given) if k.startswith(plain + "#")])
            )
        else:
            whole[name] = tensor
    model.load_state_dict({name: tensor.float() for name, tensor in whole.items()})
    return model
