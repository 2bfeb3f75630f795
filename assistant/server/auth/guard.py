"""Lets users, or without an auth file all browsers, in; `protect` adds all access middleware."""

import ipaddress
import re
import secrets
import sys
from urllib.parse import urlsplit

from fastapi import FastAPI
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.server.api.errors import error_response
from assistant.server.auth import OWNER, path_of
from assistant.server.auth.accounts import Accounts, key_id_of, read_users
from assistant.server.auth.headers import SecurityHeaders
from assistant.server.auth.login import LIFETIME, Attempts, Sessions, TooManyAttempts, login_page
from assistant.server.auth.page_sessions import PageSessions
from assistant.server.auth.request_body import BodyLimit
from assistant.settings import Settings

_SESSION_COOKIE = "assistant_session"
_BROWSER_COOKIE = "assistant_browser"
_BROWSER_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_YEAR = 365 * 24 * 3600
_HEALTH_PATH = "/healthz"
_CLOSED_PREFIXES = (
    *("/gradio_api/proxy=", "/gradio_api/file=http:", "/gradio_api/file=https:"),
    *("/gradio_api/vibe-", "/gradio_api/undo-vibe-", "/gradio_api/run-history", "/gradio_api/runs"),
    *("/gradio_api/deep_link", "/gradio_api/process_recording", "/gradio_api/profiling"),
    *("/gradio_api/dev/", "/monitoring", "/custom_component", "/pwa_icon", "/manifest.json"),
    *("/login/", "/logout/"),
)
"""Closed routes of the framework: its proxy, downloads, recorded runs, code generation, sign-in."""
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_PORTS = {"http": 80, "https": 443}


def protect(app: FastAPI, settings: Settings) -> None:
    """Add the access middleware to `app`; the middleware added last sees a request first.

    Raises:
        InputError: see `check_auth_file`.
    """
    app.add_middleware(PageSessions)
    if settings.auth_file:
        app.add_middleware(Guard, accounts=Accounts(settings.auth_file))
    else:
        app.add_middleware(BrowserGuard)
    app.add_middleware(BodyLimit)
    app.add_middleware(Origins, host=settings.host, server_name=settings.server_name)
    app.add_middleware(SecurityHeaders)


def check_auth_file(settings: Settings) -> None:
    """Check the auth file before anything is loaded.

    Raises:
        InputError: the auth file is missing, unreadable or broken.
    """
    if settings.auth_file:
        read_users(settings.auth_file)


