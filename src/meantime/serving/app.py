"""The page and its API: the only module here that speaks HTTP."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import FastAPI, File, Form, Path, Query, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.routing import Match, Route
from starlette.staticfiles import StaticFiles

from meantime import __version__, registry
from meantime.errors import InputError, MeantimeError, UsageError
from meantime.protocols import Analyser, Explainer, Metric
from meantime.report.html import look, script_of_drawing
from meantime.report.svg import draw_svg
from meantime.serving.comparing import (
    Comparisons,
    Job,
    OpenAnalyser,
    State,
    Task,
    Upload,
    metrics_of,
)
from meantime.serving.limits import Busy, Deadline, Limits, TooSlow
from meantime.serving.trying import Texts, Told, check_texts, metric_names, try_texts
from meantime.types import primary
from meantime.web import POLICY, Guard

WARMING = 120.0
OVERHEAD = 1_000_000
"""Bytes a request may have besides its files."""
_REPORT = (
    # A report has a script of its own; here it gets no part in this server.
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

Identity = Annotated[
    str, Path(max_length=40, description="As it was given when the comparison was started.")
]
Text = Annotated[str, Field(max_length=20_000)]
Name = Annotated[str, Field(min_length=1, max_length=500)]
Language = Annotated[
    str, Field(pattern=r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8}){0,3}$", examples=["en"])
]


class Strict(BaseModel):
    """A request: nothing in it that is not known."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Translation(Strict):
    """A text to score."""

    text: Text
    name: Annotated[str, Field(max_length=100)] | None = None


class ScoreRequest(Strict):
    """A reference (or several) and translations."""

    references: Annotated[list[Text], Field(min_length=1, max_length=20)]
    translations: Annotated[list[Translation], Field(min_length=1, max_length=50)]
    source: Text | None = None
    metrics: Annotated[list[Name], Field(min_length=1, max_length=100)] | None = Field(
        default=None, description="Names, with options or without; by default all there are."
    )
    lang: Language = "en"
    explain: bool = True


class MetricScores(BaseModel):
    """What one metric says, or why it says nothing."""

    metric: str
    specification: str
    higher_is_better: bool
    decimals: int
    signature: str | None
    scores: list[float | None] = Field(description="One a translation, in order.")
    figures: list[dict[str, Any] | None] = Field(
        description="What a drawing of each explanation needs; see docs/report.md."
    )
    problem: str | None


class ScoreResponse(BaseModel):
    """Scores of all translations by all metrics."""

    meantime: str
    names: list[str]
    metrics: list[MetricScores]
    seconds: float


class DrawRequest(Strict):
    """One translation whose explanation is to be drawn."""

    references: Annotated[list[Text], Field(min_length=1, max_length=20)]
    translation: Text
    source: Text | None = None
    metric: Name = "meant"
    lang: Language = "en"
    width: Annotated[int, Field(ge=320, le=2000)] = 720


class MetricInfo(BaseModel):
    """A metric one can ask for."""

    name: str
    summary: str
    higher_is_better: bool
    explains: bool
    needs: list[str]
    problem: str | None = Field(description="Why it cannot be used here, if so.")


class LimitsInfo(BaseModel):
    """What one request may ask for."""

    characters: int
    words: int
    translations: int
    references: int
    metrics: int
    seconds: float
    systems: int
    segments: int
    bytes: int
    comparison_seconds: float
    explanations: int
    waiting: int
    kept: int


class JobInfo(BaseModel):
    """A comparison and how far it is."""

    id: str
    state: State
    stage: str
    done: int
    total: int
    problem: str | None
    report: str | None = Field(description="Where the report is, once it is done.")
    result: str | None = Field(description="Where the numbers are, as JSON, once it is done.")


class Problem(BaseModel):
    """Why something was not done."""

    problem: str


