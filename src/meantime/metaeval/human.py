"""What people said of translations: scores, preferences, and the judgements they are made of.

A `JudgedPair` is a translation with its human score; a `Preference` says which of two is better;
a `Rating` is what one judge said of one translation. A segment is told apart by language pair,
domain, document and number together, for the same number stands in every language pair.

A score of None means "not rated". It is never zero, and in a `Grid` it is NaN.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy
import numpy.typing

from meantime.errors import InputError, LengthMismatch, UsageError
from meantime.types import Pair, Segment, Sentence

Floats: TypeAlias = numpy.typing.NDArray[numpy.float64]
Indices: TypeAlias = numpy.typing.NDArray[numpy.int64]
Duplicates: TypeAlias = Literal["refuse", "average"]

SPLITS = ("lp", "domain", "document", "system")
_HUMAN = re.compile(r"(?:ref|reference|human)(?:[-_. ]?[a-z0-9])?(?:\.[0-9]+)?", re.IGNORECASE)
_SEPARATORS = re.compile(r"[-_. ]+")


class SegmentKey(NamedTuple):
    """What tells a segment apart."""

    lp: str
    domain: str
    document: str
    segment: str

    def __str__(self) -> str:
        return "/".join(part for part in self if part) or "(unnamed)"


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A translation and what people said of it.

    `references` are pairs of an id and a text. `judgements` is how many were averaged, `raw` the
    score before normalisation, where known. `line` is where it was read, 0 where nowhere.
    """

    lp: str
    domain: str
    document: str
    segment: str
    system: str
    source: str | None
    references: tuple[tuple[str, str], ...]
    hypothesis: str | None
    score: float | None
    is_human: bool = False
    judgements: int | None = None
    raw: float | None = None
    line: int = field(default=0, compare=False)

    @property
    def key(self) -> SegmentKey:
        return SegmentKey(self.lp, self.domain, self.document, self.segment)


@dataclass(frozen=True, slots=True)
class Preference:
    """Two translations of a segment, of which people preferred one."""

    lp: str
    domain: str
    document: str
    segment: str
    source: str | None
    reference: str | None
    better_system: str
    better: str
    worse_system: str
    worse: str
    line: int = field(default=0, compare=False)

    @property
    def key(self) -> SegmentKey:
        return SegmentKey(self.lp, self.domain, self.document, self.segment)


@dataclass(frozen=True, slots=True)
class Rating:
    """One judge's score for one translation."""

    judge: str
    system: str
    segment: str
    score: float | None
    lp: str = ""
    domain: str = ""
    document: str = ""
    source: str | None = None
    references: tuple[tuple[str, str], ...] = ()
    hypothesis: str | None = None
    is_human: bool = False
    line: int = field(default=0, compare=False)

    @property
    def key(self) -> SegmentKey:
        return SegmentKey(self.lp, self.domain, self.document, self.segment)

    @property
    def item(self) -> tuple[SegmentKey, str]:
        """What was judged: a segment and a system."""
        return self.key, self.system


