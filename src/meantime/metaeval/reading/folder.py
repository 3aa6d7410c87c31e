"""The folder layout of mt-metrics-eval: one folder a test set.

    documents/LP.docs                       domain and document of each segment
    sources/LP.txt
    references/LP.NAME.txt
    system-outputs/LP/SYSTEM.txt
    human-scores/LP.KIND.seg.score          system and score, "None" where not rated
    human-scores/LP.KIND.sys.score          the same of systems as a whole
    metric-scores/LP/METRIC-REFERENCE.seg.score

Segments are numbered from 1 within a language pair. Human translations stand among the system
outputs under the names of the references.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
_SYSTEMS = ".sys.score"


def is_folder(path: Path) -> bool:
    """Whether this is a test set in this layout."""
    return (path / "human-scores").is_dir() and (path / "system-outputs").is_dir()


def read_folder(
    path: str | Path,
    *,
    lps: Sequence[str] = (),
    kind: str | None = None,
    reference: str | None = None,
    systems: bool = False,
) -> HumanScores:
    """Human scores of a test set, with the texts.

    Args:
        path: The folder.
        lps: Language pairs; by default all that have such scores.
        kind: Which human scores: `mqm`, `wmt-z` and so on; by default the first of `KINDS` that
            each language pair has, of segments rather than of systems.
        systems: Whether scores of systems as a whole will do, and are read where they are.
        reference: Which reference, `refA` say; by default the first by name.

    Raises:
        InputError: There are no such scores, language pairs or references.
        LengthMismatch: Files of one language pair differ in length.
    """
    folder = Path(path)
    found = _scored(folder, _SCORES)
    whole = _scored(folder, _SYSTEMS)
    what = "human scores" if systems else "human scores of segments"
    known = {lp for table in ((found, whole) if systems else (found,)) for lp in table}
    for lp in lps:
        if lp not in known:
            rest = "; those of systems as a whole are for --level sys" if lp in whole else ""
            others = ", ".join(sorted(known)) or "none"
            raise InputError(f"{folder}: no {what} for {lp}; there are {others}{rest}")
    chosen: dict[str, str] = {}
    for lp in sorted(known):
        kinds = [*_ordered(found.get(lp, ())), *(_ordered(whole.get(lp, ())) if systems else ())]
        if (not lps or lp in lps) and kind in (None, *kinds):
            chosen[lp] = kind or kinds[0]
    if not chosen:
        there = {name for table in (found, whole) for kinds in table.values() for name in kinds}
        if not systems:
            there = {name for kinds in found.values() for name in kinds}
        if there:
            raise InputError(
                f"{folder}: no {what} called {kind!r}; there are {', '.join(sorted(there))}"
            )
        only = "; those of systems as a whole are for --level sys" if whole else ""
        raise InputError(f"{folder}: no {what} in human-scores/LP.KIND{_SCORES}{only}")
    pairs: list[JudgedPair] = []
    by_system: dict[tuple[str, str], float] = {}
    for lp, taken in chosen.items():
        of_systems: dict[str, float] = {}
        if systems and taken in whole.get(lp, ()):
            of_systems = read_system_scores(folder / "human-scores" / f"{lp}.{taken}{_SYSTEMS}")
        by_system |= {(lp, system): score for system, score in of_systems.items()}
        rated = taken in found.get(lp, ())
        pairs += _read_pair(folder, lp, taken, reference, None if rated else of_systems)
    return HumanScores(str(folder), "+".join(sorted(set(chosen.values()))), tuple(pairs), by_system)


def _scored(folder: Path, ending: str) -> dict[str, set[str]]:
    """Kinds of scores of each language pair."""
    found: dict[str, set[str]] = {}
    for path in sorted((folder / "human-scores").glob(f"*{ending}")):
        lp, _, kind = path.name.removesuffix(ending).partition(".")
        found.setdefault(lp, set()).add(kind)
    return found


def _ordered(kinds: Iterable[str]) -> list[str]:
    """The most trusted first."""
    there = sorted(kinds)
    return [*(name for name in KINDS if name in there), *(n for n in there if n not in KINDS)]


def read_system_scores(path: Path) -> dict[str, float]:
    """The score of each system as a whole; those without one are left out.

    Raises:
        FormatError: A system has two.
    """
    found = {}
    for system, scores in read_score_file(path).items():
        if len(scores) > 1:
            raise FormatError(
                f"{path}: {len(scores)} scores of system {system!r}; one is expected of a system "
                "as a whole"
            )
        if scores[0] is not None:
            found[system] = scores[0]
    return found


def _read_pair(
    folder: Path,
    lp: str,
    kind: str,
    reference: str | None,
    unrated: Iterable[str] | None = None,
) -> list[JudgedPair]:
    """The translations of a language pair: those with scores, or all of some unrated systems."""
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
    ending = _SCORES if unrated is None else _SYSTEMS
    path = folder / "human-scores" / f"{lp}.{kind}{ending}"
    scored: dict[str, list[float | None]]
    if unrated is None:
        scored = read_score_file(path)
    else:
        scored = {system: [None] * len(sources) for system in unrated}
    pairs = []
    for system, scores in scored.items():
        _checked(path, scores, len(sources), sources_of=lp)
        output = folder / "system-outputs" / lp / f"{system}.txt"
        if not output.is_file():
            # Some human scores are of translations that were not published.
            if unrated is None and all(score is None for score in scores):
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
