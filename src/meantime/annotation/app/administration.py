"""The pages of administrators: making a campaign, inviting people, watching, results, files."""

from __future__ import annotations

import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import Response

from meantime.annotation import judging, marks, training
from meantime.annotation.app.making import Administrator, Here, Own, Site, redirect
from meantime.annotation.app.working import show_frames
from meantime.annotation.campaign import (
    CONTROL,
    TASKS,
    Kind,
    Person,
    Role,
    Settings,
    State,
    VersionKind,
    find_problems,
    settings_as_json,
    settings_from_json,
)
from meantime.annotation.correlations import (
    SAID,
    Correlation,
    arrange,
    correlate,
    render_correlations,
)
from meantime.annotation.making import make_segments, needs_analyser
from meantime.annotation.results import Results, as_json, collect_judgements, compute
from meantime.annotation.store import Campaign, NewCampaign, NewSegment
from meantime.annotation.store.store import Link
from meantime.annotation.transfer import (
    render_csv,
    render_human_scores,
    render_jsonl,
    render_ratings,
    render_scores,
)
from meantime.errors import InputError, MeantimeError, UsageError
from meantime.formats import read
from meantime.formats.judgements import render_judgements
from meantime.formats.opening import decode, decompress_within
from meantime.types import Corpus
from meantime.web import refuse_files

router = APIRouter()
_LABEL_ROWS = 12
_AT_ONCE = 200
"""People who are invited at once."""
_METRICS = 8
"""Metrics that are computed at once."""


@router.get("/campaigns")
def campaigns(request: Request, here: Here, me: Administrator) -> Response:
    """Every campaign an administrator has."""
    found = [
        (one, here.store.progress(one.id))
        for one in here.store.campaigns()
        if me.campaign in (None, one.id)
    ]
    return here.page(request, "campaigns.html", me=me, campaigns=found, Kind=Kind)


@router.get("/campaigns/new")
def new(request: Request, here: Here, me: Administrator) -> Response:
    """The form for a new campaign."""
    if me.campaign is not None:
        raise HTTPException(403)
    return _new_page(request, here, me, settings_as_json(Settings()), {}, "")


def _new_page(
    request: Request,
    here: Site,
    me: Person,
    values: dict[str, Any],
    texts: dict[str, str],
    message: str,
) -> Response:
    return here.page(
        request,
        "new.html",
        400 if message else 200,
        me=me,
        settings=values,
        labels=_label_rows(values),
        texts=texts,
        message=message,
        analyser=here.config.analyser is not None,
    )


@router.post("/campaigns")
async def create(request: Request, here: Here, me: Administrator) -> Response:
    """Make a campaign from files."""
    if me.campaign is not None:
        raise HTTPException(403)
    form = await request.form()
    files = await _uploads(form)

    def make() -> Response:
        values, texts = settings_as_json(Settings()), _texts(form)
        try:
            values = _settings_values(form, values)
            settings = settings_from_json(values)
            given = _unpacked(here, files)
            corpus = _read(given, texts)
            segments = _segments(here, corpus, settings, given)
            examples = _examples(given, settings)
            made = NewCampaign(texts.get("name", ""), settings, segments, tuple(examples))
            campaign = here.store.create_campaign(made, by=me.id)
        except MeantimeError as error:
            return _new_page(request, here, me, values, texts, str(error))
        return redirect(f"/campaigns/{campaign}")

    return await run_in_threadpool(make)


def _texts(form: FormData) -> dict[str, str]:
    return {key: value for key, value in form.items() if isinstance(value, str)}


async def _uploads(form: FormData) -> dict[str, list[tuple[str, bytes]]]:
    found: dict[str, list[tuple[str, bytes]]] = {}
    for field, value in form.multi_items():
        if isinstance(value, UploadFile) and value.filename:
            found.setdefault(field, []).append((value.filename, await value.read()))
    return found


def _unpacked(
    here: Site, files: dict[str, list[tuple[str, bytes]]]
) -> dict[str, list[tuple[str, bytes]]]:
    """Files without gzip, together no larger than a request may be.

    Raises:
        InputError: They are.
    """
    left = here.config.most_bytes
    found: dict[str, list[tuple[str, bytes]]] = {}
    for field, given in files.items():
        for name, data in given:
            whole = decompress_within(name, data, left)
            left -= len(whole)
            found.setdefault(field, []).append((name, whole))
    return found


