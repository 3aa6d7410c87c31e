"""The tuning loop: decode, merge, measure, learn, and again, until nothing is new.

Everything stands in one folder, each file written whole under another name and then renamed,
so that whatever ends the run, also the power, leaves a folder to go on from:

    settings.json       what the run depends on; going on with other settings is refused
    log.jsonl           one object an iteration, written when the iteration is done
    weights-003.txt     what iteration 3 decoded with
    nbest-003           what the decoder gave for it, checked
    decoder-003.log     what the decoder said
    statistics/         rows of every text measured
    weights.txt         the weights that scored best so far
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy

from meantime.errors import FormatError, InputError, UsageError
from meantime.formats.nbest import read_nbest
from meantime.formats.opening import encode, save
from meantime.tuning.candidates import SPARSE, Added, Candidates, Gathering, arrange
from meantime.tuning.decoder import Decoder, tell_end
from meantime.tuning.learning import Learner
from meantime.tuning.statistics import Statistics
from meantime.tuning.weights import write_weights
from meantime.types import Level

MOST_FAILURES = 3
"""Decoder failures one after the other that end the loop also where it was to go on."""
_STILL = 1e-6
"""Weights that move less have stopped."""

Tell = Callable[[Mapping[str, Any]], None]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Plan:
    """What a tuning does."""

    decoder: Decoder
    learner: Learner
    iterations: int = 10
    """Times the decoder runs; the last only tells what the last weights are worth."""
    patience: int | None = None
    """Iterations without a better score that end the loop; none waits for ever."""
    retries: int = 0
    """How often a decoder that failed is run again with the same weights."""
    go_on: bool = False
    """Whether a decoder that still fails is tried with weights nearer to the last good ones."""
    sparse: Sequence[str] = SPARSE
    format: str = "auto"
    """Of the decoder's lists."""
    threads: int = 0


@dataclass(frozen=True)
class Tuned:
    """What came of a tuning."""

    weights: Mapping[str, float]
    score: float
    iteration: int
    """The one that decoded with these weights."""
    reason: str
    """Why the loop ended."""
    records: tuple[Mapping[str, Any], ...]


@dataclass
class _State:
    """What the loop knows while it runs; all of it can be read from the folder."""

    gathering: Gathering
    records: list[dict[str, Any]] = field(default_factory=list)
    candidates: Candidates | None = None

    @property
    def good(self) -> list[dict[str, Any]]:
        return [record for record in self.records if "failed" not in record]


def tune(
    folder: Path,
    plan: Plan,
    statistics: Statistics,
    initial: Mapping[str, float],
    *,
    segments: int,
    resume: bool = False,
    tell: Tell | None = None,
    progress: Callable[[str], Progress] | None = None,
) -> Tuned:
    """Run the loop, or go on with it.

    Args:
        folder: Where everything is kept.
        plan: What to do.
        statistics: Measures candidates against the references.
        initial: Weights to begin with.
        segments: How many there are.
        resume: Whether to go on with what the folder holds.
        tell: Called with each iteration's record as it is done.
        progress: From what is being done to who is told how far it has come.

    Raises:
        UsageError: The folder holds another tuning, or one and it was not asked to go on.
        DecoderFailed: The decoder did not do its work.
        FormatError: Its list cannot be read.
    """
    with _lock(folder):
        _clean(folder)
        _check_settings(folder, plan, statistics, initial, resume)
        state = _recall(folder, plan, segments)
        return _Loop(folder, plan, statistics, initial, state, tell, progress).run()


