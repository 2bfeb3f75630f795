"""The file of users: names, hashes of their passwords and of their API keys."""

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from assistant.access.passwords import checked_password, hashed, is_hash
from retrieval.errors import InputError
from retrieval.files import write_whole

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_OWNER_ONLY = 0o600
_KEY_MARK = "aa"


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Key(_Record):
    """An API key, without the key."""

    hash: str
    """argon2id, of the whole key."""
    made: date

    @field_validator("hash")
    @classmethod
    def _is_hash(cls, text: str) -> str:
        return _checked_hash(text)


class User(_Record):
    """Somebody who may come in."""

    password: str
    """Its argon2id hash."""
    keys: dict[str, Key] = Field(default_factory=dict)
    """By their public part."""

    @field_validator("password")
    @classmethod
    def _is_hash(cls, text: str) -> str:
        return _checked_hash(text)


class Users(_Record):
    """All that the file says."""

    users: dict[str, User] = Field(default_factory=dict)
    """By name."""

    def with_key(self, key_id: str) -> tuple[str, Key] | None:
        """Whose key it is, and its record."""
        for name, user in self.users.items():
            if key_id in user.keys:
                return name, user.keys[key_id]
        return None


def read_users(path: Path) -> Users:
    """What the file says.

    Raises:
        InputError: it is missing, unreadable, or no such file.
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
    """Add somebody; the file is made if there is none.

    Raises:
        InputError: the name or password cannot be one, the name is taken, or the file is broken.
        LibraryError: the file cannot be written.
    """
    name, password = checked_name(name), hashed(checked_password(password))
    with _changed(path, anew=True) as users:
        if name in users.users:
            raise InputError(f"There is a user {name!r} already; `users remove` takes them out.")
        users.users[name] = User(password=password)


def remove_user(path: Path, name: str) -> None:
    """Take somebody out, keys and all.

    Raises:
        InputError: there is no such user, or the file is missing or broken.
        LibraryError: the file cannot be written.
    """
    with _changed(path) as users:
        _known(users, name)
        del users.users[name]


def make_key(path: Path, name: str) -> str:
    """A new API key of a user; kept nowhere but as a hash.

    Raises:
        InputError: there is no such user, or the file is missing or broken.
        LibraryError: the file cannot be written.
    """
    with _changed(path) as users:
        user = _known(users, name)
        key_id = secrets.token_hex(4)
        while users.with_key(key_id):
            key_id = secrets.token_hex(4)
        key = f"{_KEY_MARK}_{key_id}_{secrets.token_urlsafe(32)}"
        user.keys[key_id] = Key(hash=hashed(key), made=datetime.now(UTC).date())
    return key


def revoke_key(path: Path, key_id: str) -> None:
    """Take an API key away.

    Raises:
        InputError: there is no such key, or the file is missing or broken.
        LibraryError: the file cannot be written.
    """
    with _changed(path) as users:
        found = users.with_key(key_id)
        if found is None:
            raise InputError(f"There is no key {key_id!r}; `assistant users list` names them.")
        del users.users[found[0]].keys[key_id]


def key_id_of(key: str) -> str:
    """The public part of an API key; empty if it is none."""
    mark, _, rest = key.partition("_")
    key_id, _, secret = rest.partition("_")
    return key_id if mark == _KEY_MARK and secret else ""


def checked_name(name: str) -> str:
    """`name`, if it may be a user's.

    Raises:
        InputError: it may not.
    """
    if _NAME.fullmatch(name):
        return name
    raise InputError(
        f"{name!r} cannot be a user's name; take 1 to 64 small letters (a to z), digits, dots, "
        "hyphens and underscores, a letter or digit first."
    )


def _known(users: Users, name: str) -> User:
    if name not in users.users:
        raise InputError(f"There is no user {name!r}; `assistant users list` names them.")
    return users.users[name]


@contextmanager
def _changed(path: Path, *, anew: bool = False) -> Iterator[Users]:
    """What the file says, to be changed; written when all went well."""
    try:
        with FileLock(path.with_name(f"{path.name}.lock"), mode=_OWNER_ONLY):
            users = Users() if anew and not path.exists() else read_users(path)
            yield users
            write_whole(path, users.model_dump_json(indent=2) + "\n", mode=_OWNER_ONLY)
    except OSError as error:
        raise InputError(
            f"The auth file {path} cannot be written ({error.strerror}); check its folder."
        ) from error


def _checked_hash(text: str) -> str:
    if is_hash(text):
        return text
    raise ValueError("not an argon2id hash")
