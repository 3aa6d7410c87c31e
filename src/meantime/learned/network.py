"""The trained metric's network as one unit: two graphs, tokeniser, configuration, card.

    lower.onnx   one text            -> states of its pieces
    upper.onnx   states of two texts -> score, and how well each piece is found on the other side

Texts are read once and kept for a while, so that the reference of many systems is. Every text and
every pair runs by itself: dynamic int8 scales its inputs by the whole batch, and a score must not
depend on its neighbours. Nothing in a model is unpickled: ONNX, JSON and text only.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from meantime.errors import InputError
from meantime.learned.encoding import Pieces, Text, measure_surface

FILES = ("lower.onnx", "upper.onnx", "tokenizer.json", "configuration.json")
CARD = "card.md"
FACTS = "card.json"
FORMAT = 1
KEPT = 2048
"""Texts whose states are kept, 40 kB each or so."""

WINDOW = 126
"""Pieces of a text that are read at once, as many as the longest it learned from has.

What is longer is read in parts beside each other."""

Floats = NDArray[numpy.float32]


@dataclass(frozen=True)
class TrainedModel:
    """A folder that holds a trained metric."""

    folder: Path

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise InputError(f"{self.folder}: no such folder; give one that holds a model")
        for name in FILES:
            if not (self.folder / name).is_file():
                raise InputError(
                    f"{self.folder}: {name} is missing; a trained metric has {', '.join(FILES)}"
                )
        found = self.configuration
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise InputError(
                f"{self.folder}: no trained metric of format {FORMAT}; export it with this "
                "version's training code"
            )
        knots = found.get("knots")
        if not isinstance(knots, list) or len(knots) < 2 or knots != sorted(knots):
            raise InputError(f"{self.folder}: configuration.json lacks knots; export it again")

    @cached_property
    def configuration(self) -> dict[str, Any]:
        path = self.folder / "configuration.json"
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"{path}: not JSON ({error}); export the model again") from error
        return found

    @property
    def name(self) -> str:
        return str(self.configuration.get("name", self.folder.name))

    @cached_property
    def identity(self) -> str:
        """The hash of the files; of a shipped model the recorded one, which `check` compares."""
        recorded = self.configuration.get("hash")
        ours = self.folder.parent == shipped()
        return str(recorded) if recorded and ours else self.compute_hash()

    def compute_hash(self) -> str:
        """The hash of everything a score depends on."""
        digest = hashlib.sha256()
        for name in FILES:
            data = (self.folder / name).read_bytes()
            if name == "configuration.json":
                settings = {k: v for k, v in json.loads(data).items() if k != "hash"}
                data = json.dumps(settings, sort_keys=True).encode()
            digest.update(hashlib.sha256(data).digest())
        return digest.hexdigest()

    def check(self) -> None:
        """Refuse a model whose files are not the ones its hash was made of."""
        if self.configuration.get("hash") != self.compute_hash():
            raise InputError(f"{self.folder}: the files are damaged or changed; install it again")

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(path.stat().st_size for path in self.folder.iterdir() if path.is_file())

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What the card says, as data: licence, figures, data it was made from."""
        path = self.folder / FACTS
        found: dict[str, Any] = {}
        if path.is_file():
            found = json.loads(path.read_text(encoding="utf-8"))
        return found

    @property
    def card(self) -> str:
        path = self.folder / CARD
        return path.read_text(encoding="utf-8") if path.is_file() else ""


def shipped() -> Path:
    """Where the trained metrics that come with the package are."""
    return Path(__file__).parent / "shipped"


def installed() -> list[TrainedModel]:
    """The trained metrics that come with the package."""
    if not shipped().is_dir():
        return []
    return [TrainedModel(folder) for folder in sorted(shipped().iterdir()) if folder.is_dir()]


@dataclass(frozen=True, slots=True)
class Read:
    """A text the lower graph has read."""

    text: Text
    middle: Floats
    """(1, pieces with marks, width), after a middle layer."""
    states: Floats
    """The same after the last layer that sees one text only."""
    rarity: Floats
    """(1, pieces with marks): what each weighs; 0 for marks."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the network says of one pair, in numbers of its own.

    The arrays have one entry for each piece of the side, marks left out.
    """

    raw: float
    hypothesis_found: Floats
    """How well each piece is found on the other side, -1 to 1."""
    hypothesis_weight: Floats
    reference_found: Floats
    reference_weight: Floats


