"""What comes out of a campaign: scores, agreement, consistency, times, orders, ratings."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import fmean, median
from typing import Any

import numpy

from meantime.annotation import judging, marks
from meantime.annotation.agreement import (
    Agreement,
    JudgesAgreement,
    compare,
    compare_judges,
)
from meantime.annotation.campaign import CONTROL, Kind, Role, VersionKind
from meantime.annotation.store import Task
from meantime.annotation.store.store import Everything
from meantime.formats.judgements import Judged
from meantime.metaeval.grids import ranking_spearman
from meantime.metaeval.judging import percentiles as percentiles_of
from meantime.metrics.hmeant_arithmetic import (
    Accuracy,
    mean,
    measure_judgement,
    measure_judgements,
)
from meantime.types import (
    Corpus,
    Frame,
    Judgement,
    Judgements,
    Reading,
    Segment,
    Sentence,
)

LONGEST_PAUSE = 300.0
"""Seconds between two steps that still count as work."""
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class SystemScore:
    """A system's HMEANT: means over segments, and the interval of F over resampled segments."""

    system: str
    f: float
    precision: float
    recall: float
    low: float
    high: float
    segments: int
    readings: int
    rank: float | None
    rating: float | None
    percentile: float | None


@dataclass(frozen=True, slots=True)
class SegmentScore:
    """A segment's HMEANT and what people said of it, by system."""

    segment: str
    system: str
    f: float | None
    precision: float | None
    recall: float | None
    annotators: Mapping[str, float]
    rank: float | None
    percentile: float | None


@dataclass(frozen=True, slots=True)
class LabelCount:
    """What became of a role label: verdicts on the reference's, and extra ones."""

    label: str
    correct: int
    partial: int
    incorrect: int
    missing: int
    extra: int


@dataclass(frozen=True, slots=True)
class PersonResult:
    """What somebody did: how much, how fast, how like the others and themselves."""

    name: str
    role: str
    done: int
    median_seconds: float | None
    seconds_for_25_words: float | None
    identification: float | None
    classification: float | None
    verdicts: float | None
    mean_f: float | None
    own_consistency: float | None
    repeats: int


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a kind of task takes."""

    kind: str
    tasks: int
    median_seconds: float
    hours: float


@dataclass(frozen=True, slots=True)
class Prefilled:
    """Readings that began with an analyser's frames, or those that did not."""

    prefilled: bool
    readings: int
    like_the_analyser: float | None
    f: float | None
    seconds_a_word: float | None


@dataclass(frozen=True, slots=True)
class Results:
    """Everything there is to say; what has no data yet is `None` or empty."""

    systems: tuple[SystemScore, ...]
    segments: tuple[SegmentScore, ...]
    labels: tuple[LabelCount, ...]
    agreement: Mapping[str, Agreement]
    judges: JudgesAgreement
    people: tuple[PersonResult, ...]
    timing: tuple[Timing, ...]
    seconds_for_25_words: float | None
    prefilled: tuple[Prefilled, ...]
    rank_correlation: float | None
    rank_segments: int


def seconds(task: Task, saved: Sequence[float]) -> float:
    """How long somebody worked on a task: the time between steps, long pauses cut short."""
    if task.opened is None or task.finished is None:
        return 0.0
    times = sorted([task.opened, *(at for at in saved if at >= task.opened), task.finished])
    return sum(min(later - earlier, LONGEST_PAUSE) for earlier, later in pairwise(times))


@dataclass(frozen=True, slots=True)
class _Read:
    """A finished reading."""

    task: Task
    frames: tuple[Frame, ...]
    annotator: str
    words: int


@dataclass(frozen=True, slots=True)
class _Found:
    """A campaign's finished work, by what it is of."""

    keys: Mapping[str, tuple[Frame, ...]]
    readings: Mapping[str, list[_Read]]
    judgements: Mapping[str, list[tuple[str, Judgement]]]


