"""User accounts: names, passwords and API keys, hashed with argon2id (RFC 9106) in a JSON file."""

import hmac
import re
import secrets
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated

from argon2 import PasswordHasher, Type, extract_parameters
from argon2.exceptions import InvalidHashError, VerifyMismatchError
from filelock import FileLock
from pydantic import AfterValidator, BaseModel, ValidationError

from retrieval.index.files import write_whole
from retrieval.types import InputError

SHORTEST = 8
"""Characters that a password must have."""
LONGEST = 256
"""Characters that a password may have."""
_HASHER = PasswordHasher()
DUMMY_HASH = (
    f"$argon2id$v=19$m={_HASHER.memory_cost},t={_HASHER.time_cost},p={_HASHER.parallelism}"
    f"${'A' * 22}${'A' * 43}"
)
"""Checked if a user or key does not exist, so that the check takes as long as any other.

Salt and digest are zeros; no known secret has this digest.
"""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_OWNER_ONLY = 0o600
_KEY_MARK = "aa"


def _checked_hash(text: str) -> str:
    with suppress(InvalidHashError):
        if extract_parameters(text).type is Type.ID:
            return text
    raise ValueError("not an argon2id hash")


_Hash = Annotated[str, AfterValidator(_checked_hash)]


class _Record(BaseModel, extra="forbid"):
    pass


class Key(_Record):
    """An API key, without the key."""

    hash: _Hash
    """Of the whole key."""
    made: date


class User(_Record):
    """A user who may sign in."""

    password: _Hash
    keys: dict[str, Key] = {}
    """By their public part."""


class Users(_Record):
    """The content of an auth file."""

    users: dict[str, User] = {}
    """By name."""

    def with_key(self, key_id: str) -> tuple[str, Key] | None:
        """The owner's name and the key's record, or None."""
        for name, user in self.users.items():
            if key_id in user.keys:
                return name, user.keys[key_id]
        return None


class Accounts:
    """The users of an auth file; the file is read again whenever it changes."""

    def __init__(self, path: Path) -> None:
        """Read the file; raises like `read_users`."""
        self._path = path
        self._stamp = _stamp_of(path)
        self._users = read_users(path)
        self._secret = secrets.token_bytes(32)
        self._verified: set[tuple[bytes, str]] = set()
        """Digests of the keys that were accepted, with their hashes in the file."""

    def user(self, name: str) -> User | None:
        """The user of this name, or None."""
        return self._current().users.get(name)

    def with_password(self, name: str, password: str) -> str | None:
        """The user's name if the password matches; equally slow if there is no such user."""
        user = self.user(name)
        right = matches(user.password if user else DUMMY_HASH, password[: LONGEST + 1])
        return name if user and right else None

    def with_key(self, key: str) -> str | None:
        """The name of the API key's owner, or None; equally slow if there is no such key."""
        found = self._current().with_key(key_id_of(key))
        right = matches(found[1].hash if found else DUMMY_HASH, key)
        if not found or not right:
            return None
        self._verified.add((self._digest(key), found[1].hash))
        return found[0]

    def with_verified_key(self, key: str) -> str | None:
        """Like `with_key`, but quick, and only for a key that `with_key` has accepted before."""
        found = self._current().with_key(key_id_of(key))
        known = found and (self._digest(key), found[1].hash) in self._verified
        return found[0] if found and known else None

    def _digest(self, key: str) -> bytes:
        return hmac.digest(self._secret, key.encode(errors="surrogatepass"), "sha256")

    def _current(self) -> Users:
        """The file's present content; a broken file has no users."""
        stamp = _stamp_of(self._path)
        if stamp != self._stamp:
            try:
                self._users = read_users(self._path)
            except InputError as error:
                self._users = Users()
                print(f"assistant: nobody can sign in: {error}", file=sys.stderr, flush=True)
            self._stamp = stamp
        return self._users


