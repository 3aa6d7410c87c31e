"""Choose how tokens' vectors become similarities, on sentences with human scores.

    python -m training.occurrences --judged wmt15.tsv.gz wmt16.tsv.gz --text FILE... --cache FILE

Each judged file is a table with the columns lp, hyp, ref and score. Every hypothesis gets the
best match (even weights, precision as much as recall) of all its tokens with the reference's, for
every setting:

- `same`: the same word has 1 wherever it stands (source `vectors`), or what its vectors say
  (source `occurrences`);
- the transformation of the vectors: none, centred by the mean vector of the texts, without the
  three strongest components, or whitened, all estimated on a sample of the texts;
- the share of the two neighbours' vectors; the power of the cosine.

A setting's figure is the mean, over the language pairs of a file, of Pearson's correlation with
the human score. The other sources come first, and what weighing each word by a power of its
inverse document frequency changes; last a check by cross-validation: for each language pair of
each file the setting that is best on all others, and what it has on the one left out.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import random
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from meantime.analysis import open_analyser
from meantime.analysis.cache import CachedAnalyser
from meantime.matching.phrases import BEST_MATCH, phrase_similarity
from meantime.protocols import Similarity
from meantime.similarity import open_similarity
from meantime.similarity.idf import open_idf
from meantime.similarity.words import number, same_words
from meantime.types import Sentence

POWERS = (1, 2, 3, 4, 5, 6, 8)
SOURCES = (
    *(
        "exact",
        "stem",
        "characters",
        "characters:2",
        "context:jaccard",
        "context:jaccard?characters:2",
    ),
    *("context:dice", "context:cosine", "context:mutual-information", "context:jensen-shannon"),
    *("vectors", "occurrences", "occurrences*0.9+characters*0.1"),
)
RARITY = (0.0, 0.25, 0.5, 1.0)
NEIGHBOURS = (0.0, 0.25, 0.5, 0.75, 1.0)

Rows = NDArray[numpy.float32]
Transform = Callable[[Rows], Rows]


class Judged(NamedTuple):
    """A file of pairs with human scores."""

    name: str
    pairs: list[tuple[Sentence, Sentence]]
    scores: NDArray[numpy.float64]
    languages: NDArray[numpy.str_]


class Setting(NamedTuple):
    """One way from vectors to similarities."""

    same: bool
    transform: str
    neighbours: float
    power: int


def read_judged(path: Path, analyser: CachedAnalyser) -> Judged:
    """Read and analyse a file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    texts = [Sentence(row[side]) for row in rows for side in ("hyp", "ref")]
    found = analyser.analyse(texts)
    return Judged(
        path.name.split("-")[0],
        list(zip(found[::2], found[1::2], strict=True)),
        numpy.array([float(row["score"]) for row in rows]),
        numpy.array([row["lp"] for row in rows]),
    )


