"""What a sentence states that one word can change: numbers, dates, negation, modality, names.

All by rule, from tokens and what the analysis says of them. Two ways of writing the same thing are
the same fact: *2,000* and *two thousand*, *Jan.* and *January*, *didn't* and *did not*.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from meantime.alignment.roles import role_class
from meantime.types import Frame, Sentence, Span


class Kind(StrEnum):
    """What a fact is about."""

    NUMBER = "number"
    NEGATION = "negation"
    MODAL = "modal"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Fact:
    """Something stated: its kind, a value that equal statements share, and where it stands."""

    kind: Kind
    value: str
    span: Span


_UNITS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: 10 * number
    for number, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), 2
    )
}
_SCALES = {
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
}
_WRITTEN_SCALES = _SCALES | {"mn": 10**6, "bn": 10**9, "tn": 10**12}
_LETTERS = {"k": 10**3, "m": 10**6, "mn": 10**6, "bn": 10**9, "b": 10**9, "tn": 10**12}
_ORDINALS = {
    word: number
    for number, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth "
        "twentieth".split(),
        1,
    )
} | {"thirtieth": 30, "hundredth": 100, "thousandth": 1000}
_MULTIPLES = {"once": 1, "twice": 2, "thrice": 3, "half": 0.5, "quarter": 0.25}
_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_SHORT = {name[:3]: name for name in (*_MONTHS, *_DAYS)} | {
    "sept": "september", "tues": "tuesday", "thur": "thursday", "thurs": "thursday",
}  # fmt: skip
_PERCENT = {"%", "percent", "pct"}

_STARTS = (
    frozenset(_UNITS)
    | frozenset(_TENS)
    | frozenset(_ORDINALS)
    | frozenset(_MULTIPLES)
    | frozenset(_MONTHS)
    | frozenset(_DAYS)
    | frozenset(_SHORT)
    | frozenset(f"{word}." for word in _SHORT)
    | {"a", "an"}
)
"""Words a number or date may begin with, besides digits."""

_DIGITS = re.compile(
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?P<tail>st|nd|rd|th|%|k|mn|bn|tn|m|b|s)?",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"(\d{1,2})[:.h](\d{2})")

NEGATIONS = frozenset(
    "not n't no never none nobody nothing neither nor nowhere without cannot".split()
)
"""Words that negate by themselves."""

_MODALS = {
    "will": "will", "'ll": "will", "wo": "will", "shall": "will", "sha": "will",
    "would": "would", "'d": "would",
    "can": "can", "ca": "can", "could": "could", "cannot": "can",
    "may": "may", "might": "may",
    "must": "must", "ought": "should", "should": "should",
}  # fmt: skip
"""What modal words say; words that say nearly the same share a value."""

_PHRASES = {
    "able": "can", "unable": "can", "allowed": "may", "permitted": "may", "going": "will",
    "needs": "must", "supposed": "should",
}  # fmt: skip
"""What words before *to* say."""

_BE = frozenset("am is are was were be been 's 're 'm not n't".split())


def facts(sentence: Sentence) -> tuple[Fact, ...]:
    """Numbers, negations, modals and names of an analysed sentence, in order of place."""
    found = [*numbers(sentence), *negations(sentence), *modals(sentence), *names(sentence)]
    return tuple(sorted(found, key=lambda fact: (fact.span, fact.kind)))


def numbers(sentence: Sentence) -> list[Fact]:
    """Numbers, percentages, ordinals, clock times, months and days."""
    tokens = [token.lower() for token in sentence.tokens or ()]
    pos = sentence.pos
    found = []
    place = 0
    while place < len(tokens):
        word = tokens[place]
        # Nearly all words are none of these: told apart at once, they cost nothing.
        if word not in _STARTS and not word[:1].isdigit():
            place += 1
            continue
        date = _date(sentence, tokens, place)
        if date is not None:
            found.append(Fact(Kind.NUMBER, date, Span(place, place + 1)))
            place += 1
            continue
        value, end, ordinal = _number(tokens, pos, place)
        if value is None:
            place += 1
            continue
        kind = "#" if ordinal else ""
        if end < len(tokens) and (
            tokens[end] in _PERCENT
            or (tokens[end] == "per" and tokens[end + 1 : end + 2] == ["cent"])
        ):
            kind = "%"
        if kind != "%" and tokens[end - 1].endswith("%"):
            kind = "%"
        found.append(Fact(Kind.NUMBER, f"{_plain(value)}{kind}", Span(place, end)))
        place = end
    return found


def _date(sentence: Sentence, tokens: Sequence[str], place: int) -> str | None:
    """A month, day or clock time."""
    word = tokens[place].rstrip(".")
    clock = _CLOCK.fullmatch(word)
    if clock and int(clock[1]) < 25 and int(clock[2]) < 60 and ":" in word:
        return f"{int(clock[1])}:{clock[2]}"
    name = _SHORT.get(word, word)
    if name not in _MONTHS and name not in _DAYS:
        return None
    # "may", "march", "sun", "sat": words unless they are written like names.
    if word in ("may", "march", "mar", "sun", "sat", "wed", "mon", "dec", "jan", "second"):
        original = (sentence.tokens or ())[place]
        proper = sentence.pos is None or sentence.pos[place].startswith("NNP")
        if not (original[:1].isupper() and proper):
            return None
    return name


def _plain(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else f"{value:.10g}"


def _number(
    tokens: Sequence[str], pos: Sequence[str] | None, place: int
) -> tuple[float | None, int, bool]:
    """The number that begins here, where it ends, and whether it is an ordinal."""
    word = tokens[place]
    digits = _DIGITS.fullmatch(word)
    if digits:
        value = float(digits["number"].replace(",", ""))
        tail = (digits["tail"] or "").lower()
        if tail in _LETTERS:
            value *= _LETTERS[tail]
        end = place + 1
        ordinal = tail in ("st", "nd", "rd", "th")
        while end < len(tokens) and tokens[end] in _WRITTEN_SCALES and not ordinal:
            value *= _WRITTEN_SCALES[tokens[end]]
            end += 1
        return value, end, ordinal
    if word in _MULTIPLES and word not in ("half", "quarter"):
        return float(_MULTIPLES[word]), place + 1, False
    if word in _ORDINALS and not (word == "second" and pos and pos[place] == "NN"):
        return float(_ORDINALS[word]), place + 1, True
    starts = word in _UNITS or word in _TENS or _article(tokens, place)
    if not starts or (word == "one" and not _counts(tokens, pos, place)):
        return None, place, False
    return _words(tokens, place)


def _article(tokens: Sequence[str], place: int) -> bool:
    """Whether `a` stands for one here: a hundred."""
    return (
        tokens[place] in ("a", "an")
        and tokens[place + 1 : place + 2] != []
        and (tokens[place + 1] in _SCALES)
    )


def _counts(tokens: Sequence[str], pos: Sequence[str] | None, place: int) -> bool:
    """Whether `one` is a number here, and no pronoun: not in `no one`, `the one who`."""
    following = tokens[place + 1] if place + 1 < len(tokens) else ""
    if following in _SCALES:
        return True
    before = tokens[place - 1] if place else ""
    return (pos is None or pos[place] == "CD") and before not in (
        "no",
        "any",
        "every",
        "some",
        "the",
    )


def _words(tokens: Sequence[str], place: int) -> tuple[float | None, int, bool]:
    """A number in words: two hundred and five thousand, twenty-one."""
    total = 0.0
    current = 0.0
    end = place
    ordinal = False
    while end < len(tokens):
        word = tokens[end]
        if word in _UNITS:
            current += _UNITS[word]
        elif word in _TENS:
            current += _TENS[word]
        elif word in ("a", "an") and end == place:
            current = 1
        elif word == "hundred":
            current = (current or 1) * 100
        elif word in _SCALES:
            total += (current or 1) * _SCALES[word]
            current = 0
        elif word in _ORDINALS and end > place and tokens[end - 1] == "-":
            current += _ORDINALS[word]
            ordinal = True
            end += 1
            break
        elif not (
            word in ("-", "and")
            and end > place
            and end + 1 < len(tokens)
            and (
                (word == "-" and tokens[end - 1] in _TENS)
                or (word == "and" and tokens[end - 1] in _SCALES)
            )
            and (
                tokens[end + 1] in _UNITS
                or tokens[end + 1] in _TENS
                or tokens[end + 1] in _ORDINALS
            )
        ):
            break
        end += 1
    return total + current, end, ordinal


def negations(sentence: Sentence) -> list[Fact]:
    """Words that negate. Their value is the same for all: what matters is how many there are."""
    found = []
    for place, token in enumerate(sentence.tokens or ()):
        word = token.lower().replace("’", "'")
        if word in NEGATIONS or (word == "nt" and place):
            found.append(Fact(Kind.NEGATION, "not", Span(place, place + 1)))
    return found


def modals(sentence: Sentence) -> list[Fact]:
    """Modal words, as the tags or the frames say; `have to` and its like by words."""
    tokens = [token.lower().replace("’", "'") for token in sentence.tokens or ()]
    marked = {
        place
        for frame in sentence.frames or ()
        for role in frame.roles
        if role_class(role.label) == "modal"
        for span in role.spans
        for place in range(span.start, span.end)
    }
    found = []
    for place, word in enumerate(tokens):
        tagged = sentence.pos is not None and sentence.pos[place] == "MD"
        if word in _MODALS and (tagged or place in marked or sentence.pos is None):
            found.append(Fact(Kind.MODAL, _MODALS[word], Span(place, place + 1)))
        elif word in ("have", "has", "had", "having") and tokens[place + 1 : place + 2] == ["to"]:
            found.append(Fact(Kind.MODAL, "must", Span(place, place + 2)))
        elif (
            word in _PHRASES
            and tokens[place + 1 : place + 2] == ["to"]
            and (word != "going" or (place and tokens[place - 1] in _BE))
        ):
            found.append(Fact(Kind.MODAL, _PHRASES[word], Span(place, place + 2)))
    return found


def names(sentence: Sentence) -> list[Fact]:
    """Runs of proper names, by the tags; months and days are dates, not names."""
    if sentence.pos is None:
        return []
    tokens = sentence.tokens or ()
    dated = {fact.span.start for fact in numbers(sentence)}
    found = []
    start: int | None = None
    for place in range(len(tokens) + 1):
        proper = (
            place < len(tokens)
            and sentence.pos[place] in ("NNP", "NNPS")
            and place not in dated
            and any(mark.isalpha() for mark in tokens[place])
        )
        if proper and start is None:
            start = place
        if not proper and start is not None:
            text = " ".join(tokens[start:place]).casefold()
            found.append(Fact(Kind.NAME, text, Span(start, place)))
            start = None
    return found


def is_negated(sentence: Sentence, frame: Frame) -> bool:
    """Whether a frame says that something is not so: by a role of negation, or in its fillers.

    A filler negates if it begins with a negative word (*no member signed*, *nobody came*).
    """
    tokens = sentence.tokens or ()
    for role in frame.roles:
        if role_class(role.label) == "negation":
            return True
        first = tokens[role.spans[0].start].lower()
        if first in NEGATIONS and first not in ("without", "not", "n't"):
            return True
    return False


def modality(sentence: Sentence, frame: Frame) -> frozenset[str]:
    """What the modal words of a frame say."""
    tokens = sentence.tokens or ()
    found = set()
    for role in frame.roles:
        if role_class(role.label) != "modal":
            continue
        for span in role.spans:
            for place in range(span.start, span.end):
                word = tokens[place].lower().replace("’", "'")
                found.add(_MODALS.get(word, word))
    return frozenset(found)


def differing(
    one: Iterable[Fact], other: Iterable[Fact]
) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
    """Facts of each side that the other does not state as often; the last ones of equals."""
    left, right = tuple(one), tuple(other)
    return _without(left, right), _without(right, left)


def _without(facts_of: tuple[Fact, ...], others: tuple[Fact, ...]) -> tuple[Fact, ...]:
    left = Counter(fact.value for fact in others)
    found = []
    for fact in facts_of:
        if left[fact.value]:
            left[fact.value] -= 1
        else:
            found.append(fact)
    return tuple(found)
