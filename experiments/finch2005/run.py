"""Finch, Hwang and Sumita 2005 again, on the same data: Tables 1 to 5, the pilots, and MEANT.

    python experiments/finch2005/run.py

writes `results.md` beside itself. Analyses, features and everything that was trained are kept in
`work/`, so that a run that was stopped goes on, and one that was finished takes a minute.
Parameters and scaling are chosen inside the training folds; the test parts are only tested on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb
from pathlib import Path

import numpy

from meantime.analysis import open_analyser
from meantime.analysis.cache import CachedAnalyser
from meantime.learned import figures, searching
from meantime.learned.caching import compute_features
from meantime.learned.features import TAGS
from meantime.learned.groups import Settings, make_features
from meantime.learned.journal import Journal, fingerprint
from meantime.learned.labelled import LabelledPairs, read_labelled
from meantime.learned.overlaps import OVERLAPS
from meantime.learned.searching import Candidate, best, cross_validate, grid, jackknife, train
from meantime.learned.synonyms import count_synonyms
from meantime.matching.edits import edit_distances
from meantime.metrics import tokens
from meantime.scoring import analyse_pairs
from meantime.types import Layer, Pair

HERE = Path(__file__).parent
WORK = HERE / "work"
DATA = HERE.parents[2] / "shared" / "data" / "pairs"
SEED = 2005
LAYERS = frozenset({Layer.TOKENS, Layer.POS, Layer.TREE, Layer.FRAMES, Layer.VECTORS})

WIDE = grid([1, 4], [0.7, 1, 1.5, 2.5], relative=True) + grid(
    [4], [0.2, 0.5], ["unit"], relative=True
)
"""Tried on one training part."""
NARROW = grid([1, 4], [0.7, 1.5], relative=True) + grid([4], [0.3], ["unit"], relative=True)
"""Tried where there are ten training parts, or twenty."""
MOST = 1200
"""Pairs of the other folds by which a jackknife chooses parameters; then it trains on all."""

POS = tuple(f"pos{sign}:{tag}" for sign in "-+" for tag in TAGS)
ROWS: dict[str, tuple[str, ...]] = {
    "WER": ("wer",),
    "PER": ("per",),
    "POS-": POS[: len(TAGS)],
    "PER POS-": ("per", *POS[: len(TAGS)]),
    "POS+": POS[len(TAGS) :],
    "POS": POS,
    **{name.upper(): (name,) for name in OVERLAPS[2:]},
    "ALL": (*OVERLAPS, *POS),
}
TABLE2 = dict(zip(ROWS, (
    (68.80, 0.90, 69.89, 94.20, 80.22), (71.25, 1.03, 72.05, 93.58, 81.39),
    (70.99, 1.16, 72.07, 92.99, 81.15), (72.71, 1.34, 73.99, 91.67, 81.86),
    (71.56, 0.99, 72.51, 93.02, 81.46), (74.18, 0.94, 75.52, 91.13, 82.58),
    (72.30, 1.10, 73.71, 91.41, 81.59), (70.26, 1.37, 71.55, 92.65, 80.72),
    (68.30, 1.42, 69.40, 94.54, 80.03), (67.64, 1.22, 68.46, 96.18, 79.97),
    (71.78, 1.44, 73.95, 89.65, 81.02), (71.64, 1.12, 73.64, 90.13, 81.03),
    (71.59, 1.17, 72.94, 91.82, 81.28), (71.56, 1.17, 72.82, 92.08, 81.30),
    (71.52, 1.14, 72.75, 92.18, 81.30), (75.35, 1.13, 77.35, 89.54, 82.99),
), strict=True))  # fmt: skip
TABLE3 = dict(zip(ROWS, (
    68.29, 71.88, 70.96, 73.33, 70.96, 74.20, 73.22, 70.96, 68.93, 67.88, 72.35, 71.59, 71.01,
    70.96, 70.75, 74.96,
), strict=True))  # fmt: skip
COPIED = ("POS-", "POS+", "NIST4")
"""Rows of Table 3 that are the same in all four figures: likely copied, and no target."""
FEW = ("BLEU1", "NIST1", "PER", "POS", "ALL")
TABLE4 = {
    "CD": (74.67, 76.67, 73.33, 79.33, 82.00), "IE": (49.17, 50.00, 48.33, 42.50, 44.17),
    "IR": (47.78, 45.56, 41.11, 37.78, 40.00), "MT": (39.17, 52.50, 69.17, 65.83, 61.67),
    "PP": (56.00, 44.00, 58.00, 44.00, 38.00), "QA": (56.15, 53.08, 56.92, 53.08, 55.38),
    "RC": (52.86, 53.57, 48.57, 57.14, 55.00), "ALL": (54.50, 55.63, 57.37, 56.75, 56.75),
}  # fmt: skip
TABLE5 = {
    "Low LDR": (76.71, 77.85, 72.15, 75.80, 76.48),
    "High LDR": (68.49, 70.09, 69.63, 72.83, 73.52),
}
TABLE1 = {
    "Sentence1 length": (21.6, 27.8, 24.0, 27.4, 36.7, 31.5, 27.9, 24.0, 24.6),
    "Sentence2 length": (21.6, 11.6, 16.1, 8.4, 19.2, 8.7, 10.2, 11.2, 7.2),
    "Length difference ratio": (0.14, 0.54, 0.32, 0.66, 0.46, 0.68, 0.60, 0.46, 0.66),
    "Edit distance": (11.3, 22.0, 18.2, 22.2, 28.1, 26.8, 21.8, 17.3, 21.0),
}
TASKS = ("CD", "IE", "MT", "QA", "RC", "PP", "IR")
DRAWS = 5
"""Of Table 5's training and test pairs."""
THRESHOLDS = (1.0, 3.0, 6.0)
"""Of synonyms; one is chosen inside the training folds."""


