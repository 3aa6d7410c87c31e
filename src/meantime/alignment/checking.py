"""Meaning that was lost or changed, found by rule: a gate, not a score.

With a reference, the frames of both sides are aligned as wholes and, frame by frame,

- `negation`: one of two aligned frames is negated, the other is not;
- `modal`: their modal words say different things;
- `actor`, `patient`: ARG0 or ARG1 is missing, or its filler is not alike;
- `swapped`: actor and patient have changed places;
- `event`: a frame of the reference has no partner at all;

and, for the sentences as wholes, negations, numbers and dates (`number`), modals and names (`name`)
that only one side has. Without a reference, numbers and names are compared with the source, as far
as they are written with digits and Latin letters there.

Paraphrases can be found guilty: *refused to sign* for *did not sign* is a lost negation here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy

from meantime.alignment import facts as fact_rules
from meantime.alignment.aligning import FramePair, align
from meantime.alignment.facts import Fact, differing
from meantime.alignment.roles import role_class
from meantime.matching.phrases import BEST_MATCH
from meantime.matching.structures import Method
from meantime.protocols import Array, Similarity
from meantime.types import Frame, Sentence, Span, primary

WORDS = "vectors:4"
"""Similarity of words for fillers: here the same word is the same, wherever it stands."""


class Rule(StrEnum):
    """What was found."""

    NEGATION = "negation"
    NUMBER = "number"
    MODAL = "modal"
    NAME = "name"
    ACTOR = "actor"
    PATIENT = "patient"
    SWAPPED = "swapped"
    EVENT = "event"
    EMPTY = "empty"


DEFAULT_RULES = (
    Rule.EMPTY,
    Rule.NEGATION,
    Rule.NUMBER,
    Rule.MODAL,
    Rule.NAME,
    Rule.ACTOR,
    Rule.PATIENT,
    Rule.SWAPPED,
)
"""All but `event`: a frame without a partner is seldom a loss by itself."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something lost or changed, with the words of both sides."""

    rule: Rule
    message: str
    hypothesis: tuple[Span, ...] | None
    reference: tuple[Span, ...] | None


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From where on things count as the same."""

    frame: float = 0.25
    """Frames less alike are not compared with each other."""
    filler: float = 0.2
    """Fillers less alike are different."""
    name: float = 0.5
    """Names that share less of their spelling are different."""
    swap: float = 0.15
    """How much more alike fillers must be crosswise to count as swapped."""


def check(
    hypothesis: Sentence,
    reference: Sentence,
    words: Similarity,
    spelling: Similarity,
    *,
    rules: Sequence[Rule] = DEFAULT_RULES,
    thresholds: Thresholds | None = None,
) -> tuple[Finding, ...]:
    """What a hypothesis lost or changed of its reference.

    Args:
        hypothesis: Analysed.
        reference: Analysed.
        words: Similarity of words, for fillers.
        spelling: Similarity of spelling, for names.
        rules: What to look for.
        thresholds: From where on things count as the same.
    """
    limits = thresholds or Thresholds()
    found: list[Finding] = []
    met: set[Rule] = set()
    if hypothesis.tokens and reference.tokens:
        matrix = words.matrices([(hypothesis, reference)])[0]
        aligned = align(
            [(hypothesis, reference)],
            [matrix],
            Method(BEST_MATCH),
            by="frame",
            threshold=limits.frame,
        )
        for pair in aligned.alignment(0).frames:
            found += _check_frames(pair, hypothesis, reference, matrix, limits)
        found = _confirmed(found, hypothesis, reference)
        met = {finding.rule for finding in found}
    found += _check_facts(hypothesis, reference, spelling, limits, met)
    found += _check_empty(hypothesis, reference)
    chosen = set(rules)
    kept = [finding for finding in found if finding.rule in chosen]
    return tuple(dict.fromkeys(kept))


def _check_empty(hypothesis: Sentence, whole: Sentence) -> list[Finding]:
    """Nothing where there should be something: no other rule need see that."""
    if hypothesis.text.strip() or hypothesis.tokens or not (whole.text.strip() or whole.tokens):
        return []
    return [Finding(Rule.EMPTY, "nothing is translated", None, None)]


def _confirmed(
    found: Sequence[Finding], hypothesis: Sentence, reference: Sentence
) -> list[Finding]:
    """Findings of frames that the sentences bear out.

    Another verb may carry the same word (*may no longer burn*, *are no longer allowed to burn*).
    So where both sentences negate as often, only a negation that moved from one event to another
    counts; and modal words count only if one sentence has one that the other lacks.
    """
    extra, missing = differing(fact_rules.negations(hypothesis), fact_rules.negations(reference))
    changed = len(extra) != len(missing)
    negated = {
        finding.message.partition(":")[0] for finding in found if finding.rule is Rule.NEGATION
    }
    moved = len(negated) == 2
    modal = any(differing(fact_rules.modals(hypothesis), fact_rules.modals(reference)))
    kept = []
    for finding in found:
        if finding.rule is Rule.NEGATION and not (changed or moved):
            continue
        if finding.rule is Rule.MODAL and not modal:
            continue
        kept.append(finding)
    return kept


def _check_frames(
    pair: FramePair, hypothesis: Sentence, reference: Sentence, matrix: Array, limits: Thresholds
) -> list[Finding]:
    ours, theirs = pair.hypothesis, pair.reference
    if theirs is None:
        return []
    event = _text(reference, (theirs.predicate,))
    if ours is None:
        return [
            Finding(Rule.EVENT, f"nothing says {event!r}", None, (theirs.predicate,)),
        ]
    found = []
    heads = (ours.predicate,), (theirs.predicate,)
    one, other = (
        fact_rules.is_negated(hypothesis, ours),
        fact_rules.is_negated(reference, theirs),
    )
    if one != other:
        what = "negation lost" if other else "negation added"
        found.append(Finding(Rule.NEGATION, f"{what}: {event!r}", *heads))
    said, meant = fact_rules.modality(hypothesis, ours), fact_rules.modality(reference, theirs)
    if said != meant:
        words = f"{_set(said)} for {_set(meant)}"
        found.append(Finding(Rule.MODAL, f"modality of {event!r}: {words}", *heads))
    return found + _check_actors(pair, hypothesis, reference, matrix, limits, event)


def _check_actors(
    pair: FramePair,
    hypothesis: Sentence,
    reference: Sentence,
    matrix: Array,
    limits: Thresholds,
    event: str,
) -> list[Finding]:
    assert pair.hypothesis is not None
    assert pair.reference is not None
    ours = {name: _filler(pair.hypothesis, name) for name in ("arg0", "arg1")}
    theirs = {name: _filler(pair.reference, name) for name in ("arg0", "arg1")}

    def alike(one: str, other: str) -> float:
        left, right = ours[one], theirs[other]
        return -1.0 if left is None or right is None else _likeness(matrix, left, right)

    straight = alike("arg0", "arg0") + alike("arg1", "arg1")
    crossed = alike("arg0", "arg1") + alike("arg1", "arg0")
    whole = all(spans is not None for spans in (*ours.values(), *theirs.values()))
    if whole and crossed > straight + 2 * limits.swap:
        message = f"who did {event!r} to whom has changed places"
        return [Finding(Rule.SWAPPED, message, ours["arg0"], theirs["arg0"])]
    found = []
    for name, rule, word in (("arg0", Rule.ACTOR, "actor"), ("arg1", Rule.PATIENT, "patient")):
        wanted = theirs[name]
        if wanted is None:
            continue
        text = _text(reference, wanted)
        if _empty(reference, wanted):
            continue
        if ours[name] is None:
            # Said elsewhere in the frame, it has only another label.
            others = [role.spans for role in pair.hypothesis.roles]
            if any(_likeness(matrix, spans, wanted) >= limits.filler for spans in others):
                other = "arg1" if name == "arg0" else "arg0"
                if ours[other] is None or alike(other, name) < limits.filler:
                    continue
                message = f"{word} of {event!r} has become its {_ROLE[other]}: {text!r}"
                found.append(Finding(rule, message, ours[other], wanted))
                continue
            found.append(Finding(rule, f"{word} of {event!r} lost: {text!r}", None, wanted))
        elif alike(name, name) < limits.filler:
            said = _text(hypothesis, ours[name] or ())
            message = f"{word} of {event!r} changed: {said!r} for {text!r}"
            found.append(Finding(rule, message, ours[name], wanted))
    return found


_ROLE = {"arg0": "actor", "arg1": "patient"}


def _filler(frame: Frame, name: str) -> tuple[Span, ...] | None:
    """The filler of the first role of a class that is not only a relative pronoun's."""
    for role in frame.roles:
        if role_class(role.label) == name and not role.label.startswith("R-"):
            return role.spans
    return None


