"""Phrase similarity by a bracketing inversion transduction grammar (Wu 1997; paper 004, 3.2).

The grammar has one symbol A and the rules

    A -> [A A]    both sides in the same order        weight 1
    A -> <A A>    the right side in inverse order     weight 1
    A -> e/f      left token e, right token f         weight s(e, f), their similarity
    A -> e/-, A -> -/f    a token with no partner     weight `null_weight`

A derivation's weight is the product of its rules' weights. `BEST` takes the greatest weight of a
derivation of the two phrases, `INSIDE` the sum over all of them; either, P, is normalised by
the lengths n and m as P ** (1 / max(n, m)). One phrase empty: 0. Both empty: 1.

Without null rules (weight 0), phrases of unequal length cannot be derived and get 0. The best
derivation never weighs more than 1, and a copy gets 1. The inside sum counts every bracketing:
three different words, copied, get 2 ** (1/3) = 1.26, ten 4862 ** (1/10) = 2.34. It is given as
it is. With null rules it counts every place where a token without partner may hang: a lone word,
copied, gets 1 + 4 · null_weight².

Exact parsing considers every pair of spans and every pair of places to split them: about
C(n+1, 3) · C(m+1, 3) steps, or n⁴ / 6 without null rules, where spans must be as long as each
other. Phrases for which that count exceeds `limit` are parsed within bounds, never above the
exact value:

- The phrase with fewer tokens is taken as the left one, of equals the same one whichever way
  they are given. For each left span only the `beam` right spans of greatest promise are kept:
  their weight so far, over what the right tokens covered would weigh at their best. Right spans
  begin and end with a token that has a partner; right tokens between two spans that are
  joined are left without one. Steps grow with n³ · beam² at most, whatever m, and mostly with
  n³ · beam, since spans are joined in order of promise and not further than can matter.
- `INSIDE` then sums over the derivations made of those spans alone, the best one among them.
  What is left out is many derivations of little weight each. On real fillers the bounded best
  was 4 to 8 % below the exact one on average; the bounded sum is a half of the exact one or
  much less. Raise `limit` where long phrases matter that much.

`itg_similarity` compares two phrases and can be called from other kernels; `itg_matrix` compares
all phrases of one sentence with all of another, phrases that occur twice only once.
"""

from __future__ import annotations

from typing import Any

import numpy
from numba import njit
from numpy.typing import NDArray

from meantime.matching.phrases import EVERY

BEST, INSIDE = range(2)

LIMIT = 2_000_000.0
"""Steps of exact parsing, unless told otherwise: phrases of about 20 tokens each."""

BEAM = 8
"""Right spans kept for each left span, unless told otherwise."""

LONGEST_SUM = 100
"""Inside sums of longer phrases are always bounded: exact ones could outgrow a float."""

_NEVER = -1e300
"""Logarithm of no weight at all."""

_BIG = 2.0**256
_SMALL = 2.0**-256
_LOG_BIG = 256.0 * numpy.log(2.0)
"""Sums of many bracketings outgrow a float: numbers with a power of _BIG beside them do not."""


@njit(cache=True)
def _steps(n: int, m: int, null_weight: float) -> float:
    """How many pairs of splits exact parsing looks at."""
    if null_weight == 0.0:
        return float(n) * n * n * n / 6.0
    return ((n + 1.0) * n * (n - 1.0) / 6.0) * ((m + 1.0) * m * (m - 1.0) / 6.0)


@njit(cache=True)
def _best_of_few(matrix: Any, null_weight: float) -> float:
    """Best derivation where one side has a single token: one link at most, the rest null."""
    n, m = matrix.shape
    best = null_weight * null_weight
    for i in range(n):
        for k in range(m):
            best = max(best, matrix[i, k])
    return float(best ** (1.0 / max(n, m)) * null_weight ** (1.0 - 1.0 / max(n, m)))


@njit(cache=True)
def _logarithms(matrix: Any) -> Any:
    found = numpy.empty(matrix.shape)
    for i in range(matrix.shape[0]):
        for k in range(matrix.shape[1]):
            found[i, k] = numpy.log(matrix[i, k]) if matrix[i, k] > 0.0 else _NEVER
    return found


