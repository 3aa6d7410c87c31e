"""Feature sets by name: what `--features` takes.

A list of groups becomes one feature set. Groups that overlap are refused, since a feature
would be there twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from meantime import registry
from meantime.errors import UsageError
from meantime.learned.features import (
    STEMMING,
    BothDirections,
    FeatureSet,
    JoinedFeatures,
    ParseFeatures,
    PosFeatures,
)
from meantime.learned.meanings import MeaningFeatures, MetricFeatures
from meantime.learned.overlaps import OVERLAPS, BasicFeatures, OverlapFeatures
from meantime.learned.synonyms import Synonyms

METRIC = "metric:"

GROUPS: Mapping[str, str] = {
    "basic": "length ratios, n-gram precisions 1 to 5, WER and PER as counts (Kulesza 2004)",
    "parse": "score and constituents of the parse against the references' (Kulesza 2004)",
    "extended": "basic and parse",
    **{name: f"{name.upper()} of a pair (Finch and others 2005)" for name in OVERLAPS},
    "pos-": "words without a match, by part of speech (Finch and others 2005)",
    "pos+": "words with a match, by part of speech (Finch and others 2005)",
    "pos": "pos- and pos+",
    "all": "everything of Finch and others 2005: WER, PER, BLEU, NIST and pos",
    "meant": "score and parts of the metric meant",
}
"""Every group by name, with what it is. `metric:NAME` besides is the score of any metric."""

_JOINED = {
    "extended": ("basic", "parse"),
    "pos": ("pos-", "pos+"),
    "all": (*OVERLAPS, "pos-", "pos+"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What groups have in common.

    Attributes:
        both_directions: Average with the features of the sides exchanged.
        lowercase: Compare words without regard to case.
        stem: Which words are compared by their stem (one of `STEMMING`), where the analyser's
            words are compared.
        synonyms: Words that match besides equal ones, in WER, PER and by part of speech.
    """

    both_directions: bool = False
    lowercase: bool = False
    stem: str = "nouns-verbs"
    synonyms: Synonyms | None = None

    def __post_init__(self) -> None:
        if self.stem not in STEMMING:
            raise UsageError(f"stem={self.stem!r}; give one of {', '.join(STEMMING)}")


def parse_groups(text: str) -> tuple[str, ...]:
    r"""The groups of a list with commas between; a comma inside an option is written `\,`."""
    items = [item.replace("\0", ",").strip() for item in text.replace("\\,", "\0").split(",")]
    found = tuple(item for item in items if item)
    if not found:
        raise UsageError(f"no feature group in {text!r}; there are {_known()}")
    return found


def make_features(groups: Sequence[str], settings: Settings | None = None) -> FeatureSet:
    """One feature set from the names of groups.

    Raises:
        UsageError: There is no such group, or two groups have a feature in common.
    """
    settings = settings or Settings()
    wanted: list[str] = []
    for group in groups:
        for name in _JOINED.get(group, (group,)):
            if name in wanted:
                raise UsageError(
                    f"the features {name} are asked for twice ({', '.join(groups)}); leave one out"
                )
            wanted.append(name)
    if not wanted:
        raise UsageError(f"no feature group; there are {_known()}")
    sets: list[FeatureSet] = []
    overlaps = tuple(name for name in wanted if name in OVERLAPS)
    for name in wanted:
        if name in OVERLAPS:
            # All of them together, where the first stands: they share their counting.
            if name == overlaps[0]:
                sets.append(_overlaps(overlaps, settings))
        elif name in ("pos-", "pos+"):
            sets.append(_pos(name, settings))
        else:
            sets.append(_other(name, settings))
    return sets[0] if len(sets) == 1 else JoinedFeatures(sets=tuple(sets))


def without_synonyms(settings: Settings) -> Settings:
    """The same settings, words matching where they are equal alone."""
    return replace(settings, synonyms=None)


def _overlaps(which: tuple[str, ...], settings: Settings) -> FeatureSet:
    features = OverlapFeatures(
        which=which,
        lowercase=settings.lowercase,
        stem=settings.stem,
        synonyms=settings.synonyms,
    )
    return BothDirections(features=features) if settings.both_directions else features


def _pos(name: str, settings: Settings) -> FeatureSet:
    return PosFeatures(
        matches=name == "pos+",
        non_matches=name == "pos-",
        both_directions=settings.both_directions,
        lowercase=settings.lowercase,
        stem=settings.stem,
        synonyms=settings.synonyms,
    )


def _other(name: str, settings: Settings) -> FeatureSet:
    found: FeatureSet
    if name == "basic":
        found = BasicFeatures(lowercase=settings.lowercase)
    elif name == "parse":
        found = ParseFeatures()
    elif name == "meant":
        found = MeaningFeatures()
    elif name.startswith(METRIC):
        found = MetricFeatures(metric=name.removeprefix(METRIC))
    else:
        hint = ""
        if registry.parse(name)[0] in registry.names():
            hint = f"write {METRIC}{name} for the score of the metric; "
        raise UsageError(f"no feature group is called {name!r}; {hint}there are {_known()}")
    return BothDirections(features=found) if settings.both_directions else found


def _known() -> str:
    return f"{', '.join(GROUPS)}, and {METRIC}NAME for any metric ('meantime learn features')"