@dataclass(slots=True)
class Bench:
    """Where texts are tried: one request at a time, under its deadline."""

    open_analyser: Callable[[Callable[[int, int], None]], Analyser]
    lock: threading.Lock = field(default_factory=threading.Lock)
    analyser: Analyser | None = None
    deadline: Deadline | None = None

    def ask(self) -> Analyser:
        """The analyser, opened once."""
        if self.analyser is None:
            self.analyser = self.open_analyser(self._told)
        return self.analyser

    def _told(self, done: int, total: int) -> None:
        if self.deadline is not None:
            self.deadline(done, total)

    @contextmanager
    def turn(self, seconds: float) -> Iterator[Deadline]:
        """A request's turn; it waits no longer than it may take."""
        if not self.lock.acquire(timeout=seconds):
            raise Busy("others are being worked for; try again in a moment")
        try:
            self.deadline = Deadline(seconds)
            yield self.deadline
        finally:
            self.deadline = None
            self.lock.release()


def create_app(
    *,
    try_analyser: OpenAnalyser,
    file_analyser: OpenAnalyser,
    hosts: frozenset[str] = frozenset({"localhost", "127.0.0.1", "::1"}),
    limits: Limits | None = None,
    warm: bool = False,
) -> FastAPI:
    """The application.

    Args:
        try_analyser: Opens the analyser of typed texts; it is given the progress to report to.
        file_analyser: Opens that of uploaded files.
        hosts: Names the server answers to.
        limits: What one request may ask for.
        warm: Whether to open models and compile kernels before anybody asks.
    """
    limits = limits or Limits()
    bench = Bench(try_analyser)
    comparisons = Comparisons(limits, file_analyser)

    @asynccontextmanager
    async def life(_app: FastAPI) -> AsyncIterator[None]:
        if warm:
            threading.Thread(target=_warm, args=(bench,), daemon=True).start()
        yield
        comparisons.close()

    app = FastAPI(
        title="meantime",
        version=__version__,
        summary="Tell how good a translation is by what it means.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        lifespan=life,
    )
    _add_errors(app)
    _add_pages(app)
    _add_trying(app, limits, bench)
    _add_comparing(app, limits, comparisons)
    app.add_middleware(
        Guard,
        hosts=hosts,
        most_bytes=limits.bytes + OVERHEAD,
        policy=POLICY.replace("img-src 'self'", "img-src 'self' blob:"),
        say=lambda text, status: JSONResponse({"problem": text}, status),
    )
    return app


def _warm(bench: Bench) -> None:
    """Whoever types first should not wait for what can be done before."""
    with suppress(MeantimeError), bench.turn(WARMING) as deadline:
        texts = Texts(("He walked the dog.",), ("He took the dog for a walk.",))
        try_texts(texts, metric_names(), analyser=bench.ask, deadline=deadline)


def _problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    return {code: {"model": Problem, "description": _MEANINGS[code]} for code in codes}


