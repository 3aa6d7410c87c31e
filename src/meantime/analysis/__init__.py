"""From text to tokens, parts of speech, constituents, predicates, roles and vectors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from meantime.protocols import Analyser

GROUP = "meantime.analysers"
SHIPPED = "english"
UNPARSED = "unparsed"
"""Tokens without frames, for Chinese."""


def open_analyser(
    name: str | None = None,
    *,
    threads: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Analyser:
    """Open an analyser.

    Args:
        name: A folder that holds a model, or the name an outside package registered in the
            entry-point group `meantime.analysers`, or `unparsed`, which finds tokens alone; by
            default the model that is shipped.
        threads: For our own models: how many sentences at a time; 0 is one a core.
        progress: For our own models: told how many sentences are done, and of how many.

    Raises:
        UsageError: No analyser has this name.
        InputError: The folder does not hold a model this version can read.
    """
    from meantime.analysis.analyser import EmbeddedAnalyser
    from meantime.analysis.model import Model, shipped

    if name is None or (name == SHIPPED and not Path(name).exists()):
        return EmbeddedAnalyser(Model(shipped() / SHIPPED), threads=threads, progress=progress)
    if Path(name).is_dir() or "/" in name or "\\" in name:
        return EmbeddedAnalyser(Model(Path(name)), threads=threads, progress=progress)
    if name == UNPARSED:
        from meantime.analysis.unparsed import Unparsed

        return Unparsed()
    from importlib.metadata import entry_points

    from meantime.errors import MissingPart, UsageError

    points = {point.name: point for point in entry_points(group=GROUP)}
    if name not in points:
        known = ", ".join([SHIPPED, UNPARSED, *sorted(points)])
        raise UsageError(
            f"no analyser is called {name!r}; there are {known}: name one, give a model's folder, "
            "or install the package that has it"
        )
    try:
        made: Analyser = points[name].load()()
    except Exception as error:
        raise MissingPart(
            f"analyser {name!r} comes from another package, which cannot be loaded "
            f"({type(error).__name__}: {error}); repair or remove that package"
        ) from error
    return made
