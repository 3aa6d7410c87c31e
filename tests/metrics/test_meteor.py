"""METEOR: by hand, against METEOR 1.5, and by its properties."""

from __future__ import annotations

import csv
import gzip
import pickle
import subprocess
import sys
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meantime.analysis.stems import stem
from meantime.errors import FormatError, InputError, MissingPart, OptionError, UnsupportedLanguage
from meantime.metrics import wordnet
from meantime.metrics.meteor import MODULES, Meteor, function_words, split_words
from meantime.protocols import Explainer, Metric
from meantime.registry import create
from meantime.types import Explanation, Level, Pair, Segment, Sentence

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"

STEMS = Meteor(modules="exact+stem", tokeniser="none")


def make(hypothesis: str, *references: str) -> Pair:
    return Pair(Sentence(hypothesis), Segment("1", tuple(map(Sentence, references))))


def score(metric: Meteor, *pairs: Pair) -> float:
    level = Level.SEGMENT if len(pairs) == 1 else Level.CORPUS
    return metric.score(metric.measure(pairs).sum(axis=0), level).value


# --- A WordNet small enough to read

LICENCE = "  1 WordNet 9.7 Copyright of nobody.  \n  2   \n"
FILES = {
    "index.noun": "car n 2 1 @ 2 1 00000001 00000002  \nmotor_car n 1 1 @ 1 0 00000001  \n"
    "automobile n 1 1 @ 1 0 00000001  \nbus n 1 1 @ 1 0 00000003  \nman n 1 1 @ 1 0 00000004  \n"
    "human n 1 1 @ 1 0 00000004  \n",
    "index.verb": "drive v 1 1 @ 1 1 00000001  \nsteer v 1 1 @ 1 1 00000001  \n",
    "index.adj": "big a 1 1 & 1 1 00000005  \nlarge a 1 1 & 1 1 00000005  \n",
    "index.adv": "",
    "noun.exc": "men man\n",
    "verb.exc": "drove drive\ndriven drive\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> str:
    for name, text in FILES.items():
        (tmp_path / name).write_text(LICENCE * name.startswith("index") + text, encoding="utf-8")
    return str(tmp_path)


def test_half_a_character_is_a_word_like_any(folder: str) -> None:
    metric = Meteor(modules="exact+synonym", wordnet=folder, tokeniser="none")
    assert score(metric, make("a \ud800 car", "a \ud800 automobile")) > score(
        metric, make("a \ud800 car", "a \ud801 automobile")
    )


# --- By hand


def test_worked_example() -> None:
    # The example of docs/metrics/meteor.md: the, on: function words; cats stems to cat.
    pair = make("the cats sit on the mat", "the cat sat on the mat")
    (row,) = STEMS.measure([pair])
    found = STEMS.score(row, Level.SEGMENT)
    share = (3 * 0.25 + 0.75 + 0.6 * 0.75) / 3
    assert found.parts["precision"] == pytest.approx(share) == pytest.approx(0.65)
    assert found.parts["recall"] == pytest.approx(share)
    assert found.parts["chunks"] == 2
    assert found.parts["matches"] == 5
    assert found.parts["penalty"] == pytest.approx(0.6 * 0.4**0.2)
    assert found.value == pytest.approx(0.65 * (1 - 0.6 * 0.4**0.2))
    assert found.value == pytest.approx(0.3253, abs=5e-5)


@pytest.mark.needs("wordnet")
def test_worked_example_with_synonyms() -> None:
    # sit and sat have the base form sit: all words match in one chunk, without penalty.
    assert score(Meteor(), make("The cats sit on the mat", "The cat sat on the mat")) == (
        pytest.approx(0.85)
    )


def test_delta_of_one_half_needs_no_function_words() -> None:
    metric = Meteor(modules="exact", tokeniser="none", delta=0.5)
    # 2 of 4 and 2 of 3 words, in one chunk.
    expected = 1 / (0.15 / (2 / 4) + 0.85 / (2 / 3)) * (1 - 0.6 * (1 / 2) ** 0.2)
    assert score(metric, make("the mat x y", "z the mat")) == pytest.approx(expected)


def test_corpus_is_the_formula_over_the_sums() -> None:
    metric = Meteor(modules="exact", tokeniser="none", delta=0.5)
    whole, part = make("a b c", "a b c"), make("d x e", "d e")
    # The copy adds its words, but no chunk; the other two chunks of one word.
    expected = 1 / (0.15 / (5 / 6) + 0.85 / (5 / 5)) * (1 - 0.6 * (2 / 5) ** 0.2)
    assert score(metric, whole, part) == pytest.approx(expected)
    assert metric.measure([whole])[0, metric.statistics.index("chunks")] == 0


def test_whole_match_out_of_order_is_penalised() -> None:
    metric = Meteor(modules="exact", tokeniser="none")
    assert score(metric, make("a b", "b a")) == pytest.approx(1 - 0.6 * 1**0.2)


def test_best_reference_is_chosen_first_of_equals() -> None:
    pair = make("a green cat", "nothing alike", "a green cat", "a red cat", "a green cat")
    assert score(STEMS, pair) == 1
    assert STEMS.explain(pair).reference == 1
    assert STEMS.explain(make("x", "y", "z")).reference == 0


def test_case_never_counts() -> None:
    assert score(STEMS, make("THE Cat", "the cat")) == 1


@pytest.mark.parametrize(("hypothesis", "reference"), [("", "a"), ("a", ""), ("", ""), (" ", " ")])
def test_empty_sides_get_nothing(hypothesis: str, reference: str) -> None:
    assert score(STEMS, make(hypothesis, reference)) == 0
    assert score(Meteor(modules="exact"), make(hypothesis, reference)) == 0
    assert STEMS.empty == "0"


def test_no_pairs_and_no_references() -> None:
    assert STEMS.measure([]).shape == (0, len(STEMS.statistics))
    with pytest.raises(InputError, match="has no reference"):
        STEMS.measure([make("a")])


@pytest.mark.parametrize(
    "options",
    [{"delta": 0.0}, {"delta": 1.0}, {"alpha": 0.0}, {"alpha": 1.0}, {"beta": 0}, {"gamma": 0}],
)
def test_parameters_at_their_ends(options: dict[str, float]) -> None:
    metric = Meteor(modules="exact+stem", tokeniser="none", **options)
    for pair in (make("the on", "the on"), make("cat", "cat"), make("cat the", "dog")):
        assert 0 <= score(metric, pair) <= 1
    if metric.copy_is_best:
        assert score(metric, make("the on", "the on")) == score(metric, make("cat", "cat")) == 1


def test_what_a_copy_gets_is_declared() -> None:
    assert STEMS.copy_is_best
    assert not Meteor(exact_weight=0.5).copy_is_best
    assert not Meteor(delta=1.0).copy_is_best
    assert score(Meteor(modules="exact", delta=1.0), make("the", "the")) == 0
    assert not Meteor(beta=0.0).copy_is_best


# --- Against METEOR 1.5


def golden() -> list[dict[str, str]]:
    path = SHARED / "golden" / "newstest2021-zhen-NiuTrans.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def compare(metric: Meteor, column: str, suffix: str) -> tuple[numpy.ndarray, numpy.ndarray]:
    rows = golden()
    measured = metric.measure([make(row[f"hyp{suffix}"], row[f"ref{suffix}"]) for row in rows])
    ours = [metric.score(row, Level.SEGMENT).value for row in measured]
    return numpy.array(ours), numpy.array([float(row[column]) for row in rows])


@pytest.mark.needs("shared")
@pytest.mark.parametrize(
    ("modules", "column"), [("exact", "meteor_exact"), ("exact+stem", "meteor_exact_stem")]
)
def test_equal_to_meteor(modules: str, column: str) -> None:
    metric = Meteor(modules=modules, tokeniser="none", delta=0.5)
    ours, theirs = compare(metric, column, "_tok")
    assert len(ours) == 400
    numpy.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


@pytest.mark.needs("shared")
@pytest.mark.needs("wordnet")
def test_close_to_meteor_with_synonyms() -> None:
    # Only the list of function words differs: the docs give 0.9996, and 76 % equal.
    ours, theirs = compare(Meteor(), "meteor", "")
    assert numpy.corrcoef(ours, theirs)[0, 1] > 0.999
    assert (abs(ours - theirs) < 1e-6).mean() > 0.7
    assert abs(ours - theirs).max() < 0.03


# --- Words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. Smith paid $1,000.50, i.e. lots...", "mr. smith paid $ 1,000.50 , ie lots ..."),
        ("The U.S.-based firm's man.", "the us based firm 's man ."),
        ("He said: “don’t”.", 'he said : " don \'t " .'),
        ("well-known -- or so (5–6)", "well known - or so ( 5 - 6 )"),
        ("No. 5 and No. way", "no. 5 and no. way"),
        ("No. Way", "no . way"),
        ("the 1990's ''x''", 'the 1990 \'s " x "'),
        # Of two commas or apostrophes one letter apart, the second stays.
        ("a,b,c rock'n'roll", "a , b,c rock 'n'roll"),
        ("3,5,x", "3,5 , x"),
        ("你好 café", "你 好 café"),
        ("A. B. see etc. and end.", "a. b. see etc. and end ."),
        ("", ""),
    ],
)
def test_words_are_split_as_meteor_splits_them(text: str, expected: str) -> None:
    assert " ".join(split_words(text)) == expected


