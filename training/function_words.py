"""Make the list of function words that the metric meteor ships.

METEOR (Denkowski and Lavie 2014) takes as function words those whose relative frequency in
a large text is above 1/1000. This script counts words, as the metric splits them, in
gzipped texts with a sentence a line, and writes the words above that frequency, the most
frequent first. Each text counts the same however long it is; texts joined with `+` count
as one, for a collection that comes in several files:

    python training/function_words.py --output src/meantime/metrics/data/function_words.en.txt \
        --source 'English Wikipedia, CC BY-SA 3.0' wikipedia-1.txt.gz+wikipedia-2.txt.gz \
        --source 'English Wikinews, CC BY 2.5' wikinews.txt.gz
"""

from __future__ import annotations

import argparse
import gzip
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from meantime.metrics.meteor import split_words

THRESHOLD = 1e-3


def count(paths: Sequence[str]) -> Counter[str]:
    """How often each word is in the files."""
    counts: Counter[str] = Counter()
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
            for line in file:
                counts.update(split_words.__wrapped__(line))
    return counts


def mean_frequencies(texts: Sequence[Counter[str]]) -> dict[str, float]:
    """The relative frequency of each word, averaged over the texts."""
    frequencies: Counter[str] = Counter()
    for counts in texts:
        total = counts.total()
        for word, number in counts.items():
            frequencies[word] += number / total / len(texts)
    return dict(frequencies)


def main() -> None:
    """Count, choose and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True, help="the list to write")
    parser.add_argument(
        "--source",
        nargs=2,
        action="append",
        required=True,
        metavar=("NAME", "FILE[+FILE...]"),
        help="a text: its name and licence, and its files",
    )
    arguments = parser.parse_args()
    texts = [count(files.split("+")) for _, files in arguments.source]
    frequencies = mean_frequencies(texts)
    chosen = [word for word, frequency in frequencies.items() if frequency > THRESHOLD]
    chosen.sort(key=lambda word: (-frequencies[word], word))
    header = [
        "# Function words of English, for the metric meteor: the words, as meteor splits them,",
        f"# whose relative frequency is above {THRESHOLD:g}, the most frequent first. Made by",
        "# training/function_words.py; the frequency is the mean over these texts:",
    ]
    for (name, _), counts in zip(arguments.source, texts, strict=True):
        header.append(f"# - {name} ({counts.total():,} words)")
    arguments.output.write_text("\n".join([*header, *chosen]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
