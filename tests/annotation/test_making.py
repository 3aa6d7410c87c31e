"""From files to a campaign, with the shipped analyser's frames."""

from __future__ import annotations

import pytest

from meantime.analysis import open_analyser
from meantime.annotation.campaign import Kind, Role, Settings, Training
from meantime.annotation.making import make_segments, needs_analyser
from meantime.annotation.store import NewCampaign
from meantime.errors import InputError, UnsupportedLanguage
from meantime.types import Corpus, Segment, Sentence

CORPUS = Corpus(
    (
        Segment(
            "1", (Sentence("The court fined the bank two million euros."),), Sentence("x", "de")
        ),
    ),
    {"one": (Sentence("On Monday the bank was fined by the court."),), "two": (Sentence(""),)},
)


def test_the_analyser_suggests_and_makes_the_key(small) -> None:
    settings = Settings(key="analyser", prefill=1.0, training=Training.OFF, annotators=2)
    assert needs_analyser(settings)
    [made] = make_segments(CORPUS, settings, open_analyser())
    [frame] = made.key
    assert [role.label for role in frame.roles][:2] == ["agent", "patient"] or frame.roles
    assert made.suggested["two"] == ()
    campaign = small.create_campaign(NewCampaign("x", settings, (made,)))
    people = [small.add_person(campaign, f"p{n}", Role.ANNOTATOR) for n in range(6)]
    begun = {}
    for person in people:
        task, _ = small.claim(person)
        assert task.kind is Kind.MARK
        assert task.prefilled
        begun[small.version(task.target).system] = task.answer["frames"]
    assert begun["one"]
    assert begun["two"] == []
    assert begun["reference"]


def test_without_an_analyser_nothing_is_suggested() -> None:
    assert not needs_analyser(Settings())
    [made] = make_segments(CORPUS, Settings())
    assert made.suggested is None
    assert made.key is None
    assert made.outputs["one"].tokens[-1] == "."


def test_what_cannot_be_made_is_said() -> None:
    bare = Corpus((Segment("7", ()),), {"one": (Sentence("a"),)})
    with pytest.raises(InputError, match="Segment 7 has no reference"):
        make_segments(bare, Settings())
    for what, reference, output in (
        ("reference", "a" * 5001, "a"),
        ("output of one", "a", "a" * 5001),
    ):
        long = Corpus((Segment("7", (Sentence(reference),)),), {"one": (Sentence(output),)})
        with pytest.raises(InputError, match=f"Segment 7: the {what} has 5,001 characters"):
            make_segments(long, Settings())
    german = Corpus((Segment("1", (Sentence("x", "de"),)),), {"one": (Sentence("a", "de"),)})
    with pytest.raises(UnsupportedLanguage, match="does not know the language 'de'"):
        make_segments(german, Settings(prefill=0.5), open_analyser())
