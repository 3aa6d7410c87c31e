"""The little English grammar that damaging a sentence needs: forms of verbs, pronouns, articles.

No dictionary: rules with the common exceptions, and `None` where a form cannot be told for sure.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Person: TypeAlias = Literal["first", "third", "plural"]
"""What a finite verb agrees with: `I`; one third person; all others."""

_BASES = {
    "arise": "arose", "awake": "awoke", "bear": "bore", "become": "became", "begin": "began",
    "bite": "bit", "blow": "blew", "break": "broke", "bring": "brought",
    "build": "built", "burn": "burnt", "buy": "bought", "catch": "caught", "choose": "chose",
    "come": "came", "deal": "dealt", "dig": "dug", "draw": "drew", "drink": "drank",
    "drive": "drove", "eat": "ate", "fall": "fell", "feed": "fed", "feel": "felt",
    "fight": "fought", "find": "found", "flee": "fled", "fly": "flew", "forbid": "forbade",
    "forget": "forgot", "forgive": "forgave", "freeze": "froze", "get": "got", "give": "gave",
    "go": "went", "grow": "grew", "hang": "hung", "hear": "heard", "hide": "hid",
    "hold": "held", "keep": "kept", "kneel": "knelt", "know": "knew", "lead": "led",
    "leave": "left", "lend": "lent", "light": "lit", "lose": "lost", "make": "made",
    "mean": "meant", "meet": "met", "overcome": "overcame", "pay": "paid", "ride": "rode",
    "ring": "rang", "rise": "rose", "run": "ran", "say": "said", "see": "saw", "seek": "sought",
    "sell": "sold", "send": "sent", "shake": "shook", "shine": "shone", "shoot": "shot",
    "show": "showed", "shrink": "shrank", "sing": "sang", "sink": "sank", "sit": "sat",
    "sleep": "slept", "slide": "slid", "speak": "spoke", "spend": "spent", "spin": "spun",
    "stand": "stood", "steal": "stole", "stick": "stuck", "strike": "struck", "swear": "swore",
    "sweep": "swept", "swim": "swam", "swing": "swung", "take": "took", "teach": "taught",
    "tear": "tore", "tell": "told", "think": "thought", "throw": "threw", "undergo": "underwent",
    "understand": "understood", "wake": "woke", "wear": "wore", "weave": "wove", "weep": "wept",
    "win": "won", "withdraw": "withdrew", "write": "wrote", "be": "was", "have": "had",
    "do": "did",
}  # fmt: skip
_PASTS = {past: base for base, past in _BASES.items()}
_UNCHANGED = frozenset(
    "bet burst cast cost cut fit forecast hit hurt let put quit set shed shut split spread "
    "thrust upset".split()
)
_REGULAR = frozenset(
    # Regular, but of a shape the rules below cannot be sure of.
    "happen open offer visit remember enter cover discover deliver consider suffer gather order "
    "answer limit benefit edit exit credit develop threaten listen strengthen weaken "
    "deepen widen fasten lower differ alter monitor honour favour labour harbour label travel "
    "cancel model signal target market budget profit inherit inhibit prohibit exhibit".split()
)
_VOWELS = "aeiou"
_IRREGULAR_THIRD = {"have": "has", "be": "is", "do": "does", "go": "goes", "undergo": "undergoes"}
_THIRD_BASES = {third: base for base, third in _IRREGULAR_THIRD.items()}

_BE = {
    "present": {"first": "am", "third": "is", "plural": "are"},
    "past": {"first": "was", "third": "was", "plural": "were"},
}

_OBJECTS = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
_SUBJECTS = {objective: subject for subject, objective in _OBJECTS.items()}


def third_person(base: str) -> str:
    """The form of he, she, it: `carries` of `carry`."""
    word = base.lower()
    if word in _IRREGULAR_THIRD:
        return _IRREGULAR_THIRD[word]
    if word.endswith("y") and len(word) > 2 and word[-2] not in _VOWELS:
        return word[:-1] + "ies"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    return word + "s"


def base_of_third(form: str) -> str | None:
    """The base of a verb in the third person; None where it is none."""
    word = form.lower()
    if word in _THIRD_BASES:
        return _THIRD_BASES[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "zzes", "ches", "shes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss") and len(word) > 2:
        return word[:-1]
    return None


def base_of_past(form: str) -> str | None:
    """The base of a verb in the past tense; None where spelling leaves it open.

    `stopped` is of `stop` and `called` of `call`, but `hoped` might be of `hop` or `hope`.
    """
    word = form.lower()
    if word in _PASTS:
        return _PASTS[word]
    if word in _UNCHANGED:
        return word
    if not word.endswith("ed") or len(word) < 5:
        return None
    stem = word[:-2]
    if stem in _REGULAR:
        return stem
    if stem[-1] == "i":
        return stem[:-1] + "y"
    if stem[-1] in "vcu" or stem.endswith(("dg", "rg", "ng")):
        # `argued`, `loved`, `forced`; but `banged` and `belonged` are no `bange`.
        return None if stem.endswith(("ng", "rg")) else stem + "e"
    if stem[-1] == stem[-2]:
        return _undoubled(stem)
    if stem.endswith("th"):
        return None if stem[-3:-2] in _VOWELS else stem
    if stem[-1] in "wxy" or re.search(r"(?:[lmnr][dkmnpt]|[cs]k|[cps]t|[gp]h|sh|ch)$", stem):
        return stem
    if re.search(r"(?:ee|oa|ai|ea|oo|ou)[dflmnprtk]$", stem) and stem[-4:] != "reat":
        return stem
    return None


def _undoubled(stem: str) -> str | None:
    """`stop` of `stopp`, `call` of `call`."""
    if len(stem) <= 3:
        return stem
    if stem[-1] in "bdgmnprt":
        return stem[:-1]
    if stem[-1] not in "lsfz":
        return None
    syllables = len(re.findall(r"[aeiouy]+", stem))
    return stem[:-1] if stem[-1] == "l" and syllables > 1 else stem


def agree(form: str, person: Person) -> str | None:
    """A finite verb with another subject; None where that cannot be told.

    Past forms but `was` and `were`, and modal verbs, are not for this: they do not agree.
    """
    word = form.lower()
    for forms in _BE.values():
        if word in forms.values():
            return forms[person]
    base = base_of_third(word) if word.endswith("s") and not word.endswith("ss") else word
    if base is None:
        return None
    return third_person(base) if person == "third" else base


def as_subject(pronoun: str) -> str:
    """`he` of `him`; what has one form stays."""
    return _recased(pronoun, _SUBJECTS)


def as_object(pronoun: str) -> str:
    """`him` of `he`; what has one form stays."""
    return _recased(pronoun, _OBJECTS)


def _recased(pronoun: str, forms: dict[str, str]) -> str:
    found = forms.get(pronoun.lower())
    if found is None:
        return pronoun
    return "I" if found == "i" else found


def article(following: str) -> str:
    """`an` before a vowel's letter, else `a`; letters stand for sounds, the common cases apart."""
    word = following.lower()
    if re.match(r"(?:uni|use|usu|eu|one\b|once\b)", word):
        return "a"
    if re.match(r"(?:hour|honest|honou?r|heir)", word):
        return "an"
    return "an" if word[:1] in _VOWELS and word else "a"


def capitalised(text: str) -> str:
    """With its first letter large."""
    return text[:1].upper() + text[1:]
