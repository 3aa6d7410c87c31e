"""Models from models: several counts made one, and one made smaller."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from meantime.errors import InputError, UsageError
from meantime.matching.cooccurrences import merge as merge_entries
from meantime.matching.packing import gather, select
from meantime.similarity.context_counting import packed, ranges
from meantime.similarity.context_file import ContextModel, Whole, damaged, open_model, write_model

Progress = Callable[[str, int, int], None]

_BYTES = 1 << 23
"""Packed bytes treated at a time."""


def merge(
    paths: Sequence[Path],
    path: Path,
    *,
    min_count: int = 1,
    progress: Progress | None = None,
) -> None:
    """Add the counts of several models up.

    Counted apart and merged gives what counting together gives where nothing was cut before
    (`min_count=1` and no other limit); else what was cut in a piece is missing from the sum.

    Args:
        paths: The models; they must hold the same windows.
        path: The model to write.
        min_count: Words that are rarer in the sum are cut.
        progress: Told how far it is.

    Raises:
        InputError: A model cannot be read, they do not fit together, or nothing is left.
    """
    models = [open_model(one) for one in paths]
    if len(models) < 2:
        raise UsageError("one model is nothing to merge; give several")
    for model in models[1:]:
        if model.windows != models[0].windows:
            held = " and ".join(", ".join(map(str, one.windows)) for one in (models[0], model))
            raise InputError(
                f"{model.path}: holds other windows than {models[0].path} ({held}); count both "
                "with the same"
            )
    windows = models[0].windows
    totals: dict[str, int] = {}
    for model in models:
        for word, count in zip(model.words, model.frequencies, strict=True):
            totals[word] = totals.get(word, 0) + int(count)
    listed = [word for word, count in totals.items() if count >= min_count]
    words = sorted(listed, key=lambda word: (-totals[word], word))
    if not words:
        raise InputError(f"no word is left that stands there {min_count} times; lower --min-count")
    index = {word: number for number, word in enumerate(words)}
    renumbered = [
        numpy.array([index.get(word, -1) for word in model.words], dtype=numpy.int64)
        for model in models
    ]
    # Contexts of any of them; their numbers need not be the first any more.
    columns = [numbers[: model.contexts] for numbers, model in zip(renumbered, models, strict=True)]
    contexts = 1 + max(int(one.max(initial=-1)) for one in columns)
    rows = []
    for numbers in renumbered:
        own = numpy.full(len(words), -1, dtype=numpy.int64)
        own[numbers[numbers >= 0]] = numpy.flatnonzero(numbers >= 0)
        rows.append(own)
    weights = numpy.zeros(len(words), dtype=numpy.int64)
    for own, model in zip(rows, models, strict=True):
        weights += numpy.where(own >= 0, numpy.diff(model.offsets)[own], 0)

    def pieces() -> Generator[tuple[bytes, Whole], None, Whole]:
        borders = ranges(weights, _BYTES)
        sums = numpy.zeros((contexts, len(windows)), dtype=numpy.int64)
        for model, column in zip(models, columns, strict=True):
            sums[column[column >= 0]] += model.context_sums[column >= 0].astype(numpy.int64)
        for done, (first, last) in enumerate(borders, 1):
            own = numpy.zeros(last - first, dtype=numpy.int64)
            margins = numpy.zeros((last - first, len(windows)), dtype=numpy.int64)
            keys = numpy.zeros(0, dtype=numpy.int64)
            counts = numpy.zeros((0, len(windows)), dtype=numpy.int64)
            for model, numbers, column in zip(models, rows, columns, strict=True):
                part = _gathered(model, numbers[first:last], first, column, own, margins)
                joined = numpy.empty(len(keys) + len(part[0]), dtype=numpy.int64)
                added = numpy.empty((len(joined), len(windows)), dtype=numpy.int64)
                length = merge_entries(keys, counts, *part, joined, added)
                keys, counts = joined[:length], added[:length]
            data, lengths = packed(keys, counts, first, last, own, margins, contexts)
            if progress:
                progress("merging", done, len(borders))
            yield data.tobytes(), lengths
        return sums

    whole = not any(model.facts.get("cut") or model.facts.get("pruned") for model in models)
    facts = {
        "tokens": sum(int(model.facts.get("tokens", 0)) for model in models),
        "sentences": sum(int(model.facts.get("sentences", 0)) for model in models),
        "types": len(totals),
        "min_count": max(min_count, *(int(model.facts.get("min_count", 1)) for model in models)),
        "cut": bool(not whole or len(words) < len(totals)),
        "totals": [int(sum(one)) for one in zip(*(m.totals for m in models), strict=True)],
        "made": {"merged": [{"name": m.title, "hash": m.identity} for m in models]},
    }
    write_model(path, words=words, windows=windows, rows=pieces, facts=facts)


def _gathered(
    model: ContextModel,
    rows: Whole,
    first: int,
    renumbered: Whole,
    own: Whole,
    sums: NDArray[Any],
) -> tuple[Whole, NDArray[Any]]:
    """Rows of a model under their new numbers, sorted."""
    lengths = numpy.diff(model.offsets)
    room = int((lengths[rows[rows >= 0]] // 2 + 1).sum())
    keys = numpy.empty(room, dtype=numpy.int64)
    counts = numpy.empty((room, len(model.windows)), dtype=numpy.int64)
    made = gather(
        model.data,
        model.offsets,
        rows,
        first,
        len(model.windows),
        model.contexts,
        # A context that was cut becomes one beyond all, which packing leaves out.
        numpy.where(renumbered >= 0, renumbered, 0xFFFFFFFF),
        keys,
        counts,
        own,
        sums,
    )
    if made < 0:
        raise damaged(model.path, f"words {first} to {first + len(rows)}")
    order = numpy.argsort(keys[:made], kind="stable")
    return keys[order], counts[order]


def prune(
    source: str | Path,
    path: Path,
    *,
    max_words: int | None = None,
    max_contexts: int | None = None,
    min_entry: int = 1,
    min_entries: int = 0,
    max_entries: int | None = None,
    windows: Sequence[int] | None = None,
    progress: Progress | None = None,
    made: dict[str, Any] | None = None,
) -> None:
    """Make a model smaller by leaving words, contexts and low counts out.

    The sums of rows and contexts stay those of the text, so what is kept weighs what it
    weighed, and what is left out counts as shared with no other word.

    Args:
        source: The model.
        path: The model to write.
        max_words: Keep the most frequent words alone.
        max_contexts: Keep the most frequent contexts alone.
        min_entry: Leave counts below this out (in the widest window).
        min_entries: But keep this many of each word, the highest counts.
        max_entries: And no more than this many.
        windows: Keep these windows alone.
        progress: Told how far it is.
        made: More to be told in the model's facts.
    """
    model = open_model(source)
    chosen = tuple(sorted(set(windows))) if windows else model.windows
    for window in chosen:
        model.window(window)
    places = [model.windows.index(window) for window in chosen]
    words = model.words[:max_words]
    if not words:
        raise UsageError("no word would be left; give --max-words of at least 1")
    # Contexts are named by the words, so there cannot be more of them.
    contexts = min(len(words), model.contexts, max_contexts or model.contexts)
    longest = max_entries if max_entries is not None else model.contexts

    def pieces() -> Generator[tuple[bytes, Whole], None, Whole]:
        lengths = numpy.diff(model.offsets)[: len(words)]
        borders = ranges(lengths, _BYTES)
        for done, (first, last) in enumerate(borders, 1):
            room = int((lengths[first:last] // 2 + 1).sum())
            keys = numpy.empty(room, dtype=numpy.int64)
            counts = numpy.empty((room, len(model.windows)), dtype=numpy.int64)
            own = numpy.empty(last - first, dtype=numpy.int64)
            sums = numpy.zeros((last - first, len(model.windows)), dtype=numpy.int64)
            left = select(
                model.data, model.offsets, first, last, len(model.windows), model.contexts,
                contexts, min_entry, min_entries, longest, keys, counts, own, sums,
            )  # fmt: skip
            if left < 0:
                raise damaged(model.path, f"words {first} to {last}")
            keys, counts = keys[:left], counts[:left][:, places]
            seen = counts[:, -1] > 0
            keys, counts = keys[seen], numpy.ascontiguousarray(counts[seen])
            own_sums = numpy.ascontiguousarray(sums[:, places])
            data, packed_lengths = packed(keys, counts, first, last, own, own_sums, contexts)
            if progress:
                progress("pruning", done, len(borders))
            yield data.tobytes(), packed_lengths
        return model.context_sums[:contexts][:, places].astype(numpy.int64)

    facts = {key: value for key, value in model.facts.items() if key not in ("kind", "windows")}
    facts["totals"] = [int(model.totals[place]) for place in places]
    facts["pruned"] = {
        "words": len(words),
        "contexts": contexts,
        "min_entry": min_entry,
        "min_entries": min_entries,
        "max_entries": max_entries,
        "from": model.identity,
    }
    facts["made"] = {**facts.get("made", {}), **(made or {})}
    write_model(path, words=words, windows=chosen, rows=pieces, facts=facts)