class _Loop:
    def __init__(
        self,
        folder: Path,
        plan: Plan,
        statistics: Statistics,
        initial: Mapping[str, float],
        state: _State,
        tell: Tell | None,
        progress: Callable[[str], Progress] | None,
    ) -> None:
        self.folder = folder
        self.plan = plan
        self.statistics = statistics
        self.initial = initial
        self.state = state
        self.tell = tell
        self.progress = progress
        self.sign = 1.0 if statistics.metric.higher_is_better else -1.0

    def run(self) -> Tuned:
        reason = self._ended()
        while reason is None:
            number = len(self.state.records) + 1
            weights = self._next_weights()
            record = self._iterate(number, weights)
            self.state.records.append(record)
            # Weights first: a log that names them is never ahead of the file.
            if self.state.good:
                write_weights(self.folder / "weights.txt", self._best()["weights"])
            _write_log(self.folder, self.state.records)
            if self.tell:
                self.tell(record)
            reason = self._ended()
        best = self._best()
        return Tuned(
            best["weights"],
            best["score"],
            best["iteration"],
            reason,
            tuple(self.state.records),
        )

    def _best(self) -> dict[str, Any]:
        return max(self.state.good, key=lambda r: (self.sign * r["score"], -r["iteration"]))

    def _ended(self) -> str | None:
        records, good = self.state.records, self.state.good
        if not records:
            return None
        last = records[-1]
        if "failed" not in last:
            if last["new"] == 0:
                return "the decoder gave no new candidate"
            if "learned" in last and _same(last["weights"], last["learned"]):
                return "the weights do not change any more"
            since = last["iteration"] - self._best()["iteration"]
            if self.plan.patience is not None and since >= self.plan.patience:
                return f"no better score for {since} iterations"
        if len(records) >= self.plan.iterations and good:
            return f"{len(records)} iterations are done"
        return None

    def _next_weights(self) -> dict[str, float]:
        records = self.state.records
        if not records:
            return dict(self.initial)
        last = records[-1]
        if "failed" not in last:
            if "learned" not in last:
                # It was to be the last iteration, and now more are asked for.
                last["learned"] = self._learn(last["iteration"], last["weights"])[0]
            return dict(last["learned"])
        # Half of the way back to the last weights the decoder was happy with.
        good = self.state.good[-1]["weights"]
        return {name: (good.get(name, 0.0) + value) / 2 for name, value in last["weights"].items()}

    # One iteration

    def _iterate(self, number: int, weights: dict[str, float]) -> dict[str, Any]:
        started = time.monotonic()
        try:
            added = self._decode(number, weights)
        except InputError as error:
            return self._failure(number, weights, error)
        decoded = time.monotonic()
        self.state.candidates = candidates = self.state.gathering.build()
        before = self.statistics.measured
        rows = self.statistics.rows(candidates.texts, self._progress("measuring"))
        firsts = numpy.array([added.firsts[segment] for segment in sorted(added.firsts)])
        metric = self.statistics.metric
        record: dict[str, Any] = {
            "iteration": number,
            "score": metric.score(rows[firsts].sum(axis=0), Level.CORPUS).value,
            "metric": str(metric.signature()),
            "weights": _complete(weights, candidates),
            "candidates": added.read,
            "new": added.new,
            "merged": len(candidates),
            "texts": len(candidates.texts),
            "measured": self.statistics.measured - before,
            "agreement": self.state.gathering.agreement(added, weights),
        }
        measured = time.monotonic()
        if number < self.plan.iterations and added.new:
            record["learned"], learned = self._learn(number, record["weights"])
            record["pool_before"], record["pool_after"] = learned.initial, learned.value
            record["learning"] = dict(learned.report)
        record["seconds"] = {
            "decode": round(decoded - started, 2),
            "measure": round(measured - decoded, 2),
            "learn": round(time.monotonic() - measured, 2),
        }
        return record

    def _learn(self, number: int, weights: Mapping[str, float]) -> tuple[dict[str, float], Any]:
        candidates = self.state.candidates
        if candidates is None:
            candidates = self.state.candidates = self.state.gathering.build()
        rows = self.statistics.rows(candidates.texts, self._progress("measuring"))
        before = [r["weights"] for r in self.state.good if r["iteration"] < number]
        place = str(self.folder / f"weights-{number:03}.txt")
        learned = self.plan.learner.learn(
            candidates,
            rows,
            self.statistics.metric,
            arrange(weights, candidates, place),
            others=[arrange(_complete(w, candidates), candidates, place) for w in before],
            turn=number,
            threads=self.plan.threads,
            progress=self._progress("tuning"),
        )
        found = dict(zip(candidates.all_names, map(float, learned.weights), strict=True))
        return found, learned

    def _progress(self, what: str) -> Progress | None:
        return self.progress(what) if self.progress else None

    def _decode(self, number: int, weights: Mapping[str, float]) -> Added:
        """The list of this iteration, from the decoder or from a run that was interrupted."""
        final = self.folder / f"nbest-{number:03}"
        tries = self.plan.retries + 1
        while True:
            tries -= 1
            try:
                if not final.is_file():
                    self._run_decoder(number, weights, final)
                return self._take(final, weights)
            except InputError as error:
                told = error
                if final.is_file():
                    # Kept to be looked at, but not taken for a good one when going on.
                    kept = self.folder / f"nbest-{number:03}.bad"
                    os.replace(final, kept)
                    said = tell_end(self.folder / f"decoder-{number:03}.log")
                    text = str(error).replace(str(final), str(kept), 1)
                    told = type(error)(f"{text}\nthe decoder ended without an error; {said}")
                if not tries:
                    raise told from error

    def _take(self, path: Path, weights: Mapping[str, float]) -> Added:
        """Put a list to the others."""
        gathering = self.state.gathering
        candidates = read_nbest(path, format=self.plan.format, names=tuple(weights))
        first = next(candidates)
        gathering.check_weights(str(path), first, weights)
        return gathering.add(str(path), itertools.chain([first], candidates))

    def _run_decoder(self, number: int, weights: Mapping[str, float], final: Path) -> None:
        # A name nobody else has: a decoder that outlived a killed run may still be writing.
        partial = self.folder / f".nbest-{number:03}.{uuid4().hex}"
        try:
            self.plan.decoder.run(
                weights,
                weights_path=self.folder / f"weights-{number:03}.txt",
                nbest_path=partial,
                log_path=self.folder / f"decoder-{number:03}.log",
                iteration=number,
            )
            os.replace(partial, final)
        finally:
            partial.unlink(missing_ok=True)

    def _failure(
        self, number: int, weights: Mapping[str, float], error: InputError
    ) -> dict[str, Any]:
        failed = 0
        for record in reversed(self.state.records):
            if "failed" not in record:
                break
            failed += 1
        if not self.plan.go_on or not self.state.good or failed + 1 >= MOST_FAILURES:
            good = [record["iteration"] for record in self.state.good]
            hint = (
                f"iteration {number} failed; the run can go on from iteration {good[-1]} "
                "with --resume"
                if good
                else f"iteration {number} failed, before any was done"
            )
            raise type(error)(f"{error}\n{hint}") from error
        return {"iteration": number, "weights": dict(weights), "failed": str(error)}


