"""Speed of the string metrics beside sacreBLEU, rapidfuzz and NLTK, in one run.

    python benchmarks/strings.py [--segments N] [--json FILE]

All sides get the same segments, already tokenised (13a) and split at white space, and one
core. Turns are taken in alternation and the median counts, so that a noisy machine slows
both. Caches are emptied before every turn of ours; kernels are compiled before the first.
The segments are WMT21 zh-en outputs where ../shared is there, the shipped example otherwise.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

from meantime import __version__, scoring
from meantime.metrics import chrf, tokens
from meantime.registry import create
from meantime.types import Corpus, Level, Pair, Segment, Sentence

ROOT = Path(__file__).resolve().parents[1]
WMT21 = ROOT.parent / "shared" / "data" / "wmt" / "wmt21-news-zhen-mqm.tsv.gz"
EXAMPLES = ROOT / "examples"
TURNS = 3

Texts = list[tuple[str, str]]


def load() -> tuple[str, Texts]:
    """(hypothesis, reference) texts, raw, and where they are from."""
    if WMT21.is_file():
        with gzip.open(WMT21, "rt", encoding="utf-8", newline="\n") as file:
            rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            texts = [(row["hyp"], row["ref"]) for row in rows if row["is_human"] == "0"]
        random.Random(7).shuffle(texts)
        return "WMT21 zh-en, 8 systems", texts
    references = (EXAMPLES / "reference.txt").read_text(encoding="utf-8").split("\n")[:-1]
    texts = []
    for name in ("faithful", "fluent", "literal"):
        lines = (EXAMPLES / f"{name}.txt").read_text(encoding="utf-8").split("\n")[:-1]
        texts += list(zip(lines, references, strict=True))
    return "the shipped example (no ../shared/data here)", texts * 20


def pairs_of(texts: Texts) -> list[Pair]:
    return [
        Pair(Sentence(hypothesis), Segment(str(n), (Sentence(reference),)))
        for n, (hypothesis, reference) in enumerate(texts)
    ]


def forget() -> None:
    """Empty the caches, so that every turn starts cold."""
    tokens.tokenise.cache_clear()
    chrf._points.cache_clear()
    # sacreBLEU's tokenisers keep the last 65,536 texts too, each class its own.
    for name in ("13a", "intl", "zh", "char"):
        for kind in (type(tokens._tokeniser(name)), TokenizerRegexp):
            kind.__call__.cache_clear()


def ours(specification: str, texts: Texts) -> Callable[[], object]:
    """Segment scores of ours, as a turn."""
    pairs = pairs_of(texts)
    metric = create(specification)
    segments = [pair.segment for pair in pairs]

    def turn() -> object:
        forget()
        prepared = metric.prepare(segments)
        scores = []
        for start in range(0, len(pairs), scoring.BATCH):
            rows = prepared.measure(pairs[start : start + scoring.BATCH])
            scores += [prepared.score(row, Level.SEGMENT).value for row in rows]
        return scores

    return turn


def race(*runners: tuple[Callable[[], object], int]) -> list[float]:
    """Segments a second of each (turn, number of segments), turns in alternation."""
    seconds: list[list[float]] = [[] for _ in runners]
    for _ in range(TURNS):
        for place, (turn, _) in enumerate(runners):
            start = time.perf_counter()
            turn()
            seconds[place].append(time.perf_counter() - start)
    return [
        count / statistics.median(times) for times, (_, count) in zip(seconds, runners, strict=True)
    ]


def peers(texts: Texts, slow: Texts) -> list[tuple[str, str, str, Callable[[], object], Texts]]:
    """(our metric, peer, bar, the peer's turn, its segments)."""
    import sacrebleu
    from nltk.translate.nist_score import corpus_nist
    from rapidfuzz.distance import Levenshtein

    options = "tokeniser=none"
    bleu = sacrebleu.BLEU(tokenize="none", effective_order=True, force=True)
    character = sacrebleu.CHRF()
    words = [(h.split(), r.split()) for h, r in texts]
    return [
        (
            f"bleu:{options}",
            "sacreBLEU",
            "2 x",
            lambda: [bleu.sentence_score(h, [r]).score for h, r in texts],
            texts,
        ),
        (
            "chrf",
            "sacreBLEU",
            "2 x",
            lambda: [character.sentence_score(h, [r]).score for h, r in texts],
            texts,
        ),
        (
            "chrf:word_order=2",
            "sacreBLEU",
            "",
            lambda: [sacrebleu.CHRF(word_order=2).sentence_score(h, [r]).score for h, r in texts],
            texts,
        ),
        (
            "ter",
            "sacreBLEU",
            "40 x, 1,000",
            # A new object for every segment: its cache of past alignments must not help.
            lambda: [sacrebleu.TER().sentence_score(h, [r]).score for h, r in slow],
            slow,
        ),
        (
            f"nist:{options}",
            "NLTK",
            "5 x",
            lambda: corpus_nist([[r] for _, r in words], [h for h, _ in words], n=5),
            texts,
        ),
        (
            f"wer:{options}",
            "rapidfuzz",
            "30,000",
            lambda: [
                Levenshtein.distance(h.split(), r.split()) / max(1, len(r.split()))
                for h, r in texts
            ],
            texts,
        ),
    ]


def alone() -> list[tuple[str, str]]:
    """(our metric, bar) where no peer installs with pip."""
    found = [
        ("per:tokeniser=none", "30,000"),
        ("cder:tokeniser=none", "15,000"),
        ("gtm:tokeniser=none", ""),
        ("gtm:tokeniser=none,exponent=2", ""),
        ("meteor:tokeniser=none,modules=exact+stem", "500"),
    ]
    if "wordnet:not found" not in str(create("meteor").signature()):
        found.append(("meteor:tokeniser=none", "500"))
    return found


def lengthen(texts: Texts, length: int) -> Texts:
    """Segments of about this many words, made of shorter ones put end to end."""
    made, hypothesis, reference = [], [], []
    for h, r in texts:
        hypothesis += h.split()
        reference += r.split()
        if len(reference) >= length:
            made.append((" ".join(hypothesis[:length]), " ".join(reference[:length])))
            hypothesis, reference = [], []
        if len(made) == 40:
            break
    return made


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Speed of the string metrics.")
    parser.add_argument("--segments", type=int, default=2000, help="how many segments")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    arguments = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    origin, raw = load()
    everything, raw = raw, raw[: arguments.segments]
    texts = [(" ".join(tokens.tokenise(h)), " ".join(tokens.tokenise(r))) for h, r in raw]
    slow = texts[:150]
    mean = sum(len(r.split()) for _, r in texts) / len(texts)
    console.print(
        f"meantime {__version__}, {origin}: {len(texts)} segments of {mean:.0f} words, one core"
    )
    figures: dict[str, object] = {"segments": len(texts), "origin": origin}

    table = Table(title="segments a second, words given", title_justify="left", box=None)
    for head in ("metric", "meantime", "peer", "its own", "ratio", "bar"):
        table.add_column(
            head, justify="right" if head in ("meantime", "its own", "ratio") else "left"
        )
    speeds: dict[str, dict[str, float | str]] = {}
    for specification, peer, bar, turn, segments in peers(texts, slow):
        warm = ours(specification, texts[:10])
        warm()
        mine, theirs = race((ours(specification, texts), len(texts)), (turn, len(segments)))
        table.add_row(
            specification, f"{mine:,.0f}", peer, f"{theirs:,.0f}", f"{mine / theirs:.1f} x", bar
        )
        speeds[specification] = {"meantime": mine, "peer": peer, "its own": theirs}
    for specification, bar in alone():
        ours(specification, texts[:10])()
        mine = race((ours(specification, texts), len(texts)))[0]
        table.add_row(specification, f"{mine:,.0f}", "", "", "", bar)
        speeds[specification] = {"meantime": mine}
    console.print(table)
    figures["speeds"] = speeds

    table = Table(
        title="\ntokenisation alone, raw text, both sides", title_justify="left", box=None
    )
    table.add_column("tokeniser")
    table.add_column("segments a second", justify="right")
    split: dict[str, float] = {}
    for name in ("13a", "intl", "zh", "char"):

        def turn(name: str = name) -> None:
            forget()
            made = tokens._tokeniser(name)
            for h, r in raw:
                made(h)
                made(r)

        split[name] = race((turn, len(raw)))[0]
        table.add_row(name, f"{split[name]:,.0f}")
    console.print(table)
    figures["tokenisation"] = split

    lengths = (25, 50, 100, 200, 300, 600)
    table = Table(title="\nmilliseconds a segment, by words", title_justify="left", box=None)
    table.add_column("metric")
    for length in lengths:
        table.add_column(str(length), justify="right")
    curve: dict[str, list[float]] = {}
    for specification in [*speeds]:
        times = []
        for length in lengths:
            long = lengthen(texts, length)
            turn = ours(specification, long)
            turn()
            times.append(1000 / race((turn, len(long)))[0])
        table.add_row(specification, *(f"{value:.3f}" for value in times))
        curve[specification] = times
    console.print(table)
    figures["milliseconds by length"] = {"lengths": list(lengths), **curve}

    cores = os.cpu_count() or 1
    pairs = pairs_of(everything)
    many = Corpus(
        tuple(pair.segment for pair in pairs), {"system": tuple(pair.hypothesis for pair in pairs)}
    )
    table = Table(
        title=f"\nwhole run from raw text, {len(everything)} segments",
        title_justify="left",
        box=None,
    )
    for head in ("metrics", "--jobs 1", f"--jobs {cores}", "same numbers"):
        table.add_column(head, justify="right" if head.startswith("--") else "left")
    chosen = ["bleu", "chrf", "ter", "nist", "wer", "per", "cder"]
    results: dict[int, object] = {}

    def whole(jobs: int) -> Callable[[], object]:
        def turn() -> object:
            forget()
            results[jobs] = scoring.score(many, chosen, segments=True, jobs=jobs)
            return results[jobs]

        return turn

    rates = race((whole(1), len(everything)), (whole(cores), len(everything)))
    same = "yes" if results[1] == results[cores] else "NO"
    table.add_row(" ".join(chosen), *(f"{rate:,.0f}" for rate in rates), same)
    console.print(table)
    figures["processes"] = {"1": rates[0], str(cores): rates[1], "same": same}
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
