r"""Support vector machines with Gaussian kernels, and ridge regression; scaling of features.

    f(x) = sum_i a_i exp(-|x - x_i|² / (2 sigma²)) - b          a classifier or a regression
    f(x) = w x + b                                              ridge regression

A classifier's f is the signed distance from its boundary, in the units of the margin: above 0 is
class 1. Training a machine needs scikit-learn (`pip install 'meantime[learn]'`), using one does
not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy
from numpy.typing import ArrayLike, NDArray

from meantime.errors import InputError, MissingPart, UsageError
from meantime.learned.choices import Scaling
from meantime.matching.radial import radial_sums
from meantime.protocols import Array

TOLERANCE = 0.01
"""How nearly the conditions of the optimum hold when training ends; Kulesza's."""

CACHE_MEGABYTES = 300


@dataclass(frozen=True, slots=True, eq=False)
class Scaler:
    """Brings features to a common scale, and leaves out those that tell nothing."""

    kept: NDArray[numpy.int64]
    """The columns that are used."""
    shift: Array
    factor: Array

    def __call__(self, rows: Array) -> Array:
        """The kept columns, scaled."""
        scaled: Array = (rows[:, self.kept] - self.shift) * self.factor
        return scaled


def constant_columns(rows: Array) -> NDArray[numpy.int64]:
    """Features that are the same in all examples."""
    if not len(rows):
        return numpy.arange(rows.shape[1])
    return numpy.flatnonzero(rows.max(axis=0) == rows.min(axis=0))


def fit_scaler(rows: Array, scaling: Scaling | str) -> Scaler:
    """A scaler for examples like these; constant features are left out.

    Raises:
        InputError: Every feature is constant.
    """
    kept = numpy.setdiff1d(numpy.arange(rows.shape[1]), constant_columns(rows))
    if not len(kept):
        raise InputError(
            f"all {rows.shape[1]} features are the same in all {len(rows)} examples, so nothing "
            "can be learned; give other features, or examples that differ"
        )
    used = rows[:, kept]
    how = Scaling(scaling)
    if how is Scaling.STANDARD:
        shift, spread = used.mean(axis=0), used.std(axis=0)
    elif how is Scaling.UNIT:
        shift, spread = used.min(axis=0), used.max(axis=0) - used.min(axis=0)
    else:
        shift, spread = numpy.zeros(len(kept)), numpy.ones(len(kept))
    # A feature may vary by less than rounding can show of its deviation.
    spread = numpy.where(spread > 0, spread, 1.0)
    return Scaler(kept, shift, 1.0 / spread)


@dataclass(frozen=True, slots=True, eq=False)
class SupportVectors:
    """A trained machine: support vectors, what each weighs, and the intercept."""

    kind: ClassVar[str] = "support-vectors"

    vectors: Array
    weights: Array
    intercept: float
    gamma: float
    """1 / (2 sigma²)."""

    def __call__(self, rows: Array) -> Array:
        """What it makes of each row; the same whatever else is asked with it."""
        return radial_sums(rows, self.vectors, self.weights, self.gamma) + self.intercept


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A weight for each feature, and an intercept."""

    kind: ClassVar[str] = "linear"

    weights: Array
    intercept: float

    def __call__(self, rows: Array) -> Array:
        """The weighted sum of each row, always added up in the same order."""
        total = numpy.full(len(rows), self.intercept)
        for column, weight in enumerate(self.weights.tolist()):
            total += rows[:, column] * weight
        return total


Machine: TypeAlias = SupportVectors | Linear


def gamma_of(sigma: float) -> float:
    """The factor in the exponent for a deviation of the kernel."""
    if not 0 < sigma < numpy.inf:
        raise UsageError(f"sigma={sigma:g}; give a number above 0")
    return 1.0 / (2.0 * sigma * sigma)


def train_classifier(rows: Array, labels: ArrayLike, *, c: float, sigma: float) -> SupportVectors:
    """A machine that tells class 1 from class 0.

    Args:
        rows: Scaled features, one row an example.
        labels: 0 or 1 for each.
        c: How much an error costs against a narrow margin.
        sigma: Deviation of the Gaussian kernel.

    Raises:
        MissingPart: scikit-learn is not installed.
    """
    _check_c(c)
    gamma = gamma_of(sigma)
    machine = load_svm().SVC(
        C=c, gamma=gamma, kernel="rbf", tol=TOLERANCE, cache_size=CACHE_MEGABYTES
    )
    machine.fit(rows, numpy.asarray(labels, dtype=numpy.int64))
    return _taken(machine, gamma)


def train_regressor(
    rows: Array, targets: ArrayLike, *, c: float, sigma: float, epsilon: float = 0.1
) -> SupportVectors:
    """A machine that predicts a number.

    Args:
        rows: Scaled features, one row an example.
        targets: What to predict, of deviation about 1.
        c: How much an error costs against a flat function.
        sigma: Deviation of the Gaussian kernel.
        epsilon: Errors that cost nothing.
    """
    _check_c(c)
    gamma = gamma_of(sigma)
    machine = load_svm().SVR(
        C=c, gamma=gamma, kernel="rbf", epsilon=epsilon, tol=TOLERANCE, cache_size=CACHE_MEGABYTES
    )
    machine.fit(rows, numpy.asarray(targets, dtype=numpy.float64))
    return _taken(machine, gamma)


def train_ridge(rows: Array, targets: ArrayLike, *, penalty: float) -> Linear:
    """Least squares with a penalty on large weights, times the number of examples.

    Args:
        rows: Scaled features, one row an example.
        targets: What to predict.
        penalty: How much the square of a weight costs, against the mean square of the errors.
    """
    wanted = numpy.asarray(targets, dtype=numpy.float64)
    middle, mean = rows.mean(axis=0), float(wanted.mean())
    centred = rows - middle
    square = centred.T @ centred / len(rows) + penalty * numpy.eye(rows.shape[1])
    weights = numpy.linalg.solve(square, centred.T @ (wanted - mean) / len(rows))
    return Linear(weights, mean - float(middle @ weights))


def load_svm() -> Any:
    """scikit-learn's module of machines.

    Raises:
        MissingPart: It is not installed.
    """
    try:
        from sklearn import svm
    except ImportError as error:
        raise MissingPart(
            "training a support vector machine needs scikit-learn, which is not installed; "
            "pip install 'meantime[learn]' (using a trained one needs nothing more)"
        ) from error
    return svm


def trainer_version() -> str:
    """The name and version of what trains the machines."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"scikit-learn {version('scikit-learn')}"
    except PackageNotFoundError:
        return "none"


def check_numbers(what: str, values: Sequence[float]) -> tuple[float, ...]:
    """Values to try, each once and ascending; all above 0."""
    found = tuple(sorted(set(values)))
    if not found or found[0] <= 0 or not numpy.isfinite(found).all():
        raise UsageError(
            f"{what}: give numbers above 0, not {', '.join(map(str, values)) or 'none'}"
        )
    return found


def _taken(machine: Any, gamma: float) -> SupportVectors:
    return SupportVectors(
        numpy.array(machine.support_vectors_, dtype=numpy.float64),
        numpy.array(machine.dual_coef_[0], dtype=numpy.float64),
        float(machine.intercept_[0]),
        gamma,
    )


def _check_c(c: float) -> None:
    if not 0 < c < numpy.inf:
        raise UsageError(f"C={c:g}; give a number above 0")
