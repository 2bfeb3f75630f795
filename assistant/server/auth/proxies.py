"""What a proxy in front says of a request: believed only from the proxies that a setting names."""

import re

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from assistant.settings import Settings

_FORWARDED = (b"x-forwarded-", b"forwarded")
"""How the names of headers begin that only a proxy may send."""
_NEVER_BELIEVED = (b"x-forwarded-host", b"forwarded")
"""A proxy may pass on these from its client; it names the host in `Host`."""
_PREFIX = re.compile(r"(/[\w.~-]+)+/?", re.ASCII)


class Proxied:
    """ASGI middleware that drops the headers of strangers, and serves below a prefix."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        """Wrap `app`, which sees the client's address and scheme as a named proxy says them."""
        proxies = [each.strip() for each in settings.proxies.split(",") if each.strip()]
        # uvicorn's types of an app are its own.
        self._believing = ProxyHeadersMiddleware(app, proxies)  # type: ignore[arg-type]
        self._root_path = settings.root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; the prefix is in its path, whether or not the proxy strips it."""
        if scope["type"] == "http":
            scope = {**scope, **self._below_prefix(scope)}
        await self._believing(scope, receive, send)  # type: ignore[arg-type]

    def _below_prefix(self, scope: Scope) -> Scope:
        """The parts of `scope` that change."""
        client = scope.get("client")
        is_proxy = client and client[0] in self._believing.trusted_hosts
        dropped = _NEVER_BELIEVED if is_proxy else _FORWARDED
        headers = [each for each in scope["headers"] if not each[0].lower().startswith(dropped)]
        said = Headers(raw=headers).get("x-forwarded-prefix", "")
        prefix = said.rstrip("/") if _PREFIX.fullmatch(said) else self._root_path
        path = scope["path"]
        if path != prefix and not path.startswith(f"{prefix}/"):
            path = prefix + path
        return {"path": path, "root_path": prefix, "headers": headers}
