"""Slow, salted hashes of passwords and keys: argon2id (RFC 9106)."""

import base64
import secrets
import unicodedata

from argon2 import PasswordHasher, Type, extract_parameters
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from retrieval.errors import InputError

SHORTEST = 8
"""Characters that a password must have."""
LONGEST = 256
"""Characters that a password may have."""

_HASHER = PasswordHasher()


def _of_nobody() -> str:
    """A hash that nothing matches, of the same cost as the others."""
    salt, digest = (
        base64.b64encode(secrets.token_bytes(size)).decode().rstrip("=")
        for size in (_HASHER.salt_len, _HASHER.hash_len)
    )
    cost = f"m={_HASHER.memory_cost},t={_HASHER.time_cost},p={_HASHER.parallelism}"
    return f"$argon2id$v=19${cost}${salt}${digest}"


NOBODY = _of_nobody()
"""Compared with where there is no such name, so that an answer takes as long as for any other."""


def hashed(secret: str) -> str:
    """The hash of `secret` with a salt of its own; takes about a tenth of a second."""
    return _HASHER.hash(_composed(secret))


def matches(hash_: str, secret: str) -> bool:
    """Whether `hash_` was made from `secret`; takes as long as `hashed`, whatever the answer."""
    try:
        return _HASHER.verify(hash_, _composed(secret))
    except (VerifyMismatchError, InvalidHashError):
        return False


def is_hash(text: str) -> bool:
    """Whether `text` is a hash such as `hashed` makes."""
    try:
        return extract_parameters(text).type is Type.ID
    except InvalidHashError:
        return False


def checked_password(password: str) -> str:
    """`password`, if it may be one.

    Raises:
        InputError: it is too short or too long.
    """
    if SHORTEST <= len(password) <= LONGEST:
        return password
    raise InputError(
        f"The password has {len(password)} characters; "
        f"choose one of {SHORTEST} to {LONGEST}, such as four words."
    )


def _composed(secret: str) -> str:
    """One form for letters that keyboards compose differently (NIST SP 800-63B, 5.1.1.2)."""
    return unicodedata.normalize("NFKC", secret)
