"""The pages: who may open which, forged forms, limits, escaping, and every step by form."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterator
from html import unescape

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from meantime.annotation import training, transfer
from meantime.annotation.app import Config, create_app
from meantime.annotation.app.security import Limiter
from meantime.annotation.campaign import Kind, Role, Settings, Training
from meantime.annotation.simulate import Simulation
from meantime.annotation.store import NewCampaign, NewSegment, open_store
from meantime.annotation.words import split_words
from meantime.web import POLICY

SECRET = "a secret for tests that is long enough"
SCRIPT = "<script>alert(1)</script>"


class Person:
    """A browser of somebody's."""

    def __init__(self, app, store, person) -> None:
        self.person = person
        self.client = TestClient(app, base_url="http://localhost", follow_redirects=False)
        if person is not None:
            link = store.make_link(person.id)
            answer = self.client.post(f"/enter/{link}")
            assert answer.status_code == 303, answer.text

    def get(self, path: str, **values):
        return self.client.get(path, **values)

    def token(self) -> str:
        """The token of a form on a page of this person's."""
        home = "/campaigns" if self.person.role is Role.ADMINISTRATOR else "/work"
        return re.search(r'name="csrf" value="(\w+)"', self.get(home).text)[1]

    def post(self, path: str, headers=None, files=None, **values):
        data = {"csrf": self.token(), **values} if self.person is not None else values
        return self.client.post(path, data=data, headers=headers or {}, files=files)

    def step(self, path: str, headers=None, **values):
        """A step as the page of the task would send it."""
        page = self.get(path).text
        fields = {
            name: re.search(rf'name="{name}" value="(\w+)"', page)[1]
            for name in ("csrf", "key", "revision")
        }
        return self.client.post(path, data={**fields, **values}, headers=headers or {})


@pytest.fixture
def world(small, make, settings, truth):
    """Two campaigns, people of every role in both, and the application."""
    app = create_app(small, Config(secret=SECRET, tries=1000))
    roles = {str(role): 1 for role in Role}
    one, people = make(small, settings, 1, **{**roles, "annotator": 2})
    other, others = make(small, settings, 1, **roles)
    owner = small.add_person(None, "owner", Role.ADMINISTRATOR)
    return {
        "app": app,
        "store": small,
        "one": one,
        "other": other,
        "owner": Person(app, small, owner),
        "anybody": Person(app, small, None),
        "people": {p.role: Person(app, small, p) for p in reversed(people)},
        "others": {p.role: Person(app, small, p) for p in others},
    }


# What each route answers: to nobody (401), to roles that may not (403), to an administrator of
# another campaign and of this one. A route that is not listed fails the test below.
WORK = {"GET /work", "POST /work/next", "GET /task/{task}", "POST /task/{task}"}
OPEN = {"GET /", "GET /enter/{secret}", "POST /enter/{secret}", "POST /leave"}
OWNERS = {"GET /campaigns/new", "POST /campaigns"}
CAMPAIGN = {
    "GET /campaigns/{campaign}": 200,
    "POST /campaigns/{campaign}/state": 303,
    "GET /campaigns/{campaign}/settings": 200,
    "POST /campaigns/{campaign}/settings": 303,
    "POST /campaigns/{campaign}/segments": 400,
    "POST /campaigns/{campaign}/examples": 303,
    "GET /campaigns/{campaign}/people": 200,
    "POST /campaigns/{campaign}/people": 200,
    "POST /campaigns/{campaign}/people/{person}/link": 200,
    "POST /campaigns/{campaign}/people/{person}/revoke": 303,
    "POST /campaigns/{campaign}/people/{person}/remove": 303,
    "GET /campaigns/{campaign}/results": 200,
    "GET /campaigns/{campaign}/segments/{name:path}": 200,
    "GET /campaigns/{campaign}/log": 200,
    "GET /campaigns/{campaign}/export/{name}": 200,
}
FORMS = {
    "POST /campaigns/{campaign}/state": {"state": "open"},
    "POST /campaigns/{campaign}/people": {"names": "somebody new", "role": "judge"},
    "POST /campaigns/{campaign}/examples": {"reset": "yes"},
}


def _routes(app) -> set[str]:
    found = set()
    waiting = list(app.routes)
    while waiting:
        route = waiting.pop()
        inner = getattr(route, "original_router", None) or getattr(route, "router", None)
        if isinstance(route, APIRoute):
            found |= {f"{method} {route.path}" for method in route.methods}
        elif inner is not None:
            waiting.extend(inner.routes)
    return found


def test_every_route_is_in_the_tables_below(world) -> None:
    known = WORK | OPEN | OWNERS | set(CAMPAIGN) | {"GET /campaigns"}
    assert _routes(world["app"]) == known


