"""Access control: users with passwords, scripts with API keys, and limits on every request."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

from starlette.types import ASGIApp, Receive, Scope, Send

OWNER = "owner"
"""Key of the owner in a request's state."""
ANYONE = "anyone"
"""Owner of a request without key and cookie, such as a script's."""


class _WrappedRequest(Protocol):
    """A wrapped request, such as Gradio passes to an event handler."""

    request: Any


class HttpMiddleware(ABC):
    """ASGI middleware; a subclass says in `handle` what it does with a request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; the app's start and end pass through."""
        await (self.handle if scope["type"] == "http" else self.app)(scope, receive, send)

    @abstractmethod
    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""


def owner_of(scope: Mapping[str, Any]) -> str:
    """The owner of a request's conversations and of its place in the queue: a user or a browser.

    Args:
        scope: the request's ASGI scope.
    """
    return str(scope.get("state", {}).get(OWNER, ANYONE))


def owner_behind(wrapped: _WrappedRequest) -> str:
    """Like `owner_of`, for the request that a page's event handler receives."""
    return owner_of(wrapped.request.scope) if wrapped.request else ANYONE


def path_of(scope: Mapping[str, Any]) -> str:
    """The path of a request below the one that the assistant is served under."""
    return str(scope["path"]).removeprefix(scope.get("root_path", "")) or "/"
