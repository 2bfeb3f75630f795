"""Which answers are to be stopped."""

import threading


class Stops:
    """One flag a session: whether its answer is to be stopped."""

    def __init__(self) -> None:
        """No session has asked yet."""
        self._flags: dict[str, threading.Event] = {}

    def begin(self, session: str) -> threading.Event:
        """A fresh flag for the session's next answer; an answer still running is stopped."""
        self.stop(session)
        self._flags[session] = threading.Event()
        return self._flags[session]

    def stop(self, session: str) -> None:
        """Stop the session's answer, if there is one."""
        if flag := self._flags.get(session):
            flag.set()

    def is_current(self, session: str, flag: threading.Event) -> bool:
        """Whether the session still waits for the answer that `flag` stops."""
        return self._flags.get(session) is flag

    def end(self, session: str) -> None:
        """Stop and forget the session: its page was closed, or it shows something else."""
        self.stop(session)
        self._flags.pop(session, None)
