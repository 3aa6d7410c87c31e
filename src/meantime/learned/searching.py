"""Classifiers: parameters tried, chosen by held-out accuracy alone, and trained.

Everything that is fitted, scaling included, is fitted to training examples. What has been tried
is kept in a journal, so that a search can be gone on with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy
from numpy.typing import NDArray

from meantime.errors import InputError, UsageError
from meantime.learned.choices import Scaling
from meantime.learned.figures import Figures, measure
from meantime.learned.journal import Journal
from meantime.learned.machines import (
    Scaler,
    SupportVectors,
    constant_columns,
    fit_scaler,
    train_classifier,
)
from meantime.learned.splits import Indices, make_folds
from meantime.protocols import Array

Progress = Callable[[int, int], None]
Labels = NDArray[numpy.int64]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Parameters to try: C, sigma, and what is done to features."""

    c: float
    sigma: float
    scaling: Scaling = Scaling.STANDARD
    relative: bool = False
    """Whether sigma is in units of the root of the number of features that vary."""

    def __str__(self) -> str:
        unit = "·√features" if self.relative else ""
        return f"C={self.c:g} sigma={self.sigma:g}{unit} scaling={self.scaling}"


@dataclass(frozen=True, slots=True)
class Tried:
    """How a candidate did on what it was not trained on."""

    candidate: Candidate
    accuracy: float
    by_class: tuple[float, float]
    """Accuracy on class 0 and on class 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Classifier:
    """A scaler and a machine."""

    scaler: Scaler
    machine: SupportVectors

    def __call__(self, rows: Array) -> Array:
        """The signed distance of each row from the boundary; class 1 is above 0."""
        return self.machine(self.scaler(rows))


def grid(
    cs: Iterable[float],
    sigmas: Iterable[float],
    scalings: Iterable[Scaling | str] = (Scaling.STANDARD,),
    *,
    relative: bool = False,
) -> tuple[Candidate, ...]:
    """All combinations."""
    return tuple(
        Candidate(float(c), float(sigma), Scaling(scaling), relative)
        for scaling, c, sigma in product(scalings, cs, sigmas)
    )


def check_examples(
    rows: Array, labels: Labels, names: Sequence[str], *, folds: int = 0, what: str = "examples"
) -> list[str]:
    """Refuse what cannot be learned from, before any training; say what is odd.

    Args:
        rows: Features, one row an example.
        labels: 0 or 1 for each.
        names: Of the features.
        folds: Into how many parts the examples will be split.
        what: What to call the examples.

    Returns:
        Notes for the reader.

    Raises:
        InputError: There is one class only, there are fewer examples of a class than folds, or
            all features are constant.
    """
    if not len(rows):
        raise InputError(f"there are no {what}; nothing can be learned")
    for value in (0, 1):
        count = int((labels == value).sum())
        if not count:
            raise InputError(
                f"all {len(labels)} {what} are of class {1 - value}; a classifier needs both "
                "classes"
            )
        if count < folds:
            raise InputError(
                f"{count} {what} of class {value} for {folds} folds; give at least one a fold, or "
                "fewer folds"
            )
    return constant_notes(rows, names, what)


def constant_notes(rows: Array, names: Sequence[str], what: str = "examples") -> list[str]:
    """Say which features are the same in all examples, and so are left out.

    Raises:
        InputError: They all are.
    """
    constant = constant_columns(rows)
    if len(constant) == rows.shape[1]:
        shown = ", ".join(names[:3])
        raise InputError(
            f"all features ({shown}{', …' if len(names) > 3 else ''}) are the same in all "
            f"{len(rows)} {what}, so nothing can be learned; give other features, or examples "
            "that differ"
        )
    if not len(constant):
        return []
    listed = [names[place] for place in constant]
    shown = ", ".join(listed[:6]) + (", …" if len(listed) > 6 else "")
    return [
        f"{len(listed)} of {len(names)} features are the same in all {len(rows)} {what} and are "
        f"left out: {shown}"
    ]


def train(rows: Array, labels: Labels, candidate: Candidate) -> Classifier:
    """A classifier with these parameters."""
    scaler = fit_scaler(rows, candidate.scaling)
    scaled = scaler(rows)
    sigma = candidate.sigma * (numpy.sqrt(scaled.shape[1]) if candidate.relative else 1.0)
    return Classifier(scaler, train_classifier(scaled, labels, c=candidate.c, sigma=float(sigma)))


def best(tried: Sequence[Tried]) -> Tried:
    """The one of greatest held-out accuracy; of equals the smoothest: least C, greatest sigma."""
    return min(
        tried,
        key=lambda one: (
            -round(one.accuracy, 12),
            one.candidate.c,
            -one.candidate.sigma,
            list(Scaling).index(one.candidate.scaling),
        ),
    )


def search(
    rows: Array,
    labels: Labels,
    splits: Sequence[NDArray[numpy.bool_]],
    candidates: Sequence[Candidate],
    *,
    journal: Journal | None = None,
    progress: Progress | None = None,
    name: str = "",
) -> list[Tried]:
    """Train every candidate on what each split leaves, and test it on what the split holds out.

    Args:
        rows: Features, one row an example.
        labels: 0 or 1 for each.
        splits: Which examples are held out, one mask a split.
        candidates: Parameters to try.
        journal: What was tried before; answers are added.
        progress: Told how many trainings are done, and of how many.
        name: Of this search in the journal.
    """
    if not candidates:
        raise UsageError("no parameters to try; give at least one C and one sigma")
    journal = journal or Journal(None, "")
    total = len(candidates) * len(splits)
    done = 0
    found = []
    for candidate in candidates:
        right = numpy.zeros(2)
        there = numpy.zeros(2)
        for number, held in enumerate(splits):
            key = f"{name}/{candidate}/{number}"
            counts = journal.get(key)
            if counts is None:
                classifier = train(rows[~held], labels[~held], candidate)
                decided = classifier(rows[held]) > 0
                counts = _counts(decided, labels[held])
                journal.put(key, counts)
            right += counts[:2]
            there += counts[2:]
            done += 1
            if progress:
                progress(done, total)
        each = right / numpy.maximum(there, 1)
        found.append(
            Tried(candidate, float(right.sum() / there.sum()), (float(each[0]), float(each[1])))
        )
    return found


def cross_validate(
    rows: Array,
    labels: Labels,
    candidates: Sequence[Candidate],
    *,
    folds: int = 5,
    seed: int = 1,
    journal: Journal | None = None,
    progress: Progress | None = None,
    name: str = "",
) -> list[Tried]:
    """Every candidate by cross-validation; accuracy over all examples."""
    numbers = make_folds(range(len(rows)), folds, seed=seed)
    splits = [numbers == fold for fold in range(folds)]
    return search(rows, labels, splits, candidates, journal=journal, progress=progress, name=name)


@dataclass(frozen=True, slots=True)
class Jackknifed:
    """What each fold gave, trained on the others."""

    folds: tuple[Figures, ...]
    chosen: tuple[Candidate, ...]

    def of(self, figure: str) -> list[float]:
        """One of the figures, of each fold."""
        return [getattr(fold, figure) for fold in self.folds]


def jackknife(
    rows: Array,
    labels: Labels,
    candidates: Sequence[Candidate],
    *,
    folds: int = 10,
    seed: int = 1,
    most: int | None = None,
    journal: Journal | None = None,
    progress: Progress | None = None,
    name: str = "",
) -> Jackknifed:
    """Each fold tested with a classifier trained on the others, parameters chosen among those.

    To choose for fold k, candidates are trained without folds k and k + 1, and without k - 1 and
    k, and tested on the neighbour. Neither has seen fold k, and each such training serves both of
    the folds it leaves out, so that a candidate costs as many trainings as there are folds.

    Args:
        rows: Features, one row an example.
        labels: 0 or 1 for each.
        candidates: Parameters to try.
        folds: How many, 3 or more.
        seed: Of the folds.
        most: With at most how many examples, drawn by chance, candidates are trained to choose
            among them; what is tested is always trained with all.
        journal: What was tried before; answers are added.
        progress: Told how many trainings are done, and of how many.
        name: Of this search in the journal.

    Raises:
        UsageError: There are fewer than three folds.
    """
    if folds < 3:
        raise UsageError(f"folds={folds}; a jackknife that chooses parameters needs 3 or more")
    journal = journal or Journal(None, "")
    numbers: Indices = make_folds(range(len(rows)), folds, seed=seed)
    several = len(candidates) > 1
    total = folds * (len(candidates) if several else 0) + folds
    done = 0
    # For each candidate and fold: how many of the neighbours were right, by models blind to it.
    right = numpy.zeros((len(candidates), folds))
    for place, candidate in enumerate(candidates if several else ()):
        for one in range(folds):
            other = (one + 1) % folds
            key = f"{name}/{candidate}/{one}+{other}" + ("" if most is None else f"/{most}")
            counts = journal.get(key)
            if counts is None:
                left = numpy.flatnonzero((numbers != one) & (numbers != other))
                if most is not None and len(left) > most:
                    left = numpy.random.default_rng([seed, one]).permutation(left)[:most]
                classifier = train(rows[left], labels[left], candidate)
                counts = [
                    int(((classifier(rows[numbers == k]) > 0) == labels[numbers == k]).sum())
                    for k in (one, other)
                ]
                journal.put(key, counts)
            right[place, other] += counts[0]
            right[place, one] += counts[1]
            done += 1
            if progress:
                progress(done, total)
    chosen, figures = [], []
    for fold in range(folds):
        tried = [
            Tried(candidate, float(right[place, fold]), (0.0, 0.0))
            for place, candidate in enumerate(candidates)
        ]
        candidate = best(tried).candidate
        key = f"{name}/{candidate}/test {fold}"
        decided = journal.get(key)
        held = numbers == fold
        if decided is None:
            classifier = train(rows[~held], labels[~held], candidate)
            decided = [int(value) for value in classifier(rows[held]) > 0]
            journal.put(key, decided)
        figures.append(measure(numpy.array(decided, dtype=bool), labels[held]))
        chosen.append(candidate)
        done += 1
        if progress:
            progress(done, total)
    return Jackknifed(tuple(figures), tuple(chosen))


def _counts(decided: NDArray[numpy.bool_], labels: Labels) -> list[int]:
    """How many of each class were right, and how many there were."""
    right = [int(((labels == value) & (decided == value)).sum()) for value in (0, 1)]
    return right + [int((labels == value).sum()) for value in (0, 1)]
