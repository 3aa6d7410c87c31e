"""A metric of a user's own: features to human scores, with an honest estimate of what it is worth.

Nested cross-validation by segment: each outer fold is predicted by a machine trained on the
others, its parameters chosen by inner folds among those. The learning curve trains on growing
shares of the segments and tests on the same outer folds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import ArrayLike, NDArray

from meantime.errors import InputError, UsageError
from meantime.learned.choices import Learner, Scaling
from meantime.learned.figures import Estimate, estimate
from meantime.learned.journal import Journal
from meantime.learned.machines import (
    Machine,
    Scaler,
    fit_scaler,
    train_regressor,
    train_ridge,
)
from meantime.learned.searching import constant_notes
from meantime.learned.splits import make_folds, number_groups
from meantime.matching import ranks
from meantime.protocols import Array

Progress = Callable[[int, int], None]

PENALTIES = (0.001, 0.01, 0.1, 1.0)
CS = (0.1, 1.0, 10.0)
SIGMAS = (1.0, 2.0, 4.0)
"""In units of the root of the number of features that vary."""

SHARES = (0.125, 0.25, 0.5, 1.0)
"""Of the training segments, for the learning curve."""

FEWEST = 3
"""Examples in a fold, for a correlation to exist."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Parameters to try: of ridge regression its penalty, of a machine C and sigma."""

    learner: Learner
    penalty: float = 0.0
    c: float = 0.0
    sigma: float = 0.0

    def __str__(self) -> str:
        if self.learner is Learner.RIDGE:
            return f"ridge penalty={self.penalty:g}"
        return f"svm C={self.c:g} sigma={self.sigma:g}·√features"


@dataclass(frozen=True, slots=True)
class Point:
    """What a share of the judgements gives."""

    segments: int
    """Trained on, in the mean."""
    pearson: Estimate


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A metric fitted to all judgements, and what it gave where it was not fitted."""

    scaler: Scaler
    machine: Machine
    mean: float
    deviation: float
    trial: Trial
    """Chosen by cross-validation over all segments."""
    pearson: Estimate
    kendall: Estimate
    within_segments: float | None
    """Mean Kendall correlation inside segments of several translations; None without any."""
    best_feature: str
    """That alone agrees best, over all."""
    alone: Estimate
    """Pearson correlation of the feature that agrees best in each fold's training part."""
    curve: tuple[Point, ...]
    gain: Estimate
    """Pearson with all training segments, less that with half of them."""
    notes: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """Whether more judgements would help, in words."""
        low, high = self.gain.mean - self.gain.margin, self.gain.mean + self.gain.margin
        shown = (
            f"the last doubling of judgements gave {self.gain.mean:+.3f} [{low:+.3f}, {high:+.3f}]"
        )
        if low > WORTH / 2:
            return f"more judgements would help: {shown}"
        if high < WORTH:
            return f"more judgements would help little: {shown}"
        return f"whether more judgements would help is not clear: {shown}"


WORTH = 0.02
"""A gain in correlation that is worth twice as many judgements."""


def trials(learner: Learner | str) -> tuple[Trial, ...]:
    """What is tried for a learner."""
    how = Learner(learner)
    ridge = [Trial(Learner.RIDGE, penalty=penalty) for penalty in PENALTIES]
    svm = [Trial(Learner.SVM, c=c, sigma=sigma) for c in CS for sigma in SIGMAS]
    return tuple(
        (ridge if how is not Learner.SVM else []) + (svm if how is not Learner.RIDGE else [])
    )


