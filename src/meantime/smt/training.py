"""Training a system from parallel text, stage by stage.

Stages that cost time leave their result in a folder of work beside the model, under a hash of
what they depend on, and a training that was interrupted goes on behind the last one that was done.
The model's folder comes to be whole, by renaming.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import numpy

from meantime import __version__
from meantime.errors import FormatError, InputError, LengthMismatch, OptionError, UsageError
from meantime.formats.opening import decode, display, encode, lines, load, save
from meantime.smt import language_model, phrases
from meantime.smt.alignment import ITERATIONS, Links, join, train_direction
from meantime.smt.model import ABOUT, FORMAT, START, WEIGHTS, hash_file
from meantime.smt.names import LEAST, NameDictionary, from_text
from meantime.smt.preparation import Preparation
from meantime.smt.thot import load_part
from meantime.smt.words import HAN, unspaced
from meantime.tuning.weights import write_weights

LONGEST_SENTENCE = 80
_SHOWN = 3
"""Places of lines that were left out, named in the note."""
_SCRIPT = 0.2
"""The share of Chinese characters a Chinese text has at least, and another at most."""

Progress = Callable[[str, int, int], None]

_CONSTANTS = {
    # Thot's own defaults: interpolation with the word models, lengths of phrases.
    "tm.lambda": "0.7 0.7",
    "tm.srcsegmlentable": "Uniform",
    "tm.trgcutstable": "0.999",
    "tm.trgsegmlentable": "Geometric",
}
_CORPORA = (".src", ".trg", ".srctrgc")
"""Training text that the word models keep for learning on; the decoder does without."""


@dataclass(frozen=True)
class Settings:
    """What a training does."""

    order: int = language_model.ORDER
    longest_phrase: int = phrases.LONGEST
    translations: int = phrases.KEPT
    """A source phrase may have."""
    iterations: int = ITERATIONS
    """Of the word models."""
    longest_sentence: int = LONGEST_SENTENCE

    def __post_init__(self) -> None:
        if not 1 <= self.order <= language_model.MOST_ORDER:
            raise OptionError(
                f"the order of the language model is {self.order}; it can be 1 to "
                f"{language_model.MOST_ORDER}"
            )


@dataclass(frozen=True)
class Parallel:
    """Parallel text as it was read, and what was left out."""

    source: Sequence[str]
    target: Sequence[str]
    empty: Sequence[int] = ()
    """Lines, counted from 1, where either side is empty."""


@dataclass(frozen=True)
class Trained:
    """What came of a training."""

    folder: Path
    facts: dict[str, Any]
    notes: Sequence[str]


def read_parallel(source: str | Path, target: str | Path, preparation: Preparation) -> Parallel:
    """Two files, line by line; pairs with an empty side are left out.

    Raises:
        LengthMismatch: They have different numbers of lines.
        FormatError: No pair is left, or the two are the wrong way round.
    """
    left, right = (
        [" ".join(line.split()) for line in lines(decode(display(path), load(path)))]
        for path in (source, target)
    )
    if len(left) != len(right):
        raise LengthMismatch(
            f"{display(source)} has {len(left):,} lines and {display(target)} {len(right):,}; "
            "line n of one must be the translation of line n of the other"
        )
    empty = [n for n, pair in enumerate(zip(left, right, strict=True), 1) if not all(pair)]
    kept = [pair for pair in zip(left, right, strict=True) if all(pair)]
    if not kept:
        raise FormatError(
            f"{display(source)}: no pair of lines in it and {display(target)} has text on both "
            "sides; name files that hold translations of each other"
        )
    refuse_wrong_script((pair[0] for pair in kept), preparation.source, display(source), "source")
    refuse_wrong_script((pair[1] for pair in kept), preparation.target, display(target), "target")
    return Parallel([pair[0] for pair in kept], [pair[1] for pair in kept], empty)


def refuse_wrong_script(texts: Iterable[str], lang: str, place: str, what: str) -> None:
    """Refuse text that cannot be in its language: Chinese characters tell.

    Raises:
        UsageError: Chinese has hardly any, or another language is made of them.
    """
    chinese = others = 0
    for _, text in zip(range(2000), texts, strict=False):
        han = sum(map(len, HAN.findall(text)))
        chinese += han
        others += sum(character.isalpha() for character in text) - han
    if not chinese + others:
        return
    share = chinese / (chinese + others)
    wrong = share < _SCRIPT if unspaced(lang) else share > 1 - _SCRIPT and lang not in ("ja",)
    if wrong:
        raise UsageError(
            f"{place}: {share:.0%} of its letters are Chinese, and the {what} is to be {lang}; "
            "are the two languages the wrong way round?"
        )


def train(
    source: str | Path,
    target: str | Path,
    out: Path,
    preparation: Preparation,
    settings: Settings | None = None,
    *,
    progress: Progress | None = None,
) -> Trained:
    """Train a system and write its folder.

    Args:
        source: Texts, a line each.
        target: Their translations.
        out: The folder to make.
        preparation: How texts become tokens; it learns the case of words here.
        settings: What else to do.
        progress: Told the stage, how much of it is done and of how much.

    Raises:
        InputError: A file cannot be read or the folder not written, or holds something.
        LengthMismatch: The two files are not parallel.
        MissingPart: Thot is not installed.
    """
    settings = settings or Settings()
    load_part("alignment")
    refuse_full(out)
    parallel = read_parallel(source, target, preparation)
    preparation = preparation.learned(parallel.source, parallel.target)
    notes = []
    if parallel.empty:
        shown = ", ".join(map(str, parallel.empty[:_SHOWN]))
        more = ", …" if len(parallel.empty) > _SHOWN else ""
        notes.append(
            f"{len(parallel.empty):,} pairs are left out, a side being empty (lines {shown}{more})"
        )
    left, right, long = _tokens(parallel, preparation, settings, progress)
    if long:
        notes.append(
            f"{long:,} pairs are left out, having more than {settings.longest_sentence} words or "
            "none"
        )
    if not left:
        raise FormatError(
            f"{display(source)}: no pair has {settings.longest_sentence} words or fewer; is it a "
            "sentence a line?"
        )
    work = out.with_name(f".{out.name}.training")
    _begin(work, left, right, settings)
    links = align(left, right, work, settings, progress)
    table = phrases.build_table(
        left, right, links, longest=settings.longest_phrase, kept=settings.translations
    )
    _tell(progress, "phrase table", 1, 1)
    model = language_model.train_model(right, order=settings.order)
    _tell(progress, "language model", 1, 1)

    made = out.with_name(f".{out.name}.{uuid4().hex}")
    try:
        made.mkdir(parents=True)
        (made / "tm.ttable").write_bytes(table.render())
        for name, data in zip(("lm", "lm.weights"), model.render(), strict=True):
            (made / name).write_bytes(data)
        for name, text in _CONSTANTS.items():
            (made / name).write_text(text + "\n", encoding="utf-8")
        for path in sorted(set(work.glob("tm_*swm.*")) - set(work.glob("*.npy"))):
            if path.suffix in _CORPORA:
                (made / path.name).write_bytes(b"")
            else:
                shutil.copyfile(path, made / path.name)
        preparation.save(made)
        write_weights(made / WEIGHTS, START)
        facts = {
            "format": FORMAT,
            "meantime": __version__,
            **preparation.describe(),
            "pairs": len(left),
            "left_out": {"empty": len(parallel.empty), "long": long},
            "words": {"source": sum(map(len, left)), "target": sum(map(len, right))},
            "phrase_pairs": len(table.rows),
            "ngrams": len(model.counts),
            "settings": asdict(settings),
            # Weights may be replaced by better ones; the rest may not change.
            "files": {p.name: hash_file(p) for p in sorted(made.iterdir()) if p.name != WEIGHTS},
        }
        text = json.dumps(facts, ensure_ascii=False, indent=1)
        save(made / ABOUT, encode(text + "\n"))
        if out.is_dir():
            out.rmdir()
        made.rename(out)
    except OSError as error:
        raise InputError(
            f"{out}: cannot be written ({error}); check the folder and disk"
        ) from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
    shutil.rmtree(work, ignore_errors=True)
    return Trained(out, facts, notes)


def refuse_full(out: Path) -> None:
    """Refuse a folder that holds something, before the work is done."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: there is something already; name a new folder, or remove it")
    if not out.resolve().parent.is_dir():
        raise InputError(f"{out}: cannot be made, there is no folder {out.parent}; make it first")


