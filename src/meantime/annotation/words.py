"""What people select: the words of a text, with their places in it."""

from __future__ import annotations

import re

from meantime.analysis.tokenise import tokenise
from meantime.types import Sentence, primary

# Written without spaces: every character of these scripts is a word to select.
_WIDE = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]"
)
# A word keeps its marks and joiners (Arabic, Devanagari) and inner apostrophes and hyphens.
_WORD = re.compile(
    rf"{_WIDE}|(?:(?!{_WIDE})[\w\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    rf"\u0900-\u0963\u0966-\u0dff\u200c\u200d])+(?:['’.,:-](?=\w)(?!{_WIDE})[\w\u064b-\u065f\u200c\u200d]+)*"
    r"|[^\w\s]"
)

LONGEST = 5000
"""Characters of a text: nobody marks more in one piece."""


def split_words(text: str, lang: str = "en") -> Sentence:
    """The sentence with its words as tokens; English as the analyser splits it."""
    if primary(lang) == "en":
        found = [(token.text, token.start, token.end) for token in tokenise(text)]
    else:
        found = [(match[0], match.start(), match.end()) for match in _WORD.finditer(text)]
    return Sentence(
        text,
        lang,
        tokens=tuple(word for word, _, _ in found),
        offsets=tuple((start, end) for _, start, end in found),
    )
