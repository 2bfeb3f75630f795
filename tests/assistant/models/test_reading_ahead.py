import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import aclosing

import pytest

from assistant.models.llama.reading_ahead import read_ahead, read_ahead_async
from retrieval.types import Cancelled

Begin = Callable[[Callable[[], bool]], Iterator[str]]


def never() -> bool:
    return False


def telling(*pieces: str) -> Begin:
    return lambda _stopped: iter(pieces)


def endless(seen: list[str]) -> Begin:
    """Writes until it is told to end, and remembers that it did."""

    def begin(stopped: Callable[[], bool]) -> Iterator[str]:
        try:
            while not stopped():
                yield "word "
            raise Cancelled
        finally:
            seen.append("ended")

    return begin


def test_all_pieces_in_order() -> None:
    assert list(read_ahead(telling("a", "", "b"), never)) == ["a", "", "b"]


def test_nothing_is_begun_before_it_is_read() -> None:
    before = threading.active_count()
    unread = read_ahead(telling("a"), never)
    assert threading.active_count() == before
    unread.close()


def test_the_work_goes_on_while_the_reader_pauses() -> None:
    done = threading.Event()

    def begin(_stopped: Callable[[], bool]) -> Iterator[str]:
        yield "a"
        yield "b"
        done.set()

    pieces = read_ahead(begin, never)
    assert next(pieces) == "a"
    assert done.wait(timeout=60)
    assert list(pieces) == ["b"]


def test_the_work_has_ended_when_the_reader_closes() -> None:
    seen: list[str] = []
    pieces = read_ahead(endless(seen), never)
    next(pieces)
    pieces.close()
    assert seen == ["ended"]


def test_the_work_has_ended_when_the_reader_forgets() -> None:
    seen: list[str] = []
    pieces = read_ahead(endless(seen), never)
    next(pieces)
    del pieces
    assert seen == ["ended"]


def test_a_stop_is_told_before_what_was_written_ahead() -> None:
    stop = threading.Event()
    pieces = read_ahead(telling("a", "b", "c"), stop.is_set)
    assert next(pieces) == "a"
    stop.set()
    with pytest.raises(Cancelled):
        next(pieces)


def test_an_error_is_raised_where_the_pieces_are_read() -> None:
    def begin(_stopped: Callable[[], bool]) -> Iterator[str]:
        yield "a"
        raise RuntimeError("no memory")

    pieces = read_ahead(begin, never)
    assert next(pieces) == "a"
    with pytest.raises(RuntimeError, match="no memory"):
        next(pieces)


def test_an_async_reader_gets_every_piece_and_the_error_at_the_end() -> None:
    def begin(_stopped: Callable[[], bool]) -> Iterator[int]:
        yield 1
        yield 2
        raise ValueError("worn out")

    read: list[int] = []

    async def take_all() -> None:
        async for piece in read_ahead_async(begin):
            read.append(piece)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(ValueError, match="worn out"):
        asyncio.run(take_all())
    assert read == [1, 2]


def test_an_async_reader_that_is_cancelled_stops_the_work() -> None:
    going, ended = threading.Event(), threading.Event()

    def begin(stopped: Callable[[], bool]) -> Iterator[int]:
        yield 1
        while not stopped():
            going.wait(0.01)
        ended.set()

    async def read(begun: asyncio.Event) -> None:
        async with aclosing(read_ahead_async(begin)) as pieces:
            async for _ in pieces:
                begun.set()

    async def give_up() -> None:
        begun = asyncio.Event()
        reading = asyncio.ensure_future(read(begun))
        await begun.wait()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)

    asyncio.run(give_up())
    assert ended.wait(30)


def test_work_whose_loop_has_ended_ends_too() -> None:
    going, ended = threading.Event(), threading.Event()

    def begin(stopped: Callable[[], bool]) -> Iterator[int]:
        yield 1
        going.wait(30)
        yield 2
        assert stopped()
        ended.set()

    async def read() -> None:
        async with aclosing(read_ahead_async(begin)) as pieces:
            assert await anext(pieces) == 1

    asyncio.run(read())
    going.set()
    assert ended.wait(30)
