"""Kulesza 2004 again: learn to tell human from machine, and use the distance as a metric.

    python experiments/kulesza2004/run.py

writes `results.md` and three drawings beside itself. Analyses, features and every trained cell of
the grids are kept in `work/`, so that a run that was stopped goes on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
from scipy.stats import spearmanr

sys.path.insert(0, str(Path(__file__).parent))
import data

from meantime.analysis import open_analyser
from meantime.analysis.cache import CachedAnalyser
from meantime.learned.caching import compute_features
from meantime.learned.groups import make_features
from meantime.learned.journal import fingerprint
from meantime.learned.searching import Candidate, grid, train
from meantime.metaeval import plots
from meantime.metaeval.correlation import roc
from meantime.metaeval.difference import williams_test
from meantime.metaeval.intervals import fisher_interval
from meantime.registry import create
from meantime.scoring import ANALYSED, analyse_pairs, score_many
from meantime.types import Level, Pair

HERE = Path(__file__).parent
WORK = HERE / "work"

CS = (5, 10, 25, 50, 75, 100, 150)
BASIC = grid(CS, (1, 2.5, 5, 10, 25, 50, 75, 100), ["none"])
"""Table A.1, and three columns more beyond its edge."""
EXTENDED = grid(CS, (5, 10, 25, 40, 50, 55, 60, 65, 70, 75, 100), ["none"])
"""Table A.2, and two columns more."""
SCALED = grid((1, 5, 25, 100), (1, 2.5, 5, 10, 25), ["standard"])
"""The same features at mean 0 and deviation 1, as `meantime learn human-or-machine` has them."""
SINGLE = grid((1, 10), (0.5, 2), ["standard"])
"""Tried for each feature alone."""
METRICS = {
    "WER": "wer:unit=count",
    "FMS": "gtm",
    "PER": "per:unit=count",
    "BLEU": "bleu",
    "NIST": "nist:average=yes",
    "MEANT": "meant",
}
THESIS = {
    "Human": (0.4633, 0.4528), "SVM": (0.3771, 0.3563), "WER": (0.2909, 0.2700),
    "FMS": (0.2861, 0.2772), "PER": (0.2794, 0.2664), "BLEU": (0.2537, 0.2367),
}  # fmt: skip
RESAMPLES = 1000


@dataclass(frozen=True)
class Test:
    """Judged translations with their features and the scores of metrics."""

    judged: data.Judged
    rows: numpy.ndarray
    one: dict[str, numpy.ndarray]
    """Of each metric, against one reference; higher is better."""
    both: dict[str, numpy.ndarray]

    @property
    def machine(self) -> numpy.ndarray:
        return ~self.judged.human

    @property
    def people(self) -> numpy.ndarray:
        """Human scores of the machines' translations."""
        return self.judged.score[self.machine]


@dataclass(frozen=True)
class Cell:
    """A trained classifier: what it got right, and its distances on every test."""

    candidate: Candidate
    accuracy: float
    by_class: tuple[float, float]
    right: numpy.ndarray
    """Of each held-out example, whether it was told apart."""
    distances: list[numpy.ndarray]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def features(pairs: Sequence[Pair], analyser: CachedAnalyser) -> numpy.ndarray:
    made = make_features(["extended"])
    known, origin = analyse_pairs(pairs, made.needs, analyser)
    return compute_features(made, known, analysis=origin, folder=WORK)


def scores(
    pairs: Sequence[Pair], names: Sequence[str], analyser: CachedAnalyser
) -> dict[str, numpy.ndarray]:
    """Segment scores of metrics, turned so that higher is better; kept."""
    found = {}
    for name in names:
        metric = create(METRICS[name])
        path = (
            WORK
            / f"scores-{fingerprint({'metric': str(metric.signature())}, _digest(pairs))[:24]}.npy"
        )
        if not path.exists():
            say(f"measuring {name}")
            needed = metric.needs & set(ANALYSED)
            known = analyse_pairs(pairs, metric.needs, analyser)[0] if needed else pairs
            prepared = metric.prepare([pair.segment for pair in known])
            rows = numpy.concatenate(
                [prepared.measure(known[n : n + 256]) for n in range(0, len(known), 256)]
            )
            values = score_many(prepared, rows, Level.SEGMENT)
            numpy.save(path, values if metric.higher_is_better else -values)
        found[name] = numpy.load(path)
    return found


