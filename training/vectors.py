"""Make the context vectors and the idf table that are shipped.

    python -m training.vectors --text FILE… --out DIR --work DIR [--judged FILE…]

1. Count windows 3 and 5 in the texts, in one pass: `WORK/whole.vectors`.
2. Prune what was counted to what fits: `OUT/context.vectors`.
3. Count sentences: `OUT/sentences.idf`.
4. Measure what pruning cost, on judged translations (TSV with the columns lp, ref, hyp,
   score, as `wmt15-da-toen.tsv.gz`): how words are ordered, which word is found most similar,
   and how a plain score of whole sentences agrees with the judges.
5. Write the card.

Only texts whose licences allow it may go in: English Wikipedia, English Wikinews, MASC. No
test set may be measured on: the settings below were chosen by step 4.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
from numpy.typing import NDArray

from meantime.similarity.context import MEASURES, ContextSimilarity
from meantime.similarity.context_counting import train
from meantime.similarity.context_file import open_model
from meantime.similarity.context_pieces import prune
from meantime.similarity.context_tokens import split
from meantime.similarity.idf import count_idf, open_idf

WINDOWS = (3, 5)
WORDS = 60_000
"""Words and contexts kept."""
MIN_ENTRY = 3
MIN_SENTENCES = 2
PAIRS = 100_000
Array = NDArray[numpy.float64]


@dataclass(frozen=True)
class Judged:
    """Translations with a human score."""

    pairs: tuple[tuple[list[str], list[str]], ...]
    languages: NDArray[numpy.str_]
    scores: Array


@dataclass(frozen=True)
class Cost:
    """What a pruned model lost, for one measure and window."""

    measure: str
    window: int
    order: float
    """Spearman correlation of the similarities of different words."""
    best: float
    """Share of words whose most similar word on the other side is the same."""
    whole: float
    """Correlation with the judges, from the whole counts."""
    pruned: float
    """And from the pruned ones."""


def read_judged(paths: Sequence[Path], limit: int, rng: numpy.random.Generator) -> Judged:
    """Some judged translations, of all language pairs."""
    rows: list[dict[str, str]] = []
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
            rows += csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    chosen = [rows[place] for place in rng.permutation(len(rows))[:limit]]
    return Judged(
        tuple((split(row["hyp"]), split(row["ref"])) for row in chosen),
        numpy.array([row["lp"] for row in chosen]),
        numpy.array([float(row["score"]) for row in chosen]),
    )


def matrices(source: ContextSimilarity, judged: Judged) -> list[Array]:
    """The word similarities of each hypothesis with its reference."""
    return [source.matrix(hypothesis, reference) for hypothesis, reference in judged.pairs]


def agreement(found: Sequence[Array], judged: Judged) -> float:
    """Pearson correlation of the F-score of best matches with the judges, by language pair."""
    scores = []
    for matrix in found:
        precision, recall = matrix.max(axis=1).mean(), matrix.max(axis=0).mean()
        scores.append(2 * precision * recall / (precision + recall) if precision + recall else 0.0)
    values = numpy.array(scores)
    each = [
        numpy.corrcoef(values[judged.languages == pair], judged.scores[judged.languages == pair])
        for pair in sorted(set(judged.languages))
    ]
    return float(numpy.mean([one[0, 1] for one in each]))


def measure_cost(
    whole: Path, pruned: Path, judged: Judged, rng: numpy.random.Generator
) -> list[Cost]:
    """What pruning cost, for each measure and window."""
    from scipy.stats import spearmanr

    costs = []
    for window in open_model(pruned).windows:
        for measure in MEASURES:
            # Dice orders words as Jaccard does.
            if measure.startswith("dice"):
                continue
            before, after = (
                matrices(ContextSimilarity(measure=measure, model=path, window=window), judged)
                for path in (whole, pruned)
            )
            flat = numpy.concatenate([one.ravel() for one in before])
            other = numpy.concatenate([one.ravel() for one in after])
            different = numpy.flatnonzero(flat < 1)
            some = rng.choice(different, min(PAIRS, len(different)), replace=False)
            same = [
                (one.argmax(axis=1) == two.argmax(axis=1)).mean()
                for one, two in zip(before, after, strict=True)
            ]
            costs.append(
                Cost(
                    measure,
                    window,
                    float(spearmanr(flat[some], other[some])[0]),
                    float(numpy.mean(same)),
                    agreement(before, judged),
                    agreement(after, judged),
                )
            )
            print(costs[-1], flush=True)
    return costs


def coverage(model: Path, idf: Path, judged: Judged) -> tuple[float, float]:
    """Shares of the tokens of references that the model and the table know, in percent."""
    known, counts = open_model(model).index, open_idf(idf).counts
    words = [word for _, reference in judged.pairs for word in reference]
    return (
        100 * sum(word in known for word in words) / len(words),
        100 * sum(word in counts for word in words) / len(words),
    )


SOURCES = [
    "English Wikipedia, low page ids, dump of about 2015 (CC BY-SA 3.0, the authors of Wikipedia)",
    "English Wikinews, dump of about 2019 (CC BY 2.5, the authors of Wikinews)",
    "MASC, written part (Manually Annotated Sub-Corpus, free for any use)",
]
LICENCE = "CC BY-SA 3.0"

_CARD = """\
# english-vectors: the context vectors and the idf table that come with meantime