def _ask(person: Person, route: str, campaign: str, member: str, task: str = "x"):
    method, path = route.split(" ")
    path = path.replace("{campaign}", campaign).replace("{person}", member)
    path = path.replace("{task}", task).replace("{name:path}", "1")
    path = path.replace("{name}", "campaign.jsonl").replace("{secret}", "wrong")
    if method == "GET":
        return person.get(path)
    if person.person is None:
        return person.client.post(path)
    return person.post(path, **FORMS.get(route, {}))


@pytest.mark.parametrize("route", sorted(CAMPAIGN))
def test_a_campaign_is_open_to_its_administrators_alone(world, route) -> None:
    member = world["people"][Role.JUDGE].person.id
    assert _ask(world["anybody"], route, world["one"], member).status_code == 401
    for role, person in world["people"].items():
        if role is not Role.ADMINISTRATOR:
            assert _ask(person, route, world["one"], member).status_code == 403, role
    foreign = world["others"][Role.ADMINISTRATOR]
    assert _ask(foreign, route, world["one"], member).status_code == 404
    own = world["people"][Role.ADMINISTRATOR]
    assert _ask(own, route, world["one"], member).status_code == CAMPAIGN[route]
    if "{person}" in route:
        stranger = world["others"][Role.JUDGE].person.id
        assert _ask(own, route, world["one"], stranger).status_code == 404
    assert _ask(own, route, "nowhere", member).status_code == 404


@pytest.mark.parametrize("route", sorted(OWNERS))
def test_only_the_owner_makes_campaigns(world, route) -> None:
    assert _ask(world["anybody"], route, "", "").status_code == 401
    for person in world["people"].values():
        assert _ask(person, route, "", "").status_code == 403
    assert _ask(world["owner"], route, "", "").status_code == (200 if "GET" in route else 400)


def test_administrators_see_their_own_campaign_in_the_list(world) -> None:
    one, other = f"/campaigns/{world['one']}", f"/campaigns/{world['other']}"
    assert one in (page := world["owner"].get("/campaigns").text)
    assert other in page
    assert one in (page := world["people"][Role.ADMINISTRATOR].get("/campaigns").text)
    assert other not in page
    assert world["people"][Role.JUDGE].get("/campaigns").status_code == 403


@pytest.mark.parametrize("route", sorted(WORK))
def test_work_is_for_workers(world, route) -> None:
    assert _ask(world["anybody"], route, "", "").status_code == 401
    assert _ask(world["owner"], route, "", "").status_code == 403
    assert _ask(world["people"][Role.ADMINISTRATOR], route, "", "").status_code == 403


def test_nobody_sees_or_changes_anothers_task(world) -> None:
    store = world["store"]
    ann = world["people"][Role.ANNOTATOR]
    task, _ = store.claim(ann.person)
    assert ann.get(f"/task/{task.id}").status_code == 200
    strangers = [*world["others"].values(), *world["people"].values(), world["owner"]]
    for one in strangers:
        if one is ann:
            continue
        expected = 403 if one.person.role is Role.ADMINISTRATOR else 404
        assert one.get(f"/task/{task.id}").status_code == expected
        answer = one.post(
            f"/task/{task.id}", key="0123456789", revision="0", label="action", word="1"
        )
        assert answer.status_code == expected
    assert store.task(task.id).revision == 0


def test_a_judge_sees_no_score_and_nobody_a_systems_name(world, truth, clock) -> None:
    store, one = world["store"], world["one"]
    settings = Settings(training=Training.OFF, repeat_every=0)
    readers = [p for p in store.people(one) if p.role is Role.ANNOTATOR]
    readers += [store.add_person(one, f"reader {n}", Role.ANNOTATOR) for n in range(7)]
    import random

    Simulation(store, truth, settings, random.Random(1), clock).work(readers)
    for role in (Role.JUDGE, Role.RANKER, Role.ANNOTATOR):
        person = world["people"][role]
        answer = person.post("/work/next")
        page = person.get(answer.headers["location"]).text
        assert not re.search("hmeant|faithful|fluent|literal|precision", page, re.IGNORECASE)


def test_forged_forms_are_refused(world) -> None:
    ann, owner = world["people"][Role.ANNOTATOR], world["owner"]
    assert ann.client.post("/work/next").status_code == 403
    assert ann.client.post("/work/next", data={"csrf": owner.token()}).status_code == 403
    good = {"csrf": ann.token()}
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert ann.client.post("/work/next", data=good, headers=headers).status_code == 403
    assert ann.client.post("/leave").status_code == 403
    right = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert ann.client.post("/work/next", data=good, headers=right).status_code == 303


