"""English stems, by the Snowball stemmer."""

from __future__ import annotations

import threading
from functools import lru_cache

_local = threading.local()


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """The English stem of a word (Snowball)."""
    # Snowball leaves words of one or two letters as they are.
    if len(word) <= 2:
        return word
    # A stemmer keeps the word it works on, so each thread has its own.
    if not hasattr(_local, "stemmer"):
        import snowballstemmer

        _local.stemmer = snowballstemmer.stemmer("english")
    found: str = _local.stemmer.stemWord(word)
    return found
