"""From where a request may come: the names of this server, and its own pages."""

import ipaddress
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from assistant.access.replies import refusal

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_PORTS = {"http": 80, "https": 443}


class Origins:
    """ASGI middleware: refuses other names (DNS rebinding), other sites' requests, WebSockets."""

    def __init__(self, app: ASGIApp, host: str, server_name: str) -> None:
        """Names are checked where `host`, the address listened on, is of this machine only."""
        self.app = app
        self._server_name = server_name.lower()
        given = {_hostname(self._server_name)} - {""}
        self._names = _LOOPBACK | given if is_loopback(host) else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what comes from here."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http" and not self._is_known(_header(scope, b"host")):
            names = ", ".join(sorted(self._names or ()))
            message = f"The assistant is not served under this name, but as {names}."
            await refusal(421, "unknown_host", message)(scope, receive, send)
        elif scope["type"] == "http" and self._is_foreign(scope):
            message = "Pages of other sites cannot send requests to the assistant."
            await refusal(403, "foreign_origin", message)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _is_known(self, host: str) -> bool:
        return self._names is None or _hostname(host) in self._names

    def _is_foreign(self, scope: Scope) -> bool:
        """Whether a page of another site asks for a change."""
        origin = _header(scope, b"origin")
        if scope["method"] in _SAFE or not origin:
            return False
        scheme, _, netloc = origin.partition("://")
        own = {_with_port(_header(scope, b"host"), scheme)}
        if self._server_name:
            own.add(_with_port(self._server_name, scheme))
        return not netloc or _with_port(netloc, scheme) not in own


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _hostname(netloc: str) -> str:
    try:
        return urlsplit(f"//{netloc}").hostname or ""
    except ValueError:
        return ""


def _with_port(netloc: str, scheme: str) -> tuple[str, int | None]:
    try:
        parts = urlsplit(f"//{netloc}")
        return parts.hostname or "", parts.port or _PORTS.get(scheme)
    except ValueError:
        return netloc, None
