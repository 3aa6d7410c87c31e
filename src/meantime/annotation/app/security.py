"""Who may ask for what: sessions, forgery, hosts, limits, headers."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from itsdangerous import BadSignature, Signer
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
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


@dataclass(frozen=True, slots=True)
class Seal:
    """Signs what goes out as a cookie or in a form, with the server's secret."""

    secret: str

    def sign(self, session: str) -> str:
        """A session's secret as it stands in the cookie."""
        return self._signer().sign(session).decode()

    def read(self, cookie: str) -> str | None:
        """The session's secret, if we signed it."""
        try:
            return self._signer().unsign(cookie).decode()
        except (BadSignature, UnicodeDecodeError):
            return None

    def token(self, session: str) -> str:
        """What a form must hold to be taken: only pages of this session know it."""
        key = f"forms {self.secret}".encode()
        return hmac.new(key, session.encode(), hashlib.sha256).hexdigest()

    def is_token(self, session: str, given: str) -> bool:
        """Whether a form came from a page of this session."""
        return hmac.compare_digest(self.token(session).encode(), given.encode())

    def _signer(self) -> Signer:
        return Signer(self.secret, salt="session", digest_method=hashlib.sha256)


@dataclass(slots=True)
class Limiter:
    """Counts failures by address; after so many in so many seconds nothing is tried for it.

    Only failures are counted: a whole class may enter at once from one address.
    """

    most: int = 20
    seconds: float = 60.0
    clock: Callable[[], float] = time.monotonic
    _failures: dict[str, deque[float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def blocks(self, address: str) -> bool:
        """Whether this address has to wait."""
        with self._lock:
            return len(self._recent(address)) >= self.most

    def count(self, address: str) -> None:
        """Note a failure."""
        now = self.clock()
        with self._lock:
            if len(self._failures) > 10000:
                self._failures = {
                    one: times
                    for one, times in self._failures.items()
                    if times and times[-1] > now - self.seconds
                }
            self._failures.setdefault(address, deque(maxlen=self.most)).append(now)

    def _recent(self, address: str) -> deque[float]:
        times = self._failures.get(address, deque())
        while times and times[0] <= self.clock() - self.seconds:
            times.popleft()
        return times


class Guard:
    """Around everything: hosts, origins, sizes, and the headers of every answer."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str], most_bytes: int) -> None:
        self._app = app
        self._hosts = hosts
        self._most = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await PlainTextResponse(refusal[1], refusal[0])(scope, receive, answer)
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
            await PlainTextResponse(self._too_large(), 413)(scope, receive, answer)

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
