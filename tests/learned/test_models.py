"""Models on disk: the same bytes, the same scores, and refused when anything is wrong."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy
import pytest

from meantime import Level, create
from meantime.conformance import CHECKS, sample
from meantime.errors import InputError, UsageError
from meantime.learned import features, models
from meantime.learned.groups import Settings
from meantime.learned.models import DamagedModel, load_model, make_model, save_model
from meantime.learned.synonyms import from_arrays
from tests.learned.small_models import TRAINING, bell_model, linear_model, saved


@pytest.mark.parametrize("made", [linear_model, bell_model], ids=["linear", "bell"])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conformance(made, check, tmp_path: Path) -> None:
    check(create(str(saved(tmp_path, made()))))


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    model = bell_model()
    path = saved(tmp_path, model)
    found = load_model(path)
    rows = numpy.random.default_rng(1).random((5, len(model.features.names)))
    assert numpy.array_equal(found.scores(rows), model.scores(rows))
    assert found.card == model.card
    assert found.features.names == model.features.names


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        saved(tmp_path / name)
    for file in (models.CARD, models.ARRAYS):
        one, other = ((tmp_path / name / "model" / file).read_bytes() for name in ("one", "other"))
        assert one == other


def test_score_by_hand(tmp_path: Path) -> None:
    segments, pairs = sample()
    metric = create(str(saved(tmp_path))).prepare(segments)
    # "the the the the cat cat" against a reference: see the metrics of the same names.
    rows = metric.measure(pairs)
    wer = create("wer:unit=count").prepare(segments).measure(pairs)[:, 0]
    bleu = create("bleu:max_order=1,brevity_penalty=no,smooth=none").prepare(segments)
    precision = [bleu.score(row, Level.SEGMENT).value / 100 for row in bleu.measure(pairs)]
    assert rows[:, 0] == pytest.approx(0.25 + numpy.array(precision) - 0.1 * wer)
    assert metric.score(rows.sum(axis=0), Level.CORPUS).value == pytest.approx(rows[:, 0].mean())


def test_the_signature_names_the_training_not_the_place(tmp_path: Path) -> None:
    signatures = set()
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        signatures.add(str(create(str(saved(tmp_path / name))).signature()))
    [signature] = signatures
    assert signature.startswith("learned|references:any|trained_references:1|model:metric-0000")
    assert "|features:basic|" in signature
    assert str(tmp_path) not in signature


# Ways to name it


def test_a_folder_is_a_metric(tmp_path: Path, monkeypatch) -> None:
    saved(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = {str(create(name).signature()) for name in ("model", "./model", "learned:model=model")}
    assert len(found) == 1
    with pytest.raises(InputError, match=r"models/mine: no learned metric \(card.json is not"):
        create("models/mine")
    with pytest.raises(UsageError, match="no model is named"):
        create("learned")


def test_a_folder_does_not_hide_a_metric(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "bleu").mkdir()
    monkeypatch.chdir(tmp_path)
    assert create("bleu").name == "bleu"
    assert create("bleu:max_order=2").name == "bleu"


def test_a_path_may_hold_anything(tmp_path: Path) -> None:
    folder = tmp_path / "a, b:c=d"
    folder.mkdir()
    assert create(str(saved(folder))).name == "learned"


# Damage


def _change(path: Path, change) -> None:
    card = json.loads((path / models.CARD).read_text())
    change(card)
    (path / models.CARD).write_text(json.dumps(card))


def _repack(path: Path, change) -> None:
    """Change the arrays and make the hash fit again."""
    with numpy.load(path / models.ARRAYS) as archive:
        arrays = dict(archive)
    change(arrays)
    packed = io.BytesIO()
    numpy.savez(packed, **arrays)
    _replace(path, packed.getvalue())


def _replace(path: Path, content: bytes) -> None:
    (path / models.ARRAYS).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    _change(path, lambda card: card["arrays"].update({models.ARRAYS: digest}))


def test_every_flipped_byte_is_noticed(tmp_path: Path) -> None:
    path = saved(tmp_path)
    content = (path / models.ARRAYS).read_bytes()
    for place in range(0, len(content), max(1, len(content) // 40)):
        broken = bytearray(content)
        broken[place] ^= 0x55
        (path / models.ARRAYS).write_bytes(broken)
        with pytest.raises(DamagedModel, match="does not fit the hash"):
            load_model(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda card: card.update(format=2), "format 2, and this version of meantime reads 1"),
        (lambda card: card.pop("training"), "no training"),
        (lambda card: card.update(kind="other"), "kind 'other'"),
        (lambda card: card["features"].update(version=0), "made for features of version 0"),
        (lambda card: card["features"].update(groups=["gone"]), "features that are not there"),
        (lambda card: card["features"].update(groups=["parse"]), "made for other features"),
        (lambda card: card["features"]["names"].reverse(), "made for other features"),
        (lambda card: card["features"].update(recipe=["x"]), "made for other features"),
        (lambda card: card["features"].update(lowercase=True), "made for other features"),
        (lambda card: card["machine"].update(kind="forest"), "a machine of kind 'forest'"),
        (lambda card: card["machine"].update(mean=float("nan")), "no number"),
        (lambda card: card.update(features=[]), "not a whole model"),
        (lambda card: card.update(arrays=[]), "does not fit the hash"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_a_card_that_does_not_fit(tmp_path: Path, change, message: str) -> None:
    path = saved(tmp_path)
    _change(path, change)
    with pytest.raises(DamagedModel, match=message):
        load_model(path)


def _drop(arrays) -> None:
    del arrays["shift"]


def _widen(arrays) -> None:
    arrays["weights"] = numpy.ones(3)


def _spoil(arrays) -> None:
    arrays["weights"] = numpy.array([numpy.nan, 1.0])


def _misplace(arrays) -> None:
    arrays["kept"] = numpy.array([0, 99])


def _pickled(arrays) -> None:
    arrays["weights"] = numpy.array([print, 1.0], dtype=object)


@pytest.mark.parametrize("change", [_drop, _widen, _spoil, _misplace, _pickled],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_arrays_that_do_not_fit(tmp_path: Path, change) -> None:
    path = saved(tmp_path)
    _repack(path, change)
    with pytest.raises(DamagedModel, match="not a whole model"):
        load_model(path)


def test_what_is_no_archive(tmp_path: Path) -> None:
    path = saved(tmp_path)
    for content in (b"", b"PK\x03\x04", pickle.dumps([1])):
        _replace(path, content)
        with pytest.raises(DamagedModel, match="not a whole model"):
            load_model(path)
    (path / models.CARD).write_text("{")
    with pytest.raises(DamagedModel, match="not JSON"):
        load_model(path)
    (path / models.ARRAYS).unlink()
    with pytest.raises(InputError, match=r"model\.npz is not there"):
        load_model(path)


def test_nothing_in_a_model_is_pickled(tmp_path: Path) -> None:
    with zipfile.ZipFile(saved(tmp_path) / models.ARRAYS) as archive:
        for name in archive.namelist():
            numpy.load(io.BytesIO(archive.read(name)), allow_pickle=False)


def test_features_of_another_version(tmp_path: Path, monkeypatch) -> None:
    path = saved(tmp_path)
    monkeypatch.setattr(features, "VERSION", 2)
    models._load.cache_clear()
    with pytest.raises(DamagedModel, match="version 1, and this version of meantime has 2"):
        load_model(path)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    saved(tmp_path)
    with pytest.raises(InputError, match="not empty"):
        saved(tmp_path)
    with pytest.raises(InputError, match="something is there already"):
        models.check_free(tmp_path / "model")
    with pytest.raises(InputError, match="the folder it should lie in is not there"):
        models.check_free(tmp_path / "no" / "model")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]


@pytest.mark.needs("wordnet")
def test_synonyms_travel_with_the_model(tmp_path: Path) -> None:
    base = linear_model()
    sets = numpy.array([100000000 + 2084071], dtype=numpy.int64)
    synonyms = from_arrays(None, sets, numpy.array([3.0]), 1.5, "three dogs")
    settings = Settings(synonyms=synonyms)
    model = make_model(
        "pairs", ("wer", "per"), settings,
        type(base.scaler)(numpy.array([0, 1]), numpy.zeros(2), numpy.ones(2)), base.machine,
        references=1, training=TRAINING, results={},
    )  # fmt: skip
    save_model(tmp_path / "model", model)
    found = load_model(tmp_path / "model").settings.synonyms
    assert found is not None
    assert repr(found) == repr(synonyms)
    _change(tmp_path / "model", lambda card: card["features"]["synonyms"].update(wordnet="2.0"))
    models._load.cache_clear()
    with pytest.raises(UsageError, match=r"made with WordNet 2.0, and the one here"):
        load_model(tmp_path / "model")
