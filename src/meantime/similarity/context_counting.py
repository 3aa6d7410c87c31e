"""From text to context vectors: counted on all cores, in bounded memory, in pieces that add up.

Three rounds. *Read*: each process turns blocks of text into numbers of its own, kept in a
temporary file, and counts words. *Count*: with the vocabulary settled, stretches of those
numbers become sorted runs of (row, column, counts). *Pack*: for one range of rows after the
other the runs are merged, packed and written. What must fit into memory is the vocabulary and,
in each process, one stretch or one range.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy
from numpy.typing import NDArray

from meantime.errors import InputError, UsageError
from meantime.formats.opening import display, is_standard_input
from meantime.matching.cooccurrences import (
    BOUNDARY,
    UNCOUNTED,
    add_margins,
    count_sorted,
    events,
    merge,
    mirror,
    tally,
)
from meantime.matching.packing import pack_rows
from meantime.similarity.context_file import (
    Whole,
    write_model,
)
from meantime.similarity.context_tokens import Vocabulary, blocks

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and of how much."""

_Task = TypeVar("_Task")
_Made = TypeVar("_Made")

_EVENTS = 12_000_000
"""Events sorted at a time in one process."""
_ENTRIES = 3_000_000
"""Entries packed at a time in one process."""
WIDEST = 1001


@dataclass(frozen=True)
class WordCounts:
    """How often words stand in a text."""

    words: tuple[str, ...]
    counts: Whole
    sentences: Whole
    """In how many lines each word stands."""
    lines: int

    @property
    def tokens(self) -> int:
        """How many tokens the text has."""
        return int(self.counts.sum())


def count_words(
    paths: Sequence[str | Path],
    *,
    jobs: int = 0,
    progress: Progress | None = None,
    stdin: IO[bytes] | None = None,
) -> WordCounts:
    """Count the words of texts, by falling count and then by the alphabet.

    Args:
        paths: Plain or gzipped UTF-8 texts, a sentence a line; - is standard input.
        jobs: Processes; 0 is one a core.
        progress: Told how far it is.
        stdin: Instead of standard input.
    """
    with tempfile.TemporaryDirectory(prefix="meantime-") as folder:
        return _read(paths, Path(folder), False, _jobs(jobs), progress, stdin).total


def check_windows(windows: Sequence[int]) -> tuple[int, ...]:
    """Windows in rising order.

    Raises:
        UsageError: One is even, too small or too wide.
    """
    for window in windows:
        if window < 3 or window % 2 == 0 or window > WIDEST:
            raise UsageError(
                f"window {window}: give an odd number from 3 to {WIDEST}; window n sees "
                "(n - 1) / 2 tokens on either side"
            )
    if not windows:
        raise UsageError("no window; give at least one, as --window 5")
    return tuple(sorted(set(windows)))


def train(
    paths: Sequence[str | Path],
    path: Path,
    *,
    windows: Sequence[int] = (5,),
    min_count: int = 5,
    max_words: int | None = None,
    max_contexts: int | None = None,
    jobs: int = 0,
    progress: Progress | None = None,
    made: Mapping[str, Any] | None = None,
    stdin: IO[bytes] | None = None,
) -> None:
    """Count co-occurrences in texts and write a model.

    Two words co-occur in window n when they stand in one line, (n - 1) / 2 tokens apart or
    less. A word that is cut from the vocabulary keeps its place in the line.

    Args:
        paths: Plain or gzipped UTF-8 texts, a sentence a line; - is standard input.
        path: The model to write.
        windows: Odd numbers; one pass over the text serves all.
        min_count: Rarer words are cut.
        max_words: No more words than this, the most frequent ones.
        max_contexts: No more context words than this, likewise.
        jobs: Processes; 0 is one a core.
        progress: Told how far it is.
        made: More to be told in the model's facts.
        stdin: Instead of standard input.

    Raises:
        InputError: A text cannot be read, or has no word that is frequent enough.
        UsageError: A window cannot be.
    """
    windows = check_windows(windows)
    jobs = _jobs(jobs)
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; name a file in it")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: cannot be written (no such folder); make the folder first")
    try:
        # Beside the model: where there is room for it, there is room for what leads to it.
        with tempfile.TemporaryDirectory(prefix=".meantime-", dir=path.absolute().parent) as name:
            _train(
                paths,
                path,
                Path(name),
                windows,
                max(1, min_count),
                max_words,
                max_contexts,
                jobs,
                progress,
                made or {},
                stdin,
            )
    except BrokenProcessPool as error:
        raise InputError(
            "a process that counts was ended from outside; free memory, or use fewer with --jobs"
        ) from error
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); counts wait beside it: make "
            "room there, or write elsewhere"
        ) from error


