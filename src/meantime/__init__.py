"""Tell how good a translation is by what it means.

import meantime

corpus = meantime.read(["system.txt"], references=["reference.txt"])
for result in meantime.score(corpus, ["bleu", "chrf", "ter"]):
    print(result.system, result.metric, result.score.value)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from meantime.formats import read, write
    from meantime.registry import create
    from meantime.scoring import score
    from meantime.types import Corpus, Level, Pair, Segment, Sentence

# Loaded when first asked for: `import meantime` stays fast and light.
_HOMES = {
    "Corpus": "meantime.types",
    "Level": "meantime.types",
    "Pair": "meantime.types",
    "Segment": "meantime.types",
    "Sentence": "meantime.types",
    "create": "meantime.registry",
    "read": "meantime.formats",
    "score": "meantime.scoring",
    "write": "meantime.formats",
}

__all__ = [
    "Corpus",
    "Level",
    "Pair",
    "Segment",
    "Sentence",
    "__version__",
    "create",
    "read",
    "score",
    "write",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'meantime' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
