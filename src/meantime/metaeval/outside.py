"""Scores of metrics that somebody else computed, to stand beside ours on the same translations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy

from meantime.errors import InputError, UsageError
from meantime.metaeval.human import Floats, HumanScores, JudgedPair

ScoreKey: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetricScores:
    """Scores of other metrics.

    Attributes:
        name: Where they were read.
        keys: Which parts of a `JudgedPair` name a translation here.
        scores: For each metric, the scores by these parts; higher is better.
    """

    name: str
    keys: tuple[str, ...]
    scores: Mapping[str, Mapping[ScoreKey, float]]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics' names."""
        return tuple(self.scores)

    def turned(self, lower: Sequence[str]) -> MetricScores:
        """The same with these metrics, of which lower is better, turned round.

        Raises:
            UsageError: One of them is not here.
        """
        for name in lower:
            if name not in self.scores:
                raise UsageError(
                    f"{self.name}: no metric {name!r} to turn round; there are "
                    f"{', '.join(self.scores)}"
                )
        turned = {
            name: {key: -value for key, value in rows.items()} if name in lower else rows
            for name, rows in self.scores.items()
        }
        return replace(self, scores=turned)

    def line_up(self, human_scores: HumanScores) -> dict[str, Floats]:
        """For each metric one score a judged pair, in their order; NaN where there is none.

        Raises:
            InputError: None of the translations is here, or two of them have the same key.
        """
        wanted = [self._key(pair) for pair in human_scores.pairs]
        self._refuse_ambiguous(human_scores, wanted)
        found = {
            name: numpy.array([rows.get(key, numpy.nan) for key in wanted])
            for name, rows in self.scores.items()
        }
        if not any(numpy.isfinite(values).any() for values in found.values()):
            raise InputError(
                f"{self.name}: holds no score for any translation of {human_scores.name}; "
                f"translations are matched by {', '.join(self.keys)}, such as "
                f"{'/'.join(wanted[0]) if wanted else 'none'}"
            )
        return found

    def _key(self, pair: JudgedPair) -> ScoreKey:
        return tuple(str(getattr(pair, part)) for part in self.keys)

    def _refuse_ambiguous(self, human_scores: HumanScores, keys: Sequence[ScoreKey]) -> None:
        first: dict[ScoreKey, JudgedPair] = {}
        for key, pair in zip(keys, human_scores.pairs, strict=True):
            other = first.setdefault(key, pair)
            if other is not pair and (other.key, other.system) != (pair.key, pair.system):
                raise InputError(
                    f"{self.name}: {', '.join(self.keys)} do not tell {other.key} from "
                    f"{pair.key} of {human_scores.name}; add the columns domain and doc"
                )