@njit(cache=True)
def _best_exact(matrix: Any, null_weight: float) -> float:
    """Greatest weight of a derivation, all weights as logarithms.

    `chart[length, i, k, end]` is the best of left span [i, i + length), right span [k, end). A
    token without partner can always be split off at an edge of some span, so splits need only
    be looked for where both parts have tokens on both sides. The innermost loop runs over
    neighbours in memory, several at a time.
    """
    n, m = matrix.shape
    links = _logarithms(matrix)
    null = numpy.log(null_weight)
    chart = numpy.empty((n + 1, n, m, m + 1))
    # Apart from the chart, so that the compiler sees it is not what is read.
    best = numpy.full((m, m + 1), _NEVER)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            if length == 1:
                for k in range(m):
                    best[k, k + 1] = max(links[i, k], 2.0 * null)
                    for end in range(k + 2, m + 1):
                        best[k, end] = _NEVER
            else:
                shorter = chart[length - 1, i]
                other = chart[length - 1, i + 1]
                for k in range(m):
                    for end in range(k + 1, m + 1):
                        best[k, end] = null + max(shorter[k, end], other[k, end])
            for a in range(1, length):
                first = chart[a, i]
                second = chart[length - a, i + a]
                for k in range(m - 1):
                    for middle in range(k + 1, m):
                        straight = first[k, middle]
                        inverted = second[k, middle]
                        for end in range(middle + 1, m + 1):
                            weight = straight + second[middle, end]
                            turned = inverted + first[middle, end]
                            weight = weight if weight > turned else turned
                            before = best[k, end]
                            best[k, end] = weight if weight > before else before
            for k in range(m - 2, -1, -1):
                for end in range(k + 2, m + 1):
                    narrower = null + max(best[k, end - 1], best[k + 1, end])
                    best[k, end] = max(best[k, end], narrower)
            chart[length, i] = best
    return float(chart[n, 0, 0, m])


@njit(cache=True)
def _best_equal(matrix: Any) -> float:
    """The same without null rules: spans are as long as each other."""
    n = matrix.shape[0]
    chart = numpy.empty((n + 1, n, n))
    chart[1] = _logarithms(matrix)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            for k in range(n - length + 1):
                best = _NEVER
                for a in range(1, length):
                    straight = chart[a, i, k] + chart[length - a, i + a, k + a]
                    inverted = chart[a, i, k + length - a] + chart[length - a, i + a, k]
                    best = max(best, straight, inverted)
                chart[length, i, k] = best
    return float(chart[n, 0, 0])


@njit(cache=True)
def _inside_equal(matrix: Any) -> float:
    """Sum of the weights of all derivations without null rules."""
    n = matrix.shape[0]
    chart = numpy.empty((n + 1, n, n))
    chart[1] = matrix
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            for k in range(n - length + 1):
                total = 0.0
                for a in range(1, length):
                    total += chart[a, i, k] * chart[length - a, i + a, k + a]
                    total += chart[a, i, k + length - a] * chart[length - a, i + a, k]
                chart[length, i, k] = total
    return float(chart[n, 0, 0])


@njit(cache=True)
def _lone_sums(size: int, null_weight: float) -> Any:
    """Sums over all derivations of 0, 1, … `size` tokens on one side, none on the other.

    Every bracketing counts, and every node of it may be straight or inverted.
    """
    sums = numpy.zeros(size + 1)
    if size >= 1:
        sums[1] = null_weight
    for length in range(2, size + 1):
        for a in range(1, length):
            sums[length] += 2.0 * sums[a] * sums[length - a]
    return sums


