"""Binds what the page calls a session to its owner: its hash alone opens no stream."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.server.api.errors import error_response
from assistant.server.auth import HttpMiddleware, owner_of, path_of

_PAGE_API = "/gradio_api/"
_UNREAD = ("/gradio_api/upload", "/gradio_api/mcp/")
"""Routes whose bodies name no session."""
_STREAM = "/gradio_api/queue/data"
_BEGINNING = ("/gradio_api/queue/join", "/gradio_api/call/")
"""Routes that answer with the id of an event."""
_IN_PATH = re.compile(r"/gradio_api/(?:heartbeat|stream|call/(?:v2/)?[^/]+)/([^/]+)")
"""Routes whose paths name a session or an event, if they are read."""
_MOST = 20_000
"""Sessions and events that are remembered; above this the owner of most loses the oldest."""


class PageSessions(HttpMiddleware):
    """Refuses the sessions and events of other owners."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self._owners: dict[str, str] = {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests about own sessions; the first request with a body takes a new one."""
        path, owner = path_of(scope), owner_of(scope)
        if not path.startswith(_PAGE_API):
            await self.app(scope, receive, send)
            return
        named = parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [])
        if scope["method"] == "GET" and (found := _IN_PATH.match(path)):
            named.append(found[1])
        if scope["method"] == "POST" and not path.startswith(_UNREAD):
            body, receive = await _read(receive)
            sent = [*_ids(body, "session_hash", "event_id")]
            named += sent
            if not self._is_foreign(named, owner):
                self._take(sent, owner)
            if path.startswith(_BEGINNING):
                send = self._noting(send, owner)
        if self._is_foreign(named, owner):
            refused = error_response(403, "This session belongs to somebody else; reload the page.")
            await refused(scope, receive, send)
        elif path == _STREAM:
            await self._stream(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; Gradio tells the client of an unknown session, and then fails."""
        try:
            await self.app(scope, receive, send)
        except (HTTPException, RuntimeError) as error:
            if not isinstance(error.__cause__ or error, HTTPException):
                raise
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _is_foreign(self, ids: list[str], owner: str) -> bool:
        return any(self._owners.get(id_, owner) != owner for id_ in ids)

    def _take(self, ids: list[str], owner: str) -> None:
        self._owners.update(dict.fromkeys(ids, owner))
        while len(self._owners) > _MOST:
            ((most, _),) = Counter(self._owners.values()).most_common(1)
            del self._owners[next(id_ for id_, owner in self._owners.items() if owner == most)]

    def _noting(self, send: Send, owner: str) -> Send:
        """`send`, which also takes the event that the response names."""

        async def noting_send(message: Message) -> None:
            if message["type"] == "http.response.body":
                self._take([*_ids(message.get("body", b""), "event_id")], owner)
            await send(message)

        return noting_send


async def _read(receive: Receive) -> tuple[bytes, Receive]:
    """The body, and a `receive` that gives it again."""
    pieces: list[Message] = []
    while not pieces or pieces[-1].get("more_body", False):
        pieces.append(await receive())
    body = b"".join(piece.get("body", b"") for piece in pieces)

    async def again() -> Message:
        return pieces.pop(0) if pieces else await receive()

    return body, again


def _ids(body: bytes, *names: str) -> Iterator[str]:
    """The ids that a JSON object gives under these names."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError):
        return
    if isinstance(value, dict):
        yield from (str(value[name]) for name in names if value.get(name))
