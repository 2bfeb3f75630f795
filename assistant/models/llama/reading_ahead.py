"""Runs a generator in a thread of its own, so that a slow reader does not hold it up."""

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import suppress
from typing import TypeVar

from retrieval.encoders.llamacpp import Stopped
from retrieval.types import Cancelled

T = TypeVar("T")
Begin = Callable[[Stopped], Iterator[T]]
"""Makes a generator; its argument says when to end with `Cancelled`."""


def read_ahead(begin: Begin[T], stopped: Stopped) -> Generator[T, None, None]:
    """Yield what `begin` yields, while its work continues in a thread.

    A reader that pauses or forgets to close therefore blocks none of the locks of `begin`. Once
    this is closed, the work has ended. `stopped` is called from both threads; once it is true,
    `Cancelled` is raised.
    """
    closed = threading.Event()
    pieces: queue.SimpleQueue[T | BaseException | None] = queue.SimpleQueue()
    worker = _start(begin, lambda: closed.is_set() or stopped(), pieces.put)
    try:
        while (piece := pieces.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            if stopped():
                raise Cancelled
            yield piece
    finally:
        closed.set()
        worker.join()


async def read_ahead_async(begin: Begin[T]) -> AsyncGenerator[T, None]:
    """`read_ahead` for a reader in an event loop, which needs no thread while it waits.

    Once this is closed the work ends soon; nothing waits for it.
    """
    loop = asyncio.get_running_loop()
    closed = threading.Event()
    pieces: asyncio.Queue[T | BaseException | None] = asyncio.Queue()

    def put(piece: T | BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop has ended, and its reader
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

    _start(begin, closed.is_set, put)
    try:
        while (piece := await pieces.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece
    finally:
        closed.set()


def _start(
    begin: Begin[T], stopped: Stopped, put: Callable[[T | BaseException | None], None]
) -> threading.Thread:
    """Put every piece, and at the end None or the error, from a thread of its own."""

    def work() -> None:
        try:
            for piece in begin(stopped):
                put(piece)
            put(None)
        except BaseException as error:
            put(error)

    worker = threading.Thread(target=work, name="writing")
    worker.start()
    return worker
