"""What a metric measures of candidates: once for each distinct text, kept on disk if asked.

A row costs an analysis and a comparison, and a tuning meets the same texts again and again:
in one list under several derivations, and in every iteration's list. `Statistics` measures
what it has not seen and hands out the rest.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy
from numpy.typing import NDArray

from meantime.errors import InputError, UsageError
from meantime.formats.opening import save
from meantime.protocols import Analyser, Array, Metric
from meantime.scoring import ANALYSED, Progress, analyse, measure_pairs
from meantime.types import Corpus, Layer, Level, Pair, Segment, Sentence

BLOCK = 65536
"""Candidates measured at a time."""
ANALYSED_BLOCK = 1024
"""Candidates analysed and measured at a time: analyses are large, rows small."""


def gain(metric: Metric) -> float:
    """1 where a higher score is better, -1 where a lower one is."""
    return 1.0 if metric.higher_is_better else -1.0


def span(metric: Metric, scores: Array) -> float:
    """How far scores range: the metric's scale, or where that has no end, what was seen."""
    low, high = metric.scale
    if numpy.isfinite(low) and numpy.isfinite(high):
        return float(high - low)
    if not len(scores):
        return 1.0
    low, high = numpy.quantile(scores, [0.05, 0.95])
    return float(high - low) or 1.0


def refuse_people(metric: Metric) -> None:
    """Refuse a metric that needs what nobody can know of candidates: judgements, say.

    Raises:
        UsageError: It needs more than text, source and analysis.
    """
    beyond = sorted(metric.needs - set(ANALYSED) - {Layer.SOURCE})
    if beyond:
        raise UsageError(
            f"{metric.name} needs {' and '.join(beyond)}, which candidates of a machine do not "
            "have; choose by another metric"
        )


def prepare_references(
    segments: Sequence[Segment], metric: Metric, analyser: Analyser | None = None
) -> tuple[tuple[Segment, ...], Metric]:
    """References with what the metric needs to know of them, and the metric bound to them.

    Raises:
        InputError: The metric needs sources, and there are none.
        UsageError: It needs what candidates do not have.
    """
    refuse_people(metric)
    if Layer.SOURCE in metric.needs:
        bare = [segment.id for segment in segments if segment.source is None]
        if bare:
            raise InputError(
                f"segment {bare[0]} has no source ({len(bare)} of {len(segments)}), which "
                f"{metric.name} needs; give the source with -s"
            )
    corpus, _ = analyse(Corpus(tuple(segments)), metric.needs, analyser)
    return corpus.segments, metric.prepare(corpus.segments)


def analyse_texts(
    sentences: Sequence[Sentence],
    needs: frozenset[Layer],
    analyser: Analyser | None,
    progress: Progress | None = None,
) -> tuple[Sentence, ...]:
    """Sentences with the layers a metric needs, each distinct text analysed once."""
    if not needs & set(ANALYSED):
        return tuple(sentences)
    distinct = {(sentence.text, sentence.lang): sentence for sentence in sentences}
    waiting = list(distinct.values())
    answers: list[Sentence] = []
    for start in range(0, len(waiting), ANALYSED_BLOCK):
        if progress:
            progress(start, len(waiting))
        part = tuple(waiting[start : start + ANALYSED_BLOCK])
        bare = tuple(Segment(str(number), ()) for number in range(len(part)))
        corpus, _ = analyse(Corpus(bare, {"": part}), needs, analyser)
        answers.extend(corpus.outputs[""])
    found = dict(zip(distinct, answers, strict=True))
    return tuple(found[sentence.text, sentence.lang] for sentence in sentences)


