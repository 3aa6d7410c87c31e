"""Weights of the role classes: read, written, estimated.

A file of weights is JSON with the weight of every class and where they came from:

    {"weights": {"predicate": 5, "arg0": 3, ...}, "provenance": {"fitted on": "...", ...}}

Those that are shipped stand in `data/` and have names. Weights are used as they are: only their
proportions count.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy

from meantime.alignment.roles import CLASSES, NUMBER
from meantime.alignment.structures import structure
from meantime.errors import InputError, UsageError
from meantime.formats.opening import save
from meantime.protocols import Array
from meantime.types import Sentence

FOLDER = Path(__file__).parent / "data"
UNSUPERVISED = "unsupervised"
UNIFORM = "uniform"
SUFFIX = ".weights.json"


@dataclass(frozen=True, slots=True)
class RoleWeights:
    """One weight a role class, in the order of `CLASSES`, and where they came from."""

    values: tuple[float, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.values) != len(CLASSES):
            raise UsageError(
                f"{len(self.values)} weights; give {len(CLASSES)}: {', '.join(CLASSES)}"
            )
        wrong = [value for value in self.values if not (math.isfinite(value) and value >= 0)]
        if wrong:
            raise UsageError(f"weight {wrong[0]:g}; weights of roles are numbers from 0")
        if not any(self.values):
            raise UsageError("all weights are 0; give at least one role class some weight")

    @property
    def array(self) -> Array:
        return numpy.array(self.values, dtype=numpy.float64)

    def __str__(self) -> str:
        """Every class with its weight, as signatures state it."""
        return ",".join(
            f"{name}={value:.6g}" for name, value in zip(CLASSES, self.values, strict=True)
        )


def names() -> tuple[str, ...]:
    """The names of the weights that can be had without a file."""
    shipped = sorted(path.name.removesuffix(SUFFIX) for path in FOLDER.glob(f"*{SUFFIX}"))
    return (UNIFORM, UNSUPERVISED, *shipped)


def load_weights(name: str) -> RoleWeights:
    """Weights by name (`uniform`, or shipped ones) or from a file.

    Raises:
        UsageError: There is neither such a name nor such a file.
        InputError: The file does not hold weights.
    """
    if name == UNIFORM:
        return RoleWeights((1.0,) * len(CLASSES), {"what": "every class alike"})
    shipped = FOLDER / f"{name}{SUFFIX}"
    if "/" not in name and shipped.is_file():
        return _read(shipped)
    path = Path(name)
    if not path.is_file():
        raise UsageError(
            f"no weights are called {name!r} and there is no such file; there are "
            f"{', '.join(names())} ('meantime weights fit' makes others)"
        )
    return read_weights(path)


@cache
def _read(path: Path) -> RoleWeights:
    return read_weights(path)


def read_weights(path: Path) -> RoleWeights:
    """Weights from a file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise InputError(
            f"{path}: is no JSON ({error}); write it with 'meantime weights'"
        ) from None
    weights = found.get("weights") if isinstance(found, dict) else None
    if not isinstance(weights, dict):
        raise InputError(
            f'{path}: holds no weights; it should be {{"weights": {{"predicate": 1, …}}}}'
        )
    strange = sorted(set(weights) - set(CLASSES))
    lacking = [name for name in CLASSES if name not in weights]
    if strange or lacking:
        what = f"unknown class {strange[0]!r}" if strange else f"no weight for {lacking[0]}"
        raise InputError(f"{path}: {what}; the classes are {', '.join(CLASSES)}")
    for name, value in weights.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{path}: {name}: {value!r} is no number")
    provenance = found.get("provenance", {})
    try:
        return RoleWeights(tuple(float(weights[name]) for name in CLASSES), provenance)
    except UsageError as error:
        raise InputError(f"{path}: {error}") from None


def as_json(weights: RoleWeights) -> str:
    """A file of weights."""
    plain = {
        name: int(value) if float(value).is_integer() else value
        for name, value in zip(CLASSES, weights.values, strict=True)
    }
    made = {"weights": plain, "provenance": dict(weights.provenance)}
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def write_weights(path: Path, weights: RoleWeights) -> None:
    """Write a file of weights, wholly or not at all."""
    save(path, as_json(weights).encode("utf-8"))


def estimate_unsupervised(references: Iterable[Sentence]) -> RoleWeights:
    """The weights of UMEANT: the relative frequency of each class in the references' frames.

    (Lo and Wu 2012, SSST-6; Beloucif, Lo and Wu 2014, 3.1.) Predicates count as a class. Frames
    without roles, which are not scored, do not count.

    Raises:
        InputError: No reference has a frame with a role.
    """
    counts: Counter[int] = Counter()
    sentences = 0
    for reference in references:
        sentences += 1
        counts.update(structure(reference).classes)
    total = counts.total()
    if not total:
        raise InputError(
            f"none of {sentences} references has a frame with a role, so weights cannot be "
            "estimated from them; use others ('weights=uniform', or a name or file)"
        )
    return RoleWeights(
        tuple(counts[NUMBER[name]] / total for name in CLASSES),
        {"what": "relative frequency in references", "sentences": sentences, "roles": total},
    )
