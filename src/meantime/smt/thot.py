"""Thot, where it is installed."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

from meantime.errors import MissingPart


@cache
def load_part(name: str) -> Any:
    """A module of Thot: alignment, common or translation.

    Raises:
        MissingPart: It is not installed.
    """
    try:
        return importlib.import_module(f"thot.{name}")
    except ImportError as error:
        raise MissingPart(
            "training and translating need Thot, which is not installed; "
            "pip install 'meantime[smt]'"
        ) from error


def load_jieba() -> Any:
    """The Chinese segmenter jieba, with nothing said while it loads.

    Raises:
        MissingPart: It is not installed.
    """
    try:
        import jieba
    except ImportError as error:
        raise MissingPart(
            "the segmenter jieba is not installed; pip install 'meantime[smt]', or take another: "
            "--segmenter characters"
        ) from error
    import logging

    jieba.setLogLevel(logging.WARNING)
    return jieba
