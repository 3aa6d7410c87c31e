"""The folder layout of mt-metrics-eval: one folder a test set.

    documents/LP.docs                       domain and document of each segment
    sources/LP.txt
    references/LP.NAME.txt
    system-outputs/LP/SYSTEM.txt
    human-scores/LP.KIND.seg.score          system and score, "None" where not rated
    metric-scores/LP/METRIC-REFERENCE.seg.score

Segments are numbered from 1 within a language pair. Human translations stand among the system
outputs under the names of the references.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from meantime.errors import FormatError, InputError, LengthMismatch
from meantime.formats.opening import decode, lines, load
from meantime.metaeval.human import HumanScores, JudgedPair, is_human_name
from meantime.metaeval.outside import MetricScores, ScoreKey
from meantime.metaeval.reading.table import as_number

KINDS = ("mqm", "da-sqm", "wmt-z", "appraise", "wmt-appraise-z", "wmt", "wmt-raw")
"""Which human scores are taken where nobody says, the most trusted first."""

Item = TypeVar("Item")

_SCORES = ".seg.score"


def is_folder(path: Path) -> bool:
    """Whether this is a test set in this layout."""
    return (path / "human-scores").is_dir() and (path / "system-outputs").is_dir()


def read_folder(
    path: str | Path,
    *,
    lps: Sequence[str] = (),
    kind: str | None = None,
    reference: str | None = None,
) -> HumanScores:
    """Human scores of a test set, with the texts.

    Args:
        path: The folder.
        lps: Language pairs; by default all that have such scores.
        kind: Which human scores: `mqm`, `wmt-z` and so on; by default the first of `KINDS` that
            each language pair has.
        reference: Which reference, `refA` say; by default the first by name.

    Raises:
        InputError: There are no such scores, language pairs or references.
        LengthMismatch: Files of one language pair differ in length.
    """
    folder = Path(path)
    found = _scored(folder)
    for lp in lps:
        if lp not in found:
            raise InputError(
                f"{folder}: no human scores of segments for {lp}; there are "
                f"{', '.join(sorted(found)) or 'none'}"
            )
    chosen = {lp: kinds for lp, kinds in found.items() if not lps or lp in lps}
    if kind is not None:
        chosen = {lp: kinds for lp, kinds in chosen.items() if kind in kinds}
    if not chosen:
        there = sorted({name for kinds in found.values() for name in kinds})
        raise InputError(
            f"{folder}: no human scores of segments called {kind or 'anything'!r}; there are "
            f"{', '.join(there) or 'none'}"
        )
    pairs: list[JudgedPair] = []
    used = set()
    for lp, kinds in sorted(chosen.items()):
        ordered = [*(name for name in KINDS if name in kinds), *sorted(kinds)]
        taken = kind or ordered[0]
        used.add(taken)
        pairs += _read_pair(folder, lp, taken, reference)
    return HumanScores(str(folder), "+".join(sorted(used)), tuple(pairs))


def _scored(folder: Path) -> dict[str, set[str]]:
    """Kinds of segment scores of each language pair."""
    found: dict[str, set[str]] = {}
    for path in sorted((folder / "human-scores").glob(f"*{_SCORES}")):
        lp, _, kind = path.name.removesuffix(_SCORES).partition(".")
        found.setdefault(lp, set()).add(kind)
    return found


def _read_pair(folder: Path, lp: str, kind: str, reference: str | None) -> list[JudgedPair]:
    sources = _texts(folder / "sources" / f"{lp}.txt")
    names = {
        path.name.removeprefix(f"{lp}.").removesuffix(".txt"): path
        for path in sorted((folder / "references").glob(f"{lp}.*.txt"))
    }
    if not names:
        raise InputError(f"{folder}: no reference for {lp} in references/{lp}.NAME.txt")
    taken = reference or next(iter(names))
    if taken not in names:
        raise InputError(f"{folder}: no reference {taken!r} for {lp}; there are {', '.join(names)}")
    references = _checked(names[taken], _texts(names[taken]), len(sources), sources_of=lp)
    documents = _documents(folder / "documents" / f"{lp}.docs", len(sources), lp)
    path = folder / "human-scores" / f"{lp}.{kind}{_SCORES}"
    pairs = []
    for system, scores in read_score_file(path).items():
        _checked(path, scores, len(sources), sources_of=lp)
        output = folder / "system-outputs" / lp / f"{system}.txt"
        if not output.is_file():
            # Some human scores are of translations that were not published.
            if all(score is None for score in scores):
                continue
            raise InputError(f"{path}: system {system!r} has scores, but {output} is not there")
        hypotheses = _checked(output, _texts(output), len(sources), sources_of=lp)
        human = is_human_name(system, names)
        for number, score in enumerate(scores):
            domain, document = documents[number]
            pairs.append(
                JudgedPair(
                    lp=lp,
                    domain=domain,
                    document=document,
                    segment=str(number + 1),
                    system=system,
                    source=sources[number],
                    references=((taken, references[number]),),
                    hypothesis=hypotheses[number],
                    score=score,
                    is_human=human,
                    line=number + 1,
                )
            )
    return pairs


def read_score_file(path: Path) -> dict[str, list[float | None]]:
    """The scores of each system in order of segments; None where there is none.

    Raises:
        FormatError: A line is not a system and a score.
    """
    scores: dict[str, list[float | None]] = {}
    for number, line in enumerate(_texts(path), start=1):
        fields = line.split()
        if len(fields) != 2:
            raise FormatError(
                f"{path}:{number}: {len(fields)} fields, expected 2: a system and its score, or "
                "None where there is no score"
            )
        system, text = fields
        value = None if text == "None" else as_number(text, f"{path}:{number}: the score")
        scores.setdefault(system, []).append(value)
    return scores


def read_score_folder(path: Path, *, lp: str | None = None) -> MetricScores:
    """What metrics said, from files `METRIC-REFERENCE.seg.score` of a folder called after LP.

    Raises:
        InputError: The folder holds no such file.
    """
    files = [path] if path.is_file() else sorted(path.glob(f"*{_SCORES}"))
    if not files:
        raise InputError(f"{path}: no file called METRIC-REFERENCE{_SCORES} in this folder")
    pair = lp or (path.parent.name if path.is_file() else path.name)
    values: dict[str, dict[ScoreKey, float | None]] = {}
    for file in files:
        name = file.name.removesuffix(_SCORES)
        values[name] = {
            (pair, str(number), system): score
            for system, scores in read_score_file(file).items()
            for number, score in enumerate(scores, start=1)
        }
    return MetricScores(str(path), ("lp", "segment", "system"), _rows(values))


def _rows(
    values: Mapping[str, Mapping[ScoreKey, float | None]],
) -> dict[str, dict[ScoreKey, float]]:
    return {
        name: {key: score for key, score in scores.items() if score is not None}
        for name, scores in values.items()
    }


def _documents(path: Path, count: int, lp: str) -> list[tuple[str, str]]:
    if not path.is_file():
        return [("", "")] * count
    rows = []
    for number, line in enumerate(_checked(path, _texts(path), count, sources_of=lp), start=1):
        fields = line.split("\t") if "\t" in line else line.split()
        if len(fields) < 2:
            raise FormatError(
                f"{path}:{number}: {len(fields)} fields, expected 2: a domain and a document"
            )
        rows.append((fields[0], fields[1]))
    return rows


def _texts(path: Path) -> list[str]:
    return lines(decode(str(path), load(path)))


def _checked(path: Path, items: list[Item], count: int, *, sources_of: str) -> list[Item]:
    if len(items) != count:
        raise LengthMismatch(
            f"{path}: {len(items)} segments, sources/{sources_of}.txt has {count}; all files of a "
            "language pair must speak of the same segments"
        )
    return items