def _find(data: Everything) -> _Found:
    keys = {}
    readings: dict[str, list[_Read]] = defaultdict(list)
    judgements: dict[str, list[tuple[str, Judgement]]] = defaultdict(list)
    for task in data.tasks:
        if task.repeat_of is not None:
            continue
        if task.kind is Kind.MARK:
            version = data.versions[task.target]
            frames = marks.as_frames(task.answer)
            if version.kind is VersionKind.KEY:
                keys[version.segment] = frames
            else:
                words = len(version.sentence.tokens or ())
                reading = _Read(task, frames, _name(data, task), words)
                readings[version.id].append(reading)
        elif task.kind is Kind.JUDGE:
            name = _name(data, task)
            judgements[task.target].append((name, judging.as_judgement(task.answer, name)))
    return _Found(keys, readings, judgements)


def _name(data: Everything, task: Task) -> str:
    person = data.people.get(task.person or "")
    return person.name if person is not None else "nobody"


def collect_judgements(data: Everything, *, whole: bool = True) -> list[Judged]:
    """What people said, as the file of judgements has it: by segment, the control first.

    Args:
        data: A campaign.
        whole: Leave out readings that do not have all their judgements yet.
    """
    found = _find(data)
    settings = data.campaign.settings
    judged = []
    for segment in data.segments:
        key = found.keys.get(segment.id)
        if key is None:
            continue
        versions = [v for v in data.versions.values() if v.segment == segment.id]
        for version in sorted(versions, key=lambda v: (v.kind is VersionKind.SYSTEM, v.system)):
            if version.kind is VersionKind.KEY:
                continue
            readings = []
            for reading in found.readings.get(version.id, ()):
                judgements = found.judgements.get(reading.task.id, [])
                if not judgements or (whole and len(judgements) < settings.judges):
                    continue
                readings.append(
                    Reading(reading.annotator, reading.frames, tuple(one for _, one in judgements))
                )
            if readings:
                reference = next(v for v in versions if v.kind is VersionKind.KEY).sentence
                judged.append(
                    Judged(
                        segment.name,
                        version.system,
                        Sentence(
                            version.sentence.text, version.sentence.lang, version.sentence.tokens
                        ),
                        Sentence(reference.text, reference.lang, reference.tokens, frames=key),
                        Judgements(key, tuple(readings), settings.core),
                    )
                )
    return judged


def make_corpus(data: Everything) -> Corpus:
    """The texts of a campaign as a corpus, with the judgements there are."""
    judged = {(one.system, one.segment): one.judgements for one in collect_judgements(data)}
    texts = {
        (v.segment, v.system): v.sentence
        for v in data.versions.values()
        if v.kind is VersionKind.SYSTEM
    }
    systems = sorted({system for _, system in texts})
    return Corpus(
        tuple(
            Segment(one.name, (Sentence(one.reference.text, one.reference.lang),), one.source)
            for one in data.segments
        ),
        {
            system: tuple(
                Sentence(texts[one.id, system].text, texts[one.id, system].lang)
                for one in data.segments
            )
            for system in systems
        },
        {
            system: tuple(judged.get((system, one.name)) for one in data.segments)
            for system in systems
        },
    )


def compute(data: Everything, *, seed: int = 12345) -> Results:
    """Everything that can be said of a campaign now."""
    found = _find(data)
    settings = data.campaign.settings
    judged = collect_judgements(data)
    scores: dict[tuple[str, str], Accuracy] = {}
    by_annotator: dict[tuple[str, str], dict[str, float]] = {}
    counts: Counter[str] = Counter()
    for one in judged:
        key = (one.segment, one.system)
        scores[key] = measure_judgements(one.judgements, weights=settings.weights)
        by_annotator[key] = {
            reading.annotator: mean(
                [
                    measure_judgement(
                        reading.frames,
                        one.judgements.reference_frames,
                        judgement,
                        weights=settings.weights,
                        core=settings.core,
                    )
                    for judgement in reading.judgements
                ]
            ).f
            for reading in one.judgements.readings
        }
        counts[one.system] += len(one.judgements.readings)
    ranks = _ranks(data)
    ratings, percentiles = _ratings(data)
    systems = sorted({v.system for v in data.versions.values() if v.kind is VersionKind.SYSTEM})
    order = [CONTROL, *systems] if settings.control else systems
    rows = []
    for segment in data.segments:
        for system in order:
            key = (segment.name, system)
            accuracy = scores.get(key)
            rows.append(
                SegmentScore(
                    segment.name,
                    system,
                    None if accuracy is None else accuracy.f,
                    None if accuracy is None else accuracy.precision,
                    None if accuracy is None else accuracy.recall,
                    by_annotator.get(key, {}),
                    _mean(ranks.get(key, ())),
                    _mean(percentiles.get(key, ())),
                )
            )
    rho, rho_segments = _rank_correlation(rows, systems)
    return Results(
        systems=tuple(
            _system(system, scores, counts, ranks, ratings, percentiles, seed)
            for system in order
            if any(name == system for _, name in scores)
            or any(name == system for _, name in ranks)
            or any(name == system for _, name in ratings)
        ),
        segments=tuple(rows),
        labels=_labels(judged, [label.name for label in settings.roles]),
        agreement=_agreement(data, found),
        judges=_judges_agreement(found, data),
        people=_people(data, found, judged),
        timing=_timing(data),
        seconds_for_25_words=_for_25_words(data, found),
        prefilled=_prefilled(data, found, by_annotator),
        rank_correlation=rho,
        rank_segments=rho_segments,
    )


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return fmean(listed) if listed else None


