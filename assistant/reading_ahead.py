"""A generator that works in a thread of its own, so that it waits for nobody."""

import queue
import threading
from collections.abc import Callable, Generator, Iterator
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
