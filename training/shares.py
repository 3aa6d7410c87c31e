"""How the shares of `meant`'s components were chosen.

    python -m training.shares [--balance 1] [--held-out] [--cache FILE]
    python -m training.shares --ablations [--cache FILE]

Reads WMT 2015 and 2016 from ../shared/data/wmt, and nothing else. Wanted is a metric that agrees
with people, that an error of meaning costs more than a paraphrase or another order, and that the
right words in no order do not deceive. The first is the mean, over language pairs, of Pearson's
correlation with human scores. The others are contests of a better text with a worse one, against
the same reference:

    damaged    a translation among the best fifth of its language pair; the reference with an error
               of meaning made by rule (`meantime.metaeval.damage`), six kinds
    reordered  the reference with a time, place or reason moved to the other end of the sentence;
               the reference with such an error
    shuffled   any translation; its reference's words in random order (`meantime.metaeval.degrade`)

won softly: sigmoid((better - worse) / 0.15), in standard deviations of the translations' scores,
means over kinds. The shares maximise

    correlation + balance * (0.15 damaged + 0.05 reordered + 0.15 shuffled)

by Powell's method from several starts. Prints the shares for several balances, with what they gain
and cost; those of `meant` are the ones for a balance of 1, rounded. `--held-out` fits ten times
more, each time without the translations into English from one language, and prints the correlation
on the translations left out. `--ablations` fits nothing: it prints, as a table in Markdown, what
the metric as it is gains by each of its parts and options.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray
from scipy.optimize import minimize

from meantime import Pair, Segment, Sentence, create
from meantime.analysis import open_analyser
from meantime.analysis.cache import CachedAnalyser
from meantime.metaeval.damage import KINDS, find_damages
from meantime.metaeval.degrade import shuffled_reference
from meantime.metrics.frames import PARTS
from meantime.metrics.meant import COMPONENTS, Meant
from meantime.scoring import BATCH
from meantime.types import Span

WMT = Path(__file__).resolve().parents[2] / "shared" / "data" / "wmt"
SETS = ("wmt15-da-toen", "wmt16-da-toen")
GOOD = 0.8
"""Translations above this quantile of their language pair's human scores are good ones."""
WIDTH = 0.15
SEED = 5
WEIGHTS = {"damaged": 0.15, "reordered": 0.05, "shuffled": 0.15}
LONGEST = 10
"""Longer stretches are not moved."""
MOVED = frozenset({"ARGM-TMP", "ARGM-LOC", "ARGM-CAU", "ARGM-PRP"})

Floats = NDArray[numpy.float64]
Texts = tuple[str, str]
"""A text and the reference it is held against."""


@dataclass(frozen=True, slots=True)
class Contest:
    """Components of better and of worse texts, a row each."""

    better: Floats
    worse: Floats
    kinds: NDArray[numpy.str_]
    languages: NDArray[numpy.str_]

    def without(self, language: str) -> Contest:
        """Those of all languages but one."""
        keep = self.languages != language
        return Contest(self.better[keep], self.worse[keep], self.kinds[keep], self.languages[keep])

    def _by_kind(self, values: Floats) -> dict[str, float]:
        return {
            str(kind): float(values[self.kinds == kind].mean())
            for kind in dict.fromkeys(self.kinds)
        }

    def margin(self, shares: Floats, spread: float) -> float:
        """How clearly the better ones win, mean over kinds."""
        gaps = (self.better - self.worse) @ shares / (WIDTH * spread)
        soft = 1 / (1 + numpy.exp(-numpy.clip(gaps, -50, 50)))
        return float(numpy.mean(list(self._by_kind(soft).values())))

    def wins(self, shares: Floats) -> dict[str, float]:
        """How often the better ones win, by kind; ties count half."""
        gaps = (self.better - self.worse) @ shares
        return self._by_kind((gaps > 1e-12) + 0.5 * (abs(gaps) <= 1e-12))


