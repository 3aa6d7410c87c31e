"""Translating with a model: the best translation, or many with their features.

Thot's beam search goes from left to right over the source, with a limit to how far a phrase may
be taken out of order. Of its n-best list, candidates that give the same text are one, the best of
them: different cuts into phrases are no different translations.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from meantime.errors import InputError, UsageError
from meantime.smt.model import FEATURES, Model
from meantime.smt.thot import load_part

_WASTE = 4
"""Candidates asked for in place of each that is wanted, since many give the same text."""
_FINAL = -0.35667494393873245
"""ln 0.7: what the decoder adds to the word penalty where a sentence ends, and does not tell."""
_BATCH = 16
_LONGEST = 200
"""Words in a sentence: of a longer one Thot gives nothing."""
_FOREIGN = 0.5
"""Known words, of all, below which a text may not be in the source language."""


@dataclass(frozen=True)
class Search:
    """How far the decoder looks."""

    stack: int = 10
    reordering: int = 0
    """Words a phrase may be taken ahead of its turn; 0 keeps the order."""
    threshold: float = 0.0
    """Leaves out translations that are this much less likely than the best."""


@dataclass(frozen=True)
class Translation:
    """One candidate."""

    text: str
    values: tuple[float, ...]
    """Of `FEATURES`."""
    score: float
    """The sum of values, weighted."""


class Translator:
    """A model with weights, ready to translate."""

    def __init__(
        self,
        model: Model,
        weights: Mapping[str, float] | None = None,
        search: Search | None = None,
    ) -> None:
        self.model = model
        self.weights = check_weights(dict(weights if weights is not None else model.weights))
        self.search = search or Search()
        self._decoder, self._kept = self._load()

    def _load(self) -> tuple[Any, Any]:
        kinds = load_part("alignment").AlignmentModelType
        translation = load_part("translation")
        model = translation.SmtModel(kinds.FAST_ALIGN)
        folder = self.model.folder
        if not (
            model.load_translation_model(str(folder / "tm"))
            and model.load_language_model(str(folder / "lm"))
        ):
            raise InputError(f"{folder}: the decoder cannot read it; train the model again")
        model.non_monotonicity = self.search.reordering
        model.w = self.search.threshold
        model.a = 10
        model.e = 2
        model.heuristic = 6
        model.weights = [*(self.weights[name] for name in FEATURES), 0.0]
        decoder = translation.SmtDecoder(model)
        decoder.s = self.search.stack
        decoder.is_breadth_first = True
        # The decoder points into the model, and does not keep it alive.
        return decoder, model

    def translate(
        self,
        texts: Sequence[str],
        *,
        candidates: int = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> Iterable[tuple[Translation, ...]]:
        """The candidates of each text, the best first; an empty text has one, which is empty.

        Raises:
            InputError: A text is too long.
        """
        every = [self.model.preparation.source_tokens(text) for text in texts]
        # Before the work is begun.
        refuse_long(every)
        for start in range(0, len(texts), _BATCH):
            tokens = every[start : start + _BATCH]
            there = [" ".join(words) for words in tokens if words]
            found = iter(self._decode(there, candidates))
            for words in tokens:
                yield self._chosen(next(found), candidates) if words else (_nothing(),)
            if progress:
                progress(min(start + _BATCH, len(texts)), len(texts))

    def _decode(self, sentences: Sequence[str], candidates: int) -> Sequence[Sequence[Any]]:
        if not sentences:
            return ()
        # One best from a list too: the decoder's own features of a single one are weighted.
        asked = candidates * _WASTE if candidates > 1 else 1
        found: Sequence[Sequence[Any]] = self._decoder.translate_n_batch(list(sentences), asked)
        return found

    def _chosen(self, found: Sequence[Any], candidates: int) -> tuple[Translation, ...]:
        weights = [self.weights[name] for name in FEATURES]
        best: dict[str, Translation] = {}
        for one in found:
            values = list(one.score_components[: len(FEATURES)])
            values[0] += _FINAL
            score = sum(w * v for w, v in zip(weights, values, strict=True))
            text = self.model.preparation.finish(one.target)
            known = best.get(text)
            if known is None or score > known.score:
                best[text] = Translation(text, tuple(values), score)
        ranked = sorted(best.values(), key=lambda one: -one.score)
        return tuple(ranked[:candidates]) or (_nothing(),)


def refuse_long(texts: Sequence[Sequence[str]]) -> None:
    """Refuse sentences with more words than the decoder takes, which would give nothing."""
    for number, words in enumerate(texts, start=1):
        if len(words) > _LONGEST:
            raise InputError(
                f"text {number} has {len(words)} words, and the decoder takes {_LONGEST} at most; "
                "give it a sentence a line"
            )


def foreign(model: Model, texts: Sequence[str]) -> str | None:
    """What to say where texts look as if they were in another language than the source."""
    source, target = model.vocabularies
    words = [word for text in texts[:500] for word in model.preparation.source_tokens(text)]
    words = [word for word in words if any(character.isalpha() for character in word)]
    if not words:
        return None
    known = sum(word in source for word in words) / len(words)
    other = sum(word in target for word in words) / len(words)
    if known < _FOREIGN and other > 1.5 * known:
        facts = model.facts
        return (
            f"the model translates {facts['source']} to {facts['target']}, and knows {known:.0%} "
            f"of these words in {facts['source']} but {other:.0%} in {facts['target']}: is the "
            "text in the wrong language?"
        )
    return None


def check_weights(weights: dict[str, float]) -> dict[str, float]:
    """Weights of all features and of no others.

    Raises:
        UsageError: One is missing, or is of no feature.
    """
    missing = [name for name in FEATURES if name not in weights]
    unknown = [name for name in weights if name not in FEATURES]
    if missing or unknown:
        wrong = f"has no {missing[0]}" if missing else f"has {unknown[0]}, which is no feature"
        raise UsageError(f"the file of weights {wrong}; the features are {', '.join(FEATURES)}")
    return weights


def _nothing() -> Translation:
    return Translation("", (0.0,) * len(FEATURES), 0.0)


def render_list(segment: int, candidates: Iterable[Translation]) -> str:
    """Lines of an n-best list as Moses writes them."""
    out = io.StringIO()
    for one in candidates:
        features = " ".join(
            f"{name}= {value:.6g}" for name, value in zip(FEATURES, one.values, strict=True)
        )
        text = one.text.replace("|||", "| | |")
        out.write(f"{segment} ||| {text} ||| {features} ||| {one.score:.6g}\n")
    return out.getvalue()
