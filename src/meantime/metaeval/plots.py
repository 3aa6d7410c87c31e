"""Drawings for papers: charts are described by altair and rendered to SVG or PNG offline.

scatter     each metric's scores against the human scores
metrics     metrics against each other
accuracy    how well a metric tells better from worse, against its correlation with people
roc         telling human translations from machine translations, over all thresholds
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from meantime.errors import InputError, MissingPart, UsageError
from meantime.metaeval.collecting import LENGTH, Column
from meantime.metaeval.correlation import Roc, Undefined, pearson, roc
from meantime.protocols import Array

if TYPE_CHECKING:
    from meantime.metaeval.tasks import Outcome

Chart: TypeAlias = Any
"""An `altair` chart; it has no type of its own here, since altair need not be installed."""

MOST_POINTS = 1000
MOST_METRICS = 4
"""Drawn against each other in panels; of more, the correlations alone are drawn."""
SIZE = 220
SCALE = 2
"""Pixels of a PNG for each of an SVG's."""


def _altair() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise MissingPart(
            "plots need altair and vl-convert-python; install them with "
            "pip install 'meantime[plots]'"
        ) from error
    return altair


def render(chart: Chart, format: str) -> bytes:
    """A chart as the bytes of an `svg` or a `png`.

    Raises:
        MissingPart: altair or vl-convert is not installed.
        UsageError: There is no such format.
    """
    _altair()
    if format not in ("svg", "png"):
        raise UsageError(f"{format!r} is no format of a drawing; choose from svg, png")
    buffer: Any = io.StringIO() if format == "svg" else io.BytesIO()
    chart.save(buffer, format=format, **({} if format == "svg" else {"scale_factor": SCALE}))
    drawn = buffer.getvalue()
    return drawn.encode("utf-8") if isinstance(drawn, str) else drawn


def draw(outcome: Outcome, kind: str) -> Chart:
    """Draw what a task came to.

    Raises:
        UsageError: There is no such kind.
        InputError: The data do not hold what it takes.
    """
    if kind == "scatter":
        human, scores = gathered(outcome)
        return scatter(human, scores)
    if kind == "metrics":
        return against_each_other(gathered(outcome)[1])
    if kind == "accuracy":
        points, accuracy, correlation = points_of(outcome)
        return accuracy_against_correlation(points, accuracy=accuracy, correlation=correlation)
    if kind == "roc":
        return roc_curves(curves_of(outcome))
    raise UsageError(f"{kind!r} is no drawing; choose from scatter, metrics, accuracy, roc")


def gathered(outcome: Outcome) -> tuple[Array, dict[str, Array]]:
    """Human scores and each metric's over all test sets, in one order; NaN where there is none.

    Raises:
        InputError: There are no human scores, but preferences.
    """
    sets = list(outcome.collected.values())
    human = numpy.concatenate([one.scores.scores for one in sets])
    if numpy.isnan(human).all():
        raise InputError(f"{outcome.task.name}: preferences have no scores to draw metrics against")
    return human, _columns(outcome)


def _columns(outcome: Outcome) -> dict[str, Array]:
    found: dict[str, list[Column]] = {}
    for collected in outcome.collected.values():
        for column in collected.columns:
            if column.name != LENGTH:
                found.setdefault(column.name, []).append(column)
    return {
        name: numpy.concatenate([column.scores for column in columns])
        for name, columns in found.items()
    }


