"""A trained system is a folder: phrase table, language model, word models, preparation, weights.

model.json        what it is, what it was trained from, a hash of every file
preparation.json  how texts become tokens, with the files it names
tm.ttable         phrase pairs; tm_swm.*, tm_invswm.* the word models; tm.* constants
lm, lm.weights    n-grams with counts, and the weights of their orders
weights.txt       weights of the features to translate with
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from meantime.errors import FormatError, InputError
from meantime.formats.opening import decode, load
from meantime.smt.preparation import Preparation, read_preparation
from meantime.tuning.weights import read_weights

FORMAT = 1
"""Of the folder; another number cannot be read."""
ABOUT = "model.json"
WEIGHTS = "weights.txt"
FEATURES = (
    "WordPenalty",
    "LanguageModel",
    "TargetLength",
    "Jump",
    "SourceLength",
    "PhraseDirect",
    "PhraseInverse",
)
"""In the decoder's order. Its eighth, a model of sentence length, is in no n-best list, so that
it could not be tuned; its weight is 0."""
START: Mapping[str, float] = {
    "WordPenalty": -0.3,
    "LanguageModel": 1.0,
    "TargetLength": 0.1,
    "Jump": 0.1,
    "SourceLength": 0.1,
    "PhraseDirect": 1.0,
    "PhraseInverse": 0.5,
}


@dataclass(frozen=True)
class Model:
    """A folder that was opened."""

    folder: Path
    facts: Mapping[str, Any]
    preparation: Preparation

    @property
    def weights_path(self) -> Path:
        """Where the weights stand it translates with if none are given."""
        return self.folder / WEIGHTS

    @cached_property
    def weights(self) -> dict[str, float]:
        """The weights in the folder."""
        return read_weights(self.weights_path)

    @cached_property
    def vocabularies(self) -> tuple[frozenset[str], frozenset[str]]:
        """Words of the source and of the target that training saw."""
        return _vocabulary(self.folder / "tm_invswm.svcb"), _vocabulary(
            self.folder / "tm_invswm.tvcb"
        )


def _vocabulary(path: Path) -> frozenset[str]:
    """The words of a vocabulary file: a number, a word, a count."""
    words = (line.split() for line in decode(str(path), load(path)).split("\n"))
    return frozenset(found[1] for found in words if len(found) > 1)


def open_model(folder: str | Path, *, check: bool = False) -> Model:
    """Open a folder that `training.train` wrote.

    Args:
        folder: It.
        check: Whether to compare every file with its hash.

    Raises:
        InputError: There is no model in it, or a file is missing.
        FormatError: It is another version's, or damaged.
    """
    folder = Path(folder)
    about = folder / ABOUT
    if not folder.is_dir():
        raise InputError(
            f"{folder}: no such folder; train a model with 'meantime smt train --out {folder}'"
        )
    if not about.is_file():
        raise InputError(
            f"{folder}: holds no {ABOUT}, so it is no model; name the folder that 'meantime smt "
            "train --out' made"
        )
    try:
        facts = json.loads(decode(str(about), load(about)))
        version, files = facts["format"], facts["files"]
    except (ValueError, KeyError, TypeError) as error:
        raise FormatError(f"{about}: damaged ({error}); train the model again") from error
    if version != FORMAT:
        raise FormatError(
            f"{folder}: a model of format {version}, made by meantime "
            f"{facts.get('meantime', 'of unknown version')}; this meantime reads format {FORMAT}: "
            "train the model again"
        )
    for name, digest in files.items():
        path = folder / name
        if not path.is_file():
            raise InputError(f"{path}: missing; copy the whole folder, or train the model again")
        if check and hash_file(path) != digest:
            raise FormatError(f"{path}: not as it was written; train the model again")
    return Model(folder, facts, read_preparation(folder))


def hash_file(path: Path) -> str:
    """What identifies a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