@dataclass(frozen=True, slots=True)
class Material:
    """Components of judged translations, their human scores, and the contests."""

    groups: Mapping[str, NDArray[numpy.int64]]
    """Rows of every language pair of every year."""
    human: Floats
    real: Floats
    contests: Mapping[str, Contest]

    def without(self, language: str) -> Material:
        """All but the translations from one language, and what was made from them."""
        return replace(
            self,
            groups={
                name: rows for name, rows in self.groups.items() if _language(name) != language
            },
            contests={name: one.without(language) for name, one in self.contests.items()},
        )

    def correlations(self, shares: Floats) -> dict[str, float]:
        scores = self.real @ shares
        return {
            name: float(numpy.corrcoef(scores[rows], self.human[rows])[0, 1])
            for name, rows in self.groups.items()
        }

    def correlation(self, shares: Floats) -> float:
        return float(numpy.mean(list(self.correlations(shares).values())))

    def wins(self, contest: str, shares: Floats) -> float:
        return float(numpy.mean(list(self.contests[contest].wins(shares).values())))

    def value(self, shares: Floats, balance: float) -> float:
        """What the shares maximise."""
        spread = float((self.real @ shares).std())
        margins = sum(
            weight * self.contests[name].margin(shares, spread) for name, weight in WEIGHTS.items()
        )
        return self.correlation(shares) + balance * margins


def _language(group: str) -> str:
    """`de-en` of `wmt15-da-toen/de-en`."""
    return group.rpartition("/")[2]


def read(name: str) -> list[dict[str, str]]:
    with gzip.open(WMT / f"{name}.tsv.gz", "rt", encoding="utf-8", newline="\n") as file:
        head = file.readline().rstrip("\n").split("\t")
        rows = [dict(zip(head, line.rstrip("\n").split("\t"), strict=True)) for line in file]
    return [{**row, "group": f"{name}/{row['lp']}"} for row in rows]


def reorder(sentence: Sentence) -> str | None:
    """A sentence with a time, place, reason or purpose of its main event at the other end."""
    tokens, offsets, tags = sentence.tokens or (), sentence.offsets, sentence.pos
    frames = sorted(
        (frame for frame in sentence.frames or () if frame.roles),
        key=lambda frame: frame.predicate.start,
    )
    if len(tokens) < 8 or tokens[-1] not in (".", "!", "?") or not frames or not offsets:
        return None
    last = len(tokens) - 1

    def text(start: int, stop: int) -> str:
        return sentence.text[offsets[start][0] : offsets[stop - 1][1]]

    def lowered(words: str) -> str:
        proper = (tags or ())[0].startswith("NNP") or words.split(maxsplit=1)[0] == "I"
        return words if proper or words[1:2].isupper() else words[:1].lower() + words[1:]

    def moved(span: Span) -> str | None:
        if span.start == 0 and span.end < last - 2 and tokens[span.end] == ",":
            rest = text(span.end + 1, last)
            return f"{rest[:1].upper()}{rest[1:]} {lowered(text(0, span.end))}{tokens[-1]}"
        if span.end == last and span.start > 3 and tokens[span.start - 1] not in (",", ";", ":"):
            first = text(span.start, last)
            before = lowered(text(0, span.start))
            return f"{first[:1].upper()}{first[1:]}, {before}{tokens[-1]}"
        return None

    for role in frames[0].roles:
        (span, *more) = role.spans
        if role.label in MOVED and not more and 2 <= span.end - span.start <= LONGEST:
            found = moved(span)
            if found is not None:
                return found
    return None


def components(metric: Meant, pairs: list[tuple[Sentence, Sentence]]) -> Floats:
    rows = [metric.compare(pairs[n : n + BATCH]) for n in range(0, len(pairs), BATCH)]
    return numpy.concatenate(rows)[:, len(PARTS) :]