def test_cookies_are_signed_and_kept_from_scripts(world) -> None:
    store = world["store"]
    link = store.make_link(world["people"][Role.JUDGE].person.id)
    client = TestClient(world["app"], base_url="http://localhost", follow_redirects=False)
    assert client.get(f"/enter/{link}").status_code == 200
    answer = client.post(f"/enter/{link}")
    cookie = answer.headers["set-cookie"]
    assert all(part in cookie for part in ("HttpOnly", "SameSite=lax", "Path=/"))
    assert "Secure" not in cookie
    value = client.cookies["meantime"]
    for forged in (value[:-9] + "A" * 9, value[:5] + "AAA" + value[8:], value.split(".")[0], "x"):
        stranger = TestClient(world["app"], base_url="http://localhost")
        assert stranger.get("/work", headers={"Cookie": f"meantime={forged}"}).status_code == 401
    safe = create_app(store, Config(secret=SECRET, secure=True, address="https://x.example"))
    link = store.make_link(world["people"][Role.RATER].person.id)
    answer = TestClient(safe, base_url="https://localhost", follow_redirects=False).post(
        f"/enter/{link}"
    )
    assert "Secure" in answer.headers["set-cookie"]
    assert "__Host-meantime" in answer.headers["set-cookie"]


def test_leaving_ends_the_session_on_the_server_too(world) -> None:
    judge = world["people"][Role.JUDGE]
    kept = judge.client.cookies["meantime"]
    judge.post("/leave")
    judge.client.cookies.set("meantime", kept)
    assert judge.get("/work").status_code == 401


def test_links_are_limited_and_hosts_known(world) -> None:
    app = create_app(world["store"], Config(secret=SECRET, tries=5))
    client = TestClient(app, base_url="http://localhost")
    codes = [client.get(f"/enter/guess{n}").status_code for n in range(8)]
    assert codes == [401] * 5 + [429] * 3
    good = world["store"].make_link(world["people"][Role.JUDGE].person.id)
    assert client.get(f"/enter/{good}").status_code == 429
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 400
    assert client.get("/", headers={"Host": "[::1]:8710"}).status_code == 401
    now = [0.0]
    limiter = Limiter(most=2, clock=lambda: now[0])
    blocked = []
    for _ in range(3):
        blocked.append(limiter.blocks("a"))
        limiter.count("a")
    assert blocked == [False, False, True]
    assert not limiter.blocks("b")
    now[0] = 61
    assert not limiter.blocks("a")


def test_large_requests_are_refused_stated_or_not(world) -> None:
    app = create_app(world["store"], Config(secret=SECRET, most_bytes=1000))
    client = TestClient(app, base_url="http://localhost")
    assert client.post("/work/next", content=b"x" * 2000).status_code == 413

    def parts() -> Iterator[bytes]:
        for _ in range(20):
            yield b"x" * 100

    judge = world["people"][Role.JUDGE]
    client.cookies.set("meantime", judge.client.cookies["meantime"])
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.post("/work/next", content=parts(), headers=kind).status_code == 413


def test_every_answer_has_its_headers_and_no_page_a_script_in_it(world) -> None:
    pages = [world["anybody"].get("/"), world["owner"].get("/campaigns/new")]
    for name in ("", "/people", "/results", "/settings", "/log"):
        pages.append(world["owner"].get(f"/campaigns/{world['one']}{name}"))
    pages.append(world["people"][Role.JUDGE].get("/work"))
    pages.append(world["anybody"].get("/static/work.js"))
    for page in pages:
        assert page.headers["content-security-policy"] == POLICY
        assert page.headers["x-content-type-options"] == "nosniff"
        assert not re.search(
            r"<script(?! src=\"/static/)|\son\w+=|style=|javascript:", page.text
        ) or (page.request.url.path == "/static/work.js")
        assert not re.search(r"(?:src|href)=\"(?:https?:)?//", page.text)


def test_texts_are_escaped_wherever_they_come_from(small, settings, clock) -> None:
    app = create_app(small, Config(secret=SECRET))
    owner = Person(app, small, small.add_person(None, "owner", Role.ADMINISTRATOR))
    files = [
        ("reference", ("r.txt", f"He saw {SCRIPT} .\n")),
        ("source", ("s.txt", f"Er sah {SCRIPT} .\n")),
        ("hypotheses", ("a<b>.txt", f"Saw {SCRIPT} .\n")),
        ("hypotheses", ("b.txt", f"{SCRIPT} sees he .\n")),
    ]
    answer = owner.post(
        "/campaigns",
        files=files,
        name=SCRIPT,
        training="off",
        **{"has-control": "1", "annotators": "2"},
    )
    assert answer.status_code == 303, answer.text
    path = answer.headers["location"]
    campaign = path.rsplit("/", 1)[1]
    person = small.add_person(campaign, SCRIPT, Role.ANNOTATOR)
    ranker = small.add_person(campaign, "ranker", Role.RANKER)
    pages = [owner.get(f"{path}{tail}").text for tail in ("", "/people", "/results", "/log")]
    pages += [owner.get(f"{path}/segments/1").text, owner.get("/campaigns").text]
    for one in (person, ranker):
        visitor = Person(app, small, one)
        where = visitor.post("/work/next").headers["location"]
        pages += [visitor.get(where).text, visitor.get("/work").text]
    for page in pages:
        assert "<script>alert" not in page
        assert "a<b>" not in page
    assert sum("&lt;script&gt;" in page for page in pages) >= 6