def check_scores(
    rows: Array, scores: ArrayLike, segments: Sequence[Hashable], names: Sequence[str], folds: int
) -> list[str]:
    """Refuse what cannot be fitted, before any training; say what is odd."""
    human = numpy.asarray(scores, dtype=numpy.float64)
    if not len(human) == len(segments) == len(rows):
        raise InputError(
            f"{len(rows)} pairs, {len(human)} scores and {len(segments)} segments; give one each"
        )
    if not len(human):
        raise InputError("no translation has a human score; nothing can be fitted")
    if not numpy.isfinite(human).all():
        raise InputError("a human score is not a number; leave that translation out")
    if human.min() == human.max():
        raise InputError(
            f"all {len(human)} human scores are {human[0]:g}; nothing can be fitted to them"
        )
    count = len(set(segments))
    if count < FEWEST * folds:
        raise InputError(
            f"{count} judged segments for {folds} folds; give at least {FEWEST * folds}, or fewer "
            "folds with --folds"
        )
    return constant_notes(rows, names, "translations")


def fit(
    rows: Array,
    scores: ArrayLike,
    segments: Sequence[Hashable],
    names: Sequence[str],
    *,
    learner: Learner | str = Learner.BOTH,
    folds: int = 5,
    inner_folds: int = 3,
    seed: int = 1,
    journal: Journal | None = None,
    progress: Progress | None = None,
) -> Fitted:
    """Fit a metric to human scores.

    Args:
        rows: Features, one row a translation.
        scores: What people gave each; higher is better.
        segments: What each is a translation of; no segment is ever in training and test.
        names: Of the features.
        learner: What to train; both, and the better one in inner folds.
        folds: Outer folds, which estimate.
        inner_folds: Inner folds, which choose.
        seed: Of the folds.
        journal: What was found before; answers are added.
        progress: Told how many steps are done, and of how many.

    Raises:
        InputError: The scores are all equal, or there are too few segments for the folds.
    """
    if folds < 2 or inner_folds < 2:
        raise UsageError(f"folds={folds}, inner_folds={inner_folds}; give 2 or more of each")
    notes = check_scores(rows, scores, segments, names, folds)
    human = numpy.asarray(scores, dtype=numpy.float64)
    numbers = number_groups(segments)
    outer = make_folds(segments, folds, seed=seed)
    tried = trials(learner)
    work = _Work(rows, human, numbers, tried, inner_folds, seed, journal or Journal(None, ""))
    work.total = (folds + 1) * len(tried) + folds * len(SHARES)
    work.progress = progress
    chosen = [work.choose(outer != fold, f"fold {fold}") for fold in range(folds)]
    found = numpy.zeros((folds, len(SHARES)))
    sizes = numpy.zeros(len(SHARES))
    kendalls, alone, inside = [], [], []
    for fold in range(folds):
        held = outer == fold
        order = numpy.random.default_rng([seed, fold]).permutation(numpy.unique(numbers[~held]))
        for place, share in enumerate(SHARES):
            some = order[: max(FEWEST, round(len(order) * share))]
            sizes[place] += len(some) / folds
            predicted = work.predict(
                numpy.isin(numbers, some), held, chosen[fold], f"fold {fold} share {share:g}"
            )
            found[fold, place] = _pearson(human[held], predicted)
        kendalls.append(_kendall(human[held], predicted))
        inside += _inside(human[held], predicted, numbers[held])
        single = _best_feature(rows[~held], human[~held])
        sign = numpy.sign(_pearson(human[~held], rows[~held, single])) or 1.0
        alone.append(sign * _pearson(human[held], rows[held, single]))
    last = work.choose(numpy.ones(len(rows), dtype=bool), "all")
    scaler, machine, mean, deviation = _train(rows, human, last)
    return Fitted(
        scaler,
        machine,
        mean,
        deviation,
        last,
        estimate(found[:, -1].tolist()),
        estimate(kendalls),
        float(numpy.mean(inside)) if inside else None,
        names[_best_feature(rows, human)],
        estimate(alone),
        tuple(
            Point(round(float(size)), estimate(found[:, place].tolist()))
            for place, size in enumerate(sizes)
        ),
        estimate((found[:, -1] - found[:, -2]).tolist()),
        tuple(notes),
    )


