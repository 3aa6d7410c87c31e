"""A decoder small enough to test with: it translates word by word.

    python small_decoder.py SOURCE WEIGHTS NBEST [--size N] [--sparse]
        [--iteration I --mode MODE --at I]

Of every source word it knows a few translations, each with a log-probability of its own and one
given the word before. A candidate is a choice of translations; the features are both sums and
the number of words, `LM0`, `TM0` (two values) and `WordPenalty0`. The best N by the weights are
written as Moses does. With `--sparse`, every
word is a feature as well, named after it. The modes are the ways in which a decoder can fail.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import sys
import time
import zlib
from collections import Counter
from pathlib import Path


def chance(*words: str) -> float:
    """A number from -4 to 0 that depends on the words alone."""
    return -4 * (zlib.crc32(" ".join(words).encode()) % 1000) / 1000


def candidates(source: list[str]):
    options = [(word.lower(), word.lower() + "s", "") for word in source]
    for choice in itertools.product(*options):
        words = [word for word in choice if word]
        language = sum(chance(a, b) for a, b in itertools.pairwise(["<s>", *words]))
        forth = sum(chance(s, w) for s, w in zip(source, choice, strict=True))
        back = sum(chance(w, s) for s, w in zip(source, choice, strict=True))
        yield " ".join(words), (language, forth, back, -float(len(words)))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("nbest")
    parser.add_argument("--size", type=int, default=5)
    parser.add_argument("--sparse", action="store_true")
    parser.add_argument("--mode", default="good")
    parser.add_argument("--at", type=int, default=1)
    parser.add_argument("--iteration", type=int, default=1)
    asked = parser.parse_args()
    bad = asked.mode if asked.iteration == asked.at else "good"
    given = {}
    for line in asked.weights.read_text().splitlines():
        name, *values = line.split()
        given[name.removesuffix("=")] = list(map(float, values))
    weights = [*given["LM0"], *given["TM0"], *given["WordPenalty0"]]

    def model(words: str, features: tuple[float, ...]) -> float:
        counted = sum(given.get(f"w_{word}", [0.0])[0] for word in words.split())
        return sum(w * f for w, f in zip(weights, features, strict=True)) + counted

    print("decoding", asked.source, file=sys.stderr)
    lines = []
    for number, text in enumerate(asked.source.read_text().splitlines()):
        if bad == "short" and number == 2:
            break
        scored = (
            (model(words, features), words, features)
            for words, features in candidates(text.split())
        )
        for score, words, features in heapq.nlargest(asked.size, scored):
            shown = " ".join(f"{value:.4f}" for value in features[1:3])
            value = "nan" if bad == "nan" else f"{features[0]:.4f}"
            counts = Counter(words.split()) if asked.sparse else {}
            rare = "".join(f" w_{word}= {count}" for word, count in counts.items())
            lines.append(
                f"{number} ||| {words} ||| LM0= {value} TM0= {shown} "
                f"WordPenalty0= {features[3]:g}{rare} ||| {score:.4f}\n"
            )
    if bad == "hang":
        print("this takes a while", file=sys.stderr, flush=True)
        time.sleep(60)
    if bad == "fail":
        print("out of memory", file=sys.stderr)
        return 3
    if bad == "silent":
        return 0
    if asked.nbest == "-":
        sys.stdout.write("".join(lines))
    else:
        Path(asked.nbest).write_text("".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
