"""Comparisons of uploaded files: one at a time, watched, and kept for a while in memory."""

from __future__ import annotations

import re
import secrets
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from meantime.errors import MeantimeError, UsageError
from meantime.formats import read
from meantime.formats.opening import GZIP_MAGIC, decompress_within
from meantime.protocols import Analyser
from meantime.report.cautions import find_cautions
from meantime.report.comparison import check_systems, compare
from meantime.report.findings import Findings
from meantime.report.gathering import gather
from meantime.report.html import render_html
from meantime.report.writing import as_json
from meantime.scoring import ANALYSED, measure, ready_to_explain
from meantime.serving.limits import Busy, Deadline, Limits
from meantime.serving.trying import open_metric
from meantime.types import Corpus

Progress = Callable[[int, int], None]
OpenAnalyser = Callable[[Progress], Analyser]

_UNFIT = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|]+")


class State(StrEnum):
    """How far a comparison is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file as it came."""

    name: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be compared."""

    systems: tuple[Upload, ...]
    references: tuple[Upload, ...]
    source: Upload | None
    metrics: tuple[str, ...]
    lang: str
    title: str | None


@dataclass(slots=True)
class Job:
    """A comparison and how far it is."""

    id: str
    deadline: Deadline
    state: State = State.WAITING
    stage: str = "waiting"
    done: int = 0
    total: int = 0
    problem: str | None = None
    page: str | None = None
    result: str | None = None

    def at(self, stage: str) -> Progress:
        """Progress of a stage, which also ends the work where it must."""
        self.stage, self.done, self.total = stage, 0, 0

        def told(done: int, total: int) -> None:
            self.deadline.check()
            self.done, self.total = done, total

        return told


class Comparisons:
    """All that were asked for lately."""

    def __init__(self, limits: Limits, open_analyser: OpenAnalyser) -> None:
        self._limits = limits
        self._open = open_analyser
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = threading.Lock()
        self._workers: ThreadPoolExecutor | None = None

    def start(self, task: Task) -> Job:
        """Take a task on.

        Raises:
            Busy: Too many wait already.
        """
        with self._lock:
            waiting = sum(one.state is State.WAITING for one in self._jobs.values())
            if waiting >= self._limits.waiting:
                raise Busy(f"{waiting} comparisons are waiting already; try again later")
            job = Job(secrets.token_urlsafe(9), Deadline(self._limits.comparison_seconds))
            self._jobs[job.id] = job
            ended = [one.id for one in self._jobs.values() if one.state in _ENDED]
            for one in ended[: max(0, len(ended) - self._limits.kept)]:
                del self._jobs[one]
            if self._workers is None:
                self._workers = ThreadPoolExecutor(1, "comparison")
            self._workers.submit(self._run, job, task)
        return job

    def find(self, name: str) -> Job | None:
        """One of them, if it is still known."""
        with self._lock:
            return self._jobs.get(name)

    def forget(self, name: str) -> bool:
        """Call one off, and forget it; false if there is none."""
        with self._lock:
            job = self._jobs.pop(name, None)
        if job is None:
            return False
        job.deadline.cancelled.set()
        return True

    def close(self) -> None:
        """Call off all."""
        with self._lock:
            for job in self._jobs.values():
                job.deadline.cancelled.set()
            workers, self._workers = self._workers, None
        if workers is not None:
            workers.shutdown(wait=True, cancel_futures=True)

    def _run(self, job: Job, task: Task) -> None:
        # Time spent waiting is not the task's.
        job.deadline = Deadline(self._limits.comparison_seconds, job.deadline.cancelled)
        job.state = State.RUNNING
        try:
            job.deadline.check()
            self._compare(job, task)
            job.state, job.stage = State.DONE, "done"
        except MeantimeError as error:
            job.problem = str(error)
            job.state, job.stage = State.FAILED, "failed"
        except Exception as error:
            # Whatever it is, who waits must hear of it.
            job.problem = f"this is a fault of meantime: {type(error).__name__}: {error}"
            job.state, job.stage = State.FAILED, "failed"

    def _compare(self, job: Job, task: Task) -> None:
        progress = job.at("reading")
        corpus = read_uploads(task, self._limits)
        check_systems(list(corpus.outputs))
        made = [open_metric(name, task.lang) for name in task.metrics]
        analyser = None
        if any(one.needs & set(ANALYSED) for one in made):
            analyser = self._open(job.at("analysing"))
        progress(0, 1)
        measured = measure(
            corpus, task.metrics, lang=task.lang, progress=job.at("scoring"), analyser=analyser
        )
        comparison = compare(measured, progress=job.at("comparing"))
        findings = Findings(cautions=find_cautions(comparison))
        report = gather(
            ready_to_explain(measured, lambda: analyser or self._open(job.at("analysing"))),
            comparison,
            findings,
            explanations=self._limits.explanations,
            progress=job.at("explaining"),
        )
        job.at("writing")
        job.result = as_json(comparison, report.findings)
        job.page = render_html(report, title=task.title)


_ENDED = (State.DONE, State.FAILED)


def read_uploads(task: Task, limits: Limits) -> Corpus:
    """The corpus of uploaded files.

    Raises:
        UsageError: There are too many systems or segments.
        InputError: A file cannot be read.
    """
    if not 2 <= len(task.systems) <= limits.systems:
        raise UsageError(f"{len(task.systems)} systems; give between 2 and {limits.systems}")
    left = limits.bytes
    unpacked: list[Upload] = []
    for upload in (*task.systems, *task.references, *([task.source] if task.source else [])):
        one = unpack(upload, left)
        left -= len(one.content)
        unpacked.append(one)
    with tempfile.TemporaryDirectory(prefix="meantime-serve-") as name:
        folder = Path(name)
        paths = [_keep(folder, n, one) for n, one in enumerate(unpacked)]
        count, references = len(task.systems), len(task.references)
        try:
            corpus = read(
                paths[:count],
                references=paths[count : count + references],
                source=paths[count + references] if task.source else None,
                lang=task.lang,
            )
        except MeantimeError as error:
            # Where the files lie here is nothing to whoever sent them.
            raise type(error)(re.sub(re.escape(name) + r"/\d+/", "", str(error))) from error
    if len(corpus.segments) > limits.segments:
        raise UsageError(
            f"{len(corpus.segments)} segments; at most {limits.segments} are taken here: use "
            "'meantime compare --html'"
        )
    return corpus


def unpack(upload: Upload, most: int) -> Upload:
    """A file without gzip, and never more of it than is taken.

    Raises:
        InputError: It is too large, or not what it seems.
    """
    content = decompress_within(upload.name, upload.content, most)
    packed = upload.content.startswith(GZIP_MAGIC)
    name = upload.name.removesuffix(".gz") if packed else upload.name
    return replace(upload, name=name, content=content)


def _keep(folder: Path, number: int, upload: Upload) -> str:
    """Write a file under a name that is its own and can do no harm."""
    place = folder / str(number)
    place.mkdir()
    name = _UNFIT.sub("_", Path(upload.name.replace("\\", "/")).name).strip(" .") or "file"
    path = place / name.encode("utf-8", "replace")[:120].decode("utf-8", "ignore")
    path.write_bytes(upload.content)
    return str(path)


def metrics_of(names: Sequence[str], lang: str) -> tuple[str, ...]:
    """The metrics of a comparison, each once.

    Raises:
        MeantimeError: One is not there, or cannot treat the language.
    """
    chosen = tuple(dict.fromkeys(names))
    for name in chosen:
        open_metric(name, lang)
    return chosen