def test_uploads_that_are_wrong_are_answered_in_words(world) -> None:
    owner = world["owner"]
    reference = ("reference", ("r.txt", "one .\ntwo .\n"))
    for files, message in [
        ([reference], "outputs of at least one system"),
        ([reference, ("hypotheses", ("a.txt", "one .\n"))], "has 1"),
        ([reference, ("hypotheses", ("a.txt", b"\xff\xfe\xff"))], "a.txt"),
        ([("everything", ("../../x.tsv", "nonsense"))], "x.tsv"),
    ]:
        answer = owner.post("/campaigns", files=files, name="x")
        assert answer.status_code == 400
        text = unescape(answer.text)
        assert message in text
        assert "/tmp/" not in text
    good = [reference, ("hypotheses", ("a.txt", "one .\ntwo .\n"))]
    answer = owner.post("/campaigns", files=good, name="x", annotators="1")
    assert "annotators is 1" in answer.text
    answer = owner.post("/campaigns", files=good, name="x", judges="many")
    assert "give a number" in answer.text
    answer = owner.post("/campaigns", files=good, name="x", prefill="0.5")
    assert "no analyser" in answer.text
    assert len(world["store"].campaigns()) == 2


def test_closing_asks_twice_and_invitations_show_links_once(world) -> None:
    owner, path = world["owner"], f"/campaigns/{world['one']}"
    assert owner.post(f"{path}/state", state="closed").status_code == 400
    assert owner.post(f"{path}/state", state="magic").status_code == 400
    page = owner.post(f"{path}/people", names="Ada\nBob", role="judge", days="3").text
    links = re.findall(r"http://localhost:8710(/enter/[\w-]+)", page)
    assert len(links) == 2
    assert "/enter/" not in owner.get(f"{path}/people").text
    client = TestClient(world["app"], base_url="http://localhost", follow_redirects=False)
    assert client.post(links[0]).status_code == 303
    assert "somebody called Ada" in owner.post(f"{path}/people", names="Ada", role="judge").text
    assert "1 to 80" in owner.post(f"{path}/people", names="A\u202eB", role="judge").text
    assert "1 to 365" in owner.post(f"{path}/people", names="C", role="judge", days="0").text


def test_exports_over_the_web_are_those_of_the_command(world, tmp_path) -> None:
    own, one, store = world["people"][Role.ADMINISTRATOR], world["one"], world["store"]
    path = f"/campaigns/{one}/export"
    assert own.get(f"{path}/campaign.jsonl").text == transfer.render_jsonl(store, one)
    archive = zipfile.ZipFile(io.BytesIO(own.get(f"{path}/campaign.zip").content))
    archive.extractall(tmp_path / "csv")
    other = open_store(tmp_path / "other", durable=False)
    assert transfer.import_campaign(other, tmp_path / "csv") == one
    other.close()
    names = ["judgements.jsonl", "scores.csv", "results.json", "ratings.tsv"]
    for name in (*names, "human-hmeant.tsv", "human-order.tsv", "human-rating.tsv"):
        answer = own.get(f"{path}/{name}")
        assert answer.status_code == 200
        assert "attachment" in answer.headers["content-disposition"]
    assert own.get(f"{path}/secrets").status_code == 404
    table = own.get(f"{path}/correlations.csv?metrics=bleu")
    assert "attachment" in table.headers["content-disposition"]
    assert table.text.startswith("people,metric,grouping,statistic,value")
    assert "order,bleu,segments,spearman" in table.text
    assert '"metric": "bleu"' in own.get(f"{path}/results.json?metrics=bleu").text
    assert own.get(f"{path}/correlations.csv?metrics=blue").status_code in (400, 422)
    page = own.get(f"/campaigns/{one}/results?metrics=bleu")
    assert "export/correlations.csv?metrics=bleu" in page.text
    wrong = own.get(f"/campaigns/{one}/results?metrics=blue")
    assert "no metric is called" in unescape(wrong.text)


@pytest.mark.parametrize(
    "metric",
    ["umeant:weights=/etc/passwd", "umeant:weights=pyproject.toml", "/etc", "learned:model=~"],
)
def test_no_metric_reads_a_file_of_the_server(world, metric) -> None:
    own, one = world["people"][Role.ADMINISTRATOR], world["one"]
    page = own.get(f"/campaigns/{one}/results", params={"metrics": metric})
    assert "files cannot be named here" in unescape(page.text)
    for name in ("correlations.csv", "results.json"):
        answer = own.get(f"/campaigns/{one}/export/{name}", params={"metrics": metric})
        assert answer.status_code == 400
        assert "files cannot be named here" in unescape(answer.text)
    long = own.get(f"/campaigns/{one}/results", params={"metrics": "umeant:weights=" + "x" * 400})
    assert "too long" in unescape(long.text)


