"""Meaning tests: whether a metric prefers the translation that means the same.

An item is a reference with two changes of it: a *faithful* one, which keeps the meaning and changes
the surface (passive, synonym, another order, a sentence split), and a *damaged* one, which changes
little of the surface and a piece of the meaning (who did what to whom, negation, a number, …).
A metric wins an item if it scores the faithful one better; a tie counts half.

    share = (wins + ties / 2) / items

The shipped suite is frozen: its version changes when an item does, because a share is only
comparable on the same items.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import resources
from pathlib import Path
from statistics import NormalDist

from meantime.errors import FormatError, InputError, LengthMismatch
from meantime.formats.opening import decode, display, lines, load, stem, without_gzip
from meantime.protocols import Analyser, Metric
from meantime.scoring import Progress, measure
from meantime.types import Corpus, Level, Segment, Sentence, Signature

VERSION = "1"
"""Version of the shipped suite; raised whenever an item changes."""

FAITHFUL = "faithful"
DAMAGED = "damaged"

_FILE = "meaning.en.jsonl"
_NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Item:
    """A minimal pair: what must win, what must lose, and why."""

    id: str
    phenomenon: str
    """What of the meaning is damaged."""
    kind: str
    """How the faithful one changes the surface."""
    reference: str
    faithful: str
    damaged: str


FIELDS = tuple(field.name for field in fields(Item))


@dataclass(frozen=True, slots=True)
class Suite:
    """Items, and what names them in a report."""

    name: str
    version: str | None
    """None for a suite of one's own, which its hash alone identifies."""
    digest: str
    """SHA-256 of the file."""
    items: tuple[Item, ...]
    lang: str = "en"

    @property
    def phenomena(self) -> tuple[str, ...]:
        """The phenomena, in the order they first occur."""
        return tuple(dict.fromkeys(item.phenomenon for item in self.items))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of faithful change, likewise."""
        return tuple(dict.fromkeys(item.kind for item in self.items))

    def corpus(self) -> Corpus:
        """References as segments; two systems, of faithful and of damaged renderings."""
        segments = tuple(
            Segment(item.id, (Sentence(item.reference, self.lang),)) for item in self.items
        )
        return Corpus(
            segments,
            {
                FAITHFUL: tuple(Sentence(item.faithful, self.lang) for item in self.items),
                DAMAGED: tuple(Sentence(item.damaged, self.lang) for item in self.items),
            },
        )


@dataclass(frozen=True, slots=True)
class Share:
    """In how many items the faithful one wins, with Wilson's interval.

    Attributes:
        items: How many there are.
        wins: In how many the faithful one is better.
        ties: In how many both get the same score; they count half.
        value: The share, 0 to 1.
        low: Lower end of the interval.
        high: Upper end.
        confidence: What the interval holds.
    """

    items: int
    wins: int
    ties: int
    value: float
    low: float
    high: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a metric said of one item."""

    item: Item
    faithful: float
    damaged: float
    win: float
    """1 if the faithful one is better, 0.5 for a tie, else 0."""


@dataclass(frozen=True, slots=True)
class MeaningResult:
    """A metric's answer to a suite."""

    metric: str
    """The specification, or the command."""
    signature: Signature | None
    higher_is_better: bool
    outcomes: tuple[Outcome, ...]

    def overall(self) -> Share:
        """The share over all items."""
        return tally([one.win for one in self.outcomes])

    def by_phenomenon(self) -> dict[str, Share]:
        """A share for each phenomenon, in order."""
        names = dict.fromkeys(one.item.phenomenon for one in self.outcomes)
        return {
            name: tally([one.win for one in self.outcomes if one.item.phenomenon == name])
            for name in names
        }

    def by_kind(self) -> dict[str, Share]:
        """A share for each kind of faithful change, in order."""
        names = dict.fromkeys(one.item.kind for one in self.outcomes)
        return {
            name: tally([one.win for one in self.outcomes if one.item.kind == name])
            for name in names
        }