def _train(
    paths: Sequence[str | Path],
    path: Path,
    folder: Path,
    windows: tuple[int, ...],
    min_count: int,
    max_words: int | None,
    max_contexts: int | None,
    jobs: int,
    progress: Progress | None,
    made: Mapping[str, Any],
    stdin: IO[bytes] | None,
) -> None:
    texts = _read(paths, folder, True, jobs, progress, stdin)
    total = texts.total
    kept = int((total.counts >= min_count).sum())
    kept = min(kept, max_words) if max_words is not None else kept
    if kept == 0:
        named = ", ".join(display(one) for one in paths)
        raise InputError(
            f"{named}: no word stands there {min_count} times; give more text, or lower --min-count"
        )
    contexts = min(kept, max_contexts) if max_contexts is not None else kept
    job = _Job(folder, windows, kept, contexts, texts.numbers(kept), total.counts[:kept], jobs)
    facts = {
        "tokens": total.tokens,
        "sentences": total.lines,
        "types": len(total.words),
        "min_count": min_count,
        "cut": bool(kept < len(total.words) or contexts < kept),
        "made": {"from": [Path(str(one)).name for one in paths], **made},
    }
    _warm(len(windows))
    pool = ProcessPoolExecutor(jobs, mp_context=_context(), initializer=_start, initargs=(job,))
    try:
        runs = _sort_runs(pool, job, texts.stretches(job), progress)

        def rows() -> Generator[tuple[bytes, Whole], None, Whole]:
            return _pack(pool, job, runs, progress)

        write_model(path, words=total.words[:kept], windows=windows, rows=rows, facts=facts)
    finally:
        pool.shutdown(cancel_futures=True)


def _each(
    pool: ProcessPoolExecutor, jobs: int, work: Callable[[_Task], _Made], tasks: Sequence[_Task]
) -> Iterator[_Made]:
    """What comes of each task, in order; few are under way at a time, so few wait to be used."""
    waiting: deque[Future[_Made]] = deque()
    for task in tasks:
        with _undisturbed():
            waiting.append(pool.submit(work, task))
        if len(waiting) > 2 * jobs:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _jobs(jobs: int) -> int:
    if jobs:
        return jobs
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _context() -> Any:
    return multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C wait: Python forgets one that arrives while it forks."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# Round one: read