def _empty(sentence: Sentence, spans: tuple[Span, ...]) -> bool:
    """Whether a filler is a pronoun alone, which other words may well replace."""
    places = [place for span in spans for place in range(span.start, span.end)]
    if sentence.pos is None or len(places) > 1:
        return False
    return sentence.pos[places[0]] in ("PRP", "WP", "WDT", "DT", "EX", "WRB")


def _likeness(matrix: Array, left: tuple[Span, ...], right: tuple[Span, ...]) -> float:
    """F-score of best matches of two fillers."""
    rows = [place for span in left for place in range(span.start, span.end)]
    columns = [place for span in right for place in range(span.start, span.end)]
    part = matrix[numpy.ix_(rows, columns)]
    precision, recall = float(part.max(axis=1).mean()), float(part.max(axis=0).mean())
    below = precision + recall
    return 2 * precision * recall / below if below else 0.0


def _set(values: frozenset[str]) -> str:
    return " and ".join(sorted(values)) or "none"


def _text(sentence: Sentence, spans: Sequence[Span]) -> str:
    tokens = sentence.tokens or ()
    return " … ".join(" ".join(tokens[span.start : span.end]) for span in spans)


def _check_facts(
    hypothesis: Sentence,
    reference: Sentence,
    spelling: Similarity,
    limits: Thresholds,
    met: set[Rule],
) -> list[Finding]:
    found = []
    for rule, find in (
        (Rule.NUMBER, fact_rules.numbers),
        (Rule.NEGATION, fact_rules.negations),
        (Rule.MODAL, fact_rules.modals),
    ):
        if rule in met:
            # Found in a frame already, which says more.
            continue
        extra, missing = differing(find(hypothesis), find(reference))
        if rule is Rule.NEGATION and len(extra) == len(missing):
            continue
        found += _as_findings(rule, extra, missing, hypothesis, reference)
    strange, lost = _strange_names(hypothesis, reference, spelling, limits)
    return found + _as_findings(Rule.NAME, strange, lost, hypothesis, reference)