@dataclass(frozen=True)
class Part:
    """A file of pairs, analysed, and the features asked of it so far."""

    name: str
    read: LabelledPairs
    pairs: list[Pair]
    origin: str

    @property
    def labels(self) -> numpy.ndarray:
        return self.read.labels

    def features(
        self, groups: Sequence[str], **settings: object
    ) -> tuple[tuple[str, ...], numpy.ndarray]:
        """Names and values of groups, both directions averaged; kept in `work`."""
        made = make_features(groups, Settings(both_directions=True, **settings))  # type: ignore[arg-type]
        values = compute_features(made, self.pairs, analysis=self.origin, folder=WORK)
        return made.names, values


def load() -> dict[str, Part]:
    """The four files, analysed."""
    analyser = CachedAnalyser(open_analyser(threads=1), WORK / "analyses.sqlite")
    parts = {}
    for name in ("msrp-train", "msrp-test", "rte1-dev", "rte1-test"):
        say(f"analysing {name}")
        found = read_labelled(DATA / f"{name}.tsv.gz")
        pairs, origin = analyse_pairs(found.pairs, LAYERS, analyser)
        parts[name] = Part(name, found, pairs, origin)
    return parts


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def columns(names: Sequence[str], values: numpy.ndarray, wanted: Sequence[str]) -> numpy.ndarray:
    return values[:, [names.index(name) for name in wanted]]