@dataclass(frozen=True)
class _Read:
    """What the readers found, each with numbers of its own."""

    folder: Path
    total: WordCounts
    ranks: tuple[Whole, ...]
    """For each reader, the place of each of its words in `total`."""
    ends: tuple[tuple[int, ...], ...]
    """For each reader, where its blocks end, in numbers."""

    def numbers(self, kept: int) -> tuple[NDArray[numpy.int32], ...]:
        """For each reader, the final number of each of its words; `BOUNDARY` stands last."""
        return tuple(
            numpy.append(numpy.where(ranks < kept, ranks, UNCOUNTED), BOUNDARY).astype(numpy.int32)
            for ranks in self.ranks
        )

    def stretches(self, job: _Job) -> list[tuple[int, int, int]]:
        """(Reader, begin, end) of stretches of whole blocks, for a sort each."""
        most = max(1, _EVENTS // max(far - near + 1 for near, far in job.shells))
        found = []
        for reader, ends in enumerate(self.ends):
            begin = 0
            for end, following in pairwise([*ends, None]):
                if end is not None and (following is None or following - begin > most):
                    found.append((reader, begin, end))
                    begin = end
        return found


def _read(
    paths: Sequence[str | Path],
    folder: Path,
    keep: bool,
    jobs: int,
    progress: Progress | None,
    stdin: IO[bytes] | None,
) -> _Read:
    context = _context()
    tasks: Any = context.Queue(2 * jobs)
    results: Any = context.Queue()
    _warm(1)
    readers: list[Any] = [
        context.Process(target=_reader, args=(number, folder, keep, tasks, results), daemon=True)
        for number in range(jobs)
    ]
    try:
        with _undisturbed():
            for reader in readers:
                reader.start()
        sizes = [0 if is_standard_input(path) else _size(path) for path in paths]
        done = 0
        for path, size in zip(paths, sizes, strict=True):
            for block, position in blocks(path, stdin):
                _give(tasks, block, readers)
                if progress:
                    progress("reading, MB", (done + position) >> 20, sum(sizes) >> 20)
            done += size
        for _ in readers:
            _give(tasks, None, readers)
        answers: dict[int, Any] = {}
        while len(answers) < jobs:
            try:
                number, answer = results.get(timeout=1.0)
            except queue.Empty:
                _alive(readers, answers)
                continue
            if isinstance(answer, BaseException):
                raise answer
            answers[number] = answer
    finally:
        started = [reader for reader in readers if reader.pid is not None]
        for reader in started:
            reader.terminate()
        tasks.cancel_join_thread()
        for reader in started:
            reader.join()
    return _gather(folder, [answers[number] for number in range(jobs)])


def _size(path: str | Path) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _give(tasks: Any, task: bytes | None, readers: Sequence[Any]) -> None:
    while True:
        try:
            tasks.put(task, timeout=1.0)
            return
        except queue.Full:
            _alive(readers, {})


def _alive(readers: Sequence[Any], answers: Mapping[int, Any]) -> None:
    for number, reader in enumerate(readers):
        if number not in answers and not reader.is_alive() and reader.exitcode:
            raise InputError(
                f"a process that reads the text was ended ({reader.exitcode}); free memory, or "
                "use fewer with --jobs"
            )


def _reader(number: int, folder: Path, keep: bool, tasks: Any, results: Any) -> None:
    """A process of round one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        results.put((number, _read_blocks(number, folder, keep, iter(tasks.get, None))))
    except Exception as error:
        results.put((number, error if isinstance(error, InputError) else _failed(error)))


def _failed(error: BaseException) -> InputError:
    return InputError(f"reading failed ({type(error).__name__}: {error}); check memory and disk")


def _read_blocks(
    number: int, folder: Path, keep: bool, source: Iterator[bytes]
) -> tuple[bytes, Whole, Whole, int, list[int]]:
    vocabulary = Vocabulary()
    counts, sentences, last = (numpy.zeros(1 << 16, dtype=numpy.int64) for _ in range(3))
    line = 1
    ends: list[int] = []
    with (folder / f"numbers-{number}").open("wb") as file:
        for block in source:
            words = vocabulary.read(block.decode().removesuffix("\n").split("\n"))
            while len(vocabulary.numbers) > len(counts):
                counts, sentences, last = (
                    numpy.concatenate([one, numpy.zeros_like(one)])
                    for one in (counts, sentences, last)
                )
            line = tally(words, counts, sentences, last, line)
            if keep:
                words.tofile(file)
                ends.append((ends[-1] if ends else 0) + len(words))
    size = len(vocabulary.numbers)
    return "\n".join(vocabulary.numbers).encode(), counts[:size], sentences[:size], line - 1, ends


def _gather(folder: Path, answers: Sequence[tuple[bytes, Whole, Whole, int, list[int]]]) -> _Read:
    """Make one vocabulary of the readers' own."""
    index: dict[str, int] = {}
    places = []
    for joined, counts, _, _, _ in answers:
        words = joined.decode().split("\n") if len(counts) else []
        for word in words:
            index.setdefault(word, len(index))
        places.append(numpy.fromiter((index[word] for word in words), numpy.int64, len(words)))
    counts = numpy.zeros(len(index), dtype=numpy.int64)
    sentences = numpy.zeros(len(index), dtype=numpy.int64)
    for place, (_, own, lines, _, _) in zip(places, answers, strict=True):
        counts[place] += own
        sentences[place] += lines
    listed = list(index)
    # By the alphabet among equals, so that the numbers do not depend on who read what.
    order = sorted(range(len(listed)), key=lambda one: (-counts[one], listed[one]))
    rank = numpy.empty(len(listed), dtype=numpy.int64)
    rank[order] = numpy.arange(len(listed))
    total = WordCounts(
        tuple(listed[one] for one in order),
        counts[order],
        sentences[order],
        sum(answer[3] for answer in answers),
    )
    return _Read(
        folder,
        total,
        tuple(rank[place] for place in places),
        tuple(tuple(answer[4]) for answer in answers),
    )


# Rounds two and three: count, pack


@dataclass(frozen=True)
class _Job:
    """What the processes of rounds two and three share."""

    folder: Path
    windows: tuple[int, ...]
    words: int
    contexts: int
    numbers: tuple[NDArray[numpy.int32], ...]
    own: Whole
    jobs: int

    @property
    def shells(self) -> list[tuple[int, int]]:
        """The nearest and farthest distance each window adds to the one before."""
        reach = [0, *((window - 1) // 2 for window in self.windows)]
        return [(near + 1, far) for near, far in pairwise(reach)]


@dataclass(frozen=True)
class _Run:
    """Sorted entries on disk, and how many each row has."""

    path: Path
    lengths: Whole


_here: list[_Job] = []


def _start(job: _Job) -> None:
    # The parent hears Ctrl-C and ends the pool; a child that also hears it prints a trace.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _here[:] = [job]


def _sort_runs(
    pool: ProcessPoolExecutor,
    job: _Job,
    stretches: Sequence[tuple[int, int, int]],
    progress: Progress | None,
) -> list[_Run]:
    tasks = [(number, *stretch) for number, stretch in enumerate(stretches)]
    runs = []
    for done, run in enumerate(_each(pool, job.jobs, _sort_run, tasks), 1):
        runs.append(run)
        if progress:
            progress("counting", done, len(tasks))
    return runs


def _sort_run(task: tuple[int, int, int, int]) -> _Run:
    """Count one stretch of numbers into a sorted run."""
    number, reader, begin, end = task
    job = _here[0]
    own = numpy.memmap(
        job.folder / f"numbers-{reader}", dtype=numpy.int32, mode="r", offset=4 * begin,
        shape=end - begin,
    )  # fmt: skip
    words = job.numbers[reader][own]
    merged: tuple[Whole, NDArray[Any]] | None = None
    for place, (near, far) in enumerate(job.shells):
        buffer = numpy.empty(len(words) * (far - near + 1), dtype=numpy.int64)
        keys = buffer[: events(words, near, far, job.contexts, buffer)]
        keys.sort()
        found = numpy.empty(len(keys), dtype=numpy.uint32)
        length = count_sorted(keys, found)
        counts = numpy.zeros((length, len(job.windows)), dtype=numpy.uint32)
        # What is near enough for a window is near enough for every wider one.
        counts[:, place:] = found[:length, None]
        part = (keys[:length].copy(), counts)
        del buffer, keys, found
        merged = part if merged is None else _merged(merged, part)
    assert merged is not None
    out_keys = numpy.empty(2 * len(merged[0]), dtype=numpy.int64)
    out_counts = numpy.empty((len(out_keys), len(job.windows)), dtype=numpy.uint32)
    length, lengths = mirror(*merged, job.words, job.contexts, out_keys, out_counts)
    path = job.folder / f"run-{number}"
    out_keys[:length].tofile(path.with_suffix(".keys"))
    out_counts[:length].tofile(path.with_suffix(".counts"))
    return _Run(path, lengths)


def _merged(
    one: tuple[Whole, NDArray[Any]], two: tuple[Whole, NDArray[Any]]
) -> tuple[Whole, NDArray[Any]]:
    keys = numpy.empty(len(one[0]) + len(two[0]), dtype=numpy.int64)
    counts = numpy.empty((len(keys), one[1].shape[1]), dtype=one[1].dtype)
    length = merge(one[0], one[1], two[0], two[1], keys, counts)
    return keys[:length], counts[:length]


def _merged_all(parts: list[Any]) -> Any:
    """Merge in rounds, neighbour with neighbour."""
    while len(parts) > 1:
        pairs = [parts[place : place + 2] for place in range(0, len(parts), 2)]
        parts = [_merged(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]


def ranges(lengths: Whole, most: int) -> list[tuple[int, int]]:
    """Ranges of rows of about this many entries."""
    places = lengths.cumsum() // most
    borders = [0, *(numpy.flatnonzero(numpy.diff(places)) + 1).tolist(), len(lengths)]
    return list(pairwise(borders))


_Packed = tuple[bytes, Whole, Whole]


def _pack(
    pool: ProcessPoolExecutor, job: _Job, runs: Sequence[_Run], progress: Progress | None
) -> Generator[tuple[bytes, Whole], None, Whole]:
    lengths = numpy.zeros(job.words, dtype=numpy.int64)
    for run in runs:
        lengths += run.lengths
    places = [numpy.concatenate([[0], run.lengths.cumsum()]) for run in runs]
    borders = ranges(lengths, _ENTRIES)
    tasks = [
        (
            first,
            last,
            [
                (run.path, int(at[first]), int(at[last]))
                for run, at in zip(runs, places, strict=True)
            ],
        )
        for first, last in borders
    ]
    sums = numpy.zeros((job.contexts, len(job.windows)), dtype=numpy.int64)
    for done, (data, some, contexts) in enumerate(_each(pool, job.jobs, _pack_range, tasks), 1):
        sums += contexts
        if progress:
            progress("packing", done, len(tasks))
        yield data, some
    return sums


def _pack_range(task: tuple[int, int, list[tuple[Path, int, int]]]) -> _Packed:
    first, last, slices = task
    job = _here[0]
    windows = len(job.windows)
    parts: list[Any] = []
    for path, begin, end in slices:
        if begin == end:
            continue
        keys = numpy.fromfile(
            path.with_suffix(".keys"), dtype=numpy.int64, count=end - begin, offset=8 * begin
        )
        counts = numpy.fromfile(
            path.with_suffix(".counts"),
            dtype=numpy.uint32,
            count=(end - begin) * windows,
            offset=4 * windows * begin,
        )
        parts.append((keys, counts.reshape(-1, windows).astype(numpy.int64)))
    if not parts:
        empty = numpy.zeros(0, dtype=numpy.int64)
        parts = [(empty, empty.reshape(0, windows))]
    keys, counts = _merged_all(parts)
    sums = numpy.zeros((last - first, windows), dtype=numpy.int64)
    contexts = numpy.zeros((job.contexts, windows), dtype=numpy.int64)
    add_margins(keys, counts, first, sums, contexts)
    data, lengths = packed(keys, counts, first, last, job.own[first:last], sums, job.contexts)
    return data.tobytes(), lengths, contexts


def packed(
    keys: Whole, counts: Whole, first: int, last: int, own: Whole, sums: Whole, contexts: int
) -> tuple[NDArray[numpy.uint8], Whole]:
    """Rows as bytes, and their lengths."""
    windows = counts.shape[1]
    room = 10 * (len(keys) * (1 + windows) + (last - first) * (1 + windows))
    data = numpy.empty(room, dtype=numpy.uint8)
    lengths = pack_rows(keys, counts, first, last, own, sums, contexts, data)
    return data[: lengths.sum()], lengths


def _warm(windows: int) -> None:
    """Have the kernels compiled before processes are forked, not in each of them."""
    words = numpy.array([0, 1, 0, BOUNDARY], dtype=numpy.int32)
    Vocabulary().read(["a a."])
    one, two, three = (numpy.zeros(2, dtype=numpy.int64) for _ in range(3))
    tally(words, one, two, three, 1)
    keys = numpy.zeros(8, dtype=numpy.int64)
    keys = keys[: events(words, 1, 2, 2, keys)]
    keys.sort()
    found = numpy.empty(len(keys), dtype=numpy.uint32)
    length = count_sorted(keys, found)
    counts = numpy.zeros((length, windows), dtype=numpy.uint32)
    counts[:] = found[:length, None]
    keys, counts = _merged((keys[:length].copy(), counts), (keys[:length].copy(), counts))
    out_keys = numpy.empty(2 * len(keys), dtype=numpy.int64)
    out = numpy.empty((len(out_keys), windows), dtype=numpy.uint32)
    length, _ = mirror(keys, counts, 2, 2, out_keys, out)
    part = (out_keys[:length], out[:length].astype(numpy.int64))
    keys, wide = _merged(part, part)
    sums = numpy.zeros((2, windows), dtype=numpy.int64)
    add_margins(keys, wide, 0, sums, sums.copy())
    packed(keys, wide, 0, 2, sums[:, 0].copy(), sums, 2)