def read_users(path: Path) -> Users:
    """Read an auth file.

    Raises:
        InputError: it is missing, unreadable or not an auth file.
    """
    try:
        return Users.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError(
            f"There is no auth file {path}; make it with "
            f"`assistant users add NAME --auth-file {path}`."
        ) from error
    except OSError as error:
        raise InputError(
            f"The auth file {path} cannot be read ({error.strerror}); check its owner and mode."
        ) from error
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{path} is no auth file ({where + ': ' if where else ''}{first['msg']}); mend it, or "
            "make another with `assistant users add`."
        ) from error


def add_user(path: Path, name: str, password: str) -> None:
    """Add a user; the file is created if there is none.

    Raises:
        InputError: the name or password is not valid, the name is taken, or the file is broken.
        LibraryError: the file cannot be written.
    """
    name, password = checked_name(name), hashed(checked_password(password))
    with _edited(path, create=True) as users:
        if name in users.users:
            raise InputError(f"There is a user {name!r} already; `users remove` takes them out.")
        users.users[name] = User(password=password)


def remove_user(path: Path, name: str) -> None:
    """Remove a user and their keys; raises like `add_user`, or if there is no such user."""
    with _edited(path) as users:
        _known(users, name)
        del users.users[name]


def make_key(path: Path, name: str) -> str:
    """Add an API key to a user and return it, of which only the hash is stored.

    It raises like `add_user`, or if there is no such user.
    """
    with _edited(path) as users:
        user = _known(users, name)
        key_id = secrets.token_hex(8)
        key = f"{_KEY_MARK}_{key_id}_{secrets.token_urlsafe(32)}"
        user.keys[key_id] = Key(hash=hashed(key), made=datetime.now(UTC).date())
    return key


def revoke_key(path: Path, key_id: str) -> None:
    """Remove an API key; raises like `add_user`, or if there is no such key."""
    with _edited(path) as users:
        found = users.with_key(key_id)
        if found is None:
            raise InputError(f"There is no key {key_id!r}; `assistant users list` names them.")
        del users.users[found[0]].keys[key_id]


def key_id_of(key: str) -> str:
    """The public part of an API key; empty if `key` is not one."""
    mark, _, rest = key.partition("_")
    key_id, _, secret = rest.partition("_")
    return key_id if mark == _KEY_MARK and secret else ""


def checked_name(name: str) -> str:
    """`name`, if it is a valid user name.

    Raises:
        InputError: it is not.
    """
    if _NAME.fullmatch(name):
        return name
    raise InputError(
        f"{name!r} cannot be a user's name; take 1 to 64 small letters (a to z), digits, dots, "
        "hyphens and underscores, a letter or digit first."
    )


def checked_password(password: str) -> str:
    """`password`, if its length is valid.

    Raises:
        InputError: it is too short or too long.
    """
    if SHORTEST <= len(password) <= LONGEST:
        return password
    raise InputError(
        f"The password has {len(password)} characters; "
        f"choose one of {SHORTEST} to {LONGEST}, such as four words."
    )


def hashed(secret: str) -> str:
    """A salted hash of `secret`; takes about a tenth of a second."""
    return _HASHER.hash(_composed(secret))


def matches(hash_: str, secret: str) -> bool:
    """Whether `hash_` was made from `secret`; takes as long as `hashed` either way."""
    try:
        return _HASHER.verify(hash_, _composed(secret))
    except (VerifyMismatchError, InvalidHashError):
        return False


def _known(users: Users, name: str) -> User:
    if name not in users.users:
        raise InputError(f"There is no user {name!r}; `assistant users list` names them.")
    return users.users[name]


@contextmanager
def _edited(path: Path, *, create: bool = False) -> Iterator[Users]:
    """The file's content, to be changed; written if the block does not raise."""
    try:
        with FileLock(path.with_name(f"{path.name}.lock"), mode=_OWNER_ONLY):
            users = Users() if create and not path.exists() else read_users(path)
            yield users
            write_whole(path, users.model_dump_json(indent=2) + "\n", mode=_OWNER_ONLY)
    except OSError as error:
        raise InputError(
            f"The auth file {path} cannot be written ({error.strerror}); check its folder."
        ) from error


def _composed(secret: str) -> str:
    """One form for letters that keyboards compose differently (NIST SP 800-63B, 5.1.1.2)."""
    return unicodedata.normalize("NFKC", secret)


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    """Values that change with the file; None if it is missing."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
