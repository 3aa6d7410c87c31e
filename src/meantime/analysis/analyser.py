"""The embedded analyser: one pass of one small encoder, then exact decoding.

Sentences run through the network one by one, because its int8 products scale their inputs
by what is in the batch: alone, a text gets the same analysis whatever it came with. Threads
take sentences in turn, longest first, so that no core waits for the last one.
"""

from __future__ import annotations

import gc
import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy
from numpy.typing import NDArray

from meantime.analysis.model import Model
from meantime.analysis.runtime import load_runtime
from meantime.analysis.subwords import Subwords
from meantime.analysis.tokenise import tokenise
from meantime.errors import InputError, MeantimeError
from meantime.matching.chart import best_tree, span_ends
from meantime.matching.labels import best_roles, span_gains
from meantime.types import Frame, Layer, Role, Sentence, Span, Tree

Progress = Callable[[int, int], None]

VERSION = 1
"""Of tokenising and decoding: raise it when the same model would answer otherwise."""

WINDOW = 400
"""Pieces read at once; longer sentences are read in windows that overlap."""
OVERLAP = 100
STRETCH = 512
"""Sentences after which what is young is swept, while the collector rests."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the network says of the words of one sentence, decoded."""

    tags: list[str]
    predicates: list[int]
    roles: list[list[tuple[int, int, str]]]
    constituents: list[tuple[int, int, str]]
    score: float
    vectors: NDArray[numpy.float16]


