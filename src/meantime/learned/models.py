"""Learned metrics on disk: a folder with a card and arrays, nothing that could run.

    DIR/card.json    what it is: kind, feature groups and names, parameters, training, versions,
                     results, and the hash of the arrays
    DIR/model.npz    scaling, machine, counts of synonyms: numbers alone, never pickled objects

A model is refused where a hash does not fit, an array is missing or of another shape or not
finite, the format or the features are of another version, or the features have other names.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from meantime import __version__
from meantime.errors import InputError, UsageError
from meantime.formats.opening import save_folder
from meantime.learned import features as feature_sets
from meantime.learned import synonyms as synonym_counts
from meantime.learned.features import FeatureSet
from meantime.learned.groups import Settings, make_features
from meantime.learned.machines import Linear, Machine, Scaler, SupportVectors, trainer_version
from meantime.protocols import Array

FORMAT = 1
CARD = "card.json"
ARRAYS = "model.npz"

KINDS = {
    "human-or-machine": "signed distance from the boundary of human and machine translations",
    "pairs": "signed distance from the boundary of pairs that mean the same",
    "metric": "human score, predicted",
}


class DamagedModel(InputError):
    """A learned metric cannot be read as it was written."""


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Features, scaling and a machine: everything a score needs."""

    kind: str
    groups: tuple[str, ...]
    settings: Settings
    features: FeatureSet
    scaler: Scaler
    machine: Machine
    references: int
    """With how many references it was trained."""
    mean: float = 0.0
    """What is added to the machine's answer once it is multiplied with the deviation."""
    deviation: float = 1.0
    card: Mapping[str, Any] | None = None

    def scores(self, rows: Array) -> Array:
        """The score of each row of features."""
        found: Array = self.machine(self.scaler(rows)) * self.deviation + self.mean
        return found


def make_model(
    kind: str,
    groups: tuple[str, ...],
    settings: Settings,
    scaler: Scaler,
    machine: Machine,
    *,
    references: int,
    mean: float = 0.0,
    deviation: float = 1.0,
    training: Mapping[str, object],
    results: Mapping[str, object],
) -> Model:
    """A model with its card.

    Args:
        kind: One of `KINDS`.
        groups: Of features, by name.
        settings: What they have in common.
        scaler: Fitted to the training examples.
        machine: Trained on the scaled features.
        references: How many references a hypothesis had in training.
        mean: Of the human scores.
        deviation: Of the human scores.
        training: What it was trained on and how: `signature` and `seed` at least.
        results: What was measured.
    """
    if kind not in KINDS:
        raise UsageError(f"kind={kind!r}; give one of {', '.join(KINDS)}")
    features = make_features(groups, settings)
    model = Model(
        kind, groups, settings, features, scaler, machine, references, mean, deviation, None
    )
    synonyms = settings.synonyms
    card = {
        "format": FORMAT,
        "kind": kind,
        "what": KINDS[kind],
        "features": {
            "version": feature_sets.VERSION,
            "groups": list(groups),
            "both_directions": settings.both_directions,
            "lowercase": settings.lowercase,
            "stem": settings.stem,
            "synonyms": None
            if synonyms is None
            else {
                "threshold": synonyms.threshold,
                "wordnet": synonyms.wordnet_version,
                "text": synonyms.text,
            },
            "recipe": features.recipe.split("\n"),
            "names": list(features.names),
        },
        "references": references,
        "machine": {"kind": machine.kind, "mean": mean, "deviation": deviation},
        "training": dict(training),
        "results": dict(results),
        "versions": {
            "meantime": __version__,
            "numpy": numpy.__version__,
            "trained with": trainer_version() if machine.kind == "support-vectors" else "numpy",
        },
        "arrays": {ARRAYS: hashlib.sha256(_pack(model)).hexdigest()},
    }
    return replace(model, card=card)


def save_model(path: str | Path, model: Model) -> None:
    """Write a model as a new folder, in one step.

    Raises:
        InputError: The folder is there and not empty, or cannot be written.
    """
    card = json.dumps(model.card, ensure_ascii=False, indent=1) + "\n"
    save_folder(Path(path), {CARD: card.encode(), ARRAYS: _pack(model)})


