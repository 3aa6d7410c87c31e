"""The application made of its parts."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from meantime.annotation.app.security import Limiter, Seal
from meantime.annotation.campaign import Person, Role
from meantime.annotation.store import Campaign, Conflict, Gone, NotAllowed, Store
from meantime.errors import InputError, MeantimeError, UsageError
from meantime.protocols import Analyser
from meantime.types import primary
from meantime.web import Guard


@dataclass(frozen=True, slots=True)
class Config:
    """How the server is run.

    Attributes:
        secret: What sessions and forms are signed with.
        hosts: Names the server answers to; `*` for any.
        secure: Whether people reach it by https, so that cookies go no other way.
        address: How people reach it, for links: `http://localhost:8710`.
        most_bytes: Largest request that is taken.
        analyser: Opens an analyser where a campaign wants suggested frames.
        tries: How many wrong links an address may try a minute.
    """

    secret: str
    hosts: frozenset[str] = frozenset({"localhost", "127.0.0.1", "::1"})
    secure: bool = False
    address: str = "http://localhost:8710"
    most_bytes: int = 20_000_000
    analyser: Callable[[], Analyser] | None = None
    tries: int = 20


@dataclass(frozen=True, slots=True)
class Site:
    """What every page needs."""

    store: Store
    config: Config
    seal: Seal
    limiter: Limiter
    templates: Environment
    cache: dict[Any, Any] = field(default_factory=dict)

    @property
    def cookie(self) -> str:
        """The cookie's name; browsers keep one with this prefix to this host and https."""
        return "__Host-meantime" if self.config.secure else "meantime"

    def session(self, request: Request) -> str | None:
        """The secret of the session a request comes with."""
        cookie = request.cookies.get(self.cookie)
        return None if cookie is None else self.seal.read(cookie)

    def who(self, request: Request) -> Person | None:
        """Who asks."""
        session = self.session(request)
        return None if session is None else self.store.who(session)

    def page(
        self, request: Request, template: str, status: int = 200, **values: Any
    ) -> HTMLResponse:
        """A page, all text in it escaped."""
        session = self.session(request)
        text = self.templates.get_template(template).render(
            me=values.pop("me", None),
            csrf="" if session is None else self.seal.token(session),
            key=secrets.token_hex(16),
            Role=Role,
            **values,
        )
        return HTMLResponse(text, status)

    def problem(
        self, request: Request, status: int, title: str, text: str, me: Person | None = None
    ) -> HTMLResponse:
        """A page that says what is wrong."""
        return self.page(request, "problem.html", status, me=me, title=title, text=text)


def site(request: Request) -> Site:
    """The site a request is for."""
    found: Site = request.app.state.site
    return found


Here = Annotated[Site, Depends(site)]


def visitor(*roles: Role) -> Callable[..., Any]:
    """Lets in people of these roles alone, and takes their forms only."""

    async def check(request: Request) -> Person:
        here = site(request)
        # Asked in a thread: the database answers in its own time.
        from starlette.concurrency import run_in_threadpool

        person = await run_in_threadpool(here.who, request)
        if person is None:
            raise HTTPException(401)
        if person.role not in roles:
            raise HTTPException(403)
        if request.method not in ("GET", "HEAD"):
            await take_form(request, here)
        return person

    check.roles = frozenset(roles)  # type: ignore[attr-defined]
    return check


async def take_form(request: Request, here: Site) -> None:
    """Refuse a form that no page of this session made.

    Raises:
        HTTPException: 403.
    """
    session = here.session(request)
    form = await request.form()
    if any(isinstance(value, str) and "\0" in value for value in form.values()):
        raise HTTPException(400, "The form holds a character that no text has.")
    token = form.get("csrf")
    if session is None or not isinstance(token, str) or not here.seal.is_token(session, token):
        raise HTTPException(403, "This form is out of date. Go back, load the page again, retry.")


WORKERS = (Role.ANNOTATOR, Role.JUDGE, Role.RANKER, Role.RATER)
Worker = Annotated[Person, Depends(visitor(*WORKERS))]
Administrator = Annotated[Person, Depends(visitor(Role.ADMINISTRATOR))]
Anyone = Annotated[Person, Depends(visitor(*Role))]


def own_campaign(campaign: str, request: Request, me: Administrator) -> Campaign:
    """The campaign of a page, if it is this administrator's; else as if it were not there."""
    if me.campaign not in (None, campaign):
        raise HTTPException(404)
    try:
        return site(request).store.campaign(campaign)
    except UsageError as error:
        raise HTTPException(404) from error


Own = Annotated[Campaign, Depends(own_campaign)]


def redirect(path: str) -> RedirectResponse:
    """To a page of ours, after a form."""
    return RedirectResponse(quote(path, safe="/?=&%"), 303)


def _date(at: float | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")


def _figure(value: float | None, decimals: int = 2) -> str:
    return "–" if value is None or value != value else f"{value:.{decimals}f}"  # noqa: PLR0124


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


_RIGHT_TO_LEFT = frozenset("ar arc ckb dv fa he ks ku nqo ps sd syr ug ur yi".split())


def _direction(lang: str) -> str:
    """Which way a text runs: by its language, and where that does not tell by its first letter.

    A sentence in Arabic may begin with a name in Latin letters.
    """
    return "rtl" if primary(lang) in _RIGHT_TO_LEFT else "auto"


FILTERS: Mapping[str, Callable[..., str]] = {
    "date": _date,
    "figure": _figure,
    "share": _share,
    "duration": _duration,
    "direction": _direction,
}


def create_app(store: Store, config: Config) -> FastAPI:
    """The application over a store."""
    from meantime.annotation.app import administration, entering, working

    templates = Environment(
        loader=PackageLoader("meantime.annotation", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(FILTERS)
    app = FastAPI(title="meantime annotate", openapi_url=None, docs_url=None, redoc_url=None)
    app.state.site = Site(store, config, Seal(config.secret), Limiter(most=config.tries), templates)
    app.mount("/static", StaticFiles(packages=[("meantime.annotation", "static")]), name="static")
    for module in (entering, working, administration):
        app.include_router(module.router)

    @app.exception_handler(HTTPException)
    async def refuse(request: Request, error: HTTPException) -> Response:
        title, text = _WORDS.get(error.status_code, ("This does not work", str(error.detail)))
        if error.status_code == 403 and error.detail != "Forbidden":
            text = str(error.detail)
        return app.state.site.problem(request, error.status_code, title, text)  # type: ignore[no-any-return]

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return app.state.site.problem(  # type: ignore[no-any-return]
            request, 400, "This does not work", "The request lacks something. Go back and retry."
        )

    @app.exception_handler(MeantimeError)
    async def fail(request: Request, error: MeantimeError) -> Response:
        status = 400
        if isinstance(error, (Conflict, Gone, NotAllowed)):
            status = 409
        elif not isinstance(error, (InputError, UsageError)):
            status = 500
        return app.state.site.problem(request, status, "This does not work", str(error))  # type: ignore[no-any-return]

    app.add_middleware(Guard, hosts=config.hosts, most_bytes=config.most_bytes)
    return app


_WORDS = {
    401: (
        "You need your link",
        "Open the link you were sent. If it does not work any more, ask for a new one.",
    ),
    403: ("This is not for you", "Your role does not include this page."),
    404: ("Not here", "There is no such page, or it is not yours."),
    405: ("Not like this", "This address takes no such request."),
    429: ("Too many tries", "Wait a minute, then try again."),
}
