"""Runs a generator in a thread of its own, so that a slow reader does not hold it up."""

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import suppress
from typing import TypeVar

from retrieval.types import Cancelled

T = TypeVar("T")


def read_ahead(
    begin: Callable[[Callable[[], bool]], Iterator[T]], stopped: Callable[[], bool]
) -> Generator[T, None, None]:
    """Yield what `begin` yields, while its work continues in a thread.

    A reader that pauses or forgets to close therefore blocks none of the locks of `begin`. Once
    this is closed, the work has ended.

    Args:
        begin: makes the generator; its argument says when to end with `Cancelled`.
        stopped: whether the reader wants no more; called from both threads.

    Raises:
        Cancelled: `stopped()` became true.
    """
    closed = threading.Event()
    pieces: queue.SimpleQueue[T | BaseException | None] = queue.SimpleQueue()

    def work() -> None:
        try:
            for piece in begin(lambda: closed.is_set() or stopped()):
                pieces.put(piece)
            pieces.put(None)
        except BaseException as error:
            pieces.put(error)

    worker = threading.Thread(target=work, name="writing")
    worker.start()
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


async def read_ahead_async(
    begin: Callable[[Callable[[], bool]], Iterator[T]],
) -> AsyncGenerator[T, None]:
    """`read_ahead` for a reader in an event loop, which needs no thread while it waits.

    Once this is closed the work ends soon; nothing waits for it.
    """
    loop = asyncio.get_running_loop()
    closed = threading.Event()
    pieces: asyncio.Queue[T | BaseException | None] = asyncio.Queue()

    def put(piece: T | BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop has ended, and its reader
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

    def work() -> None:
        try:
            for piece in begin(closed.is_set):
                put(piece)
            put(None)
        except BaseException as error:
            put(error)

    threading.Thread(target=work, name="writing").start()
    try:
        while (piece := await pieces.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece
    finally:
        closed.set()
