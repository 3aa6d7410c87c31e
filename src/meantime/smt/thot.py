"""Thot, where it is installed."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def one_thread() -> Iterator[None]:
    """Let Thot work on one core meanwhile, where it can be told so.

    Threads add up their sums in the order in which they end, so that the last digits of a trained
    model change from one training to the next; and at this size they bring no time.
    """
    try:
        # What OpenMP it was linked with is found through it.
        openmp = ctypes.CDLL(importlib.import_module("thot").__file__)
        before = int(openmp.omp_get_max_threads())
    except (ImportError, OSError, AttributeError, TypeError):
        yield
        return
    openmp.omp_set_num_threads(1)
    try:
        yield
    finally:
        openmp.omp_set_num_threads(before)


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
