"""How alike words are: sources of similarity by name, and mixes of them.

    exact                        the same word
    stem                         the same English stem
    characters:POWER             what two words share of their spelling
    context:MEASURE:WINDOW:MODEL the company words keep in a large text
    vectors:POWER:NEIGHBOURS     the analyser's vectors, of words
    occurrences:POWER:NEIGHBOURS the analyser's vectors, of words where they stand

What follows a colon may be left out. `vectors*0.7+characters*0.3` is a weighted mean, the weights
being brought to a sum of 1; `context?characters` takes the second source for words that the first
does not know.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from meantime.errors import MissingPart, OptionError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from meantime.protocols import Similarity

GROUP = "meantime.similarities"
"""Entry points of other packages: called with the texts between the colons, if any."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """Something a source can be told, in its place after a colon."""

    name: str
    kind: type
    help: str
    also: Mapping[str, str] = field(default_factory=dict)
    """Other ways to write a value."""


@dataclass(frozen=True, slots=True)
class Source:
    """A source of similarity as it is listed."""

    summary: str
    opens: str
    """`module:Class`, imported when first asked for."""
    parameters: tuple[Parameter, ...] = ()


SOURCES: Mapping[str, Source] = {
    "exact": Source("the same word, whatever its case", "meantime.similarity.words:Exact"),
    "stem": Source("the same English stem (Snowball)", "meantime.similarity.words:Stem"),
    "characters": Source(
        "what two words share of their spelling: Dice of runs of two and three characters",
        "meantime.similarity.words:Characters",
        (Parameter("power", float, "what a coefficient is raised to"),),
    ),
    "context": Source(
        "the company words keep in a large text",
        "meantime.similarity.context:ContextSimilarity",
        (
            Parameter(
                "measure",
                str,
                "jaccard, dice, dice-printed, cosine, mutual-information or jensen-shannon",
                {"minmax-mi": "mutual-information", "jsd": "jensen-shannon"},
            ),
            Parameter("window", int, "tokens of the window, an odd number"),
            Parameter("model", str, "a file of context vectors"),
        ),
    ),
    "vectors": Source(
        "the analyser's vectors, of words: the same word has 1",
        "meantime.similarity.vectors:VectorSimilarity",
        (
            Parameter("power", float, "what a cosine is raised to"),
            Parameter("neighbours", float, "what either neighbour adds to a token's vector"),
        ),
    ),
    "occurrences": Source(
        "the analyser's vectors, of words where they stand: the same word elsewhere has less",
        "meantime.similarity.vectors:OccurrenceSimilarity",
        (
            Parameter("power", float, "what a cosine is raised to"),
            Parameter("neighbours", float, "what either neighbour adds to a token's vector"),
        ),
    ),
}


@cache
def _outside() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP) if point.name not in SOURCES}


def names() -> tuple[str, ...]:
    """All sources, ours first."""
    return (*SOURCES, *sorted(_outside()))


def open_similarity(specification: str) -> Similarity:
    """Make a source of similarity from its specification.

    Args:
        specification: A source with what it is told, as `context:jaccard:5`; a weighted mean, as
            `vectors*0.7+characters*0.3`; or a source with another for words it does not know, as
            `context?characters`.

    Raises:
        OptionError: It cannot be read; the message says where.
        UsageError: A source cannot be what it is told to be.
        InputError: A model's file cannot be read.
    """
    if not specification.strip():
        raise OptionError(f"no source of similarity is named; there are {', '.join(names())}")
    parts = []
    weights = []
    for term in specification.split("+"):
        text, times, weight = term.partition("*")
        parts.append(_chain(text, specification))
        weights.append(_weight(weight, specification) if times else 1.0)
    if len(parts) == 1:
        # The mean of one is that one, whatever it weighs.
        return parts[0]
    from meantime.similarity.mixing import Mix

    return Mix(sources=tuple(parts), weights=tuple(weights))


def _weight(text: str, specification: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = 0.0
    if not 0.0 < weight < float("inf"):
        raise OptionError(
            f"similarity {specification!r}: {text.strip()!r} is no weight; write SOURCE*0.7 with a "
            "number above 0"
        )
    return weight


def _chain(text: str, specification: str) -> Similarity:
    """One source, or several of which each answers for what those before it do not know."""
    sources = [_one(part.strip(), specification) for part in text.split("?")]
    found = sources.pop()
    for source in reversed(sources):
        from meantime.similarity.mixing import Backoff

        found = Backoff(first=source, second=found)
    return found


def _one(text: str, specification: str) -> Similarity:
    name, *arguments = (part.strip() for part in text.split(":"))
    where = f"similarity {specification!r}: "
    if not name:
        raise OptionError(
            f"{where}a source is missing; write SOURCE+SOURCE, with one of {', '.join(names())}"
        )
    source = SOURCES.get(name)
    if source is None:
        return _open_outside(name, arguments, where)
    parameters = source.parameters
    if len(arguments) > len(parameters):
        if not parameters or parameters[-1].kind is not str:
            takes = ":".join([name, *(parameter.name.upper() for parameter in parameters)])
            raise OptionError(f"{where}{name} is told too much; write {takes}")
        # The last one is the name of a file, which may have a colon.
        arguments[len(parameters) - 1 :] = [":".join(arguments[len(parameters) - 1 :])]
    values: dict[str, Any] = {}
    for parameter, argument in zip(parameters, arguments, strict=False):
        if argument:
            values[parameter.name] = _convert(parameter, argument, f"{where}{name}: ")
    module, _, attribute = source.opens.partition(":")
    make: Callable[..., Similarity] = getattr(importlib.import_module(module), attribute)
    return make(**values)


def _convert(parameter: Parameter, text: str, where: str) -> Any:
    if parameter.kind is str:
        return parameter.also.get(text, text)
    try:
        return parameter.kind(text)
    except ValueError:
        kind = "a whole number" if parameter.kind is int else "a number"
        raise OptionError(
            f"{where}{parameter.name} {text!r} ({parameter.help}) is not {kind}"
        ) from None


def _open_outside(name: str, arguments: list[str], where: str) -> Similarity:
    point = _outside().get(name)
    if point is None:
        near = difflib.get_close_matches(name.lower(), names(), n=2, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names())}"
        raise OptionError(f"{where}no source is called {name!r}; {hint}")
    try:
        make = point.load()
    except Exception as error:
        raise MissingPart(
            f"{where}{name} comes from another package, which cannot be loaded "
            f"({type(error).__name__}: {error}); repair or remove that package"
        ) from error
    made: Similarity = make(*arguments)
    return made