How often the frequent words of English stand near one another, and in how many sentences
words stand.

| | |
|---|---|
| Vectors | `context.vectors`, hash `{identity}`, {size:.1f} MB |
| | windows 3 and 5; {words:,} words, as many contexts |
| | {entries:,} counts in window 5, {near:,} of them in window 3 |
| Idf table | `sentences.idf`, hash `{idf_identity}`, {idf_size:.1f} MB |
| | {idf_words:,} words in {sentences:,} sentences |
| Licence | {licence}, because Wikipedia's text is (the code of meantime is Apache-2.0) |
| Made by | `python -m training.vectors`, on a CPU |

`meantime models --check` compares the files with these hashes. They hold words and numbers;
nothing is unpickled.

## Data

{sources}

{tokens:,} tokens, split as the analyser splits them and lower-cased: no stemming, no stop
list. A window does not cross the end of a sentence. The text is by the contributors of the
English Wikipedia, <https://en.wikipedia.org>, and of English Wikinews,
<https://en.wikinews.org>; it was counted, and the counts pruned. They may be shared under the
licence above. No translation, reference or human score went in.

## What was left out

Of {types:,} different words those seen 5 times were counted: {whole_words:,} words,
{whole_entries:,} counts in window 5, {whole_size:.1f} MB with window 3. Kept are the
{words:,} most frequent words, as words and as contexts, and counts of {min_entry} or more
in window 5. Sums by word
and by context are still those of the whole. Window 3 is written into the entries of window 5,
which costs {window_cost:.1f} MB; a file of its own would take {alone:.1f} MB.

What that cost was measured on {judged:,} translations drawn from the judged ones of WMT15 and
WMT16. *Order*: rank correlation of the similarities of different words with those from the
whole counts. *Most similar*: how often the most similar word on the other side stays the same.
*Judges*: mean Pearson correlation, over language pairs, of a plain F-score of best matches,
from the whole counts and from the pruned.

| Measure | window | order | most similar | judges, whole | judges, pruned |
|---|---:|---:|---:|---:|---:|
{costs}

(dice orders words as jaccard does.) Of the words in these references the vectors know
{known:.1f} %, the idf table {known_idf:.1f} %.

## Intended use and weaknesses