def warn_if_open(settings: Settings) -> None:
    """Warn if everybody in the network may use the assistant, or if its proxy is not named."""
    if settings.auth_file is None and not is_loopback(settings.host):
        print(
            "Warning: everybody who can reach this machine's port "
            f"{settings.port} can ask, read and add papers; --auth-file requires a password.",
            file=sys.stderr,
        )
    if settings.server_name and not settings.proxies:
        print(
            f"Warning: no proxy is believed, so that people at {settings.server_name} count as one "
            "and cookies are not marked Secure; name the proxy's address with --proxies.",
            file=sys.stderr,
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Guard:
    """ASGI middleware with an auth file: only users pass, by a session or an API key.

    Sessions are kept here, not in a signed cookie: one that was signed out, or whose password has
    changed, must end even if its cookie was copied.
    """

    def __init__(self, app: ASGIApp, accounts: Accounts) -> None:
        """Wrap `app`; nobody is signed in yet."""
        self.app = app
        self._accounts = accounts
        self._sessions = Sessions()
        self._attempts = Attempts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests of users; others sign in or are refused."""
        if scope["type"] != "http" or path_of(scope) == _HEALTH_PATH:
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        signs = path_of(scope) in {"/login", "/logout"}
        response = await (self._sign(request) if signs else self._refusal(request))
        await (response or self.app)(scope, receive, send)

    async def _sign(self, request: Request) -> Response:
        """The response to `/login` and `/logout`."""
        match path_of(request.scope), request.method:
            case "/login", "POST":
                return await self._sign_in(request)
            case "/login", "GET" | "HEAD":
                signed_in = self._user_of_session(request)
                return _redirect(request, "/") if signed_in else login_page()
            case "/logout", "POST":
                self._sessions.end(request.cookies.get(_SESSION_COOKIE, ""))
                signed_out = _redirect(request, "/login")
                _set_cookie(signed_out, request, _SESSION_COOKIE, "", 0)
                return signed_out
        return error_response(405, "Signing in takes GET or POST, and signing out POST.")

    async def _refusal(self, request: Request) -> Response | None:
        """The response to strangers; None for users, who become the owners of the request."""
        try:
            name = await self._user_of(request)
        except TooManyAttempts as error:
            message = f"Too many wrong keys from here; try again in {error.seconds} s."
            return error_response(429, message, headers={"retry-after": str(error.seconds)})
        if name is None:
            return _not_signed_in(request)
        request.scope.setdefault("state", {})[OWNER] = f"user:{name}"
        return None

    async def _user_of(self, request: Request) -> str | None:
        """The user of the API key if one is sent, else of the session."""
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return self._user_of_session(request)
        key = key.strip()
        if name := self._accounts.with_verified_key(key):
            return name
        address = f"key {_address(request)}"
        return await self._attempts.make(
            address, f"key {key_id_of(key)[:64]}", lambda: self._accounts.with_key(key)
        )

    def _user_of_session(self, request: Request) -> str | None:
        session = self._sessions.find(request.cookies.get(_SESSION_COOKIE, ""))
        user = self._accounts.user(session.name) if session else None
        return session.name if session and user and user.password == session.password else None

    async def _sign_in(self, request: Request) -> Response:
        name, password = await _form(request)
        if not (name and password):
            return login_page(400, "The form could not be read; type name and password again.")
        try:
            found = await self._attempts.make(
                f"password {_address(request)}",
                f"password {name}",
                lambda: self._accounts.with_password(name, password),
            )
        except TooManyAttempts as error:
            page = login_page(429, f"Too many attempts; try again in {error.seconds} s.", name)
            page.headers["retry-after"] = str(error.seconds)
            return page
        user = self._accounts.user(name)
        if found is None or user is None:
            return login_page(401, "The name or the password is wrong.", name)
        signed_in = _redirect(request, "/")
        token = self._sessions.begin(name, user.password)
        _set_cookie(signed_in, request, _SESSION_COOKIE, token, LIFETIME)
        return signed_in


class BrowserGuard:
    """ASGI middleware without an auth file: a cookie identifies each browser."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its owner; opening the page sets the cookie for a year."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = HTTPConnection(scope)
        if path_of(scope) in {"/login", "/logout"}:
            await _redirect(request, "/")(scope, receive, send)
            return
        known = request.cookies.get(_BROWSER_COOKIE, "")
        token = known if _BROWSER_TOKEN.fullmatch(known) else ""
        if scope["method"] == "GET" and path_of(scope) == "/":
            token = token or secrets.token_urlsafe(32)
            cookie = Response()
            _set_cookie(cookie, request, _BROWSER_COOKIE, token, _YEAR)
            send = _with_cookie(send, cookie.headers["set-cookie"])
        if token:
            scope.setdefault("state", {})[OWNER] = f"browser:{token}"
        await self.app(scope, receive, send)


class Origins:
    """ASGI middleware that refuses what is asked under a foreign name or from another site.

    It refuses unknown hosts (DNS rebinding), with the names to use, which Starlette's
    `TrustedHostMiddleware` does not say; other origins; WebSockets; and closed routes.
    """

    def __init__(self, app: ASGIApp, host: str, server_name: str) -> None:
        """Wrap `app`; host names are checked only if `host`, the address served, is loopback."""
        self.app = app
        self._server_name = server_name.lower()
        given = {_with_port(self._server_name)[0]} - {""}
        self._names = _LOOPBACK | given if is_loopback(host) else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests of own pages and of programs."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        refused = self._refusal(scope) if scope["type"] == "http" else None
        await (refused or self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._names is not None and _with_port(host)[0] not in self._names:
            names = ", ".join(sorted(self._names))
            message = f"The assistant is not served under this name, but as {names}."
            return error_response(421, message, code="unknown_host")
        if scope["method"] not in _SAFE and self._is_foreign(headers.get("origin", ""), host):
            message = "Pages of other sites cannot send requests to the assistant."
            return error_response(403, message, code="foreign_origin")
        if scope["path"] == scope.get("root_path"):
            return RedirectResponse(f"{scope['path']}/")
        if path_of(scope).lower().startswith(_CLOSED_PREFIXES):
            return error_response(404, "There is nothing under this address.")
        return None

    def _is_foreign(self, origin: str, host: str) -> bool:
        """Whether `origin` is another site; programs send none."""
        if not origin:
            return False
        scheme, _, netloc = origin.partition("://")
        own = {_with_port(host, scheme)}
        if self._server_name:
            own.add(_with_port(self._server_name, scheme))
        return not netloc or _with_port(netloc, scheme) not in own


async def _form(request: Request) -> tuple[str, str]:
    """Name and password; empty if the form is not valid."""
    try:
        form = await request.form(max_files=0, max_fields=4)
    except HTTPException:
        return "", ""
    name, password = (str(form.get(field, "")) for field in ("name", "password"))
    return name.strip().lower()[:64], password


def _not_signed_in(request: Request) -> Response:
    """The response without valid credentials: the login page for people, an error for programs."""
    wants_page = "text/html" in request.headers.get("accept", "")
    if request.method in {"GET", "HEAD"} and wants_page:
        return _redirect(request, "/login")
    return error_response(
        401,
        "Sign in at /login, or send an API key as `Authorization: Bearer KEY`; "
        "`assistant users key NAME` makes one.",
        code="not_signed_in",
        headers={"www-authenticate": "Bearer"},
    )


def _redirect(request: HTTPConnection, path: str) -> Response:
    return RedirectResponse(request.scope.get("root_path", "") + path, 303)


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _set_cookie(
    response: Response, request: HTTPConnection, name: str, value: str, seconds: int
) -> None:
    """Set a cookie that scripts cannot read and other sites cannot send."""
    response.set_cookie(
        name,
        value,
        seconds,
        path=request.scope.get("root_path", "") + "/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def _with_cookie(send: Send, cookie: str) -> Send:
    async def send_with_cookie(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).append("set-cookie", cookie)
        await send(message)

    return send_with_cookie


def _with_port(netloc: str, scheme: str = "") -> tuple[str, int | None]:
    """Host name and port; where they cannot be told apart, `netloc` as it is."""
    try:
        parts = urlsplit(f"//{netloc}")
        return parts.hostname or "", parts.port or _PORTS.get(scheme)
    except ValueError:
        return netloc, None
