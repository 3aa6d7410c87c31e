"""The stages: teachers learn from machine translations, then from judgements; others from them.

pretrain   value = how near a translation is to the reference by MiniLM's vectors and characters,
           for who is taught: what teachers say of it
finetune   value = the judgements of 2015 and 2016, besides what one judge said of the others
average    what learned from nearness and what learned from teachers make one network
blend      the plain matching of words in the middle of the network counts besides
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy
import torch
from torch import Tensor

from training.metric.evaluate import HELD
from training.metric.layout import MACHINE, unpack_surface
from training.metric.material import Batch, Material
from training.metric.model import Configuration, Judge
from training.metric.train import Goals, Settings, run

PRETRAINING = Settings(value=1.0, within=1.0, orders=0.7, others=0.1, average=0.995)
FINETUNING = Settings(steps=350, within=1.0, orders=0.5, others=0.1, average=0.99, blind=0.1)
CHARACTERS = 0.3
CONSENSUS = 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """A network, and in what its learning is not every other's."""

    name: str
    apart: int = 4
    together: int = 2
    seed: int = 1
    steps: int = 1200
    """Of the first training."""
    first: float = 6e-5
    """The rate of the first training; the head learns at its own."""
    second: float = 1.6e-4
    """The rate of the second; the head learns at five times it."""
    keep: float = 0.1
    """What values of machine translations weigh in the second training."""
    taught: bool = False
    """Those values are what teachers say."""

    @property
    def configuration(self) -> Configuration:
        return Configuration(apart=self.apart, together=self.together)

    @property
    def pretraining(self) -> Settings:
        return replace(PRETRAINING, steps=self.steps, rate=self.first)

    @property
    def finetuning(self) -> Settings:
        return replace(FINETUNING, rate=self.second, head_rate=5 * self.second)


TEACHERS = (
    Plan("four"),
    Plan("swift", seed=5, first=1e-4, second=2.5e-4),
    Plan("alone", apart=6, together=0, seed=2),
    Plan("eight", apart=6, seed=4, second=1.2e-4),
)
LEARNERS = (Plan("untaught"), Plan("taught", steps=1500, first=1e-4, keep=0.5, taught=True))
"""The first learns as a teacher does, but from all judgements, the second from the teachers too.

What is shipped has the mean of their weights: they begin from the same ones, and the mean keeps
more orders than either.
"""
PLAIN = 0.5
"""Chosen on the validation sets: 0 to 2 were tried."""
BATCH = 60000
"""Pieces in a batch of machine translations."""
SMALL = 16000
"""Pieces in a batch of judged ones."""


def f_score(surface: numpy.ndarray, own: int) -> numpy.ndarray:
    one, other = surface[:, own].astype(numpy.float64), surface[:, own + 1].astype(numpy.float64)
    return 2 * one * other / numpy.maximum(one + other, 1e-6)


def standardise(values: numpy.ndarray) -> numpy.ndarray:
    return (values - numpy.nanmean(values)) / numpy.nanstd(values)


def first_goals(
    material: Material, held: Collection[str], near: Tensor, characters: float, consensus: float
) -> Goals:
    """What can be said without people, and the noisy judgements, but for held-out sources.

    Args:
        near: What MiniLM's own vectors say of every row.
        characters: What nearness to the reference by characters weighs, `near` 1.
        consensus: The same of nearness to other systems' outputs.
    """
    a = material.arrays
    group_set = a["group_set"][material.row_group]
    wild = (a["row_kind"] == MACHINE) & (group_set == 0)
    hidden = numpy.where(wild, 0.0, numpy.nan)
    surface = unpack_surface(a["row_surface"])
    rows, beside = a["pseudo_row"], unpack_surface(a["pseudo_surface"])
    count = numpy.bincount(rows, minlength=len(wild))
    columns = []
    for own in (0, 2):
        columns.append(f_score(surface, own))
    for own in (0, 2):
        total = numpy.bincount(rows, f_score(beside, own), minlength=len(wild))
        columns.append(numpy.where(count > 0, total / numpy.maximum(count, 1), numpy.nan))
    source = numpy.array(material.sources)[a["group_source"][material.row_group]]
    judge = numpy.where(wild & ~numpy.isin(source, list(held)), a["row_score"], numpy.nan)
    others = [standardise(one + hidden) for one in columns]
    # One judge's scale is not another's; spread as the rest is.
    judge = judge / numpy.nanstd(judge)
    beside_others = numpy.where(numpy.isnan(others[2]), others[0], others[2])
    value = standardise(near.cpu().numpy() + hidden) + characters * others[0]
    value = standardise(value + consensus * beside_others)

    def put(values: numpy.ndarray) -> Tensor:
        return torch.from_numpy(values.astype(numpy.float32)).to(material.device)

    judges = a["row_judges"].astype(numpy.float64)
    return Goals(
        put(value), put(judge), put(numpy.minimum(judges, 6) / (judges + 3) * 4),
        put(numpy.stack([*others, judge], 1)),
    )  # fmt: skip