@dataclass(frozen=True, slots=True)
class Collected:
    """All texts, analysed, before any metric has compared them."""

    rows: list[dict[str, str]]
    groups: Mapping[str, NDArray[numpy.int64]]
    human: Floats
    contests: Mapping[str, list[tuple[str, str, str, str, str]]]
    """By contest: better text, worse text, reference, kind, language pair."""
    known: Mapping[str, Sentence]

    def compare(self, specification: str) -> Material:
        """The components of a metric."""
        metric: Any = create(specification)

        def measure(texts: list[Texts]) -> Floats:
            distinct = list(dict.fromkeys(texts))
            pairs = [(self.known[one], self.known[other]) for one, other in distinct]
            found = components(metric, pairs)
            place = {text: n for n, text in enumerate(distinct)}
            return found[[place[text] for text in texts]]

        return Material(
            self.groups,
            self.human,
            measure([(row["hyp"], row["ref"]) for row in self.rows]),
            {
                name: Contest(
                    measure([(better, reference) for better, _, reference, _, _ in items]),
                    measure([(worse, reference) for _, worse, reference, _, _ in items]),
                    numpy.array([kind for *_, kind, _ in items]),
                    numpy.array([language for *_, language in items]),
                )
                for name, items in self.contests.items()
            },
        )


def gather(cache: Path | None) -> Collected:
    """Read, make the worse texts, analyse."""
    rows = [row for name in SETS for row in read(name)]
    analyser = CachedAnalyser(open_analyser(), cache, limit_bytes=4 << 30)
    known: dict[str, Sentence] = {}

    def analyse(texts: list[str]) -> None:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(new, analyser.analyse([Sentence(one) for one in new]), strict=True))

    analyse([text for row in rows for text in (row["hyp"], row["ref"])])
    human = numpy.array([float(row["score"]) for row in rows])
    names = numpy.array([row["group"] for row in rows])
    groups = {str(name): numpy.flatnonzero(names == name) for name in dict.fromkeys(names)}
    bars = {name: numpy.quantile(human[one], GOOD) for name, one in groups.items()}
    rng = numpy.random.default_rng(SEED)
    contests: dict[str, list[tuple[str, str, str, str, str]]] = {name: [] for name in WEIGHTS}
    seen: set[str] = set()
    for number, row in enumerate(rows):
        reference, language = row["ref"], _language(row["group"])
        good = human[number] > bars[row["group"]] and row["hyp"] != reference
        other = reorder(known[reference]) if reference not in seen else None
        seen.add(reference)
        for kind in KINDS if good or other else ():
            found = find_damages(known[reference], kind, rng)
            if found:
                text = found[int(rng.integers(len(found)))].text
                if good:
                    contests["damaged"].append((row["hyp"], text, reference, kind, language))
                if other:
                    contests["reordered"].append((other, text, reference, kind, language))
    pairs = [
        Pair(Sentence(row["hyp"]), Segment(str(n), (Sentence(row["ref"]),)))
        for n, row in enumerate(rows)
    ]
    for row, shuffled in zip(rows, shuffled_reference(pairs, rng), strict=True):
        if shuffled is not None:
            contests["shuffled"].append(
                (row["hyp"], shuffled.text, row["ref"], "shuffled", _language(row["group"]))
            )
    analyse([text for items in contests.values() for item in items for text in item[:2]])
    return Collected(rows, groups, human, contests, known)


def choose(material: Material, balance: float, starts: int = 3) -> Floats:
    """The shares that maximise the material's value."""

    def cost(raw: Floats) -> float:
        return -material.value(numpy.abs(raw) / numpy.abs(raw).sum(), balance)

    found = [
        minimize(
            cost,
            numpy.random.default_rng(start).random(len(COMPONENTS)) + 0.05,
            method="Powell",
            options={"maxiter": 100, "xtol": 1e-3, "ftol": 1e-6},
        )
        for start in range(starts)
    ]
    best = numpy.abs(min(found, key=lambda one: float(one.fun)).x)
    return best / best.sum()


def report(material: Material, name: str, shares: Floats) -> str:
    """A line of figures."""
    figures = " ".join(f"{one:9.3f}" for one in shares)
    wins = " ".join(f"{material.wins(one, shares):9.4f}" for one in WEIGHTS)
    return f"{name:<10} {figures}    {material.correlation(shares):.4f} {wins}"


def hold_out(material: Material, balance: float) -> tuple[float, Floats]:
    """The mean correlation on language pairs left out, and the shares of each fit."""
    found, fitted = [], []
    for language in dict.fromkeys(map(_language, material.groups)):
        shares = choose(material.without(language), balance, 1)
        fitted.append(shares)
        held = material.correlations(shares)
        found += [value for name, value in held.items() if _language(name) == language]
    return float(numpy.mean(found)), numpy.array(fitted)


