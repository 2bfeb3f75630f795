"""The end of a server whose pages are open: streams that would go on for ever."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Ending:
    """Tells every stream that its reader has gone, once the server ends.

    A page keeps a stream open for as long as it is shown. Left alone, such a stream is waited for,
    and then cancelled with a traceback.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Stand before `app`."""
        self._app = app
        self._ended = asyncio.Event()

    def end(self) -> None:
        """The server ends."""
        self._ended.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on; a response that is cut off is ended as it should be."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        more = False

        async def noting(message: Message) -> None:
            nonlocal more
            more = message["type"] == "http.response.start" or message.get("more_body", False)
            await send(message)

        await self._app(scope, lambda: self._received(receive), noting)
        if more and self._ended.is_set():
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _received(self, receive: Receive) -> Message:
        """What the client sends, or that it has gone."""
        receiving = asyncio.ensure_future(receive())
        ending = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait({receiving, ending}, return_when=asyncio.FIRST_COMPLETED)
            return receiving.result() if receiving.done() else {"type": "http.disconnect"}
        finally:
            receiving.cancel()
            ending.cancel()
