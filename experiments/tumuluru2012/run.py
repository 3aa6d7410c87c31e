"""Tumuluru, Lo and Wu 2012 again: word similarity, window and aggregation inside MEANT.

    python experiments/tumuluru2012/run.py [--vectors FILE] [--work DIR] [--cache FILE]
        [--pairs N] [--segments N] [--exhaustive] [--resamples N]

counts context vectors for windows 3 to 13, fits the weights of the role classes on the judgements
of WMT 2015 and 2016 for each combination, scores WMT 2017 zh-en and WMT 2021 zh-en (MQM) with
them, and writes `results.md` beside itself. Each cell is kept as a small JSON file in the folder of
work, so that what was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy

from meantime.alignment.roles import CLASSES
from meantime.analysis import open_analyser
from meantime.analysis.cache import CachedAnalyser
from meantime.cli.cache import cache_path
from meantime.cli.progress import Bar
from meantime.errors import MeantimeError
from meantime.formats.opening import save
from meantime.learned import role_weights
from meantime.matching import weighing
from meantime.metaeval import grids, intervals
from meantime.metaeval.grids import Grouping, Statistic
from meantime.metaeval.human import Grid, HumanScores
from meantime.metaeval.reading import read_human_scores
from meantime.metrics.family import MeantJaccard
from meantime.scoring import analyse_pairs
from meantime.similarity import context_counting
from meantime.similarity.context_file import open_model
from meantime.types import Pair

HERE = Path(__file__).parent
SHARED = HERE.parents[2] / "shared" / "data"
WINDOWS = (3, 5, 7, 9, 11, 13)
MEASURES = {
    "cosine": "Cosine similarity",
    "mutual-information": "Min/Max with MI",
    "jensen-shannon": "JSD",
    "jaccard": "Jaccard coefficient",
    "dice-printed": "Dice's coefficient",
}
PHRASES = ("geometric", "arithmetic", "linking")
FLOOR = 1e-4
SEED = 2012
LABELS = ("pr", "a0", "a1", "a2", "te", "lo", "pu", "ex", "ma", "o", "m", "n")
CORE = 4
"""Predicate, ARG0, ARG1 and ARG2 are the first classes."""
TRAINING = ("wmt15-da-toen", "wmt16-da-toen")


@dataclass(frozen=True)
class Cell:
    """One row of the paper's tables."""

    measure: str
    window: int
    phrase: str

    @property
    def file(self) -> str:
        return f"{self.measure}-{self.window}-{self.phrase}.json"


def cells_of(windows: Sequence[int] = WINDOWS) -> tuple[Cell, ...]:
    """The cells of Tables 1 to 3."""
    return (
        *(Cell(measure, window, "geometric") for window in windows for measure in MEASURES),
        *(Cell("jaccard", window, phrase) for window in windows for phrase in PHRASES[1:]),
    )


@dataclass(frozen=True)
class Judged:
    """Analysed translations with human scores, in groups."""

    name: str
    human: HumanScores
    pairs: Sequence[Pair]
    groups: Sequence[str]
    grouping: Grouping

    @cached_property
    def grid(self) -> Grid:
        return self.human.grid()


def analysed(
    name: str,
    human: Sequence[HumanScores],
    analyser: Any,
    grouping: Grouping = Grouping.POOLED,
) -> Judged:
    """Human scores of several files as one, with frames; the files are the outer groups."""
    joined = replace(human[0], name=name, pairs=tuple(p for one in human for p in one.pairs))
    groups = [f"{one.name}/{pair.lp}" for one in human for pair in one.pairs]
    pairs, _ = analyse_pairs(joined.as_pairs(), MeantJaccard(weights="uniform").needs, analyser)
    return Judged(name, joined, pairs, groups, grouping)


def read(folder: Path, name: str) -> HumanScores:
    """What machines translated and people scored."""
    human = read_human_scores(folder / f"{name}.tsv.gz").without_human_translations()
    kept = tuple(pair for pair in human.pairs if pair.score is not None)
    return replace(human, name=name, pairs=kept)


