"""Features against the papers' worked example, plain counting, and their zero cases."""

from __future__ import annotations

import pickle
import sys
from collections import Counter
from dataclasses import FrozenInstanceError

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meantime.conformance import sample
from meantime.errors import InputError, UsageError
from meantime.learned.features import (
    LABELS,
    TAGS,
    FeatureSet,
    JoinedFeatures,
    ParseFeatures,
    PosFeatures,
    count_labels,
    parse_features,
    pos_features,
)
from meantime.types import Layer, Pair, Segment, Sentence, Span, Tree


def _tagged(text: str) -> Sentence:
    """A sentence from word/TAG."""
    items = [item.rsplit("/", 1) for item in text.split()]
    words = tuple(word for word, _ in items)
    return Sentence(" ".join(words), tokens=words, pos=tuple(tag for _, tag in items))


def _pair(hypothesis: Sentence, *references: Sentence) -> Pair:
    return Pair(hypothesis, Segment("1", references))


def _nonzero(features: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in features.items() if value}


CAT = _tagged("the/DT cat/NN sat/VBD on/IN the/DT mat/NN")
DOG = _tagged("the/DT dog/NN sat/VBD on/IN the/DT mat/NN")
EMPTY = Sentence("", tokens=(), pos=(), frames=())


# Parts of speech: Finch, Hwang and Sumita 2005, Figure 2


@pytest.mark.parametrize("both_directions", [False, True])
def test_worked_example(both_directions: bool) -> None:
    features = pos_features(CAT, DOG, both_directions=both_directions)
    assert _nonzero(features) == pytest.approx(
        {
            "pos+:DT": 2 / 6,
            "pos+:NN": 1 / 6,
            "pos+:VBD": 1 / 6,
            "pos+:IN": 1 / 6,
            "pos-:NN": 1 / 6,
        }
    )
    assert tuple(features) == PosFeatures().names
    assert len(features) == 2 * len(TAGS) == 104


def test_the_tag_set() -> None:
    assert len(TAGS) == len(set(TAGS)) == 45 + 6 + 1
    assert _nonzero(pos_features(_tagged("a/ODD b/NN"), _tagged("a/NN"))) == {
        "pos+:other": 0.5,
        "pos-:NN": 0.5,
    }


def test_each_word_matches_once() -> None:
    assert _nonzero(pos_features(_tagged("a/DT a/DT a/DT"), _tagged("a/DT x/NN a/DT"))) == (
        pytest.approx({"pos+:DT": 2 / 3, "pos-:DT": 1 / 3})
    )


def test_of_equal_words_the_one_with_the_same_tag_matches() -> None:
    both = _tagged("can/MD can/NN")
    noun = {"pos+:NN": 0.5, "pos-:MD": 0.5}
    assert _nonzero(pos_features(both, _tagged("can/NN"))) == noun
    modal = {"pos+:MD": 0.5, "pos-:NN": 0.5}
    assert _nonzero(pos_features(both, _tagged("can/MD"))) == modal
    assert _nonzero(pos_features(both, _tagged("can/VB"))) == modal, "else the first"


def test_both_directions_are_averaged() -> None:
    features = pos_features(_tagged("a/DT b/JJ"), _tagged("a/DT"), both_directions=True)
    assert _nonzero(features) == pytest.approx({"pos+:DT": (1 / 2 + 1) / 2, "pos-:JJ": 1 / 4})


def test_nouns_and_verbs_are_stemmed_and_nothing_else() -> None:
    plural = _tagged("cats/NNS running/VBG nicely/RB")
    single = _tagged("cat/NN runs/VBZ nice/RB")
    assert _nonzero(pos_features(plural, single)) == pytest.approx(
        {"pos+:NNS": 1 / 3, "pos+:VBG": 1 / 3, "pos-:RB": 1 / 3}
    )
    whole = _nonzero(pos_features(plural, single, stem=False))
    assert set(whole) == {"pos-:NNS", "pos-:VBG", "pos-:RB"}


def test_case_counts_unless_told() -> None:
    upper, lower = _tagged("The/DT"), _tagged("the/DT")
    assert _nonzero(pos_features(upper, lower)) == {"pos-:DT": 1}
    assert _nonzero(pos_features(upper, lower, lowercase=True)) == {"pos+:DT": 1}


def test_one_half_of_them() -> None:
    pairs = [_pair(CAT, DOG), _pair(DOG, CAT, EMPTY)]
    both = PosFeatures().values(pairs)
    plus, minus = PosFeatures(non_matches=False), PosFeatures(matches=False)
    assert numpy.array_equal(numpy.hstack([plus.values(pairs), minus.values(pairs)]), both)
    assert plus.names + minus.names == PosFeatures().names
    assert (plus + minus).names == PosFeatures().names
    with pytest.raises(UsageError, match="no features"):
        PosFeatures(matches=False, non_matches=False)


