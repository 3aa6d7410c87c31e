r"""What a difference means: how often people agreed on a gap between two systems.

For pairs of systems that people judged, a metric's gap is measured on a number of segments drawn
at random, and compared with people's judgements of all segments both systems have:

    share(gap) = pairs of systems with such a gap that people order as the metric does
                 / pairs of systems with such a gap

The number of segments matters: on few of them a large gap arises by chance. So shares are kept for
several numbers of segments. Each pair of systems has weight 1 in all, however often segments are
drawn. A larger gap cannot mean less agreement: shares are fitted so that they never fall (isotonic
regression), and gaps of equal share become one bucket.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy

from meantime.errors import InputError, LengthMismatch
from meantime.protocols import Array
from meantime.types import Signature

SHIPPED = "gaps.json"
_LEAST = 20
"""How many pairs of systems a bucket rests on at least, before those of equal share are joined."""
_PASSING = frozenset({"references", "analysis", "wordnet", "stemmer"})
"""What a signature says of the place and time of scoring rather than of the metric."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """Gaps from `low` (above it) to `high`, and how often people agreed."""

    low: float
    high: float
    share: float
    pairs: float
    """How many pairs of systems that rests on; one may be in several buckets in part."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What people thought of pairs of systems with such a gap."""

    share: float
    pairs: int
    segments: int
    """For how many segments that is known: the nearest number not above those compared."""
    beyond: bool
    """Whether the gap is larger than any that was seen; the share is that of the largest."""


@dataclass(frozen=True, slots=True)
class GapTable:
    """How often people agreed, by metric, number of segments and gap."""

    source: str
    """Judgements of what, in words."""
    lang: str
    """The language translated into."""
    buckets: Mapping[str, Mapping[int, tuple[Bucket, ...]]]
    """By metric (see `key`) and number of segments."""

    def meaning(self, signature: Signature, gap: float, segments: int) -> Meaning | None:
        """How often people agreed with this metric on such a gap; None where it is not known."""
        sizes = self.buckets.get(key(signature), {})
        known = [size for size in sizes if size <= segments]
        if not known or gap <= 0:
            return None
        size = max(known)
        buckets = sizes[size]
        found = next((one for one in buckets if gap <= one.high), buckets[-1])
        return Meaning(found.share, round(found.pairs), size, gap > buckets[-1].high)

    def knows(self, signature: Signature) -> bool:
        """Whether the table has this metric, options and all."""
        return key(signature) in self.buckets

    @property
    def fewest(self) -> int:
        """The smallest number of segments anything is known for."""
        return min(size for sizes in self.buckets.values() for size in sizes)


def key(signature: Signature) -> str:
    """The signature without what does not change the metric: references, origin of analyses."""
    options = tuple(item for item in signature.options if item[0] not in _PASSING)
    return str(Signature(signature.name, signature.version, options))


def fit(gaps: Array, agree: Array) -> tuple[Bucket, ...]:
    """Shares of agreement that never fall as the gap grows.

    Args:
        gaps: By how much the metric puts the better system ahead; one row a pair of systems,
            one column a draw of segments. NaN or 0 where it does not order them.
        agree: 1 where people order the two alike, 0 where the other way round, 0.5 where they
            do not order them.

    Returns:
        Buckets from the smallest gap to the largest; none where there is no gap at all.
    """
    sizes, agreed = numpy.asarray(gaps, numpy.float64), numpy.asarray(agree, numpy.float64)
    if sizes.shape != agreed.shape:
        raise LengthMismatch(f"gaps are {sizes.shape}, agreement is {agreed.shape}")
    if sizes.ndim != 2 or not sizes.size:
        return ()
    # A NaN is not larger than 0 either.
    there = sizes > 0
    weights = there / numpy.maximum(there.sum(axis=1, keepdims=True), 1)
    order = numpy.argsort(sizes[there], kind="stable")
    flat, hits = sizes[there][order], agreed[there][order]
    weight = weights[there][order]
    if not len(flat):
        return ()
    shares = numpy.minimum((numpy.cumsum(weight) - weight) / weight.sum(), 1 - 1e-12)
    fine = (shares * max(1, int(weight.sum() / _LEAST))).astype(numpy.int64)
    # Equal gaps belong together, in the bucket of the first.
    first = numpy.searchsorted(flat, flat)
    fine = fine[first]
    made: list[Bucket] = []
    for number in numpy.unique(fine):
        here = fine == number
        mass = float(weight[here].sum())
        share = float((weight[here] * hits[here]).sum() / mass)
        low = made[-1].high if made else 0.0
        made.append(Bucket(low, float(flat[here].max()), share, mass))
        while len(made) > 1 and made[-1].share <= made[-2].share:
            # Pool adjacent violators.
            after, before = made.pop(), made.pop()
            pairs = before.pairs + after.pairs
            share = (before.share * before.pairs + after.share * after.pairs) / pairs
            made.append(Bucket(before.low, after.high, share, pairs))
    return tuple(made)


@cache
def shipped() -> GapTable:
    """The table of this package."""
    text = files("meantime.metaeval").joinpath("data", SHIPPED).read_text(encoding="utf-8")
    return parse(json.loads(text))


def parse(content: Mapping[str, Any]) -> GapTable:
    """Read a table from what `as_json` made."""
    buckets: dict[str, dict[int, tuple[Bucket, ...]]] = {}
    try:
        for item in content["metrics"]:
            sizes = {}
            for size, rows in item["segments"].items():
                lows = [0.0, *(row[0] for row in rows)]
                made = [Bucket(low, *row) for low, row in zip(lows, rows, strict=False)]
                sizes[int(size)] = tuple(made)
            buckets[item["key"]] = {size: made for size, made in sizes.items() if made}
        return GapTable(content["source"], content["lang"], buckets)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"this is no table of gaps ({error!r}); make it with python -m training.gaps"
        ) from error


def as_json(buckets: Mapping[int, Sequence[Bucket]]) -> dict[str, list[list[float]]]:
    """Buckets of one metric as they are written: upper end, share, pairs."""
    return {
        str(size): [
            [float(f"{one.high:.4g}"), round(one.share, 4), round(one.pairs, 1)] for one in made
        ]
        for size, made in sorted(buckets.items())
    }
