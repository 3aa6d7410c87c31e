"""Choose how much the constituents say about roles: a small grid on the development file.

    python -m training.analyser.decoding --model DIR --dev FILE

Writes the best into the model's configuration (and renews its hash).
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path

import numpy

from meantime.analysis.analyser import EmbeddedAnalyser, _ends
from meantime.analysis.model import Model
from meantime.matching.labels import best_roles, span_gains
from training.analyser.data import Example, read

WEIGHTS = (0.0, 0.2, 0.35, 0.5, 0.75, 1.0)
LOWS = (-8.0, -5.0, -3.0)
HIGHS = (0.0, 1.0, 2.0, 4.0)
SINGLES = (-0.5, 0.0, 0.5, 1.0)


def answers(analyser: EmbeddedAnalyser, examples: list[Example]) -> list[tuple]:
    """What the network says of the gold predicates, before decoding."""
    found = []
    for example in examples:
        encoded = analyser._subwords.encode(example.words)
        if len(encoded.pieces) > 400 or not example.predicates:
            continue
        starts, ends = _ends(len(example.words))
        odds, token, predicate = analyser._first.run(
            ["span_gains", "token", "predicate"],
            {
                "pieces": numpy.array([encoded.pieces], numpy.int64),
                "shapes": numpy.array([encoded.shapes], numpy.int64),
                "firsts": numpy.array([encoded.firsts], numpy.int64),
                "starts": starts,
                "ends": ends,
            },
        )
        places = numpy.array(example.predicates, numpy.int64)
        (scores,) = analyser._second.run(
            None, {"token": token, "predicate": predicate, "place": places}
        )
        found.append((example, odds, scores, places))
    return found


def figure(analyser: EmbeddedAnalyser, said: list[tuple], **decoding: float) -> float:
    """F of roles with gold predicates."""
    right = total = 0
    for example, odds, scores, places in said:
        gains = span_gains(odds, len(example.words), **decoding)
        for roles, gold in zip(best_roles(scores, places, gains), example.roles, strict=True):
            mine = {(start, end, analyser._roles[role]) for start, end, role in roles}
            right += len(mine & set(gold))
            total += len(mine) + len(gold)
    return 200 * right / total


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.analyser.decoding")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--dev", type=Path, required=True)
    options = parser.parse_args()
    analyser = EmbeddedAnalyser(Model(options.model), threads=1)
    said = answers(analyser, list(read([options.dev])))
    print(f"without constituents: {figure(analyser, said):.2f}", flush=True)
    best: tuple[float, dict[str, float]] = (0.0, {})
    for weight, low, high, single in product(WEIGHTS, LOWS, HIGHS, SINGLES):
        if weight == 0 and (low, high) != (LOWS[0], HIGHS[0]):
            continue
        decoding = {"weight": weight, "low": low, "high": high, "single": single}
        value = figure(analyser, said, **decoding)
        if value > best[0]:
            best = (value, decoding)
            print(f"{value:.2f} {decoding}", flush=True)
    path = options.model / "configuration.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["decoding"] = best[1]
    path.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    settings["hash"] = Model(options.model).compute_hash()
    path.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