def _digest(pairs: Sequence[Pair]) -> numpy.ndarray:
    from meantime.learned.caching import pair_digest

    return numpy.frombuffer(bytes.fromhex(pair_digest(pairs)), dtype=numpy.uint8)


def cells(
    candidates: Sequence[Candidate], columns: Sequence[int], examples: data.Examples,
    rows: numpy.ndarray, tests: Sequence[Test], what: str,
) -> list[Cell]:  # fmt: skip
    """Every candidate trained on some of the features; each kept as it is found."""
    used = rows[:, columns]
    held = examples.held_out
    labels = examples.human.astype(int)
    asked = [test.rows[:, columns] for test in tests]
    key = fingerprint({}, used, labels, held, *asked)[:16]
    found = []
    for candidate in candidates:
        path = WORK / f"cell-{key}-{fingerprint({'candidate': str(candidate)})[:12]}.npz"
        if not path.exists():
            say(f"{what}: {candidate}")
            classifier = train(used[~held], labels[~held], candidate)
            kept = {f"test{n}": classifier(some) for n, some in enumerate(asked)}
            right = (classifier(used[held]) > 0) == examples.human[held]
            temporary = path.with_suffix(".new.npz")
            numpy.savez(temporary, right=right, **kept)
            temporary.replace(path)
        with numpy.load(path) as archive:
            right = archive["right"]
            distances = [archive[f"test{n}"] for n in range(len(tests))]
        human = examples.human[held]
        each = (float(right[~human].mean()), float(right[human].mean()))
        found.append(Cell(candidate, float(right.mean()), each, right, distances))
    return found


def chosen(found: Sequence[Cell]) -> Cell:
    """The one of greatest held-out accuracy; of equals the least C, then the greatest sigma."""
    return min(found, key=lambda c: (-c.accuracy, c.candidate.c, -c.candidate.sigma))


def pearson(one: numpy.ndarray, other: numpy.ndarray) -> float:
    return float(numpy.corrcoef(one, other)[0, 1])


def spearman(one: numpy.ndarray, other: numpy.ndarray) -> float:
    return float(spearmanr(one, other).statistic)


def table_correlations(test: Test, svm: dict[str, Cell], number: int, both: bool) -> list[str]:
    """Figure 2.1 (both references) or Table 4.1 (one), with intervals and Williams' test."""
    machine = test.machine
    known = test.both if both else test.one
    values = {name: column[machine] for name, column in known.items()}
    if not both:
        values = {**{name: cell.distances[number][machine] for name, cell in svm.items()}, **values}
    if test.judged.other is not None:
        values = {"Human (MQM)": test.judged.other[machine], **values}
    first = next(iter(svm))
    head = "" if both else f" thesis | p against {first} |"
    lines = [f"| Metric | Pearson [95 %] | Spearman |{head}"]
    lines += ["|---|---:|---:|" + ("" if both else "---:|---:|")]
    for name, column in values.items():
        r = pearson(test.people, column)
        ends = fisher_interval(r, len(column))
        old = THESIS.get(name.split(" ")[0].split(",")[0])
        thesis = "" if old is None else f"{old[0]:.2f}, {old[1]:.2f}"
        line = (f"| {name} | {r:.3f} [{ends.low:.3f}, {ends.high:.3f}] | "
                f"{spearman(test.people, column):.3f} |")  # fmt: skip
        if not both:
            line += f" {thesis} |"
            same = name == first
            p = "" if same else f"{williams_test(test.people, values[first], column).p_value:.3f}"
            line += f" {p} |"
        lines.append(line)
    return lines


