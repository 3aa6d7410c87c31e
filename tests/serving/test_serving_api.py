"""The JSON API of `meantime serve`: what it says, what it refuses, and how it ends."""

from __future__ import annotations

import gzip
import json
import re
import threading
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from meantime import registry
from meantime.cli.app import run
from meantime.errors import InputError, UsageError
from meantime.scoring import score
from meantime.serving import Limits
from meantime.serving.comparing import Task, Upload, read_uploads, unpack
from meantime.serving.limits import Busy, Cancelled, Deadline, TooSlow
from meantime.serving.trying import Texts, metric_names, open_metric, try_texts
from meantime.types import Corpus, Segment, Sentence
from tests.serving.conftest import make_app
from tests.worded import Worded

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = "The mayor did not sign the contract."
TRANSLATION = "The mayor did sign the contract."
QUICK = ["bleu", "ter"]


def example(name: str) -> bytes:
    return (ROOT / "examples" / f"{name}.txt").read_bytes()


def ask(client, **changes):
    body = {"references": [REFERENCE], "translations": [{"text": TRANSLATION}], **changes}
    return client.post("/api/score", json=body)


def wait(client, name: str) -> dict:
    for _ in range(3000):
        found = client.get(f"/api/comparisons/{name}").json()
        if found["state"] not in ("waiting", "running"):
            return found
        time.sleep(0.05)
    raise AssertionError(found)


def send(client, systems, references=("reference",), data=None, **more):
    files = [("systems", (f"{name}.txt", example(name))) for name in systems]
    files += [("references", (f"{name}.txt", example(name))) for name in references]
    return client.post("/api/comparisons", files=files, data=data or {"metrics": QUICK}, **more)


def test_all_metrics_say_what_the_library_says(client) -> None:
    answer = ask(client).json()
    told = {one["metric"]: one for one in answer["metrics"]}
    assert set(told) == set(metric_names()) >= {"meant", "bleu", "imeant"}
    assert "hmeant" not in told
    corpus = Corpus((Segment("1", (Sentence(REFERENCE),)),), {"a": (Sentence(TRANSLATION),)})
    usable = [name for name, one in told.items() if one["problem"] is None]
    assert len(usable) >= len(told) - 1
    for result in score(corpus, usable, segments=True):
        one = told[result.metric]
        assert one["scores"] == [pytest.approx(result.segments[0])]
        assert one["signature"] == str(result.signature)
        assert one["higher_is_better"] == result.higher_is_better


def test_explanations_come_with_scores(client) -> None:
    answer = ask(client, metrics=["meant", "bleu", "ter"]).json()
    figures = {one["metric"]: one["figures"][0] for one in answer["metrics"]}
    assert figures["bleu"] is None
    assert figures["meant"]["l"][0][1] == "missing: negation 'not'"
    assert figures["ter"]["p"]
    bare = ask(client, metrics=["meant"], explain=False).json()
    assert bare["metrics"][0]["figures"] == [None]


def test_what_cannot_be_scored_says_why_and_the_rest_is_scored(client) -> None:
    answer = ask(client, metrics=["meant", "bleu", "hmeant"], lang="de").json()
    told = {one["metric"]: one for one in answer["metrics"]}
    assert "de" in told["meant"]["problem"]
    assert "judged" in told["hmeant"]["problem"]
    assert told["bleu"]["problem"] is None
    unknown = ask(client, metrics=["blue"]).json()["metrics"][0]
    assert "bleu" in unknown["problem"]
    assert unknown["scores"] == [None]


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"references": []}, 422, "references"),
        ({"references": ["x"] * 5}, 400, "5 references"),
        ({"translations": [{"text": "x"}] * 9}, 400, "9 translations"),
        ({"references": ["x" * 1501]}, 400, "1501 characters"),
        ({"translations": [{"text": "x " * 300}]}, 400, "300 words"),
        ({"translations": [{"text": 7}]}, 422, "translations.0.text"),
        ({"translations": [{"text": "a", "surprise": 1}]}, 422, "surprise"),
        ({"lang": "english!"}, 422, "lang"),
        ({"surprise": True}, 422, "surprise"),
    ],
)
def test_refusals_name_the_thing(client, changes: dict, status: int, words: str) -> None:
    answer = ask(client, **changes)
    assert answer.status_code == status
    assert words in answer.json()["problem"]


@pytest.mark.parametrize(
    "name", ["x" * 500, "x\0y", "bleu:" + "x" * 400, "umeant:weights=" + "x" * 400]
)
def test_no_name_of_a_metric_is_too_odd_to_refuse(client, name: str) -> None:
    answer = ask(client, metrics=[name])
    assert answer.status_code == 200
    assert answer.json()["metrics"][0]["problem"]
    body = {"references": [REFERENCE], "translation": TRANSLATION, "metric": name}
    assert client.post("/api/draw", json=body).status_code == 400


