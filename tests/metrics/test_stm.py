"""STM against the paper's worked example, a plain count of subtrees, and its own promises."""

from __future__ import annotations

import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meantime.conformance import CHECKS, Check
from meantime.errors import InputError, OptionError, UsageError
from meantime.metrics.stm import Stm
from meantime.types import Layer, Level, Pair, Segment, Sentence, Span, Tree


def _tree(brackets: str) -> Tree:
    """A tree from brackets: `(S (NP PRP) VP)`, where a bare label is a leaf."""
    words = brackets.replace("(", " ( ").replace(")", " ) ").split()
    position = 0
    leaves = 0

    def node() -> Tree:
        nonlocal position, leaves
        start = leaves
        opened = words[position] == "("
        position += opened
        label = words[position]
        position += 1
        children = []
        if opened:
            while words[position] != ")":
                children.append(node())
            position += 1
        leaves += not children
        return Tree(label, Span(start, leaves), tuple(children))

    found = node()
    assert position == len(words)
    return found


def _sentence(tree: Tree | str) -> Sentence:
    tree = _tree(tree) if isinstance(tree, str) else tree
    tokens = tuple(f"word{n}" for n in range(tree.span.end))
    return Sentence(" ".join(tokens), tokens=tokens, tree=tree)


EMPTY = Sentence("", tokens=(), pos=(), frames=())


def _pair(hypothesis: Sentence | Tree | str, *references: Sentence | Tree | str) -> Pair:
    sentences = [
        item if isinstance(item, Sentence) else _sentence(item)
        for item in (hypothesis, *references)
    ]
    return Pair(sentences[0], Segment("7", tuple(sentences[1:])))


def _score(pair: Pair, depth: int = 4) -> float:
    metric = Stm(depth=depth).prepare([pair.segment])
    return metric.score(metric.measure([pair])[0], Level.SEGMENT).value


HYPOTHESIS = "(S (NP PRP) (VP V (NP PRP)))"
REFERENCE = "(S (NP PRP) (VP V (NP DT NN)))"


# The worked example: Lo and Wu 2010, Figure 2


@pytest.mark.parametrize("rooted", [False, True])
def test_worked_example(rooted: bool) -> None:
    texts = [f"(TOP {text})" if rooted else text for text in (HYPOTHESIS, REFERENCE)]
    metric = Stm()
    row = metric.measure([_pair(*texts)])[0]
    assert row.tolist() == [6, 3, 1, 0, 7, 4, 2, 1]
    score = metric.score(row, Level.SEGMENT)
    assert score.value == pytest.approx((6 / 7 + 3 / 4 + 1 / 2 + 0 / 1) / 4)
    assert round(score.value, 3) == 0.527
    assert score.parts == {
        "share_1": 6 / 7,
        "share_2": 3 / 4,
        "share_3": 1 / 2,
        "share_4": 0,
        "depths": 4,
    }


def test_words_do_not_count() -> None:
    other = Sentence("x y z", tokens=("x", "y", "z"), tree=_tree(REFERENCE))
    assert _score(_pair(other, REFERENCE)) == 1


@pytest.mark.parametrize(("depth", "expected"), [(1, 6 / 7), (2, (6 / 7 + 3 / 4) / 2)])
def test_depth(depth: int, expected: float) -> None:
    assert _score(_pair(HYPOTHESIS, REFERENCE), depth) == pytest.approx(expected)


# What a subtree is


