"""METEOR: unigrams matched by form, stem and synonym, in as few chunks as possible.

Denkowski and Lavie 2014, "Meteor Universal: Language Specific Translation Evaluation for
Any Target Language"; Banerjee and Lavie 2005, "METEOR: An Automatic Metric for MT
Evaluation with Improved Correlation with Human Judgments". The statistics, parameters,
tokeniser and search are those of METEOR 1.5 for English.

Words of hypothesis and reference are aligned one to one; module i (exact, stem, synonym)
has the weight w_i and matches m_i. Content words (c) count delta, function words (f)
1 - delta, on the side of the hypothesis (h) and of the reference (r):

    P = sum_i w_i (delta m_i(h_c) + (1 - delta) m_i(h_f)) / (delta |h_c| + (1 - delta) |h_f|)
    R = sum_i w_i (delta m_i(r_c) + (1 - delta) m_i(r_f)) / (delta |r_c| + (1 - delta) |r_f|)
    F = 1 / ((1 - alpha) / P + alpha / R)
    penalty = gamma (chunks / matches) ** beta
    score = F (1 - penalty)

A hypothesis that matches its reference word for word in a single chunk has no penalty, and
adds no chunk to the sum of a corpus. All counts add up over segments; the score of a
corpus is the formula over the sums.
"""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy
from numpy.typing import NDArray

from meantime.analysis.stems import stem
from meantime.errors import UnsupportedLanguage
from meantime.matching.chunks import ChunkAlignment, align_chunks
from meantime.metrics import tokens
from meantime.metrics.base import BaseMetric, require_references
from meantime.metrics.wordnet import find_wordnet, open_wordnet
from meantime.options import option
from meantime.protocols import Array
from meantime.types import (
    Explanation,
    Level,
    Pair,
    Part,
    Score,
    Segment,
    Sentence,
    Signature,
    Span,
    primary,
)

MODULES = ("exact", "stem", "synonym")

_COLUMNS = (
    "hypothesis_length",
    "reference_length",
    "hypothesis_function_words",
    "reference_function_words",
    *(
        f"{module}_{side}_{kind}"
        for module in MODULES
        for side in ("hypothesis", "reference")
        for kind in ("content", "function")
    ),
    "chunks",
)
_MATCHES = slice(4, 16)


# --- From text to words: METEOR's `-norm`, which is Moses' tokeniser of the time with
# --- quotes and dashes made one, and hyphens and the dots of abbreviations taken out.

_LETTERS = "A-Za-zŠŽšžŸÀ-ÖØ-öø-žЀ-ӿԀ-ԧꙀ-ꙮ꙾-ꚗᴀ-ᵿ"
_DOTS = re.compile(r"(\.{2,})")
# The context of a comma or an apostrophe is part of its match, so that of two with one
# character between them the second is left alone, as METEOR leaves it.
_STEPS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (rf"([^0-9{_LETTERS}\s.'`,\-‘’])", r" \1 "),
        (r"([^0-9]),([^0-9])", r"\1 , \2"),
        (r"([0-9]),([^0-9])", r"\1 , \2"),
        (r"([^0-9]),([0-9])", r"\1 , \2"),
        (r"[`‘’]", "'"),
        (r"[“”]|''", ' " '),
        (r"–|--", "-"),
        (rf"([0-9{_LETTERS}.])-([0-9{_LETTERS}])", r"\1 \2"),
        (rf"([^{_LETTERS}])'([^{_LETTERS}])", r"\1 ' \2"),
        (rf"([^0-9{_LETTERS}])'([{_LETTERS}])", r"\1 ' \2"),
        (rf"([{_LETTERS}])'([^{_LETTERS}])", r"\1 ' \2"),
        (rf"([{_LETTERS}])'([{_LETTERS}])", r"\1 '\2"),
        (r"([0-9])'(s)", r"\1 '\2"),
    )
)
_LETTER = re.compile(f"[{_LETTERS}]")

# Abbreviations that keep their dot because a name follows them: initials, forms of address,
# ranks and offices, companies; and those that stand between two names.
_ABBREVIATIONS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ") | frozenset(
    re.findall(
        r"\w+",
        """
        Mr Mrs Ms Messrs Mme Mlle Dr Drs Prof Hon Rev Fr Msgr St Sr Jr
        Adm Brig Capt Cmdr Col Cpl Gen Insp Lt Maj Pvt Sgt Supt
        Gov Pres Rep Reps Sen Sens
        Bros Co Corp Inc Ltd
        v vs
        """,
    )
)
_BEFORE_NUMBERS = frozenset({"No", "Nos", "p", "pp", "vol"})