@njit(cache=True)
def _inside_exact(matrix: Any, null_weight: float) -> float:
    """Sum of the weights of all derivations; the chart is that of `_best_exact`.

    A part with tokens on one side only stands at either edge of that side, and the node
    above it may be straight or inverted: two derivations for each edge.
    """
    n, m = matrix.shape
    lone = _lone_sums(max(n, m), null_weight)
    chart = numpy.empty((n + 1, n, m, m + 1))
    total = numpy.zeros((m, m + 1))
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            for k in range(m):
                for end in range(k + 1, m + 1):
                    total[k, end] = 4.0 * lone[length] * lone[end - k]
                if length == 1:
                    total[k, k + 1] += matrix[i, k]
            for a in range(1, length):
                first = chart[a, i]
                second = chart[length - a, i + a]
                before = chart[length - a, i]
                for k in range(m):
                    for end in range(k + 1, m + 1):
                        total[k, end] += 2.0 * lone[a] * (before[k, end] + second[k, end])
                    for middle in range(k + 1, m):
                        straight = first[k, middle]
                        inverted = second[k, middle]
                        for end in range(middle + 1, m + 1):
                            total[k, end] += (
                                straight * second[middle, end] + inverted * first[middle, end]
                            )
            # Right blocks last: they need the sums of narrower right spans.
            for k in range(m - 2, -1, -1):
                for end in range(k + 2, m + 1):
                    for b in range(1, end - k):
                        total[k, end] += 2.0 * lone[b] * (total[k, end - b] + total[k + b, end])
            chart[length, i] = total
    return float(chart[n, 0, 0, m])


@njit(cache=True)
def _keep(
    starts: Any,
    ends: Any,
    weights: Any,
    promises: Any,
    held: int,
    start: int,
    end: int,
    weight: float,
    promise: float,
) -> int:
    """Put a right span into the list of one left span, best promise first; how many it holds.

    A span that is there already keeps the greater weight (and so the greater promise).
    """
    place = held
    for x in range(held):
        if starts[x] == start and ends[x] == end:
            if weights[x] >= weight:
                return held
            place = x
            break
    else:
        if held < starts.size:
            held += 1
        elif promise <= promises[held - 1]:
            return held
        else:
            place = held - 1
    while place > 0 and promises[place - 1] < promise:
        starts[place] = starts[place - 1]
        ends[place] = ends[place - 1]
        weights[place] = weights[place - 1]
        promises[place] = promises[place - 1]
        place -= 1
    starts[place] = start
    ends[place] = end
    weights[place] = weight
    promises[place] = promise
    return held


@njit(cache=True)
def _search(
    matrix: Any,
    null_weight: float,
    starts: Any,
    ends: Any,
    weights: Any,
    held: Any,
) -> float:
    """Fill the lists of right spans of each left span; the logarithm of the best derivation.

    `starts[i, length]`, `ends` and `weights` (logarithms) are the list of left span
    [i, i + length), of which `held` are used.
    """
    n, m = matrix.shape
    beam = starts.shape[2]
    null = numpy.log(null_weight) if null_weight > 0.0 else _NEVER
    promises = numpy.empty((n, n + 1, beam))
    # What the right tokens before each place would weigh at their best.
    hopes = numpy.zeros(m + 1)
    for k in range(m):
        greatest = null_weight
        for i in range(n):
            greatest = max(greatest, matrix[i, k])
        hopes[k + 1] = hopes[k] + (numpy.log(greatest) if greatest > 0.0 else 0.0)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            s = starts[i, length]
            e = ends[i, length]
            w = weights[i, length]
            p = promises[i, length]
            found = 0
            if length == 1:
                for k in range(m):
                    similarity = matrix[i, k]
                    if similarity > 0.0:
                        weight = numpy.log(similarity)
                        promise = weight - hopes[k + 1] + hopes[k]
                        found = _keep(s, e, w, p, found, k, k + 1, weight, promise)
                held[i, length] = found
                continue
            # The longest first: they often hold the best, and so raise the bar soon.
            for near in range(length - 1):
                a = near // 2 + 1 if near % 2 == 0 else length - 1 - near // 2
                first = held[i, a]
                second = held[i + a, length - a]
                for x in range(first if second > 0 else 0):
                    promise_x = promises[i, a, x]
                    most = promise_x + promises[i + a, length - a, 0]
                    if found == beam and most <= p[beam - 1]:
                        break
                    for y in range(second):
                        promise = promise_x + promises[i + a, length - a, y]
                        if found == beam and promise <= p[beam - 1]:
                            break
                        low = starts[i, a, x]
                        high = ends[i, a, x]
                        other_low = starts[i + a, length - a, y]
                        other_high = ends[i + a, length - a, y]
                        if other_low >= high:
                            gap = other_low - high
                            inner = hopes[other_low] - hopes[high]
                        elif low >= other_high:
                            gap = low - other_high
                            inner = hopes[low] - hopes[other_high]
                        else:
                            continue
                        weight = weights[i, a, x] + weights[i + a, length - a, y]
                        if gap > 0:
                            if null_weight == 0.0:
                                continue
                            weight += gap * null
                            promise += gap * null - inner
                        found = _keep(
                            s,
                            e,
                            w,
                            p,
                            found,
                            min(low, other_low),
                            max(high, other_high),
                            weight,
                            promise,
                        )
            if null_weight > 0.0:
                for edge in range(2):
                    for x in range(held[i + edge, length - 1]):
                        found = _keep(
                            s,
                            e,
                            w,
                            p,
                            found,
                            starts[i + edge, length - 1, x],
                            ends[i + edge, length - 1, x],
                            weights[i + edge, length - 1, x] + null,
                            promises[i + edge, length - 1, x] + null,
                        )
            held[i, length] = found
    best = (n + m) * null if null_weight > 0.0 else _NEVER
    for x in range(held[0, n]):
        rest = m - (ends[0, n, x] - starts[0, n, x])
        if rest == 0:
            best = max(best, weights[0, n, x])
        elif null_weight > 0.0:
            best = max(best, weights[0, n, x] + rest * null)
    return best


