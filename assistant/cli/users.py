"""`assistant users`: adds, lists and removes users and API keys in the auth file."""

import argparse
import getpass
import sys
from collections.abc import Callable
from pathlib import Path

from assistant.server.auth.accounts import (
    add_user,
    checked_name,
    checked_password,
    make_key,
    read_users,
    remove_user,
    revoke_key,
)
from retrieval.types import InputError


def run_users_action(options: argparse.Namespace, path: Path | None) -> None:
    """Run the action of `options` on the auth file at `path`.

    Raises:
        InputError: no file is named, or see the functions of `accounts`.
        LibraryError: the file cannot be written.
    """
    if path is None:
        raise InputError(
            "No auth file is named; give one with --auth-file FILE or ASSISTANT_AUTH_FILE."
        )
    _ACTIONS[options.action](options, path)


def _add(options: argparse.Namespace, path: Path) -> None:
    name = checked_name(options.name)
    add_user(path, name, _asked_password(name))
    print(f"{name} can sign in now.", file=sys.stderr)


def _list(_options: argparse.Namespace, path: Path) -> None:
    for name, user in sorted(read_users(path).users.items()):
        print(name)
        for key_id, key in user.keys.items():
            print(f"  key {key_id}, made {key.made}")


def _remove(options: argparse.Namespace, path: Path) -> None:
    remove_user(path, options.name)
    print(f"{options.name} can no longer come in.", file=sys.stderr)


def _key(options: argparse.Namespace, path: Path) -> None:
    print(make_key(path, options.name))
    print("The key is shown this once; send it as `Authorization: Bearer KEY`.", file=sys.stderr)


def _revoke(options: argparse.Namespace, path: Path) -> None:
    revoke_key(path, options.key_id)
    print(f"The key {options.key_id} no longer opens anything.", file=sys.stderr)


def _asked_password(name: str) -> str:
    """Typed twice without being shown, or the first line of standard input."""
    if not sys.stdin.isatty():
        return checked_password(sys.stdin.readline().rstrip("\r\n"))
    password = checked_password(getpass.getpass(f"Password of {name}: "))
    if getpass.getpass("Again: ") != password:
        raise InputError("The two passwords differ; type the same one twice.")
    return password


_ACTIONS: dict[str, Callable[[argparse.Namespace, Path], None]] = {
    "add": _add,
    "list": _list,
    "remove": _remove,
    "key": _key,
    "revoke": _revoke,
}
