"""Training, the folder, translating, and what goes wrong."""

from __future__ import annotations

import ctypes
import importlib
import json
import shutil
import sys
from pathlib import Path

import pytest

from meantime.errors import (
    FormatError,
    InputError,
    LengthMismatch,
    MissingPart,
    OptionError,
    UsageError,
)
from meantime.smt import thot, training
from meantime.smt.alignment import train_direction
from meantime.smt.decoding import Search, Translator, foreign, render_list
from meantime.smt.model import FEATURES, START, open_model
from meantime.smt.names import NameDictionary
from meantime.smt.preparation import Preparation, read_preparation
from meantime.smt.training import Settings, train
from meantime.tuning.candidates import Gathering


def test_it_translates(model: Path) -> None:
    translator = Translator(open_model(model))
    found = list(translator.translate(["Eine Frau sieht ein Mann.", "", "der Hund hört Otto"]))
    assert [several[0].text for several in found] == [
        "A woman sees a man.", "", "The dog hears Otto",
    ]  # fmt: skip


def test_a_sentence_too_long_for_the_decoder_is_refused(model: Path) -> None:
    """The decoder would give nothing for it, and go on."""
    translator = Translator(open_model(model))
    [[longest]] = translator.translate([" ".join(["Hund"] * 200)])
    assert longest.text.split()
    texts = ["Ein Mann."] * 20 + [" ".join(["Hund"] * 201)]
    with pytest.raises(InputError, match="text 21 has 201 words, and the decoder takes 200"):
        list(translator.translate(texts))


def test_lists_are_what_tuning_reads(model: Path, tmp_path: Path) -> None:
    from meantime.formats.nbest import read_nbest

    translator = Translator(open_model(model))
    texts = ["Die Katze ruft der Hund.", "", "Ein Mann hört eine Frau."]
    found = list(translator.translate(texts, candidates=20))
    path = tmp_path / "list"
    path.write_text("".join(render_list(n, one) for n, one in enumerate(found)), encoding="utf-8")
    candidates = list(read_nbest(path))
    assert {candidate.names for candidate in candidates} == {FEATURES}
    assert [c.text for c in candidates] == [one.text for several in found for one in several]
    for several in found:
        assert len({one.text for one in several}) == len(several)
        assert [one.score for one in several] == sorted((o.score for o in several), reverse=True)
    assert len(found[2]) > 1
    assert [one.text for one in found[1]] == [""]
    # The first of a list is the one with the greatest weighted sum.
    gathering = Gathering(3)
    added = gathering.add("list", read_nbest(path))
    assert gathering.agreement(added, START) == 1


def test_the_decoder_scores_what_its_features_say(model: Path) -> None:
    """The total of the decoder is the weighted sum of what it tells, and what it does not."""
    translator = Translator(open_model(model), {**START, "WordPenalty": 0.7, "Jump": 0.4})
    tokens = translator.model.preparation.source_tokens("Der Hund sieht die Katze.")
    [whole] = translator._decoder.translate_n_batch([" ".join(tokens)], 10)
    ours = translator._chosen(whole, 10)
    best: dict[str, float] = {}
    for one in whole:
        text = translator.model.preparation.finish(one.target)
        best[text] = max(best.get(text, -1e9), one.score)
    assert {one.text: pytest.approx(one.score, rel=1e-4) for one in ours} == best


def test_weights_matter(model: Path) -> None:
    texts = ["Ein Mann hört eine Frau und der Hund sieht die Katze"]
    opened = open_model(model)
    short, long = (
        list(Translator(opened, {**START, "WordPenalty": weight}).translate(texts, candidates=9))
        for weight in (3.0, -3.0)
    )
    assert len(short[0][0].text.split()) <= len(long[0][0].text.split())
    assert short[0][0].values != long[0][0].values


def test_reordering_gives_more(model: Path) -> None:
    text = ["Der Hund sieht die Katze."]
    opened = open_model(model)
    weights = {**START, "Jump": 0.01}
    [few] = Translator(opened, weights).translate(text, candidates=60)
    [more] = Translator(opened, weights, Search(reordering=4)).translate(text, candidates=60)
    assert {one.text for one in more} - {one.text for one in few}


def test_training_twice_gives_the_same(
    parallel: tuple[Path, Path], model: Path, tmp_path: Path
) -> None:
    trained = train(*parallel, tmp_path / "again", Preparation("de", "en"), Settings(order=3))
    assert trained.facts["files"] == open_model(model, check=True).facts["files"]
    assert not list(tmp_path.glob(".*"))