def test_what_words_are_worth_comes_with_scores(client, monkeypatch) -> None:
    """As the trained metric explains itself."""
    monkeypatch.setattr("meantime.serving.trying.open_metric", lambda name, lang: Worded())
    [found] = ask(client, metrics=["worded"]).json()["metrics"]
    assert found["figures"][0]["w"][0] == [2, 3, 0, 62, 62]
    assert found["figures"][0]["f"]
    drawn = client.post(
        "/api/draw",
        json={"references": [REFERENCE], "translation": TRANSLATION, "metric": "worded"},
    )
    assert "Words that cost most" in drawn.text


def test_no_file_of_the_machine_is_read(client) -> None:
    for name in ("umeant:weights=/etc/passwd", "umeant:weights=pyproject.toml", "meteor:wordnet=~"):
        problem = ask(client, metrics=[name]).json()["metrics"][0]["problem"]
        assert "files cannot be named here" in problem
    with pytest.raises(UsageError):
        open_metric("umeant:weights=..\\x", "en")


def test_drawings_are_svg(client) -> None:
    body = {"references": [REFERENCE], "translation": "<b>&", "metric": "ter", "width": 400}
    answer = client.post("/api/draw", json=body)
    assert answer.headers["content-type"] == "image/svg+xml"
    assert ElementTree.fromstring(answer.text).get("width") == "400"
    refused = client.post("/api/draw", json={**body, "metric": "bleu"})
    assert refused.status_code == 400
    assert "cannot explain" in refused.json()["problem"]


def test_metrics_and_limits_are_told(client) -> None:
    listed = {one["name"]: one for one in client.get("/api/metrics").json()}
    assert next(iter(listed)) in ("meantime", "meant")
    assert listed["ter"]["explains"]
    assert not listed["bleu"]["explains"]
    assert listed["ter"]["higher_is_better"] is False
    assert set(listed) <= set(registry.names())
    assert client.get("/api/limits").json()["segments"] == 50


def test_a_comparison_from_files_to_report(client) -> None:
    answer = send(client, ["faithful", "fluent"], data={"metrics": ["ter"], "title": "<Two>"})
    assert answer.status_code == 202
    found = wait(client, answer.json()["id"])
    assert found["state"] == "done", found
    page = client.get(found["report"])
    assert "<title>&lt;Two&gt;</title>" in page.text
    assert "sandbox" in page.headers["content-security-policy"]
    assert "content-disposition" not in page.headers
    kept = client.get(found["report"], params={"download": "true"})
    assert kept.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert kept.text == page.text
    numbers = client.get(found["result"]).json()
    assert numbers["systems"] == ["faithful", "fluent"]
    assert numbers["metrics"][0]["specification"] == "ter"
    assert client.delete(f"/api/comparisons/{found['id']}").status_code == 204
    assert client.get(found["report"]).status_code == 404
    assert client.delete(f"/api/comparisons/{found['id']}").status_code == 404


def test_the_default_comparison_explains_meaning(client) -> None:
    found = wait(client, send(client, ["faithful", "fluent"], data={"lang": "en"}).json()["id"])
    assert found["state"] == "done", found
    numbers = client.get(found["result"]).json()
    assert [one["metric"] for one in numbers["metrics"]] == ["meant", "bleu", "chrf", "ter"]
    assert numbers["roles"] is not None


def test_comparisons_refuse_clearly(client) -> None:
    assert "one system" in send(client, ["fluent"]).json()["problem"]
    assert send(client, []).status_code == 422
    unknown = send(client, ["fluent", "faithful"], data={"metrics": ["blue"]})
    assert unknown.status_code == 400
    assert "bleu" in unknown.json()["problem"]
    files = [("systems", ("a.txt", b"x\ny\n")), ("systems", ("../../b.txt", b"x\n"))]
    files.append(("references", ("r.txt", b"x\ny\n")))
    failed = wait(client, client.post("/api/comparisons", files=files).json()["id"])
    assert failed["state"] == "failed"
    assert "tmp" not in failed["problem"]
    assert re.search(r"\bb\b", failed["problem"])
    assert client.get(f"/api/comparisons/{failed['id']}/report.html").status_code == 409
    many = [("systems", (f"{n}.txt", b"x\n" * 60)) for n in range(2)]
    many.append(("references", ("r.txt", b"x\n" * 60)))
    failed = wait(client, client.post("/api/comparisons", files=many).json()["id"])
    assert "60 segments" in failed["problem"]
    assert client.get("/api/comparisons/none").status_code == 404