def _undot(words: Sequence[str]) -> list[str]:
    """Part words from their full stops, except abbreviations."""
    parted = []
    for number, word in enumerate(words):
        if len(word) == 1 or not word.endswith("."):
            parted.append(word)
            continue
        stem = word[:-1]
        following = words[number + 1][:1] if number + 1 < len(words) else ""
        if "." in stem and _LETTER.search(stem):
            parted.append(word.replace(".", ""))
        elif (
            stem in _ABBREVIATIONS
            or "a" <= following <= "z"
            or (stem in _BEFORE_NUMBERS and "0" <= following <= "9")
        ):
            parted.append(word)
        else:
            parted += (stem, ".")
    return parted


@lru_cache(maxsize=1 << 14)
def split_words(text: str) -> tuple[str, ...]:
    """The words of an English text as `-norm` of METEOR 1.5 gives them, in lower case."""
    words: list[str] = []
    # Two dots and more are a word of their own, with nothing across them.
    for piece in _DOTS.split(text):
        if piece.startswith(".."):
            words.append(piece)
            continue
        line = f" {piece} "
        for pattern, replacement in _STEPS:
            line = pattern.sub(replacement, line)
        words += _undot(line.split())
    return tuple(word.lower() for word in words)


# --- What is known of a word


@cache
def function_words() -> frozenset[str]:
    """The shipped list; how it was made is said at its top."""
    data = importlib.resources.files("meantime.metrics") / "data" / "function_words.en.txt"
    lines = data.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if not line.startswith("# "))


class _Aligned(NamedTuple):
    """Pairs with their alignments and statistics, one row a reference."""

    hypotheses: list[tuple[str, ...]]
    references: list[list[tuple[str, ...]]]
    batch: tokens.Batch
    alignment: ChunkAlignment
    rows: Array


