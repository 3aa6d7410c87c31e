"""Candidates of all segments as arrays: read, checked, merged, without duplicates."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NoReturn

import numpy
from numpy.typing import NDArray

from meantime.errors import FormatError, InputError, UsageError
from meantime.formats.nbest import Candidate

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SPARSE = ("*_*",)
"""Names of features that a line may lack: as Moses, those with an underscore."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """What can be chosen from, segment by segment.

    Candidate c of segment s has first[s] <= c < first[s + 1]. Candidates with the same text
    in the same segment share one entry of `texts`, and so what a metric has measured of it.
    """

    names: tuple[str, ...]
    """Features that every candidate has."""
    features: NDArray[numpy.float64]
    """(candidates, features)."""
    sparse_names: tuple[str, ...]
    sparse: csr_array | None
    """(candidates, sparse features); what is not stated is 0."""
    first: NDArray[numpy.int64]
    """Where each segment begins, and the end."""
    texts: tuple[tuple[int, str], ...]
    """Each distinct text with its segment."""
    text: NDArray[numpy.int64]
    """Of each candidate, the number of its text."""
    scores: NDArray[numpy.float64]
    """The decoder's total scores, NaN where there is none."""
    origin: NDArray[numpy.int64]
    """Of each candidate, which list it came in first."""

    def __len__(self) -> int:
        return len(self.text)

    @property
    def segments(self) -> int:
        return len(self.first) - 1

    @property
    def all_names(self) -> tuple[str, ...]:
        return (*self.names, *self.sparse_names)

    def matrix(self) -> NDArray[numpy.float64]:
        """All features, sparse ones too, as one array."""
        if self.sparse is None:
            return self.features
        return numpy.hstack([self.features, self.sparse.toarray()])

    def model(self, weights: NDArray[numpy.float64]) -> NDArray[numpy.float64]:
        """What each candidate scores with these weights, in the order of `all_names`."""
        dense = self.features @ weights[: len(self.names)]
        if self.sparse is None:
            return dense
        total: NDArray[numpy.float64] = dense + self.sparse @ weights[len(self.names) :]
        return total

    def best(self, values: NDArray[numpy.float64]) -> NDArray[numpy.int64]:
        """In each segment the candidate of the greatest value, the first of equals."""
        return numpy.array(
            [
                start + int(numpy.argmax(values[start:end]))
                for start, end in zip(self.first[:-1], self.first[1:], strict=True)
            ],
            dtype=numpy.int64,
        )

    def chosen(self, selection: Iterable[int]) -> list[str]:
        """The texts of some candidates."""
        return [self.texts[self.text[index]][1] for index in selection]


