"""Who may come in, as the auth file says now."""

import hmac
import secrets
import sys
from pathlib import Path

from assistant.access.auth_file import User, Users, key_id_of, read_users
from assistant.access.passwords import LONGEST, NOBODY, matches
from retrieval.errors import InputError

_Stamp = tuple[int, int, int]


class Accounts:
    """The users of an auth file, which is read again whenever it changes."""

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            InputError: it is missing, unreadable, or no such file.
        """
        self._path = path
        self._stamp = _stamp_of(path)
        self._users = read_users(path)
        self._secret = secrets.token_bytes(32)
        self._verified: dict[str, tuple[bytes, str]] = {}

    def user(self, name: str) -> User | None:
        """The user of this name, if there is one now."""
        return self._now().users.get(name)

    def with_password(self, name: str, password: str) -> str | None:
        """The user's name if the password is theirs; slow, and as slow if there is no such user."""
        user = self.user(name)
        right = matches(user.password if user else NOBODY, password[: LONGEST + 1])
        return name if user and right else None

    def with_key(self, key: str) -> str | None:
        """Whose API key it is; slow, and as slow for what is no key."""
        key_id = key_id_of(key)
        found = self._now().with_key(key_id)
        right = matches(found[1].hash if found else NOBODY, key)
        if not found or not right:
            return None
        self._verified[key_id] = self._digest(key), found[1].hash
        return found[0]

    def with_verified_key(self, key: str) -> str | None:
        """Whose API key it is, if `with_key` has found that before and it still holds; quick."""
        key_id = key_id_of(key)
        found = self._now().with_key(key_id)
        digest, hash_ = self._verified.get(key_id, (b"", ""))
        same = hmac.compare_digest(digest, self._digest(key))
        return found[0] if same and found and found[1].hash == hash_ else None

    def _digest(self, key: str) -> bytes:
        return hmac.digest(self._secret, key.encode(errors="surrogatepass"), "sha256")

    def _now(self) -> Users:
        """What the file says; nobody is let in by one that is broken."""
        stamp = _stamp_of(self._path)
        if stamp != self._stamp:
            try:
                self._users = read_users(self._path)
            except InputError as error:
                self._users = Users()
                print(f"assistant: nobody can sign in: {error}", file=sys.stderr, flush=True)
            self._stamp = stamp
        return self._users


def _stamp_of(path: Path) -> _Stamp | None:
    """What changes when the file does."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
