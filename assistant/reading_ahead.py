"""A generator that works in a thread of its own, so that it waits for nobody."""

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import suppress
from typing import TypeVar

from retrieval.errors import Cancelled

T = TypeVar("T")


def read_ahead(
    begin: Callable[[Callable[[], bool]], Iterator[T]], stopped: Callable[[], bool]
) -> Generator[T, None, None]:
    """What `begin` yields, whose work goes on while the pieces are looked at.

    A reader that pauses or forgets to close therefore holds nothing that `begin` holds. When this
    is closed, the work has ended.

    Args:
        begin: makes the generator, given what tells it to end with `Cancelled`.
        stopped: whether the reader wants no more; asked from both threads.

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
    """As `read_ahead`, for a reader in an event loop: while it waits it holds no thread.

    Once this is closed the work ends soon, without being waited for.
    """
    loop = asyncio.get_running_loop()
    closed = threading.Event()
    pieces: asyncio.Queue[T | BaseException | None] = asyncio.Queue()

    def put(piece: T | BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop has ended, and whoever read in it
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