@njit(cache=True)
def _settle(number: float, power: int) -> tuple[float, int]:
    """The same with a number whose product with another such stays a float."""
    while number >= 2.0**128:
        number *= _SMALL
        power += 1
    while 0.0 < number < 2.0**-128:
        number *= _BIG
        power -= 1
    return number, power


@njit(cache=True)
def _add(number: float, power: int, more: float, more_power: int) -> tuple[float, int]:
    """The sum of two numbers that each stand for number · _BIG ** power."""
    more, more_power = _settle(more, more_power)
    if more == 0.0:
        return number, power
    if number == 0.0:
        return more, more_power
    if more_power == power:
        number += more
    elif more_power == power - 1:
        number += more * _SMALL
    elif more_power == power + 1:
        number = number * _SMALL + more
        power = more_power
    elif more_power > power:
        return more, more_power
    return number, power


@njit(cache=True)
def _lone_large(size: int, null_weight: float) -> tuple[Any, Any]:
    """`_lone_sums` as numbers and powers."""
    numbers = numpy.zeros(size + 1)
    powers = numpy.zeros(size + 1, dtype=numpy.int64)
    number = null_weight
    power = 0
    for length in range(1, size + 1):
        if length > 1:
            # Catalan numbers, one from another; each node may be straight or inverted.
            number *= 4.0 * (2.0 * length - 3.0) / length * null_weight
        number, power = _settle(number, power)
        numbers[length] = number
        powers[length] = power
    return numbers, powers


