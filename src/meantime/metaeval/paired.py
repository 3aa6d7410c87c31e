r"""Is one system really better than another? Paired tests on rows of statistics.

Both tests resample what was measured, so they serve any metric and score nothing twice.

**Paired bootstrap** (Koehn 2004). Test sets are drawn from the segments with replacement, the same
for all systems. With d the difference in a drawn set and D that in the real one,

    p = (1 + number of draws with  |d| - mean |d| >= |D|) / (1 + draws)

which is sacreBLEU's (and Moses') reading. Where D is large against its spread all d have one sign,
and the test is one-sided in effect: its p is about half of what randomisation gives.

**Approximate randomisation** (Noreen 1989; Riezler and Maxwell 2005). The two systems change places
in a random half of the segments. With d the difference between the two mixtures,

    p = (1 + number of trials with  |d| >= |D|) / (1 + trials)

This is two-sided and holds its level whatever the metric.

Equal counts as not smaller in both: sacreBLEU counts what is strictly larger, which differs only
where ties abound, as with few segments or equal outputs, and there finds significance in nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy

from meantime.errors import InputError, LengthMismatch, UsageError
from meantime.protocols import Array, Metric
from meantime.scoring import Interval, percentiles, resample, score_many
from meantime.types import Level

Progress = Callable[[int, int], None]

_BLOCK = 1000
"""Randomisation trials at a time."""
_PLENTY = 10_000
_ENOUGH = 100
"""After so many trials, pairs that chance has matched so often are done."""
_SLACK = 1e-9
"""What differs by less than this share of the scores differs by rounding alone."""


@dataclass(frozen=True, slots=True)
class PairedTest:
    """What resampling says of the difference between two systems.

    Attributes:
        difference: Score of the first minus score of the second.
        p_value: How easily chance alone makes a difference as large.
        resamples: How many samples or trials that rests on.
        interval: Where the difference lies over resampled test sets (bootstrap alone).
    """

    difference: float
    p_value: float
    resamples: int
    interval: Interval | None = None


def paired_bootstrap(
    metric: Metric,
    first: Array,
    second: Array,
    *,
    rng: numpy.random.Generator,
    resamples: int = 1000,
    confidence: float = 0.95,
) -> PairedTest:
    """Koehn's test of two systems.

    Args:
        metric: Scores summed rows; prepared as it was when it measured them.
        first: Rows of the first system, one a segment.
        second: Rows of the second, for the same segments.
        rng: Draws the test sets.
        resamples: How many.
        confidence: Share of the samples the interval of the difference holds.
    """
    observed = system_scores(metric, [first, second])
    drawn = bootstrap_scores(metric, [first, second], rng=rng, resamples=resamples)
    difference = float(observed[0] - observed[1])
    p_value = float(bootstrap_p_values(drawn, observed)[0, 1])
    interval = percentiles(drawn[:, 0] - drawn[:, 1], confidence)
    return PairedTest(difference, p_value, resamples, interval)


def approximate_randomisation(
    metric: Metric,
    first: Array,
    second: Array,
    *,
    rng: numpy.random.Generator,
    trials: int = 10_000,
) -> PairedTest:
    """The randomisation test of two systems.

    Args:
        metric: Scores summed rows; prepared as it was when it measured them.
        first: Rows of the first system, one a segment.
        second: Rows of the second, for the same segments.
        rng: Draws which segments change places.
        trials: How often.
    """
    observed = system_scores(metric, [first, second])
    [p_value] = randomisation_p_values(metric, [first, second], [(0, 1)], rng=rng, trials=trials)
    return PairedTest(float(observed[0] - observed[1]), float(p_value), trials)


def system_scores(metric: Metric, rows: Sequence[Array]) -> Array:
    """The corpus score of each system."""
    _check(rows)
    return score_many(metric, numpy.array([one.sum(axis=0) for one in rows]), Level.CORPUS)


def bootstrap_scores(
    metric: Metric,
    rows: Sequence[Array],
    *,
    rng: numpy.random.Generator,
    resamples: int = 1000,
    progress: Progress | None = None,
) -> Array:
    """Scores over resampled test sets: one row a sample, one column a system.

    All systems get the same samples, those of `meantime.scoring.bootstrap` with the same `rng`.
    """
    count = _check(rows)
    if resamples < 1:
        raise UsageError(f"{resamples} resamples; draw at least 1")
    side_by_side = numpy.concatenate(rows, axis=1)
    width = rows[0].shape[1]
    blocks = []
    done = 0
    for weights in resample(count, rng, resamples):
        # One product for all systems: the sums of every sample.
        totals = weights @ side_by_side
        blocks.append(
            numpy.stack(
                [
                    score_many(metric, totals[:, start : start + width], Level.CORPUS)
                    for start in range(0, totals.shape[1], width)
                ],
                axis=1,
            )
        )
        done += len(weights)
        if progress:
            progress(done, resamples)
    return numpy.concatenate(blocks)


def bootstrap_p_values(scores: Array, observed: Array) -> Array:
    """P-values of the differences between all systems.

    Args:
        scores: From `bootstrap_scores`.
        observed: The systems' real scores.

    Returns:
        A symmetric matrix, 1 on the diagonal.
    """
    systems = scores.shape[1]
    p_values = numpy.ones((systems, systems))
    for system in range(systems - 1):
        gaps = numpy.abs(scores[:, system : system + 1] - scores[:, system + 1 :])
        real = numpy.abs(observed[system] - observed[system + 1 :])
        slack = _slack(observed[system], observed[system + 1 :])
        exceeding = (gaps - gaps.mean(axis=0) >= real - slack).sum(axis=0)
        found = (exceeding + 1) / (len(scores) + 1)
        p_values[system, system + 1 :] = p_values[system + 1 :, system] = found
    return p_values


def win_shares(scores: Array, *, higher_is_better: bool = True) -> Array:
    """The share of samples in which each system (row) beats each other (column).

    Equal scores are half a win for either, so that a pair's two shares add up to 1.
    """
    systems = scores.shape[1]
    shares = numpy.full((systems, systems), 0.5)
    for system in range(systems - 1):
        one, others = scores[:, system : system + 1], scores[:, system + 1 :]
        better = one > others if higher_is_better else one < others
        share = (better + 0.5 * (one == others)).mean(axis=0)
        shares[system, system + 1 :] = share
        shares[system + 1 :, system] = 1 - share
    return shares


def randomisation_p_values(
    metric: Metric,
    rows: Sequence[Array],
    pairs: Sequence[tuple[int, int]],
    *,
    rng: numpy.random.Generator,
    trials: int = 10_000,
    progress: Progress | None = None,
) -> Array:
    """P-values of pairs of systems, given by their numbers.

    The same segments change places for all pairs in a trial; each pair's p-value is what it
    would be alone. Trials beyond 10,000 serve to tell small p-values apart: a pair that chance
    has matched a hundred times by then gets no more of them.
    """
    count = _check(rows)
    if trials < 1:
        raise UsageError(f"{trials} trials; make at least 1")
    observed = system_scores(metric, rows)
    reached = numpy.zeros(len(pairs), dtype=numpy.int64)
    made = numpy.zeros(len(pairs), dtype=numpy.int64)
    active = numpy.ones(len(pairs), dtype=bool)
    done = 0
    for kept in _halves(count, trials, rng):
        if done >= _PLENTY:
            active &= reached < _ENOUGH
        tested = [number for number in range(len(pairs)) if active[number]]
        if not tested:
            if progress:
                progress(trials, trials)
            break
        used = {system for number in tested for system in pairs[number]}
        moved = 1.0 - kept
        # Sums are made once a system, not once a pair. The other half is summed, not
        # subtracted: subtraction would leave rounding errors where nothing should be.
        stay = {system: kept @ rows[system] for system in used}
        move = {system: moved @ rows[system] for system in used}
        for number in tested:
            one, other = pairs[number]
            mixed = numpy.concatenate([stay[one] + move[other], stay[other] + move[one]])
            values = score_many(metric, mixed, Level.CORPUS)
            gaps = numpy.abs(values[: len(kept)] - values[len(kept) :])
            real = abs(observed[one] - observed[other])
            reached[number] += int((gaps >= real - _slack(observed[one], observed[other])).sum())
        made[active] += len(kept)
        done += len(kept)
        if progress:
            progress(done, trials)
    found: Array = (reached + 1) / (made + 1)
    return found


def _halves(count: int, trials: int, rng: numpy.random.Generator) -> Iterator[Array]:
    """In blocks, one row a trial: 1 where a segment keeps its places, else 0."""
    block = max(1, min(_BLOCK, 4_000_000 // count))
    for start in range(0, trials, block):
        size = min(block, trials - start)
        coins = numpy.frombuffer(rng.bytes((size * count + 7) // 8), numpy.uint8)
        bits = numpy.unpackbits(coins, count=size * count)
        yield bits.reshape(size, count).astype(numpy.float64)


def _slack(one: float | Array, other: float | Array) -> Array:
    slack: Array = _SLACK * numpy.maximum(numpy.abs(one), numpy.abs(other))
    return slack


def _check(rows: Sequence[Array]) -> int:
    """How many segments; all systems must have the same."""
    counts = {len(one) for one in rows}
    if len(counts) > 1:
        raise LengthMismatch(
            f"systems have {' and '.join(map(str, sorted(counts)))} segments; paired tests need "
            "the same segments of every system"
        )
    if not rows or not counts.pop():
        raise InputError("there is no segment to compare on; give at least one")
    return len(rows[0])
