"""The browser app and the HTTP API in one process, served while the first start goes on."""

import socket
import sys

import uvicorn
from fastapi import FastAPI

from assistant.access.protection import check_auth_file, protect, warn_if_open
from assistant.api import Counted, add_api
from assistant.browser import mount_page
from assistant.ending import Ending
from assistant.http_protocol import PatientProtocol
from assistant.service import Service
from assistant.settings import Settings, reach_directly
from assistant.setup import check_given
from retrieval.errors import ServeError

_LAST_ANSWERS = 2
"""Seconds that open connections have to end when the server does."""


def serve(settings: Settings) -> None:
    """Serve until Ctrl-C.

    Raises:
        ServeError: the address or port cannot be used.
        LibraryError: the library's folder cannot be used.
        ModelError: a model that was named is no usable file.
        InputError: the auth file is missing or broken.
    """
    _check_port(settings.host, settings.port)
    check_given(settings)
    check_auth_file(settings)
    reach_directly(settings.host)
    service = Service(settings)
    app = Ending(build_app(service))
    server = _Server(
        uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            log_level="warning",
            http=PatientProtocol,
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=_LAST_ANSWERS,
        ),
        service,
        app,
    )
    warn_if_open(settings)
    service.setup.start()
    try:
        server.run()
    finally:
        service.ingesting.stop()
        service.setup.stop()


def build_app(service: Service) -> FastAPI:
    """Everything that is served."""
    app = FastAPI(title="Abstracts assistant", docs_url=None, redoc_url=None)
    add_api(app, service)
    mount_page(app, service)
    protect(app, service.settings)
    app.add_middleware(Counted, metrics=service.metrics)
    return app


class _Server(uvicorn.Server):
    """Says where it is once it listens, and ends the answers when it ends."""

    def __init__(self, config: uvicorn.Config, service: Service, app: Ending) -> None:
        """Serve `service`, which `app` asks."""
        super().__init__(config)
        self._service = service
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop all answers, so that no connection and no thread goes on, then end."""
        self._service.close()
        self._app.end()
        await super().shutdown(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        if self.started:
            address = f"http://{self.config.host}:{self.config.port}"
            print(f"The assistant is at {address} (Ctrl-C ends it).", file=sys.stderr, flush=True)


def _check_port(host: str, port: int) -> None:
    """Refuse a port that is taken before anything is loaded."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ServeError(
                f"The address {host} port {port} cannot be used ({error.strerror}); "
                "end the program that uses it, or choose another with --port."
            ) from error