def table_grid(found: Sequence[Cell], tests: Sequence[Test]) -> list[str]:
    """A.1 or A.2: accuracy, then Pearson and Spearman on each test."""
    cs = sorted({cell.candidate.c for cell in found})
    sigmas = sorted({cell.candidate.sigma for cell in found})
    by = {(cell.candidate.c, cell.candidate.sigma): cell for cell in found}
    best = chosen(found)
    lines = ["| C | | " + " | ".join(f"σ = {sigma:g}" for sigma in sigmas) + " |",
             "|---:|---|" + "---:|" * len(sigmas)]  # fmt: skip
    for c in cs:
        row = [by[c, sigma] for sigma in sigmas]
        shown = [
            f"**{cell.accuracy:.4f}**" if cell is best else f"{cell.accuracy:.4f}" for cell in row
        ]
        lines.append(f"| {c:g} | a. accuracy | {' | '.join(shown)} |")
        for number, test in enumerate(tests):
            m = test.machine
            for letter, how in (("b" if not number else "d", pearson),
                                ("c" if not number else "e", spearman)):  # fmt: skip
                cell = [f"{how(test.people, one.distances[number][m]):.4f}" for one in row]
                lines.append(f"| | {letter}. {how.__name__}, {short(test)} | {' | '.join(cell)} |")
    return lines


def short(test: Test) -> str:
    return test.judged.name.split(",")[0]


@dataclass(frozen=True)
class Resampled:
    """A figure with the interval of resampled translations, tests and held-out segments alike."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def meta(found: Sequence[Cell], test: Test, number: int) -> Resampled:
    """Pearson's correlation, over the grid, of accuracy with correlation to people."""
    m = test.machine
    distances = numpy.array([cell.distances[number][m] for cell in found])
    right = numpy.array([cell.right for cell in found])
    rng = numpy.random.default_rng(data.SEED)

    def once(pick: numpy.ndarray, held: numpy.ndarray) -> float:
        chosen_right = right[:, held].mean(axis=1)
        return pearson(chosen_right, correlations(distances[:, pick], test.people[pick]))

    size, groups = distances.shape[1], right.shape[1] // 4
    whole = once(numpy.arange(size), numpy.arange(right.shape[1]))
    drawn = []
    for _ in range(RESAMPLES):
        # The four examples of a segment stand together.
        segments = rng.integers(0, groups, groups)
        held = (segments[:, None] * 4 + numpy.arange(4)).ravel()
        drawn.append(once(rng.integers(0, size, size), held))
    low, high = numpy.nanquantile(drawn, [0.025, 0.975])
    return Resampled(whole, float(low), float(high))


def correlations(rows: numpy.ndarray, people: numpy.ndarray) -> numpy.ndarray:
    """Pearson's of every row with people."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    wanted = people - people.mean()
    below = numpy.sqrt((centred**2).sum(axis=1) * (wanted**2).sum())
    return centred @ wanted / numpy.where(below > 0, below, numpy.inf)


def gap(one: Cell, other: Cell, test: Test, number: int) -> Resampled:
    """Pearson's of one cell less that of another, over resampled translations."""
    m = test.machine
    rows = numpy.array([one.distances[number][m], other.distances[number][m]])
    rng = numpy.random.default_rng(data.SEED)

    def once(pick: numpy.ndarray) -> float:
        first, second = correlations(rows[:, pick], test.people[pick])
        return float(first - second)

    size = rows.shape[1]
    drawn = [once(rng.integers(0, size, size)) for _ in range(RESAMPLES)]
    low, high = numpy.quantile(drawn, [0.025, 0.975])
    return Resampled(once(numpy.arange(size)), float(low), float(high))


def verdict(found: Resampled, *, hurts: bool = False) -> str:
    """In words: what an interval that does or does not hold 0 says."""
    if found.low > 0:
        return "holds"
    if found.high < 0:
        return "the opposite holds"
    return "not shown"