def points_of(outcome: Outcome) -> tuple[dict[str, tuple[float, float]], str, str]:
    """Each metric's accuracy and correlation, means over the tables of a task; and what these are.

    Accuracy is the area under the ROC of human against machine translations where the data hold
    both, else the pairwise accuracy of the table; the correlation is the table's first that is no
    accuracy.

    Raises:
        InputError: The tables hold no accuracy, or no correlation.
    """
    areas = any(row.area is not None for table in outcome.evaluations for row in table.rows)
    figures = outcome.evaluations[0].figures
    accurate = [figure for figure in figures if "accuracy" in figure.statistic]
    correlated = [figure for figure in figures if "accuracy" not in figure.statistic]
    if not correlated or not (accurate or areas):
        raise InputError(
            f"{outcome.task.name}: this drawing needs a correlation and an accuracy; ask for both "
            "with --statistic, or take human translations in"
        )
    found: dict[str, list[tuple[float, float]]] = {}
    for table in outcome.evaluations:
        for row in table.rows:
            if row.name == LENGTH:
                continue
            accuracy = row.area if areas else row.cells[accurate[0]].value
            correlation = row.cells[correlated[0]].value
            if accuracy is not None and correlation is not None:
                found.setdefault(row.name, []).append((accuracy, correlation))
    points = {
        name: (
            sum(one for one, _ in values) / len(values),
            sum(other for _, other in values) / len(values),
        )
        for name, values in found.items()
    }
    what = "area under the ROC, human against machine" if areas else str(accurate[0])
    return points, what, str(correlated[0])


def curves_of(outcome: Outcome) -> dict[str, Roc]:
    """Each metric's ROC of human against machine translations.

    Raises:
        InputError: The data do not hold both.
    """
    human = numpy.array(
        [pair.is_human for one in outcome.collected.values() for pair in one.scores.pairs]
    )
    if human.all() or not human.any():
        raise InputError(
            f"{outcome.task.name}: a ROC needs human and machine translations; take the human ones "
            "in with --human-translations, where there are any"
        )
    found = {}
    for name, scores in _columns(outcome).items():
        try:
            found[name] = roc(scores[human], scores[~human])
        except Undefined:
            continue
    if not found:
        raise InputError(
            f"{outcome.task.name}: no metric has scores of both human and machine translations"
        )
    return found


def scatter(
    human: Array, metrics: Mapping[str, Array], *, seed: int = 12345, columns: int = 3
) -> Chart:
    """Each metric's scores against the human scores, one panel a metric.

    Of more than 1,000 translations so many are drawn, at random. The correlation in a panel's title
    is that of all.
    """
    altair = _altair()
    panels = []
    for name, scores in metrics.items():
        there = ~(numpy.isnan(human) | numpy.isnan(scores))
        shown = _some(there, seed)
        values = [{"human": float(human[place]), "metric": float(scores[place])} for place in shown]
        panels.append(
            altair.Chart(altair.Data(values=values), title=f"{name} ({_r(human, scores)})")
            .mark_circle(size=12, opacity=0.35)
            .encode(
                x=_axis(altair, "human", "human score"),
                y=_axis(altair, "metric", name),
            )
            .properties(width=SIZE, height=SIZE)
        )
    return altair.concat(*panels, columns=min(columns, max(1, len(panels))))


def against_each_other(metrics: Mapping[str, Array], *, seed: int = 12345) -> Chart:
    """Every two metrics' scores of the same translations, one panel a pair.

    Of more than four metrics there would be too many panels: their correlations are drawn as a
    square of shades and numbers.

    Raises:
        InputError: There is only one metric.
    """
    altair = _altair()
    if len(metrics) < 2:
        raise InputError(
            "metrics are drawn against each other, and there is only one; name another with -m"
        )
    if len(metrics) > MOST_METRICS:
        return _square(altair, metrics)
    panels = []
    for one, other in combinations(metrics, 2):
        left, right = metrics[one], metrics[other]
        there = ~(numpy.isnan(left) | numpy.isnan(right))
        values = [
            {"one": float(left[place]), "other": float(right[place])}
            for place in _some(there, seed)
        ]
        panels.append(
            altair.Chart(altair.Data(values=values), title=_r(left, right))
            .mark_circle(size=12, opacity=0.35)
            .encode(x=_axis(altair, "one", one), y=_axis(altair, "other", other))
            .properties(width=SIZE, height=SIZE)
        )
    return altair.concat(*panels, columns=min(3, len(panels)))