class EmbeddedAnalyser:
    """English tokens, parts of speech, constituents, frames and vectors, offline on a CPU."""

    def __init__(self, model: Model, *, threads: int = 0, progress: Progress | None = None) -> None:
        self.model = model
        self.threads = threads or os.cpu_count() or 1
        self._progress = progress
        labels = model.configuration["labels"]
        self._tags: list[str] = labels["tags"]
        self._constituents: list[list[str]] = [
            label.split("+") if label else [] for label in labels["constituents"]
        ]
        self._roles: list[str] = labels["roles"]
        self._decoding: dict[str, float] = model.configuration.get("decoding", {})
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self.model.name

    @cached_property
    def identity(self) -> str:
        """A hash of the model and of the version of the code around it."""
        return hashlib.sha256(f"{self.model.identity}|{VERSION}".encode()).hexdigest()

    @property
    def layers(self) -> frozenset[Layer]:
        return frozenset({Layer.TOKENS, Layer.POS, Layer.TREE, Layer.FRAMES, Layer.VECTORS})

    @property
    def languages(self) -> frozenset[str]:
        return frozenset({"en"})

    @cached_property
    def _subwords(self) -> Subwords:
        path = self.model.folder / "tokenizer.json"
        try:
            return Subwords(path)
        except MeantimeError:
            raise
        except Exception as error:
            # The library raises nothing narrower.
            raise InputError(f"{path}: damaged ({error}); install the model again") from error

    @cached_property
    def _first(self) -> Any:
        return self._session("first.onnx")

    @cached_property
    def _second(self) -> Any:
        return self._session("second.onnx")

    def _session(self, name: str) -> Any:
        onnxruntime = load_runtime()
        options = onnxruntime.SessionOptions()
        # Threads are ours, over sentences: one product of this size gains little from two.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        path = self.model.folder / name
        try:
            return onnxruntime.InferenceSession(
                str(path),
                options,
                providers=["CPUExecutionProvider"],
                # Fused with the sum before it, the norm is slower than by itself at this size.
                disabled_optimizers=["SkipLayerNormFusion"],
            )
        except Exception as error:
            # The library has an exception a code, with no base but this one.
            raise InputError(f"{path}: damaged ({error}); install the model again") from error

    def analyse(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Enriched copies of the sentences, in order.

        A sentence that has tokens already is analysed with those; one without words gets
        empty layers and no tree.
        """
        # Loaded here, once, and not by two threads at a time.
        _ = self._subwords, self._first, self._second
        order = sorted(range(len(sentences)), key=lambda n: -len(sentences[n].text))
        found: list[Sentence | None] = [None] * len(sentences)
        done = 0

        def work(n: int) -> None:
            nonlocal done
            found[n] = self._analyse_one(sentences[n])
            with self._lock:
                done += 1
                if done % STRETCH == 0:
                    gc.collect(1)
                if self._progress:
                    self._progress(done, len(sentences))

        # One list for all threads: whoever is done takes the next sentence.
        waiting = iter(order)

        def work_on() -> None:
            try:
                for n in waiting:
                    work(n)
            except BaseException:
                # What has not begun is nobody's any more.
                for _rest in waiting:
                    pass
                raise

        with _resting_collector():
            if self.threads == 1 or len(sentences) == 1:
                work_on()
            else:
                with ThreadPoolExecutor(self.threads) as pool:
                    try:
                        for one in [pool.submit(work_on) for _ in range(self.threads)]:
                            one.result()
                    except BaseException:
                        # Whoever interrupts does not wait for what has not begun.
                        for _rest in waiting:
                            pass
                        raise
        return [sentence for sentence in found if sentence is not None]

    def _analyse_one(self, sentence: Sentence) -> Sentence:
        if sentence.tokens is None:
            tokens = tokenise(sentence.text)
            words = tuple(token.text for token in tokens)
            offsets = tuple((token.start, token.end) for token in tokens)
        else:
            words, offsets = sentence.tokens, sentence.offsets  # type: ignore[assignment]
        if not words:
            empty = numpy.zeros((0, self.model.configuration["width"]), numpy.float16)
            return replace(
                sentence, tokens=(), offsets=(), pos=(), tree=None, frames=(), vectors=empty
            )
        analysis = self.read(words)
        return replace(
            sentence,
            tokens=words,
            offsets=offsets,
            pos=tuple(analysis.tags),
            tree=_build(analysis, len(words)),
            tree_score=analysis.score,
            frames=tuple(
                _frame(place, roles)
                for place, roles in zip(analysis.predicates, analysis.roles, strict=True)
            ),
            vectors=analysis.vectors,
        )

    def read(self, words: Sequence[str], predicates: Sequence[int] | None = None) -> Analysis:
        """Analyse words; with `predicates` given, roles are found for those instead."""
        encoded = self._subwords.encode(words)
        if len(encoded.pieces) <= WINDOW + 2:
            return self._read_window(encoded.pieces, encoded.shapes, encoded.firsts, predicates)
        return self._read_long(words, predicates)

    def _read_window(
        self,
        pieces: list[int],
        shapes: list[int],
        firsts: list[int],
        predicates: Sequence[int] | None,
    ) -> Analysis:
        starts, ends = _ends(len(firsts))
        tags, is_predicate, labels, gains, token, predicate, vectors = self._first.run(
            None,
            {
                "pieces": numpy.array([pieces], numpy.int64),
                "shapes": numpy.array([shapes], numpy.int64),
                "firsts": numpy.array([firsts], numpy.int64),
                "starts": starts,
                "ends": ends,
            },
        )
        if predicates is None:
            places = numpy.flatnonzero(is_predicate[0] > 0)
        else:
            places = numpy.array(predicates, numpy.int64)
        constituents, score = best_tree(labels, gains, len(firsts))
        return Analysis(
            [self._tags[n] for n in tags[0].argmax(-1).tolist()],
            places.tolist(),
            self._read_roles(token, predicate, places, gains),
            [
                (start, end, label)
                for start, end, number in constituents.tolist()
                for label in self._constituents[number]
            ],
            score,
            vectors[0].astype(numpy.float16),
        )

    def _read_roles(
        self, token: Any, predicate: Any, places: NDArray[numpy.int64], odds: Any
    ) -> list[list[tuple[int, int, str]]]:
        if not len(places):
            return []
        (scores,) = self._second.run(
            None, {"token": token, "predicate": predicate, "place": places}
        )
        gains = span_gains(odds, scores.shape[1], **self._decoding)
        return [
            [(start, end, self._roles[role]) for start, end, role in roles]
            for roles in best_roles(scores, places, gains)
        ]

    def _read_long(self, words: Sequence[str], predicates: Sequence[int] | None) -> Analysis:
        """Windows that overlap; every word is answered for where it has most around it.

        Constituents do not cross from one window's share to the next: the tree's parts stand
        side by side below its root. A window's log-probability counts by its share of words.
        """
        windows = self._windows(words)
        tags: list[str] = []
        places: list[int] = []
        roles: list[list[tuple[int, int, str]]] = []
        constituents: list[tuple[int, int, str]] = []
        vectors = []
        score = 0.0
        for start, end, low, high in windows:
            asked = None
            if predicates is not None:
                asked = [place - start for place in predicates if low <= place < high]
            encoded = self._subwords.encode(words[start:end])
            part = self._read_window(encoded.pieces, encoded.shapes, encoded.firsts, asked)
            tags += part.tags[low - start : high - start]
            vectors.append(part.vectors[low - start : high - start])
            score += part.score * (high - low) / (end - start)
            for place, spans in zip(part.predicates, part.roles, strict=True):
                if low <= place + start < high:
                    places.append(place + start)
                    roles.append([(a + start, b + start, label) for a, b, label in spans])
            constituents += [
                (a + start, b + start, label)
                for a, b, label in part.constituents
                if low <= a + start and b + start <= high
            ]
        return Analysis(tags, places, roles, constituents, score, numpy.concatenate(vectors))

    def _windows(self, words: Sequence[str]) -> list[tuple[int, int, int, int]]:
        """(start, end, first and last word answered for) of each window, in words."""
        sizes = [len(self._subwords.of(word)) for word in words]
        bounds: list[tuple[int, int]] = []
        start = 0
        while True:
            end, total = start, 0
            while end < len(words) and total + sizes[end] <= WINDOW:
                total += sizes[end]
                end += 1
            bounds.append((start, end))
            if end == len(words):
                break
            shared = 0
            start = end
            while start > bounds[-1][0] + 1 and shared + sizes[start - 1] <= OVERLAP:
                start -= 1
                shared += sizes[start]
        windows = []
        low = 0
        for n, (start, end) in enumerate(bounds):
            high = len(words) if n + 1 == len(bounds) else (bounds[n + 1][0] + end) // 2
            windows.append((start, end, low, high))
            low = high
        return windows


@contextmanager
def _resting_collector() -> Iterator[None]:
    """No garbage collection meanwhile.

    Trees and frames are many objects and hold no cycles; to look through all that lives, again and
    again as they grow in number, takes a twentieth of the time and finds nothing.
    """
    awake = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if awake:
            gc.enable()


@lru_cache(maxsize=1 << 14)
def _span(start: int, end: int) -> Span:
    """Spans are frozen, so the same one serves many sentences."""
    return Span(start, end)


@lru_cache(maxsize=1 << 14)
def _leaf(tag: str, place: int) -> Tree:
    """A word's part of speech: frozen too, and most of a tree's nodes."""
    return Tree(tag, _span(place, place + 1))


@lru_cache(maxsize=512)
def _ends(words: int) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
    return span_ends(words)


def _frame(place: int, spans: Sequence[tuple[int, int, str]]) -> Frame:
    """A frame of labelled spans; parts `C-X` join the role X before them."""
    roles: list[Role] = []
    for start, end, label in spans:
        span = _span(start, end)
        if label.startswith("C-") and label != "C-V":
            base = label[2:]
            earlier = [n for n, role in enumerate(roles) if role.label == base]
            if earlier:
                role = roles[earlier[-1]]
                roles[earlier[-1]] = Role(base, (*role.spans, span))
            else:
                roles.append(Role(base, (span,)))
        else:
            roles.append(Role(label, (span,)))
    return Frame(_span(place, place + 1), tuple(roles))


def _build(analysis: Analysis, words: int) -> Tree:
    """The tree of constituents listed outer first, over parts of speech, below `TOP`."""
    leaves = [_leaf(tag, place) for place, tag in enumerate(analysis.tags)]
    root: list[Any] = ["TOP", 0, words, []]
    stack = [root]
    leaf = 0
    for start, end, label in analysis.constituents:
        node = stack[-1]
        while node[2] <= start:
            leaf = _close(stack, leaves, leaf)
            node = stack[-1]
        if leaf < start:
            node[3] += leaves[leaf:start]
            leaf = start
        stack.append([label, start, end, []])
    while len(stack) > 1:
        leaf = _close(stack, leaves, leaf)
    root[3] += leaves[leaf:words]
    return Tree("TOP", Span(0, words), tuple(root[3]))


def _close(stack: list[list[Any]], leaves: list[Tree], leaf: int) -> int:
    """Hang the innermost constituent into the next, its last leaves in it; the next leaf."""
    label, start, end, inside = stack.pop()
    last: int = end
    inside += leaves[leaf:last]
    stack[-1][3].append(Tree(label, _span(start, end), tuple(inside)))
    return max(leaf, last)
