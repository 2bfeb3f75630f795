"""Lets users, or without an auth file all browsers, in; `protect` adds all access middleware."""

import asyncio
import re
import secrets
import sys

from fastapi import FastAPI
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.server.api.errors import error_response
from assistant.server.auth import OWNER, HttpMiddleware, path_of
from assistant.server.auth.accounts import Accounts, key_id_of
from assistant.server.auth.headers import Origins, SecurityHeaders, is_loopback
from assistant.server.auth.login import LIFETIME, Attempts, Sessions, TooManyAttempts, login_page
from assistant.server.auth.page_sessions import PageSessions
from assistant.server.auth.request_body import BodyLimit
from assistant.settings import Settings
from assistant.storage.database import Database

_SESSION_COOKIE = "assistant_session"
_BROWSER_COOKIE = "assistant_browser"
_BROWSER_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_YEAR = 365 * 24 * 3600


def protect(app: FastAPI, settings: Settings, database: Database) -> None:
    """Add the access middleware to `app`; the middleware added last sees a request first.

    Raises:
        InputError: the auth file is missing, unreadable or broken.
    """
    app.add_middleware(PageSessions)
    if settings.auth_file:
        app.add_middleware(Guard, accounts=Accounts(settings.auth_file), database=database)
    else:
        app.add_middleware(BrowserGuard)
    app.add_middleware(BodyLimit)
    app.add_middleware(Origins, settings=settings)
    app.add_middleware(SecurityHeaders)


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


class Guard(HttpMiddleware):
    """Lets users pass, by a session or an API key.

    Sessions are kept in the database, not in a signed cookie: any app process accepts them, and one
    that was signed out, or whose password has changed, ends even if its cookie was copied.
    """

    def __init__(self, app: ASGIApp, accounts: Accounts, database: Database) -> None:
        super().__init__(app)
        self._accounts = accounts
        self._sessions = Sessions(database)
        self._attempts = Attempts(database)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests of users; others sign in or are refused."""
        request = Request(scope, receive)
        response: Response | None = None
        match path_of(scope), request.method:
            case "/healthz" | "/readyz", _:
                pass
            case "/login", "POST":
                response = await self._sign_in(request)
            case "/login", "GET" | "HEAD":
                signed_in = await self._user_of_session(request)
                response = _redirect(request, "/") if signed_in else login_page()
            case "/logout", "POST":
                token = request.cookies.get(_SESSION_COOKIE, "")
                await asyncio.to_thread(self._sessions.end, token)
                response = _redirect(request, "/login")
                _set_cookie(response, request, _SESSION_COOKIE, "", 0)
            case "/login" | "/logout", _:
                message = "Signing in takes GET or POST, and signing out POST."
                response = error_response(405, message)
            case _:
                response = await self._refusal(request)
        await (response or self.app)(scope, receive, send)

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
            return await self._user_of_session(request)
        key = key.strip()
        if name := self._accounts.with_verified_key(key):
            return name
        address, name = f"key {_address(request)}", f"key {key_id_of(key)[:64]}"
        return await self._attempts.make(address, name, lambda: self._accounts.with_key(key))

    async def _user_of_session(self, request: Request) -> str | None:
        token = request.cookies.get(_SESSION_COOKIE, "")
        session = await asyncio.to_thread(self._sessions.find, token) if token else None
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
        token = await asyncio.to_thread(self._sessions.begin, name, user.password)
        _set_cookie(signed_in, request, _SESSION_COOKIE, token, LIFETIME)
        return signed_in


class BrowserGuard(HttpMiddleware):
    """Without an auth file, knows each browser by a cookie."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its owner; opening the page sets the cookie for a year."""
        request, path = HTTPConnection(scope), path_of(scope)
        if path in {"/login", "/logout"}:
            await _redirect(request, "/")(scope, receive, send)
            return
        known = request.cookies.get(_BROWSER_COOKIE, "")
        token = known if _BROWSER_TOKEN.fullmatch(known) else ""
        if scope["method"] == "GET" and path == "/":
            token = token or secrets.token_urlsafe(32)
            send = _with_cookie(send, request, token)
        if token:
            scope.setdefault("state", {})[OWNER] = f"browser:{token}"
        await self.app(scope, receive, send)


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
    path = request.scope.get("root_path", "") + "/"
    secure = request.url.scheme == "https"
    response.set_cookie(
        name, value, seconds, path=path, secure=secure, httponly=True, samesite="strict"
    )


def _with_cookie(send: Send, request: HTTPConnection, token: str) -> Send:
    """`send`, which also sets the browser's cookie."""
    cookie = Response()
    _set_cookie(cookie, request, _BROWSER_COOKIE, token, _YEAR)

    async def send_with_cookie(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).append("set-cookie", cookie.headers["set-cookie"])
        await send(message)

    return send_with_cookie