class Statistics:
    """Rows of one metric against one set of references, by segment and text."""

    def __init__(
        self,
        metric: Metric,
        segments: Sequence[Segment],
        *,
        lang: str = "en",
        folder: Path | None = None,
        analyser: Analyser | None = None,
        jobs: int = 1,
        block: int | None = None,
    ) -> None:
        """Stand ready to measure.

        Args:
            metric: The metric, prepared.
            segments: The references, with what the metric needs to know of them.
            lang: The language of the candidates.
            folder: Where rows are kept from one run to the next; without one they are
                forgotten with this object.
            analyser: For metrics that need analysis.
            jobs: Number of processes; 0 for one a core.
            block: How many candidates are analysed and measured before they are written; by
                default fewer where a metric needs analysis.
        """
        self.metric = metric
        self.measured = 0
        """Texts measured by this object."""
        self.recalled = 0
        """Texts whose rows were found in the folder when it was opened."""
        self._segments = segments
        self._lang = lang
        self._analyser = analyser
        self._jobs = jobs
        self._block = block or (ANALYSED_BLOCK if metric.needs & set(ANALYSED) else BLOCK)
        self._rows: dict[bytes, Array] = {}
        self._folder: Path | None = None
        if folder is not None:
            self._folder = folder / self.identity()
            self._recall()

    def identity(self) -> str:
        """A name for what the rows depend on: metric, references, analyser."""
        digest = hashlib.sha256(str(self.metric.signature()).encode())
        if self.metric.needs & set(ANALYSED):
            digest.update(getattr(self._analyser, "identity", "").encode())
        digest.update(self._lang.encode())
        for segment in self._segments:
            texts = [sentence.text for sentence in segment.references]
            source = segment.source.text if segment.source else None
            digest.update(repr((texts, source)).encode("utf-8", "surrogatepass"))
        return f"{self.metric.name}-{digest.hexdigest()[:16]}"

    def rows(self, texts: Sequence[tuple[int, str]], progress: Progress | None = None) -> Array:
        """The statistics of texts, each given with the number of its segment."""
        keys = [_key(segment, text) for segment, text in texts]
        unknown = {
            key: item for key, item in zip(keys, texts, strict=True) if key not in self._rows
        }
        waiting = list(unknown.items())
        for start in range(0, len(waiting), self._block):
            part = waiting[start : start + self._block]
            advance = partial(_advance, progress, start, len(waiting)) if progress else None
            self._measure([key for key, _ in part], [item for _, item in part], advance)
        if not keys:
            return self.metric.measure([])
        return numpy.array([self._rows[key] for key in keys])

    def _measure(
        self,
        keys: Sequence[bytes],
        texts: Sequence[tuple[int, str]],
        progress: Progress | None,
    ) -> None:
        sentences = analyse_texts(
            [Sentence(text, self._lang) for _, text in texts], self.metric.needs, self._analyser
        )
        pairs = [
            Pair(sentence, self._segments[segment])
            for sentence, (segment, _) in zip(sentences, texts, strict=True)
        ]
        [rows] = measure_pairs(pairs, [self.metric], jobs=self._jobs, progress=progress)
        bad = numpy.flatnonzero(~numpy.isfinite(rows).all(axis=1))
        if len(bad):
            segment, text = texts[bad[0]]
            raise InputError(
                f"{self.metric.name} has no finite statistics for a candidate of segment "
                f"{segment} ({text[:60]!r}); use another metric, or drop the candidate"
            )
        self.measured += len(rows)
        self._rows.update(zip(keys, rows, strict=True))
        if self._folder is not None:
            self._keep(keys, rows)

    # On disk: one file a block, whole or not there, never changed

    def _keep(self, keys: Sequence[bytes], rows: Array) -> None:
        assert self._folder is not None
        self._folder.mkdir(parents=True, exist_ok=True)
        numbers = [int(path.stem) for path in self._folder.glob("*.npz") if path.stem.isdigit()]
        content = io.BytesIO()
        names = numpy.frombuffer(b"".join(keys), dtype=numpy.uint8).reshape(len(keys), -1)
        numpy.savez_compressed(content, keys=names, rows=rows)
        save(self._folder / f"{max(numbers, default=0) + 1:05}.npz", content.getvalue())

    def _recall(self) -> None:
        assert self._folder is not None
        for path in sorted(self._folder.glob("*.npz")):
            try:
                with numpy.load(path) as content:
                    keys, rows = content["keys"], content["rows"]
                    assert len(keys) == len(rows)
            except (OSError, ValueError, KeyError, AssertionError, zipfile.BadZipFile) as error:
                raise InputError(
                    f"{path}: no rows of ours, or damaged ({error}); remove the file, and what "
                    "it held is measured again"
                ) from error
            self._rows.update((key.tobytes(), row) for key, row in zip(keys, rows, strict=True))
        self.recalled = len(self._rows)


def _advance(progress: Progress, start: int, total: int, done: int, _: int) -> None:
    """Progress inside a block as progress of the whole."""
    progress(start + done, total)


def _key(segment: int, text: str) -> bytes:
    content = f"{segment}\t{text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=16).digest()


def total_score(metric: Metric, rows: Array, selection: NDArray[numpy.int64]) -> float:
    """The corpus score of some rows."""
    return metric.score(rows[selection].sum(axis=0), Level.CORPUS).value