def test_what_is_too_much_is_refused_and_not_cut_off(world) -> None:
    own, one, store = world["people"][Role.ADMINISTRATOR], world["one"], world["store"]
    page = own.get(f"/campaigns/{one}/results", params={"metrics": "bleu " * 9})
    assert "9 metrics; name up to 8" in unescape(page.text)
    before = len(store.people(one))
    for names, count in (("a\n" * 201, 201), ("\n \n", 0)):
        answer = own.post(f"/campaigns/{one}/people", names=names, role="judge")
        assert answer.status_code == 400
        assert f"{count} names; give 1 to 200 at a time" in unescape(answer.text)
    assert len(store.people(one)) == before


def test_packed_files_are_opened_no_further_than_the_limit(small) -> None:
    app = create_app(small, Config(secret=SECRET, most_bytes=100_000))
    owner = Person(app, small, small.add_person(None, "owner", Role.ADMINISTRATOR))
    bomb = gzip.compress(b"word " * 1_000_000)
    for name, packed, message in (
        ("a.txt.gz", bomb, "too large together"),
        ("a.txt.gz", gzip.compress(bomb), "gzipped more than once"),
        ("a.txt.gz", gzip.compress(b"cut")[:-6], "no whole gzip file"),
    ):
        assert len(packed) < 50_000
        files = [("reference", ("r.txt", b"x\n")), ("hypotheses", (name, packed))]
        answer = owner.post("/campaigns", files=files, name="x")
        assert answer.status_code == 400
        assert message in unescape(answer.text)
    files = [
        ("reference", ("r.txt", b"Ada saw Bob .\n")),
        ("hypotheses", ("a.txt.gz", gzip.compress(b"Ada saw her .\n"))),
    ]
    assert owner.post("/campaigns", files=files, name="x").status_code == 303


FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "'=1", "''=1", "'plain", "it's = 1")


def test_no_text_becomes_a_formula_in_a_spreadsheet(small, settings, tmp_path) -> None:
    app = create_app(small, Config(secret=SECRET))
    owner = Person(app, small, small.add_person(None, "owner", Role.ADMINISTRATOR))
    segments = tuple(
        NewSegment(text, None, split_words(text), {"=cmd": split_words(text)}) for text in FORMULAS
    )
    campaign = small.create_campaign(NewCampaign("=HYPERLINK()", settings, segments))
    small.add_person(campaign, "=ann", Role.ANNOTATOR)
    path = f"/campaigns/{campaign}/export"
    rows = list(csv.reader(io.StringIO(owner.get(f"{path}/scores.csv").text, newline="")))
    fields = [field for row in rows for field in row]
    archive = zipfile.ZipFile(io.BytesIO(owner.get(f"{path}/campaign.zip").content))
    for name in archive.namelist():
        text = archive.read(name).decode()
        fields += [field for row in csv.reader(io.StringIO(text, newline="")) for field in row]
    assert "'=1+1" in fields
    assert "'=ann" in fields
    assert not [one for one in fields if one[:1] in ("=", "+", "@", "\t", "-")]
    # And all of it comes back as it was.
    archive.extractall(tmp_path / "csv")
    other = open_store(tmp_path / "other", durable=False)
    assert transfer.import_campaign(other, tmp_path / "csv") == campaign
    assert list(other.dump(campaign)) == list(small.dump(campaign))
    other.close()
    # An export from before, with texts as they are, is read as it is.
    version = tmp_path / "csv" / "version.csv"
    stated = version.read_text().splitlines()
    version.write_text("\r\n".join(",".join(line.split(",")[:2]) for line in stated) + "\r\n")
    again = open_store(tmp_path / "again", durable=False)
    transfer.import_campaign(again, tmp_path / "csv")
    assert "'=ann" in {person.name for person in again.people(campaign)}
    again.close()


