"""Every HTTP request, counted by its route and how it ended."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.metrics import Metrics

_METHODS = frozenset("DELETE GET HEAD OPTIONS PATCH POST PUT".split())


class Counted:
    """Counts the requests that `app` answers."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        """Tell `metrics` of them."""
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on and note its status; 499 where none was sent."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 499

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.request(method, _route(scope), status)


def _route(scope: Scope) -> str:
    """The pattern of the route, never the path: of paths there may be any number."""
    return str(getattr(scope.get("route"), "path_format", "other"))
