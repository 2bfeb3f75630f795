import threading
from collections.abc import Callable, Iterator

import pytest

from assistant.reading_ahead import read_ahead
from retrieval.errors import Cancelled

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