class _Work:
    """The steps of a fit, each asked of the journal first."""

    def __init__(
        self,
        rows: Array,
        human: Array,
        numbers: NDArray[numpy.int64],
        tried: Sequence[Trial],
        inner_folds: int,
        seed: int,
        journal: Journal,
    ) -> None:
        self.rows, self.human, self.numbers, self.tried = rows, human, numbers, tried
        self.inner_folds, self.seed, self.journal = inner_folds, seed, journal
        self.total = self.done = 0
        self.progress: Progress | None = None

    def _step(self) -> None:
        self.done += 1
        if self.progress:
            self.progress(self.done, self.total)

    def choose(self, part: NDArray[numpy.bool_], name: str) -> Trial:
        """The trial of greatest correlation in inner folds of a part; of equals the first."""
        rows, human = self.rows[part], self.human[part]
        inner = make_folds(self.numbers[part].tolist(), self.inner_folds, seed=self.seed)
        values = []
        for trial in self.tried:
            key = f"{name}/{trial}"
            value = self.journal.get(key)
            if value is None:
                each = []
                for fold in range(self.inner_folds):
                    held = inner == fold
                    predicted = _predict(rows[~held], human[~held], rows[held], trial)
                    each.append(_pearson(human[held], predicted))
                value = float(numpy.mean(each))
                self.journal.put(key, value)
            values.append(round(value, 12))
            self._step()
        return self.tried[int(numpy.argmax(values))]

    def predict(
        self, part: NDArray[numpy.bool_], held: NDArray[numpy.bool_], trial: Trial, name: str
    ) -> Array:
        """What a machine trained on a part says of what is held out."""
        key = f"{name}/{trial}"
        known = self.journal.get(key)
        if known is None:
            found = _predict(self.rows[part], self.human[part], self.rows[held], trial)
            known = found.tolist()
            self.journal.put(key, known)
        self._step()
        return numpy.array(known, dtype=numpy.float64)


def _train(rows: Array, human: Array, trial: Trial) -> tuple[Scaler, Machine, float, float]:
    scaler = fit_scaler(rows, Scaling.STANDARD)
    scaled = scaler(rows)
    mean, deviation = float(human.mean()), float(human.std()) or 1.0
    wanted = (human - mean) / deviation
    machine: Machine
    if trial.learner is Learner.RIDGE:
        machine = train_ridge(scaled, wanted, penalty=trial.penalty)
    else:
        sigma = trial.sigma * float(numpy.sqrt(scaled.shape[1]))
        machine = train_regressor(scaled, wanted, c=trial.c, sigma=sigma)
    return scaler, machine, mean, deviation


def _predict(rows: Array, human: Array, asked: Array, trial: Trial) -> Array:
    if human.min() == human.max() or (rows.max(axis=0) == rows.min(axis=0)).all():
        return numpy.full(len(asked), float(human.mean()))
    scaler, machine, mean, deviation = _train(rows, human, trial)
    predicted: Array = machine(scaler(asked)) * deviation + mean
    return predicted


def _pearson(human: Array, values: Array) -> float:
    """Pearson's correlation; 0 where there is none, for nothing was predicted then."""
    value, reason = ranks.correlate(human, values)
    return 0.0 if reason else float(value)


def _kendall(human: Array, values: Array) -> float:
    from scipy.stats import kendalltau

    found = float(kendalltau(human, values).statistic)
    return 0.0 if numpy.isnan(found) else found


def _inside(human: Array, values: Array, numbers: NDArray[numpy.int64]) -> list[float]:
    """Kendall's correlation in each segment where people order translations."""
    order = numpy.argsort(numbers, kind="stable")
    ends = numpy.flatnonzero(numpy.diff(numbers[order])) + 1
    parts = numpy.split(order, ends)
    return [_kendall(human[part], values[part]) for part in parts if len(set(human[part])) > 1]


def _best_feature(rows: Array, human: Array) -> int:
    agreement = [abs(_pearson(human, rows[:, place])) for place in range(rows.shape[1])]
    return int(numpy.argmax(numpy.round(agreement, 12)))