def test_tokeniser_option() -> None:
    pair = make("Well-known.", "well known .")
    assert score(Meteor(modules="exact"), pair) == 1
    assert score(Meteor(modules="exact", tokeniser="none"), pair) == 0
    assert 0 < score(Meteor(modules="exact", tokeniser="13a"), pair) < 1


def test_function_words_are_frequent_words_and_marks() -> None:
    listed = function_words()
    assert {"the", "of", ",", ".", "'s"} <= listed
    assert not {"cat", "revitalization", ""} & listed
    assert 50 < len(listed) < 200
    assert all(word == word.lower() and len(word.split()) == 1 for word in listed)


def test_short_words_have_themselves_as_stem() -> None:
    import snowballstemmer

    stemmer = snowballstemmer.stemmer("english")
    for word in ("a", "is", "'s", "as", "s", "no", "ed", "12"):
        assert stem(word) == stemmer.stemWord(word) == word
    assert stem("running") == "run"


# --- Synonyms


def test_synonym_sets(folder: str) -> None:
    found = wordnet.open_wordnet(folder)
    assert found.version == "9.7"
    assert found.sets("car") == (100000001, 100000002)
    assert found.sets("cars") == found.sets("car")
    assert found.sets("men") == found.sets("man") == found.sets("humans")
    assert found.sets("drove") == found.sets("driving") == found.sets("drives")
    assert found.sets("largest") == found.sets("big")
    assert found.sets("motor_car") == found.sets("unknown") == found.sets("") == ()
    # The same offset under another part of speech is another set.
    assert not set(found.sets("drive")) & set(found.sets("car"))
    # A word is not stripped of ss, nor are two letters.
    assert found.sets("bigss") == ()