def _square(altair: Any, metrics: Mapping[str, Array]) -> Chart:
    """Pearson's correlation of every two metrics, darker where it is higher."""
    values = []
    for one, other in product(metrics, repeat=2):
        try:
            value = pearson(metrics[one], metrics[other])
        except Undefined:
            continue
        values.append({"one": one, "other": other, "r": value, "shown": f"{value:.2f}"})
    base = altair.Chart(altair.Data(values=values)).encode(
        x=altair.X("one:N", title="", sort=list(metrics)),
        y=altair.Y("other:N", title="", sort=list(metrics)),
    )
    squares = base.mark_rect().encode(
        color=altair.Color("r:Q", title="r", scale=altair.Scale(scheme="blues", domain=[0, 1]))
    )
    numbers = base.mark_text(fontSize=9).encode(
        text="shown:N",
        color=altair.condition("datum.r > 0.6", altair.value("white"), altair.value("black")),
    )
    return (squares + numbers).properties(width=36 * len(metrics), height=24 * len(metrics))


def accuracy_against_correlation(
    points: Mapping[str, tuple[float, float]],
    *,
    accuracy: str = "accuracy",
    correlation: str = "correlation with people",
) -> Chart:
    """Points by accuracy and correlation: metrics, or one metric's settings (Kulesza 2004).

    Raises:
        InputError: There is no point.
    """
    altair = _altair()
    if not points:
        raise InputError("there is no metric with both an accuracy and a correlation to draw")
    values = [
        {"name": name, "accuracy": one, "correlation": other}
        for name, (one, other) in points.items()
    ]
    title = "" if len(points) < 3 else _r(*map(numpy.array, zip(*points.values(), strict=True)))
    base = altair.Chart(altair.Data(values=values), title=title).encode(
        x=_axis(altair, "accuracy", accuracy), y=_axis(altair, "correlation", correlation)
    )
    names = base.mark_text(align="left", dx=6, fontSize=9).encode(text="name:N")
    return (base.mark_circle(size=40) + names).properties(width=2 * SIZE, height=2 * SIZE)


def roc_curves(curves: Mapping[str, Roc]) -> Chart:
    """Hits over false alarms, one line a metric, the area in its name."""
    altair = _altair()
    values = []
    for name, curve in curves.items():
        label = f"{name} ({curve.area:.3f})"
        for order, place in enumerate(_corners(curve)):
            values.append(
                {
                    "metric": label,
                    "order": order,
                    "alarms": curve.false_alarms[place],
                    "hits": curve.hits[place],
                }
            )
    lines = (
        altair.Chart(altair.Data(values=values))
        .mark_line()
        .encode(
            x=_axis(altair, "alarms", "machine translations taken for human"),
            y=_axis(altair, "hits", "human translations taken for human"),
            color=altair.Color("metric:N", title="metric (area)", sort=None),
            order="order:Q",
        )
    )
    chance = (
        altair.Chart(altair.Data(values=[{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
        .mark_line(strokeDash=[4, 4], color="grey")
        .encode(x="x:Q", y="y:Q")
    )
    return (chance + lines).properties(width=2 * SIZE, height=2 * SIZE)


def _corners(curve: Roc) -> Sequence[int]:
    """Points enough to draw a curve: all, or about 500 evenly."""
    count = len(curve.hits)
    if count <= 500:
        return range(count)
    return [int(place) for place in numpy.unique(numpy.linspace(0, count - 1, 500).astype(int))]


def _some(there: Any, seed: int) -> list[int]:
    """Places that are there, not more than can be told apart; as far as may be the same for all."""
    order = numpy.random.default_rng(seed).permutation(len(there))
    chosen = [int(place) for place in order if there[place]][:MOST_POINTS]
    return sorted(chosen)


def _r(one: Array, other: Array) -> str:
    try:
        return f"r = {pearson(one, other):.3f}"
    except Undefined:
        return "r not defined"


def _axis(altair: Any, name: str, title: str) -> dict[str, Any]:
    """A field that need not begin at zero."""
    return {
        "field": name,
        "type": "quantitative",
        "title": title,
        "scale": {"zero": False},
    }
