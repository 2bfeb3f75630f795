"""Runs a downloader as a subprocess that reports progress and can be stopped at any time."""

import queue
import re
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Final

PROGRESS_LINE: Final = re.compile(r"Progress (\d+) of (\d+)")
"""A line of `pip --progress-bar raw` and of our own downloader."""
LOOK_SECONDS = 0.5
"""Longest time between two reports of progress, so that a silent download can be stopped."""
STOP_SECONDS = 5.0
"""Time a subprocess has to end when asked, before it is killed."""
KEPT_LINES = 50
"""Last lines of output kept for an error."""


class DownloadFailedError(Exception):
    """The subprocess ended with an error; never leaves this package."""

    def __init__(self, code: int, lines: Sequence[str]) -> None:
        """Keep the exit code and the last lines of output, without the progress lines."""
        super().__init__(f"exit {code}: {lines[-1:]}")
        self.code = code
        self.lines = tuple(lines)


def run_download(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    report: Callable[[int, int], None],
) -> None:
    """Run `command` until it ends, calling `report(done, total)` in bytes as it advances.

    `report` is called at least every `LOOK_SECONDS` and may raise to stop: the subprocess is then
    ended and waited for, as with every other exception (Ctrl-C too).

    Raises:
        DownloadFailedError: the command's exit code was not 0.
    """
    process = subprocess.Popen(  # noqa: S603 - our own arguments, no shell
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,  # a question about a password must not wait for an answer
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    try:
        kept = _follow(process, report)
        code = process.wait()
    finally:
        _end(process)
    if code != 0:
        raise DownloadFailedError(code, kept)


def _follow(process: subprocess.Popen[str], report: Callable[[int, int], None]) -> list[str]:
    """Report until the output ends; return the last lines that were not progress."""
    kept: list[str] = []
    done = total = 0
    report(done, total)
    for line in _lines(process.stdout):
        if line and (match := PROGRESS_LINE.fullmatch(line.strip())):
            done, total = int(match[1]), int(match[2])
        elif line and line.strip():
            kept = [*kept[-KEPT_LINES:], line.strip()]
        report(done, total)
    return kept


def _lines(stream: IO[str] | None) -> Iterator[str | None]:
    """Each line of `stream`; None whenever none came for `LOOK_SECONDS`."""
    if stream is None:
        return
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(stream, lines), daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            yield None
            continue
        if line is None:
            return
        yield line


def _read(stream: IO[str], lines: "queue.SimpleQueue[str | None]") -> None:
    try:
        for line in stream:
            lines.put(line)
    except ValueError:
        pass  # the stream was closed because the work was stopped
    finally:
        lines.put(None)


def _end(process: subprocess.Popen[str]) -> None:
    """End and reap the subprocess if it still runs, and close its output."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()
