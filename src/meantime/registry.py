"""Metrics by name.

Names map to `module:Class` strings, so that listing what there is imports nothing. An
outside package adds a metric with an entry point in the group `meantime.metrics`.
"""

from __future__ import annotations

import difflib
import importlib
import os
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from meantime.errors import MissingPart, OptionError, UnknownMetric

if TYPE_CHECKING:
    from meantime.protocols import Metric

GROUP = "meantime.metrics"

BUILT_IN: Mapping[str, str] = {
    "bleu": "meantime.metrics.bleu:Bleu",
    "chrf": "meantime.metrics.chrf:Chrf",
    "ter": "meantime.metrics.ter:Ter",
    "nist": "meantime.metrics.nist:Nist",
    "meteor": "meantime.metrics.meteor:Meteor",
    "wer": "meantime.metrics.wer:Wer",
    "per": "meantime.metrics.per:Per",
    "cder": "meantime.metrics.cder:Cder",
    "gtm": "meantime.metrics.gtm:Gtm",
    "stm": "meantime.metrics.stm:Stm",
    "sr": "meantime.metrics.sr:SemanticRoleOverlap",
    "meant": "meantime.metrics.meant:Meant",
    "meant-2012": "meantime.metrics.family:Meant2012",
    "meant-jaccard": "meantime.metrics.family:MeantJaccard",
    "meant-2013": "meantime.metrics.family:Meant2013",
    "meant-2014": "meantime.metrics.family:Meant2014",
    "umeant": "meantime.metrics.family:Umeant",
    "imeant": "meantime.metrics.family:Imeant",
    "hmeant": "meantime.metrics.hmeant:Hmeant",
    "meantime": "meantime.learned.trained:Meantime",
}

FROM_FOLDERS: Mapping[str, str] = {"learned": "meantime.learned.metric:Learned"}
"""Metrics that no name alone makes: they are named by the folder of their model."""

DEFAULTS = ("bleu", "chrf", "ter")
"""What `meantime score` shows when nobody says which metric."""


@cache
def _outside() -> dict[str, EntryPoint]:
    """Metrics other packages add; ours keep their names."""
    found = {}
    for point in entry_points(group=GROUP):
        if point.name not in {**BUILT_IN, **FROM_FOLDERS}:
            found[point.name] = point
    return found


def names() -> tuple[str, ...]:
    """All names that make a metric, ours first."""
    return (*BUILT_IN, *sorted(_outside()))


def find(name: str) -> type[Any]:
    """The class registered under a name.

    Raises:
        UnknownMetric: No metric has this name; the message has the nearest ones.
        MissingPart: An outside package registered it but cannot be imported.
    """
    place = BUILT_IN.get(name) or FROM_FOLDERS.get(name)
    if place:
        module, _, attribute = place.partition(":")
        found: type[Any] = getattr(importlib.import_module(module), attribute)
        return found
    point = _outside().get(name)
    if point is None:
        raise UnknownMetric(_unknown(name))
    try:
        loaded: type[Any] = point.load()
    except Exception as error:
        package = point.dist.name if point.dist else point.value
        raise MissingPart(
            f"metric {name!r} comes from the package {package!r}, which cannot be loaded "
            f"({type(error).__name__}: {error}); repair or remove that package"
        ) from error
    return loaded


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name.lower(), names(), n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names())}"
    return f"no metric is called {name!r}; {hint} ('meantime metrics' lists them)"


def parse(specification: str) -> tuple[str, dict[str, str]]:
    r"""Split `name:option=value,option=value`; a comma inside a value is written `\,`.

    A path is the folder of a learned metric: `learned` with that model.
    """
    if _is_path(specification):
        return "learned", {"model": specification.strip()}
    name, colon, rest = specification.partition(":")
    name = name.strip()
    options: dict[str, str] = {}
    if not colon:
        return name, options
    if not rest.strip():
        raise OptionError(f"{specification!r} ends in a colon; write {name}:option=value or {name}")
    for item in rest.replace("\\,", "\0").split(","):
        key, equals, value = item.replace("\0", ",").partition("=")
        key = key.strip()
        if not equals or not key:
            raise OptionError(
                f"{item.strip()!r} in {specification!r} is not option=value; "
                f"write {name}:option=value,option=value"
            )
        if key in options:
            raise OptionError(f"{specification!r} sets {key} twice; keep one")
        options[key] = value.strip()
    return name, options


def _is_path(specification: str) -> bool:
    """Whether this names a folder: one that is there, or text with a separator before any colon.

    The names of metrics come first, so that a folder called `bleu` does not hide the metric.
    """
    name = specification.partition(":")[0].strip()
    if name in BUILT_IN or not specification.strip():
        return False
    separated = any(mark in name for mark in {"/", os.sep, os.altsep} if mark)
    # Not pathlib: a name longer than names of files may be is no folder, and no accident.
    return separated or (os.path.isdir(specification.strip()) and name not in _outside())


def create(specification: str, *, lang: str | None = None, **options: Any) -> Metric:
    """Make a metric from its name and options.

    Args:
        specification: `bleu`, or with options in it: `bleu:max_order=2,smooth=add-k`; or the
            folder of a learned metric.
        lang: The language of the hypotheses. Sets what the metric does by default for
            that language (Chinese is segmented, say) and refuses those it cannot treat.
        **options: Options by keyword, as the metric's class takes them.
    """
    from meantime.options import build

    name, texts = parse(specification)
    metric: Metric = build(find(name), name, texts, options, lang)
    return metric
