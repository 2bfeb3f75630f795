"""HTTP by h11, which takes at most 64 KB of headers; whoever does not finish them is cut off."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 20.0
"""Seconds in which the whole head of a request must come."""


class PatientProtocol(H11Protocol):
    """A connection that ends if the next request's head does not come in time."""

    patience = PATIENCE

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Made by uvicorn for each connection."""
        super().__init__(*args, **kwargs)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait_for_head()

    def on_response_complete(self) -> None:
        """Wait for the next one."""
        super().on_response_complete()
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        if self._deadline:
            self._deadline.cancel()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        if self._deadline:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(self.patience, self._give_up)

    def _give_up(self) -> None:
        if self.cycle is None or self.cycle.response_complete:  # else a request is answered
            self.transport.close()