def test_synonyms_match_words_and_their_base_forms(folder: str) -> None:
    metric = Meteor(wordnet=folder, delta=0.5)
    assert score(metric, make("large cars", "big automobile")) == pytest.approx(0.8)
    parts = metric.explain(make("he drove", "he steers")).parts
    assert [part.label for part in parts] == ["exact", "synonym"]


def test_inexact_matches_with_a_choice_must_not_open_a_chunk(folder: str) -> None:
    # METEOR's search counts exact matches only. A pair that both stem and synonym match is
    # a choice; inside a chunk it is taken, as a stem match, alone it is left out.
    metric = Meteor(wordnet=folder)
    parts = metric.explain(make("he cars x", "he car x")).parts
    assert [part.label for part in parts] == ["exact", "stem", "exact"]
    parts = metric.explain(make("cars", "car")).parts
    assert [part.label for part in parts] == ["missing", "extra"]
    assert score(Meteor(modules="exact+stem"), make("cars", "car")) == pytest.approx(0.6)


def test_folder_may_be_the_one_above(folder: str, tmp_path: Path) -> None:
    (tmp_path / "above").mkdir()
    (tmp_path / "above" / "dict").symlink_to(folder)
    assert wordnet.open_wordnet(str(tmp_path / "above")).sets("car")


def test_no_wordnet_is_said_not_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = Meteor(wordnet=str(tmp_path))
    pair = make("a", "a")
    for call in (lambda: metric.measure([pair]), lambda: metric.prepare([pair.segment])):
        with pytest.raises(MissingPart, match=r"wordnet-base.*wordnet=PATH.*modules=exact\+stem"):
            call()
    monkeypatch.setattr(wordnet, "PLACES", ())
    with pytest.raises(MissingPart, match="usual places"):
        Meteor().prepare([pair.segment])
    assert "wordnet:not found" in str(Meteor().signature())
    assert score(Meteor(modules="exact+stem"), pair) == 1


