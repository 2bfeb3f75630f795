"""What a proxy in front says of a request: believed only from the proxies that a setting names."""

import ipaddress
import re
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from assistant.settings import Settings

_FORWARDED = (b"x-forwarded-", b"forwarded")
"""How the names of headers begin that only a proxy may send."""
_NEVER_BELIEVED = (b"x-forwarded-host", b"forwarded")
"""A proxy may pass on these from its client; it names the host in `Host`."""
_PREFIX = re.compile(r"(/[\w.~-]+)+/?", re.ASCII)


def behind_proxies(app: ASGIApp, settings: Settings) -> ASGIApp:
    """`app` as the named proxies show it: with the client's address, scheme and prefix."""
    proxies = [each.strip() for each in settings.proxies.split(",") if each.strip()]
    # uvicorn's types of an app are its own.
    believing = ProxyHeadersMiddleware(app, trusted_hosts=proxies)  # type: ignore[arg-type]
    return Proxied(believing, proxies, settings.root_path)  # type: ignore[arg-type]


class Proxied:
    """ASGI middleware that drops the headers of strangers, and serves under a prefix."""

    def __init__(self, app: ASGIApp, proxies: Sequence[str], root_path: str) -> None:
        """Wrap `app`.

        Args:
            app: believes the headers that are left.
            proxies: addresses and networks.
            root_path: the prefix if no proxy names one, such as `/papers`.
        """
        self._app = app
        self._networks = [ipaddress.ip_network(each) for each in proxies]
        self._root_path = root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; the prefix is in its path, whether or not the proxy strips it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        dropped = _NEVER_BELIEVED if self._is_proxy(scope) else _FORWARDED
        headers = [each for each in scope["headers"] if not each[0].lower().startswith(dropped)]
        said = Headers(raw=headers).get("x-forwarded-prefix", "")
        prefix = said.rstrip("/") if _PREFIX.fullmatch(said) else self._root_path
        path = scope["path"]
        if path != prefix and not path.startswith(f"{prefix}/"):
            path = prefix + path
        changed = {"path": path, "root_path": prefix, "headers": headers}
        await self._app({**scope, **changed}, receive, send)

    def _is_proxy(self, scope: Scope) -> bool:
        try:
            address = ipaddress.ip_address(scope["client"][0])
        except (TypeError, ValueError):  # a socket in the file system has no address
            return False
        return any(address in network for network in self._networks)
