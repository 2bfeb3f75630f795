"""Lets users, or without an auth file all browsers, in; `protect` adds all access middleware."""

import re
import secrets
import sys
from http.cookies import SimpleCookie
from urllib.parse import parse_qs

from fastapi import FastAPI
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.server.auth.accounts import Accounts, key_id_of, read_users
from assistant.server.auth.headers import Origins, SecurityHeaders, is_loopback
from assistant.server.auth.limits import BodyLimit
from assistant.server.auth.login import LIFETIME, Attempts, Sessions, TooManyAttempts, login_page
from assistant.server.auth.responses import OWNER, refusal
from assistant.settings import Settings

_SESSION_COOKIE = "assistant_session"
_BROWSER_COOKIE = "assistant_browser"
_BROWSER_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_YEAR = 365 * 24 * 3600
_HEALTH_PATH = "/healthz"
_LARGEST_FORM = 8192
"""Bytes of a login form."""
_CLOSED_PREFIXES = (
    *("/gradio_api/proxy=", "/gradio_api/file=http:", "/gradio_api/file=https:"),
    *("/gradio_api/vibe-", "/gradio_api/undo-vibe-", "/gradio_api/run-history", "/gradio_api/runs"),
    *("/gradio_api/deep_link", "/gradio_api/process_recording", "/gradio_api/profiling"),
    *("/gradio_api/dev/", "/monitoring", "/custom_component", "/pwa_icon", "/manifest.json"),
    *("/login/", "/logout/"),
)
"""Closed routes of the framework: its proxy, downloads, recorded runs, code generation, sign-in."""


def protect(app: FastAPI, settings: Settings) -> None:
    """Add the access middleware to `app`; the middleware added last sees a request first.

    Raises:
        InputError: the auth file is missing, unreadable or broken.
    """
    if settings.auth_file:
        app.add_middleware(Guard, accounts=Accounts(settings.auth_file))
    else:
        app.add_middleware(BrowserGuard)
    app.add_middleware(BodyLimit)
    app.add_middleware(ClosedRoutes)
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
    """Warn if everybody in the network may use the assistant."""
    if settings.auth_file is None and not is_loopback(settings.host):
        print(
            "Warning: everybody who can reach this machine's port "
            f"{settings.port} can ask, read and add papers; --auth-file requires a password.",
            file=sys.stderr,
        )


class Guard:
    """ASGI middleware with an auth file: only users pass, by a session or an API key."""

    def __init__(self, app: ASGIApp, accounts: Accounts) -> None:
        """Wrap `app`; nobody is signed in yet."""
        self.app = app
        self._accounts = accounts
        self._sessions = Sessions()
        self._attempts = Attempts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests of users; others sign in or are refused."""
        if scope["type"] != "http" or scope["path"] == _HEALTH_PATH:
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        if request.url.path == "/login":
            await (await self._login(request))(scope, receive, send)
        elif request.url.path == "/logout":
            await self._logout(request)(scope, receive, send)
        else:
            await self._let_in(request, scope, receive, send)

    async def _let_in(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            name = await self._user_of(request)
        except TooManyAttempts as error:
            await _too_many(error)(scope, receive, send)
            return
        if name is None:
            await _not_signed_in(request)(scope, receive, send)
            return
        scope.setdefault("state", {})[OWNER] = f"user:{name}"
        await self.app(scope, receive, send)

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

    async def _login(self, request: Request) -> Response:
        if request.method in {"GET", "HEAD"}:
            return RedirectResponse("/", 303) if self._user_of_session(request) else login_page()
        if request.method != "POST":
            return refusal(405, "method_not_allowed", "Signing in takes GET or POST.")
        fields = await _form(request)
        if fields is None:
            return login_page(400, "The form could not be read; type name and password again.")
        return await self._sign_in(request, *fields)

    async def _sign_in(self, request: Request, name: str, password: str) -> Response:
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
        token = self._sessions.begin(name, user.password)
        signed_in = RedirectResponse("/", 303)
        signed_in.headers["set-cookie"] = _cookie(request.scope, _SESSION_COOKIE, token, LIFETIME)
        return signed_in

    def _logout(self, request: Request) -> Response:
        if request.method != "POST":
            return refusal(405, "method_not_allowed", "Signing out takes POST.")
        self._sessions.end(request.cookies.get(_SESSION_COOKIE, ""))
        signed_out = RedirectResponse("/login", 303)
        signed_out.headers["set-cookie"] = _cookie(request.scope, _SESSION_COOKIE, "", 0)
        return signed_out


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
        if scope["path"] in {"/login", "/logout"}:
            await RedirectResponse("/", 303)(scope, receive, send)
            return
        known = HTTPConnection(scope).cookies.get(_BROWSER_COOKIE, "")
        token = known if _BROWSER_TOKEN.fullmatch(known) else ""
        if scope["method"] == "GET" and scope["path"] == "/":
            token = token or secrets.token_urlsafe(32)
            send = _with_cookie(send, _cookie(scope, _BROWSER_COOKIE, token, _YEAR))
        if token:
            scope.setdefault("state", {})[OWNER] = f"browser:{token}"
        await self.app(scope, receive, send)


class ClosedRoutes:
    """ASGI middleware that answers 404 for closed routes of the framework."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests for other routes."""
        if scope["type"] == "http" and scope["path"].lower().startswith(_CLOSED_PREFIXES):
            message = "There is nothing under this address."
            await refusal(404, "not_found", message)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


async def _form(request: Request) -> tuple[str, str] | None:
    """Name and password; None if the form is not valid or too large."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > _LARGEST_FORM:
            return None
    try:
        fields = parse_qs(body.decode(), max_num_fields=4, errors="strict")
    except ValueError:
        return None
    name, password = (fields.get(field, [""])[0] for field in ("name", "password"))
    return (name.strip().lower()[:64], password) if name and password else None


def _not_signed_in(request: Request) -> Response:
    """The response without valid credentials: the login page for people, an error for programs."""
    wants_page = "text/html" in request.headers.get("accept", "")
    if request.method in {"GET", "HEAD"} and wants_page:
        return RedirectResponse("/login", 303)
    return refusal(
        401,
        "not_signed_in",
        "Sign in at /login, or send an API key as `Authorization: Bearer KEY`; "
        "`assistant users key NAME` makes one.",
        {"www-authenticate": "Bearer"},
    )


def _too_many(error: TooManyAttempts) -> Response:
    message = f"Too many wrong keys from here; try again in {error.seconds} s."
    return refusal(429, "too_many_attempts", message, {"retry-after": str(error.seconds)})


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _cookie(scope: Scope, name: str, value: str, seconds: int) -> str:
    """A `Set-Cookie` value that scripts cannot read and other sites cannot send."""
    cookie = SimpleCookie({name: value})
    cookie[name].update({"path": "/", "max-age": str(seconds), "samesite": "Strict"})
    flags = "; HttpOnly; Secure" if scope.get("scheme") == "https" else "; HttpOnly"
    return cookie[name].OutputString() + flags


def _with_cookie(send: Send, cookie: str) -> Send:
    async def send_with_cookie(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).append("set-cookie", cookie)
        await send(message)

    return send_with_cookie
