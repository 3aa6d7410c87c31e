"""Charts hold the numbers, and can be drawn without a network."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy
import pytest

from meantime.errors import InputError, MissingPart, UsageError
from meantime.metaeval import plots
from meantime.metaeval.correlation import pearson, roc
from meantime.metaeval.tasks import Outcome, Task, run


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    path: Path = tmp_path_factory.mktemp("plots") / "a.tsv"
    rows = [
        (
            "xx-en", seg, system, f"a reference of {seg} words " + "x " * seg,
            f"{text} {seg} words", score, human,
        )
        for seg in range(8)
        for system, text, score, human in (
            ("a", "a reference of", seg % 3, 0),
            ("b", "reference <&>", 2, 0),
            ("ref-B", "a reference of these", 3, 1),
        )
    ]  # fmt: skip
    header = ("lp", "seg", "system", "ref", "hyp", "score", "is_human")
    lines = ["\t".join(map(str, row)) for row in (header, *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return run(Task(data=str(path), metrics=("chrf", "ter"), resamples=0, human_translations=True))


@pytest.mark.parametrize("kind", ["scatter", "metrics", "accuracy", "roc"])
def test_every_drawing_is_svg_and_png(outcome: Outcome, kind: str) -> None:
    chart = plots.draw(outcome, kind)
    assert plots.render(chart, "svg").startswith(b"<svg")
    assert plots.render(chart, "png").startswith(b"\x89PNG")
    assert chart.to_dict() == plots.draw(outcome, kind).to_dict()


def test_a_scatter_holds_the_scores(outcome: Outcome) -> None:
    human, scores = plots.gathered(outcome)
    chart = plots.scatter(human, scores).to_dict()
    panel = chart["concat"][0]
    assert len(panel["data"]["values"]) == 24
    assert panel["data"]["values"][0] == {"human": human[0], "metric": scores["chrf"][0]}
    assert panel["title"] == f"chrf (r = {pearson(human, scores['chrf']):.3f})"


def test_many_points_are_thinned_and_the_correlation_is_of_all() -> None:
    rng = numpy.random.default_rng(1)
    human = rng.normal(size=5000)
    metric = human + rng.normal(size=5000)
    chart = plots.scatter(human, {"m": metric, "n": human}).to_dict()
    panel = chart["concat"][0]
    assert len(panel["data"]["values"]) == plots.MOST_POINTS
    assert panel["title"] == f"m (r = {pearson(human, metric):.3f})"


def test_the_area_is_in_the_name_of_its_curve(outcome: Outcome) -> None:
    curves = plots.curves_of(outcome)
    labels = {
        value["metric"]
        for layer in plots.roc_curves(curves).to_dict()["layer"]
        for value in layer["data"]["values"]
        if "metric" in value
    }
    assert labels == {f"{name} ({curve.area:.3f})" for name, curve in curves.items()}


def test_points_are_those_of_the_table(outcome: Outcome) -> None:
    points, accuracy, correlation = plots.points_of(outcome)
    assert (accuracy, correlation) == (
        "area under the ROC, human against machine",
        str(outcome.evaluations[0].leading),
    )
    table = outcome.evaluations[0]
    row = table.row("chrf")
    assert points["chrf"] == (row.area, row.cells[table.leading].value)


def test_long_curves_are_drawn_in_few_points() -> None:
    rng = numpy.random.default_rng(1)
    curve = roc(rng.normal(1, 1, 4000), rng.normal(size=4000))
    drawn = plots.roc_curves({"m": curve}).to_dict()["layer"][1]["data"]["values"]
    assert len(drawn) <= 500
    assert (drawn[0]["hits"], drawn[-1]["hits"]) == (0, 1)


def test_many_metrics_are_drawn_as_a_square_of_correlations() -> None:
    rng = numpy.random.default_rng(1)
    metrics = {name: rng.normal(size=50) for name in "abcde"} | {"flat": numpy.zeros(50)}
    values = plots.against_each_other(metrics).to_dict()["data"]["values"]
    found = {(value["one"], value["other"]): value["r"] for value in values}
    assert found["a", "b"] == pytest.approx(pearson(metrics["a"], metrics["b"]))
    assert found["a", "b"] == pytest.approx(found["b", "a"])
    assert len(found) == 25, "what is flat has no correlation"


def test_what_cannot_be_drawn(outcome: Outcome) -> None:
    with pytest.raises(UsageError, match="choose from scatter, metrics, accuracy, roc"):
        plots.draw(outcome, "pie")
    with pytest.raises(InputError, match="only one"):
        plots.against_each_other({"m": numpy.zeros(3)})
    with pytest.raises(InputError, match="no metric with both"):
        plots.accuracy_against_correlation({})
    with pytest.raises(UsageError, match="choose from svg, png"):
        plots.render(plots.accuracy_against_correlation({"m": (0.5, 0.5)}), "gif")


def test_machine_translations_alone_have_no_roc(outcome: Outcome) -> None:
    machines = run(Task(data=outcome.task.data, metrics=("chrf",), resamples=0))
    with pytest.raises(InputError, match="--human-translations"):
        plots.draw(machines, "roc")


def test_without_altair_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingPart, match=r"meantime\[plots\]"):
        plots.roc_curves({})
