"""Builds the app and serves it with uvicorn: startup checks, graceful shutdown, header timeout."""

import asyncio
import signal
import socket
import sys

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from assistant.server.api.routes import add_api
from assistant.server.auth import HttpMiddleware, path_of
from assistant.server.auth.accounts import read_users
from assistant.server.auth.guard import protect, warn_if_open
from assistant.server.auth.headers import Proxied
from assistant.server.jobs.setup import check_paths
from assistant.server.metrics import MetricsMiddleware
from assistant.server.service import Service
from assistant.server.web import mount_page
from assistant.settings import Settings, reach_directly
from retrieval.types import ServeError

_SHUTDOWN_TIMEOUT = 5
"""Seconds that open connections have to end when the server does: a model is stopped in between."""


def serve(settings: Settings) -> None:
    """Serve until Ctrl-C or SIGTERM.

    Raises:
        ServeError: the address or port cannot be used.
        LibraryError: the library's folder cannot be used.
        ModelError: a model given by its path is not a usable file.
        InputError: the auth file is missing or broken.
    """
    _check_port(settings.host, settings.port)
    check_paths(settings)
    if settings.auth_file:
        read_users(settings.auth_file)
    reach_directly(settings.host)
    service = Service(settings)
    app = GracefulShutdown(build_app(service))
    config = uvicorn.Config(
        Proxied(app, settings),
        host=settings.host,
        port=settings.port,
        log_level="warning",
        http=HeaderTimeoutProtocol,
        ws="none",  # the access middleware looks at requests alone
        server_header=False,
        proxy_headers=False,  # `Proxied` reads them
        timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT,
    )
    warn_if_open(settings)
    service.setup.start()
    service.pinned.start()
    # uvicorn raises SIGTERM again once all is done, which would end the process by the signal.
    signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        _Server(config, service, app).run()
    finally:
        service.jobs.stop()
        service.setup.stop()
        service.database.close()


def build_app(service: Service) -> FastAPI:
    """The HTTP API and the page, behind access control and metrics."""
    app = FastAPI(title="Abstracts assistant", docs_url=None, redoc_url=None)
    add_api(app, service)
    mount_page(app, service)
    protect(app, service.settings, service.database)
    app.add_middleware(MetricsMiddleware, metrics=service.metrics)
    return app


class _Server(uvicorn.Server):
    """Prints its address once it listens, and ends all answers when it shuts down."""

    def __init__(self, config: uvicorn.Config, service: Service, app: "GracefulShutdown") -> None:
        super().__init__(config)
        self._service = service
        self._app = app

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            address = f"http://{self.config.host}:{self.config.port}"
            print(f"The assistant is at {address} (Ctrl-C ends it).", file=sys.stderr, flush=True)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all answers first, so that no connection and no thread is left."""
        self._service.close()
        self._app.end()
        await super().shutdown(sockets)


class GracefulShutdown(HttpMiddleware):
    """Tells every stream of the page that its client has gone once the server ends.

    A page keeps a stream open for as long as it is shown. Otherwise the server would wait for such
    a stream and then cancel it with a traceback. Answers of the API end by themselves: their
    questions are stopped, and they say so.
    """

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self._ended = asyncio.Event()

    def end(self) -> None:
        """Disconnect all streams, now and from now on."""
        self._ended.set()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        unfinished = False

        async def receive_or_end() -> Message:
            receiving = asyncio.ensure_future(receive())
            ending = asyncio.ensure_future(self._ended.wait())
            try:
                await asyncio.wait({receiving, ending}, return_when=asyncio.FIRST_COMPLETED)
                return receiving.result() if receiving.done() else {"type": "http.disconnect"}
            finally:
                receiving.cancel()
                ending.cancel()

        async def watched_send(message: Message) -> None:
            nonlocal unfinished
            unfinished = message["type"] == "http.response.start" or message.get("more_body", False)
            await send(message)

        if path_of(scope).startswith("/v1/"):
            await self.app(scope, receive, send)
            return
        await self.app(scope, receive_or_end, watched_send)
        if unfinished and self._ended.is_set():
            await send({"type": "http.response.body"})


class HeaderTimeoutProtocol(H11Protocol):
    """Closes a connection if the next request's head does not arrive in time (slowloris)."""

    head_timeout = 20.0
    """Seconds in which the whole head of a request must arrive."""
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait_for_head()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        if self._deadline:
            self._deadline.cancel()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        if self._deadline:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(self.head_timeout, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if self.cycle is None or self.cycle.response_complete:  # else an answer is being sent
            self.transport.close()


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