def sample_pairs(human: HumanScores, count: int | None) -> HumanScores:
    """So many pairs of each language pair, the same every time; all without a count."""
    if count is None:
        return human
    kept = []
    for one in human.split_by("lp").values():
        chosen = random.Random(SEED).sample(range(len(one)), min(count, len(one)))
        kept += [one.pairs[place] for place in sorted(chosen)]
    return replace(human, pairs=tuple(kept))


def sample_segments(human: HumanScores, count: int | None) -> HumanScores:
    """All systems of so many segments, the same every time; all without a count."""
    keys = list(dict.fromkeys(pair.key for pair in human.pairs))
    if count is None or count >= len(keys):
        return human
    chosen = set(random.Random(SEED).sample(keys, count))
    return replace(human, pairs=tuple(pair for pair in human.pairs if pair.key in chosen))


def run_window(
    measure: str,
    window: int,
    phrases: Sequence[str],
    vectors: Path,
    training: Judged,
    tests: Sequence[Judged],
    exhaustive: bool = False,
) -> dict[str, dict[str, Any]]:
    """The cells of a similarity and window by their phrase method: fitted, then scored."""
    found = {}
    source = None
    for phrase in phrases:
        metric = MeantJaccard(
            similarity=f"context:{measure}:{window}:{vectors}",
            phrase=phrase,
            floor=FLOOR,
            weights="uniform",
        )
        # The source remembers pairs of words, and those do not depend on the phrase method.
        source = source or metric.source
        metric.__dict__["_source"] = source
        rows = metric.weighing(training.pairs)
        task, names = role_weights.make_task(
            rows, training.groups, training.human.scores.tolist(), metric.alpha
        )
        if exhaustive:
            fitted = role_weights.fit(task, names, finer=False)
            weights, reached = fitted.integer, fitted.integer_objective
            uniform, tried = fitted.uniform, weighing.count_vectors(len(CLASSES), 12)
        else:
            climbed = role_weights.climb(task)
            weights, reached = climbed.integer, climbed.objective
            uniform, tried = climbed.uniform, climbed.tried
        scores = {}
        for test in tests:
            left, right, otherwise = metric.weighing(test.pairs)
            count = len(test.pairs)
            asked = weighing.Task(
                left, right, otherwise, numpy.zeros(count), numpy.array([0, count]), metric.alpha
            )
            values = weighing.scores_with(asked, numpy.array(weights, dtype=numpy.float64))
            scores[test.name] = [round(value, 7) for value in values.tolist()]
        found[phrase] = {
            "weights": list(weights),
            "training": round(reached, 6),
            "uniform": round(uniform, 6),
            "tried": tried,
            "scores": scores,
        }
    return found


def run_cells(
    work: Path,
    vectors: Path,
    training: Judged,
    tests: Sequence[Judged],
    settings: Mapping[str, Any],
    exhaustive: bool = False,
    cells: Sequence[Cell] = cells_of(),
) -> dict[Cell, dict[str, Any]]:
    """All cells; those that are in the folder with the same settings are taken from there."""
    done: dict[Cell, dict[str, Any]] = {}
    for cell in cells:
        path = work / cell.file
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["settings"] == dict(settings):
                done[cell] = kept
    for measure, window in dict.fromkeys((cell.measure, cell.window) for cell in cells):
        phrases = [
            cell.phrase
            for cell in cells
            if (cell.measure, cell.window) == (measure, window) and cell not in done
        ]
        if not phrases:
            continue
        for phrase, found in run_window(
            measure, window, phrases, vectors, training, tests, exhaustive
        ).items():
            cell = Cell(measure, window, phrase)
            done[cell] = {"settings": dict(settings), **found}
            save(work / cell.file, json.dumps(done[cell]).encode())
            print(f"{len(done)}/{len(cells)} {cell.file}", file=sys.stderr, flush=True)
    return {cell: done[cell] for cell in cells}


# What comes out


