"""Speed of tuning, reranking and minimum Bayes risk.

    python benchmarks/tuning.py [--only search|ranking|read|measure|mbr] [--metric NAME …]
        [--segments N] [--candidates N] [--features N]

Candidates are real machine translations where ../shared is there (the other systems' outputs
for a segment, and copies of them with words dropped and exchanged where there are too few), and
made from the examples otherwise; features are made by chance, a few of them knowing the
translation's quality a little. Times are of the wall, and of the processors in brackets: on a
machine that others use the second is what the first would be on one idle core.

`--only measure --metric meant` measures 500 lists of 100, `--only mbr --metric meant` compares
100 lists of 50, each with analyses that are not yet cached.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import itertools
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from meantime import Segment, Sentence, create, registry  # noqa: E402
from meantime.formats.nbest import Candidate, read_nbest, render_candidate  # noqa: E402
from meantime.scoring import ANALYSED  # noqa: E402
from meantime.tuning.candidates import Candidates, Gathering  # noqa: E402
from meantime.tuning.mbr import decide  # noqa: E402
from meantime.tuning.mert import Problem, optimise  # noqa: E402
from meantime.tuning.ranking import learn  # noqa: E402
from meantime.tuning.statistics import Statistics, prepare_references  # noqa: E402

SHARED = ROOT.parent / "shared" / "data"


@contextmanager
def timed(what: str, unit: str = "", count: int = 0) -> Iterator[None]:
    """Print how long something took, and how much of it a second."""
    wall, processors = time.perf_counter(), sum(os.times()[:4])
    yield
    wall, processors = time.perf_counter() - wall, sum(os.times()[:4]) - processors
    speed = f"  {count / wall:12,.0f} {unit} a second" if count else ""
    print(f"{what:58} {wall:7.1f} s [{processors:7.1f} s]{speed}", flush=True)


def translations(segments: int, size: int) -> tuple[list[str], list[list[str]]]:
    """References, and for each so many different translations."""
    rng = numpy.random.default_rng(7)
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    references: dict[tuple[str, str], str] = {}
    path = SHARED / "wmt" / "mt-outputs-toen.tsv.gz"
    if path.is_file():
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                key = (row["set"] + row["lp"], row["seg"])
                found[key].append(row["hyp"])
                references[key] = row["ref"]
    else:
        lines = (ROOT / "examples" / "reference.txt").read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            found["", str(number)].append(line)
            references["", str(number)] = line
    keys = sorted(found, key=lambda key: (-len(set(found[key])), key))[:segments]
    keys = list(itertools.islice(itertools.cycle(keys), segments))
    lists = []
    for key in keys:
        texts = dict.fromkeys(found[key])
        while len(texts) < size:
            words = list(rng.choice(list(texts)).split()) or ["word"]
            for _ in range(1 + len(words) // 15):
                one, other = rng.integers(0, len(words), 2)
                words[one], words[other] = words[other], words[one]
            if len(words) > 3 and rng.random() < 0.5:
                del words[rng.integers(len(words))]
            texts[" ".join(words)] = None
        lists.append(list(texts)[:size])
    return [references[key] for key in keys], lists


def gathered(lists: list[list[str]], references: list[str], features: int) -> Candidates:
    """Lists with features made by chance."""
    rng = numpy.random.default_rng(3)
    gathering = Gathering(len(lists))
    names = tuple(f"f{n}" for n in range(features))
    gathering.add(
        "made",
        (
            Candidate(number, text, names, tuple(_features(rng, text, references[number], names)))
            for number, several in enumerate(lists)
            for text in several
        ),
    )
    return gathering.build()


def _features(
    rng: numpy.random.Generator, text: str, reference: str, names: tuple[str, ...]
) -> list[float]:
    words, wanted = text.split(), set(reference.split())
    common = sum(word in wanted for word in words)
    values = rng.normal(size=len(names)) * rng.uniform(0.5, 4, len(names))
    values[0] += common
    values[1 % len(names)] -= len(words)
    values[2 % len(names)] += common / max(1, len(words)) * 5
    return [round(float(value), 4) for value in values]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", choices=["search", "ranking", "read", "measure", "mbr"])
    parser.add_argument("--metric", action="append")
    parser.add_argument("--segments", type=int)
    parser.add_argument("--candidates", type=int)
    parser.add_argument("--features", type=int, default=15)
    asked = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    if asked.only in (None, "read", "search", "ranking"):
        search(asked)
    if asked.only in (None, "measure"):
        for name in asked.metric or ["bleu", "chrf"]:
            measure(name, asked.segments or 500, asked.candidates or 100)
    if asked.only in (None, "mbr"):
        for name in asked.metric or ["bleu", "chrf", "chrf:beta=1"]:
            risk(name, asked.segments or 100, asked.candidates or 50)


def search(asked: argparse.Namespace) -> None:
    """Reading, measuring, and one whole optimisation."""
    segments, size = asked.segments or 1000, asked.candidates or 100
    references, lists = translations(segments, size)
    candidates = gathered(lists, references, asked.features)
    what = f"{segments} x {size} x {asked.features}"
    if asked.only in (None, "read"):
        _reading(candidates, what)
    for name in asked.metric or ["bleu", "chrf", "ter"]:
        statistics = _statistics(name, references)
        with timed(f"{name}: measuring {what}", "texts", len(candidates.texts)):
            rows = statistics.rows(candidates.texts)
        metric = statistics.metric
        weights = numpy.full(asked.features, 1 / asked.features)
        if asked.only in (None, "search"):
            _search(name, what, candidates, rows, metric, weights)
        if asked.only in (None, "ranking"):
            with timed(f"{name}: learning by ranking {what}"):
                ranked = learn(candidates, rows, metric, weights)
            print(f"    {ranked.initial:.4f} to {ranked.value:.4f}, {ranked.pairs} pairs")


def _search(name, what, candidates, rows, metric, weights) -> None:
    # Once, so that the kernels are compiled.
    optimise(Problem(candidates, rows, metric), candidates.names, weights, seed=9, threads=2)
    for threads in (1, 2):
        with timed(f"{name}: search with 20 restarts {what}, {threads} threads"):
            problem = Problem(candidates, rows, metric)
            found = optimise(problem, candidates.names, weights, threads=threads)
        lines = sum(start.searches for start in found.starts)
        print(
            f"    {found.initial:.4f} to {found.value:.4f}; {lines} lines searched, "
            f"{found.agreeing} of {len(found.starts)} starts at the best"
        )


def _reading(candidates: Candidates, what: str) -> None:
    lines = "".join(
        render_candidate(
            Candidate(
                candidates.texts[text][0],
                candidates.texts[text][1],
                candidates.names,
                tuple(map(float, candidates.features[place])),
            ),
            format="moses",
        )
        for place, text in enumerate(candidates.text)
    ).encode()
    with timed(f"reading {what} ({len(lines) / 1e6:.0f} MB)", "candidates", len(candidates)):
        gathering = Gathering(candidates.segments)
        gathering.add("made", read_nbest("-", stdin=io.BytesIO(lines)))
        gathering.build()


def _statistics(name: str, references: list[str]) -> Statistics:
    segments = [
        Segment(str(n), (Sentence(text),), Sentence(text)) for n, text in enumerate(references)
    ]
    metric = create(name)
    enriched, metric = prepare_references(segments, metric)
    from meantime.analysis import open_analyser

    analyser = open_analyser() if metric.needs & set(ANALYSED) else None
    return Statistics(metric, enriched, analyser=analyser)


def measure(name: str, segments: int, size: int) -> None:
    """Lists from text to rows, analyses and all."""
    if name.partition(":")[0] not in registry.names():
        print(f"{name}: no such metric here")
        return
    references, lists = translations(segments, size)
    statistics = _statistics(name, references)
    texts = [(number, text) for number, several in enumerate(lists) for text in several]
    statistics.rows(texts[:4])
    with timed(f"{name}: measuring {segments} lists of {size}", "texts", len(texts)):
        statistics.rows(texts)


def risk(name: str, segments: int, size: int) -> None:
    """Minimum Bayes risk, analyses and all."""
    if name.partition(":")[0] not in registry.names():
        print(f"{name}: no such metric here")
        return
    _, lists = translations(segments, size)
    gathering = Gathering(None)
    gathering.add(
        "made",
        (Candidate(number, text) for number, several in enumerate(lists) for text in several),
    )
    candidates = gathering.build()
    metric = create(name)
    from meantime.analysis import open_analyser

    analyser = open_analyser() if metric.needs & set(ANALYSED) else None
    small = Gathering(None)
    small.add("made", [Candidate(0, "The cat sat."), Candidate(0, "A cat sat here.")])
    decide(small.build(), metric, analyser=analyser)
    pairs = len(candidates) * size
    with timed(f"{name}: minimum Bayes risk, {segments} lists of {size}", "pairs", pairs):
        decision = decide(candidates, metric, analyser=analyser)
    print(f"    {decision.pairs} pairs measured, {decision.saved} saved")
    if name in ("bleu", "chrf"):
        beside(name, lists[:5])


def beside(name: str, lists: list[list[str]]) -> None:
    """The same by sacreBLEU, which scores one pair at a time: time, ratio, and what is chosen."""
    from sacrebleu.metrics import BLEU, CHRF

    score = (BLEU(effective_order=True) if name == "bleu" else CHRF()).sentence_score
    gathering = Gathering(None)
    gathering.add("made", (Candidate(n, text) for n, some in enumerate(lists) for text in some))
    candidates = gathering.build()
    begun = time.process_time()
    decision = decide(candidates, create(name))
    middle = time.process_time()
    chosen = [
        max(some, key=lambda text: sum(score(text, [other]).score for other in some))
        for some in lists
    ]
    ours, theirs = middle - begun, time.process_time() - middle
    same = sum(
        ranking.texts[0] == text for ranking, text in zip(decision.rankings, chosen, strict=True)
    )
    print(
        f"    {len(lists)} lists of them: {ours:.2f} s, sacreBLEU pair by pair {theirs:.1f} s, "
        f"{theirs / ours:.0f} times as long; {same} of {len(lists)} choices are the same"
    )


if __name__ == "__main__":
    main()
