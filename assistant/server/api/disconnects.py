"""Stops work whose client has closed the connection."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

T = TypeVar("T")

CLIENT_GONE = 499
"""The status that is counted if no client is left to read one."""


class ClientGone(Exception):  # noqa: N818 - it reports a wish, not a fault
    """The client has closed the connection."""


class EventStream(StreamingResponse):
    """Server-sent events; their source is closed when the client goes."""

    media_type = "text/event-stream"

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until they end or the client goes."""
        try:
            await unless_gone(receive, self.stream_response(send))
        except ClientGone:
            return


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is cancelled as soon as the client goes.

    Args:
        receive: of the request, whose body has been read.
        work: the work for the client.

    Raises:
        ClientGone: the client has closed the connection.
    """
    working, watching = asyncio.ensure_future(work), asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone
        return working.result()
    finally:
        working.cancel()
        watching.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