class Gathering:
    """Takes lists one after the other, checks every line, and makes `Candidates` of them."""

    def __init__(
        self,
        segments: int | None,
        *,
        sparse: Sequence[str] = SPARSE,
        what: str = "references",
        repeats: bool = False,
    ) -> None:
        """Begin with nothing.

        Args:
            segments: How many there must be; unknown, the greatest number says it.
            sparse: Patterns of the names of features that a line may lack.
            what: What has that many segments, for messages.
            repeats: Whether a candidate that stands there twice is two, as samples are.
        """
        self._segments = segments
        self._what = what
        self._repeats = repeats
        self._patterns = tuple(sparse)
        self._is_sparse: dict[str, bool] = {}
        self._split: dict[tuple[str, ...], _Columns] = {}
        self._names: tuple[str, ...] | None = None
        self._origin = ""
        self._places: dict[str, int] = {}
        self._sparse_names: dict[str, int] = {}
        self._text_numbers: dict[tuple[int, str], int] = {}
        self._seen: dict[tuple[int, bytes], int] = {}
        self._dense: list[NDArray[numpy.float64]] = []
        self._sparse: list[tuple[tuple[int, ...], tuple[float, ...]]] = []
        self._text: list[int] = []
        self._scores: list[float] = []
        self._lists: list[int] = []
        self._count = 0

    def add(self, place: str, candidates: Iterable[Candidate], *, complete: bool = True) -> Added:
        """Take a list, all of it or, where something is wrong with it, nothing.

        Args:
            place: Its file, for messages.
            candidates: What it holds.
            complete: Whether it must have candidates of every segment.

        Raises:
            FormatError: A line has other features than the first, or a segment that is not
                there.
            InputError: A segment has no candidate.
        """
        begin = _Mark(
            len(self._text), len(self._text_numbers), len(self._seen), len(self._sparse_names)
        )
        named = self._names
        try:
            added = self._add(place, candidates, complete)
        except BaseException:
            self._go_back(begin, named)
            raise
        self._count += 1
        return added

    def _go_back(self, begin: _Mark, named: tuple[str, ...] | None) -> None:
        """Forget what has come since."""
        for column in (self._dense, self._sparse, self._text, self._scores, self._lists):
            del column[begin.entries :]
        for known, count in (
            (self._text_numbers, begin.texts),
            (self._seen, begin.seen),
            (self._sparse_names, begin.sparse_names),
        ):
            # What came last goes first, as dictionaries keep their order.
            while len(known) > count:
                known.popitem()
        # It speaks of columns that may be gone.
        self._split.clear()
        self._names = named
        if named is None:
            self._places = {}

    def _add(self, place: str, candidates: Iterable[Candidate], complete: bool) -> Added:
        read = new = 0
        there: dict[int, int] = {}
        firsts: dict[int, int] = {}
        members: list[tuple[int, int]] = []
        for candidate in candidates:
            read += 1
            number = candidate.segment
            there[number] = there.get(number, 0) + 1
            self._check_segment(place, candidate)
            dense, places, values = self._features(place, candidate)
            text = self._text_numbers.setdefault((number, candidate.text), len(self._text_numbers))
            firsts.setdefault(number, text)
            key = dense.tobytes() + repr((places, values)).encode() if values else dense.tobytes()
            entry = self._seen.setdefault((text, key), len(self._text))
            if self._repeats:
                entry = len(self._text)
            members.append((number, entry))
            if entry < len(self._text):
                continue
            new += 1
            self._dense.append(dense)
            self._sparse.append((places, values))
            self._text.append(text)
            self._scores.append(numpy.nan if candidate.score is None else candidate.score)
            self._lists.append(self._count)
        if complete:
            self.check_complete(place, there)
        return Added(read, new, firsts, tuple(members))

    def _check_segment(self, place: str, candidate: Candidate) -> None:
        if self._segments is not None and candidate.segment >= self._segments:
            raise FormatError(
                f"{place}:{candidate.line}: segment {candidate.segment}, but the {self._what} "
                f"have {self._segments}, numbered 0 to {self._segments - 1}; give those of the "
                "same text"
            )

    def check_complete(self, place: str, there: Iterable[int]) -> None:
        """Refuse a list that lacks candidates for a segment."""
        found = set(there)
        count = max(found, default=-1) + 1 if self._segments is None else self._segments
        missing = count - len(found)
        if missing or not count:
            # Not by listing all that are missing: one wrong number may say there are billions.
            lacking = next(number for number in itertools.count() if number not in found)
            raise InputError(
                f"{place}: no candidate for segment {lacking} "
                f"({missing or 'all'} of {count} segments have none, counted from 0); every "
                "segment needs one"
            )

    def _features(
        self, place: str, candidate: Candidate
    ) -> tuple[NDArray[numpy.float64], tuple[int, ...], tuple[float, ...]]:
        columns = self._split.get(candidate.names)
        if columns is None:
            columns = self._columns(place, candidate)
            self._split[candidate.names] = columns
        dense = numpy.empty(len(columns.dense))
        values = candidate.values
        for position, target in columns.dense:
            dense[target] = values[position]
        if not columns.sparse:
            return dense, (), ()
        kept = [(target, values[p]) for p, target in columns.sparse if values[p]]
        kept.sort()
        return dense, tuple(k for k, _ in kept), tuple(v for _, v in kept)

    def _columns(self, place: str, candidate: Candidate) -> _Columns:
        dense: list[tuple[int, str]] = []
        sparse: list[tuple[int, str]] = []
        for position, name in enumerate(candidate.names):
            (sparse if self.may_lack(name) else dense).append((position, name))
        if self._names is None:
            self._names = tuple(name for _, name in dense)
            self._places = {name: place for place, name in enumerate(self._names)}
            self._origin = f"{place}:{candidate.line}"
        found = {name for _, name in dense}
        extra = next((name for _, name in dense if name not in self._places), None)
        missing = next((name for name in self._names if name not in found), None)
        if extra or missing:
            what = f"has the feature {extra}, which" if extra else f"lacks the feature {missing}"
            rest = f"{self._origin} does not have" if extra else f", which {self._origin} has"
            raise FormatError(
                f"{place}:{candidate.line}: {what}{' ' if extra else ''}{rest}; all lines must "
                "have the same features, but for sparse ones (name them with --sparse)"
            )
        return _Columns(
            tuple((position, self._places[name]) for position, name in dense),
            tuple(
                (position, self._sparse_names.setdefault(name, len(self._sparse_names)))
                for position, name in sparse
            ),
        )

    def check_weights(self, place: str, candidate: Candidate, weights: Mapping[str, float]) -> None:
        """Refuse a list whose features are not those that are weighed, by its first line."""
        names = candidate.names
        lacking = [name for name in names if name not in weights and not self.may_lack(name)]
        extra = [name for name in weights if name not in names and not self.may_lack(name)]
        if not names:
            what = "no features; write them behind the text"
        elif lacking:
            what = f"the feature {lacking[0]} has no weight to begin with; give it one"
        elif extra:
            what = f"lacks the feature {extra[0]}, which has a weight; write it, or drop the weight"
        else:
            return
        raise FormatError(f"{place}:{candidate.line}: {what}")

    def may_lack(self, name: str) -> bool:
        """Whether a line may be without this feature."""
        known = self._is_sparse.get(name)
        if known is None:
            known = any(fnmatchcase(name, pattern) for pattern in self._patterns)
            self._is_sparse[name] = known
        return known

    def agreement(self, added: Added, weights: Mapping[str, float]) -> float:
        """In what share of the segments the first of a list has the greatest weighted sum."""
        dense = numpy.array([weights.get(name, 0.0) for name in self._names or ()])
        sparse = {place: weights.get(name, 0.0) for name, place in self._sparse_names.items()}
        best: dict[int, float] = {}
        first: dict[int, float] = {}
        for segment, entry in added.members:
            places, values = self._sparse[entry]
            value = float(self._dense[entry] @ dense)
            value += sum(sparse[p] * v for p, v in zip(places, values, strict=True))
            first.setdefault(segment, value)
            best[segment] = max(best.get(segment, value), value)
        # Decoders print few decimals: what is equal to them may differ a little here.
        near = [first[s] >= best[s] - 1e-3 * (1 + abs(best[s])) for s in best]
        return sum(near) / len(near) if near else 1.0

    def build(self) -> Candidates:
        """All that was taken, in order of segments, within them of lists and lines."""
        texts = tuple(self._text_numbers)
        text = numpy.array(self._text, dtype=numpy.int64)
        owner = numpy.array([segment for segment, _ in texts], dtype=numpy.int64)
        count = self._segments
        if count is None:
            count = int(owner.max(initial=-1)) + 1
        segments = owner[text] if len(text) else owner
        order = numpy.argsort(segments, kind="stable")
        first = numpy.searchsorted(segments[order], numpy.arange(count + 1))
        names = self._names or ()
        features = numpy.array(self._dense, dtype=numpy.float64).reshape(len(text), len(names))
        return Candidates(
            names=names,
            features=features[order],
            sparse_names=tuple(self._sparse_names),
            sparse=self._matrix(order),
            first=first.astype(numpy.int64),
            texts=texts,
            text=text[order],
            scores=numpy.array(self._scores, dtype=numpy.float64)[order],
            origin=numpy.array(self._lists, dtype=numpy.int64)[order],
        )

    def _matrix(self, order: NDArray[numpy.int64]) -> Any:
        if not self._sparse_names:
            return None
        from scipy.sparse import csr_array

        rows = [self._sparse[index] for index in order]
        starts = numpy.zeros(len(rows) + 1, dtype=numpy.int64)
        numpy.cumsum([len(places) for places, _ in rows], out=starts[1:])
        places = numpy.array([p for some, _ in rows for p in some], dtype=numpy.int64)
        values = numpy.array([v for _, some in rows for v in some], dtype=numpy.float64)
        return csr_array((values, places, starts), shape=(len(rows), len(self._sparse_names)))