def test_the_number_of_threads_does_not_matter(parallel: tuple[Path, Path], tmp_path: Path) -> None:
    """Threads that add up in the order in which they end would change the last digits."""
    openmp = ctypes.CDLL(importlib.import_module("thot").__file__)
    if not hasattr(openmp, "omp_set_num_threads"):
        pytest.skip("here Thot's threads cannot be counted")
    before = openmp.omp_get_max_threads()
    left, right = (path.read_text(encoding="utf-8").splitlines() for path in parallel)
    given, made = ([text.split() for text in texts] for texts in (left, right))
    seen = set()
    try:
        for number in range(8):
            openmp.omp_set_num_threads(1 + number % 4)
            train_direction(given, made, tmp_path / f"{number}")
            assert openmp.omp_get_max_threads() == 1 + number % 4
            seen.add((tmp_path / f"{number}.params").read_bytes())
    finally:
        openmp.omp_set_num_threads(before)
    assert len(seen) == 1


def test_training_goes_on_where_it_was_interrupted(
    parallel: tuple[Path, Path], model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = training.train_direction
    calls: list[str] = []

    def counted(given, made, prefix, **options):
        calls.append(prefix.name)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(given, made, prefix, **options)

    monkeypatch.setattr(training, "train_direction", counted)
    out = tmp_path / "m"
    with pytest.raises(KeyboardInterrupt):
        train(*parallel, out, Preparation("de", "en"), Settings(order=3))
    assert not out.exists()
    trained = train(*parallel, out, Preparation("de", "en"), Settings(order=3))
    assert calls == ["tm_swm", "tm_invswm", "tm_invswm"]
    assert trained.facts["files"] == open_model(model).facts["files"]
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_other_settings_begin_anew(
    parallel: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / ".m.training"
    work.mkdir()
    (work / "key").write_text("another", encoding="ascii")
    (work / "tm_swm.npy").write_bytes(b"damaged")
    train(*parallel, tmp_path / "m", Preparation("de", "en"))
    assert not work.exists()


def test_empty_and_long_pairs_are_left_out_and_told(tmp_path: Path) -> None:
    (tmp_path / "de").write_text("ein Hund\n\neine Katze\nja\n" + "a " * 50 + "\n")
    (tmp_path / "en").write_text("a dog\na cat\n  \nyes\nb\n")
    trained = train(
        tmp_path / "de", tmp_path / "en", tmp_path / "m", Preparation("de", "en"),
        Settings(longest_sentence=40),
    )  # fmt: skip
    assert trained.facts["pairs"] == 2
    assert trained.facts["left_out"] == {"empty": 2, "long": 1}
    assert "2 pairs are left out, a side being empty (lines 2, 3)" in trained.notes[0]
    assert "1 pairs are left out, having more than 40 words" in trained.notes[1]


@pytest.mark.parametrize(
    ("source", "target", "error", "what"),
    [
        ("a\nb\n", "a\n", LengthMismatch, "de has 2 lines and .*en 1"),
        ("\n\n", "a\nb\n", FormatError, "no pair of lines"),
        ("两个人\n", "two men\n", UsageError, "the source is to be de; .* wrong way round"),
    ],
)
def test_texts_that_cannot_be_learned_from(
    tmp_path: Path, source: str, target: str, error: type[Exception], what: str
) -> None:
    (tmp_path / "de").write_text(source, encoding="utf-8")
    (tmp_path / "en").write_text(target, encoding="utf-8")
    with pytest.raises(error, match=what):
        train(tmp_path / "de", tmp_path / "en", tmp_path / "m", Preparation("de", "en"))
    assert not (tmp_path / "m").exists()


def test_a_pair_the_wrong_way_round(tmp_path: Path) -> None:
    (tmp_path / "zh").write_text("two men\n", encoding="utf-8")
    (tmp_path / "en").write_text("两个人\n", encoding="utf-8")
    with pytest.raises(UsageError, match="0% of its letters are Chinese, and the source is to be"):
        train(tmp_path / "zh", tmp_path / "en", tmp_path / "m", Preparation("zh", "en"))


def test_a_full_folder_is_kept(parallel: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(InputError, match="there is something already"):
        train(*parallel, tmp_path, Preparation("de", "en"))
    assert (tmp_path / "mine").read_text() == "mine"


def test_no_thot(
    parallel: tuple[Path, Path], model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "thot", None)
    monkeypatch.setitem(sys.modules, "thot.alignment", None)
    monkeypatch.setitem(sys.modules, "jieba", None)
    thot.load_part.cache_clear()
    try:
        with pytest.raises(MissingPart, match=r"pip install 'meantime\[smt\]'"):
            train(*parallel, tmp_path / "m", Preparation("de", "en"))
        with pytest.raises(MissingPart, match=r"pip install 'meantime\[smt\]'"):
            Translator(open_model(model))
        with pytest.raises(MissingPart, match="--segmenter characters"):
            Preparation("zh", "en").source_tokens("两个人")
    finally:
        thot.load_part.cache_clear()


def _copied(model: Path, folder: Path) -> Path:
    return Path(shutil.copytree(model, folder / "copy"))


def test_a_folder_of_another_version(model: Path, tmp_path: Path) -> None:
    copy = _copied(model, tmp_path)
    facts = json.loads((copy / "model.json").read_text(encoding="utf-8"))
    facts |= {"format": 7, "meantime": "9.0"}
    (copy / "model.json").write_text(json.dumps(facts), encoding="utf-8")
    with pytest.raises(FormatError, match=r"of format 7, made by meantime 9\.0; .* format 1"):
        open_model(copy)


@pytest.mark.parametrize(
    ("change", "error", "what"),
    [
        (shutil.rmtree, InputError, "no such folder"),
        (lambda f: (f / "model.json").unlink(), InputError, "so it is no model"),
        (lambda f: (f / "model.json").write_text("{"), FormatError, "model.json: damaged"),
        (lambda f: (f / "lm").unlink(), InputError, "lm: missing"),
        (lambda f: (f / "lm").write_text("changed"), FormatError, "lm: not as it was written"),
        (lambda f: (f / "preparation.json").write_text("[]"), FormatError, "not as it was|damaged"),
    ],
    ids=["gone", "no-model", "damaged", "missing", "changed", "preparation"],
)
def test_damaged_folders(model: Path, tmp_path: Path, change, error, what: str) -> None:
    copy = _copied(model, tmp_path)
    change(copy)
    with pytest.raises(error, match=what):
        open_model(copy, check=True)


@pytest.mark.parametrize(
    ("weights", "what"),
    [({"LanguageModel": 1.0}, "has no WordPenalty"), ({**START, "LM0": 1.0}, "has LM0, which is")],
)
def test_weights_of_another_decoder(model: Path, weights: dict[str, float], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        Translator(open_model(model), weights)


def test_text_of_the_wrong_language(model: Path) -> None:
    opened = open_model(model)
    assert foreign(opened, ["Der Hund sieht die Katze."]) is None
    assert "translates de to en" in (foreign(opened, ["The dog sees the cat."]) or "")
    assert foreign(opened, ["", "123"]) is None


# Preparation


def test_chinese_is_rendered_before_it_is_cut(tmp_path: Path) -> None:
    names = NameDictionary({"梅斯": "Mescal", "联合国": "United Nations"})
    preparation = Preparation("zh", "en", segmenter="characters", numbers=True, names=names)
    text = "2014年7月5日，三十名工人在联合国。"
    assert preparation.source_tokens(text) == [
        "July␣5,␣2014", "，", "30", "名", "工", "人", "在", "United␣Nations", "。",
    ]  # fmt: skip
    assert preparation.finish(["On", "July␣5,␣2014", "in", "United␣Nations", "."]) == (
        "On July 5, 2014 in United Nations."
    )
    preparation.save(tmp_path)
    again = read_preparation(tmp_path)
    assert again.source_tokens(text) == preparation.source_tokens(text)
    assert again.describe() == preparation.describe()


def test_a_model_takes_its_files_along(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("工人\n铁路\n", encoding="utf-8")
    preparation = Preparation("zh", "en", segmenter=f"dictionary:{tmp_path}/words")
    (tmp_path / "model").mkdir()
    preparation.save(tmp_path / "model")
    (tmp_path / "words").unlink()
    moved = (tmp_path / "model").rename(tmp_path / "moved")
    assert read_preparation(moved).source_tokens("工人铺铁路") == ["工人", "铺", "铁路"]


def test_case() -> None:
    bare = Preparation("de", "en")
    learned = bare.learned(["Der Hund und der Mann."], ["The dog and the man."])
    assert learned.source_tokens("Der Hund") == ["der", "Hund"]
    assert learned.finish(["the", "dog", "."]) == "The dog."
    lower = Preparation("de", "en", case="lower")
    assert lower.target_tokens("The Dog") == ["the", "dog"]
    assert lower.finish(["the", "dog"]) == "the dog"
    chinese = Preparation("en", "zh", segmenter="characters")
    assert chinese.finish(["两", "个", "人", "。"]) == "两个人。"


@pytest.mark.parametrize(
    ("options", "what"),
    [({"case": "upper"}, "unknown case"), ({"numbers": True}, "leave out --numbers")],
)
def test_preparations_that_cannot_be(options: dict[str, object], what: str) -> None:
    with pytest.raises(OptionError, match=what):
        Preparation("de", "en", **options)  # type: ignore[arg-type]


def test_marks_of_the_formats_do_no_harm(model: Path) -> None:
    translator = Translator(open_model(model))
    texts = ["Der Hund ||| sieht <s> </s> <unk> die Katze.", "a ␣ b", "|||", "\u200b", "x" * 500]
    for several in translator.translate(texts, candidates=5):
        lines = render_list(0, several).splitlines()
        assert all(line.count("|||") == 3 for line in lines)