def check_free(path: str | Path) -> None:
    """Refuse a place where no model can be written, before anything is trained.

    Raises:
        InputError: There is a file, or a folder that is not empty, or no folder to be in.
    """
    target = Path(path)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"{target}: something is there already; name a new folder for the model")
    if not target.absolute().parent.is_dir():
        raise InputError(
            f"{target}: the folder it should lie in is not there; make it, or name another place"
        )


def load_model(path: str | Path, *, wordnet: str | None = None) -> Model:
    """Read a model.

    Args:
        path: Its folder.
        wordnet: WordNet's dictionary folder, for a model with synonyms; by default one in the
            usual places.

    Raises:
        DamagedModel: It is not what was written, or was made for other features.
        InputError: There is no model.
    """
    folder = Path(path)
    stamps = []
    for name in (CARD, ARRAYS):
        try:
            found = (folder / name).stat()
        except OSError as error:
            raise InputError(
                f"{folder}: no learned metric ({name} is not there); give the folder that "
                "'meantime learn' wrote"
            ) from error
        stamps.append((found.st_mtime_ns, found.st_size))
    return _load(folder, wordnet, tuple(stamps))


@lru_cache(maxsize=8)
def _load(folder: Path, wordnet: str | None, stamps: tuple[tuple[int, int], ...]) -> Model:
    card = _read_card(folder)
    content = _bytes(folder / ARRAYS)
    said = card["arrays"].get(ARRAYS) if isinstance(card["arrays"], dict) else None
    if hashlib.sha256(content).hexdigest() != said:
        raise DamagedModel(
            f"{folder / ARRAYS}: does not fit the hash in {CARD}, so it is damaged or of another "
            "model; copy the folder again, or train anew"
        )
    try:
        with numpy.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return _assemble(card, arrays, wordnet, folder)
    except (KeyError, TypeError, ValueError, OSError, zipfile.BadZipFile, EOFError) as error:
        raise DamagedModel(
            f"{folder}: not a whole model ({type(error).__name__}: {error}); copy the folder "
            "again, or train anew"
        ) from error


