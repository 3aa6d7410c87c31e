"""What our web applications share: the guard around every request, and what none may name."""

from __future__ import annotations

import os
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from meantime import registry
from meantime.errors import UsageError

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    # Links are secrets and stand in addresses: no other site is told any. (With "no-referrer"
    # browsers would send forms with the origin "null".)
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
_SAFE = {"GET", "HEAD", "OPTIONS"}


LONGEST = 200
"""Bytes of an option's value: more is no word of ours, and longer than names of files may be."""


def refuse_files(specification: str) -> None:
    """Refuse a metric that would read a file named in its options.

    Over the network nobody says which files of this machine are read.

    Raises:
        MeantimeError: It would, or the specification is none.
    """
    _, options = registry.parse(specification)
    for name, value in options.items():
        if len(value.encode("utf-8", "replace")) > LONGEST:
            raise UsageError(f"{name}={value[:20]}…: this is too long")
        if any(mark in value for mark in "/\\~") or os.path.exists(value.strip() or "-"):
            raise UsageError(f"{name}={value}: files cannot be named here")


class Guard:
    """Around everything: hosts, origins, sizes, and the headers of every answer."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: frozenset[str],
        most_bytes: int,
        policy: str = POLICY,
        say: Callable[[str, int], Response] = PlainTextResponse,
    ) -> None:
        self._app = app
        self._hosts = hosts
        self._most = most_bytes
        self._headers = {"Content-Security-Policy": policy, **HEADERS}
        self._say = say

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await self._say(refusal[1], refusal[0])(scope, receive, answer)
            return
        read = 0

        async def count() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._most:
                # The length was not stated, or not truly: stop reading.
                raise TooLarge
            return message

        try:
            await self._app(scope, count, answer)
        except TooLarge:
            await self._say(self._too_large(), 413)(scope, receive, answer)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        if "\0" in scope["path"]:
            return 400, "The address holds a character that no address has."
        host = headers.get("host", "")
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        if "*" not in self._hosts and name.strip("[]").lower() not in self._hosts:
            # Another name may have been pointed at this machine by somebody else's page.
            return 400, f"This server is not called {name!r}; start it with --host-name {name}."
        if scope["method"] not in _SAFE:
            origin = headers.get("origin")
            if origin is not None and origin.split("://", 1)[-1] != host:
                return 403, "This form was sent by another site."
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return 403, "This form was sent by another site."
            try:
                length = int(headers.get("content-length", "0"))
            except ValueError:
                return 400, "The content length is not a number."
            if length > self._most:
                return 413, self._too_large()
        return None

    def _too_large(self) -> str:
        return f"This is too large: at most {self._most // 1000000} MB are taken at once."


class TooLarge(Exception):
    """More was sent than is taken."""