@dataclass(frozen=True)
class Figures:
    """A statistic of one cell on one test set: its value, and it in each resample."""

    value: float
    samples: numpy.ndarray[Any, Any]

    def __str__(self) -> str:
        interval = intervals.percentiles(self.samples)
        return f"{self.value:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def measure_cells(
    cells: Mapping[Cell, Mapping[str, Any]], tests: Sequence[Judged], resamples: int
) -> dict[Cell, dict[tuple[str, Statistic], Figures]]:
    """Kendall's and Pearson's correlation of every cell, in the same resamples of segments."""
    found: dict[Cell, dict[tuple[str, Statistic], Figures]] = {cell: {} for cell in cells}
    for test in tests:
        grid = test.grid
        drawn = intervals.resample(
            len(grid.human), rng=numpy.random.default_rng(SEED), resamples=resamples
        )
        for cell, kept in cells.items():
            metric = grid.spread(kept["scores"][test.name])
            for statistic in (Statistic.KENDALL, Statistic.PEARSON):
                one = grids.estimate(statistic, grid.human, metric, grouping=test.grouping)
                if one.value is None:
                    raise SystemExit(f"{cell.file}: {statistic} on {test.name}: {one.reason}")
                samples = intervals.resampled(
                    statistic, grid.human, metric, drawn, grouping=test.grouping
                )
                found[cell][test.name, statistic] = Figures(one.value, samples)
    return found


Measured = Mapping[Cell, Mapping[tuple[str, Statistic], Figures]]


def mean_of(measured: Measured, cells: Sequence[Cell], test: str) -> Figures:
    """The mean Kendall of some cells."""
    some = [measured[cell][test, Statistic.KENDALL] for cell in cells]
    return Figures(
        float(numpy.mean([one.value for one in some])),
        numpy.mean([one.samples for one in some], axis=0),
    )


def difference(
    measured: Measured, ones: Sequence[Cell], others: Sequence[Cell], test: str
) -> tuple[str, int]:
    """Mean Kendall of some cells less that of others; and 1, -1 or 0: above, below, not told."""
    one, other = mean_of(measured, ones, test), mean_of(measured, others, test)
    found = Figures(one.value - other.value, one.samples - other.samples)
    interval = intervals.percentiles(found.samples)
    sign = 1 if interval.low > 0 else -1 if interval.high < 0 else 0
    return f"{found.value:+.3f} ({interval.low:+.3f} to {interval.high:+.3f})", sign


def rows_of(cells: Mapping[Cell, Any], measure: str, phrase: str) -> list[Cell]:
    """One block of a table: all windows there are."""
    return [cell for cell in cells if (cell.measure, cell.phrase) == (measure, phrase)]


def table(
    cells: Mapping[Cell, Mapping[str, Any]],
    measured: Measured,
    chosen: Sequence[tuple[str, str]],
    tests: Sequence[Judged],
) -> list[str]:
    """Tables 1 to 3: training and tests, one block a similarity."""
    heads = "".join(f" {test.name}: τ | {test.name}: r |" for test in tests)
    lines = [f"| | Training |{heads}", "|---|---:|" + "---:|---:|" * len(tests)]
    for measure, phrase in chosen:
        lines.append(f"| **{MEASURES[measure]}** | |" + " | |" * len(tests))
        for cell in rows_of(cells, measure, phrase):
            texts = [f"{cells[cell]['training']:.3f}"]
            for test in tests:
                texts.append(str(measured[cell][test.name, Statistic.KENDALL]))
                texts.append(str(measured[cell][test.name, Statistic.PEARSON]))
            lines.append(f"| window size {cell.window} | {' | '.join(texts)} |")
    return lines


def weights_table(
    cells: Mapping[Cell, Mapping[str, Any]], measured: Measured, test: Judged
) -> list[str]:
    """Tables 4 and 5: one test, and the weights."""
    lines = [f"| Jaccard coefficient | Training | {test.name}: τ | {' | '.join(LABELS)} |"]
    lines += ["|---|---:|---:|" + "---:|" * len(LABELS)]
    for cell in rows_of(cells, "jaccard", "geometric"):
        kept = cells[cell]
        weights = " | ".join(str(value) for value in kept["weights"])
        tau = measured[cell][test.name, Statistic.KENDALL].value
        lines.append(
            f"| window size {cell.window} | {kept['training']:.3f} | {tau:.3f} | {weights} |"
        )
    return lines


VERDICTS = (
    "holds",
    "holds on one set, not shown on the other",
    "holds on one set, the opposite on the other",
    "not shown",
    "the opposite holds on one set, nothing shown on the other",
    "the opposite holds",
)


