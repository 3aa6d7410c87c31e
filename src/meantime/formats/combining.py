"""One corpus out of several files.

The first file whose ids stand in it gives the segments their ids, documents and order; without
such a file they are numbered. Files of the same format that state ids are matched by document
and id (XLIFF files that hold one document each, by id alone); of different formats, by document
and id where both have the same, else in order. Files without ids are matched in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from meantime.errors import FormatError, InputError, LengthMismatch, UsageError
from meantime.formats.opening import display, is_standard_input, stem
from meantime.formats.table import UNNAMED, Entry, Key, Part, Table
from meantime.types import Corpus, Segment, Sentence

_REMEDIES = {
    Part.SOURCE: "give a file with a source for every segment",
    Part.REFERENCE: "give a file with a reference for every segment",
    Part.HYPOTHESIS: "give a file with a hypothesis for every segment",
}
_NAMED_BY_COLUMN = frozenset({"tsv", "csv", "jsonl"})


@dataclass(frozen=True, slots=True)
class Given:
    """A file the caller gave, read."""

    path: str | Path
    table: Table

    @property
    def part(self) -> Part:
        """What it was read for."""
        return self.table.request.part

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return self.table.text.name


def combine(files: Sequence[Given]) -> Corpus:
    """Bring files together; references and systems in the order of the files.

    Raises:
        FormatError: A file lacks what it was read for, or segments do not match.
        LengthMismatch: Files have different numbers of segments.
        InputError: Two systems have the same name.
    """
    for given in files:
        _check_part(given)
    frame = next((given for given in files if given.table.keyed), files[0])
    aligned = [_align(frame, given) for given in files]
    segments = []
    for place, entry in enumerate(frame.table.entries):
        column = [entries[place] for entries in aligned]
        references = tuple(one for entry in column for one in entry.references)
        source = next((entry.source for entry in column if entry.source is not None), None)
        segments.append(Segment(entry.key.id, references, source, entry.key.document))
    return Corpus(tuple(segments), _outputs(files, aligned))


def _check_part(given: Given) -> None:
    for entry in given.table.entries:
        held = {
            Part.EVERYTHING: True,
            Part.SOURCE: entry.source is not None,
            Part.REFERENCE: bool(entry.references),
            Part.HYPOTHESIS: bool(entry.hypotheses),
        }
        if not held[given.part]:
            raise FormatError(
                f"{given.name}:{entry.line}: no {given.part} for {entry.key}; "
                f"{_REMEDIES[given.part]}"
            )


def _align(frame: Given, given: Given) -> tuple[Entry, ...]:
    """The entries of a file in the order of the frame."""
    ours, theirs = frame.table.entries, given.table.entries
    if given is frame:
        return theirs
    same_format = frame.table.request.format == given.table.request.format
    if frame.table.keyed and given.table.keyed:
        strip = same_format and frame.table.request.format == "xliff" and _single(ours, theirs)
        wanted = {_key(entry, strip): entry for entry in ours}
        have = {_key(entry, strip): entry for entry in theirs}
        if set(wanted) == set(have):
            return tuple(have[key] for key in wanted)
        if same_format:
            raise _unmatched(frame, given, wanted, have)
    if len(ours) != len(theirs):
        raise LengthMismatch(_counts(frame, given))
    return theirs


def _counts(frame: Given, given: Given) -> str:
    return (
        f"{given.name} has {len(given.table.entries)} segments, "
        f"{frame.name} has {len(frame.table.entries)}; every file must have the same segments "
        "in the same order: check for missing or additional lines"
    )


def _single(*sides: Sequence[Entry]) -> bool:
    return all(len({entry.key.document for entry in entries}) == 1 for entries in sides)


def _key(entry: Entry, strip: bool) -> Key:
    return Key(None, entry.key.id) if strip else entry.key


def _unmatched(
    frame: Given, given: Given, wanted: Mapping[Key, Entry], have: Mapping[Key, Entry]
) -> InputError:
    missing = next((entry for key, entry in wanted.items() if key not in have), None)
    # With none missing there is one too many, as the two are not the same.
    entry = missing or next(entry for key, entry in have.items() if key not in wanted)
    without, having = (given, frame) if missing else (frame, given)
    what = f"{without.name} lacks {entry.key}, which is in {having.name}:{entry.line}"
    if len(wanted) != len(have):
        return LengthMismatch(f"{what}; {_counts(frame, given)}")
    return FormatError(f"{what}; give every file the same documents and ids")


def _outputs(
    files: Sequence[Given], aligned: Sequence[tuple[Entry, ...]]
) -> dict[str, tuple[Sentence, ...]]:
    labels = _labels([given for given in files if _named_by_file(given)])
    outputs: dict[str, tuple[Sentence, ...]] = {}
    for given, entries in zip(files, aligned, strict=True):
        for system in given.table.systems:
            name = labels.get(id(given)) or system or given.table.text.stem
            if name in outputs:
                raise InputError(
                    f"{given.name}: system {name!r} is there already; rename the file or the system"
                )
            outputs[name] = tuple(entry.hypotheses[system] for entry in entries)
    return outputs


def _named_by_file(given: Given) -> bool:
    """Whether the file's only system is called after the file."""
    systems = given.table.systems
    if len(systems) != 1:
        return False
    by_column = given.table.request.format in _NAMED_BY_COLUMN
    return systems[0] == UNNAMED or (given.part is Part.HYPOTHESIS and not by_column)


def _labels(files: Sequence[Given]) -> dict[int, str]:
    """Names after files: the stem, with as many folders before it as tell them apart."""
    labels = {}
    for given in files:
        rivals = [other for other in files if stem(other.path) == stem(given.path)]
        labels[id(given)] = _label(given, rivals)
    return labels


def _label(given: Given, rivals: Sequence[Given]) -> str:
    depth = 0
    others = [_folders(other.path) for other in rivals if other is not given]
    folders = _folders(given.path)
    if folders in others:
        raise InputError(
            f"{display(given.path)}: two hypothesis files make a system {stem(given.path)!r}; "
            "rename one, and give each file once"
        )
    while any(_last(folders, depth) == _last(other, depth) for other in others):
        depth += 1
    return "/".join([*_last(folders, depth), stem(given.path)])


def _folders(path: str | Path) -> tuple[str, ...]:
    return () if is_standard_input(path) else Path(path).resolve().parent.parts


def _last(folders: tuple[str, ...], depth: int) -> tuple[str, ...]:
    return folders[max(len(folders) - depth, 0) :]


def refuse_second_source(corpus_file: Given, source: Given) -> None:
    """Refuse a source beside a file that has one.

    Raises:
        UsageError: Both have a source.
    """
    if any(entry.source is not None for entry in corpus_file.table.entries):
        raise UsageError(
            f"{source.name}: {corpus_file.name} has the source already; leave one of them out"
        )