@njit(cache=True)
def _sum_kept(
    matrix: Any,
    null_weight: float,
    starts: Any,
    ends: Any,
    held: Any,
) -> float:
    """Sum over the derivations of the right spans kept by `_search`; its logarithm.

    No right span that is kept begins or ends with a token without partner, and such tokens
    hang as one block on the span before or after them, straight or inverted: derivations made
    in two ways from the lists differ, so none is counted twice.
    """
    n, m = matrix.shape
    beam = starts.shape[2]
    lone, lone_powers = _lone_large(max(n, m), null_weight)
    sums = numpy.zeros((n, n + 1, beam))
    powers = numpy.zeros((n, n + 1, beam), dtype=numpy.int64)
    # Where in the list of the present left span a right span is, or -1.
    place = numpy.full((m + 1, m + 1), -1, dtype=numpy.int64)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            count = held[i, length]
            if length == 1:
                for z in range(count):
                    sums[i, 1, z], powers[i, 1, z] = _settle(matrix[i, starts[i, 1, z]], 0)
                continue
            for z in range(count):
                place[starts[i, length, z], ends[i, length, z]] = z
            total = sums[i, length]
            power = powers[i, length]
            for a in range(1, length):
                for x in range(held[i, a]):
                    for y in range(held[i + a, length - a]):
                        low = starts[i, a, x]
                        high = ends[i, a, x]
                        other_low = starts[i + a, length - a, y]
                        other_high = ends[i + a, length - a, y]
                        if other_low >= high:
                            gap = other_low - high
                        elif low >= other_high:
                            gap = low - other_high
                        else:
                            continue
                        z = place[min(low, other_low), max(high, other_high)]
                        if z < 0:
                            continue
                        number = sums[i, a, x] * sums[i + a, length - a, y]
                        exponent = powers[i, a, x] + powers[i + a, length - a, y]
                        if gap > 0:
                            number, exponent = _settle(number, exponent)
                            number *= 4.0 * lone[gap]
                            exponent += lone_powers[gap]
                        total[z], power[z] = _add(total[z], power[z], number, exponent)
                for edge in range(2):
                    # `a` left tokens without partner at one edge, the rest at the other.
                    if null_weight == 0.0:
                        break
                    begin = i + a if edge == 0 else i
                    for x in range(held[begin, length - a]):
                        z = place[starts[begin, length - a, x], ends[begin, length - a, x]]
                        if z >= 0:
                            total[z], power[z] = _add(
                                total[z],
                                power[z],
                                2.0 * lone[a] * sums[begin, length - a, x],
                                lone_powers[a] + powers[begin, length - a, x],
                            )
            for z in range(count):
                total[z], power[z] = _settle(total[z], power[z])
                place[starts[i, length, z], ends[i, length, z]] = -1
    whole = 0.0
    exponent = 0
    if null_weight > 0.0:
        whole, exponent = 4.0 * lone[n] * lone[m], lone_powers[n] + lone_powers[m]
    for z in range(held[0, n]):
        number, power_z = sums[0, n, z], powers[0, n, z]
        before = starts[0, n, z]
        after = m - ends[0, n, z]
        if before + after > 0 and null_weight == 0.0:
            continue
        if before > 0:
            number, power_z = _settle(number * 2.0 * lone[before], power_z + lone_powers[before])
        if after > 0:
            number, power_z = _settle(number * 2.0 * lone[after], power_z + lone_powers[after])
        if before > 0 and after > 0:
            # Either block may be the outer one.
            number *= 2.0
        whole, exponent = _add(whole, exponent, number, power_z)
    if whole == 0.0:
        return _NEVER
    return float(numpy.log(whole) + exponent * _LOG_BIG)


@njit(cache=True)
def _turn(matrix: Any) -> bool:
    """Whether columns shall be the left side: the same side whichever way the matrix is given."""
    n, m = matrix.shape
    if n != m:
        return bool(n > m)
    for i in range(n):
        for k in range(i):
            if matrix[i, k] != matrix[k, i]:
                return bool(matrix[i, k] > matrix[k, i])
    return False


@njit(cache=True)
def _bounded(matrix: Any, method: int, null_weight: float, beam: int) -> float:
    """Either value within bounds, left spans being those of the rows; its logarithm."""
    n = matrix.shape[0]
    starts = numpy.empty((n, n + 1, beam), dtype=numpy.int64)
    ends = numpy.empty((n, n + 1, beam), dtype=numpy.int64)
    weights = numpy.empty((n, n + 1, beam))
    held = numpy.zeros((n, n + 1), dtype=numpy.int64)
    best = _search(matrix, null_weight, starts, ends, weights, held)
    if method == INSIDE and best > _NEVER:
        return _sum_kept(matrix, null_weight, starts, ends, held)
    return best


@njit(cache=True)
def itg_similarity(
    matrix: Any,
    rows: Any,
    columns: Any,
    method: int,
    null_weight: float,
    limit: float,
    beam: int,
) -> float:
    """The similarity of two phrases; compiled, so that kernels may call it.

    Args:
        matrix: Token similarities in [0, 1].
        rows: Rows of the left phrase.
        columns: Columns of the right phrase.
        method: `BEST` or `INSIDE`.
        null_weight: Weight of a token without partner, 0 to 1; 0 is a grammar without them.
        limit: Parse exactly up to this many steps.
        beam: Right spans kept for each left span beyond that.
    """
    n = rows.size
    m = columns.size
    if n == 0 or m == 0:
        return 1.0 if n == m else 0.0
    if null_weight == 0.0 and n != m:
        return 0.0
    part = numpy.empty((n, m))
    for i in range(n):
        for k in range(m):
            part[i, k] = matrix[rows[i], columns[k]]
    if method == BEST and min(n, m) == 1:
        return _best_of_few(part, null_weight)
    exact = _steps(n, m, null_weight) <= limit and (method == BEST or max(n, m) <= LONGEST_SUM)
    if exact and method == BEST:
        logarithm = _best_equal(part) if null_weight == 0.0 else _best_exact(part, null_weight)
    elif exact:
        total = _inside_equal(part) if null_weight == 0.0 else _inside_exact(part, null_weight)
        logarithm = numpy.log(total) if total > 0.0 else _NEVER
    else:
        if _turn(part):
            part = numpy.ascontiguousarray(part.T)
        logarithm = _bounded(part, method, null_weight, beam)
    if logarithm <= 0.5 * _NEVER:
        return 0.0
    value = numpy.exp(logarithm / max(n, m))
    # Rounding may take a product of ones above one.
    return float(min(1.0, value) if method == BEST else value)


