"""Small changes that change no meaning: what looks nearly the same and says the same.

Beside copies with an error of meaning they teach that it is not the nearness that makes those bad.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy

_PAIRS = (
    ("do not", "don't"), ("does not", "doesn't"), ("did not", "didn't"), ("is not", "isn't"),
    ("are not", "aren't"), ("was not", "wasn't"), ("were not", "weren't"), ("cannot", "can't"),
    ("could not", "couldn't"), ("would not", "wouldn't"), ("will not", "won't"),
    ("have not", "haven't"), ("has not", "hasn't"), ("it is", "it's"), ("I am", "I'm"),
    ("you are", "you're"), ("we are", "we're"), ("they are", "they're"), ("I have", "I've"),
    ("I will", "I'll"), ("that is", "that's"), ("there is", "there's"), ("what is", "what's"),
    ("because of", "due to"), ("in order to", "to"), ("such as", "like"), ("but", "however,"),
    ("about", "around"), ("around", "approximately"), ("after", "following"),
    ("before", "prior to"), ("said", "stated"), ("says", "states"), ("told", "informed"),
    ("however", "nevertheless"), ("although", "though"), ("while", "whereas"), ("big", "large"),
    ("begin", "start"), ("began", "started"), ("buy", "purchase"), ("bought", "purchased"),
    ("help", "assist"), ("helped", "assisted"), ("many", "a lot of"), ("people", "persons"),
    ("use", "utilise"), ("used", "utilised"), ("show", "demonstrate"), ("shows", "demonstrates"),
    ("get", "obtain"), ("got", "obtained"), ("need", "require"), ("needs", "requires"),
    ("end", "finish"), ("ended", "finished"), ("quickly", "rapidly"), ("children", "kids"),
    ("film", "movie"), ("car", "automobile"), ("job", "position"), ("very", "extremely"),
    ("important", "significant"), ("several", "a number of"), ("more than", "over"),
    ("less than", "under"), ("at least", "no fewer than"), ("today", "nowadays"),
    ("now", "currently"), ("near", "close to"), ("whole", "entire"),
    ("often", "frequently"), ("maybe", "perhaps"), ("answer", "reply"), ("area", "region"),
    ("country", "nation"), ("countries", "nations"), ("company", "firm"), ("companies", "firms"),
    ("house", "home"), ("problem", "issue"),
    ("problems", "issues"), ("happened", "took place"), ("happen", "take place"),
    ("want", "wish"), ("wants", "wishes"), ("think", "believe"), ("thinks", "believes"),
    ("difficult", "hard"), ("hard", "tough"), ("enough", "sufficient"), ("allow", "permit"),
    ("allowed", "permitted"), ("increase", "rise"), ("decrease", "decline"), ("killed", "slain"),
    ("attack", "assault"), ("find", "discover"), ("found", "discovered"), ("built", "constructed"),
    ("continue", "go on"), ("continued", "went on"), ("reach", "attain"), ("received", "got"),
    ("one", "1"), ("two", "2"), ("three", "3"), ("four", "4"), ("five", "5"), ("six", "6"),
    ("seven", "7"), ("eight", "8"), ("nine", "9"), ("ten", "10"), ("percent", "%"),
    ("per cent", "percent"),
)  # fmt: skip
_LEAD = re.compile(
    r"^((?:In|On|At|During|After|Before|Since|According to|For) [^,]{3,50}), (.+?)([.!?]?)$"
)
_JOIN = re.compile(r", (?:and|but) (?=(?:he|she|it|they|we|I|you|the|this) )")


def _swap(text: str, rng: numpy.random.Generator) -> str | None:
    """A word or two for others that say the same."""
    found = []
    for pair in _PAIRS:
        for one, other in (pair, pair[::-1]):
            if one.isdigit() or one in ("%", "to", "around", "over", "under", "like", "now"):
                continue
            match = re.search(rf"\b{re.escape(one)}(?!\w)", text)
            if match:
                found.append((match.span(), other))
    if not found:
        return None
    for n in sorted(rng.permutation(len(found))[:2].tolist(), key=lambda n: -found[n][0][0]):
        (start, end), other = found[n]
        text = text[:start] + other + text[end:]
    return text


def _move(text: str, rng: numpy.random.Generator) -> str | None:
    """What stands in front goes to the end."""
    match = _LEAD.match(text)
    if not match:
        return None
    front, rest, stop = match.groups()
    if "," in rest or ";" in rest or '"' in rest:
        return None
    return f"{rest[0].upper()}{rest[1:]} {front[0].lower()}{front[1:]}{stop}"


def _split(text: str, rng: numpy.random.Generator) -> str | None:
    """Two sentences for one."""
    match = _JOIN.search(text)
    if not match:
        return None
    rest = text[match.end() :]
    return f"{text[: match.start()]}. {rest[0].upper()}{rest[1:]}"


def _marks(text: str, rng: numpy.random.Generator) -> str | None:
    """Other punctuation, or none at the end."""
    ways = [
        text.rstrip(".!"), text.replace(",", "", 1), text.replace('"', "'"), text.lower(),
        text.replace(" - ", ", "), text.replace(";", "."), text.replace("-", " ", 1),
    ]  # fmt: skip
    ways = [one for one in ways if one != text]
    return ways[int(rng.integers(len(ways)))] if ways else None


WAYS: tuple[Callable[[str, numpy.random.Generator], str | None], ...] = (
    _swap, _move, _split, _marks
)  # fmt: skip


def retouch(text: str, rng: numpy.random.Generator) -> str | None:
    """The text with one or two harmless changes; none if nothing can be changed."""
    changed = text
    count = 0
    for n in rng.permutation([0, 0, 1, 2, 3]).tolist():
        made = WAYS[n](changed, rng)
        if made and made != changed:
            changed, count = made, count + 1
        if count == 2:
            break
    return changed if count else None
