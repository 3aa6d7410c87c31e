"""Export and import, backup and restore, and databases of every past version."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import replace

import pytest
from sqlalchemy import inspect, text

from meantime.annotation import transfer
from meantime.annotation.campaign import Training
from meantime.annotation.results import compute
from meantime.annotation.simulate import Simulation
from meantime.annotation.store import NewCampaign, NewSegment, backup, open_store, restore
from meantime.annotation.store.migrations import LATEST, migrate, version_of
from meantime.annotation.store.opening import FILE, open_engine
from meantime.annotation.store.schema import METADATA, OF_A_CAMPAIGN
from meantime.annotation.words import split_words
from meantime.errors import FormatError, InputError, UsageError
from meantime.formats.opening import save_folder


@pytest.fixture
def worked(store, make, settings, truth, clock):
    """A campaign that people have worked on, with awkward texts in its names."""
    campaign, people = make(store, replace(settings, judges=1), 1, annotator=9, judge=1, ranker=1)
    from meantime.annotation.campaign import Role

    store.add_person(campaign, 'O"Hara, 李 <b>', Role.JUDGE)
    Simulation(store, truth, settings, random.Random(4), clock, 0.2).work(people)
    return campaign


def test_an_export_gives_the_same_campaign_again(store, worked, tmp_path) -> None:
    exported = transfer.render_jsonl(store, worked)
    (tmp_path / "campaign.jsonl").write_text(exported)
    folder = tmp_path / "csv"
    folder.mkdir()
    for name, content in transfer.render_csv(store, worked).items():
        (folder / name).write_bytes(content)
    expected = compute(store.everything(worked))
    for number, path in enumerate((tmp_path / "campaign.jsonl", folder)):
        other = open_store(tmp_path / f"other{number}", durable=False)
        assert transfer.import_campaign(other, path) == worked
        assert transfer.render_jsonl(other, worked) == exported
        assert compute(other.everything(worked)) == expected
        with pytest.raises(InputError, match="already"):
            transfer.import_campaign(other, path)
        other.close()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [], "no exported campaign"),
        (lambda lines: ["{}"], "no exported campaign"),
        (lambda lines: lines[:-1], "cut short"),
        (
            lambda lines: [
                lines[0].replace(f'"version": {LATEST}', '"version": 99'),
                *lines[1:],
            ],
            "version 99",
        ),
        (lambda lines: [lines[0], "nonsense", *lines[2:]], ":2: not a row"),
        (
            lambda lines: [lines[0], lines[1].replace("campaigns", "secrets"), *lines[2:]],
            "campaigns",
        ),
        (lambda lines: [*lines[:-1], '["people", {"id": "x"}]'], "lacks or adds"),
        (lambda lines: [one.replace('"annotator"', '"magician"') for one in lines], "magician"),
        (
            lambda lines: [one.replace('\\"judges\\": 3', '\\"judges\\": 0') for one in lines],
            "judges is 0",
        ),
    ],
)
def test_what_is_no_export_is_refused(small, make, settings, tmp_path, change, message) -> None:
    campaign, _ = make(small, settings, annotator=1)
    lines = transfer.render_jsonl(small, campaign).splitlines()
    (tmp_path / "x.jsonl").write_text("\n".join(change(lines)))
    other = open_store(tmp_path / "other", durable=False)
    with pytest.raises((FormatError, InputError), match=message):
        transfer.import_campaign(other, tmp_path / "x.jsonl")
    assert other.campaigns() == []
    other.close()


def test_a_backup_holds_everything_and_moves_between_databases(
    store, worked, tmp_path, new_database, kind
) -> None:
    link = store.make_link(store.people(worked)[0].id)
    session = store.enter(link)
    path = tmp_path / "backup.gz"
    rows = backup(store, path)
    assert path.stat().st_mode & 0o777 == 0o600
    targets = [(tmp_path / "restored", None)]
    if kind == "postgresql":
        targets.append((None, new_database()))
    for target in targets:
        engine = open_engine(*target)
        assert restore(engine, path) == rows
        engine.dispose()
        other = open_store(*target, clock=store._now)
        assert list(other.dump()) == list(store.dump())
        assert other.who(session) == store.who(session)
        other.close()
        engine = open_engine(*target)
        with pytest.raises(InputError, match="not empty"):
            restore(engine, path)
        engine.dispose()


def test_a_backup_keeps_every_character_a_text_may_have(small, settings, tmp_path) -> None:
    # To Unicode some of these end a line; in a file of ours they are characters like others.
    odd = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg \u202eh 🙂 'i' \"j\" <k> \\ l"
    segment = NewSegment("s\u2028 1", split_words(odd), split_words(odd), {"x": split_words(odd)})
    campaign = small.create_campaign(NewCampaign("odd", settings, (segment,)))
    path = tmp_path / "backup.gz"
    rows = backup(small, path)
    engine = open_engine(tmp_path / "restored", None)
    assert restore(engine, path) == rows
    engine.dispose()
    other = open_store(tmp_path / "restored")
    assert list(other.dump()) == list(small.dump())
    other.close()
    (tmp_path / "x.jsonl").write_text(
        transfer.render_jsonl(small, campaign), encoding="utf-8", newline=""
    )
    for name, files in (("csv", transfer.render_csv(small, campaign)), ("jsonl", None)):
        source = tmp_path / "x.jsonl"
        if files:
            source = tmp_path / "folder"
            save_folder(source, files)
        again = open_store(tmp_path / name)
        transfer.import_campaign(again, source)
        assert list(again.dump(campaign)) == list(small.dump(campaign))
        again.close()


def test_a_damaged_backup_is_refused(small, make, settings, tmp_path) -> None:
    make(small, settings, annotator=1)
    path = tmp_path / "backup.gz"
    backup(small, path)
    lines = gzip.decompress(path.read_bytes()).split(b"\n")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"\n".join(lines[:5])))
    (tmp_path / "other.gz").write_bytes(gzip.compress(b"hello"))
    (tmp_path / "half.gz").write_bytes(path.read_bytes()[:200])
    lines[1] = lines[1].replace(b'"campaigns"', b'"secrets"')
    (tmp_path / "foreign.gz").write_bytes(gzip.compress(b"\n".join(lines)))
    for name in ("cut.gz", "other.gz", "half.gz", "foreign.gz"):
        engine = open_engine(tmp_path / f"for-{name}", None)
        with pytest.raises(InputError):
            restore(engine, tmp_path / name)
        engine.dispose()


def test_a_backup_whose_rows_do_not_fit_leaves_the_database_usable(place, tmp_path, clock) -> None:
    from meantime.annotation.campaign import Role

    store = open_store(tmp_path / "first", clock=clock)
    store.add_person(None, "owner", Role.ADMINISTRATOR)
    backup(store, tmp_path / "good.gz")
    store.close()
    lines = gzip.decompress((tmp_path / "good.gz").read_bytes()).decode().splitlines()
    broken = [lines[0], lines[1], lines[1], json.dumps({"rows": 2})]
    (tmp_path / "broken.gz").write_bytes(gzip.compress("\n".join(broken).encode()))
    engine = open_engine(*place)
    with pytest.raises(FormatError, match="nothing was restored"):
        restore(engine, tmp_path / "broken.gz")
    assert restore(engine, tmp_path / "good.gz") == 2
    engine.dispose()


# Rows as each version had them, with what came later left out.
_CAMPAIGN = (
    "INSERT INTO campaigns VALUES ('c', 'old', 'open', '{\"training\": false}', 1)",
    "INSERT INTO segments VALUES ('s', 'c', 0, '1', 'Er geht.', 'de', 'He goes.', 'en')",
    "INSERT INTO people VALUES ('p', 'c', 'ann', 'annotator', 1, 1)",
)
_ROWS = {
    1: (
        *_CAMPAIGN,
        "INSERT INTO versions VALUES ('v', 'c', 's', 'key', '', 'He goes.', "
        '\'["He", "goes", "."]\', \'[[0, 2], [3, 7], [7, 8]]\')',
        "INSERT INTO tasks VALUES ('t', 'c', 's', 'mark', 'v', 0, 'done', 'p', NULL, 1, 2, 3, 4)",
        "INSERT INTO saves VALUES ('t', 1, 'c', 'key-one', 'p', 0, "
        '\'{"frames": [{"predicate": [1, 2], "roles": []}], "current": 0}\', 3)',
        "INSERT INTO log VALUES ('l', 1, 'c', 'p', 'finish', 't', '{}')",
    ),
}
_ROWS[2] = (
    *_CAMPAIGN,
    _ROWS[1][3].replace("[7, 8]]')", "[7, 8]]', NULL)"),
    _ROWS[1][4].replace("4)", "4, 0)"),
    *_ROWS[1][5:],
)
_ROWS[3] = (
    *_ROWS[2],
    # A training round as it was: shown, two sentences by their number.
    "INSERT INTO campaigns VALUES ('d', 'trained', 'open', '{\"training\": true}', 1)",
    "INSERT INTO people VALUES ('q', 'd', 'ben', 'annotator', 1, 1)",
    "INSERT INTO tasks VALUES ('u', 'd', NULL, 'training', 'q', 0, 'done', 'q', NULL, 0, 1, 2, 3,"
    " 0)",
    "INSERT INTO tasks VALUES ('w', 'd', NULL, 'training', 'q', 1, 'open', 'q', NULL, 0, NULL,"
    " NULL, NULL, 0)",
)


@pytest.mark.parametrize("version", range(LATEST))
def test_a_database_of_any_past_version_is_brought_up_to_date(place, version) -> None:
    engine = open_engine(*place)
    migrate(engine, version)
    with engine.begin() as connection:
        assert version_of(connection) == version
        for statement in _ROWS.get(version, ()):
            connection.execute(text(statement))
    engine.dispose()
    store = open_store(*place)
    if version:
        data = store.everything("c")
        [task] = data.tasks
        assert task.answer["frames"][0]["predicate"] == [1, 2]
        assert not task.prefilled
        assert data.versions["v"].suggested is None
        assert store.log("c")[0].action == "finish"
        assert store.campaign("c").settings.training is Training.OFF
    if version == 3:
        assert store.campaign("d").settings.training is Training.SHOWN
        ben = store.person("q")
        assert (store.trained(ben).examples, store.trained(ben).passed) == (3, 1)
        lesson, _ = store.claim(ben)
        assert (lesson.id, lesson.example) == ("w", "pilot")
        assert "pilot" in store.example(lesson)["text"]
        store.finish("w", ben, "finished", lesson.revision, lambda _: None)
        assert store.claim(ben)[0].example == "storm"
    store.close()
    _is_of_today(place)


@pytest.mark.parametrize("version", range(1, LATEST))
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_export_of_any_past_version_is_brought_up_to_date(
    small, tmp_path, version, form
) -> None:
    engine = open_engine(tmp_path / "old", None)
    migrate(engine, version)
    with engine.begin() as connection:
        for statement in _ROWS[version]:
            connection.execute(text(statement))
        rows = []
        for table in OF_A_CAMPAIGN:
            if inspect(connection).has_table(table.name):
                own = "id" if table.name == "campaigns" else "campaign"
                found = connection.execute(text(f"SELECT * FROM {table.name} WHERE {own} = 'c'"))
                names = list(found.keys())
                rows.append((table.name, names, [dict(row._mapping) for row in found]))
    engine.dispose()
    path = tmp_path / "exported"
    if form == "jsonl":
        listed = [[name, row] for name, _, own in rows for row in own]
        head = {"what": "meantime campaign", "version": version, "rows": len(listed)}
        path.write_text("".join(json.dumps(line) + "\n" for line in [head, *listed]))
    else:
        path.mkdir()
        (path / "version.csv").write_text(f"what,version\r\nmeantime campaign,{version}\r\n")
        for name, names, own in rows:
            lines = [",".join(names)]
            lines += [",".join(transfer._field(row[one]) for one in names) for row in own]
            (path / f"{name}.csv").write_text("".join(f"{line}\r\n" for line in lines))
    assert transfer.import_campaign(small, path) == "c"
    [task] = small.everything("c").tasks
    assert task.answer["frames"][0]["predicate"] == [1, 2]
    assert small.campaign("c").settings.training is Training.OFF


def test_an_old_export_that_does_not_fit_is_refused(small, tmp_path) -> None:
    row = {"id": "c", "name": "x", "state": "open", "settings": "{}", "created": 1.0, "more": 1}
    lines = [{"what": "meantime campaign", "version": 2, "rows": 1}, ["campaigns", row]]
    path = tmp_path / "old.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(FormatError, match="do not fit the tables of version 2"):
        transfer.import_campaign(small, path)
    for version in ("0", "-1", "true", '"2"'):
        path.write_text(f'{{"what": "meantime campaign", "version": {version}, "rows": 0}}\n')
        with pytest.raises(FormatError, match="no exported campaign"):
            transfer.import_campaign(small, path)
    assert small.campaigns() == []


def _is_of_today(place) -> None:
    """The tables are those the store speaks to, whichever version they began as."""
    engine = open_engine(*place)
    found = inspect(engine)
    for table in METADATA.sorted_tables:
        columns = {one["name"]: one["nullable"] for one in found.get_columns(table.name)}
        expected = {one.name: bool(one.nullable) for one in table.columns}
        keys = {one.name for one in table.primary_key}
        # SQLite calls a key of text nullable.
        assert {k: v for k, v in columns.items() if k not in keys} == {
            k: v for k, v in expected.items() if k not in keys
        }
        assert set(found.get_pk_constraint(table.name)["constrained_columns"]) == keys
    assert migrate(engine) == (LATEST, LATEST)
    engine.dispose()


def test_a_failed_step_leaves_the_version_before(place, monkeypatch) -> None:
    from meantime.annotation.store import migrations

    engine = open_engine(*place)
    broken = ("ALTER TABLE versions ADD COLUMN suggested TEXT", "NONSENSE")
    steps = [migrations.STEPS[0], {"sqlite": broken, "postgresql": broken}]
    monkeypatch.setattr(migrations, "STEPS", steps)
    migrate(engine, 1)
    with pytest.raises(Exception, match=r"(?i)syntax"):
        migrate(engine, 2)
    monkeypatch.undo()
    assert migrate(engine) == (1, LATEST)
    engine.dispose()
    _is_of_today(place)


def test_a_backup_of_a_past_version_is_brought_up_to_date(tmp_path) -> None:
    rows = [
        ["campaigns", {"id": "c", "name": "old", "state": "open", "settings": "{}",
                       "created": 1.0}],
        ["segments", {"id": "s", "campaign": "c", "position": 0, "name": "1", "source": None,
                      "source_lang": None, "reference": "x", "lang": "en"}],
        ["versions", {"id": "v", "campaign": "c", "segment": "s", "kind": "key", "system": "",
                      "text": "x", "tokens": "[]", "offsets": "[]"}],
    ]  # fmt: skip
    lines = [{"what": "meantime annotate backup", "version": 1}, *rows, {"rows": 3}]
    path = tmp_path / "old.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    engine = open_engine(tmp_path / "new", None)
    restore(engine, path)
    engine.dispose()
    store = open_store(tmp_path / "new")
    assert store.version("v").suggested is None
    store.close()


def test_a_database_of_the_future_or_of_others_is_refused(tmp_path) -> None:
    store = open_store(tmp_path / "later")
    with store._engine.begin() as connection:
        connection.execute(text("UPDATE meantime_schema SET version = 99"))
    store.close()
    with pytest.raises(InputError, match="version 99"):
        open_store(tmp_path / "later")
    foreign = tmp_path / "foreign"
    engine = open_engine(foreign, None)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE campaigns (x TEXT)"))
    engine.dispose()
    with pytest.raises(InputError, match="another program"):
        open_store(foreign)
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / FILE).write_text("this is no database at all, whatever it is called" * 9)
    with pytest.raises(InputError, match="no database of ours"):
        open_store(tmp_path / "text")
    with pytest.raises(UsageError, match="only postgresql"):
        open_store(None, "mysql://x/y")
    with pytest.raises(InputError, match="cannot be used"):
        open_store(None, f"postgresql://nobody@/nothing?host={tmp_path}")
    assert (tmp_path / "later" / FILE).stat().st_mode & 0o077 == 0