def test_marking_by_forms_alone(world) -> None:
    """Without any script: select, label, undo, conflicts, double clicks, finish."""
    ann, store = world["people"][Role.ANNOTATOR], world["store"]
    path = ann.post("/work/next").headers["location"]
    task = path.rsplit("/", 1)[1]
    assert ann.step(path, label="action", word="2").status_code == 303
    assert ann.step(path, label="agent", word=["0", "1"]).status_code == 303
    assert len(store.task(task).answer["frames"][0]["roles"]) == 1
    refused = ann.step(path, label="agent")
    assert refused.status_code == 422
    assert "Select one or more words" in refused.text
    ann.step(path, do="undo")
    assert store.task(task).answer["frames"][0]["roles"] == []
    refused = ann.step(path, do="done")
    assert "Nobody and nothing is marked around" in unescape(refused.text)
    before = ann.get(path).text
    fields = {
        n: re.search(rf'name="{n}" value="(\w+)"', before)[1] for n in ("csrf", "key", "revision")
    }
    for _ in range(3):
        ann.client.post(path, data={**fields, "label": "patient", "word": "4"})
    assert len(store.task(task).answer["frames"][0]["roles"]) == 1
    stale = {**fields, "key": "another-key-1", "label": "other", "word": "5"}
    late = ann.client.post(path, data=stale)
    assert late.status_code == 409
    assert "another window" in late.text
    part = ann.client.post(path, data=stale, headers={"X-Fragment": "1"})
    assert part.status_code == 409
    assert part.text.lstrip().startswith('<p class="message"')
    assert ann.step(path, do="nonsense:1").status_code == 422
    assert ann.step(path, do="remove:9").status_code == 422
    assert ann.step(path, do="remove:x").status_code == 422
    assert ann.step(path, label="agent", word="999").status_code == 422
    for key, revision in (
        ("x", "1"),
        ("0123456\0 9", "1"),
        ("0123456789", "²"),
        ("0123456789", ""),
    ):
        assert ann.step(path, key=key, revision=revision, do="undo").status_code == 400
    assert ann.get("/task/%00").status_code == 400
    done = ann.step(path, do="done")
    assert done.status_code == 303
    assert store.task(task).state == "done"
    assert "Done" in ann.get(path).text


def test_training_gives_feedback(small, truth, clock) -> None:
    settings = Settings()
    campaign = small.create_campaign(NewCampaign("t", settings, (truth["1"].new(),)))
    app = create_app(small, Config(secret=SECRET))
    ann = Person(app, small, small.add_person(campaign, "ann", Role.ANNOTATOR))
    path = ann.post("/work/next").headers["location"]
    assert "Training" in ann.get(path).text
    ann.step(path, label="action", word="3")
    ann.step(path, label="patient", word=["1", "2"])
    assert ann.step(path, do="done").headers["location"] == path
    page = unescape(ann.get(path).text)
    assert "✓ the same" in page
    assert "✗ <bdi>you called it patient</bdi>" in page
    assert "✗ <bdi>not marked with these words</bdi>" in page
    assert "2 of 6" not in page
    assert "1 of 6 as in the example: agreement 25 %" in page
    assert "70 % are needed" in page
    # The same sentence again, until it is right but for a word at either end of each part.
    second = ann.post("/work/next").headers["location"]
    assert second != path
    assert "baker" in ann.get(second).text
    assert ann.get(path).status_code == 200
    for label, words in (
        ("action", ["3"]),
        ("agent", ["2"]),
        ("experiencer", ["4", "5", "6"]),
        ("patient", ["8", "9"]),
        ("temporal", ["0"]),
    ):
        ann.step(second, label=label, word=words)
    ann.step(second, do="done")
    page = unescape(ann.get(second).text)
    assert "5 of 6 as in the example: agreement 91 %. That is enough to go on." in page
    assert "1 of 3 examples done" in unescape(ann.get("/work").text)
    third = ann.post("/work/next").headers["location"]
    assert "pilot" in ann.get(third).text


def test_judges_train_too(small, truth, clock) -> None:
    settings = Settings(repeat_every=0, judges=1)
    campaign = small.create_campaign(NewCampaign("t", settings, (truth["1"].new(),)))
    app = create_app(small, Config(secret=SECRET))
    judge = Person(app, small, small.add_person(campaign, "joe", Role.JUDGE))
    assert "0 of 2 examples done" in judge.get("/work").text
    path = judge.post("/work/next").headers["location"]
    page = unescape(judge.get(path).text)
    assert "Training: does the translation say the same?" in page
    assert "wrong tablets" in page
    assert "Still to decide" in judge.step(path, do="done").text
    judge.step(path, do="match:0", **{"match-0": "none"})
    judge.step(path, do="done")
    page = unescape(judge.get(path).text)
    assert "Try again" in page
    assert "<td><bdi>handed</bdi></td><td>✗ <bdi>none</bdi></td>" in page
    path = judge.post("/work/next").headers["location"]
    judge.step(path, do="match:0", **{"match-0": "0"})
    # Agent, patient and experiencer stand beside their like already; the time is missing.
    for role, verdict in ((0, "correct"), (1, "correct"), (2, "correct")):
        said = small.task(path.rsplit("/", 1)[1]).answer["matches"]["0"]["roles"][role]
        chosen = str(said["hypothesis"])
        judge.step(path, do=f"verdict:0:{role}:{verdict}", **{f"role-0-{role}": chosen})
    judge.step(path, do="role:0:3", **{"role-0-3": "none"})
    judge.step(path, do="undo")
    judge.step(path, do="role:0:3", **{"role-0-3": "none"})
    judge.step(path, do="done")
    page = unescape(judge.get(path).text)
    assert "4 of 5 as in the example: agreement 80 %" in page
    assert "<td><bdi>partial</bdi></td><td>✗ <bdi>correct</bdi></td>" in page
    second = judge.post("/work/next").headers["location"]
    assert "postman" in judge.get(second).text
    own = Person(app, small, small.add_person(campaign, "boss", Role.ADMINISTRATOR))
    page = unescape(own.get(f"/campaigns/{campaign}/people").text)
    assert "1 of 2 in 2 tries, first 0 %" in page
    # Where the administrator lets it be, nobody is kept from work.
    form = {"training": "off", "training_pass": "0.7"}
    assert own.post(f"/campaigns/{campaign}/settings", **form).status_code == 303
    assert judge.post("/work/next").headers["location"] == "/work?none=1"
    assert "begin with a short training" not in judge.get("/work").text