class Runner:
    """Searches that go on where they were: one journal for all, keys by the data themselves."""

    def __init__(self) -> None:
        self.journal = Journal(WORK / "tried.jsonl", fingerprint({"version": 1, "seed": SEED}))

    def name(self, what: str, *arrays: numpy.ndarray) -> str:
        return f"{what} {fingerprint({}, *arrays)[:16]}"

    def jackknife(
        self, what: str, rows: numpy.ndarray, labels: numpy.ndarray
    ) -> searching.Jackknifed:
        say(f"jackknife: {what}")
        return jackknife(
            rows, labels, NARROW, folds=10, seed=SEED, most=MOST, journal=self.journal,
            name=self.name("jackknife", rows, labels),
        )  # fmt: skip

    def split(
        self, what: str, rows: numpy.ndarray, labels: numpy.ndarray, asked: numpy.ndarray,
        candidates: Sequence[Candidate] = WIDE, folds: int = 3,
    ) -> tuple[numpy.ndarray, searching.Tried]:  # fmt: skip
        """What a classifier decides that was trained, and its parameters chosen, on `rows`."""
        name = self.name("split", rows, labels)
        chosen = best(
            cross_validate(
                rows, labels, candidates, folds=folds, seed=SEED, journal=self.journal, name=name
            )
        )
        key = f"{name}/{self.name('decided', asked)}/{chosen.candidate}"
        decided = self.journal.get(key)
        if decided is None:
            say(f"trained: {what}")
            decided = [int(d) for d in train(rows, labels, chosen.candidate)(asked) > 0]
            self.journal.put(key, decided)
        return numpy.array(decided, dtype=bool), chosen