def _read(files: dict[str, list[tuple[str, bytes]]], texts: dict[str, str]) -> Corpus:
    """A corpus of uploaded files, named as they were but for what no name needs."""
    with tempfile.TemporaryDirectory() as name:

        def keep(field: str) -> list[Path]:
            paths = []
            for number, (filename, data) in enumerate(files.get(field, ())):
                safe = re.sub(r"[^\w.-]", "_", filename.replace("\\", "/").rsplit("/", 1)[-1])
                folder = Path(name) / f"{field}{number}"
                folder.mkdir()
                path = folder / (safe.lstrip(".") or "file")
                path.write_bytes(data)
                paths.append(path)
            return paths

        hypotheses, references = keep("hypotheses"), keep("reference")
        sources, whole = keep("source"), keep("everything")
        if not whole and not (hypotheses and references):
            raise InputError(
                "Give a reference and outputs of at least one system, or one file of everything."
            )
        try:
            return read(
                hypotheses,
                references=references,
                source=sources[0] if sources else None,
                input=whole[0] if whole else None,
                lang=texts.get("lang", "").strip() or "en",
                source_lang=texts.get("source_lang", "").strip() or None,
            )
        except (InputError, UsageError) as error:
            # Where the file lay while it was read is of no use to anybody.
            folder = re.escape(name) + r"/\w+/"
            raise InputError(re.sub(folder, "", str(error))) from error


def _segments(
    here: Site,
    corpus: Corpus,
    settings: Settings,
    files: dict[str, list[tuple[str, bytes]]],
) -> tuple[NewSegment, ...]:
    gold: dict[str, Any] = {}
    for name, data in files.get("gold", ()):
        gold |= training.read_gold(decode(name, data), name, settings)
    if bool(gold) != (settings.key == "file"):
        raise InputError(
            "Give the file of the reference’s frames."
            if not gold
            else "A file of the reference’s frames was given; choose that you mark them in a file."
        )
    analyser = None
    if needs_analyser(settings):
        if here.config.analyser is None:
            raise InputError("This server has no analyser; let people mark, without suggestions.")
        analyser = here.config.analyser()
    return make_segments(corpus, settings, analyser, gold)


def _settings_values(form: FormData, before: dict[str, Any]) -> dict[str, Any]:
    """Settings as a form states them; what it does not speak of stays.

    Raises:
        UsageError: A number is none.
    """
    texts = _texts(form)
    values = dict(before)
    for name, value in before.items():
        if name == "labels":
            continue
        if isinstance(value, bool):
            if f"has-{name}" in texts:
                values[name] = name in texts
            continue
        if name not in texts:
            continue
        text = texts[name].strip()
        try:
            values[name] = type(value)(text)
        except ValueError as error:
            raise UsageError(f"{name} is {text!r}; give a number") from error
    if "label-0-name" in texts:
        values["labels"] = [
            {
                "name": " ".join(texts[f"label-{n}-name"].split()),
                "asks": texts.get(f"label-{n}-asks", "").strip(),
                "help": texts.get(f"label-{n}-help", "").strip(),
                "core": f"label-{n}-core" in texts,
            }
            for n in range(_LABEL_ROWS)
            if texts.get(f"label-{n}-name", "").strip()
        ]
    return values


@router.get("/campaigns/{campaign}")
def overview(request: Request, here: Here, me: Administrator, own: Own) -> Response:
    """How far a campaign is, and what stands in its way."""
    people = here.store.people(own.id)
    by_person = here.store.progress_by_person(own.id)
    systems = here.store.systems(own.id)
    counts = {role: sum(p.role is role and p.active for p in people) for role in Role}
    problems, stuck = [], []
    if own.state is not State.CLOSED:
        problems = find_problems(own.settings, len(systems), counts)
        # Where there are too few people altogether, each segment need not say so again.
        stuck = [] if problems else here.store.find_stuck(own.id)
        problems += stuck[:5]
    return here.page(
        request,
        "overview.html",
        me=me,
        campaign=own,
        systems=systems,
        progress=here.store.progress(own.id),
        people=people,
        by_person=by_person,
        problems=problems,
        more=max(0, len(stuck) - 5),
        Kind=Kind,
        State=State,
        TASKS=TASKS,
    )