def _read_card(folder: Path) -> dict[str, Any]:
    path = folder / CARD
    try:
        card = json.loads(_bytes(path).decode("utf-8"))
    except ValueError as error:
        raise DamagedModel(
            f"{path}: not JSON ({error}); copy the folder again, or train anew"
        ) from error
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        shown = card.get("format") if isinstance(card, dict) else None
        raise DamagedModel(
            f"{path}: format {shown!r}, and this version of meantime reads {FORMAT}; train anew, "
            "or use the version that made it"
        )
    lacking = {"kind", "features", "references", "machine", "training", "arrays"} - set(card)
    if lacking or card["kind"] not in KINDS:
        what = f"no {', '.join(sorted(lacking))}" if lacking else f"kind {card['kind']!r}"
        raise DamagedModel(f"{path}: {what}; copy the folder again, or train anew")
    return card


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def _assemble(
    card: dict[str, Any], arrays: dict[str, NDArray[Any]], wordnet: str | None, folder: Path
) -> Model:
    said = card["features"]
    if said["version"] != feature_sets.VERSION:
        raise DamagedModel(
            f"{folder}: made for features of version {said['version']}, and this version of "
            f"meantime has {feature_sets.VERSION}; train anew, or use the version that made it"
        )
    settings = Settings(
        both_directions=said["both_directions"],
        lowercase=said["lowercase"],
        stem=said["stem"],
        synonyms=_synonyms(said["synonyms"], arrays, wordnet, folder),
    )
    groups = tuple(said["groups"])
    try:
        features = make_features(groups, settings)
    except UsageError as error:
        raise DamagedModel(f"{folder}: made for features that are not there: {error}") from error
    names = list(features.names)
    if names != said["names"] or features.recipe.split("\n") != said["recipe"]:
        differ = [f"{a} for {b}" for a, b in zip(said["recipe"], features.recipe.split("\n"),
                                                 strict=False) if a != b]  # fmt: skip
        raise DamagedModel(
            f"{folder}: made for other features than those of this version and its parts "
            f"({(differ or ['other names'])[0][:300]}); train anew, or use the versions "
            "that made it"
        )
    scaler = Scaler(
        _whole(arrays, "kept").astype(numpy.int64),
        _numbers(arrays, "shift"),
        _numbers(arrays, "factor"),
    )
    width = len(scaler.kept)
    if not width or scaler.kept.min() < 0 or scaler.kept.max() >= len(names):
        raise ValueError("columns that the features do not have")
    if scaler.shift.shape != (width,) or scaler.factor.shape != (width,):
        raise ValueError("scaling and features differ in number")
    kind = card["machine"]["kind"]
    intercept = float(_numbers(arrays, "intercept"))
    machine: Machine
    if kind == SupportVectors.kind:
        machine = SupportVectors(
            _numbers(arrays, "vectors"),
            _numbers(arrays, "weights"),
            intercept,
            float(_numbers(arrays, "gamma")),
        )
        if machine.vectors.shape != (len(machine.weights), width):
            raise ValueError("support vectors and features differ in number")
    elif kind == Linear.kind:
        machine = Linear(_numbers(arrays, "weights"), intercept)
        if machine.weights.shape != (width,):
            raise ValueError("weights and features differ in number")
    else:
        raise ValueError(f"a machine of kind {kind!r}")
    mean, deviation = float(card["machine"]["mean"]), float(card["machine"]["deviation"])
    if not numpy.isfinite([mean, deviation]).all():
        raise ValueError("mean or deviation that is no number")
    return Model(
        card["kind"], groups, settings, features, scaler, machine,
        int(card["references"]), mean, deviation, card,
    )  # fmt: skip


def _synonyms(
    said: dict[str, Any] | None,
    arrays: dict[str, NDArray[Any]],
    wordnet: str | None,
    folder: Path,
) -> synonym_counts.Synonyms | None:
    if said is None:
        return None
    made = synonym_counts.from_arrays(
        wordnet,
        _whole(arrays, "synonym_sets").astype(numpy.int64),
        _numbers(arrays, "synonym_counts"),
        float(said["threshold"]),
        str(said["text"]),
    )
    if made.wordnet_version != said["wordnet"]:
        raise UsageError(
            f"{folder}: made with WordNet {said['wordnet']}, and the one here is "
            f"{made.wordnet_version}; name a folder of that version with learned:wordnet=PATH"
        )
    return made


def _whole(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    array = arrays[name]
    if array.ndim != 1 or array.dtype.kind != "i":
        raise ValueError(f"{name} are no whole numbers")
    return array


def _numbers(arrays: dict[str, NDArray[Any]], name: str) -> Array:
    array = arrays[name]
    if array.dtype != numpy.float64 or not numpy.isfinite(array).all():
        raise ValueError(f"{name} are not all numbers")
    return array


def _pack(model: Model) -> bytes:
    """All arrays as an archive; the same model gives the same bytes."""
    arrays: dict[str, Any] = {
        "kept": model.scaler.kept,
        "shift": model.scaler.shift,
        "factor": model.scaler.factor,
        "weights": model.machine.weights,
        "intercept": numpy.float64(model.machine.intercept),
    }
    if isinstance(model.machine, SupportVectors):
        arrays["vectors"] = model.machine.vectors
        arrays["gamma"] = numpy.float64(model.machine.gamma)
    if model.settings.synonyms is not None:
        arrays["synonym_sets"], arrays["synonym_counts"] = model.settings.synonyms.as_arrays()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            single = io.BytesIO()
            numpy.save(single, numpy.asarray(array), allow_pickle=False)
            # Without a time stamp, equal models give equal bytes.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), single.getvalue(),
                             zipfile.ZIP_DEFLATED)  # fmt: skip
    return packed.getvalue()
