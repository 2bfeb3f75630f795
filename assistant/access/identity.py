"""Whose request it is, as the guard found out."""

from collections.abc import Mapping
from typing import Any, Protocol

OWNER = "owner"
"""Where the guard puts it in a request's state."""
ANYONE = "anyone"
"""Whose it is where nobody could tell: a script that brings neither key nor cookie."""


class _Asked(Protocol):
    """A request that wraps the server's, such as a page's event handler is given."""

    request: Any


def owner_of(scope: Mapping[str, Any]) -> str:
    """What belongs to one person belongs to this name: a user, or a browser.

    Args:
        scope: the request's ASGI scope.
    """
    return str(scope.get("state", {}).get(OWNER, ANYONE))


def owner_behind(asked: _Asked) -> str:
    """The same for the request that a page's event handler is given."""
    return owner_of(asked.request.scope) if asked.request else ANYONE