def _tell(progress: Progress | None, stage: str, done: int, total: int) -> None:
    if progress:
        progress(stage, done, total)


def _tokens(
    parallel: Parallel, preparation: Preparation, settings: Settings, progress: Progress | None
) -> tuple[list[list[str]], list[list[str]], int]:
    """Tokens of the pairs that can be learned from, and how many cannot."""
    left, right = [], []
    total = len(parallel.source)
    for done, (one, other) in enumerate(zip(parallel.source, parallel.target, strict=True), 1):
        source, target = preparation.source_tokens(one), preparation.target_tokens(other)
        if 0 < len(source) <= settings.longest_sentence and (
            0 < len(target) <= settings.longest_sentence
        ):
            left.append(source)
            right.append(target)
        if done % 1000 == 0 or done == total:
            _tell(progress, "words", done, total)
    return left, right, total - len(left)


def _begin(
    work: Path, left: Sequence[Sequence[str]], right: Sequence[Sequence[str]], settings: Settings
) -> None:
    """A folder of work for exactly this; one for something else is emptied."""
    digest = hashlib.sha256(json.dumps([settings.iterations, left, right]).encode()).hexdigest()
    key = work / "key"
    if key.is_file() and key.read_text(encoding="ascii") == digest:
        return
    shutil.rmtree(work, ignore_errors=True)
    try:
        work.mkdir(parents=True)
    except OSError as error:
        raise InputError(
            f"{work.parent}: cannot be written to ({error}); name a folder that can"
        ) from error
    save(key, digest.encode("ascii"))


