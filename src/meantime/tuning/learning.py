"""One face for the two ways to learn weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy
from numpy.typing import NDArray

from meantime.errors import UsageError
from meantime.protocols import Array, Metric
from meantime.tuning import mert, ranking
from meantime.tuning.candidates import Candidates
from meantime.tuning.constraints import Constraints

Floats = NDArray[numpy.float64]

LEARNERS = ("mert", "ranking")


@dataclass(frozen=True)
class Learned:
    """Weights, what they score on the candidates they were learned from, and how they came."""

    weights: Floats
    initial: float
    value: float
    report: Mapping[str, Any]
    """As it is written into the log."""


@dataclass(frozen=True)
class Learner:
    """How weights are learned: everything but the data."""

    kind: str = "mert"
    constraints: Constraints = field(default_factory=Constraints)
    search: mert.Settings = field(default_factory=mert.Settings)
    ranking: ranking.RankingSettings = field(default_factory=ranking.RankingSettings)
    seed: int = 1

    def __post_init__(self) -> None:
        if self.kind not in LEARNERS:
            raise UsageError(f"no learner is called {self.kind!r}; use {' or '.join(LEARNERS)}")

    def settings(self) -> dict[str, Any]:
        """What the answer depends on, as plain values."""
        chosen = self.search if self.kind == "mert" else self.ranking
        return {
            "learner": self.kind,
            **asdict(chosen),
            "fixed": list(self.constraints.fixed),
            "minimum": dict(self.constraints.minimum),
            "maximum": dict(self.constraints.maximum),
            "seed": self.seed,
        }

    def learn(
        self,
        candidates: Candidates,
        rows: Array,
        metric: Metric,
        initial: Floats,
        *,
        others: Sequence[Floats] = (),
        turn: int = 0,
        threads: int = 0,
        progress: Callable[[int, int], None] | None = None,
    ) -> Learned:
        """Learn weights from candidates and their statistics.

        Args:
            candidates: What can be chosen.
            rows: Statistics of `candidates.texts`.
            metric: The metric that measured them.
            initial: Weights to begin with.
            others: Weights to begin with besides, where the learner can.
            turn: Number of the iteration; each draws by chance of its own.
            threads: For searches side by side; 0 is one a core.
            progress: Told how many starts are done, and of how many.
        """
        seed = (self.seed, turn)
        if self.kind == "ranking":
            ranked = ranking.learn(
                candidates,
                rows,
                metric,
                initial,
                constraints=self.constraints,
                settings=self.ranking,
                seed=seed,
            )
            report: dict[str, Any] = {
                "pairs": ranked.pairs,
                "accuracy": ranked.accuracy,
                "loss": ranked.loss,
                "steps": ranked.iterations,
                "converged": ranked.converged,
            }
            return Learned(ranked.weights, ranked.initial, ranked.value, report)
        found = mert.optimise(
            mert.Problem(candidates, rows, metric),
            candidates.all_names,
            initial,
            others=others,
            constraints=self.constraints,
            settings=self.search,
            seed=seed,
            threads=threads,
            progress=progress,
        )
        names = candidates.all_names
        report = {
            "starts": [asdict(start) for start in found.starts],
            "best_start": found.best,
            "starts_at_best": found.agreeing,
            "converged": all(start.converged for start in found.starts),
            "ranges": {
                name: [_finite(end) for end in ends]
                for name, ends in zip(names, found.ranges, strict=True)
            },
            "idle": [names[index] for index in found.idle],
        }
        return Learned(found.weights, found.initial, found.value, report)


def _finite(value: float) -> float | None:
    """A number as JSON has it: no end is null."""
    return value if numpy.isfinite(value) else None
