"""Who may ask for what: sessions, forgery, and how often one may try."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from itsdangerous import BadSignature, Signer


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