def table1(parts: dict[str, Part]) -> list[str]:
    """Corpus statistics, over the analyser's words with nouns and verbs stemmed."""
    sets: dict[str, list[Pair]] = {"MSRP": parts["msrp-train"].pairs + parts["msrp-test"].pairs}
    rte = [(t, p) for n in ("rte1-dev", "rte1-test")
           for t, p in zip(parts[n].read.tasks or (), parts[n].pairs, strict=True)]  # fmt: skip
    sets["PASCAL"] = [pair for _, pair in rte]
    sets |= {task: [pair for name, pair in rte if name == task] for task in TASKS}
    ours: dict[str, list[float]] = {name: [] for name in TABLE1}
    for pairs in sets.values():
        first = [pair.hypothesis.tokens or () for pair in pairs]
        second = [pair.segment.references[0].tokens or () for pair in pairs]
        a, b = (numpy.array([len(words) for words in side]) for side in (first, second))
        batch = tokens.batch(first, [[words] for words in second])
        ours["Sentence1 length"].append(float(a.mean()))
        ours["Sentence2 length"].append(float(b.mean()))
        ours["Length difference ratio"].append(float((abs(a - b) / numpy.maximum(a, b)).mean()))
        ours["Edit distance"].append(float(edit_distances(*batch).mean()))
    lines = [f"| | {' | '.join(sets)} |", "|---|" + "---:|" * len(sets)]
    for name, paper in TABLE1.items():
        places = 2 if "ratio" in name else 1
        cells = [f"{x:.{places}f} ({y:.{places}f})" for x, y in zip(ours[name], paper, strict=True)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def table2(parts: dict[str, Part], runner: Runner) -> list[str]:
    """The jackknife over all of MSRP."""
    names, values, labels = whole(parts)
    lines = ["| | Accuracy | Precision | Recall | F-measure | paper's accuracy | difference |",
             "|---|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    for row, wanted in ROWS.items():
        found = runner.jackknife(row, columns(names, values, wanted), labels)
        each = [figures.estimate(found.of(f)) for f in ("accuracy", "precision", "recall", "f")]
        cells = [f"{100 * one.mean:.2f} ± {100 * one.margin:.2f}" for one in each]
        accuracy, margin = TABLE2[row][:2]
        lines.append(
            f"| {row} | {' | '.join(cells)} | {accuracy:.2f} ± {margin:.2f} | "
            f"{100 * each[0].mean - accuracy:+.2f} |"
        )
    return lines


def whole(
    parts: dict[str, Part], groups: Sequence[str] = ("all",), **settings: object
) -> tuple[tuple[str, ...], numpy.ndarray, numpy.ndarray]:
    """Features of both parts of MSRP together."""
    names, first = parts["msrp-train"].features(groups, **settings)
    _, second = parts["msrp-test"].features(groups, **settings)
    labels = numpy.concatenate([parts["msrp-train"].labels, parts["msrp-test"].labels])
    return names, numpy.concatenate([first, second]), labels


def table3(parts: dict[str, Part], runner: Runner) -> list[str]:
    """The given split."""
    one, other = parts["msrp-train"], parts["msrp-test"]
    names, values = one.features(["all"])
    _, asked = other.features(["all"])
    lines = ["| | Accuracy [95 %] | Precision | Recall | F-measure | paper | difference |",
             "|---|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    for row, wanted in ROWS.items():
        decided, _ = runner.split(
            row, columns(names, values, wanted), one.labels, columns(names, asked, wanted)
        )
        found = figures.measure(decided, other.labels)
        paper = TABLE3[row]
        target = f"{paper:.2f}{' *' if row in COPIED else ''}"
        lines.append(
            f"| {row} | {interval(found)} | {100 * found.precision:.2f} | "
            f"{100 * found.recall:.2f} | "
            f"{100 * found.f:.2f} | {target} | {100 * found.accuracy - paper:+.2f} |"
        )
    return lines


def interval(found: figures.Figures) -> str:
    low, high = figures.wilson(found.accuracy, found.examples)
    return f"{100 * found.accuracy:.2f} [{100 * low:.2f}, {100 * high:.2f}]"


def table4(parts: dict[str, Part], runner: Runner) -> list[str]:
    """RTE-1 by task, trained on all of the development part or task by task.

    The paper says "PASCAL train", and not whether each task has a classifier of its own.
    """
    one, other = parts["rte1-dev"], parts["rte1-test"]
    names, values = one.features(["all"])
    _, asked = other.features(["all"])
    learned, tasks = numpy.array(one.read.tasks), numpy.array(other.read.tasks)
    together, apart = {}, {}
    for row in FEW:
        rows, others = columns(names, values, ROWS[row]), columns(names, asked, ROWS[row])
        together[row], _ = runner.split(f"RTE {row}", rows, one.labels, others, folds=5)
        apart[row] = numpy.zeros(len(others), dtype=bool)
        for task in TASKS:
            mine, there = learned == task, tasks == task
            apart[row][there], _ = runner.split(
                f"RTE {row} {task}", rows[mine], one.labels[mine], others[there], folds=5
            )
    low, high = figures.wilson(0.55, len(tasks))
    least, most = figures.wilson(0.55, 120)
    return [
        "One classifier for all tasks:",
        "",
        *by_task(together, tasks, other.labels),
        "",
        "A classifier for each task, trained on its 54 to 103 pairs:",
        "",
        *by_task(apart, tasks, other.labels),
        "",
        f"(An accuracy of 55 % over all {len(tasks)} test pairs has the interval "
        f"[{100 * low:.1f}, {100 * high:.1f}]; over 120 pairs of a task "
        f"[{100 * least:.1f}, {100 * most:.1f}].)",
    ]


def by_task(
    decided: dict[str, numpy.ndarray], tasks: numpy.ndarray, labels: numpy.ndarray
) -> list[str]:
    """Accuracies beside the paper's."""
    lines = [f"| Task | pairs | {' | '.join(FEW)} |", "|---|---:|" + "---:|" * len(FEW)]
    for task, paper in TABLE4.items():
        there = numpy.ones(len(tasks), dtype=bool) if task == "ALL" else tasks == task
        cells = []
        for row, target in zip(FEW, paper, strict=True):
            found = figures.measure(decided[row][there], labels[there])
            cells.append(f"{100 * found.accuracy:.2f} ({target:.2f})")
        lines.append(f"| {task} | {int(there.sum())} | {' | '.join(cells)} |")
    return lines


def table5(parts: dict[str, Part], runner: Runner) -> list[str]:
    """Halves of MSRP by length difference, both classes in equal numbers.

    The paper does not say how it took 723 pairs of a class from a half: by chance, or from the
    front of the half as it was sorted.
    """
    names, values, labels = whole(parts)
    pairs = parts["msrp-train"].pairs + parts["msrp-test"].pairs
    lengths = numpy.array(
        [[len(p.hypothesis.tokens or ()), len(p.segment.references[0].tokens or ())] for p in pairs]
    )
    ratios = abs(lengths[:, 0] - lengths[:, 1]) / lengths.max(axis=1)
    order = numpy.lexsort((numpy.arange(len(pairs)), ratios))
    halves = dict(zip(TABLE5, (order[: len(order) // 2], order[len(order) // 2 :]), strict=True))
    lines = [f"| | {' | '.join(FEW)} |", "|---|" + "---:|" * len(FEW)]
    for (half, places), front in product(halves.items(), (False, True)):
        cells = []
        for row, target in zip(FEW, TABLE5[half], strict=True):
            rows = columns(names, values, ROWS[row])
            each = []
            for draw in range(DRAWS):
                rng = numpy.random.default_rng([SEED, draw])
                classes = [places[labels[places] == v] for v in (0, 1)]
                taken = [rng.permutation(c[:723] if front else c)[:723] for c in classes]
                learn = numpy.concatenate([some[:504] for some in taken])
                test = numpy.concatenate([some[504:] for some in taken])
                decided, _ = runner.split(
                    f"{half} {row} {draw}", rows[learn], labels[learn], rows[test], NARROW
                )
                each.append(figures.measure(decided, labels[test]).accuracy)
            cells.append(f"{100 * numpy.mean(each):.2f} ({target:.2f})")
        how = "from the front" if front else "by chance"
        lines.append(f"| {half}, {how} | {' | '.join(cells)} |")
    return lines


def pilots(parts: dict[str, Part], runner: Runner) -> list[str]:
    """Stemming of none, all, and nouns and verbs; synonyms by Jiang and Conrath's distance."""
    results: dict[str, searching.Jackknifed] = {}
    for what in ("PER", "ALL"):
        for stem in ("none", "all", "nouns-verbs"):
            names, values, labels = whole(parts, stem=stem)
            results[f"{what}, {stem}"] = runner.jackknife(
                f"{what} stemming {stem}", columns(names, values, ROWS[what]), labels
            )
    sentences = {
        s.text: s for p in parts["msrp-train"].pairs for s in (p.hypothesis, *p.segment.references)
    }
    counted = count_synonyms(sentences.values(), text="MSRP training sentences")
    groups = ("per", "pos")
    tried = {}
    for threshold in THRESHOLDS:
        say(f"synonyms within {threshold:g}")
        made = counted.with_threshold(threshold)
        names, values, labels = whole(parts, groups, synonyms=made)
        for what, wanted in (("PER", ("per",)), ("PER POS", ("per", *POS))):
            tried[what, threshold] = runner.jackknife(
                f"{what} synonyms within {threshold:g}", columns(names, values, wanted), labels
            )
    names, values, labels = whole(parts, groups)
    both = columns(names, values, ("per", *POS))
    results["PER POS, nouns-verbs"] = runner.jackknife("PER POS", both, labels)
    lines = ["| System | Stemmed | Synonyms | Accuracy | against the line it is compared with |",
             "|---|---|---|---:|---:|"]  # fmt: skip
    for what in ("PER", "ALL"):
        plain = results[f"{what}, none"]
        for stem in ("none", "all", "nouns-verbs"):
            found = results[f"{what}, {stem}"]
            shown = "" if stem == "none" else difference(found, plain)
            lines.append(f"| {what} | {stem} | no | {mean(found)} | {shown} |")
    for what in ("PER", "PER POS"):
        plain = results[f"{what}, nouns-verbs"]
        if what != "PER":
            lines.append(f"| {what} | nouns-verbs | no | {mean(plain)} | |")
        for threshold in THRESHOLDS:
            found = tried[what, threshold]
            lines.append(
                f"| {what} | nouns-verbs | within {threshold:g} | {mean(found)} | "
                f"{difference(found, plain)} |"
            )
    return lines


def mean(found: searching.Jackknifed) -> str:
    one = figures.estimate(found.of("accuracy"))
    return f"{100 * one.mean:.2f} ± {100 * one.margin:.2f}"


def difference(found: searching.Jackknifed, plain: searching.Jackknifed) -> str:
    """Mean difference of the same folds, and its interval."""
    pairs = zip(found.of("accuracy"), plain.of("accuracy"), strict=True)
    one = figures.estimate([a - b for a, b in pairs])
    return f"{100 * one.mean:+.2f} ± {100 * one.margin:.2f}"


GROUPS: dict[str, Callable[[str], bool]] = {
    "WER": lambda name: name == "wer",
    "PER": lambda name: name == "per",
    "BLEU": lambda name: name.startswith("bleu"),
    "NIST": lambda name: name.startswith("nist"),
    "POS": lambda name: name.startswith("pos"),
    "MEANT": lambda name: name.startswith("meant:"),
}


def meaning(parts: dict[str, Part], runner: Runner) -> list[str]:
    """ALL with the parts of MEANT, with and without each group, on the given split."""
    one, other = parts["msrp-train"], parts["msrp-test"]
    names, values = one.features(["all", "meant"])
    _, asked = other.features(["all", "meant"])
    rows: dict[str, list[str]] = {"ALL + MEANT": list(names)}
    rows["ALL"] = [name for name in names if not GROUPS["MEANT"](name)]
    rows["MEANT alone"] = [name for name in names if GROUPS["MEANT"](name)]
    for group, has in GROUPS.items():
        rows.setdefault(f"ALL + MEANT without {group}", [name for name in names if not has(name)])
    del rows["ALL + MEANT without MEANT"]
    decided, chosen = {}, {}
    for row, wanted in rows.items():
        decided[row], chosen[row] = runner.split(
            row, columns(names, values, wanted), one.labels, columns(names, asked, wanted)
        )
    more = ["basic", "parse", "metric:meteor", "metric:ter", "metric:chrf", "metric:stm"]
    extra = [p.features(more)[1] for p in (one, other)]
    row = "ALL + MEANT + basic, parse, METEOR, TER, chrF, STM"
    decided[row], chosen[row] = runner.split(
        row, numpy.hstack([values, extra[0]]), one.labels, numpy.hstack([asked, extra[1]])
    )
    lines = ["| Features | chosen on the training part | its accuracy there | Accuracy [95 %] | "
             "F-measure | against ALL + MEANT | p |",
             "|---|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    reference = decided["ALL + MEANT"] == other.labels
    for row, said in decided.items():
        found = figures.measure(said, other.labels)
        right = said == other.labels
        cells = ["", ""]
        if row != "ALL + MEANT":
            cells = [f"{100 * (right.mean() - reference.mean()):+.2f}",
                     f"{mcnemar(right, reference):.3f}"]  # fmt: skip
        tried = chosen[row]
        candidate = tried.candidate
        lines.append(
            f"| {row} | C={candidate.c:g}, σ={candidate.sigma:g}·√n, {candidate.scaling} | "
            f"{100 * tried.accuracy:.2f} | {interval(found)} | {100 * found.f:.2f} | "
            f"{' | '.join(cells)} |"
        )
    return lines


def mcnemar(one: numpy.ndarray, other: numpy.ndarray) -> float:
    """Exact probability of so uneven a number of pairs that only one of the two has right."""
    only, alone = int((one & ~other).sum()), int((other & ~one).sum())
    count, least = only + alone, min(only, alone)
    tail = sum(comb(count, k) for k in range(least + 1)) / 2**count
    return min(1.0, 2 * tail)


def main() -> None:
    WORK.mkdir(exist_ok=True)
    parts = load()
    runner = Runner()
    tables = {
        "1": table1(parts), "3": table3(parts, runner), "4": table4(parts, runner),
        "meaning": meaning(parts, runner), "5": table5(parts, runner),
        "2": table2(parts, runner), "pilots": pilots(parts, runner),
    }  # fmt: skip
    text = (HERE / "template.md").read_text(encoding="utf-8")
    for name, lines in tables.items():
        text = text.replace(f"{{table {name}}}", "\n".join(lines))
    (HERE / "results.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
