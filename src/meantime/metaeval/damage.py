"""Errors of meaning, made by rule from an analysed sentence: the six kinds of the meaning tests.

    roles         the fillers of ARG0 and ARG1 change places
    negation      a negation is dropped or added
    number        a number, date, month or weekday becomes another
    modality      what must, may, will or could be is changed
    circumstance  a time or place goes to another event
    omission      a circumstance or a prepositional part is left out

A rule makes little of the surface different and leaves English that can be read; where it cannot
be sure of a form it makes nothing. The damaged sentence is right about everything else, so it is
of use for training a metric as the worse of two renderings. English only, and as good as the
analysis: a frame that is wrong gives a damage that is none, now and then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy

from meantime.errors import InputError, UnsupportedLanguage, UsageError
from meantime.metaeval import english
from meantime.metaeval.english import Person
from meantime.types import Frame, Role, Sentence, Span, primary


@dataclass(frozen=True, slots=True)
class Damage:
    """A sentence with an error of meaning.

    Attributes:
        kind: One of `KINDS`.
        rule: What was done, in a word or two.
        text: The damaged sentence.
        touched: Which tokens of the original were changed, moved, left out or added to.
    """

    kind: str
    rule: str
    text: str
    touched: tuple[Span, ...]


LONGEST_FILLER = 10
"""Longer fillers are left where they are: what is moved should be read at a glance."""

_CLOSING = frozenset(".,;:!?)]}%…”’")
_OPENING = frozenset("([{“‘$£€")
_BOUNDS = frozenset({",", ":", ";", "(", "-", "–", "—", "and", "but", "or"})
"""After these no comma stands."""


# A sentence being changed


@dataclass(frozen=True, slots=True)
class _Piece:
    """A token as it stands in the text, or a word put in."""

    text: str
    place: int | None
    """Its number among the tokens; None for a word put in."""
    glued: bool
    """Whether no space stands before it where it comes from."""


class _Draft:
    """The pieces of a sentence, in whatever order they are by now."""

    def __init__(self, sentence: Sentence) -> None:
        tokens, pos = sentence.tokens, sentence.pos
        if tokens is None or pos is None:
            raise InputError("a sentence without tokens and parts of speech; analyse it first")
        self._pos = pos
        self._original = sentence.text
        if sentence.offsets is None:
            self._pieces = [
                _Piece(token, place, token in _CLOSING) for place, token in enumerate(tokens)
            ]
        else:
            ends = [0, *(end for _, end in sentence.offsets)]
            self._pieces = [
                _Piece(sentence.text[start:end], place, place > 0 and start == ends[place])
                for place, (start, end) in enumerate(sentence.offsets)
            ]
        self._texts = [piece.text for piece in self._pieces]

    def text_of(self, place: int) -> str:
        """A token as it is written by now."""
        return self._pieces[self._index(place)].text

    def replace(self, place: int, text: str) -> None:
        """Write a token differently; nothing takes it out."""
        index = self._index(place)
        if not text:
            del self._pieces[index]
            return
        piece = self._pieces[index]
        self._pieces[index] = _Piece(text, place, piece.glued)

    def put_after(self, place: int, text: str) -> None:
        self._pieces.insert(self._index(place) + 1, _Piece(text, None, False))

    def put_before(self, place: int, text: str) -> None:
        self._pieces.insert(self._index(place), _Piece(text, None, False))

    def take_out(self, span: Span) -> list[_Piece]:
        """The pieces of a span; a pair of commas around it goes too, and one that begins."""
        taken = [piece for piece in self._pieces if _inside(piece, span)]
        first = self._pieces.index(taken[0])
        self._pieces = [piece for piece in self._pieces if piece not in taken]
        here = self._pieces[first : first + 1]
        before = self._pieces[first - 1 : first] if first else []
        if here and here[0].text == "," and (not before or before[0].text in _BOUNDS):
            del self._pieces[first]
        elif before and before[0].text == "," and here and here[0].text in _CLOSING:
            del self._pieces[first - 1]
        return taken

    def insert_after(self, place: int, taken: Sequence[_Piece]) -> None:
        index = self._index(place) + 1
        self._pieces[index:index] = taken

    def exchange(self, first: Span, second: Span) -> None:
        """Let two spans change places."""
        left = [piece for piece in self._pieces if _inside(piece, first)]
        right = [piece for piece in self._pieces if _inside(piece, second)]
        ordered: list[_Piece] = []
        for piece in self._pieces:
            if piece is left[0]:
                ordered += right
            elif piece is right[0]:
                ordered += left
            elif piece not in left and piece not in right:
                ordered.append(piece)
        self._pieces = ordered

    def text(self) -> str:
        """What is written by now, spaced and with a capital where it begins."""
        pieces = self._cased()
        written = ""
        for index, piece in enumerate(pieces):
            shown = piece.text
            if shown == "." and written.endswith("."):
                # The full stop of an abbreviation that has come to the end.
                continue
            if shown.lower() in ("a", "an") and index + 1 < len(pieces):
                shown = self._article(piece, pieces[index + 1])
            if index and not self._glued(pieces[index - 1], piece):
                written += " "
            written += shown
        return written

    def _article(self, piece: _Piece, following: _Piece) -> str:
        """`a` or `an` as a word wants it that was not there before; what was there is right."""
        if self._untouched(piece) and self._untouched(following) and _next(piece, following):
            return piece.text
        right = english.article(following.text)
        return english.capitalised(right) if piece.text[0].isupper() else right

    def _untouched(self, piece: _Piece) -> bool:
        return piece.place is not None and piece.text.lower() == self._texts[piece.place].lower()

    def _index(self, place: int) -> int:
        return next(n for n, piece in enumerate(self._pieces) if piece.place == place)

    def _glued(self, before: _Piece, piece: _Piece) -> bool:
        if _next(before, piece):
            return piece.glued
        if piece.text[0] in _CLOSING or before.text[-1] in _OPENING:
            return True
        # A clitic ('s, n't) leans on whatever it comes to stand behind.
        return piece.glued and not piece.text[0].isalnum()

    def _cased(self) -> list[_Piece]:
        pieces = list(self._pieces)
        starts = next((n for n, piece in enumerate(pieces) if piece.text[0].isalnum()), None)
        if starts is None or not self._original[:1].isupper():
            return pieces
        for index, piece in enumerate(pieces):
            if index > starts and piece.place == 0 and self._common(piece):
                lowered = piece.text[:1].lower() + piece.text[1:]
                pieces[index] = _Piece(lowered, piece.place, piece.glued)
        first = pieces[starts]
        pieces[starts] = _Piece(english.capitalised(first.text), first.place, first.glued)
        return pieces

    def _common(self, piece: _Piece) -> bool:
        """Whether a word was capital only because it began the sentence."""
        assert piece.place is not None
        proper = self._pos[piece.place].startswith("NNP")
        return not proper and piece.text != "I" and piece.text[1:] == piece.text[1:].lower()


def _next(first: _Piece, second: _Piece) -> bool:
    """Whether two pieces were neighbours from the start."""
    return first.place is not None and second.place == first.place + 1


def _inside(piece: _Piece, span: Span) -> bool:
    return piece.place is not None and span.start <= piece.place < span.end


# What is asked of a sentence


@dataclass(frozen=True, slots=True)
class _Read:
    """A sentence whose layers are known to be there."""

    sentence: Sentence
    tokens: tuple[str, ...]
    pos: tuple[str, ...]
    frames: tuple[Frame, ...]

    def lower(self, place: int) -> str:
        return self.tokens[place].lower() if 0 <= place < len(self.tokens) else ""

    def tag(self, place: int) -> str:
        return self.pos[place] if 0 <= place < len(self.pos) else ""

    def words(self, span: Span) -> tuple[str, ...]:
        return tuple(token.lower() for token in self.tokens[span.start : span.end])

    def tags(self, span: Span) -> tuple[str, ...]:
        return self.pos[span.start : span.end]

    def draft(self) -> _Draft:
        return _Draft(self.sentence)

    def verbs(self) -> Iterator[Frame]:
        """Frames of verbs; auxiliaries, whose frames are empty, are not among them."""
        for frame in self.frames:
            if frame.roles and self.tag(frame.predicate.start).startswith("VB"):
                yield frame


def _filler(frame: Frame, label: str) -> Span | None:
    """The filler of a role that is there once and in one piece."""
    found = [role for role in frame.roles if role.label == label]
    return found[0].spans[0] if len(found) == 1 and len(found[0].spans) == 1 else None


def _disjoint(first: Span, second: Span) -> bool:
    return first.end <= second.start or second.end <= first.start


def _extent(frame: Frame) -> Span:
    spans = [frame.predicate, *(span for role in frame.roles for span in role.spans)]
    return Span(min(span.start for span in spans), max(span.end for span in spans))


def _verbless(read: _Read, span: Span) -> bool:
    return not any(tag.startswith(("VB", "MD", "W")) for tag in read.tags(span))


_Made = tuple[str, str, tuple[Span, ...]]
"""Rule, text, touched."""


# Who did what to whom


def _swap_roles(read: _Read, rng: numpy.random.Generator) -> Iterator[_Made]:
    for frame in read.verbs():
        doer, done_to = _filler(frame, "ARG0"), _filler(frame, "ARG1")
        if doer is None or done_to is None:
            continue
        passive = len(doer) > 1 and read.lower(doer.start) == "by"
        if passive:
            doer = Span(doer.start + 1, doer.end)
        left, right = sorted((doer, done_to))
        verb = frame.predicate
        if not (_nominal(read, doer) and _nominal(read, done_to) and _disjoint(doer, done_to)):
            continue
        # Only around the verb, so that the first is its subject and the second follows it.
        if not (left.end <= verb.start and verb.end <= right.start):
            continue
        if read.lower(verb.end) in ("and", "or", "but"):
            # Two verbs share the subject, and one of them would have to be left.
            continue
        if read.words(left) == read.words(right) or _possessed(read, left, right):
            continue
        finite = _finite(read, left.end, verb)
        if finite is None:
            continue
        draft = read.draft()
        if not _agree(read, draft, finite, right):
            continue
        for span, change in ((left, english.as_object), (right, english.as_subject)):
            if len(span) == 1 and read.tag(span.start) == "PRP":
                draft.replace(span.start, change(draft.text_of(span.start)))
        draft.exchange(left, right)
        yield "swap", draft.text(), (left, right)


_NO_DOER = frozenset("it there no none nobody nothing".split())
"""What begins a filler that points elsewhere, or denies the whole sentence."""


def _nominal(read: _Read, span: Span) -> bool:
    """A noun phrase that can stand on either side of a verb."""
    tags = read.tags(span)
    if len(span) > LONGEST_FILLER or not _verbless(read, span):
        return False
    if tags[0].startswith(("IN", "TO", "RB", "CC")) or read.lower(span.start) in _NO_DOER:
        return False
    if len(span) == 1 and tags[0] == "PRP":
        return not read.lower(span.start).endswith(("self", "selves"))
    if len(span) == 1 and tags[0] == "NN":
        # `take part`, `make sense`: no noun that does or suffers anything.
        return False
    return any(tag.startswith("NN") for tag in tags)


def _possessed(read: _Read, left: Span, right: Span) -> bool:
    """Whether one of them speaks of the other: `she sold her car` would become nonsense."""
    owners = {"his", "her", "its", "their", "my", "our", "your"}
    return bool(owners & {*read.words(left), *read.words(right)})


def _finite(read: _Read, start: int, verb: Span) -> int | None:
    """The token that agrees with the subject before `start`; None where it is another verb's.

    Only auxiliaries and adverbs may stand between: in `he laughed and promised to send`, what is
    sent has no finite verb of its own.
    """
    if any(
        not read.tag(place).startswith("RB") and read.lower(place) not in _HELPING
        for place in range(start, verb.start)
    ):
        return None
    finite = ("VBZ", "VBP", "VBD", "MD")
    return next((p for p in range(start, verb.end) if read.tag(p) in finite), None)


def _person(read: _Read, span: Span) -> Person | None:
    """What a verb would have to agree with."""
    words, tags = read.words(span), read.tags(span)
    if len(span) == 1 and tags[0] == "PRP":
        if words[0] in ("i", "me"):
            return "first"
        return "third" if words[0] in ("he", "him", "she", "her", "it") else "plural"
    if "CC" in tags:
        return "plural" if "and" in words else None
    # The head of a noun phrase is the last noun before what follows it.
    stop = next((n for n, tag in enumerate(tags) if n and tag in ("IN", ",", "TO")), len(tags))
    heads = [tag for tag in tags[:stop] if tag.startswith("NN")]
    if not heads:
        return None
    return "plural" if heads[-1].endswith("S") else "third"


def _agree(read: _Read, draft: _Draft, finite: int, subject: Span) -> bool:
    """Make the verb agree with its new subject; whether that could be done."""
    word, tag = read.lower(finite), read.tag(finite)
    if tag == "MD" or (tag == "VBD" and word not in ("was", "were")):
        return True
    person = _person(read, subject)
    form = english.agree(word, person) if word.isalpha() and person is not None else None
    if form is None:
        return False
    if form != word:
        draft.replace(finite, form)
    return True


# Negation

_OPPOSITES = {
    "nobody": "somebody", "nothing": "something", "nowhere": "somewhere",
    "without": "with",
}  # fmt: skip
_POLAR = {
    "any": "some", "anybody": "somebody", "anyone": "someone", "anything": "something",
    "anywhere": "somewhere", "ever": "always", "yet": "already",
}  # fmt: skip
_SHORTENED = {"ca": "can", "wo": "will", "sha": "shall"}
_AUXILIARIES = frozenset(
    "am is are was were have has had do does did can could may might must shall should will "
    "would".split()
)


_HELPING = _AUXILIARIES | {*_SHORTENED, "be", "been", "being", "n't", "n’t", "'s", "'ve", "'ll"}


def _drop_negation(read: _Read, rng: numpy.random.Generator) -> Iterator[_Made]:
    for place in range(len(read.tokens)):
        word = read.lower(place)
        draft = read.draft()
        if word in ("not", "n't", "n’t", "never"):
            if not _drop_not(read, draft, place):
                continue
        elif word == "no" and read.tag(place) == "DT":
            noun = _noun_behind(read, place)
            if noun is None:
                continue
            draft.replace(place, "some" if read.tag(noun).endswith("S") else "a")
        elif word in _OPPOSITES:
            draft.replace(place, _OPPOSITES[word])
        else:
            continue
        for later in range(place + 1, len(read.tokens)):
            if read.tag(later) in (",", ".", ":", "CC"):
                break
            if read.lower(later) in _POLAR:
                draft.replace(later, _POLAR[read.lower(later)])
        yield "drop", draft.text(), (Span(place, place + 1),)


def _drop_not(read: _Read, draft: _Draft, place: int) -> bool:
    before = read.lower(place - 1)
    if read.lower(place) == "never":
        draft.replace(place, "")
        return True
    if before not in _AUXILIARIES and before not in _SHORTENED:
        # `not only`, `not least`, `whether or not`: another construction.
        return False
    if read.lower(place + 1) in ("only", "least", "just", "even"):
        return False
    draft.replace(place, "")
    if before in _SHORTENED:
        draft.replace(place - 1, _SHORTENED[before])
    if before not in ("do", "does"):
        return True
    verb = place + 1
    while read.tag(verb).startswith("RB"):
        verb += 1
    if read.tag(verb) != "VB":
        return True
    # `does not know` is `knows`; `did not know` stays `did know`.
    if before == "does":
        draft.replace(verb, english.third_person(read.tokens[verb]))
    draft.replace(place - 1, "")
    return True


def _noun_behind(read: _Read, place: int) -> int | None:
    """The head of a noun phrase that begins here, if it can be counted by its look."""
    found = None
    for later in range(place + 1, min(place + 5, len(read.tokens))):
        if read.tag(later).startswith("NN"):
            found = later
        elif found is not None or not read.tag(later).startswith(("JJ", "VBN", "VBG")):
            break
    return found


def _add_negation(read: _Read, rng: numpy.random.Generator) -> Iterator[_Made]:
    negated = {"not", "n't", "n’t", "never", "no", "nobody", "nothing", "none", "hardly", "neither"}
    for frame in read.verbs():
        if any(role.label == "ARGM-NEG" for role in frame.roles):
            continue
        verb = frame.predicate.start
        if negated & {read.lower(place) for place in range(max(0, verb - 3), verb + 1)}:
            continue
        draft = read.draft()
        place = _negate(read, draft, frame)
        if place is not None:
            yield "add", draft.text(), (Span(place, place + 1),)


def _negate(read: _Read, draft: _Draft, frame: Frame) -> int | None:
    """Negate the clause of a verb; gives the token it was done at."""
    verb = frame.predicate.start
    doer = _filler(frame, "ARG0")
    inverted = doer is not None and doer.start > verb
    first = verb
    while read.tag(first - 1).startswith(("VB", "MD", "RB")) and first > 0:
        first -= 1
    group = [p for p in range(first, verb) if read.tag(p) in ("MD", "VBZ", "VBP", "VBD")]
    if group:
        helper = group[-1]
        if read.lower(helper) not in _AUXILIARIES or read.tag(helper - 1) == "TO":
            return None
        if read.lower(helper) == "can":
            draft.replace(helper, _like(read.tokens[helper], "cannot"))
        else:
            draft.put_after(helper, "not")
        return helper
    tag, word = read.tag(verb), read.tokens[verb]
    if tag == "VBD" and read.lower(verb) in ("was", "were"):
        draft.put_after(verb, "not")
        return verb
    if tag in ("VBZ", "VBP") and read.lower(verb) in ("is", "are", "am"):
        draft.put_after(verb, "not")
        return verb
    if tag not in ("VBZ", "VBP", "VBD") or not word.isalpha():
        return None
    bases = {
        "VBZ": ("does", english.base_of_third(word)),
        "VBP": ("do", word),
        "VBD": ("did", english.base_of_past(word)),
    }
    helping, base = bases[tag]
    if inverted:
        # `said the mayor`: English has no such order with `did not`.
        return None
    if base is None:
        draft.put_before(verb, "never")
    else:
        draft.replace(verb, base)
        draft.put_before(verb, f"{helping} not")
    return verb


def _negate_or_affirm(read: _Read, rng: numpy.random.Generator) -> Iterator[_Made]:
    yield from _drop_negation(read, rng)
    yield from _add_negation(read, rng)


# Numbers and dates

_MONTHS = (
    "January February March April May June July August September October November December".split()
)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_WORDS: tuple[tuple[str, ...], ...] = (
    tuple("two three four five six seven eight nine ten eleven twelve".split()),
    tuple("thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()),
    tuple("twenty thirty forty fifty sixty seventy eighty ninety".split()),
    tuple("hundred thousand million billion".split()),
    tuple("second third fourth fifth sixth seventh eighth ninth tenth".split()),
    tuple("hundreds thousands millions".split()),
    tuple("twice thrice".split()),
)


def _change_number(read: _Read, rng: numpy.random.Generator) -> Iterator[_Made]:
    for place, token in enumerate(read.tokens):
        tag = read.tag(place)
        other: str | None = None
        if tag.startswith("NNP") and token in _MONTHS:
            other = _another(_MONTHS, token, rng)
        elif tag.startswith("NNP") and token in _DAYS:
            other = _another(_DAYS, token, rng)
        elif tag in ("CD", "JJ", "NNS", "RB") and token.lower() in {w for g in _WORDS for w in g}:
            group = next(group for group in _WORDS if token.lower() in group)
            other = _another(group, token.lower(), rng)
            other = "three times" if other == "thrice" else other
            other = english.capitalised(other) if token[0].isupper() else other
        elif tag in ("CD", "JJ") and token[0].isdigit() and token != "1":
            other = _other_digits(token, _is_date(read, place), rng)
        if other is not None and other != token:
            draft = read.draft()
            draft.replace(place, other)
            yield "number", draft.text(), (Span(place, place + 1),)


def _another(group: Sequence[str], word: str, rng: numpy.random.Generator) -> str:
    others = [one for one in group if one != word]
    return others[int(rng.integers(0, len(others)))]


def _is_date(read: _Read, place: int) -> bool:
    """Whether a whole number stands beside a month."""
    near = [one for one in (place - 1, place + 1) if 0 <= one < len(read.tokens)]
    return read.tokens[place].isdigit() and any(read.tokens[one] in _MONTHS for one in near)


def _other_digits(token: str, date: bool, rng: numpy.random.Generator) -> str | None:
    """Another number of the same shape: `3.2` may become `2.3`, `1,700` become `17,000`."""
    if date and int(token) <= 31:
        return _another([str(day) for day in range(1, 29)], token, rng)
    if re.fullmatch(r"(?:1[5-9]|20)\d\d", token):
        step = int(rng.integers(1, 21)) * (1 if rng.random() < 0.5 else -1)
        return str(int(token) + step)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})*", token) and rng.random() < 0.25:
        return f"{int(token.replace(',', '')) * 10:{',' if ',' in token or len(token) > 2 else ''}}"
    digits = [n for n, mark in enumerate(token) if mark.isdigit()]
    swaps = [
        (a, b)
        for a, b in pairwise(digits)
        if token[a] != token[b] and not (a == 0 and token[b] == "0")
    ]
    if swaps and rng.random() < 0.5:
        a, b = swaps[int(rng.integers(0, len(swaps)))]
        marks = list(token)
        marks[a], marks[b] = marks[b], marks[a]
        return "".join(marks)
    chosen = digits[int(rng.integers(0, len(digits)))]
    # Not to 0 or 1: the noun behind would have to change, and no number begins with 0.
    return token[:chosen] + _another("23456789", token[chosen], rng) + token[chosen + 1 :]


# What must, may, will or could be

_MODALS = {
    "must": ("may", "can", "could"),
    "may": ("will", "must"),
    "might": ("will", "must"),
    "will": ("may", "might", "could"),
    "would": ("might", "could"),
    "can": ("must", "should"),
    "could": ("will", "must"),
    "should": ("may", "might", "must"),
    "shall": ("may", "might"),
}
_DENIED = {"must": ("need",), "may": ("will",), "will": ("may", "might"), "might": ("will",)}
_ADVERBS = {
    "probably": ("certainly",),
    "likely": ("certainly",),
    "possibly": ("certainly",),
    "perhaps": ("certainly",),
    "maybe": ("certainly",),
    "certainly": ("possibly", "perhaps"),
    "definitely": ("possibly", "perhaps"),
}
_CERTAINTIES = {
    "likely": ("certain",),
    "possible": ("certain",),
    "certain": ("likely",),
    "allowed": ("required", "forced"),
    "permitted": ("required",),
    "required": ("allowed", "permitted"),
    "forced": ("allowed",),
    "obliged": ("allowed",),
}
_PHRASES = {"have": ("may", "can"), "has": ("may", "can"), "had": ("could", "might")}


def _change_modality(read: _Read, rng: numpy.random.Generator) -> Iterator[_Made]:
    for place, token in enumerate(read.tokens):
        word, tag = token.lower(), read.tag(place)
        draft = read.draft()
        touched = Span(place, place + 1)
        if tag == "MD" and word in _MODALS:
            following = read.lower(place + 1)
            if read.tag(place + 1) == "PRP":
                # `Will we ever know?` asks, and not every modal asks so.
                continue
            if following in ("n't", "n’t") or (following == "not" and word in ("can", "could")):
                continue
            choices = _DENIED.get(word, ()) if following == "not" else _MODALS[word]
            if not choices:
                continue
            draft.replace(place, _drawn(token, choices, rng))
        elif word in _ADVERBS and tag.startswith("RB"):
            draft.replace(place, _drawn(token, _ADVERBS[word], rng))
        elif word in _CERTAINTIES and _followed_by_to(read, place):
            draft.replace(place, _drawn(token, _CERTAINTIES[word], rng))
        elif (
            word in _PHRASES
            and tag in ("VBZ", "VBP", "VBD")
            and read.lower(place + 1) == "to"
            and read.tag(place + 2) == "VB"
        ):
            draft.replace(place, _drawn(token, _PHRASES[word], rng))
            draft.replace(place + 1, "")
            touched = Span(place, place + 2)
        elif word in ("allegedly", "reportedly", "supposedly"):
            draft.replace(place, "")
        else:
            continue
        yield "modality", draft.text(), (touched,)


def _drawn(token: str, choices: Sequence[str], rng: numpy.random.Generator) -> str:
    return _like(token, choices[int(rng.integers(0, len(choices)))])


def _like(token: str, word: str) -> str:
    """A word with a capital where the one it stands for has one."""
    return english.capitalised(word) if token[0].isupper() else word


def _followed_by_to(read: _Read, place: int) -> bool:
    """Whether `is likely` goes on with `to` and a verb, or `it is possible` with `that`."""
    copula = read.lower(place - 1) in ("is", "are", "was", "were", "be", "been", "am")
    if read.lower(place) in ("possible", "certain") and copula:
        return read.lower(place + 1) == "that"
    return copula and read.lower(place + 1) == "to" and read.tag(place + 2) == "VB"


# When and where


def _circumstances(read: _Read, frame: Frame) -> Iterator[tuple[Role, Span]]:
    for role in frame.roles:
        if role.label in ("ARGM-TMP", "ARGM-LOC") and len(role.spans) == 1:
            span = role.spans[0]
            if (
                len(span) <= LONGEST_FILLER
                and _verbless(read, span)
                and _says(read, span)
                and _whole(read, span, place=role.label == "ARGM-LOC")
            ):
                yield role, span


def _whole(read: _Read, span: Span, *, place: bool) -> bool:
    """Whether a filler has its preposition with it."""
    first = read.tag(span.start)
    if read.tag(span.start - 1) in ("IN", "TO", "DT"):
        return False
    return first in ("IN", "TO") or first.startswith("RB") or not place


_TELLING = frozenset(
    (
        "abroad downstairs everywhere indoors nearby online outdoors overnight overseas upstairs"
    ).split()
)


def _says(read: _Read, span: Span) -> bool:
    """Whether a time or place is more than a pointer: not `then`, `there`, `over`, `always`."""
    if len(span) > 1:
        return True
    word, tag = read.lower(span.start), read.tag(span.start)
    return tag.startswith("NN") or word in _TELLING or (tag == "RB" and word.endswith("ly"))


def _move_circumstance(read: _Read, rng: numpy.random.Generator) -> Iterator[_Made]:
    frames = list(read.verbs())
    found = [
        (number, role, span)
        for number, frame in enumerate(frames)
        for role, span in _circumstances(read, frame)
    ]
    owners: dict[Span, set[int]] = {}
    for number, _, span in found:
        owners.setdefault(span, set()).add(number)
    for at, (number, role, span) in enumerate(found):
        # What belongs to several events says the same of all of them.
        if len(owners[span]) > 1:
            continue
        for other, same, second in found[at + 1 :]:
            if (
                other != number
                and same.label == role.label
                and len(owners[second]) == 1
                and _disjoint(span, second)
                and read.words(span) != read.words(second)
            ):
                draft = read.draft()
                draft.exchange(span, second)
                yield "exchange", draft.text(), (span, second)
        for target, frame in enumerate(frames):
            if target == number:
                continue
            place = _landing(read, frames[number], frame, span, role.label)
            if place is None:
                continue
            draft = read.draft()
            draft.insert_after(place, draft.take_out(span))
            yield "move", draft.text(), (span,)


def _landing(read: _Read, home: Frame, target: Frame, span: Span, label: str) -> int | None:
    """The token behind which a circumstance would speak of another event; None if nowhere."""
    if any(role.label == label for role in target.roles):
        return None
    if not _disjoint(span, target.predicate):
        return None
    # A filler that holds the home event would take the circumstance back to it.
    ends = [target.predicate.end] + [
        one.end
        for role in target.roles
        for one in role.spans
        if role.label.startswith("ARG")
        and _disjoint(one, home.predicate)
        and _disjoint(one, span)
        and _disjoint(one, target.predicate)
    ]
    place = max(ends) - 1
    between = range(min(place + 1, span.start), max(place + 1, span.start))
    # Without another event in between, it would be where it was.
    crossed = home.predicate.start in between or target.predicate.start in between
    if place + 1 == span.start or not crossed:
        return None
    # Events inside one another are told apart by reading only where commas are in between.
    inner, outer = _extent(home), _extent(target)
    nested = outer.start <= inner.start and inner.end <= outer.end
    return None if nested and place >= home.predicate.start else place


# What is left out

_LEFT_OUT = frozenset(
    f"ARGM-{tail}" for tail in "TMP LOC MNR PRP PNC CAU ADV DIR EXT GOL COM".split()
)


_NEEDS_PLACE = frozenset("put puts putting place placed placing lay laid set".split())
"""Forms of verbs that say nothing without where."""


def _omit(read: _Read, rng: numpy.random.Generator) -> Iterator[_Made]:
    for frame in read.verbs():
        for role in frame.roles:
            if len(role.spans) != 1:
                continue
            span = role.spans[0]
            prepositional = read.tag(span.start) in ("IN", "TO") and _verbless(read, span)
            optional = role.label in _LEFT_OUT or (
                role.label in ("ARG2", "ARG3", "ARG4") and prepositional
            )
            if role.label == "ARG2" and read.lower(frame.predicate.start) in _NEEDS_PLACE:
                continue
            if not optional or not _says(read, span) or len(read.tokens) - len(span) < 5:
                continue
            # `even`, `also`, `just`: hardly a part of the meaning.
            if len(span) == 1 and not read.tag(span.start).startswith("NN"):
                continue
            if read.tag(span.start - 1) in ("IN", "TO", "DT"):
                continue
            if _reduced(read, frame) and span.start == frame.predicate.end:
                continue
            if not _disjoint(span, frame.predicate) or read.tag(span.end - 1) in (",", ":", "CC"):
                continue
            draft = read.draft()
            draft.take_out(span)
            yield f"omit {role.label}", draft.text(), (span,)


def _reduced(read: _Read, frame: Frame) -> bool:
    """Whether a participle stands for a whole clause: `an album released in 2003`."""
    before = frame.predicate.start - 1
    while read.tag(before).startswith("RB"):
        before -= 1
    return read.tag(frame.predicate.start) in ("VBN", "VBG") and (
        read.lower(before) not in _HELPING
    )


_RULES: Mapping[str, Callable[[_Read, numpy.random.Generator], Iterable[_Made]]] = {
    "roles": _swap_roles,
    "negation": _negate_or_affirm,
    "number": _change_number,
    "modality": _change_modality,
    "circumstance": _move_circumstance,
    "omission": _omit,
}

KINDS = tuple(_RULES)


def find_damages(sentence: Sentence, kind: str, rng: numpy.random.Generator) -> list[Damage]:
    """Everything a kind of damage can do to a sentence, each of another place.

    Args:
        sentence: English, with tokens, parts of speech and frames.
        kind: One of `KINDS`.
        rng: Where chance comes from, where a number or a modal verb can become several others.

    Raises:
        UsageError: No kind has this name.
        UnsupportedLanguage: The sentence is not English.
        InputError: The sentence is not analysed.
    """
    if kind not in _RULES:
        raise UsageError(f"no damage is called {kind!r}; there are {', '.join(KINDS)}")
    if primary(sentence.lang) != "en":
        raise UnsupportedLanguage(
            f"errors of meaning are made in English alone, not in {sentence.lang!r}"
        )
    if sentence.tokens is None or sentence.pos is None or sentence.frames is None:
        raise InputError(
            f"the sentence {sentence.text[:40]!r} lacks tokens, parts of speech or frames; "
            "analyse it first"
        )
    read = _Read(sentence, sentence.tokens, sentence.pos, sentence.frames)
    plain = read.draft().text() if sentence.tokens else ""
    made: dict[str, Damage] = {}
    for rule, text, touched in _RULES[kind](read, rng):
        if text not in (plain, sentence.text):
            made.setdefault(text, Damage(kind, rule, text, touched))
    return list(made.values())


def damage(
    sentence: Sentence, rng: numpy.random.Generator, *, kinds: Sequence[str] = KINDS
) -> Damage | None:
    """One damage, drawn first by kind and then by place; None where no rule applies.

    Args:
        sentence: English, with tokens, parts of speech and frames.
        rng: Where chance comes from.
        kinds: Which kinds to draw from.
    """
    for number in rng.permutation(len(kinds)):
        found = find_damages(sentence, kinds[int(number)], rng)
        if found:
            return found[int(rng.integers(0, len(found)))]
    return None