@dataclass(frozen=True, kw_only=True)
class Meteor(BaseMetric):
    """METEOR 1.5 for English: exact, stem and synonym matches, and how scattered they are."""

    name: ClassVar[str] = "meteor"
    version: ClassVar[str] = "1"
    summary: ClassVar[str] = (
        "words matched by form, stem and synonym, less a penalty for scattered matches"
    )
    paper: ClassVar[str] = (
        "Denkowski and Lavie 2014, Meteor Universal: Language Specific Translation "
        "Evaluation for Any Target Language"
    )
    empty: ClassVar[str] = "0"

    modules: str = option(
        "exact+stem+synonym",
        "what counts as a match",
        choices=("exact+stem+synonym", "exact+stem", "exact+synonym", "exact"),
    )
    tokeniser: str = option(
        "meteor",
        "how text becomes words: METEOR's own '-norm', sacreBLEU's tokenisers, or 'none' to "
        "split at white space; always in lower case",
        choices=("meteor", *tokens.NAMES),
    )
    wordnet: str | None = option(
        None, "folder of WordNet's index files for the synonyms; none looks in the usual places"
    )
    alpha: float = option(0.85, "weight of recall against precision", minimum=0, maximum=1)
    beta: float = option(0.2, "exponent of the fragmentation", minimum=0, maximum=100)
    gamma: float = option(0.6, "largest fragmentation penalty", minimum=0, maximum=1)
    delta: float = option(
        0.75, "weight of content words, function words have the rest", minimum=0, maximum=1
    )
    exact_weight: float = option(1.0, "weight of an exact match", minimum=0, maximum=1)
    stem_weight: float = option(0.6, "weight of a stem match", minimum=0, maximum=1)
    synonym_weight: float = option(0.8, "weight of a synonym match", minimum=0, maximum=1)
    beam: int = option(
        40, "partial alignments kept in the search for few chunks", minimum=1, maximum=10_000
    )

    @property
    def scale(self) -> tuple[float, float]:
        return (0.0, 1.0)

    @property
    def copy_is_best(self) -> bool:
        """True for the usual parameters; some leave even a copy without its full credit."""
        return self.exact_weight == 1 and 0 < self.delta < 1 and (self.beta > 0 or self.gamma == 0)

    @property
    def statistics(self) -> tuple[str, ...]:
        return _COLUMNS

    def check_language(self, lang: str) -> None:
        if primary(lang) != "en":
            raise UnsupportedLanguage(
                f"meteor cannot treat the language {lang!r}: its stemmer, synonyms and "
                "function words are English; use chrf, ter or bleu for other languages"
            )

    def prepare(self, segments: Sequence[Segment]) -> Self:
        """Check that the references are there and English, and that the synonyms are there.

        Raises:
            MissingPart: The synonym module is on and there is no WordNet.
        """
        if self._uses("synonym"):
            open_wordnet(self.wordnet)
        return super().prepare(segments)

    def signature(self) -> Signature:
        """As for every metric, with the WordNet by its version, not its place."""
        version = "none"
        if self._uses("synonym"):
            folder = find_wordnet(self.wordnet)
            version = open_wordnet(str(folder)).version if folder else "not found"
        options = dict(super().signature().options)
        options["wordnet"] = version
        stemmer = "none"
        if self._uses("stem"):
            stemmer = f"snowball-{importlib.metadata.version('snowballstemmer')}"
        empty = options.pop("empty")
        options |= {"stemmer": stemmer, "empty": empty}
        return Signature(self.name, self.version, tuple(options.items()))

    def words(self, sentence: Sentence) -> tuple[str, ...]:
        """The words of a sentence, as this metric sees them."""
        if self.tokeniser == "meteor":
            return split_words(sentence.text)
        return tokens.tokenise(sentence.text, self.tokeniser, True)

    def measure(self, pairs: Sequence[Pair]) -> Array:
        """Counts of words, matches and chunks, with the best-scoring reference of each pair."""
        if not pairs:
            return numpy.zeros((0, len(_COLUMNS)))
        aligned = self._align(pairs)
        return aligned.rows[self._best(aligned)]

    def score(self, total: Array, level: Level) -> Score:
        parts = {name: float(values[0]) for name, values in self._compute(total[None, :]).items()}
        return Score(parts.pop("score"), parts)

    def scores(self, totals: Array, level: Level) -> Array:
        """What `score` gives, for all rows at once."""
        return self._compute(totals)["score"]

    def explain(self, pair: Pair) -> Explanation:
        """The alignment with the best-scoring reference.

        A match is a part labelled with its module and worth the weight of the module; a
        word of the hypothesis (`extra`) or the reference (`missing`) without a match is a
        part worth 0. They rebuild the score: P is the mean of the values over the words
        of the hypothesis, a function word counting 1 - delta and a content word delta; R
        the same over the reference; chunks are the longest runs of matches whose spans
        are adjacent and in order on both sides; then the formula of the module.
        """
        aligned = self._align([pair])
        number = int(self._best(aligned)[0])
        hypothesis, reference = aligned.hypotheses[0], aligned.references[0][number]
        start, stop = aligned.batch.reference_offsets[number : number + 2]
        positions = aligned.alignment.positions[start:stop].tolist()
        levels = aligned.alignment.levels[start:stop].tolist()
        weights = self._weights()
        parts = []
        for j, (i, level) in enumerate(zip(positions, levels, strict=True)):
            there = Span(j, j + 1)
            if i < 0:
                parts.append(Part("missing", None, there, 0.0))
            else:
                parts.append(Part(MODULES[level], Span(i, i + 1), there, float(weights[level])))
        taken = set(positions)
        parts += [
            Part("extra", Span(i, i + 1), None, 0.0)
            for i in range(len(hypothesis))
            if i not in taken
        ]
        score = self.score(aligned.rows[number], Level.SEGMENT)
        return Explanation(self.name, score, hypothesis, reference, number, tuple(parts))

    def _uses(self, module: str) -> bool:
        return module in self.modules.split("+")

    def _weights(self) -> Array:
        return numpy.array([self.exact_weight, self.stem_weight, self.synonym_weight])

    def _compute(self, rows: Array) -> dict[str, Array]:
        """The score of each row, and what it is made of."""
        hypothesis_length, reference_length = rows[:, 0], rows[:, 1]
        by_kind = numpy.array([self.delta, 1 - self.delta])
        matched = rows[:, _MATCHES].reshape(-1, len(MODULES), 2, 2)
        credit = numpy.einsum("rmsk,m,k->rs", matched, self._weights(), by_kind)
        functions = rows[:, 2:4]
        contents = rows[:, 0:2] - functions
        length = self.delta * contents + (1 - self.delta) * functions
        # Nothing that counts on a side: no credit there, hence none at all.
        shares = numpy.divide(credit, length, out=numpy.zeros_like(credit), where=length > 0)
        precision, recall = shares[:, 0], shares[:, 1]
        some = (precision > 0) & (recall > 0)
        harmonic = numpy.zeros_like(precision)
        harmonic[some] = 1 / ((1 - self.alpha) / precision[some] + self.alpha / recall[some])
        matches = matched[:, :, 0, :].sum(axis=(1, 2))
        chunks = rows[:, -1]
        fragmentation = numpy.divide(
            chunks, matches, out=numpy.zeros_like(chunks), where=matches > 0
        )
        penalty = self.gamma * fragmentation**self.beta
        return {
            "score": numpy.clip(harmonic * (1 - penalty), 0.0, 1.0),
            "precision": precision,
            "recall": recall,
            "f_mean": harmonic,
            "penalty": penalty,
            "matches": matches,
            "chunks": chunks,
            "hypothesis_length": hypothesis_length,
            "reference_length": reference_length,
        }

    def _best(self, aligned: _Aligned) -> NDArray[numpy.int64]:
        """The row of each pair's best-scoring reference, the first of equals."""
        return aligned.batch.best(-self._compute(aligned.rows)["score"])

    def _align(self, pairs: Sequence[Pair]) -> _Aligned:
        require_references(self.name, (pair.segment for pair in pairs))
        hypotheses = [self.words(pair.hypothesis) for pair in pairs]
        references = [[self.words(one) for one in pair.segment.references] for pair in pairs]
        vocabulary = tokens.Vocabulary()
        batch = tokens.batch(hypotheses, references, vocabulary)
        alignment = align_chunks(*batch, beam=self.beam, **self._knowledge(vocabulary))
        listed = function_words()
        is_function = numpy.array([word in listed for word in vocabulary], dtype=numpy.int64)
        rows = _count(batch, alignment, is_function)
        return _Aligned(hypotheses, references, batch, alignment, rows)

    def _knowledge(self, vocabulary: dict[str, int]) -> dict[str, Any]:
        """The stems and synonym sets of words, as the kernel takes them."""
        known: dict[str, Any] = {}
        if self._uses("stem"):
            stems: dict[str, int] = {}
            flat = (stems.setdefault(stem(word), len(stems)) for word in vocabulary)
            known["keys"] = numpy.fromiter(flat, dtype=numpy.int32, count=len(vocabulary))
        if self._uses("synonym"):
            wordnet = open_wordnet(self.wordnet)
            sets = [wordnet.sets(word) for word in vocabulary]
            known["sets"], known["set_offsets"] = _flatten(sets)
        return known