def test_examples_and_gold_frames_are_uploaded(world, tmp_path) -> None:
    owner, store = world["owner"], world["store"]
    example = '{"text": "Ada saw Bob.", "frames": [{"predicate": "saw", "roles": %s}]}'
    roles = '[{"label": "agent", "words": "Ada"}, {"label": "experiencer", "spans": [[2, 3]]}]'
    good = example % roles
    gold = (
        '{"segment": "1", "text": "Ada saw Bob .", "frames": [{"predicate": [1, 2], "roles": '
        '[{"label": "agent", "words": "Ada"}]}]}\n{"segment": 2, "text": "Rain .", "frames": []}'
    )
    files = [
        ("reference", ("r.txt", "Ada saw Bob .\nRain .\n")),
        ("hypotheses", ("a.txt", "Ada looked .\nIt rained .\n")),
        ("examples", ("examples.jsonl", good)),
    ]
    answer = owner.post("/campaigns", files=files, name="x", key="file")
    assert "Give the file of the reference’s frames." in unescape(answer.text)
    files.append(("gold", ("gold.jsonl", gold)))
    assert "choose that you mark them" in unescape(
        owner.post("/campaigns", files=files, name="x").text
    )
    for text, message in [
        ("nonsense", "gold.jsonl:1: not JSON"),
        (gold.replace('"agent"', '"deed"'), "has no label 'deed'"),
        (gold.replace("Rain .", "Snow ."), "give frames of these references"),
        (gold.replace('"segment": 2', '"segment": 7'), "speaks of segment 7"),
        (gold.splitlines()[0], "has none for the reference of segment 2"),
        (gold.replace('"words": "Ada"', '"words": "Eve"'), "'Eve' is not in 'Ada saw Bob .'"),
        (gold + "\n" + gold.replace("[1, 2]", "[0, 1]"), "stands above with other frames"),
        ("\n", "holds no frames"),
    ]:
        wrong = [*files[:-1], ("gold", ("gold.jsonl", text))]
        answer = owner.post("/campaigns", files=wrong, name="x", key="file")
        assert answer.status_code == 400
        assert message in unescape(answer.text)
    answer = owner.post("/campaigns", files=files, name="x", key="file")
    assert answer.status_code == 303, answer.text
    campaign = answer.headers["location"].rsplit("/", 1)[1]
    assert store.progress(campaign)[Kind.MARK].done == 2
    keys = [store.key_answer(one.id)["frames"] for one in store.everything(campaign).segments]
    assert keys[0][0]["predicate"] == [1, 2]
    assert keys[1] == []
    ann = Person(world["app"], store, store.add_person(campaign, "ann", Role.ANNOTATOR))
    path = ann.post("/work/next").headers["location"]
    assert "0 of 1 example done" in ann.get("/work").text
    assert "Ada saw Bob." in store.example(store.task(path.rsplit("/", 1)[1]))["text"]

    where = f"/campaigns/{campaign}/examples"
    for text, message in [
        ("", "holds no example"),
        ("[1]", "e.jsonl:1: no object"),
        (example % '[{"label": "agent", "words": "Eve"}]', "'Eve' is not in"),
        (example % '[{"label": "deed", "words": "Ada"}]', "has no label 'deed'"),
        (example % '[{"label": "agent", "spans": [[0, 9]]}]', "is no span of 4 words"),
        (example % '[{"label": "agent"}]', "give its words, or spans"),
        ('{"text": "Ada", "frames": 1}', "frames is missing or no list"),
        ('{"text": "a b a", "frames": [{"predicate": "a"}]}', "stands 2 times"),
        ('{"text": "Ada .", "tokens": ["Ada."], "frames": []}', "not the words people select"),
        ('{"frames": []}', "text is missing"),
        ('{"readings": [], "hypothesis": {"text": "a"}, "reference": {"text": "b"}}', "frames is"),
        ("\n".join([good] * 51), "50 at most"),
    ]:
        answer = owner.post(where, files=[("examples", ("e.jsonl", text))])
        assert answer.status_code == 400, text
        assert message in unescape(answer.text)
    assert "Choose a file" in owner.post(where).text
    # A judge's example: a line of a file of judgements with one reading and one judgement.
    line = json.dumps(training.shipped_content("dog"))
    assert owner.post(where, files=[("examples", ("e.jsonl", line))]).status_code == 303
    page = unescape(owner.get(f"/campaigns/{campaign}/settings").text)
    assert "To mark: 3 of the package. To judge: 1 of your own." in page
    # Ann's sentence is given out no more; what she began with stays readable.
    assert ann.get(path).status_code == 200
    assert "baker" in ann.get(ann.post("/work/next").headers["location"]).text
    text = transfer.render_jsonl(store, campaign)
    (tmp_path / "x.jsonl").write_text(text)
    other = open_store(tmp_path / "other", durable=False)
    transfer.import_campaign(other, tmp_path / "x.jsonl")
    assert other.examples(campaign) == {Kind.JUDGE: 1}
    other.close()
    assert owner.post(where, reset="yes").status_code == 303
    assert store.examples(campaign) == {}
    assert store.log(campaign)[0].action == "set training examples"


