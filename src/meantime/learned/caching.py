"""Features computed once: kept in a folder under a hash of everything they depend on."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy

from meantime.errors import InputError
from meantime.formats.opening import replace
from meantime.learned.features import VERSION, FeatureSet
from meantime.protocols import Array
from meantime.types import Pair

Progress = Callable[[int, int], None]
BATCH = 256


def pair_digest(pairs: Sequence[Pair]) -> str:
    """A hash of all texts of pairs, in their order."""
    digest = hashlib.sha256()
    for pair in pairs:
        texts = (pair.hypothesis, *pair.segment.references)
        for sentence in texts:
            content = sentence.text.encode("utf-8", "surrogatepass")
            # The length apart, so that no two lists of texts read the same.
            digest.update(f"{sentence.lang} {len(content)} ".encode())
            digest.update(content)
        digest.update(f"/{len(texts)}".encode())
    return digest.hexdigest()


def compute_features(
    features: FeatureSet,
    pairs: Sequence[Pair],
    *,
    analysis: str = "none",
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Array:
    """Prepare features with the references of pairs, and compute them.

    Args:
        features: Not prepared.
        pairs: Analysed as the features need.
        analysis: Where the analysis came from: the same texts may be analysed otherwise.
        folder: Where to keep the values; nowhere unless given.
        progress: Told how many pairs are done, and of how many.
    """
    path = None
    if folder is not None:
        facts = (str(VERSION), features.recipe, analysis, pair_digest(pairs))
        name = hashlib.sha256("\n".join(facts).encode()).hexdigest()[:40]
        path = folder / f"features-{name}.npy"
        kept = _read(path, (len(pairs), len(features.names)))
        if kept is not None:
            return kept
    prepared = features.prepare(list({id(pair.segment): pair.segment for pair in pairs}.values()))
    blocks = [numpy.zeros((0, len(features.names)))]
    for start in range(0, len(pairs), BATCH):
        if progress:
            progress(start, len(pairs))
        blocks.append(prepared.values(pairs[start : start + BATCH]))
    values = numpy.concatenate(blocks)
    if progress:
        progress(len(pairs), len(pairs))
    if path is not None:
        content = io.BytesIO()
        numpy.save(content, values, allow_pickle=False)
        _write(path, content.getvalue())
    return values


def _read(path: Path, shape: tuple[int, int]) -> Array | None:
    """What was kept; None where there is nothing, or nothing whole."""
    try:
        values = numpy.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    fits = values.dtype == numpy.float64 and values.shape == shape and numpy.isfinite(values).all()
    return values if fits else None


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path.parent}: cannot be made ({error.strerror})") from error

    def make(temporary: Path) -> None:
        temporary.write_bytes(content)

    replace(path, make)
