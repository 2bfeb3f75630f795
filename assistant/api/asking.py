"""Work for somebody who may go away before it is done."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

T = TypeVar("T")


class ClientGone(Exception):  # noqa: N818 - it reports a wish, not a fault
    """Whoever asked has closed the connection."""


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives; it is cancelled as soon as the client has gone.

    Args:
        receive: the request's, whose body was read.
        work: what the client waits for.

    Raises:
        ClientGone: the client has.
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


class EventStream(StreamingResponse):
    """Server-sent events; what makes them ends when the client goes."""

    media_type = "text/event-stream"

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Send them all, or as many as are wanted."""
        try:
            await unless_gone(receive, self.stream_response(send))
        except ClientGone:
            return