@pytest.mark.parametrize(
    ("hypothesis", "references", "expected"),
    [
        # A subtree is cut off below: it is found in a deeper tree too.
        ("(S NP VP)", ["(S (NP PRP) (VP V))"], [3, 1, 0, 0, 3, 1, 1, 0]),
        # Children are ordered, and all of them are part of it.
        ("(S NP VP)", ["(S VP NP)"], [3, 0, 0, 0, 3, 1, 0, 0]),
        ("(S NP VP)", ["(S NP VP .)"], [3, 0, 0, 0, 3, 1, 0, 0]),
        # One that is too small for a depth is not counted there, but is part of larger ones.
        ("(S A (B C))", ["(S A (B C))"], [4, 2, 1, 0, 4, 2, 1, 0]),
        # Each is found as often as the reference that has it most often.
        ("(S A A A)", ["(S A B)", "(T A A)"], [3, 0, 0, 0, 4, 1, 0, 0]),
        # Different references may serve different subtrees.
        ("(S (A B))", ["(S C)", "(A B)"], [3, 1, 0, 0, 3, 2, 1, 0]),
        # A unary chain has its labels once each.
        ("(A (A A))", ["(A A)"], [2, 1, 0, 0, 3, 2, 1, 0]),
        # Only the root is left out.
        ("(TOP (S (TOP A)))", ["(TOP (S (TOP A)))"], [3, 2, 1, 0, 3, 2, 1, 0]),
        ("(TOP A)", ["(TOP A)"], [1, 0, 0, 0, 1, 0, 0, 0]),
        ("(TOP (S A) (S A))", ["(TOP (S A))"], [2, 1, 0, 0, 4, 2, 0, 0]),
    ],
)
def test_subtrees(hypothesis: str, references: list[str], expected: list[float]) -> None:
    assert Stm().measure([_pair(hypothesis, *references)])[0].tolist() == expected


# Shallow trees and empty sides


def test_a_shallow_copy_gets_all() -> None:
    for tree in ("A", "(TOP A)", "(S A)", "(TOP (S A))"):
        assert _score(_pair(tree, tree)) == 1


def test_depths_that_no_side_has_are_left_out() -> None:
    assert _score(_pair("(S A)", "(S B)")) == pytest.approx((1 / 2 + 0) / 2)


def test_a_depth_that_only_the_references_have_counts_as_missed() -> None:
    row = Stm().measure([_pair("A", "(S (A B))")])[0]
    assert row.tolist() == [1, 0, 0, 0, 1, 1, 1, 0]
    assert _score(_pair("A", "(S (A B))")) == pytest.approx(1 / 3)
    assert _score(_pair("A", "(S (A B))", "A")) == 1, "a copy of a shallow reference"


def test_a_depth_that_only_the_hypothesis_has_is_wrong() -> None:
    assert _score(_pair("(S (A B))", "A")) == pytest.approx((1 / 3 + 0 + 0) / 3)


def test_empty_sides() -> None:
    assert _score(_pair(EMPTY, "(S A)")) == 0
    assert _score(_pair("(S A)", EMPTY)) == 0
    assert _score(_pair(EMPTY, EMPTY)) == 1
    assert _score(_pair(EMPTY, EMPTY, "(S A)")) == 1
    assert _score(_pair("(S A)", EMPTY, "(S A)")) == 1
    assert Stm().score(Stm().measure([]).sum(axis=0), Level.CORPUS).value == 1


def test_corpus_adds_up_before_it_divides() -> None:
    metric = Stm(depth=2)
    rows = metric.measure([_pair("(S A)", "(S A)"), _pair("(S A B C)", "(T X Y)")])
    assert metric.score(rows.sum(axis=0), Level.CORPUS).value == pytest.approx((2 / 6 + 1 / 2) / 2)


# What it refuses


@pytest.mark.parametrize(
    ("sentence", "remedy"),
    [
        (Sentence("not analysed"), "analyse the sentences first"),
        (Sentence("no tree", tokens=("no", "tree")), "an analyser that makes trees"),
    ],
)
def test_a_missing_tree_is_named(sentence: Sentence, remedy: str) -> None:
    with pytest.raises(UsageError, match="hypothesis of segment 7") as caught:
        Stm().measure([_pair(sentence, "(S A)")])
    assert remedy in str(caught.value)
    with pytest.raises(UsageError, match=f"reference of segment 7 .'{sentence.text}'. has none"):
        Stm().measure([_pair("(S A)", "(S A)", sentence)])