Similarity of words inside metrics of translation. Counts of raw text know no meaning:
opposites keep the same company, frequent words look alike to jaccard and dice because their
counts are of one size, and what people wrote most often is counted most often, prejudice
included. Not made for other languages: count your own with `meantime vectors train`.
"""


def write_card(
    folder: Path, whole: Path, costs: Sequence[Cost], judged: Judged, sizes: Sequence[int],
) -> None:  # fmt: skip
    """Write card.md and card.json."""
    model, table, before = (
        open_model(folder / "context.vectors"),
        open_idf(folder / "sentences.idf"),
        open_model(whole),
    )
    from meantime.similarity.context_file import check
    from meantime.similarity.shipped import FILES

    files = {name: check(folder / name, kind) for name, kind in FILES.items()}
    known, known_idf = coverage(model.path, folder / "sentences.idf", judged)
    near, wide = model.entries
    both, one, alone = sizes
    text = _CARD.format(
        words=len(model.words),
        entries=wide,
        near=near,
        size=model.path.stat().st_size / 1e6,
        identity=files["context.vectors"][:12],
        idf_words=len(table.counts),
        sentences=table.sentences,
        idf_size=(folder / "sentences.idf").stat().st_size / 1e6,
        idf_identity=files["sentences.idf"][:12],
        licence=LICENCE,
        sources="\n".join(f"- {source}." for source in SOURCES),
        tokens=model.facts["tokens"],
        types=model.facts["types"],
        whole_words=len(before.words),
        whole_entries=before.entries[-1],
        whole_size=whole.stat().st_size / 1e6,
        min_entry=MIN_ENTRY,
        window_cost=(both - one) / 1e6,
        alone=alone / 1e6,
        judged=len(judged.pairs),
        costs="\n".join(
            f"| {cost.measure} | {cost.window} | {cost.order:.3f} | {cost.best:.3f} "
            f"| {cost.whole:.3f} | {cost.pruned:.3f} |"
            for cost in costs
        ),
        known=known,
        known_idf=known_idf,
    )
    (folder / "card.md").write_text(text, encoding="utf-8")
    jaccard = next(cost for cost in costs if (cost.measure, cost.window) == ("jaccard", 5))
    facts = {
        "for": "English: context vectors (windows 3 and 5) and an idf table",
        "licence": LICENCE,
        "made_by": "training/vectors.py",
        "files": files,
        "figures": {
            "words with vectors": len(model.words),
            "counts in window 5": wide,
            "words in the idf table": len(table.counts),
            "tokens counted": model.facts["tokens"],
            "order kept (jaccard, window 5, rank correlation)": round(jaccard.order, 3),
        },
        "data": SOURCES,
    }
    (folder / "card.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Count, prune, measure, write."""
    import time

    parser = argparse.ArgumentParser(prog="python -m training.vectors")
    parser.add_argument("--text", type=Path, nargs="+", required=True)
    parser.add_argument("--judged", type=Path, nargs="+", required=True)
    parser.add_argument("--pairs", type=int, default=2000, help="judged translations drawn")
    parser.add_argument("--out", type=Path, required=True, help="folder of the shipped files")
    parser.add_argument("--work", type=Path, required=True, help="folder for the whole counts")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for path in arguments.judged:
        if not path.name.startswith(("wmt15-", "wmt16-")):
            parser.error(f"{path}: only judgements of WMT15 and WMT16 may be used here")
    rng = numpy.random.default_rng(arguments.seed)
    arguments.out.mkdir(parents=True, exist_ok=True)
    arguments.work.mkdir(parents=True, exist_ok=True)
    whole, pruned = arguments.work / "whole.vectors", arguments.out / "context.vectors"
    begin = time.perf_counter()
    train(arguments.text, whole, windows=WINDOWS)
    sizes = []
    for name, windows in (
        (pruned, WINDOWS),
        (arguments.work / "wide", (5,)),
        (arguments.work / "near", (3,)),
    ):
        prune(
            whole, name, max_words=WORDS, max_contexts=WORDS, min_entry=MIN_ENTRY, windows=windows
        )
        sizes.append(name.stat().st_size)
    found = count_idf(arguments.text)
    made = {"from": [path.name for path in arguments.text]}
    found.save(arguments.out / "sentences.idf", min_sentences=MIN_SENTENCES, made=made)
    minutes = (time.perf_counter() - begin) / 60
    print(f"made in {minutes:.1f} minutes", flush=True)
    judged = read_judged(arguments.judged, arguments.pairs, rng)
    costs = measure_cost(whole, pruned, judged, rng)
    write_card(arguments.out, whole, costs, judged, sizes)


if __name__ == "__main__":
    main()
