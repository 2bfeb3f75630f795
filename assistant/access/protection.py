"""All that stands between the network and the app."""

import sys

from fastapi import FastAPI

from assistant.access.accounts import Accounts
from assistant.access.auth_file import read_users
from assistant.access.bounds import Bounds
from assistant.access.closed import ClosedRoutes
from assistant.access.guard import BrowserGuard, Guard
from assistant.access.headers import SecurityHeaders
from assistant.access.origins import Origins, is_loopback
from assistant.settings import Settings


def protect(app: FastAPI, settings: Settings) -> None:
    """Add the middleware; what is added last meets a request first.

    Raises:
        InputError: the auth file is missing, unreadable or broken.
    """
    if settings.auth_file:
        app.add_middleware(Guard, accounts=Accounts(settings.auth_file))
    else:
        app.add_middleware(BrowserGuard)
    app.add_middleware(Bounds)
    app.add_middleware(ClosedRoutes)
    app.add_middleware(Origins, host=settings.host, server_name=settings.server_name)
    app.add_middleware(SecurityHeaders)


def check_auth_file(settings: Settings) -> None:
    """Find out before anything is loaded.

    Raises:
        InputError: the auth file is missing, unreadable or broken.
    """
    if settings.auth_file:
        read_users(settings.auth_file)


def warn_if_open(settings: Settings) -> None:
    """Say so where everybody in the network may come in."""
    if settings.auth_file is None and not is_loopback(settings.host):
        print(
            "Warning: whoever reaches this machine's port "
            f"{settings.port} can ask, read and add papers; --auth-file asks for a password.",
            file=sys.stderr,
        )