def test_too_much_is_not_read(client) -> None:
    files = [("systems", ("a.txt", b"x" * 2_000_000)), ("references", ("r.txt", b"x\n"))]
    answer = client.post("/api/comparisons", files=files)
    assert answer.status_code == 413
    assert "too large" in answer.json()["problem"]


def test_packed_files_are_opened_no_further_than_the_limit() -> None:
    bomb = gzip.compress(b"0" * 10_000_000)
    assert len(bomb) < 20_000
    with pytest.raises(InputError, match="too large"):
        unpack(Upload("a.txt.gz", bomb), 100_000)
    with pytest.raises(InputError, match="gzip"):
        unpack(Upload("a.txt.gz", gzip.compress(b"some text" * 9)[:-12]), 1000)
    assert unpack(Upload("a.txt.gz", gzip.compress(b"x\n")), 10) == Upload("a.txt", b"x\n")


def test_names_of_files_are_names_and_nothing_else() -> None:
    names = ["../../etc/passwd", "..", "C:\\x\\two.txt", "n" * 300 + ".txt"]
    systems = tuple(Upload(name, b"x\n") for name in names)
    task = Task(systems, (Upload("/tmp/ref.txt", b"x\n"),), None, ("wer",), "en", None)
    corpus = read_uploads(task, Limits())
    assert len(corpus.outputs) == len(names)
    assert not any(mark in name for name in corpus.outputs for mark in "/\\")


def test_time_is_limited() -> None:
    deadline = Deadline(0.0)
    time.sleep(0.01)
    texts = Texts((REFERENCE,), (TRANSLATION,))
    with pytest.raises(TooSlow, match="--time-limit"):
        try_texts(texts, ["wer"], analyser=lambda: None, deadline=deadline)
    called_off = Deadline(10.0)
    called_off.cancelled.set()
    with pytest.raises(Cancelled):
        called_off(1, 2)


def test_slow_and_busy_are_told_apart_from_wrong() -> None:
    from starlette.testclient import TestClient

    with TestClient(make_app(Limits(seconds=1e-9))) as client:
        answer = ask(client, metrics=["wer"])
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "5"


def test_only_so_many_wait_and_any_can_be_called_off(monkeypatch) -> None:
    from meantime.serving import comparing

    go = threading.Event()
    monkeypatch.setattr(comparing.Comparisons, "_compare", lambda self, job, task: go.wait(30))
    jobs = comparing.Comparisons(Limits(waiting=1, kept=1), lambda progress: None)
    first = jobs.start(None)
    while first.state is comparing.State.WAITING:
        time.sleep(0.01)
    second = jobs.start(None)
    with pytest.raises(Busy):
        jobs.start(None)
    assert jobs.forget(second.id)
    third = jobs.start(None)
    go.set()
    while third.state is not comparing.State.DONE:
        time.sleep(0.01)
    jobs.close()
    assert second.state is comparing.State.FAILED
    assert "called off" in second.problem
    assert first.state is comparing.State.DONE
    assert jobs.find(second.id) is None


def test_other_sites_and_names_are_refused(client) -> None:
    assert client.get("/api/limits", headers={"host": "evil.example"}).status_code == 400
    body = {"references": ["x"], "translations": [{"text": "x"}]}
    for headers in ({"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert client.post("/api/score", json=body, headers=headers).status_code == 403
    page = client.get("/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"


def test_pages_ask_nothing_of_other_machines(client) -> None:
    for path in ("/", "/look.css", "/drawing.js", "/static/page.js", "/static/page.css"):
        text = client.get(path).text
        outside = set(re.findall(r"(?:https?:)?//[a-z][\w.-]+\.[a-z]+", text))
        assert outside <= {"http://www.w3.org"}, path


def test_the_description_names_every_answer(client) -> None:
    described = client.get("/openapi.json").json()
    assert json.dumps(described)
    page = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")
    for path, methods in described["paths"].items():
        for method, one in methods.items():
            assert f"`{method.upper()} {path}`" in page
            assert one["description"]
            assert "422" in one["responses"] or method == "get"


def test_the_command_refuses_clearly(capsys) -> None:
    import socket

    taken = socket.create_server(("127.0.0.1", 0))
    port = taken.getsockname()[1]
    assert run(["serve", "--port", str(port)]) == 2
    assert f"127.0.0.1:{port} cannot be bound" in capsys.readouterr().err
    taken.close()
    assert run(["serve", "--analyser", "nobody"]) != 0
    assert "nobody" in capsys.readouterr().err
