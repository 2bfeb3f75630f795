"""Whose request it is, as the guard found out."""

from collections.abc import Mapping
from typing import Any

OWNER = "owner"
"""Where the guard puts it in a request's state."""


def owner_of(scope: Mapping[str, Any]) -> str:
    """What belongs to one person belongs to this name: a user, or a browser.

    Args:
        scope: the request's ASGI scope.
    """
    return str(scope.get("state", {}).get(OWNER, "anyone"))
