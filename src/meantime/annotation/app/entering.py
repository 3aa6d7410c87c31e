"""Ways in and out."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from meantime.annotation.app.making import Anyone, Here, redirect
from meantime.annotation.campaign import Role

router = APIRouter()
_DAYS = 14


@router.get("/")
def start(request: Request, here: Here) -> Response:
    """To the page somebody works on."""
    me = here.who(request)
    if me is None:
        raise HTTPException(401)
    return redirect("/campaigns" if me.role is Role.ADMINISTRATOR else "/work")


@router.get("/enter/{secret}")
def ask(request: Request, here: Here, secret: str) -> Response:
    """Ask before entering: programs that only look at links use none up."""
    address = _address(request, here)
    person = here.store.who_may_enter(secret)
    if person is None:
        here.limiter.count(address)
        raise HTTPException(401)
    campaign = None if person.campaign is None else here.store.campaign(person.campaign)
    return here.page(request, "enter.html", person=person, campaign=campaign, secret=secret)


@router.post("/enter/{secret}")
def enter(request: Request, here: Here, secret: str) -> Response:
    """Exchange the link for a session."""
    address = _address(request, here)
    session = here.store.enter(secret, days=_DAYS)
    if session is None:
        here.limiter.count(address)
        raise HTTPException(401)
    answer = redirect("/")
    answer.set_cookie(
        here.cookie,
        here.seal.sign(session),
        max_age=_DAYS * 86400,
        httponly=True,
        secure=here.config.secure,
        samesite="lax",
        path="/",
    )
    return answer


@router.post("/leave")
def leave(request: Request, here: Here, me: Anyone) -> Response:
    """End the session, here and in the database."""
    session = here.session(request)
    if session is not None:
        here.store.leave(session)
    answer = here.page(request, "problem.html", title="Goodbye", text="You have left.")
    answer.delete_cookie(here.cookie, path="/", secure=here.config.secure, httponly=True)
    return answer


def _address(request: Request, here: Here) -> str:
    """Where a link is tried from; refused where too many wrong ones came from."""
    address = request.client.host if request.client else "unknown"
    if here.limiter.blocks(address):
        raise HTTPException(429)
    return address