def test_empty_sides_of_pos() -> None:
    assert _nonzero(pos_features(EMPTY, CAT)) == {}
    assert _nonzero(pos_features(EMPTY, EMPTY, both_directions=True)) == {}
    assert sum(pos_features(CAT, EMPTY).values()) == pytest.approx(1)
    half = pos_features(CAT, EMPTY, both_directions=True)
    assert _nonzero(half) == pytest.approx(
        {"pos-:DT": 1 / 6, "pos-:NN": 1 / 6, "pos-:VBD": 1 / 12, "pos-:IN": 1 / 12}
    )


def test_several_references_are_averaged() -> None:
    features = PosFeatures(both_directions=True)
    several = features.values([_pair(CAT, DOG, EMPTY, CAT)])[0]
    each = [features.values([_pair(CAT, one)])[0] for one in (DOG, EMPTY, CAT)]
    assert several == pytest.approx(sum(each) / 3)


_sides = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["NN", "DT", "ODD"])), max_size=7
).map(
    lambda items: Sentence(
        " ".join(word for word, _ in items),
        tokens=tuple(word for word, _ in items),
        pos=tuple(tag for _, tag in items),
    )
)


@given(_sides, _sides)
def test_sums_are_the_shares_of_words(hypothesis: Sentence, reference: Sentence) -> None:
    features = pos_features(hypothesis, reference)
    assert hypothesis.tokens is not None
    assert reference.tokens is not None
    assert hypothesis.pos is not None
    length = len(hypothesis.tokens) or 1
    common = (Counter(hypothesis.tokens) & Counter(reference.tokens)).total()
    matched = sum(value for name, value in features.items() if name.startswith("pos+"))
    unmatched = sum(value for name, value in features.items() if name.startswith("pos-"))
    assert matched == pytest.approx(common / length)
    assert unmatched == pytest.approx((len(hypothesis.tokens) - common) / length)
    for tag in ("NN", "DT"):
        share = hypothesis.pos.count(tag) / length
        assert features[f"pos+:{tag}"] + features[f"pos-:{tag}"] == pytest.approx(share)


# Parses: Kulesza 2004, section 3.2


def _node(label: str, *children: Tree) -> Tree:
    return Tree(label, Span(0, 1), children)


NOUN = _node("NN")
NP = _node("NP", _node("DT"), NOUN)
PP = _node("PP", _node("IN"), NP)
VP = _node("VP", _node("VB"), NP)


def _parsed(tree: Tree, score: float | None = -10.0) -> Sentence:
    return Sentence("w", tokens=("w",), tree=tree, tree_score=score)


SHORT = _parsed(_node("TOP", _node("S", NP, VP)), -8.0)
LONG = _parsed(_node("TOP", _node("S", _node("NP", NP, PP), _node("VP", VP, PP))), -20.0)
BROKEN = _parsed(_node("TOP", _node("FRAG", _node("FRAG", NP), _node("ADJP", _node("JJ")))), -4.0)


def test_parse_features() -> None:
    features = parse_features(_pair(SHORT, LONG, BROKEN))
    assert features == pytest.approx(
        {
            "parse:score": -8,
            "parse:score/min": 8 / 20,
            "parse:score/max": 8 / 4,
            # 0 over 0 is 1, over one 0.
            "parse:ADJP/min": 0,
            "parse:ADJP/max": 1,
            "parse:FRAG/min": 0,
            "parse:FRAG/max": 1,
            "parse:NP/min": 2 / 5,
            "parse:NP/max": 2 / 1,
            "parse:NPB/min": 2 / 4,
            "parse:NPB/max": 2 / 1,
            # 0 over two, 0 over 0.
            "parse:PP/min": 0,
            "parse:PP/max": 1,
            "parse:SBAR/min": 1,
            "parse:SBAR/max": 1,
            # 1 over two, 1 over 0.
            "parse:VP/min": 1 / 2,
            "parse:VP/max": 2,
        }
    )
    assert tuple(features) == ParseFeatures().names
    assert len(features) == 3 + 2 * len(LABELS) == 17


def test_more_of_what_the_reference_lacks_is_more() -> None:
    assert parse_features(_pair(BROKEN, SHORT))["parse:FRAG/min"] == 3
    assert parse_features(_pair(BROKEN, SHORT))["parse:ADJP/max"] == 2


def test_a_copy_has_all_ratios_one() -> None:
    for sentence in (SHORT, LONG, BROKEN, _parsed(_node("TOP", NOUN), 0.0)):
        features = parse_features(_pair(sentence, sentence, sentence))
        assert features.pop("parse:score") == sentence.tree_score
        assert set(features.values()) == {1}