@router.post("/campaigns/{campaign}/state")
async def set_state(request: Request, here: Here, me: Administrator, own: Own) -> Response:
    """Open, pause or close."""
    form = await request.form()
    wanted = form.get("state")
    if wanted not in list(State):
        raise HTTPException(400, "There is no such state.")
    if wanted == State.CLOSED and not form.get("confirm"):
        raise InputError("Closing is for good. Tick the box beside it to confirm.")
    await run_in_threadpool(here.store.set_state, own.id, State(str(wanted)), by=me.id)
    return redirect(f"/campaigns/{own.id}")


@router.get("/campaigns/{campaign}/settings")
def settings(request: Request, here: Here, me: Administrator, own: Own) -> Response:
    """What can be changed."""
    return _settings_page(request, here, me, own, settings_as_json(own.settings), "")


def _label_rows(values: dict[str, Any]) -> list[dict[str, Any]]:
    """The labels of settings, and empty rows for more."""
    rows = [*values["labels"]]
    return rows + [{"name": "", "asks": "", "help": "", "core": False}] * (_LABEL_ROWS - len(rows))


def _or_settings(
    act: Callable[[], str], request: Request, here: Site, me: Person, own: Campaign
) -> Response:
    """Go where an act leads to, or show the settings with what is wrong."""
    try:
        return redirect(act())
    except MeantimeError as error:
        return _settings_page(request, here, me, own, settings_as_json(own.settings), str(error))


def _settings_page(
    request: Request, here: Site, me: Person, own: Campaign, values: dict[str, Any], message: str
) -> Response:
    return here.page(
        request,
        "settings.html",
        400 if message else 200,
        me=me,
        campaign=own,
        settings=values,
        labels=_label_rows(values),
        message=message,
        examples=here.store.examples(own.id),
        shipped={str(kind): len(training.shipped_names(kind)) for kind in training.TRAINED},
        Kind=Kind,
    )


@router.post("/campaigns/{campaign}/settings")
async def change_settings(request: Request, here: Here, me: Administrator, own: Own) -> Response:
    """Change settings; raised numbers get their tasks."""
    form = await request.form()

    def change() -> Response:
        values = settings_as_json(own.settings)
        try:
            values = _settings_values(form, values)
            here.store.change_settings(own.id, settings_from_json(values), by=me.id)
        except MeantimeError as error:
            return _settings_page(request, here, me, own, values, str(error))
        return redirect(f"/campaigns/{own.id}")

    return await run_in_threadpool(change)


@router.post("/campaigns/{campaign}/segments")
async def add_segments(request: Request, here: Here, me: Administrator, own: Own) -> Response:
    """Extend a campaign by segments from files."""
    form = await request.form()
    files = await _uploads(form)

    def add() -> str:
        given = _unpacked(here, files)
        segments = _segments(here, _read(given, _texts(form)), own.settings, given)
        here.store.add_segments(own.id, segments, by=me.id)
        return f"/campaigns/{own.id}"

    return await run_in_threadpool(_or_settings, add, request, here, me, own)


@router.post("/campaigns/{campaign}/examples")
async def set_examples(request: Request, here: Here, me: Administrator, own: Own) -> Response:
    """Train with examples from a file, or with those of the package again."""
    form = await request.form()
    files = await _uploads(form)

    def change() -> str:
        examples = [] if form.get("reset") else _examples(_unpacked(here, files), own.settings)
        if not examples and not form.get("reset"):
            raise InputError("Choose a file of examples first.")
        here.store.set_examples(own.id, examples, by=me.id)
        return f"/campaigns/{own.id}/settings"

    return await run_in_threadpool(_or_settings, change, request, here, me, own)