def _median(values: Iterable[float]) -> float | None:
    listed = list(values)
    return median(listed) if listed else None


def _system(
    system: str,
    scores: Mapping[tuple[str, str], Accuracy],
    counts: Mapping[str, int],
    ranks: Mapping[tuple[str, str], list[float]],
    ratings: Mapping[tuple[str, str], list[float]],
    percentiles: Mapping[tuple[str, str], list[float]],
    seed: int,
) -> SystemScore:
    found = [accuracy for (_, name), accuracy in scores.items() if name == system]
    if found:
        average = mean(found)
        values = numpy.array([accuracy.f for accuracy in found])
        rng = numpy.random.default_rng(seed)
        resampled = values[rng.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
        low, high = (float(one) for one in numpy.quantile(resampled, [0.025, 0.975]))
    else:
        average = Accuracy(float("nan"), float("nan"), float("nan"))
        low = high = float("nan")

    def own(table: Mapping[tuple[str, str], list[float]]) -> float | None:
        return _mean(fmean(values) for (_, name), values in table.items() if name == system)

    return SystemScore(
        system,
        average.f,
        average.precision,
        average.recall,
        low,
        high,
        len(found),
        counts.get(system, 0),
        own(ranks),
        own(ratings),
        own(percentiles),
    )


def _ranks(data: Everything) -> dict[tuple[str, str], list[float]]:
    names = {one.id: one.name for one in data.segments}
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for task in data.tasks:
        if task.kind is Kind.RANK and task.repeat_of is None:
            for version, rank in judging.ranks(task.answer).items():
                found[names[task.segment or ""], data.versions[version].system].append(rank)
    return found


def _ratings(
    data: Everything,
) -> tuple[dict[tuple[str, str], list[float]], dict[tuple[str, str], list[float]]]:
    names = {one.id: one.name for one in data.segments}
    by_person: dict[str | None, list[Task]] = defaultdict(list)
    for task in data.tasks:
        if task.kind is Kind.RATE and task.repeat_of is None:
            by_person[task.person].append(task)
    raw: dict[tuple[str, str], list[float]] = defaultdict(list)
    percentiles: dict[tuple[str, str], list[float]] = defaultdict(list)
    for tasks in by_person.values():
        given = [int(task.answer["rating"]) for task in tasks]
        for task, rating, percentile in zip(
            tasks, given, percentiles_of(given).tolist(), strict=True
        ):
            key = (names[task.segment or ""], data.versions[task.target].system)
            raw[key].append(float(rating))
            percentiles[key].append(percentile)
    return raw, percentiles


def _rank_correlation(
    rows: Sequence[SegmentScore], systems: Sequence[str]
) -> tuple[float | None, int]:
    """The mean within-segment Spearman of HMEANT with people's order (Lo and Wu, section 5).

    Over the segments where it is defined: where HMEANT or people do not tell any two systems
    apart, there is nothing to agree with.
    """
    segments = {name: place for place, name in enumerate(dict.fromkeys(r.segment for r in rows))}
    ranking, scores = numpy.full((2, len(segments), len(systems)), numpy.nan)
    for row in rows:
        if row.system in systems:
            place = segments[row.segment], systems.index(row.system)
            ranking[place] = numpy.nan if row.rank is None else row.rank
            scores[place] = numpy.nan if row.f is None else row.f
    found = ranking_spearman(ranking, scores)
    return found.value, found.defined


def _labels(judged: Sequence[Judged], names: Sequence[str]) -> tuple[LabelCount, ...]:
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for one in judged:
        if one.system == CONTROL:
            continue
        reference = one.judgements.reference_frames
        for reading in one.judgements.readings:
            for judgement in reading.judgements:
                for match in judgement.matches:
                    used = set()
                    for verdict in match.verdicts:
                        used.add(verdict.hypothesis)
                        if verdict.reference is None:
                            continue
                        label = reference[match.reference].roles[verdict.reference].label
                        missing = verdict.hypothesis is None
                        counts[label]["missing" if missing else str(verdict.verdict)] += 1
                    for number, role in enumerate(reading.frames[match.hypothesis].roles):
                        if number not in used:
                            counts[role.label]["extra"] += 1
    return tuple(
        LabelCount(name, c["correct"], c["partial"], c["incorrect"], c["missing"], c["extra"])
        for name, c in counts.items()
    )


def _agreement(data: Everything, found: _Found) -> dict[str, Agreement]:
    """Of annotators, by what they read: the reference as control, or systems."""
    totals = {"reference": Agreement(), "systems": Agreement()}
    for version, readings in found.readings.items():
        control = data.versions[version].kind is VersionKind.CONTROL
        name = "reference" if control else "systems"
        for one, other in combinations(readings, 2):
            totals[name] += compare(one.frames, other.frames)
    return totals


def _judges_agreement(found: _Found, data: Everything) -> JudgesAgreement:
    total = JudgesAgreement()
    for version, readings in found.readings.items():
        key = found.keys.get(data.versions[version].segment, ())
        for reading in readings:
            judgements = found.judgements.get(reading.task.id, [])
            for (_, one), (_, other) in combinations(judgements, 2):
                total += compare_judges(one, other, key)
    return total


def _timing(data: Everything) -> tuple[Timing, ...]:
    times: dict[str, list[float]] = defaultdict(list)
    for task in data.tasks:
        if task.person is not None:
            times[str(task.kind)].append(seconds(task, data.saved.get(task.id, ())))
    return tuple(
        Timing(str(kind), len(times[kind]), median(times[kind]), sum(times[kind]) / 3600)
        for kind in Kind
        if kind in times
    )


def _pace(data: Everything, reading: _Read) -> float:
    """Seconds a word."""
    return seconds(reading.task, data.saved.get(reading.task.id, ())) / max(reading.words, 1)


def _for_25_words(data: Everything, found: _Found, annotator: str | None = None) -> float | None:
    """Median time to mark 25 words: of readings of 20 to 30 words, else of all, by the word."""
    rates = [
        (reading.words, 25 * _pace(data, reading))
        for readings in found.readings.values()
        for reading in readings
        if reading.words and (annotator is None or reading.annotator == annotator)
    ]  # fmt: skip
    near = [rate for words, rate in rates if 20 <= words <= 30]
    return _median(near or [rate for _, rate in rates])


def _people(data: Everything, found: _Found, judged: Sequence[Judged]) -> tuple[PersonResult, ...]:
    agreement: dict[str, Agreement] = defaultdict(Agreement)
    judges: dict[str, JudgesAgreement] = defaultdict(JudgesAgreement)
    for version, readings in found.readings.items():
        for one, other in combinations(readings, 2):
            both = compare(one.frames, other.frames)
            agreement[one.annotator] += both
            agreement[other.annotator] += both
        key = found.keys.get(data.versions[version].segment, ())
        for reading in readings:
            for (name, mine), (other_name, theirs) in combinations(
                found.judgements.get(reading.task.id, []), 2
            ):
                same = compare_judges(mine, theirs, key)
                judges[name] += same
                judges[other_name] += same
    own: dict[str, list[float]] = defaultdict(list)
    for one_judged in judged:
        for one_reading in one_judged.judgements.readings:
            for judgement in one_reading.judgements:
                f = measure_judgement(
                    one_reading.frames,
                    one_judged.judgements.reference_frames,
                    judgement,
                    weights=data.campaign.settings.weights,
                    core=data.campaign.settings.core,
                ).f
                own[one_reading.annotator].append(f)
                own[judgement.judge].append(f)
    repeats = _consistency(data, found)
    results = []
    for person in data.people.values():
        if person.role is Role.ADMINISTRATOR:
            continue
        tasks = [
            task
            for task in data.tasks
            if task.person == person.id and task.kind is not Kind.TRAINING
        ]
        mine_agreement, mine_judges = agreement[person.name], judges[person.name]
        results.append(
            PersonResult(
                person.name,
                str(person.role),
                len(tasks),
                _median(seconds(task, data.saved.get(task.id, ())) for task in tasks),
                _for_25_words(data, found, person.name) if person.role is Role.ANNOTATOR else None,
                mine_agreement.identification,
                mine_agreement.classification,
                mine_judges.verdict,
                _mean(own[person.name]),
                _mean(repeats.get(person.name, ())),
                len(repeats.get(person.name, ())),
            )
        )
    return tuple(results)


def _consistency(data: Everything, found: _Found) -> dict[str, list[float]]:
    """How like their first answer people's repeated ones are, 0 to 1, by the kind of task."""
    tasks = {task.id: task for task in data.tasks}
    segments = {task.id: task.segment or "" for task in data.tasks}
    values: dict[str, list[float]] = defaultdict(list)
    for task in data.tasks:
        first = tasks.get(task.repeat_of or "")
        if first is None:
            continue
        name = _name(data, task)
        if task.kind is Kind.MARK:
            same = compare(marks.as_frames(first.answer), marks.as_frames(task.answer))
            value = same.classification if same.ours + same.theirs else same.predicate
            values[name].append(1.0 if value is None else value)
        elif task.kind is Kind.JUDGE:
            one, other = (judging.as_judgement(each.answer, name) for each in (first, task))
            both = compare_judges(one, other, found.keys.get(segments[task.id], ()))
            total = both.frames + both.verdicts
            alike = both.same_frames + both.same_verdicts
            values[name].append(alike / total if total else 1.0)
        elif task.kind is Kind.RANK:
            before, after = judging.ranks(first.answer), judging.ranks(task.answer)
            pairs = list(combinations(sorted(before), 2))
            alike = sum(
                numpy.sign(before[a] - before[b]) == numpy.sign(after[a] - after[b])
                for a, b in pairs
            )
            values[name].append(alike / len(pairs) if pairs else 1.0)
        else:
            values[name].append(float(first.answer["rating"] == task.answer["rating"]))
    return values


def _prefilled(
    data: Everything, found: _Found, scores: Mapping[tuple[str, str], Mapping[str, float]]
) -> tuple[Prefilled, ...]:
    """Readings with and without an analyser's frames to begin with; none where none had any."""
    names = {one.id: one.name for one in data.segments}
    groups: dict[bool, list[tuple[Agreement, float | None, float]]] = defaultdict(list)
    for version_id, readings in found.readings.items():
        version = data.versions[version_id]
        if version.suggested is None:
            continue
        for reading in readings:
            f = scores.get((names[version.segment], version.system), {}).get(reading.annotator)
            groups[reading.task.prefilled].append(
                (compare(reading.frames, version.suggested), f, _pace(data, reading))
            )
    if True not in groups:
        return ()
    results = []
    for prefilled, found_here in sorted(groups.items()):
        likeness = sum((one for one, _, _ in found_here), Agreement())
        results.append(
            Prefilled(
                prefilled,
                len(found_here),
                likeness.classification,
                _mean(f for _, f, _ in found_here if f is not None),
                _median(pace for _, _, pace in found_here),
            )
        )
    return tuple(results)


def as_json(results: Results, correlations: Sequence[Any] = ()) -> dict[str, Any]:
    """Results, and correlations if there are any, as plain values; what is not known is null."""

    def plain(value: Any) -> Any:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            found = {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
            if isinstance(value, Agreement):
                found |= {
                    "identification": value.identification,
                    "classification": value.classification,
                    "predicate": value.predicate,
                }
            if isinstance(value, JudgesAgreement):
                found |= {
                    "matching": value.matching,
                    "verdict": value.verdict,
                    "kappa": value.kappa,
                }
            return found
        if isinstance(value, Mapping):
            return {str(key): plain(one) for key, one in value.items()}
        if isinstance(value, (tuple, list)):
            return [plain(one) for one in value]
        if isinstance(value, float) and math.isnan(value):
            return None
        return value

    found: dict[str, Any] = plain(results)
    found["correlations"] = plain(tuple(correlations))
    return found