def test_broken_index_is_named(folder: str) -> None:
    path = Path(folder) / "index.adv"
    path.write_text("soon r 1 1 ! 1 1 here\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"index\.adv.*'soon'"):
        wordnet.open_wordnet(folder).sets("soon")


@pytest.mark.needs("wordnet")
def test_installed_wordnet() -> None:
    found = wordnet.open_wordnet(None)
    assert set(found.sets("buy")) & set(found.sets("purchased"))
    assert set(found.sets("children")) & set(found.sets("kid"))
    assert not set(found.sets("cat")) & set(found.sets("car"))


def test_import_and_construction_read_no_wordnet() -> None:
    code = (
        "from meantime.metrics import wordnet\n"
        "wordnet.Path.read_bytes = wordnet.Path.open = None\n"
        "from meantime.metrics.meteor import Meteor\n"
        "Meteor()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- As a metric


def test_is_a_metric_and_explains() -> None:
    metric = create("meteor:modules=exact+stem,tokeniser=13a,alpha=0.5", lang="en-GB")
    assert isinstance(metric, Metric)
    assert isinstance(metric, Explainer)
    assert metric.scale == (0, 1)
    assert pickle.loads(pickle.dumps(metric)) == metric


@pytest.mark.parametrize("lang", ["de", "zh-CN"])
def test_other_languages_are_refused_by_name(lang: str) -> None:
    with pytest.raises(UnsupportedLanguage, match=rf"meteor .*'{lang}'.*chrf"):
        create("meteor", lang=lang)
    segment = Segment("1", (Sentence("x", lang=lang),))
    with pytest.raises(UnsupportedLanguage):
        STEMS.prepare([segment])


def test_options_are_checked() -> None:
    with pytest.raises(OptionError, match=r"exact\+stem\+synonym"):
        Meteor(modules="paraphrase")
    with pytest.raises(OptionError, match="alpha"):
        Meteor(alpha=1.5)
    with pytest.raises(OptionError, match="beam"):
        Meteor(beam=0)


def test_signature_says_what_was_used(folder: str) -> None:
    text = str(Meteor(wordnet=folder).signature())
    assert text.startswith("meteor|references:any|modules:exact+stem+synonym|tokeniser:meteor")
    assert "|wordnet:9.7|" in text
    assert "|stemmer:snowball-" in text
    assert folder not in text
    assert "|wordnet:none|" in str(STEMS.signature())
    assert "|stemmer:none|" in str(Meteor(modules="exact").signature())
    assert "|references:2|" in str(STEMS.prepare([make("a", "b", "c").segment]).signature())


def rebuild(metric: Meteor, explanation: Explanation) -> float:
    """The score from the parts alone, as `explain` says."""

    def share(side: str, words: tuple[str, ...]) -> float:
        values = dict.fromkeys(range(len(words)), 0.0)
        for part in explanation.parts:
            span = getattr(part, side)
            if span is not None:
                values[span.start] = part.value
        counts = [1 - metric.delta if word in function_words() else metric.delta for word in words]
        total = sum(counts)
        return sum(values[i] * count for i, count in enumerate(counts)) / total if total else 0.0

    precision = share("hypothesis", explanation.hypothesis_tokens)
    recall = share("reference", explanation.reference_tokens)
    if not precision or not recall:
        return 0.0
    matches = sorted(
        (part.reference.start, part.hypothesis.start)
        for part in explanation.parts
        if part.hypothesis is not None and part.reference is not None
    )
    chunks = sum((j - 1, i - 1) not in matches for j, i in matches)
    lengths = {len(explanation.hypothesis_tokens), len(explanation.reference_tokens)}
    if chunks == 1 and lengths == {len(matches)}:
        chunks = 0
    mean = 1 / ((1 - metric.alpha) / precision + metric.alpha / recall)
    return mean * (1 - metric.gamma * (chunks / len(matches)) ** metric.beta)


WORDS = ["the", "cat", "cats", "sat", "sit", "on", "a", "running", "ran", "runs", "run", ".", ","]
text = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


@settings(deadline=None)
@given(text, st.lists(text, min_size=1, max_size=3))
def test_explanation_rebuilds_the_score(hypothesis: str, references: list[str]) -> None:
    pair = make(hypothesis, *references)
    explanation = STEMS.explain(pair)
    assert explanation.score.value == pytest.approx(score(STEMS, pair))
    assert rebuild(STEMS, explanation) == pytest.approx(explanation.score.value)
    for side, words in (
        ("hypothesis", explanation.hypothesis_tokens),
        ("reference", explanation.reference_tokens),
    ):
        spans = sorted(s for part in explanation.parts if (s := getattr(part, side)) is not None)
        assert [(span.start, span.end) for span in spans] == [(i, i + 1) for i in range(len(words))]
    assert {part.label for part in explanation.parts} <= {*MODULES, "missing", "extra"}


@settings(deadline=None)
@given(st.lists(st.tuples(text, text), min_size=1, max_size=6))
def test_rows_do_not_depend_on_the_batch(texts: list[tuple[str, str]]) -> None:
    pairs = [make(*one) for one in texts]
    together = STEMS.measure(pairs)
    single = numpy.concatenate([STEMS.measure([pair]) for pair in pairs])
    numpy.testing.assert_array_equal(together, single)
    for row in together:
        assert 0 <= STEMS.score(row, Level.SEGMENT).value <= 1


@settings(deadline=None)
@given(text.filter(str.split))
def test_a_copy_gets_one(words: str) -> None:
    assert score(STEMS, make(words, words)) == 1