def align(
    left: Sequence[Sequence[str]],
    right: Sequence[Sequence[str]],
    work: Path,
    settings: Settings,
    progress: Progress | None = None,
) -> Links:
    """Links between the words of both sides; each direction is kept in the folder of work."""
    found = {}
    for stage, prefix, given, made in (
        ("words, one way", "tm_swm", right, left),
        ("words, other way", "tm_invswm", left, right),
    ):
        path = work / f"{prefix}.npy"
        if not path.is_file():

            def advance(done: int, total: int, stage: str = stage) -> None:
                _tell(progress, stage, done, total)

            links = train_direction(
                given, made, work / prefix, iterations=settings.iterations, progress=advance
            )
            # Last and by renaming: what is there is whole, and its model too.
            with (work / f".{path.name}").open("wb") as file:
                numpy.save(file, links)
            (work / f".{path.name}").replace(path)
        found[prefix] = numpy.load(path)
    return join(found["tm_invswm"], found["tm_swm"], left, right)


def names_of_text(
    source: str | Path,
    target: str | Path,
    *,
    segmenter: str = "jieba",
    least: int = LEAST,
    progress: Progress | None = None,
) -> NameDictionary:
    """A dictionary of the names in parallel text, Chinese and English.

    Raises:
        FormatError: There is no name in it.
    """
    preparation = Preparation("zh", "en", case="keep", segmenter=segmenter)
    parallel = read_parallel(source, target, preparation)
    settings = Settings()
    left, right, _ = _tokens(parallel, preparation, settings, progress)
    with TemporaryDirectory(prefix="meantime-") as work:
        links = align(left, right, Path(work), settings, progress)
    found = from_text(left, right, links, least=least)
    if not found.names:
        raise FormatError(
            f"{display(source)}: no name is translated {least} times in the same way; give more "
            "text, or a smaller --least"
        )
    return found
