"""Tables: what is ranked on what, and the figures of metrics measured elsewhere."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy
import pytest

from meantime.errors import InputError, UsageError
from meantime.metaeval import grids
from meantime.metaeval.collecting import LENGTH, Collected, Column, collect
from meantime.metaeval.correlation import kendall, pearson
from meantime.metaeval.evaluating import (
    PREFERENCE_FIGURES,
    SEGMENT_FIGURES,
    SINGLE_FIGURES,
    SYSTEM_FIGURES,
    Figure,
    GridBlock,
    PreferenceBlock,
    Scope,
    Test,
    compared,
    evaluate,
)
from meantime.metaeval.grids import Grouping
from meantime.metaeval.human import HumanScores, JudgedPair, Preference, Preferences
from meantime.metaeval.reading import read_human_scores, read_metric_scores, read_preferences

WITHIN = Figure("kendall", Grouping.SEGMENTS)
POOLED = Figure("kendall", Grouping.POOLED)


def human_scores(human: numpy.ndarray, lp: str = "xx-en") -> HumanScores:
    """One pair a cell, row by row; a cell that is NaN is not rated."""
    pairs = [
        JudgedPair(
            lp=lp, domain="", document="", segment=str(row + 1), system=f"s{column}",
            source=None, references=(("ref", "word " * (row + 1)),), hypothesis="a word",
            score=None if math.isnan(human[row, column]) else float(human[row, column]),
        )
        for row in range(human.shape[0])
        for column in range(human.shape[1])
    ]  # fmt: skip
    return HumanScores("made", "mqm", tuple(pairs))


def block(human, scope: Scope = Scope.SEGMENTS, lp: str = "xx-en", **metrics) -> GridBlock:
    scores = human_scores(numpy.asarray(human, dtype=float), lp)
    columns = tuple(Column(name, numpy.ravel(values)) for name, values in metrics.items())
    return GridBlock(Collected(scores, scores.grid(), columns), scope)


@pytest.fixture
def noisy() -> dict[str, numpy.ndarray]:
    rng = numpy.random.default_rng(1)
    human = rng.integers(-9, 1, (80, 5)).astype(float)
    return {
        "human": human,
        "good": human + rng.normal(size=human.shape),
        "twin": human + rng.normal(size=human.shape),
        "poor": human + 20 * rng.normal(size=human.shape),
    }


def test_a_table_leads_with_the_figure_within_segments(noisy) -> None:
    table = evaluate([block(**noisy)])
    assert table.figures == SEGMENT_FIGURES
    assert table.leading == WITHIN
    assert table.names[2] == "poor"
    for row in table.rows:
        found = grids.within_segments("kendall", noisy["human"], noisy[row.name])
        cell = row.cells[WITHIN]
        assert (cell.value, cell.defined, cell.groups) == (found.value, found.defined, 80)
        assert cell.interval is not None
        assert cell.interval.low < found.value < cell.interval.high


def test_ranks_and_clusters(noisy) -> None:
    table = evaluate([block(**noisy)])
    clusters = {row.name: row.cluster for row in table.rows}
    assert clusters == {"good": 1, "twin": 1, "poor": 2}
    assert sorted(row.rank for row in table.rows) == [1, 2, 3]
    assert table.p_values[table.names[0], "poor"] < 0.01
    assert table.p_values[table.names[0], table.names[1]] > 0.05


def test_equal_figures_share_a_rank(noisy) -> None:
    table = evaluate([block(**noisy, copy=7 * noisy["good"])], resamples=0)
    assert table.row("good").rank == table.row("copy").rank
    assert table.row("poor").rank == 4
    assert not table.p_values
    assert table.row("good").cluster is None


def test_the_same_seed_gives_the_same_table(noisy) -> None:
    assert evaluate([block(**noisy)], seed=3) == evaluate([block(**noisy)], seed=3)
    assert evaluate([block(**noisy)], seed=3) != evaluate([block(**noisy)], seed=4)


def test_one_translation_a_segment_is_pooled(noisy) -> None:
    single = {name: values[:, :1] for name, values in noisy.items()}
    table = evaluate([block(**single)])
    assert table.figures == SINGLE_FIGURES
    expected = pearson(single["human"][:, 0], single["good"][:, 0])
    assert table.row("good").cells[table.leading].value == pytest.approx(expected)


def test_language_pairs_are_never_mixed(noisy) -> None:
    """A metric that is shifted in one language pair loses nothing: figures are means."""
    first = block(noisy["human"], good=noisy["good"])
    second = block(noisy["human"], good=noisy["good"] + 1000, lp="yy-en")
    table = evaluate([first, second])
    alone = evaluate([first])
    assert table.row("good").cells[POOLED].value == alone.row("good").cells[POOLED].value
    assert [one.lp for one in table.sets] == ["xx-en", "yy-en"]
    assert table.row("good").cells[WITHIN].defined == 160


def test_not_rated_and_not_scored_are_left_out_and_told(noisy) -> None:
    good = noisy["good"].copy()
    good[:3, 0] = math.nan
    human = noisy["human"].copy()
    human[0, 0] = math.nan
    table = evaluate([block(human, good=good)])
    assert table.row("good").missing == 2
    [note] = table.notes
    assert note == "good: no score for 2 of 399 rated translations, which are left out for it"
    there = ~(numpy.isnan(good) | numpy.isnan(human))
    assert table.row("good").cells[POOLED].value == pytest.approx(
        kendall(human[there], good[there])
    )


def test_what_cannot_be_compared_is_said(noisy) -> None:
    table = evaluate([block(noisy["human"], flat=numpy.zeros((80, 5)), good=noisy["good"])])
    flat = table.row("flat")
    assert flat.rank is None
    assert flat.cells[WITHIN].value is None
    assert any("all metric scores are equal" in note for note in table.notes)
    tied = evaluate([block(numpy.zeros((80, 5)), good=noisy["good"])])
    assert tied.row("good").cells[WITHIN].value is None
    assert any("in every segment, all human scores are equal" in note for note in tied.notes)


def test_few_systems_have_no_correlation(noisy) -> None:
    few = {name: values[:, :2] for name, values in noisy.items()}
    table = evaluate([block(**few, scope=Scope.SYSTEMS)], scope=Scope.SYSTEMS)
    assert table.figures == SYSTEM_FIGURES
    assert all(cell.value is None for row in table.rows for cell in row.cells.values())
    assert any("and there are 2" in note for note in table.notes)


def test_statistics_can_be_chosen(noisy) -> None:
    table = evaluate([block(**noisy)], statistics=["spearman", "tau-ignored"], resamples=0)
    assert table.figures[0] == Figure("spearman", Grouping.SEGMENTS)
    assert len(table.figures) == 6
    with pytest.raises(UsageError, match="choose from pearson"):
        evaluate([block(**noisy)], statistics=["rho"])
    with pytest.raises(UsageError, match="choose from pearson"):
        evaluate([block(**noisy)], scope=Scope.SYSTEMS, statistics=["rho"])


@pytest.mark.parametrize("statistic", [*grids.Statistic, "soft-accuracy"])
def test_every_statistic_at_system_level(noisy, statistic: str) -> None:
    table = evaluate(
        [block(**noisy, scope=Scope.SYSTEMS)],
        scope=Scope.SYSTEMS, statistics=[statistic], resamples=100,
    )  # fmt: skip
    assert all(row.cells[table.leading].value is not None for row in table.rows)


@pytest.mark.parametrize("statistic", list(grids.Statistic))
def test_every_statistic_at_segment_level(noisy, statistic: str) -> None:
    table = evaluate([block(**noisy)], statistics=[statistic], resamples=100)
    assert all(row.cells[table.leading].interval is not None for row in table.rows)


@pytest.mark.parametrize("test", list(Test))
@pytest.mark.parametrize("scope", list(Scope))
def test_every_test_tells_good_from_poor(noisy, scope: Scope, test: Test) -> None:
    if scope is Scope.SEGMENTS and test is Test.WILLIAMS:
        noisy = {name: values[:, :1] for name, values in noisy.items()}
    if scope is Scope.SYSTEMS:
        # Means of random scores hardly differ, so systems are made to.
        gaps = numpy.arange(5) * 3.0
        noisy = {name: values[:60] + gaps * (name != "poor") for name, values in noisy.items()}
    table = evaluate(
        [block(**noisy, scope=scope)], scope=scope, test=test, resamples=200,
        statistics=["pearson"],
    )  # fmt: skip
    assert table.test is test
    found = {frozenset(pair): p for pair, p in table.p_values.items()}
    assert found[frozenset({"good", "twin"})] > 0.05
    if test is not Test.SYSTEMS:
        # Five systems are few for Williams' test.
        level = 0.1 if (scope, test) == (Scope.SYSTEMS, Test.WILLIAMS) else 0.05
        assert found[frozenset({"good", "poor"})] < level


def test_williams_where_it_does_not_fit(noisy) -> None:
    with pytest.raises(UsageError, match="leads with tau-b in segments"):
        evaluate([block(**noisy)], test=Test.WILLIAMS)
    single = {name: values[:, :1] for name, values in noisy.items()}
    with pytest.raises(UsageError, match="--by lp"):
        evaluate([block(**single), block(**single, lp="yy-en")], test=Test.WILLIAMS)


def test_nothing_to_evaluate() -> None:
    with pytest.raises(InputError, match="no test set"):
        evaluate([], name="x")


# System scores of our metrics are corpus scores


def test_our_metrics_have_corpus_scores() -> None:
    texts = {"s0": "a b c d e f", "s1": "a b c d x y", "s2": "x y z a b c"}
    pairs = tuple(
        JudgedPair(
            "xx-en", "", "", str(n), system, None, (("ref", "a b c d e f" + " g" * n),), text,
            score,
        )
        for n in range(4)
        for (system, text), score in zip(texts.items(), (3.0, 2.0, 1.0), strict=True)
    )  # fmt: skip
    [collected] = collect(HumanScores("made", "", pairs), ["bleu", "ter"]).values()
    table = evaluate([GridBlock(collected, Scope.SYSTEMS)], scope=Scope.SYSTEMS, resamples=100)
    from meantime import Corpus, Segment, Sentence, score

    segments = tuple(Segment(str(n), (Sentence("a b c d e f" + " g" * n),)) for n in range(4))
    corpus = Corpus(segments, {name: (Sentence(text),) * 4 for name, text in texts.items()})
    for metric in ("bleu", "ter"):
        values = [result.score.value for result in score(corpus, [metric])]
        sign = 1 if metric == "bleu" else -1
        expected = pearson([3, 2, 1], sign * numpy.array(values))
        figure = Figure("pearson", Grouping.MEANS)
        assert table.row(metric).cells[figure].value == pytest.approx(expected)


def test_figures_of_several_groupings_in_one_table(noisy) -> None:
    figures = tuple(
        Figure("spearman", grouping) for grouping in (Grouping.MEANS, Grouping.SEGMENTS)
    )
    blocks = [block(noisy["human"], good=noisy["human"] ** 3)]
    table = evaluate(blocks, figures=figures, resamples=0)
    assert table.figures == figures
    for figure, scope in zip(figures, (Scope.SYSTEMS, Scope.SEGMENTS), strict=True):
        alone = evaluate(blocks, statistics=["spearman"], scope=scope, resamples=0)
        assert table.row("good").cells[figure] == alone.row("good").cells[alone.leading]


# Human against machine


def test_roc_area_where_there_are_human_translations(noisy) -> None:
    made = block(noisy["human"], good=noisy["human"])
    scores = made._collected.scores
    pairs = tuple(replace(pair, is_human=pair.system == "s0") for pair in scores.pairs)
    collected = replace(made._collected, scores=replace(scores, pairs=pairs))
    table = evaluate([GridBlock(collected, Scope.SEGMENTS)], resamples=0)
    people, machines = noisy["human"][:, 0], noisy["human"][:, 1:].ravel()
    won = (people[:, None] > machines) + 0.5 * (people[:, None] == machines)
    assert table.row("good").area == pytest.approx(won.mean())


# Preferences


def test_preferences() -> None:
    rows = (
        ("1", "A", "good", "B", "bad"),
        ("1", "A", "good", "C", "worse"),
        ("2", "B", "x", "A", "y"),
    )
    preferences = Preferences(
        "made",
        tuple(
            Preference("xx-en", "", "", seg, None, "ref", one, better, other, worse)
            for seg, one, better, other, worse in rows
        ),
    )
    translations = compared(preferences)
    assert [pair.hypothesis for pair in translations.pairs] == ["good", "bad", "worse", "x", "y"]
    column = Column("m", numpy.array([3.0, 3.0, 1.0, 5.0, 6.0]))
    collected = Collected(translations, translations.grid(), (column,))
    table = evaluate([PreferenceBlock(preferences, collected)], resamples=100)
    assert table.figures == PREFERENCE_FIGURES
    # One right, one tied, one wrong.
    values = [table.rows[0].cells[figure].value for figure in table.figures]
    assert values == pytest.approx([(1 - 1 - 1) / 3, 0, 0])
    with pytest.raises(UsageError, match="preferences are pairs"):
        evaluate([PreferenceBlock(preferences, collected)], statistics=["pearson"])


# Against figures measured elsewhere

# Of the description of the data: pooled tau-b, tau-b within segments, pairwise accuracy.
PEERS = {
    "COMET-22": (0.428, 0.263, 0.868),
    "metricx_xxl_MQM_2020": (0.427, 0.250, 0.846),
    "metricx_xl_DA_2019": (0.392, 0.284, 0.879),
    "MATESE": (0.389, 0.221, 0.857),
    "BLEURT-20": (0.361, 0.250, 0.846),
    "UniTE": (0.357, 0.261, 0.846),
    "COMET-20": (0.332, 0.221, 0.813),
    # The description has 0.212 within segments; scipy and we find 0.21263.
    "SEScore": (0.331, 0.2126, 0.802),
    "BERTScore": (0.316, 0.216, 0.725),
    "YiSi-1": (0.296, 0.226, 0.725),
    "chrF": (0.147, 0.156, 0.648),
    "BLEU": (0.145, 0.121, 0.637),
}


@pytest.fixture(scope="module")
def peers() -> Collected:
    wmt = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "wmt"
    if not wmt.is_dir():
        pytest.skip("the evaluation data are not beside the repository (../shared/data)")
    human = read_human_scores(wmt / "wmt22-general-zhen-mqm.tsv.gz")
    scores = read_metric_scores(wmt / "wmt22-general-zhen-peer-scores.tsv.gz")
    [found] = collect(human.without_human_translations(), outside=[scores], length=True).values()
    return found


@pytest.mark.needs("shared")
def test_peers_at_segment_level(peers: Collected) -> None:
    table = evaluate([GridBlock(peers, Scope.SEGMENTS)], resamples=0)
    for name, (pooled, within, _) in PEERS.items():
        cells = table.row(name).cells
        assert cells[POOLED].value == pytest.approx(pooled, abs=0.0006), name
        assert cells[WITHIN].value == pytest.approx(within, abs=0.0006), name
    # Segments in which people tie all systems say nothing.
    assert table.row("COMET-22").cells[WITHIN].defined == 1753
    length = table.row(LENGTH)
    assert length.cells[WITHIN].value is None
    assert length.cells[POOLED].value == pytest.approx(0.212, abs=0.001)
    assert any("more than chrF" in note for note in table.notes)


@pytest.mark.needs("shared")
def test_peers_at_system_level(peers: Collected) -> None:
    table = evaluate([GridBlock(peers, Scope.SYSTEMS)], scope=Scope.SYSTEMS, resamples=0)
    for name, (_, _, accuracy) in PEERS.items():
        assert table.row(name).cells[table.leading].value == pytest.approx(accuracy, abs=0.0006)


@pytest.mark.needs("shared")
def test_the_length_trap(shared: Path) -> None:
    """On wmt21 MQM knowing the reference's length gets 0.266, and chrF 0.179."""
    human = read_human_scores(shared / "wmt" / "wmt21-news-zhen-mqm.tsv.gz")
    found = collect(human.without_human_translations(), ["chrf"], length=True)
    table = evaluate([GridBlock(found["zh-en"], Scope.SEGMENTS)], resamples=0)
    assert table.row(LENGTH).cells[POOLED].value == pytest.approx(0.266, abs=0.0006)
    assert table.row("chrf").cells[POOLED].value == pytest.approx(0.179, abs=0.0006)
    assert table.row("chrf").cells[WITHIN].value == pytest.approx(0.072, abs=0.001)
    assert [row.name for row in table.rows] == ["chrf", LENGTH]