def summary(grids: dict[str, list[Cell]], tests: Sequence[Test]) -> list[str]:
    """What was chosen, what it is worth, and the best of the grid, for each feature set."""
    heads = [f"Pearson, {short(test)} (best of the grid)" for test in tests]
    first = "| Features | cells | chosen | accuracy | of machines | of people |"
    lines = [f"{first} {' | '.join(heads)} |",
             "|---|---:|---|---:|---:|---:|" + "---:|" * len(tests)]  # fmt: skip
    for name, found in grids.items():
        cell = chosen(found)
        shown = []
        for number, test in enumerate(tests):
            every = [pearson(test.people, c.distances[number][test.machine]) for c in found]
            mine = pearson(test.people, cell.distances[number][test.machine])
            shown.append(f"{mine:.3f} ({max(every):.3f})")
        lines.append(
            f"| {name} | {len(found)} | C = {cell.candidate.c:g}, σ = {cell.candidate.sigma:g} | "
            f"{cell.accuracy:.3f} | {cell.by_class[0]:.3f} | {cell.by_class[1]:.3f} | "
            f"{' | '.join(shown)} |"
        )
    return lines


def claims(grids: dict[str, list[Cell]], tests: Sequence[Test]) -> list[str]:
    """Whether accuracy predicts correlation, and parse features hurt."""
    heads = " | ".join(f"{short(test)} | verdict" for test in tests)
    lines = [f"| Claim | thesis | {heads} |", "|---|---:|" + "---:|---|" * len(tests)]
    old = {"basic": "0.855", "extended": "0.937"}
    for name, found in grids.items():
        cell = []
        for number, test in enumerate(tests):
            one = meta(found, test, number)
            cell += [str(one), verdict(one)]
        lines.append(
            f"| accuracy predicts correlation, {name}: r over the grid | {old.get(name, '')} | "
            f"{' | '.join(cell)} |"
        )
    for one, other, thesis in (
        ("basic", "extended", "+0.24"),
        ("basic, scaled", "extended, scaled", ""),
    ):
        cell = []
        for number, test in enumerate(tests):
            found_gap = gap(chosen(grids[one]), chosen(grids[other]), test, number)
            cell += [str(found_gap), verdict(found_gap)]
        lines.append(f"| parse features hurt: Pearson of {one} less {other} | {thesis} | "
                     f"{' | '.join(cell)} |")  # fmt: skip
    return lines


def table_roc(tests: Sequence[Test], svm: dict[str, Cell]) -> tuple[list[str], dict[str, object]]:
    """Figure 2.2: how well scores tell people's translations from machines'."""
    shares = (0.1, 0.25, 0.5, 0.75, 0.9)
    lines = [f"| Scores | area | {' | '.join(f'{share:.0%} of people' for share in shares)} |",
             "|---|---:|" + "---:|" * len(shares)]  # fmt: skip
    curves: dict[str, object] = {}
    for number, test in enumerate(tests):
        columns = {"Human": test.judged.score}
        if test.judged.other is not None:
            columns["Human (MQM)"] = test.judged.other
        columns |= {name: test.one[name] for name in ("BLEU", "NIST")}
        columns |= {name: cell.distances[number] for name, cell in svm.items()}
        for name, column in columns.items():
            curve = roc(column[test.judged.human], column[test.machine])
            label = f"{name}, {short(test)}"
            curves[label] = curve
            hits, alarms = numpy.array(curve.hits), numpy.array(curve.false_alarms)
            found = [1 - float(numpy.interp(share, hits, alarms)) for share in shares]
            cell = " | ".join(f"{value:.2f}" for value in found)
            lines.append(f"| {label} | {curve.area:.3f} | {cell} |")
    return lines, curves


def table_single(
    examples: data.Examples, rows: numpy.ndarray, tests: Sequence[Test]
) -> list[str]:  # fmt: skip
    """Section 5.1: models of single features."""
    names = make_features(["extended"]).names
    heads = " | ".join(f"Pearson, {short(test)}" for test in tests)
    lines = [f"| Feature | accuracy | {heads} |",
             "|---|---:|" + "---:|" * len(tests)]  # fmt: skip
    found = []
    for place, name in enumerate(names):
        if name.endswith("/max"):
            continue  # The same as /min with one reference.
        cell = chosen(cells(SINGLE, [place], examples, rows, tests, name))
        values = [pearson(t.people, cell.distances[n][t.machine]) for n, t in enumerate(tests)]
        found.append((cell.accuracy, name.removesuffix("/min"), values))
    for accuracy, name, values in sorted(found, reverse=True):
        shown = " | ".join(f"{value:+.3f}" for value in values)
        lines.append(f"| {name} | {accuracy:.4f} | {shown} |")
    r = [pearson(numpy.array([a for a, _, _ in found]), numpy.array([v[n] for _, _, v in found]))
         for n in range(len(tests))]  # fmt: skip
    told = ", ".join(f"{value:+.2f} on {short(test)}" for value, test in zip(r, tests, strict=True))
    return [
        *lines,
        "",
        f"Over these features, accuracy and Pearson's correlation correlate: {told}.",
    ]