@njit(cache=True)
def _first_alike(offsets: Any, indices: Any) -> Any:
    """For each phrase the first phrase of the same tokens, maybe itself."""
    phrases = offsets.size - 1
    first = numpy.arange(phrases)
    for a in range(phrases):
        for b in range(a):
            if first[b] != b or offsets[b + 1] - offsets[b] != offsets[a + 1] - offsets[a]:
                continue
            alike = True
            for x in range(offsets[a + 1] - offsets[a]):
                if indices[offsets[a] + x] != indices[offsets[b] + x]:
                    alike = False
                    break
            if alike:
                first[a] = b
                break
    return first


@njit(cache=True)
def _all(
    matrix: Any,
    row_offsets: Any,
    row_indices: Any,
    column_offsets: Any,
    column_indices: Any,
    wanted: Any,
    method: int,
    null_weight: float,
    limit: float,
    beam: int,
) -> Any:
    lefts = row_offsets.size - 1
    rights = column_offsets.size - 1
    found = numpy.zeros((lefts, rights))
    known = numpy.full((lefts, rights), -1.0)
    every = wanted.size == 0
    first_left = _first_alike(row_offsets, row_indices)
    first_right = _first_alike(column_offsets, column_indices)
    for a in range(lefts):
        rows = row_indices[row_offsets[a] : row_offsets[a + 1]]
        for b in range(rights):
            if every or wanted[a, b]:
                left = first_left[a]
                right = first_right[b]
                if known[left, right] < 0.0:
                    columns = column_indices[column_offsets[b] : column_offsets[b + 1]]
                    known[left, right] = itg_similarity(
                        matrix, rows, columns, method, null_weight, limit, beam
                    )
                found[a, b] = known[left, right]
    return found


def itg_matrix(
    matrix: NDArray[numpy.float64],
    row_offsets: NDArray[numpy.int64],
    row_indices: NDArray[numpy.int64],
    column_offsets: NDArray[numpy.int64],
    column_indices: NDArray[numpy.int64],
    *,
    method: int = BEST,
    null_weight: float = 0.0,
    limit: float = LIMIT,
    beam: int = BEAM,
    wanted: NDArray[numpy.bool_] = EVERY,
) -> NDArray[numpy.float64]:
    """The similarity of every left phrase with every right phrase, in one call.

    Args:
        matrix: Token similarities in [0, 1], C-contiguous.
        row_offsets: Left phrase p is `row_indices[row_offsets[p] : row_offsets[p + 1]]`.
        row_indices: Rows of the matrix, phrase after phrase.
        column_offsets: Likewise for the right phrases.
        column_indices: Columns of the matrix, phrase after phrase.
        method: `BEST`, the best derivation, or `INSIDE`, the sum over all.
        null_weight: Weight of a token without partner, 0 to 1; 0 is a grammar without them.
        limit: Parse exactly up to this many steps; infinite for always (inside sums of over
            `LONGEST_SUM` tokens are bounded even so). Exact parsing takes 8 n² m² bytes.
        beam: Right spans kept for each left span beyond that.
        wanted: (left phrases, right phrases), which to compute; the others get 0.
    """
    found: NDArray[numpy.float64] = _all(
        matrix,
        row_offsets,
        row_indices,
        column_offsets,
        column_indices,
        wanted,
        method,
        float(null_weight),
        float(limit),
        beam,
    )
    return found