@pytest.mark.needs("shared")
def test_pooled_sanity_figures(shared: Path) -> None:
    """All language pairs pooled, as the description of the data gives them for chrF."""
    for name, tau, r in (("wmt15-da-toen", 0.386, 0.579), ("wmt17-da-toen", 0.382, 0.556)):
        human = read_human_scores(shared / "wmt" / f"{name}.tsv.gz")
        found = collect(human, ["chrf"])
        people = numpy.concatenate([one.scores.scores for one in found.values()])
        chrf = numpy.concatenate([one.columns[0].scores for one in found.values()])
        assert kendall(people, chrf) == pytest.approx(tau, abs=0.001)
        assert pearson(people, chrf) == pytest.approx(r, abs=0.001)


@pytest.mark.needs("shared")
def test_preferences_of_2019(shared: Path) -> None:
    """(agreeing - disagreeing - tied) / all: chrF 0.304 for Lithuanian."""
    preferences = read_preferences(shared / "wmt" / "wmt19-darr-toen.tsv.gz")
    lithuanian = preferences.split_by("lp")["lt-en"]
    found = collect(compared(lithuanian), ["chrf"])
    table = evaluate([PreferenceBlock(lithuanian, found["lt-en"])], resamples=0)
    assert table.row("chrf").cells[table.leading].value == pytest.approx(0.304, abs=0.002)