def _examples(
    files: dict[str, list[tuple[str, bytes]]], settings: Settings
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, data in files.get("examples", ()):
        found += training.read_examples(decode(name, data), name, settings)
    return found


@router.get("/campaigns/{campaign}/people")
def people(request: Request, here: Here, me: Administrator, own: Own) -> Response:
    """Who takes part, and their links."""
    return _people_page(request, here, me, own)


def _people_page(
    request: Request,
    here: Site,
    me: Person,
    own: Campaign,
    *,
    links: Sequence[tuple[Person, str]] = (),
    message: str = "",
) -> Response:
    latest: dict[str, Link] = {}
    for link in here.store.links(own.id):
        latest.setdefault(link.person, link)
    return here.page(
        request,
        "people.html",
        400 if message else 200,
        me=me,
        campaign=own,
        people=here.store.people(own.id),
        latest=latest,
        by_person=here.store.progress_by_person(own.id),
        trained={
            one.id: round
            for one in here.store.people(own.id)
            if (round := here.store.trained(one)).examples
        },
        links=[(person, f"{here.config.address}/enter/{secret}") for person, secret in links],
        message=message,
    )


@router.post("/campaigns/{campaign}/people")
async def invite(request: Request, here: Here, me: Administrator, own: Own) -> Response:
    """Add people, a name a line, and show their links: once, since only hashes are kept."""
    form = await request.form()
    texts = _texts(form)

    def add() -> Response:
        role, days = texts.get("role", ""), texts.get("days", "14")
        if role not in list(Role):
            raise HTTPException(400, "There is no such role.")
        if not re.fullmatch(r"[0-9]{1,3}", days) or not 1 <= int(days) <= 365:
            message = "Links may last 1 to 365 days."
            return _people_page(request, here, me, own, message=message)
        links: list[tuple[Person, str]] = []
        names = [name for name in texts.get("names", "").splitlines() if name.strip()]
        try:
            if not 0 < len(names) <= _AT_ONCE:
                raise InputError(f"{len(names)} names; give 1 to {_AT_ONCE} at a time.")
            for name in names:
                person = here.store.add_person(own.id, name, Role(role), by=me.id)
                secret = here.store.make_link(person.id, days=int(days), by=me.id)
                links.append((person, secret))
        except InputError as error:
            return _people_page(request, here, me, own, links=links, message=str(error))
        return _people_page(request, here, me, own, links=links)

    return await run_in_threadpool(add)


@router.post("/campaigns/{campaign}/people/{person}/link")
def renew(request: Request, here: Here, me: Administrator, own: Own, person: str) -> Response:
    """Make the old links useless and show a new one."""
    found = _member(here, own, person)
    here.store.revoke(person, by=me.id)
    secret = here.store.make_link(person, by=me.id)
    return _people_page(request, here, me, own, links=[(found, secret)])


@router.post("/campaigns/{campaign}/people/{person}/revoke")
def revoke(here: Here, me: Administrator, own: Own, person: str) -> Response:
    """Make somebody's links and sessions useless."""
    _member(here, own, person)
    here.store.revoke(person, by=me.id)
    return redirect(f"/campaigns/{own.id}/people")


@router.post("/campaigns/{campaign}/people/{person}/remove")
def remove(here: Here, me: Administrator, own: Own, person: str) -> Response:
    """Take somebody out; what they have in hand goes back to the pool."""
    _member(here, own, person)
    here.store.remove_person(person, by=me.id)
    return redirect(f"/campaigns/{own.id}/people")


def _member(here: Site, own: Campaign, person: str) -> Person:
    found = here.store.person(person)
    if found is None or found.campaign != own.id:
        raise HTTPException(404)
    return found


# Results


def _results(here: Site, own: Campaign) -> Results:
    """Results, computed anew when anything was saved or changed since."""
    data = here.store.everything(own.id)
    state = (own.settings, [(task.id, task.revision) for task in data.tasks])
    known = here.cache.get(own.id)
    if known is None or known[0] != state:
        known = (state, compute(data))
        here.cache[own.id] = known
    found: Results = known[1]
    return found


def _correlations(here: Site, own: Campaign, metrics: str) -> tuple[Correlation, ...]:
    """Of HMEANT and of up to eight metrics, named with spaces between."""
    named = metrics.split()
    if len(named) > _METRICS:
        raise UsageError(f"{len(named)} metrics; name up to {_METRICS}")
    for one in named:
        refuse_files(one)
    data = here.store.everything(own.id)
    return correlate(data, named, here.config.analyser, _results(here, own))


@router.get("/campaigns/{campaign}/results")
def results(
    request: Request, here: Here, me: Administrator, own: Own, metrics: str = ""
) -> Response:
    """Everything that came out so far."""
    found = _results(here, own)
    message = ""
    try:
        table = _correlations(here, own, metrics)
    except MeantimeError as error:
        message = str(error)
        metrics = ""
        table = _correlations(here, own, metrics)
    return here.page(
        request,
        "results.html",
        me=me,
        campaign=own,
        results=found,
        systems=sorted({one.system for one in found.segments}),
        by_segment=_by_segment(found),
        correlations=arrange(table),
        metrics=metrics,
        message=message,
        CONTROL=CONTROL,
    )


def _by_segment(found: Results) -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = {}
    for one in found.segments:
        table.setdefault(one.segment, {})[one.system] = one
    return table


@router.get("/campaigns/{campaign}/segments/{name:path}")
def segment(request: Request, here: Here, me: Administrator, own: Own, name: str) -> Response:
    """All that people said of a segment: readings, and judges' decisions on them."""
    data = here.store.everything(own.id)
    found = next((one for one in data.segments if one.name == name), None)
    if found is None:
        raise HTTPException(404)
    versions = []
    for version in here.store.versions(found.id):
        readings = []
        for task in data.tasks:
            if task.kind is not Kind.MARK or task.target != version.id:
                continue
            judgements = [
                (_name(data.people, one.person), judging.as_judgement(one.answer, ""))
                for one in data.tasks
                if one.kind is Kind.JUDGE and one.target == task.id and one.repeat_of is None
            ]
            readings.append(
                {
                    "annotator": _name(data.people, task.person),
                    "repeat": task.repeat_of is not None,
                    "prefilled": task.prefilled,
                    "frames": show_frames(marks.as_frames(task.answer), version.sentence),
                    "judgements": judgements,
                }
            )
        versions.append((version, readings))
    order = {VersionKind.KEY: 0, VersionKind.CONTROL: 1, VersionKind.SYSTEM: 2}
    versions.sort(key=lambda pair: (order[pair[0].kind], pair[0].system))
    scores = [one for one in _results(here, own).segments if one.segment == name]
    return here.page(
        request,
        "segment.html",
        me=me,
        campaign=own,
        segment=found,
        versions=versions,
        scores={one.system: one for one in scores},
        VersionKind=VersionKind,
    )


def _name(people: Any, person: str | None) -> str:
    return people[person].name if person in people else "analyser"


@router.get("/campaigns/{campaign}/log")
def log(request: Request, here: Here, me: Administrator, own: Own) -> Response:
    """The latest changes, newest first."""
    names = {one.id: one.name for one in [*here.store.people(own.id), *here.store.people(None)]}
    return here.page(
        request, "log.html", me=me, campaign=own, entries=here.store.log(own.id), names=names
    )


def _human_scores(which: str, here: Site, own: Campaign) -> bytes:
    data = here.store.everything(own.id)
    return render_human_scores(data, _results(here, own), which).encode()


_EXPORTS: dict[str, tuple[str, Callable[[Site, Campaign], bytes]]] = {
    "judgements.jsonl": (
        "application/jsonl",
        lambda here, own: render_judgements(
            collect_judgements(here.store.everything(own.id))
        ).encode(),
    ),
    "scores.csv": ("text/csv", lambda here, own: render_scores(_results(here, own)).encode()),
    **{
        f"human-{which}.tsv": ("text/tab-separated-values", partial(_human_scores, which))
        for which in SAID
    },
    "ratings.tsv": (
        "text/tab-separated-values",
        lambda here, own: render_ratings(here.store.everything(own.id)).encode(),
    ),
    "campaign.jsonl": (
        "application/jsonl",
        lambda here, own: render_jsonl(here.store, own.id).encode(),
    ),
    "campaign.zip": (
        "application/zip",
        lambda here, own: _zip(render_csv(here.store, own.id)),
    ),
}


def _whole(here: Site, own: Campaign, metrics: str) -> bytes:
    made = as_json(_results(here, own), _correlations(here, own, metrics))
    return json.dumps(made, ensure_ascii=False, indent=1).encode()


# What is computed for the metrics that are asked for.
_METRIC_EXPORTS: dict[str, tuple[str, Callable[[Site, Campaign, str], bytes]]] = {
    "results.json": ("application/json", _whole),
    "correlations.csv": (
        "text/csv",
        lambda here, own, metrics: render_correlations(_correlations(here, own, metrics)).encode(),
    ),
}


def _zip(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


@router.get("/campaigns/{campaign}/export/{name}")
def export(here: Here, me: Administrator, own: Own, name: str, metrics: str = "") -> Response:
    """A file to keep or to score with."""
    if name in _METRIC_EXPORTS:
        kind, compute_for = _METRIC_EXPORTS[name]
        content = compute_for(here, own, metrics)
    elif name in _EXPORTS:
        kind, make = _EXPORTS[name]
        content = make(here, own)
    else:
        raise HTTPException(404)
    stem = re.sub(r"[^A-Za-z0-9-]+", "-", own.name).strip("-")[:60] or "campaign"
    headers = {"Content-Disposition": f'attachment; filename="{stem}-{name}"'}
    return Response(content, media_type=kind, headers=headers)