OTHERWISE = {
    "every filler as similar as it is (`enough=1`)": "enough=1",
    "roles aligned across classes (`same_class=no`)": "same_class=no",
    "frames aligned by predicate (`align_by=predicate`)": "align_by=predicate",
    "equal role weights (`weights=uniform`)": "weights=uniform",
    "words without neighbours (`words=occurrences:3:0`)": "words=occurrences:3:0",
    "words as their square (`words=occurrences:2:0.5`)": "words=occurrences:2:0.5",
    "words as their fourth power (`words=occurrences:4:0.5`)": "words=occurrences:4:0.5",
    "the same word is 1 (`words=vectors:3:0.5`)": "words=vectors:3:0.5",
    "context vectors (`words=context:minmax-mi:5`)": "words=context:minmax-mi:5",
    "with characters (`words=occurrences:3:0.5*0.9+characters*0.1`)": (
        "words=occurrences:3:0.5*0.9+characters*0.1"
    ),
    "precision and recall alike (`words_alpha=0.5`)": "words_alpha=0.5",
}
"""Options the metric might have been shipped with, for the ablations."""


def ablations(collected: Collected) -> None:
    """Print what each component, and some options, do to the metric as it is."""
    material = collected.compare("meant")
    shipped = numpy.array(list(Meant().shares.values()))

    def line(name: str, made: Material, shares: Floats) -> None:
        wins = [f"{100 * made.wins(one, shares):.1f} %" for one in WEIGHTS]
        cells = [name, f"{made.correlation(shares / shares.sum()):.4f}", *wins]
        print(f"| {' | '.join(cells)} |", flush=True)

    print("| Variant | Mean Pearson | " + " | ".join(f"{name} won" for name in WEIGHTS) + " |")
    print("|---" + "|---:" * (len(WEIGHTS) + 1) + "|")
    line("`meant`", material, shipped)
    for place, name in enumerate(COMPONENTS):
        line(
            f"without {name}",
            material,
            numpy.where(numpy.arange(len(shipped)) == place, 0, shipped),
        )
    for place, name in enumerate(COMPONENTS):
        line(f"{name} alone", material, numpy.eye(len(shipped))[place])
    for name, options in OTHERWISE.items():
        line(name, collected.compare(f"meant:{options}"), shipped)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--balance", type=float, action="append", default=None)
    parser.add_argument("--held-out", action="store_true", help="also without each language")
    parser.add_argument("--ablations", action="store_true", help="what each part gains; no fit")
    parser.add_argument("--metric", default="meant", help="with other options")
    parser.add_argument("--cache", type=Path, default=None, help="file to keep analyses in")
    options = parser.parse_args()
    if not WMT.is_dir():
        sys.exit(f"{WMT}: no such folder; the judgements must lie beside the repository")
    collected = gather(options.cache)
    if options.ablations:
        ablations(collected)
        return
    material = collected.compare(options.metric)
    counts = ", ".join(f"{len(one.kinds)} {name}" for name, one in material.contests.items())
    print(f"{len(material.human)} judgements; contests: {counts}")
    names = " ".join(f"{name:>9}" for name in COMPONENTS)
    print(f"{'':<10} {names}   pearson " + " ".join(f"{name:>9}" for name in WEIGHTS))
    shipped = numpy.array(list(Meant().shares.values()))
    print(report(material, "shipped", shipped / shipped.sum()), flush=True)
    for balance in options.balance or (0.0, 0.5, 1.0, 1.5):
        shares = choose(material, balance)
        print(report(material, f"{balance:g}", shares), flush=True)
        if options.held_out:
            held, fitted = hold_out(material, balance)
            print(
                f"{'held out':<10} " + " ".join(f"{one:9.3f}" for one in fitted.mean(axis=0)),
                end="",
            )
            print(f"    {held:.4f}   shares vary by (standard deviation) ", end="")
            print(" ".join(f"{one:.3f}" for one in fitted.std(axis=0)), flush=True)


if __name__ == "__main__":
    main()