def verdict_of(signs: Sequence[int]) -> str:
    """What the signs of two differences say of a claim."""
    holds, yes, mixed, unknown, no, opposite = VERDICTS
    if max(signs) > 0:
        return holds if min(signs) > 0 else yes if min(signs) == 0 else mixed
    if min(signs) == 0:
        return unknown
    return opposite if max(signs) < 0 else no


def verdicts(
    cells: Mapping[Cell, Mapping[str, Any]], measured: Measured, tests: Sequence[Judged]
) -> tuple[list[str], list[str]]:
    """The paper's claims in short, and each with the difference that would show it."""
    claims: list[tuple[str, Sequence[Cell], Sequence[Cell]]] = []
    jaccard = rows_of(cells, "jaccard", "geometric")
    for measure, title in MEASURES.items():
        if measure != "jaccard":
            claims.append((f"Jaccard beats {title}", jaccard, rows_of(cells, measure, "geometric")))
    for phrase in PHRASES[1:]:
        claims.append(
            (f"geometric mean beats {phrase}", jaccard, rows_of(cells, "jaccard", phrase))
        )
    best = Cell("jaccard", 5, "geometric")
    fives = [Cell(measure, 5, "geometric") for measure in MEASURES]
    wider = [cell for cell in cells if cell.phrase == "geometric" and cell.window != 5]
    others = [cell for cell in jaccard if cell != best]
    claims.append(("window 5 beats the others, Jaccard", [best], others))
    claims.append(("window 5 beats the others, all similarities", fives, wider))
    claims.append(
        (
            "Jaccard, window 5, geometric beats the mean of all cells",
            [best],
            [cell for cell in cells if cell != best],
        )
    )
    claims.append(
        (
            f"Jaccard, window {jaccard[0].window} beats window {jaccard[-1].window}",
            [jaccard[0]],
            [jaccard[-1]],
        )
    )
    heads = " | ".join(f"{test.name}: difference in τ" for test in tests)
    lines = [f"| Claim | {heads} | Verdict |", "|---|" + "---:|" * len(tests) + "---|"]
    by_verdict: dict[str, list[str]] = {}
    for claim, ones, others in claims:
        found = [difference(measured, ones, others, test.name) for test in tests]
        texts = " | ".join(text for text, _ in found)
        verdict = verdict_of([sign for _, sign in found])
        by_verdict.setdefault(verdict, []).append(claim)
        lines.append(f"| {claim} | {texts} | {verdict} |")
    short = [f"- **{verdict.capitalize()}**: {'; '.join(by_verdict[verdict])}."
             for verdict in VERDICTS if verdict in by_verdict]  # fmt: skip
    return short, lines


def findings(
    cells: Mapping[Cell, Mapping[str, Any]], measured: Measured, tests: Sequence[Judged]
) -> list[str]:
    """Where the paper's choice stands, what the weights favour, what training tells."""
    lines = []
    chosen = Cell("jaccard", 5, "geometric")
    for test in tests:
        ranked = sorted(cells, key=lambda cell: -measured[cell][test.name, Statistic.KENDALL].value)
        best = ranked[0]
        told = _spearman(
            [cells[cell]["training"] for cell in cells],
            [measured[cell][test.name, Statistic.KENDALL].value for cell in cells],
        )
        text, sign = difference(measured, [best], [chosen], test.name)
        ahead = (
            ""
            if best == chosen
            else f" The best is {MEASURES[best.measure]}, window {best.window}, {best.phrase}, "
            f"ahead by {text}, picked after the fact"
            f"{'' if sign else ' and no more than chance may give'}."
        )
        lines.append(
            f"- {test.name}: the paper's choice (Jaccard, window 5, geometric mean) is number "
            f"{ranked.index(chosen) + 1} of {len(cells)}.{ahead} Training τ and test τ over "
            f"the {len(cells)} cells: Spearman {told:.2f}."
        )
    shares = []
    for measure, title in MEASURES.items():
        some = [cells[cell]["weights"][:CORE] for cell in rows_of(cells, measure, "geometric")]
        shares.append(f"{title} {sum(map(sum, some)) / (12 * len(some)):.0%}")
    for phrase in PHRASES[1:]:
        some = [cells[cell]["weights"][:CORE] for cell in rows_of(cells, "jaccard", phrase)]
        shares.append(f"Jaccard with {phrase} {sum(map(sum, some)) / (12 * len(some)):.0%}")
    lines.append(
        "- Share of the weight on predicate, arg0, arg1 and arg2 (4 of 12 classes, 33 % if equal), "
        f"mean over windows: {'; '.join(shares)}."
    )
    gains = [kept["training"] - kept["uniform"] for kept in cells.values()]
    lines.append(
        f"- On training data, fitted weights beat equal ones by {min(gains):.3f} to "
        f"{max(gains):.3f}, mean {numpy.mean(gains):.3f}."
    )
    lines.append(
        "- The paper's printed τ are multiples of 1/111 on GALE-A and of 1/105 on GALE-B, as some "
        "15 items give, where τ has a standard deviation of 0.19 by chance alone. Most of the "
        "differences it concludes from are smaller."
    )
    return lines