def taught_goals(material: Material, goals: Goals, answers: Sequence[numpy.ndarray]) -> Goals:
    """The same with what teachers say of machine translations, on average, as values.

    Args:
        answers: The score of every row of the material, by each teacher.
    """
    a = material.arrays
    machine = a["row_kind"] == MACHINE
    total = numpy.zeros(len(machine))
    for one in answers:
        score = one.astype(numpy.float64)
        total += (score - score[machine].mean()) / score[machine].std()
    wild = machine & (a["group_set"][material.row_group] == 0)
    value = standardise(numpy.where(wild, total, numpy.nan)).astype(numpy.float32)
    return replace(goals, value=torch.from_numpy(value).to(material.device))


def judged_goals(material: Material, goals: Goals) -> Goals:
    """The same with the judgements of 2015 and 2016 as values."""
    a = material.arrays
    judged = a["group_set"][material.row_group] == 1
    value = numpy.where(judged, a["row_score"], numpy.nan).astype(numpy.float32)
    return replace(goals, value=torch.from_numpy(value).to(material.device))


def forever(
    material: Material, groups: numpy.ndarray, size: int, rng: numpy.random.Generator
) -> Iterator[Batch]:
    """All groups again and again, in new batches every third time."""
    while True:
        made: dict[int, Batch] = {}
        cut = material.cut(groups, size, rng)
        for _ in range(3):
            for n in rng.permutation(len(cut)).tolist():
                if n not in made:
                    made[n] = material.batch(cut[n])
                yield made[n]


def weights_of(settings: Settings, **other: float) -> dict[str, float]:
    found = {
        "value": settings.value,
        "within": settings.within,
        "others": settings.others,
        "orders": settings.orders,
    }
    return {**found, **other}


def to_tell(material: Material) -> numpy.ndarray:
    """The groups whose figures models are chosen by."""
    wild = material.groups("wild")
    held = wild[numpy.isin(material.source_of(wild), HELD)]
    return numpy.concatenate([*map(material.groups, ("judged", "sample", "darr")), held])


def start(encoder: dict[str, Tensor], material: Material, configuration: Configuration) -> Judge:
    """MiniLM's weights, and how rare each piece is."""
    model = Judge(configuration)
    model.load_encoder(encoder)
    model.rarity.copy_(torch.from_numpy(material.arrays["rarity"]))
    return model.to(material.device)


def pretrain(
    model: Judge, material: Material, goals: Goals, settings: Settings, name: str, seed: int
) -> Judge:
    """Learn from machine translations."""
    torch.manual_seed(seed)
    rng = numpy.random.default_rng(seed)
    batches = forever(material, material.groups("wild"), BATCH, rng)
    weights = weights_of(settings)
    return run(model, ((one, goals, weights) for one in batches), settings, f"{name} pretrain")


def finetune(
    model: Judge,
    material: Material,
    goals: Goals,
    settings: Settings,
    name: str,
    seed: int,
    held: Collection[str],
    keep: float,
) -> Judge:
    """Learn what people say, and keep what was learned before.

    Args:
        held: Sources of judged translations left out, to choose by.
        keep: What the value of machine translations from before still weighs.
    """
    torch.manual_seed(seed + 1)
    rng = numpy.random.default_rng(seed + 1)
    chosen = material.groups("judged")
    sources = numpy.array(material.source_of(chosen))
    chosen = chosen[~numpy.isin(sources, list(held))]
    judged = forever(material, chosen, SMALL, rng)
    wild = forever(material, material.groups("wild"), BATCH // 2, rng)
    people = judged_goals(material, goals)

    def source() -> Iterator[tuple[Batch, Goals, dict[str, float]]]:
        one, other = weights_of(settings, within=0.0, others=0.0), weights_of(settings, value=keep)
        while True:
            yield next(judged), people, one
            yield next(wild), goals, other

    return run(model, source(), settings, f"{name} finetune")


@torch.no_grad()
def average(models: Sequence[Judge]) -> Judge:
    """The first of some models of one shape, with the mean of all their weights."""
    for own, *others in zip(*(one.parameters() for one in models), strict=True):
        own.copy_(torch.stack([own, *others]).mean(0))
    return models[0]


def blend(
    model: Judge, scores: Tensor, near: Tensor, material: Material, share: float = PLAIN
) -> None:
    """Let the plain matching of the middle states count too, as a share of the learned score.

    What training made of the score knows more of meaning, the plain matching orders good
    translations of one segment better. Chosen on the validation sets, like all else here.

    Args:
        scores: Of rows, before.
        near: The same rows' `nearness` after training.
    """
    machine = torch.from_numpy(material.arrays["row_kind"] == MACHINE)
    known = machine & ~torch.isnan(scores) & ~torch.isnan(near.cpu())
    ratio = scores[known].std() / near.cpu()[known].std()
    model.plain.fill_(float(share * ratio))