@dataclass
class Network:
    """A model that is loaded when first asked. One thread at a time changes what it keeps."""

    model: TrainedModel
    _kept: OrderedDict[str, list[Read]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def _pieces(self) -> Pieces:
        return Pieces(self.model.folder / "tokenizer.json")

    @cached_property
    def _lower(self) -> Any:
        return self._session("lower.onnx")

    @cached_property
    def _upper(self) -> Any:
        return self._session("upper.onnx")

    def _session(self, name: str) -> Any:
        from meantime.analysis.runtime import load_runtime

        onnxruntime = load_runtime()
        options = onnxruntime.SessionOptions()
        # One product of this size gains little from two threads; processes share the pairs.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        path = self.model.folder / name
        try:
            return onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"],
                disabled_optimizers=["SkipLayerNormFusion"],
            )  # fmt: skip
        except Exception as error:
            # The library has an exception a code, with no base but this one.
            raise InputError(f"{path}: damaged ({error}); install the model again") from error

    def read(self, texts: Sequence[str]) -> list[list[Read]]:
        """Each text as what was read of it: one part, or several of a long text."""
        found: list[list[Read] | None] = []
        with self._lock:
            for text in texts:
                known = self._kept.get(text)
                if known is not None:
                    self._kept.move_to_end(text)
                found.append(known)
        missing = list(dict.fromkeys(t for t, one in zip(texts, found, strict=True) if one is None))
        made = {
            text: [self._read(part) for part in _cut(whole)]
            for text, whole in zip(missing, self._pieces.split(missing), strict=True)
        }
        with self._lock:
            self._kept.update(made)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return [made[text] if one is None else one for text, one in zip(texts, found, strict=True)]

    def _read(self, text: Text) -> Read:
        start, end = self._pieces.marks
        pieces = numpy.array([[start, *text.pieces, end]], numpy.int64)
        return Read(text, *self._lower.run(None, {"pieces": pieces}))

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[list[Judged]]:
        """Each hypothesis against its reference: one judgement, or one for each part."""
        flat = self.read([text for pair in pairs for text in pair])
        found = []
        for n in range(len(pairs)):
            sides = _side_by_side(flat[2 * n], flat[2 * n + 1], self._cut_again)
            found.append([self._compare(one, other) for one, other in sides])
        return found

    def _cut_again(self, parts: Sequence[Read], count: int) -> list[Read]:
        """A text in so many parts of about one length."""
        pieces = [piece for part in parts for piece in part.text.pieces]
        offsets = [offset for part in parts for offset in part.text.offsets]
        edges = numpy.linspace(0, len(pieces), count + 1).astype(int)
        return [
            self._read(_part(parts[0].text.text, pieces, offsets, int(a), int(b)))
            for a, b in pairwise(edges)
        ]

    def _compare(self, hypothesis: Read, reference: Read) -> Judged:
        surface = measure_surface([(hypothesis.text, reference.text)]).astype(numpy.float32)
        raw, ours, theirs, our_weight, their_weight = self._upper.run(
            None,
            {
                "hypothesis_middle": hypothesis.middle,
                "reference_middle": reference.middle,
                "hypothesis": hypothesis.states,
                "reference": reference.states,
                "hypothesis_rarity": hypothesis.rarity,
                "reference_rarity": reference.rarity,
                "surface": surface,
            },
        )
        # Marks are no words.
        return Judged(
            float(raw[0]),
            ours[0, 1:-1],
            our_weight[0, 1:-1],
            theirs[0, 1:-1],
            their_weight[0, 1:-1],
        )


def _part(
    text: str, pieces: Sequence[int], offsets: Sequence[tuple[int, int]], start: int, end: int
) -> Text:
    """Some pieces of a text as a text of their own, its offsets still those of the whole."""
    own = offsets[start:end]
    shown = text[own[0][0] : own[-1][1]] if own else ""
    return Text(shown, tuple(pieces[start:end]), tuple(own))


def _cut(text: Text) -> list[Text]:
    """A text in parts that can be read at once, of about one length."""
    count = max(1, -(-len(text.pieces) // WINDOW))
    if count == 1:
        return [text]
    edges = numpy.linspace(0, len(text.pieces), count + 1).astype(int)
    return [_part(text.text, text.pieces, text.offsets, int(a), int(b)) for a, b in pairwise(edges)]


def _side_by_side(
    hypothesis: list[Read], reference: list[Read], cut: Any
) -> list[tuple[Read, Read]]:
    """Parts that belong together: both sides in as many parts, each of its own text."""
    if len(hypothesis) < len(reference):
        hypothesis = cut(hypothesis, len(reference))
    elif len(reference) < len(hypothesis):
        reference = cut(reference, len(hypothesis))
    return list(zip(hypothesis, reference, strict=True))


@lru_cache(maxsize=4)
def open_network(folder: Path) -> Network:
    """A model's network, shared by all that use it in this process."""
    return Network(TrainedModel(folder))