def draw(name: str, chart: object) -> None:
    (HERE / name).write_bytes(plots.render(chart, "svg"))


def points(grids: dict[str, list[Cell]], test: Test, number: int) -> dict[str, tuple[float, float]]:
    m = test.machine
    return {
        f"{name[0]} {cell.candidate.c:g},{cell.candidate.sigma:g}": (
            cell.accuracy,
            pearson(test.people, cell.distances[number][m]),
        )
        for name, found in grids.items()
        for cell in found
    }


def main() -> None:
    WORK.mkdir(exist_ok=True)
    analyser = CachedAnalyser(open_analyser(threads=1), WORK / "analyses.sqlite")
    known = data.references()
    examples = data.examples(known)
    used = data.training_keys(known)
    say("features")
    rows = features(examples.pairs, analyser)
    tests = []
    for judged in (data.chinese(known), data.direct(known, used)):
        machines = [
            pair for pair, human in zip(judged.both, judged.human, strict=True) if not human
        ]
        both = scores(machines, [*METRICS], analyser)
        spread = {}
        for name, values in both.items():
            spread[name] = numpy.full(len(judged.both), numpy.nan)
            spread[name][~judged.human] = values
        tests.append(Test(judged, features(judged.one, analyser),
                          scores(judged.one, [*METRICS], analyser), spread))  # fmt: skip
    names = make_features(["extended"]).names
    basic = [place for place, name in enumerate(names) if name.startswith("basic")]
    every = list(range(len(names)))
    grids = {
        "basic": cells(BASIC, basic, examples, rows, tests, "basic"),
        "extended": cells(EXTENDED, every, examples, rows, tests, "extended"),
        "basic, scaled": cells(SCALED, basic, examples, rows, tests, "basic, scaled"),
        "extended, scaled": cells(SCALED, every, examples, rows, tests, "extended, scaled"),
    }
    svm = {f"SVM, {name}": chosen(found) for name, found in grids.items()}
    curve_lines, curves = table_roc(tests, {"SVM": svm["SVM, basic"]})
    raw = {name: grids[name] for name in ("basic", "extended")}
    tables = {
        "2.1": [line for test in tests for line in
                ("", f"**{test.judged.name}**", "", *table_correlations(test, svm, 0, True))],
        "2.2": curve_lines,
        "4.1": [line for number, test in enumerate(tests) for line in
                ("", f"**{test.judged.name}**", "", *table_correlations(test, svm, number, False))],
        "summary": summary(grids, tests),
        "claims": claims(grids, tests),
        "A.1": table_grid(grids["basic"], tests),
        "A.2": table_grid(grids["extended"], tests),
        "5.1": table_single(examples, rows, tests),
    }  # fmt: skip
    labels = {
        "accuracy": "held-out accuracy",
        "correlation": "correlation with people (DA+SQM, Chinese 2022)",
    }
    draw("figure-2.2.svg", plots.roc_curves({name: curve for name, curve in curves.items()
                                             if name.endswith("DA+SQM")}))  # fmt: skip
    for file, shown in (("figure-4.2.svg", {"basic": grids["basic"]}), ("figure-4.3.svg", raw)):
        draw(file, plots.accuracy_against_correlation(points(shown, tests[0], 0), **labels))
    text = (HERE / "template.md").read_text(encoding="utf-8")
    for name, lines in tables.items():
        text = text.replace(f"{{table {name}}}", "\n".join(lines).strip())
    held = int(examples.held_out.sum())
    for name, value in (("examples", len(examples.pairs) - held), ("held", held)):
        text = text.replace(f"{{{name}}}", f"{value:,}")
    (HERE / "results.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