def test_zero_scores() -> None:
    certain = _parsed(_node("TOP", NOUN), 0.0)
    assert parse_features(_pair(SHORT, certain))["parse:score/min"] == 1 + 8
    assert parse_features(_pair(certain, SHORT))["parse:score/max"] == 0
    nearly = _parsed(_node("TOP", NOUN), -5e-324)
    assert parse_features(_pair(SHORT, nearly))["parse:score/max"] == 1e6


def test_scores_may_be_left_out() -> None:
    bare = _parsed(LONG.tree or NOUN, None)
    features = parse_features(_pair(bare, SHORT), score=False)
    assert "parse:score" not in features
    assert features["parse:NP/min"] == 5 / 2
    assert len(features) == 14
    for pair in (_pair(bare, SHORT), _pair(SHORT, bare)):
        with pytest.raises(UsageError, match=r"score=False"):
            parse_features(pair)
    with pytest.raises(UsageError, match="has the score -inf"):
        parse_features(_pair(_parsed(NP, -numpy.inf), SHORT))


def test_a_failed_parse_and_an_empty_sentence_count_nothing() -> None:
    failed = Sentence("w w", tokens=("w", "w"))
    for sentence in (failed, EMPTY):
        features = parse_features(_pair(sentence, SHORT))
        assert features["parse:score"] == features["parse:score/min"] == 0
        assert features["parse:NP/min"] == features["parse:NP/max"] == 0
        assert features["parse:PP/min"] == 1
        reverse = parse_features(_pair(SHORT, sentence))
        assert reverse["parse:score/max"] == 9
        assert reverse["parse:NP/max"] == 3


def test_base_noun_phrases() -> None:
    possessive = _node("NP", _node("NNP"), _node("POS"))
    owned = _node("NP", possessive, NOUN)
    clause = _node("NP", _node("ADJP", _node("QP", NP)), NOUN)
    cases = [
        (NP, 1, 1),
        (_node("NP", NP, PP), 3, 2),
        (owned, 2, 2),
        (_node("NP", owned, PP), 4, 3),
        (clause, 2, 1),
        (_node("NP", _node("NP", _node("NP", NP, PP), _node("POS")), NOUN), 5, 2),
        # A part of speech is not a constituent, whatever it is called.
        (_node("VP", _node("NP")), 0, 0),
    ]
    for tree, all_of_them, base in cases:
        counts = count_labels(tree)
        assert (counts["NP"], counts["NPB"]) == (all_of_them, base)
    assert count_labels(None) == Counter()


def test_a_tree_may_be_deeper_than_python_recurses() -> None:
    deep = NOUN
    for _ in range(20 * sys.getrecursionlimit()):
        deep = _node("VP", deep)
    assert count_labels(deep)["VP"] == 20 * sys.getrecursionlimit()


# What every feature set keeps

SETS: list[FeatureSet] = [
    PosFeatures(),
    PosFeatures(both_directions=True, lowercase=True, stem=False, non_matches=False),
    ParseFeatures(),
    ParseFeatures(score=False),
    PosFeatures() + ParseFeatures(),
]


@pytest.mark.parametrize("features", SETS, ids=lambda features: type(features).__name__)
def test_rows(features: FeatureSet) -> None:
    _, pairs = sample()
    rows = features.values(pairs)
    assert rows.dtype == numpy.float64
    assert rows.shape == (len(pairs), len(features.names))
    assert numpy.isfinite(rows).all()
    assert len(set(features.names)) == len(features.names)
    alone = numpy.concatenate([features.values([pair]) for pair in pairs])
    assert numpy.array_equal(rows, alone)
    assert features.values([]).shape == (0, len(features.names))
    assert numpy.array_equal(pickle.loads(pickle.dumps(features)).values(pairs), rows)
    assert features.describe(pairs[0]) == dict(zip(features.names, rows[0], strict=True))
    assert features.needs <= {Layer.TOKENS, Layer.POS, Layer.TREE}
    with pytest.raises(FrozenInstanceError):
        features.names = ()  # type: ignore[misc]
    with pytest.raises(UsageError, match="analyse the sentences first"):
        features.values([_pair(Sentence("not analysed"), CAT)])
    with pytest.raises(InputError, match="no reference"):
        features.values([_pair(CAT)])


def test_sets_join() -> None:
    one, two = PosFeatures(), ParseFeatures()
    joined = one + two
    _, pairs = sample()
    assert joined.names == one.names + two.names
    assert joined.needs == one.needs | two.needs
    values = joined.values(pairs)
    assert numpy.array_equal(values, numpy.hstack([one.values(pairs), two.values(pairs)]))
    assert isinstance(joined, JoinedFeatures)
    assert len(joined.sets) == 2
    with pytest.raises(UsageError, match="both have"):
        joined + ParseFeatures(score=False)
    assert JoinedFeatures(sets=()).values(pairs).shape == (len(pairs), 0)