def _as_findings(
    rule: Rule,
    extra: Sequence[Fact],
    missing: Sequence[Fact],
    hypothesis: Sentence,
    reference: Sentence,
) -> list[Finding]:
    found = []
    for fact, other in zip(missing, extra, strict=False):
        ours, theirs = _text(hypothesis, (other.span,)), _text(reference, (fact.span,))
        found.append(
            Finding(rule, f"{rule} changed: {ours!r} for {theirs!r}", (other.span,), (fact.span,))
        )
    for fact in missing[len(extra) :]:
        text = _text(reference, (fact.span,))
        found.append(Finding(rule, f"{rule} lost: {text!r}", None, (fact.span,)))
    for fact in extra[len(missing) :]:
        text = _text(hypothesis, (fact.span,))
        found.append(Finding(rule, f"{rule} added: {text!r}", (fact.span,), None))
    return found


def _strange_names(
    hypothesis: Sentence, reference: Sentence, spelling: Similarity, limits: Thresholds
) -> tuple[list[Fact], list[Fact]]:
    """Names of each side of which the other side has no word spelt alike."""
    found: list[list[Fact]] = []
    for sentence, other in ((hypothesis, reference), (reference, hypothesis)):
        strange = []
        for fact in fact_rules.names(sentence):
            if not other.tokens:
                strange.append(fact)
                continue
            words = (sentence.tokens or ())[fact.span.start : fact.span.end]
            only = Sentence("", sentence.lang, tokens=words)
            best = spelling.matrices([(only, other)])[0].max(axis=1)
            if best.max() < limits.name:
                strange.append(fact)
        found.append(strange)
    return found[0], found[1]


# Against the source

