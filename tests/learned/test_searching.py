"""Searches: what is chosen, what never sees the test, what is refused, and going on."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import pytest

from meantime.errors import InputError, UsageError
from meantime.learned import figures, searching
from meantime.learned.caching import compute_features
from meantime.learned.choices import Scaling
from meantime.learned.journal import Journal, fingerprint
from meantime.learned.labelled import read_labelled
from meantime.learned.origins import make_origins
from meantime.learned.overlaps import BasicFeatures
from meantime.learned.searching import Candidate, Tried, best, cross_validate, grid, jackknife
from meantime.learned.splits import hold_out, make_folds
from meantime.types import Pair, Segment, Sentence

GRID = grid([1, 10], [0.5, 2])


@pytest.fixture
def examples() -> tuple[numpy.ndarray, numpy.ndarray]:
    rng = numpy.random.default_rng(3)
    rows = rng.normal(size=(90, 2))
    return rows, ((rows**2).sum(axis=1) > 1.4).astype(int)


def test_a_boundary_is_found(examples) -> None:
    rows, labels = examples
    tried = cross_validate(rows, labels, GRID, folds=3)
    chosen = best(tried)
    assert chosen.accuracy > 0.85
    classifier = searching.train(rows, labels, chosen.candidate)
    assert ((classifier(rows) > 0) == labels).mean() > 0.9


def test_of_equals_the_smoothest_is_chosen() -> None:
    tried = [Tried(Candidate(c, sigma), 0.7, (0.7, 0.7)) for c in (5, 1) for sigma in (10, 50, 25)]
    assert best(tried).candidate == Candidate(1, 50)
    assert best([*tried, Tried(Candidate(99, 1), 0.71, (0, 0))]).candidate.c == 99


def test_relative_widths_grow_with_the_features(examples) -> None:
    rows, labels = examples
    wide = searching.train(numpy.hstack([rows, rows]), labels, Candidate(1, 2, relative=True))
    assert wide.machine.gamma == pytest.approx(1 / (2 * 2**2 * 4))
    assert str(Candidate(1, 2, relative=True)) == "C=1 sigma=2·√features scaling=standard"


def test_figures_by_hand() -> None:
    found = figures.measure([1, 1, 0, 0, 1], [1, 0, 1, 0, 1])
    assert (found.accuracy, found.precision, found.recall) == (0.6, 2 / 3, 2 / 3)
    assert figures.measure([0, 0], [1, 0]).f == 0
    low, high = figures.wilson(0.5, 100)
    assert (low, high) == (pytest.approx(0.4038, abs=1e-4), pytest.approx(0.5962, abs=1e-4))
    # Student's t with two degrees of freedom: 4.303 deviations of the mean.
    one = figures.estimate([1, 2, 3])
    assert (one.mean, one.margin) == (2, pytest.approx(4.3027 / 3**0.5, abs=1e-3))
    assert figures.estimate([4]).margin == 0


# A test that is never seen


def test_nothing_is_chosen_on_the_fold_that_is_tested(examples, monkeypatch) -> None:
    """Every training of a jackknife leaves out the fold it chooses for, or tests on."""
    rows, labels = examples
    marked = numpy.hstack([rows, numpy.arange(len(rows))[:, None] / 1e6])
    trained: list[set[int]] = []
    real = searching.train

    def spy(some, classes, candidate):
        trained.append({round(value * 1e6) for value in some[:, 2]})
        return real(some, classes, candidate)

    monkeypatch.setattr(searching, "train", spy)
    found = jackknife(marked, labels, GRID, folds=5, seed=2)
    numbers = make_folds(range(len(rows)), 5, seed=2)
    folds = [set(numpy.flatnonzero(numbers == k).tolist()) for k in range(5)]
    assert len(trained) == 5 * len(GRID) + 5
    for one in trained[: 5 * len(GRID)]:
        assert sum(not (fold & one) for fold in folds) == 2
    for fold, one in zip(folds, trained[5 * len(GRID) :], strict=True):
        assert not fold & one
        assert len(one) == len(rows) - len(fold)
    assert sum(fold.examples for fold in found.folds) == len(rows)


def test_a_fold_never_moves_its_own_choice(examples) -> None:
    """With the labels of one fold turned round, the choice for it stays what it was."""
    rows, labels = examples
    numbers = make_folds(range(len(rows)), 5, seed=1)
    before = jackknife(rows, labels, GRID, folds=5, seed=1)
    for fold in range(5):
        changed = numpy.where(numbers == fold, 1 - labels, labels)
        after = jackknife(rows, changed, GRID, folds=5, seed=1)
        assert after.chosen[fold] == before.chosen[fold]
        assert after.folds[fold].accuracy == pytest.approx(1 - before.folds[fold].accuracy)


def test_labels_by_chance_are_not_learned() -> None:
    rng = numpy.random.default_rng(8)
    rows, labels = rng.normal(size=(200, 5)), rng.integers(0, 2, 200)
    found = jackknife(rows, labels, GRID, folds=5)
    assert abs(figures.estimate(found.of("accuracy")).mean - 0.5) < 0.1


def test_scaling_is_fitted_to_training_alone(examples) -> None:
    rows, labels = examples
    classifier = searching.train(rows[:60], labels[:60], Candidate(1, 1, Scaling.UNIT))
    assert classifier.scaler.shift.tolist() == rows[:60].min(axis=0).tolist()


def test_groups_stay_together() -> None:
    groups = [n // 4 for n in range(60)]
    folds = make_folds(groups, 5, seed=1)
    held = hold_out(groups, 1 / 3, seed=1)
    for group in range(15):
        there = [n == group for n in groups]
        assert len(set(folds[there])) == len(set(held[there])) == 1
    assert held.sum() == 20
    assert sorted(numpy.bincount(folds)) == [12] * 5
    assert numpy.array_equal(folds, make_folds(groups, 5, seed=1))
    assert not numpy.array_equal(folds, make_folds(groups, 5, seed=2))
    with pytest.raises(InputError, match="15 segments for 16 folds"):
        make_folds(groups, 16, seed=1)
    with pytest.raises(InputError, match="1 segments, of which 33%"):
        hold_out([0, 0], 1 / 3, seed=1)


# Bad input


def test_what_cannot_be_learned_is_said(examples) -> None:
    rows, labels = examples
    names = ["one", "other"]
    with pytest.raises(InputError, match="all 90 pairs are of class 1; a classifier needs both"):
        searching.check_examples(rows, numpy.ones(90, dtype=int), names, what="pairs")
    few = numpy.zeros(90, dtype=int)
    few[:3] = 1
    with pytest.raises(InputError, match="3 examples of class 1 for 5 folds"):
        searching.check_examples(rows, few, names, folds=5)
    with pytest.raises(InputError, match="no examples"):
        searching.check_examples(rows[:0], labels[:0], names)
    with pytest.raises(InputError, match=r"all features \(one, other\) are the same in all 90"):
        searching.check_examples(numpy.ones((90, 2)), labels, names)
    constant = numpy.column_stack([rows[:, 0], numpy.ones(90)])
    [note] = searching.check_examples(constant, labels, names)
    assert note == "1 of 2 features are the same in all 90 examples and are left out: other"
    assert searching.check_examples(rows, labels, names) == []
    with pytest.raises(UsageError, match="3 or more"):
        jackknife(rows, labels, GRID, folds=2)
    with pytest.raises(UsageError, match="no parameters"):
        cross_validate(rows, labels, [])


# Going on


class _Killed(Exception):
    pass


def test_a_search_goes_on_where_it_was(examples, tmp_path: Path, monkeypatch) -> None:
    rows, labels = examples
    whole = cross_validate(rows, labels, GRID, folds=3)
    mark = fingerprint({}, rows, labels)
    path = tmp_path / "tried.jsonl"
    count = 0
    real = searching.train

    def dying(*arguments):
        nonlocal count
        count += 1
        if count in (5, 9):
            raise _Killed
        return real(*arguments)

    monkeypatch.setattr(searching, "train", dying)
    for _ in range(2):
        with pytest.raises(_Killed):
            cross_validate(rows, labels, GRID, folds=3, journal=Journal(path, mark))
    journal = Journal(path, mark)
    assert journal.resumed == 7
    seen: list[tuple[int, int]] = []
    found = cross_validate(
        rows, labels, GRID, folds=3, journal=journal, progress=lambda *step: seen.append(step)
    )
    assert found == whole
    assert count == 9 + 5
    assert seen == [(n, 12) for n in range(1, 13)]


def test_a_line_cut_short_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "tried.jsonl"
    journal = Journal(path, "mark")
    journal.put("a", [1, 2])
    journal.put("b", 0.1)
    with path.open("ab") as file:
        file.write(b'{"key": "c", "val')
    again = Journal(path, "mark")
    assert (again.get("a"), again.get("b"), again.get("c")) == ([1, 2], 0.1, None)
    again.put("c", 3)
    assert [json.loads(line) for line in path.read_text().splitlines()][-1]["value"] == 3
    assert Journal(path, "another").resumed == 0
    assert Journal(path, "mark").resumed == 0, "another search begins the file anew"
    path.write_text("no journal")
    assert Journal(path, "mark").resumed == 0


def test_fingerprints_tell_data_apart(examples) -> None:
    rows, labels = examples
    one = fingerprint({"seed": 1, "a": 2}, rows, labels)
    assert one == fingerprint({"a": 2, "seed": 1}, rows.copy(), labels)
    assert one != fingerprint({"seed": 2, "a": 2}, rows, labels)
    assert one != fingerprint({"seed": 1, "a": 2}, rows, 1 - labels)
    assert one != fingerprint({"seed": 1, "a": 2}, rows.reshape(2, -1), labels)


def test_features_are_computed_once(tmp_path: Path, monkeypatch) -> None:
    pairs = [Pair(Sentence(f"a b {n}"), Segment(str(n), (Sentence("a b c"),))) for n in range(5)]
    first = compute_features(BasicFeatures(), pairs, folder=tmp_path)
    [kept] = tmp_path.iterdir()

    def never(*_):
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(BasicFeatures, "values", never)
        assert numpy.array_equal(compute_features(BasicFeatures(), pairs, folder=tmp_path), first)
        for other, analysis in ((pairs[:4], "none"), (pairs, "another")):
            with pytest.raises(AssertionError):
                compute_features(BasicFeatures(), other, analysis=analysis, folder=tmp_path)
        with pytest.raises(AssertionError):
            compute_features(BasicFeatures(lowercase=True), pairs, folder=tmp_path)
    kept.write_bytes(kept.read_bytes()[:-8])
    assert numpy.array_equal(compute_features(BasicFeatures(), pairs, folder=tmp_path), first)


# Examples of human and machine translations


def _segments(count: int, references: int) -> list[Segment]:
    return [
        Segment(str(n), tuple(Sentence(f"reference {r} of {n}") for r in range(references)))
        for n in range(count)
    ]


def _outputs(count: int, systems: int) -> dict[str, list[Sentence]]:
    return {f"s{s}": [Sentence(f"output {s} of {n}") for n in range(count)] for s in range(systems)}


@pytest.mark.parametrize(("references", "systems"), [(2, 1), (2, 3), (4, 2), (4, 6)])
def test_both_classes_are_alike_in_number_and_references(references: int, systems: int) -> None:
    made = make_origins(_segments(12, references), _outputs(12, systems), seed=4)
    assert made.references == references - 1
    each = min(references, systems)
    assert made.labels.tolist() == ([1] * each + [0] * each) * 12
    for one, label, name in zip(made.pairs, made.labels, made.segments, strict=True):
        texts = [reference.text for reference in one.segment.references]
        assert len(texts) == references - 1
        assert one.hypothesis.text not in texts
        assert one.hypothesis.text.startswith("reference" if label else "output")
        assert all(text.endswith(f" of {name}") for text in (*texts, one.hypothesis.text))
    if systems >= references:
        # Each reference is left out as often for machines as for people.
        for name in set(made.segments):
            sides = [
                sorted(
                    tuple(reference.text for reference in one.segment.references)
                    for one, label, segment in zip(
                        made.pairs, made.labels, made.segments, strict=True
                    )
                    if segment == name and label == value
                )
                for value in (0, 1)
            ]
            assert sides[0] == sides[1]


def test_examples_depend_on_the_seed_alone() -> None:
    one, same, other = (
        make_origins(_segments(30, 3), _outputs(30, 2), seed=seed) for seed in (1, 1, 2)
    )
    assert one.pairs == same.pairs
    assert one.pairs != other.pairs
    fewer = make_origins(_segments(10, 3), _outputs(10, 2), seed=1)
    assert one.pairs[: len(fewer.pairs)] == fewer.pairs


def test_what_gives_no_example() -> None:
    same = Segment("x", (Sentence("the same"), Sentence("the same")))
    made = make_origins([same, *_segments(3, 2)], _outputs(4, 2))
    assert len(made.labels) == 12
    assert made.notes[0].startswith("1 of 4 segments give no example")
    with pytest.raises(InputError, match="segment 1 has 2 references and most have 3"):
        make_origins([*_segments(1, 3), _segments(2, 2)[1], *_segments(2, 3)], _outputs(4, 1))
    with pytest.raises(InputError, match="1 reference a segment"):
        make_origins(_segments(3, 1), _outputs(3, 1))
    with pytest.raises(InputError, match="one of them is missing"):
        make_origins(_segments(3, 2), {})


# Pairs with labels


def test_pairs_are_read(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text('label\ttask\ttext\thypothesis\n1\tQA\tsay "a"\tb\nno\tIR\tc\t\n\n')
    found = read_labelled(path)
    assert found.labels.tolist() == [1, 0]
    assert found.tasks == ("QA", "IR")
    assert [pair.hypothesis.text for pair in found.pairs] == ['say "a"', "c"]
    assert found.pairs[0].segment.references[0].text == "b"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("lable\tsentence1\tsentence2\n", r":1: no column 'label'; is 'lable' meant\?"),
        ("label\tsentence1\tother\n", r":1: no two columns of sentences; name them sentence1"),
        ("label\tsentence1\tsentence2\n1\ta\n", r":2: 2 columns, expected 3"),
        ("label\tsentence1\tsentence2\n2\ta\tb\n", r":2: the label '2' is neither 1 nor 0"),
        ("label\tsentence1\tsentence2\n", "holds no pair"),
        ("", "no column 'label'; the columns are none"),
    ],
    ids=["label", "sides", "fields", "value", "empty", "nothing"],
)
def test_pairs_that_are_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        read_labelled(path)
