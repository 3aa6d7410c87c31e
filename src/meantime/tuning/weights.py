"""Weights of features as files, in the lines Moses has them.

    LM0= 0.5
    TM0= 0.2 0.2 0.2 0.2

A feature of several values has several weights. A heading `[weight]`, empty lines and what
follows `#` are passed over; `name value` without `=` and a JSON object are read as well.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from meantime.errors import FormatError
from meantime.formats.nbest import component, group
from meantime.formats.opening import decode, display, encode, lines, load, save

_COMMENT = re.compile(r"(^|\s)#.*")


def read_weights(path: str | Path) -> dict[str, float]:
    """The weights of a file, by feature; a feature of several as `TM0[0]`, `TM0[1]`.

    Raises:
        InputError: The file cannot be read.
        FormatError: A line is no weight, or a feature is there twice.
    """
    name = display(path)
    content = decode(name, load(path))
    if content.lstrip().startswith("{"):
        return _from_json(name, content)
    weights: dict[str, float] = {}
    for number, line in enumerate(lines(content), start=1):
        words = _COMMENT.sub("", line).split()
        if not words or words == ["[weight]"]:
            continue
        feature, values = words[0], words[1:]
        if feature.endswith("="):
            feature = feature[:-1]
        elif "=" in feature:
            # The last one: sparse features have = in their names.
            feature, _, value = feature.rpartition("=")
            values.insert(0, value)
        _put(weights, f"{name}:{number}", feature, values)
    if not weights:
        raise FormatError(f"{name}: holds no weight; write lines such as LM0= 0.5")
    return weights


def _from_json(name: str, content: str) -> dict[str, float]:
    try:
        found = json.loads(content)
    except ValueError as error:
        raise FormatError(f"{name}: not JSON ({error}); repair it") from error
    weights: dict[str, float] = {}
    for feature, value in found.items():
        _put(weights, name, feature, value if isinstance(value, list) else [value])
    return weights


def _put(weights: dict[str, float], place: str, feature: str, values: list[Any]) -> None:
    if not values:
        raise FormatError(f"{place}: {feature} has no weight; write {feature}= 0.5")
    names = [feature] if len(values) == 1 else [component(feature, n) for n in range(len(values))]
    for name, value in zip(names, values, strict=True):
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise FormatError(
                f"{place}: {feature} has {str(value)[:40]!r}, which is no number; "
                f"write {feature}= 0.5"
            ) from None
        if not math.isfinite(number):
            raise FormatError(f"{place}: {feature} has {value}; a weight is a finite number")
        if name in weights:
            raise FormatError(f"{place}: {feature} is there twice; keep one")
        weights[name] = number


def render_weights(weights: Mapping[str, float]) -> str:
    """The lines of a file; every number in full, so that reading gives the same ones."""
    grouped = group(tuple(weights), tuple(weights.values()))
    return "".join(f"{name}= {' '.join(map(repr, values))}\n" for name, values in grouped.items())


def write_weights(path: Path, weights: Mapping[str, float]) -> None:
    """Write a file in one step."""
    save(path, encode(render_weights(weights)))