def _flatten(sets: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    offsets = numpy.zeros(len(sets) + 1, dtype=numpy.int64)
    numpy.cumsum([len(numbers) for numbers in sets], out=offsets[1:])
    flat = (number for numbers in sets for number in numbers)
    return numpy.fromiter(flat, dtype=numpy.int32, count=int(offsets[-1])), offsets


def _count(
    batch: tokens.Batch, alignment: ChunkAlignment, is_function: NDArray[numpy.int64]
) -> Array:
    """The statistics of each reference; `is_function` says which words are function words."""
    pair_of = batch.reference_owners
    pairs, size = len(batch.hypothesis_lengths), len(pair_of)
    rows = numpy.zeros((size, len(_COLUMNS)))
    rows[:, 0] = batch.hypothesis_lengths[pair_of]
    rows[:, 1] = batch.reference_lengths
    owner = numpy.repeat(numpy.arange(pairs), batch.hypothesis_lengths)
    functions = numpy.bincount(owner, is_function[batch.hypotheses], minlength=pairs)
    rows[:, 2] = functions[pair_of]
    owner = numpy.repeat(numpy.arange(size), batch.reference_lengths)
    rows[:, 3] = numpy.bincount(owner, is_function[batch.references], minlength=size)

    matched = numpy.flatnonzero(alignment.positions >= 0)
    row = owner[matched]
    places = batch.hypothesis_offsets[pair_of[row]] + alignment.positions[matched]
    # Columns by module, then side, then kind of word.
    column = row * 12 + alignment.levels[matched].astype(numpy.int64) * 4
    for side, words in enumerate((batch.hypotheses[places], batch.references[matched])):
        cells = numpy.bincount(column + 2 * side + is_function[words], minlength=size * 12)
        rows[:, _MATCHES] += cells.reshape(-1, 12)
    matches = numpy.bincount(row, minlength=size)
    whole = (matches == rows[:, 0]) & (matches == rows[:, 1]) & (alignment.chunks == 1)
    rows[:, -1] = numpy.where(whole, 0, alignment.chunks)
    return rows
