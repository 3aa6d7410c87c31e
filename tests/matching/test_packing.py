"""Packed rows: what goes in comes out, and what was never packed is refused."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from meantime.matching import packing

WINDOWS = 3
COLUMNS = 2**31

counts = some.integers(0, 2**31 - 1)
rows = some.lists(
    some.dictionaries(
        some.integers(0, COLUMNS - 1), some.tuples(counts, counts, counts), max_size=8
    ),
    max_size=5,
)


def pack(rows: list[dict[int, tuple[int, ...]]], windows: int) -> tuple[numpy.ndarray, ...]:
    """Bytes, offsets, and the nested counts that were packed."""
    entries = [
        (row, column, sorted(nested)[:windows])
        for row, own in enumerate(rows)
        for column, nested in sorted(own.items())
    ]
    keys = numpy.array([(row << 32) | column for row, column, _ in entries], dtype=numpy.int64)
    values = numpy.array([nested for *_, nested in entries], dtype=numpy.int64)
    values = values.reshape(-1, windows)
    sums = numpy.zeros((len(rows), windows), dtype=numpy.int64)
    numpy.add.at(sums, keys >> 32, values)
    own = numpy.arange(len(rows), dtype=numpy.int64) * 1000
    data = numpy.zeros(10 * (len(keys) + len(rows)) * (windows + 1), dtype=numpy.uint8)
    lengths = packing.pack_rows(keys, values, 0, len(rows), own, sums, COLUMNS, data)
    offsets = numpy.concatenate([[0], lengths.cumsum()])
    return data[: offsets[-1]], offsets, keys, values, sums


@settings(max_examples=60, deadline=None)
@given(rows, some.integers(1, WINDOWS))
def test_what_was_packed_is_unpacked(rows: list[dict[int, tuple[int, ...]]], windows: int) -> None:
    data, offsets, keys, values, sums = pack(rows, windows)
    assert (packing.own_counts(data, offsets, windows) == numpy.arange(len(rows)) * 1000).all()
    for row in range(len(rows)):
        mine = keys >> 32 == row
        for window in range(windows):
            columns = numpy.zeros(20, dtype=numpy.int64)
            found = numpy.zeros(20, dtype=numpy.int64)
            entries, total = packing.unpack_row(
                data, offsets[row], offsets[row + 1], windows, window, COLUMNS, columns, found
            )
            seen = values[mine, window] > 0
            assert total == sums[row, window]
            assert columns[:entries].tolist() == (keys[mine] & 0xFFFFFFFF)[seen].tolist()
            assert found[:entries].tolist() == values[mine, window][seen].tolist()


@settings(max_examples=60, deadline=None)
@given(some.binary(max_size=60), some.integers(1, WINDOWS))
def test_no_bytes_lead_out_of_bounds(noise: bytes, windows: int) -> None:
    data = numpy.frombuffer(noise, dtype=numpy.uint8)
    columns = numpy.full(len(data) // 2 + 2, -7, dtype=numpy.int64)
    found = numpy.zeros(len(columns), dtype=numpy.int64)
    entries, _ = packing.unpack_row(data, 0, len(data), windows, 0, 50, columns, found)
    assert entries <= len(data) // 2
    if entries >= 0:
        kept = columns[:entries]
        assert ((kept >= 0) & (kept < 50)).all()
        assert (numpy.diff(kept) > 0).all()


@pytest.mark.parametrize("wide", [0, 1, 2, 44, 45, 46, 1000, 10**6, 3 * 10**9])
def test_folding_is_undone(wide: int) -> None:
    for narrow in {0, wide // 2, wide}:
        assert packing.unfold(wide * (wide + 1) // 2 + narrow) == (wide, narrow)


@pytest.mark.parametrize("number", [2**62, 2**63 - 1])
def test_numbers_nobody_folded_end_too(number: int) -> None:
    assert packing.unfold(number) == (0, 0)


def test_a_cut_off_row_is_damaged() -> None:
    data, offsets, *_ = pack([{3: (1, 2, 3), 900: (4, 500, 60000)}], 2)
    columns = numpy.zeros(20, dtype=numpy.int64)
    found = numpy.zeros(20, dtype=numpy.int64)
    entries, _ = packing.unpack_row(data, 0, offsets[1] - 1, 2, 1, COLUMNS, columns, found)
    assert entries == packing.DAMAGED


def select(row: dict[int, int], *, columns: int, least: int, fewest: int, longest: int):
    data, offsets, *_ = pack([{column: (count,) for column, count in row.items()}], 1)
    keys = numpy.zeros(20, dtype=numpy.int64)
    counts = numpy.zeros((20, 1), dtype=numpy.int64)
    own = numpy.zeros(1, dtype=numpy.int64)
    sums = numpy.zeros((1, 1), dtype=numpy.int64)
    left = packing.select(
        data, offsets, 0, 1, 1, COLUMNS, columns, least, fewest, longest, keys, counts, own, sums
    )
    assert sums[0, 0] == sum(row.values())
    return dict(zip(keys[:left].tolist(), counts[:left, 0].tolist(), strict=True))


def test_what_pruning_keeps() -> None:
    row = {0: 5, 1: 1, 2: 3, 3: 1, 7: 2, 9: 8}
    everything = {"columns": 100, "least": 1, "fewest": 0, "longest": 100}
    assert select(row, **everything) == row
    assert select(row, **everything | {"least": 3}) == {0: 5, 2: 3, 9: 8}
    assert select(row, **everything | {"least": 3, "fewest": 4}) == {0: 5, 2: 3, 7: 2, 9: 8}
    # Of equal counts, the first columns.
    assert select(row, **everything | {"least": 9, "fewest": 5}) == {0: 5, 1: 1, 2: 3, 7: 2, 9: 8}
    assert select(row, **everything | {"longest": 2}) == {0: 5, 9: 8}
    assert select(row, **everything | {"columns": 7, "longest": 2}) == {0: 5, 2: 3}
    assert select(row, **everything | {"columns": 0}) == {}