def _spearman(ones: Sequence[float], others: Sequence[float]) -> float:
    from meantime.metaeval.correlation import spearman

    return spearman(ones, others)


def report(
    cells: Mapping[Cell, Mapping[str, Any]],
    measured: Measured,
    training: Judged,
    tests: Sequence[Judged],
    about: str,
) -> str:
    """`results.md`."""
    geometric = [(measure, "geometric") for measure in MEASURES]
    short, claims = verdicts(cells, measured, tests)
    parts = [
        "# Tumuluru, Lo and Wu 2012",
        "Written by `run.py`. τ is Kendall's tau-b, r Pearson's correlation, in brackets the 95 % "
        "bootstrap interval over segments.",
        "## What was done",
        about,
        "## Which claims hold",
        "\n".join(short),
        "Differences of mean τ over windows, cells compared in the same resamples of segments. A "
        "claim holds where the whole interval is above 0, its opposite where it is below. The "
        "intervals are not corrected for their number, and leave out that other training data "
        "would give other weights.",
        "\n".join(claims),
        "\n".join(findings(cells, measured, tests)),
        "## Table 1: similarities, geometric mean",
        "\n".join(table(cells, measured, geometric, tests)),
        "## Table 2: Jaccard, arithmetic mean",
        "\n".join(table(cells, measured, [("jaccard", "arithmetic")], tests)),
        "## Table 3: Jaccard, competitive linking",
        "\n".join(table(cells, measured, [("jaccard", "linking")], tests)),
    ]
    for number, test in enumerate(tests, 4):
        parts += [
            f"## Table {number}: weights, Jaccard, geometric mean, tested on {test.name}",
            "\n".join(weights_table(cells, measured, test)),
        ]
    return "\n\n".join(parts) + "\n"


def describe(
    training: Judged, tests: Sequence[Judged], arguments: argparse.Namespace, tried: int, model: Any
) -> str:
    """What was measured on what, in words."""
    sampled = (
        "all of them"
        if arguments.pairs is None
        else f"a sample of {arguments.pairs} for each language pair and year"
    )
    lines = [
        f"- **Training**: {len(training.pairs):,} judged translations of wmt15 and wmt16 "
        f"({sampled}) in {len(set(training.groups))} groups; the objective is the mean τ within "
        "groups.",
    ]
    for test in tests:
        how = "pooled" if test.grouping is Grouping.POOLED else "within segments"
        lines.append(
            f"- **{test.name}**: {len(test.pairs):,} translations, "
            f"{len(test.grid.segments):,} segments, {len(test.grid.systems)} systems; τ and r "
            f"{how}."
        )
    if arguments.segments is not None:
        lines[-1] += " The segments are a sample, with all systems of each."
    lines.append(
        "- **Weights**: whole numbers that sum to 12. "
        + (
            "All 1,352,078 vectors were tried."
            if arguments.exhaustive
            else "The grid was climbed, not tried whole: all 1,365 vectors that sum to 4, then "
            "from the best 3 of them (times 3) and from equal weights one unit at a time moved to "
            "another class while that helps; "
            f"{tried:,} vectors a cell on average, of 1,352,078. The best on the grid may be "
            "better on training data; `--exhaustive` finds it."
        )
    )
    lines.append(
        f"- **Vectors**: windows 3 to 13 counted from the English texts of the shared data (no "
        f"stemming, no stop list, lower case): {len(model.words):,} words, "
        f"{model.contexts:,} contexts. The paper had Gigaword."
    )
    lines.append(
        f"- **Metric**: frames by our analyser, aligned by predicate; a word without a vector has "
        f"similarity 0 with any other; floor of the geometric mean {FLOOR:g}; Dice as printed, "
        "without the factor 2; Jensen-Shannon as 1 less half the divergence; mutual information "
        "clipped at 0. Where a side has no frame, whole sentences are compared."
    )
    lines.append(
        "- **Not as in the paper**: other data (GALE cannot be had), and one training set: "
        "Tables 4 and 5 show the weights of Table 1, where the paper trained on a third set."
    )
    return "\n".join(lines)