@dataclass(frozen=True, slots=True)
class Ratings:
    """The judgements of several judges, one row a judgement."""

    name: str
    rows: tuple[Rating, ...]
    kind: str = ""

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges' names, in order of appearance."""
        return tuple(dict.fromkeys(row.judge for row in self.rows))

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class Preferences:
    """Preferences, one row each."""

    name: str
    rows: tuple[Preference, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def split_by(self, column: str) -> dict[str, Preferences]:
        """The rows of each language pair, domain or document.

        Raises:
            UsageError: There is no such column to split by.
        """
        _check_column(column, SPLITS[:3])
        groups: dict[str, list[Preference]] = {}
        for row in self.rows:
            groups.setdefault(getattr(row, column), []).append(row)
        return {value: replace(self, rows=tuple(rows)) for value, rows in groups.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Human scores as an array of segments by systems.

    Attributes:
        segments: A name for each row, of those parts of `keys` that are used at all.
        systems: The name of each column.
        human: The scores; NaN where a translation was not rated or is not there.
        index: For each cell the number of its row in `HumanScores.pairs`, or -1.
        keys: What tells each segment apart, in full.
    """

    segments: tuple[str, ...]
    systems: tuple[str, ...]
    human: Floats
    index: Indices
    keys: tuple[SegmentKey, ...] = ()

    def spread(self, values: Sequence[float] | Floats) -> Floats:
        """Put one value for each row of `HumanScores.pairs` into the cells; NaN elsewhere.

        Raises:
            LengthMismatch: There are fewer values than rows.
        """
        array = numpy.asarray(values, dtype=numpy.float64)
        if array.ndim != 1 or (self.index.size and int(self.index.max()) >= len(array)):
            raise LengthMismatch(
                f"{array.size} values for a grid of {int(self.index.max()) + 1} rows; "
                "give one value for each judged pair"
            )
        cells = numpy.full(self.index.shape, numpy.nan)
        there = self.index >= 0
        cells[there] = array[self.index[there]]
        return cells


@dataclass(frozen=True, slots=True)
class HumanScores:
    """Translations with human scores.

    `kind` says what the scores are: "mqm", "da", "da+sqm", "ratings", or "" where not known.
    `by_system` holds what people said of systems as a whole, by language pair and system.
    """

    name: str
    kind: str
    pairs: tuple[JudgedPair, ...]
    by_system: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems' names, in order of appearance."""
        return tuple(dict.fromkeys(pair.system for pair in self.pairs))

    @property
    def scores(self) -> Floats:
        """The score of each pair, NaN where it was not rated."""
        values = [numpy.nan if pair.score is None else pair.score for pair in self.pairs]
        return numpy.array(values, dtype=numpy.float64)

    def without_human_translations(self) -> HumanScores:
        """Only what machines translated."""
        return replace(self, pairs=tuple(pair for pair in self.pairs if not pair.is_human))

    def split_by(self, column: str) -> dict[str, HumanScores]:
        """The pairs of each language pair, domain, document or system, in order of appearance.

        Raises:
            UsageError: There is no such column to split by.
        """
        _check_column(column, SPLITS)
        groups: dict[str, list[JudgedPair]] = {}
        for pair in self.pairs:
            groups.setdefault(getattr(pair, column), []).append(pair)
        return {value: replace(self, pairs=tuple(pairs)) for value, pairs in groups.items()}

    def grid(self, *, duplicates: Duplicates = "refuse") -> Grid:
        """Arrange the scores by segment and system.

        Args:
            duplicates: What to do where two rows are the same system's translation of the same
                segment: "refuse", or "average" the scores that are there (the cell's index is
                then that of the first row).

        Raises:
            InputError: Two rows speak of the same cell.
        """
        if duplicates not in ("refuse", "average"):
            raise UsageError(f"duplicates={duplicates!r}; use refuse or average")
        rows: dict[SegmentKey, int] = {}
        columns: dict[str, int] = {}
        first: dict[tuple[int, int], int] = {}
        total: dict[tuple[int, int], list[float]] = {}
        for number, pair in enumerate(self.pairs):
            row = rows.setdefault(pair.key, len(rows))
            cell = (row, columns.setdefault(pair.system, len(columns)))
            if first.setdefault(cell, number) != number and duplicates == "refuse":
                raise self._twice(self.pairs[first[cell]], pair)
            if pair.score is not None:
                total.setdefault(cell, []).append(pair.score)
        human = numpy.full((len(rows), len(columns)), numpy.nan)
        index = numpy.full((len(rows), len(columns)), -1, dtype=numpy.int64)
        for cell, number in first.items():
            index[cell] = number
        for cell, scores in total.items():
            human[cell] = scores[0] if len(scores) == 1 else sum(scores) / len(scores)
        return Grid(_names(rows), tuple(columns), human, index, tuple(rows))

    def _twice(self, earlier: JudgedPair, later: JudgedPair) -> InputError:
        system = f"system {later.system!r}" if later.system else "no system"
        return InputError(
            f"{self.name}: segment {later.key} and {system} stand twice, in lines {earlier.line} "
            f"and {later.line}; remove one; where two people judged it, say which in a column "
            "'judge'; in Python duplicates='average' averages them"
        )

    def as_pairs(self) -> tuple[Pair, ...]:
        """Pairs that a metric can measure, one for each row and in their order.

        The languages are those of the language pair, else English ("und" for the source). Rows
        of the same segment share it.

        Raises:
            InputError: A row has no hypothesis or no reference text.
        """
        segments: dict[tuple[SegmentKey, tuple[tuple[str, str], ...]], Segment] = {}
        pairs = []
        for pair in self.pairs:
            if pair.hypothesis is None or not pair.references:
                lacking = "hypothesis" if pair.hypothesis is None else "reference"
                raise InputError(
                    f"{self.name}:{pair.line}: no {lacking}, so nothing can be measured; "
                    "use a file that has the texts"
                )
            source_lang, _, lang = pair.lp.partition("-")
            found = segments.get((pair.key, pair.references))
            if found is None:
                found = Segment(
                    str(pair.key),
                    tuple(Sentence(text, lang or "en") for _, text in pair.references),
                    None if pair.source is None else Sentence(pair.source, source_lang or "und"),
                    pair.document or None,
                )
                segments[pair.key, pair.references] = found
            pairs.append(Pair(Sentence(pair.hypothesis, lang or "en"), found))
        return tuple(pairs)


def is_human_name(system: str, references: Iterable[str] = ()) -> bool:
    """Whether a system is called as human translations are: `ref-A`, `refB`, `Human-A.0`.

    So is one that is called like a reference, whatever that is, up to case and punctuation.
    """
    if not system:
        return False
    plain = _plain(system)
    return bool(_HUMAN.fullmatch(system)) or any(plain == _plain(name) for name in references)


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", name).casefold()


def _names(keys: Iterable[SegmentKey]) -> tuple[str, ...]:
    """Names of segments that leave out what no segment has."""
    listed = list(keys)
    used = [place for place in range(4) if any(key[place] for key in listed)]
    return tuple("/".join(key[place] for place in used) for key in listed)


def _check_column(column: Any, columns: Sequence[str]) -> None:
    if column not in columns:
        raise UsageError(f"cannot split by {column!r}; use one of {', '.join(columns)}")