@dataclass(frozen=True, slots=True)
class _Mark:
    """How much there was."""

    entries: int
    texts: int
    seen: int
    sparse_names: int


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where the features of a line go: (position in the line, column)."""

    dense: tuple[tuple[int, int], ...]
    sparse: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Added:
    """What a list brought."""

    read: int
    new: int
    """Candidates that were not there yet."""
    firsts: Mapping[int, int]
    """Of each segment, the text that stood first."""
    members: tuple[tuple[int, int], ...]
    """Of each line, its segment and the number of its candidate, in the order of arrival."""


def arrange(
    weights: Mapping[str, float], candidates: Candidates, place: str
) -> NDArray[numpy.float64]:
    """Weights in the order of the candidates' features; a sparse feature without one has 0.

    Raises:
        InputError: A feature has no weight, or a weight no feature.
    """
    lacking = [name for name in candidates.names if name not in weights]
    if lacking:
        raise InputError(
            f"{place}: no weight for the feature {lacking[0]}"
            + (f" ({len(lacking)} have none)" if len(lacking) > 1 else "")
            + "; every feature that is no sparse one needs a weight"
        )
    known = set(candidates.all_names)
    if not candidates.sparse_names:
        extra = [name for name in weights if name not in known]
        if extra:
            raise InputError(
                f"{place}: the lists have no feature {extra[0]}; they have "
                f"{', '.join(candidates.names) or 'none'}"
            )
    return numpy.array([weights.get(name, 0.0) for name in candidates.all_names])


def refuse_bare(candidates: Candidates, place: str) -> None:
    """Refuse lists without features where weights are wanted."""
    if not candidates.all_names:
        raise_bare(place)


def raise_bare(place: str) -> NoReturn:
    raise UsageError(
        f"{place}: the candidates have no features, so there is nothing to weigh; give lists "
        "with features"
    )