def arguments_of(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=SHARED, help="the shared data")
    parser.add_argument("--vectors", type=Path, help="count vectors made before")
    parser.add_argument(
        "--work", type=Path, default=HERE / "work", help="where vectors and cells are kept"
    )
    parser.add_argument("--cache", type=Path, help="file of analyses; by default the user's")
    parser.add_argument(
        "--pairs", type=int, help="train on so many pairs of each language pair and year"
    )
    parser.add_argument("--segments", type=int, help="test on so many segments of wmt21")
    parser.add_argument(
        "--windows", type=int, nargs="+", default=WINDOWS, metavar="N", help="5 and others"
    )
    parser.add_argument("--exhaustive", action="store_true", help="try every vector of weights")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=HERE / "results.md")
    arguments = parser.parse_args(given)
    if not {5} < set(arguments.windows) <= set(WINDOWS):
        wanted = ", ".join(str(window) for window in WINDOWS)
        parser.error(f"--windows: give 5, the paper's choice, and others of {wanted}")
    arguments.windows = sorted(set(arguments.windows))
    return arguments


def main() -> None:
    arguments = arguments_of()
    arguments.work.mkdir(parents=True, exist_ok=True)
    vectors = arguments.vectors or arguments.work / "windows-3-13.vectors"
    if not vectors.exists():
        if arguments.vectors:
            raise MeantimeError(f"{vectors}: no such file; leave --vectors out to count anew")
        texts = sorted((arguments.data / "text").glob("en-*.txt.gz"))
        print(f"counting windows of {len(texts)} texts", file=sys.stderr)
        context_counting.train(texts, vectors, windows=WINDOWS)
    model = open_model(vectors)
    wmt = arguments.data / "wmt"
    with Bar("analysing") as bar:
        analyser = CachedAnalyser(
            open_analyser(progress=bar), arguments.cache or cache_path(), vectors=False
        )
        training = analysed(
            "wmt15+16", [sample_pairs(read(wmt, name), arguments.pairs) for name in TRAINING],
            analyser,
        )  # fmt: skip
        tests = [
            analysed("wmt17 zh-en", [read(wmt, "wmt17-da-toen").split_by("lp")["zh-en"]], analyser),
            analysed(
                "wmt21 zh-en",
                [sample_segments(read(wmt, "wmt21-news-zhen-mqm"), arguments.segments)],
                analyser,
                Grouping.SEGMENTS,
            ),
        ]
    settings = {
        "vectors": model.identity,
        "analyser": analyser.identity,
        "pairs": [len(training.pairs), *(len(test.pairs) for test in tests)],
        "search": "exhaustive" if arguments.exhaustive else "climbed",
        "floor": FLOOR,
    }
    cells = run_cells(
        arguments.work,
        vectors,
        training,
        tests,
        settings,
        arguments.exhaustive,
        cells_of(arguments.windows),
    )
    measured = measure_cells(cells, tests, arguments.resamples)
    tried = round(sum(kept["tried"] for kept in cells.values()) / len(cells))
    about = describe(training, tests, arguments, tried, model)
    save(arguments.out, report(cells, measured, training, tests, about).encode())


if __name__ == "__main__":
    try:
        main()
    except MeantimeError as error:
        sys.exit(f"run.py: {error}")