def sample_vectors(paths: Sequence[Path], analyser: CachedAnalyser, count: int) -> Rows:
    """Vectors of the tokens of a sample of sentences, as many from each file."""
    chance = random.Random(7)
    texts: list[Sentence] = []
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = [line.strip() for line in file]
        texts += map(Sentence, chance.sample(lines, min(len(lines), count // len(paths))))
    analysed = analyser.analyse(texts)
    return unit(numpy.concatenate([one.vectors for one in analysed]).astype(numpy.float32))


def unit(rows: Rows) -> Rows:
    return rows / numpy.maximum(numpy.linalg.norm(rows, axis=1, keepdims=True), 1e-6)


def transforms(sample: Rows | None) -> dict[str, Transform]:
    """The transformations, by name."""
    found: dict[str, Transform] = {"none": lambda rows: rows}
    if sample is None:
        return found
    mean = sample.mean(axis=0)
    values, vectors = numpy.linalg.eigh(numpy.cov(sample.T))
    values, vectors = values[::-1].astype(numpy.float32), vectors[:, ::-1].astype(numpy.float32)
    top = vectors[:, :3]
    found["centred"] = lambda rows: unit(rows - mean)
    found["less three"] = lambda rows: unit((rows - mean) - (rows - mean) @ top @ top.T)
    found["whitened"] = lambda rows: unit((rows - mean) @ vectors / numpy.sqrt(values))
    return found


def smooth(rows: Rows, neighbours: float) -> Rows:
    mixed = rows.copy()
    mixed[1:] += neighbours * rows[:-1]
    mixed[:-1] += neighbours * rows[1:]
    return unit(mixed)


def best_matches(
    judged: Judged, transform: Transform, neighbours: float
) -> Iterable[tuple[bool, list[NDArray[numpy.float64]], list[NDArray[numpy.float64]]]]:
    """The best cosine of each token of either side, with and without 1 for the same word."""
    numbered, _ = number(judged.pairs)
    free: tuple[list[NDArray[numpy.float64]], ...] = ([], [])
    forced: tuple[list[NDArray[numpy.float64]], ...] = ([], [])
    for (left, right), numbers in zip(judged.pairs, numbered, strict=True):
        a, b = (
            smooth(transform(unit(one.vectors.astype(numpy.float32))), neighbours)
            for one in (left, right)
        )
        cosines = numpy.clip(a @ b.T, 0.0, 1.0).astype(numpy.float64)
        for several, matrix in (
            (free, cosines),
            (forced, numpy.where(same_words(*numbers), 1.0, cosines)),
        ):
            several[0].append(matrix.max(axis=1, initial=0.0))
            several[1].append(matrix.max(axis=0, initial=0.0))
    yield False, *free
    yield True, *forced


def means(best: Sequence[NDArray[numpy.float64]], power: int) -> NDArray[numpy.float64]:
    """The mean best match of each sentence; 0 where it has no token."""
    return numpy.array([(one**power).mean() if one.size else 0.0 for one in best])


def correlations(judged: Judged, values: NDArray[numpy.float64]) -> dict[str, float]:
    """Pearson's correlation with the human score, by language pair."""
    return {
        str(language): float(
            numpy.corrcoef(
                values[judged.languages == language], judged.scores[judged.languages == language]
            )[0, 1]
        )
        for language in numpy.unique(judged.languages)
    }


def weigh(sentences: Sequence[Sentence], power: float) -> list[NDArray[numpy.float64]]:
    """Weights of words: a power of their inverse document frequency."""
    if power == 0.0:
        return [numpy.ones(len(one.tokens or ())) for one in sentences]
    table = open_idf()
    return [numpy.maximum(table.weights(one.tokens or ()), 0.05) ** power for one in sentences]


def source_correlations(judged: Judged, source: Similarity, power: float) -> float:
    """The mean correlation of the best match on a source, words weighed."""
    lefts = weigh([left for left, _ in judged.pairs], power)
    rights = weigh([right for _, right in judged.pairs], power)
    values = [
        phrase_similarity(
            matrix,
            numpy.arange(len(left)),
            numpy.arange(len(right)),
            left,
            right,
            BEST_MATCH,
            0.5,
            0.0,
        )
        for matrix, left, right in zip(source.matrices(judged.pairs), lefts, rights, strict=True)
    ]
    return float(numpy.mean(list(correlations(judged, numpy.array(values)).values())))


def by_setting(
    files: Sequence[Judged], sample: Rows | None
) -> dict[Setting, dict[tuple[str, str], float]]:
    """The figure of every setting on each language pair of each file; printed on the way."""
    figures: dict[Setting, dict[tuple[str, str], float]] = {}
    for (name, transform), neighbours in product(transforms(sample).items(), NEIGHBOURS):
        for judged in files:
            for same, rows, columns in best_matches(judged, transform, neighbours):
                for power in POWERS:
                    precision, recall = means(rows, power), means(columns, power)
                    both = precision + recall
                    values = numpy.divide(
                        2.0 * precision * recall, both, where=both > 0, out=numpy.zeros_like(both)
                    )
                    setting = Setting(same, name, neighbours, power)
                    for language, found in correlations(judged, values).items():
                        figures.setdefault(setting, {})[judged.name, language] = found
        for same in (False, True):
            shown = []
            for power in POWERS:
                found_by_pair = figures[Setting(same, name, neighbours, power)]
                means_by_file = [
                    numpy.mean([value for (file, _), value in found_by_pair.items() if file == one])
                    for one in (judged.name for judged in files)
                ]
                shown.append(f"^{power} " + " ".join(f"{value:.4f}" for value in means_by_file))
            print(f"same={same} {name}, neighbours {neighbours:g}: {' | '.join(shown)}", flush=True)
    return figures


def cross_validate(figures: dict[Setting, dict[tuple[str, str], float]]) -> None:
    """Choose without each language pair in turn; print what the choices have on it."""
    for same in (False, True):
        chosen: dict[Setting, int] = {}
        gained = []
        candidates = {one: found for one, found in figures.items() if one.same == same}
        for group in next(iter(candidates.values())):
            best = max(
                candidates,
                key=lambda one, candidates=candidates, group=group: sum(
                    value for other, value in candidates[one].items() if other != group
                ),
            )
            chosen[best] = chosen.get(best, 0) + 1
            gained.append(candidates[best][group])
        print(f"same={same}, one language pair left out: {numpy.mean(gained):.4f}; chosen {chosen}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judged", type=Path, nargs="+", required=True, help="tables with scores")
    parser.add_argument("--text", type=Path, nargs="*", default=[], help="gzipped texts")
    parser.add_argument("--sentences", type=int, default=9000, help="of the texts, in all")
    parser.add_argument("--only", choices=("settings", "sources"), help="one half of it")
    parser.add_argument("--cache", type=Path, required=True, help="where analyses are kept")
    arguments = parser.parse_args()
    analyser = CachedAnalyser(open_analyser(), arguments.cache, limit_bytes=4 << 30)
    files = [read_judged(path, analyser) for path in arguments.judged]
    if arguments.only != "settings":
        for specification, power in product(SOURCES, RARITY):
            source = open_similarity(specification)
            found = " ".join(f"{source_correlations(one, source, power):.4f}" for one in files)
            print(f"{specification}, weights idf^{power:g}: {found}", flush=True)
    if arguments.only != "sources":
        sample = None
        if arguments.text:
            sample = sample_vectors(arguments.text, analyser, arguments.sentences)
        cross_validate(by_setting(files, sample))


if __name__ == "__main__":
    main()