def wilson(successes: float, count: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a share (Wilson 1927); successes may be halves, where ties are."""
    if count == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / count
    middle = share + z * z / (2 * count)
    reach = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    # The ends are exact where all or none succeed; floating point would miss them by a hair.
    low = 0.0 if successes == 0 else (middle - reach) / scale
    high = 1.0 if successes == count else (middle + reach) / scale
    return low, high


def tally(won: Sequence[float], confidence: float = 0.95) -> Share:
    """The share of a list of wins (1), ties (0.5) and losses (0); one at least."""
    count = len(won)
    wins = sum(one == 1 for one in won)
    halves = sum(one == 0.5 for one in won)
    successes = wins + halves / 2
    low, high = wilson(successes, count, confidence)
    return Share(count, wins, halves, successes / count, low, high, confidence)


def tied(first: float, second: float) -> bool:
    """Whether two scores are the same number, if perhaps added up in another order."""
    return math.isclose(first, second, rel_tol=_NEAR, abs_tol=_NEAR * _NEAR)


def shipped() -> Suite:
    """The suite that comes with the package."""
    data = resources.files("meantime.metaeval").joinpath("data", _FILE).read_bytes()
    return _parse(_FILE, "meaning.en", VERSION, data, "en", table=False)


def read_suite(path: str | Path, *, lang: str = "en") -> Suite:
    """A suite of one's own: JSONL, or TSV with a header, with the fields of `Item`.

    Raises:
        InputError: The file cannot be read, or holds no item.
        FormatError: A line is not an item; the message names file and line.
    """
    data = load(path)
    suffix = without_gzip(path).suffix.lower()
    head = decode(display(path), data).lstrip()[:1]
    table = suffix == ".tsv" or (suffix != ".jsonl" and head != "{")
    return _parse(display(path), stem(path), None, data, lang, table=table)


def _parse(
    place: str, name: str, version: str | None, data: bytes, lang: str, *, table: bool
) -> Suite:
    content = decode(place, data)
    rows = _table(place, content) if table else _objects(place, content)
    items: list[Item] = []
    seen: dict[str, int] = {}
    for line, row in rows:
        item = Item(**row)
        if item.id in seen:
            raise FormatError(
                f"{place}:{line}: the id {item.id!r} is already in line {seen[item.id]}; "
                "give every item an id of its own"
            )
        seen[item.id] = line
        items.append(item)
    if not items:
        raise InputError(
            f"{place}: holds no item; write one a line, with the fields {', '.join(FIELDS)}"
        )
    return Suite(name, version, hashlib.sha256(data).hexdigest(), tuple(items), lang)


def _objects(place: str, content: str) -> Iterator[tuple[int, dict[str, str]]]:
    for number, line in enumerate(lines(content), start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise FormatError(
                f"{place}:{number}: not JSON ({error}); write one object a line"
            ) from error
        if not isinstance(found, dict):
            raise FormatError(
                f"{place}:{number}: not an object; write {{'id': …, 'phenomenon': …, …}}"
            )
        yield number, _checked(place, number, found)


def _table(place: str, content: str) -> Iterator[tuple[int, dict[str, str]]]:
    rows = lines(content)
    if not rows:
        return
    header = [name.strip().lower() for name in rows[0].split("\t")]
    missing = [name for name in FIELDS if name not in header]
    twice = [name for name in FIELDS if header.count(name) > 1]
    if missing or twice:
        wrong = f"no column {missing[0]}" if missing else f"two columns {twice[0]}"
        raise FormatError(
            f"{place}:1: {wrong}; begin with a header that names {', '.join(FIELDS)}, "
            "separated by tabs"
        )
    for number, line in enumerate(rows[1:], start=2):
        if not line.strip():
            continue
        values = line.split("\t")
        if len(values) != len(header):
            raise FormatError(
                f"{place}:{number}: {len(values)} columns, the header has {len(header)}; "
                "separate with tabs"
            )
        yield number, _checked(place, number, dict(zip(header, values, strict=True)))


def _checked(place: str, number: int, found: Mapping[str, object]) -> dict[str, str]:
    """The fields of an item: all there, texts, not empty, on one line."""
    row = {}
    for name in FIELDS:
        value = found.get(name)
        if value is None:
            raise FormatError(
                f"{place}:{number}: no {name!r}; an item has the fields {', '.join(FIELDS)}"
            )
        if not isinstance(value, str):
            raise FormatError(f"{place}:{number}: {name!r} is not a text; put it between quotes")
        if not value.strip():
            raise FormatError(f"{place}:{number}: {name!r} is empty; fill it or leave the item out")
        if any(mark in value for mark in "\t\n\r"):
            raise FormatError(
                f"{place}:{number}: {name!r} holds a tab or line break; put a space there"
            )
        row[name] = value
    if row[FAITHFUL] == row[DAMAGED]:
        raise FormatError(
            f"{place}:{number}: faithful and damaged are the same text, so nothing can be told; "
            "change one of them"
        )
    return row


def ask(
    suite: Suite,
    metrics: Sequence[str | Metric],
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    analyser: Analyser | None = None,
) -> list[MeaningResult]:
    """Which rendering of each item metrics take for the better one.

    What a metric binds to a reference set (information weights, document frequencies) is bound
    to the references of the suite.

    Args:
        suite: The items.
        metrics: Names with or without options, or metrics.
        jobs: Number of processes; 0 for one a core.
        progress: Told how far the work has come.
        analyser: For metrics that need analysis; by default the shipped one.

    Raises:
        InputError: A metric gave something that is no number.
    """
    measured = measure(
        suite.corpus(),
        metrics,
        lang=suite.lang,
        jobs=jobs,
        progress=progress,
        analyser=analyser,
    )
    results = []
    for index, metric in enumerate(measured.metrics):
        faithful, damaged = (
            [metric.score(row, Level.SEGMENT).value for row in measured.rows[system, index]]
            for system in (FAITHFUL, DAMAGED)
        )
        results.append(
            judge(
                suite,
                measured.specifications[index],
                faithful,
                damaged,
                higher_is_better=metric.higher_is_better,
                signature=measured.signatures[index],
            )
        )
    return results


def lines_for_command(suite: Suite) -> list[tuple[str, str]]:
    """What an outside command is asked: hypothesis and reference, two lines an item."""
    asked = []
    for item in suite.items:
        asked += [(item.faithful, item.reference), (item.damaged, item.reference)]
    return asked


def judge(
    suite: Suite,
    metric: str,
    faithful: Sequence[float],
    damaged: Sequence[float],
    *,
    higher_is_better: bool = True,
    signature: Signature | None = None,
) -> MeaningResult:
    """Compare scores somebody computed, in the order of the items.

    Scores that differ by less than a billionth of their size are a tie: they are the same number,
    added up in another order.

    Raises:
        LengthMismatch: There are more or fewer scores than items.
        InputError: A score is not a number.
    """
    for side, scores in ((FAITHFUL, faithful), (DAMAGED, damaged)):
        if len(scores) != len(suite.items):
            raise LengthMismatch(
                f"{metric}: {len(scores)} scores of {side} renderings for {len(suite.items)} "
                "items; give one for each"
            )
    outcomes = []
    for item, good, bad in zip(suite.items, faithful, damaged, strict=True):
        for side, value in ((FAITHFUL, good), (DAMAGED, bad)):
            if math.isnan(value):
                raise InputError(
                    f"{metric}: the score of item {item.id}, {side}, is not a number; "
                    "mend the metric, or leave the item out with a suite of your own"
                )
        win = 0.5 if tied(good, bad) else float((good > bad) == higher_is_better)
        outcomes.append(Outcome(item, float(good), float(bad), win))
    return MeaningResult(metric, signature, higher_is_better, tuple(outcomes))
