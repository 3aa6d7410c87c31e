"""Explanations of many outputs, packed small: for a page that draws them when they are looked at.

Every metric that explains is asked, whichever it is. The segments on which systems differ most come
first, so that where not everything fits what is left out is what is read last. Figures of a few
segments at a time are deflated: a page opens only what it shows.
"""

from __future__ import annotations

import base64
import json
import multiprocessing
import signal
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.pool import Pool
from typing import Any

import numpy

from meantime.protocols import Explainer, Metric
from meantime.report.comparison import Comparison
from meantime.report.figures import Figure, as_figure
from meantime.scoring import Measured
from meantime.types import Pair

Progress = Callable[[int, int], None]

MOST = 25_000
"""So many outputs are explained, each by each metric that can."""
MOST_BYTES = 11_000_000
"""What explanations may take in a page, packed."""
TOGETHER = 20
"""Segments packed together."""


@dataclass(frozen=True, slots=True)
class Explained:
    """Figures of segments by system and metric, packed."""

    metrics: tuple[int, ...]
    """Numbers of the metrics that explain."""
    segments: tuple[int, ...]
    """Places of the segments that are explained, in the order they are packed."""
    together: int
    packed: tuple[str, ...]
    """Each a list by segment of lists by system of lists by metric of figures (or null)."""
    asked: int
    """How many segments there are."""


def explain_all(
    measured: Measured,
    comparison: Comparison,
    *,
    most: int = MOST,
    most_bytes: int = MOST_BYTES,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Explained:
    """Explain every output by every metric that can, as far as the limits allow.

    Args:
        measured: The metrics, prepared, and the corpus with what they need.
        comparison: Says on which segments systems differ.
        most: Explanations to make at most.
        most_bytes: What they may take, packed.
        jobs: Number of processes.
        progress: Told how many outputs are explained, and of how many.
    """
    count = len(measured.corpus.segments)
    metrics = tuple(
        number for number, one in enumerate(measured.metrics) if isinstance(one, Explainer)
    )
    if not metrics:
        return Explained((), (), TOGETHER, (), count)
    room = most // (len(measured.systems) * len(metrics))
    order = _by_difference(comparison, metrics[0])[:room]
    pairs = [measured.corpus.pairs(system) for system in measured.systems]
    groups = [order[start : start + TOGETHER] for start in range(0, len(order), TOGETHER)]
    work = _Work([measured.metrics[number] for number in metrics], pairs)
    packed: list[str] = []
    size = done = 0
    kept: list[int] = []
    if progress:
        progress(0, len(order))
    for group, text in zip(groups, _run(work, groups, jobs), strict=False):
        size += len(text)
        if size > most_bytes and packed:
            break
        packed.append(text)
        kept += group
        done += len(group)
        if progress:
            progress(done, len(order))
    return Explained(metrics, tuple(kept), TOGETHER, tuple(packed), count)


def pack(value: Any) -> str:
    """JSON, deflated, in letters that need no escaping anywhere."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Whatever is no text at all (half a pair of surrogates) becomes a mark that says so.
    data = text.encode("utf-8", errors="replace")
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.b64encode(squeezer.compress(data) + squeezer.flush()).decode("ascii")


def unpack(text: str) -> Any:
    """What was packed."""
    return json.loads(zlib.decompress(base64.b64decode(text), -15))


def _by_difference(comparison: Comparison, number: int) -> list[int]:
    scores = comparison.metrics[number].segment_scores
    spread = scores.max(axis=0) - scores.min(axis=0)
    found: list[int] = numpy.argsort(-spread, kind="stable").tolist()
    return found


@dataclass(frozen=True, slots=True)
class _Work:
    metrics: Sequence[Metric]
    pairs: Sequence[Sequence[Pair]]
    """By system."""

    def __call__(self, places: Sequence[int]) -> str:
        return pack([[self._output(pairs[place]) for pairs in self.pairs] for place in places])

    def _output(self, pair: Pair) -> list[Figure]:
        return [figure_of(metric, pair) for metric in self.metrics]


def figure_of(metric: Metric, pair: Pair) -> Figure:
    """The figure of one pair by a metric that explains."""
    assert isinstance(metric, Explainer)
    return as_figure(
        metric.explain(pair),
        decimals=getattr(metric, "decimals", 4),
        higher_is_better=metric.higher_is_better,
    )


_here: list[_Work] = []


def _run(work: _Work, groups: Sequence[Sequence[int]], jobs: int) -> Iterator[str]:
    if jobs <= 1 or len(groups) < 2:
        yield from map(work, groups)
        return
    # Kernels are compiled and files loaded once, and inherited.
    work(groups[0][:1])
    with _pool(work, min(jobs, len(groups))) as pool:
        yield from pool.imap(_do, groups)


def _pool(work: _Work, jobs: int) -> Pool:
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    return context.Pool(jobs, _start, (work,))


def _start(work: _Work) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _here[:] = [work]


def _do(places: Sequence[int]) -> str:
    return _here[0](places)