def test_a_missing_reference_is_named() -> None:
    with pytest.raises(InputError, match="no reference"):
        Stm().measure([Pair(_sentence("A"), Segment("1", ()))])
    with pytest.raises(OptionError, match="depth"):
        Stm(depth=0)


def test_what_it_declares() -> None:
    metric = Stm()
    assert metric.needs == {Layer.TREE}
    assert metric.statistics == tuple(
        f"{what}_{d}" for what in ("matches", "total") for d in (1, 2, 3, 4)
    )
    assert (
        str(metric.signature()) == "stm|references:any|depth:4|empty:0; two empty sides 1|version:1"
    )


@pytest.mark.parametrize("depth", [1, 4, 9])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conformance(check: Check, depth: int) -> None:
    check(Stm(depth=depth))


def test_a_tree_may_be_deeper_than_python_recurses() -> None:
    deep = Tree("A", Span(0, 1))
    for _ in range(20 * sys.getrecursionlimit()):
        deep = Tree("A", Span(0, 1), (deep,))
    assert _score(_pair(deep, deep)) == 1


# The oracle: subtrees written out as text, by recursion

_labels = st.sampled_from("AB")
_trees = st.recursive(
    st.builds(Tree, _labels, st.just(Span(0, 1))),
    lambda below: st.builds(
        Tree, _labels, st.just(Span(0, 1)), st.lists(below, min_size=1, max_size=3).map(tuple)
    ),
    max_leaves=10,
)
_rooted = st.builds(
    Tree, st.just("TOP"), st.just(Span(0, 1)), st.lists(_trees, min_size=1, max_size=2).map(tuple)
)
_sides = st.just(EMPTY) | _trees.map(_sentence) | _rooted.map(_sentence)


def _height(tree: Tree) -> int:
    return 1 + max(map(_height, tree.children), default=0)


def _cut(tree: Tree, depth: int) -> str:
    if depth == 1 or not tree.children:
        return tree.label
    return f"({tree.label} {' '.join(_cut(child, depth - 1) for child in tree.children)})"


def _plainly(sentence: Sentence, depth: int) -> Counter[str]:
    if sentence.tree is None:
        return Counter()
    nodes = list(sentence.tree)
    if sentence.tree.label == "TOP":
        nodes = nodes[1:]
    return Counter(_cut(node, depth) for node in nodes if _height(node) >= depth)


@given(_sides, st.lists(_sides, min_size=1, max_size=3), st.integers(1, 5))
def test_against_the_oracle(hypothesis: Sentence, references: list[Sentence], depth: int) -> None:
    shares = []
    for level in range(1, depth + 1):
        found = _plainly(hypothesis, level)
        sides = [_plainly(reference, level) for reference in references]
        if found:
            most = Counter[str]()
            for side in sides:
                most |= side
            shares.append((found & most).total() / found.total())
        elif all(sides):
            shares.append(0)
    expected = sum(shares) / len(shares) if shares else 1
    assert _score(_pair(hypothesis, *references), depth) == pytest.approx(expected)


@given(_sides, st.lists(_sides, max_size=2), st.integers(1, 5))
def test_a_copy_of_any_reference_gets_all(
    copy: Sentence, others: list[Sentence], depth: int
) -> None:
    assert _score(_pair(copy, *others, copy), depth) == 1


@given(_sides, st.lists(_sides, min_size=1, max_size=3), _sides)
def test_another_reference_never_costs(
    hypothesis: Sentence, references: list[Sentence], another: Sentence
) -> None:
    metric = Stm()
    few, many = metric.measure(
        [_pair(hypothesis, *references), _pair(hypothesis, *references, another)]
    )
    assert (few[:4] <= many[:4]).all()
    assert (few[4:] >= many[4:]).all()
    assert (many[:4] <= many[4:]).all()