def test_labels_stay_where_frames_were_made_with_them(world) -> None:
    owner, store = world["owner"], world["store"]
    one = f"/campaigns/{world['one']}"
    good = '{"text": "Ada saw Bob.", "frames": []}'
    assert owner.post(f"{one}/examples", files=[("examples", ("e", good))]).status_code == 303
    labels = {"label-0-name": "deed", "label-1-name": "doer"}
    answer = owner.post(f"{one}/settings", **labels)
    assert "train with examples of your own" in unescape(answer.text)
    owner.post(f"{one}/examples", reset="yes")
    assert owner.post(f"{one}/settings", **labels).status_code == 303
    assert store.campaign(world["one"]).settings.predicate == "deed"


def test_judging_ranking_and_rating_by_forms_alone(small, truth, clock) -> None:
    import random

    settings = Settings(training=Training.OFF, repeat_every=0, judges=1, raters=1, control=False)
    campaign = small.create_campaign(NewCampaign("t", settings, (truth["3"].new(),)))
    readers = [small.add_person(campaign, f"r{n}", Role.ANNOTATOR) for n in range(7)]
    Simulation(small, truth, settings, random.Random(1), clock, 0.0).work(readers)
    app = create_app(small, Config(secret=SECRET))
    people = {
        role: Person(app, small, small.add_person(campaign, str(role), role))
        for role in (Role.JUDGE, Role.RANKER, Role.RATER)
    }
    judge = people[Role.JUDGE]
    path = judge.post("/work/next").headers["location"]
    task = path.rsplit("/", 1)[1]
    assert "Still to decide" in judge.step(path, do="done").text
    judge.step(path, do="match:0", **{"match-0": "0"})
    said = [str(r["hypothesis"]) for r in small.task(task).answer["matches"]["0"]["roles"]]
    assert sorted(said) == ["0", "1", "2"]
    judge.step(path, do="verdict:0:0:correct", **{"role-0-0": said[0]})
    judge.step(path, do="verdict:0:1:partial", **{"role-0-1": said[1]})
    refused = judge.step(path, do="verdict:0:2:correct", **{"role-0-2": "none"})
    assert "what is missing is incorrect" in unescape(refused.text)
    judge.step(path, do="role:0:2", **{"role-0-2": "none"})
    page = judge.get(path).text
    assert "All decided" in page
    assert "extra in the translation" in page
    assert judge.step(path, do="done").status_code == 303
    ranker = people[Role.RANKER]
    path = ranker.post("/work/next").headers["location"]
    assert "tick the box" in ranker.step(path, do="done").text
    before = small.task(path.rsplit("/", 1)[1]).answer["order"]
    ranker.step(path, do="place:2:0")
    ranker.step(path, do="tie:1")
    answer = small.task(path.rsplit("/", 1)[1]).answer
    assert answer["order"] == [before[2], before[0], before[1]]
    assert answer["tied"] == [False, True, False]
    assert ranker.step(path, do="up:0").status_code == 422
    assert ranker.step(path, do="done").headers["location"] == "/work?none=1"
    assert "Thank you" in ranker.get("/work?none=1").text
    rater = people[Role.RATER]
    path = rater.post("/work/next").headers["location"]
    assert "from 1 to 5" in rater.step(path, do="done").text
    assert rater.step(path, do="rate", rating="9").status_code == 422
    assert rater.step(path, do="rate", rating="4").status_code == 303
    following = rater.step(path, do="done", rating="5").headers["location"]
    assert following != path
    assert small.task(path.rsplit("/", 1)[1]).answer == {"rating": 5}