_DIGITS = re.compile(r"(?<![\w.])\d+(?:[.,' \u00a0\u202f]\d{3})*(?:[.,:]\d+)?(?![\w])")
_CHINESE = re.compile(r"(\d+(?:\.\d+)?)\s*([百千万亿])")
_SCALES = {"百": 10**2, "千": 10**3, "万": 10**4, "亿": 10**8}
_LATIN = re.compile(r"[A-Za-zÀ-ɏ][\w'’.-]*[\wÀ-ɏ]|[A-Z]")
_NOUNS_LIKE_NAMES = frozenset({"de", "lb", "nds", "gsw"})
"""Languages that write every noun with a capital."""


def check_source(
    hypothesis: Sentence,
    source: Sentence,
    spelling: Similarity,
    *,
    rules: Sequence[Rule] = (Rule.EMPTY, Rule.NUMBER, Rule.NAME),
    thresholds: Thresholds | None = None,
) -> tuple[Finding, ...]:
    """Numbers written with digits, and names in Latin letters, that a hypothesis lacks.

    A number may be written either way round (1.000 and 1,000), in words, or after a Chinese
    scale. Names are words with a capital that do not begin the sentence, none in languages that
    write every noun so, and runs of Latin letters in other scripts.
    """
    limits = thresholds or Thresholds()
    found = _check_empty(hypothesis, source) if Rule.EMPTY in rules else []
    if Rule.NUMBER in rules:
        stated = {fact.value.rstrip("%#") for fact in fact_rules.numbers(hypothesis)}
        text = "".join((hypothesis.text or "").split())
        for written, readings in _source_numbers(source.text):
            if not (readings & stated or "".join(written.split()) in text):
                message = f"number of the source lost: {written!r}"
                found.append(Finding(Rule.NUMBER, message, None, None))
    if Rule.NAME in rules:
        words = hypothesis.tokens or ()
        for name in _source_names(source):
            only = Sentence("", tokens=(name,))
            best = 0.0
            if words:
                best = float(spelling.matrices([(only, hypothesis)])[0].max())
            if best < limits.name:
                found.append(Finding(Rule.NAME, f"name of the source lost: {name!r}", None, None))
    return tuple(dict.fromkeys(found))


def _source_numbers(text: str) -> list[tuple[str, set[str]]]:
    found = []
    scaled = set()
    for match in _CHINESE.finditer(text):
        scaled.add(match.start())
        value = float(match[1]) * _SCALES[match[2]]
        found.append((match[0], {_plain(value)}))
    for match in _DIGITS.finditer(text):
        if match.start() not in scaled:
            found.append((match[0], _readings(match[0])))
    return found


def _readings(written: str) -> set[str]:
    """What a number may be, whichever mark its language uses for decimals and thousands."""
    bare = re.sub("[' \u00a0\u202f]", "", written)
    found = {bare}
    for decimal, thousands in ((".", ","), (",", ".")):
        candidate = bare.replace(thousands, "").replace(decimal, ".")
        try:
            found.add(_plain(float(candidate)))
        except ValueError:
            continue
    if ":" in bare:
        hours, _, minutes = bare.partition(":")
        found.add(f"{int(hours)}:{minutes}")
    return found


def _plain(value: float) -> str:
    return str(int(value)) if value.is_integer() else f"{value:.10g}"


def _source_names(source: Sentence) -> list[str]:
    text = source.text
    words = [(match[0], match.start()) for match in _LATIN.finditer(text)]
    latin = sum(len(word) for word, _ in words)
    letters = sum(mark.isalpha() for mark in text)
    # One Chinese character says about as much as three letters.
    if 3 * (letters - latin) > latin:
        return [word for word, _ in words if len(word) > 1]
    if primary(source.lang) in _NOUNS_LIKE_NAMES:
        # Only what no noun looks like: capitals further inside.
        return [word for word, _ in words if len(word) > 1 and word[1:] != word[1:].lower()]
    return [
        word
        for word, start in words
        if word[0].isupper() and len(word) > 1 and not _begins(text, start)
    ]


def _begins(text: str, start: int) -> bool:
    """Whether a word begins a sentence or a quotation."""
    before = text[:start].rstrip()
    return not before or before[-1] in ".!?:;\"'«»“”„‘’(-–—"
