"""How the shares of `meant`'s components were chosen.

    python -m training.shares [--balance 0.25] [--cache FILE]

Reads WMT 2015 and 2016 from ../shared/data/wmt, and nothing else. Wanted is a metric that agrees
with people and that an error of meaning costs more than a paraphrase. The first is the mean, over
language pairs, of Pearson's correlation with human scores. For the second every translation
among the best fifth of its language pair is held against its own reference, once for each
kind of damage that can be made to it by rule (`meantime.metaeval.damage`): it should score higher
than the damaged reference. The shares maximise

    correlation + balance * mean over kinds of  sigmoid((good - damaged) / 0.02)

by Powell's method from several starts. Prints the shares for several balances, with what they gain
and cost; those of `meant` are the ones for 0.25, rounded.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray
from scipy.optimize import minimize

from meantime import Sentence, create
from meantime.analysis import open_analyser
from meantime.analysis.cache import CachedAnalyser
from meantime.metaeval.damage import KINDS, find_damages
from meantime.metrics.frames import PARTS
from meantime.metrics.meant import COMPONENTS, Meant
from meantime.scoring import BATCH

WMT = Path(__file__).resolve().parents[2] / "shared" / "data" / "wmt"
SETS = ("wmt15-da-toen", "wmt16-da-toen")
GOOD = 0.8
"""Translations above this quantile of their language pair's human scores are good ones."""
WIDTH = 0.02
SEED = 5

Floats = NDArray[numpy.float64]


@dataclass(frozen=True, slots=True)
class Material:
    """Components of judged translations and of damaged references, and what belongs together."""

    groups: tuple[NDArray[numpy.int64], ...]
    human: Floats
    real: Floats
    damaged: Floats
    good: NDArray[numpy.int64]
    """For each damaged reference the number of the good translation it is held against."""
    kinds: NDArray[numpy.str_]

    def correlation(self, shares: Floats) -> float:
        scores = self.real @ shares
        return float(
            numpy.mean([numpy.corrcoef(scores[one], self.human[one])[0, 1] for one in self.groups])
        )

    def _by_kind(self, values: Floats) -> float:
        return float(numpy.mean([values[self.kinds == kind].mean() for kind in set(self.kinds)]))

    def margin(self, shares: Floats) -> float:
        gaps = (self.real[self.good] - self.damaged) @ shares
        return self._by_kind(1 / (1 + numpy.exp(-numpy.clip(gaps / WIDTH, -50, 50))))

    def wins(self, shares: Floats) -> float:
        gaps = (self.real[self.good] - self.damaged) @ shares
        return self._by_kind((gaps > 1e-12) + 0.5 * (abs(gaps) <= 1e-12))


def read(name: str) -> list[dict[str, str]]:
    with gzip.open(WMT / f"{name}.tsv.gz", "rt", encoding="utf-8", newline="\n") as file:
        head = file.readline().rstrip("\n").split("\t")
        rows = [dict(zip(head, line.rstrip("\n").split("\t"), strict=True)) for line in file]
    return [{**row, "group": f"{name}/{row['lp']}"} for row in rows]


def components(metric: Meant, pairs: list[tuple[Sentence, Sentence]]) -> Floats:
    rows = [metric.compare(pairs[n : n + BATCH]) for n in range(0, len(pairs), BATCH)]
    return numpy.concatenate(rows)[:, len(PARTS) :]


def gather(cache: Path | None) -> Material:
    rows = [row for name in SETS for row in read(name)]
    analyser = CachedAnalyser(open_analyser(), cache)

    def analyse(texts: list[str]) -> dict[str, Sentence]:
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, analyser.analyse([Sentence(t) for t in distinct]), strict=True))

    known = analyse([text for row in rows for text in (row["hyp"], row["ref"])])
    human = numpy.array([float(row["score"]) for row in rows])
    names = numpy.array([row["group"] for row in rows])
    groups = tuple(numpy.flatnonzero(names == name) for name in dict.fromkeys(names))
    bars = {names[one[0]]: numpy.quantile(human[one], GOOD) for one in groups}
    rng = numpy.random.default_rng(SEED)
    items: list[tuple[int, str, str]] = []
    for number, row in enumerate(rows):
        if human[number] <= bars[row["group"]] or row["hyp"] == row["ref"]:
            continue
        for kind in KINDS:
            found = find_damages(known[row["ref"]], kind, rng)
            if found:
                items.append((number, kind, found[int(rng.integers(len(found)))].text))
    spoilt = analyse([text for _, _, text in items])
    metric: Any = create("meant")
    return Material(
        groups,
        human,
        components(metric, [(known[row["hyp"]], known[row["ref"]]) for row in rows]),
        components(metric, [(spoilt[text], known[rows[n]["ref"]]) for n, _, text in items]),
        numpy.array([number for number, _, _ in items]),
        numpy.array([kind for _, kind, _ in items]),
    )


def choose(material: Material, balance: float) -> Floats:
    def cost(raw: Floats) -> float:
        shares = numpy.abs(raw) / numpy.abs(raw).sum()
        return -(material.correlation(shares) + balance * material.margin(shares))

    found = [
        minimize(
            cost,
            numpy.random.default_rng(start).random(len(COMPONENTS)),
            method="Powell",
            options={"maxiter": 4000, "xtol": 1e-3, "ftol": 1e-6},
        )
        for start in range(3)
    ]
    best = numpy.abs(min(found, key=lambda one: float(one.fun)).x)
    return best / best.sum()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--balance", type=float, action="append", default=None)
    parser.add_argument("--cache", type=Path, default=None, help="file to keep analyses in")
    options = parser.parse_args()
    if not WMT.is_dir():
        sys.exit(f"{WMT}: no such folder; the judgements must lie beside the repository")
    material = gather(options.cache)
    print(f"{len(material.human)} judgements, {len(material.kinds)} damaged references")
    print(f"{'':<10} " + " ".join(f"{name:>9}" for name in COMPONENTS) + "  pearson    wins")
    shipped = numpy.array(list(Meant().shares.values()))
    rows = [("shipped", shipped / shipped.sum())]
    rows += [
        (f"{balance:g}", choose(material, balance))
        for balance in options.balance or (0.0, 0.1, 0.2, 0.25, 0.3)
    ]
    for name, shares in rows:
        figures = " ".join(f"{one:9.3f}" for one in shares)
        correlation, wins = material.correlation(shares), material.wins(shares)
        print(f"{name:<10} {figures}  {correlation:.4f}  {wins:.4f}", flush=True)


if __name__ == "__main__":
    main()