def _complete(weights: Mapping[str, float], candidates: Candidates) -> dict[str, float]:
    """Weights of all features, 0 for sparse ones met since."""
    return {**weights, **{n: 0.0 for n in candidates.sparse_names if n not in weights}}


def _same(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return all(abs(other.get(name, 0.0) - value) <= _STILL for name, value in one.items())


# The folder


def _write_log(folder: Path, records: Sequence[Mapping[str, Any]]) -> None:
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    save(folder / "log.jsonl", encode(text))


def read_log(folder: Path) -> list[dict[str, Any]]:
    """The records of a tuning, as far as it has come."""
    path = folder / "log.jsonl"
    if not path.is_file():
        return []
    records = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            records.append(json.loads(line))
        except ValueError as error:
            raise FormatError(
                f"{path}:{number}: damaged ({error}); remove the line and all behind it to go "
                "on from the iteration before"
            ) from error
    return records


def _recall(folder: Path, plan: Plan, segments: int) -> _State:
    state = _State(Gathering(segments, sparse=plan.sparse), read_log(folder))
    for record in state.good:
        path = folder / f"nbest-{record['iteration']:03}"
        state.gathering.add(
            str(path), read_nbest(path, format=plan.format, names=tuple(record["weights"]))
        )
    return state


def _check_settings(
    folder: Path, plan: Plan, statistics: Statistics, initial: Mapping[str, float], resume: bool
) -> None:
    """Refuse to go on with something else; write down what the run depends on."""
    path = folder / "settings.json"
    settings = {
        "statistics": statistics.identity(),
        "metric": str(statistics.metric.signature()),
        "initial": dict(initial),
        "sparse": list(plan.sparse),
        **plan.learner.settings(),
    }
    # As they will be read: tuples become lists, and so on.
    settings = json.loads(json.dumps(settings))
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    if known is not None and read_log(folder):
        if not resume:
            raise UsageError(
                f"{folder}: holds a tuning already; go on with it (--resume), or name another "
                "folder"
            )
        changed = [name for name in settings if known.get(name) != settings[name]]
        if changed:
            raise UsageError(
                f"{folder}: was begun with other settings ({', '.join(changed)}); give those it "
                "was begun with, which settings.json has, or name another folder"
            )
        return
    if known == settings:
        # Ended in its first iteration: what the decoder gave still counts.
        return
    if resume and known is None:
        raise UsageError(f"{folder}: holds no tuning to go on with; leave out --resume")
    (folder / "nbest-001").unlink(missing_ok=True)
    save(path, encode(json.dumps(settings, ensure_ascii=False, indent=1) + "\n"))


def _clean(folder: Path) -> None:
    """Remove what a killed run was writing."""
    for path in folder.glob(".*"):
        if path.name != ".lock" and path.is_file():
            path.unlink()


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Keep a second run out of the folder; the system lets go when the process ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / ".lock").open("wb")
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written to ({error}); name a folder that can"
        ) from error
    with file:
        try:
            import fcntl
        except ImportError:
            yield
            return
        try:
            # Of this process alone: the processes that measure must not keep it when they
            # outlive a killed run for a moment.
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError) as error:
            raise UsageError(
                f"{folder}: another tuning is running in it; wait for it, or name another folder"
            ) from error
        yield