_MEANINGS = {
    400: "What was sent cannot be used; the problem says why.",
    404: "It is not there, or not any more.",
    409: "It is not done yet, or failed.",
    413: "Too much was sent.",
    422: "The request is not of this form.",
    503: "Too slow or too busy; see the limits.",
}


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(HTTPException)
    async def refuse(request: Request, error: HTTPException) -> Response:
        headers = dict(error.headers or {})
        if error.status_code == 405:
            # Starlette names the methods of the first route alone that has this path.
            headers["Allow"] = ", ".join(sorted(_methods(app, request)))
        return JSONResponse({"problem": str(error.detail)}, error.status_code, headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return JSONResponse({"problem": f"{where or 'the request'}: {first['msg']}"}, 422)

    @app.exception_handler(MeantimeError)
    async def fail(_request: Request, error: MeantimeError) -> Response:
        slow = isinstance(error, (Busy, TooSlow))
        return JSONResponse(
            {"problem": str(error)}, 503 if slow else 400, {"Retry-After": "5"} if slow else None
        )


def _methods(app: FastAPI, request: Request) -> set[str]:
    """What may be asked of a path."""
    return {
        method
        for route in app.routes
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE
        for method in route.methods or ()
    }


def _add_pages(app: FastAPI) -> None:
    static = files("meantime.serving").joinpath("static")

    @app.get("/", include_in_schema=False)
    def page() -> Response:
        return HTMLResponse(static.joinpath("page.html").read_text(encoding="utf-8"))

    @app.get("/look.css", include_in_schema=False)
    def style() -> Response:
        return Response(look(), media_type="text/css")

    @app.get("/drawing.js", include_in_schema=False)
    def drawing() -> Response:
        return Response(f"const DRAW = {script_of_drawing()};\n", media_type="text/javascript")

    app.mount("/static", StaticFiles(packages=[("meantime.serving", "static")]), name="static")


def _add_trying(app: FastAPI, limits: Limits, bench: Bench) -> None:
    @app.get("/api/limits", tags=["texts"])
    def tell_limits() -> LimitsInfo:
        """What one request may ask for."""
        return LimitsInfo(**asdict(limits))

    @app.get("/api/metrics", tags=["texts"])
    def list_metrics() -> list[MetricInfo]:
        """The metrics one can ask for."""
        return [_info(name) for name in metric_names()]

    @app.post("/api/score", tags=["texts"], responses=_problems(400, 413, 422, 503))
    def score(asked: ScoreRequest) -> ScoreResponse:
        """Score translations of one segment by any number of metrics, and explain the scores."""
        texts = Texts(
            tuple(asked.references),
            tuple(one.text for one in asked.translations),
            asked.source,
            asked.lang,
        )
        names = asked.metrics or [
            name for name in metric_names() if asked.source is not None or not _needs_source(name)
        ]
        check_texts(texts, names, limits)
        with bench.turn(limits.seconds) as deadline:
            told = try_texts(
                texts, names, analyser=bench.ask, deadline=deadline, explain=asked.explain
            )
            seconds = deadline.passed
        return ScoreResponse(
            meantime=__version__,
            names=[one.name or f"translation {n}" for n, one in enumerate(asked.translations, 1)],
            metrics=[_scores(one) for one in told],
            seconds=round(seconds, 3),
        )

    @app.post(
        "/api/draw",
        tags=["texts"],
        response_class=Response,
        responses={
            200: {"content": {"image/svg+xml": {}}, "description": "The drawing."},
            **_problems(400, 413, 422, 503),
        },
    )
    def draw(asked: DrawRequest) -> Response:
        """Draw the explanation of one translation as SVG, for slides and papers."""
        texts = Texts(tuple(asked.references), (asked.translation,), asked.source, asked.lang)
        check_texts(texts, [asked.metric], limits)
        with bench.turn(limits.seconds) as deadline:
            told = try_texts(texts, [asked.metric], analyser=bench.ask, deadline=deadline)[0]
        figure = told.figures[0]
        if told.problem is not None:
            raise InputError(told.problem)
        if figure is None:
            raise UsageError(f"{told.name} cannot explain its scores")
        return Response(draw_svg(figure, width=asked.width), media_type="image/svg+xml")


def _scores(told: Told) -> MetricScores:
    return MetricScores(
        metric=told.name,
        specification=told.specification,
        higher_is_better=told.higher_is_better,
        decimals=told.decimals,
        signature=told.signature,
        scores=list(told.values),
        figures=list(told.figures),
        problem=told.problem,
    )


def _needs_source(name: str) -> bool:
    try:
        return "source" in registry.create(name).needs
    except MeantimeError:
        return False


def _info(name: str) -> MetricInfo:
    try:
        metric: Metric = registry.create(name)
    except MeantimeError as error:
        return MetricInfo(
            name=name, summary="", higher_is_better=True, explains=False, needs=[],
            problem=str(error),
        )  # fmt: skip
    return MetricInfo(
        name=name,
        summary=str(getattr(metric, "summary", "")),
        higher_is_better=metric.higher_is_better,
        explains=isinstance(metric, Explainer),
        needs=sorted(metric.needs),
        problem=None,
    )


def _add_comparing(app: FastAPI, limits: Limits, comparisons: Comparisons) -> None:
    def known(name: str) -> Job:
        job = comparisons.find(name)
        if job is None:
            raise HTTPException(404, "there is no such comparison, or it is not kept any more")
        return job

    def finished(name: str) -> Job:
        job = known(name)
        if job.state is not State.DONE:
            raise HTTPException(409, job.problem or f"the comparison is {job.state}")
        return job

    @app.post(
        "/api/comparisons",
        status_code=202,
        tags=["comparisons"],
        responses=_problems(400, 413, 422, 503),
    )
    def start(
        systems: Annotated[list[UploadFile], File(description="A file a system, two or more.")],
        references: Annotated[list[UploadFile], File(description="A file a reference.")],
        source: Annotated[UploadFile | None, File(description="The source.")] = None,
        metrics: Annotated[
            list[str] | None, Form(description="Names; by default meant, bleu, chrf and ter.")
        ] = None,
        lang: Annotated[str, Form(pattern=r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8}){0,3}$")] = "en",
        title: Annotated[str | None, Form(max_length=200)] = None,
    ) -> JobInfo:
        """Compare systems from files; any format meantime reads. Ask for the state after that."""
        names = metrics or [*(["meant"] if primary(lang) == "en" else []), *registry.DEFAULTS]
        if len(names) > limits.metrics:
            raise UsageError(f"{len(names)} metrics; give at most {limits.metrics}")
        task = Task(
            tuple(map(_upload, systems)),
            tuple(map(_upload, references)),
            None if source is None else _upload(source),
            metrics_of(names, lang),
            lang,
            title or None,
        )
        if len(task.systems) < 2:
            raise UsageError("one system, nothing to compare it with; send at least two files")
        return _state(comparisons.start(task))

    @app.get("/api/comparisons/{name}", tags=["comparisons"], responses=_problems(404, 422))
    def state(name: Identity) -> JobInfo:
        """How far a comparison is."""
        return _state(known(name))

    @app.delete(
        "/api/comparisons/{name}",
        status_code=204,
        tags=["comparisons"],
        responses=_problems(404, 422),
    )
    def forget(name: Identity) -> Response:
        """Call a comparison off, and forget it and its files."""
        if not comparisons.forget(name):
            raise HTTPException(404, "there is no such comparison, or it is not kept any more")
        return Response(status_code=204)

    @app.get(
        "/api/comparisons/{name}/report.html",
        tags=["comparisons"],
        response_class=Response,
        responses={
            200: {"content": {"text/html": {}}, "description": "The page."},
            **_problems(404, 409, 422),
        },
    )
    def report(
        name: Identity,
        download: Annotated[bool, Query(description="As a file to keep.")] = False,
    ) -> Response:
        """The report, one page that opens offline."""
        job = finished(name)
        headers = {"Content-Security-Policy": _REPORT}
        if download:
            headers["Content-Disposition"] = 'attachment; filename="report.html"'
        return HTMLResponse(job.page, headers=headers)

    @app.get(
        "/api/comparisons/{name}/result.json",
        tags=["comparisons"],
        response_model=dict[str, Any],
        responses=_problems(404, 409, 422),
    )
    def result(name: Identity) -> Response:
        """The numbers, as `meantime compare --format json` gives them."""
        # As it was written: reading it only to write it again would cost a second.
        return Response(finished(name).result, media_type="application/json")


def _upload(file: UploadFile) -> Upload:
    return Upload(file.filename or "file", file.file.read())


def _state(job: Job) -> JobInfo:
    done = job.state is State.DONE
    address = f"/api/comparisons/{quote(job.id)}"
    return JobInfo(
        id=job.id,
        state=job.state,
        stage=job.stage,
        done=job.done,
        total=job.total,
        problem=job.problem,
        report=f"{address}/report.html" if done else None,
        result=f"{address}/result.json" if done else None,
    )
