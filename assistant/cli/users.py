"""`assistant users`: adds, lists and removes users and API keys in the auth file."""

import argparse
import getpass
import sys
from typing import Any

from assistant.server.auth.accounts import (
    add_user,
    checked_name,
    checked_password,
    make_key,
    read_users,
    remove_user,
    revoke_key,
)
from assistant.settings import load_settings
from retrieval.types import InputError


def run_users(options: argparse.Namespace, flags: dict[str, Any]) -> None:
    """Add, list or remove users and their keys.

    Raises:
        InputError: no file is named, or see the functions of `accounts`.
        LibraryError: the file cannot be written.
    """
    path = load_settings(flags).auth_file
    if path is None:
        raise InputError(
            "No auth file is named; give one with --auth-file FILE or ASSISTANT_AUTH_FILE."
        )
    match options.action:
        case "add":
            name = checked_name(options.name)
            add_user(path, name, _asked_password(name))
            _note(f"{name} can sign in now.")
        case "list":
            for name, user in sorted(read_users(path).users.items()):
                print(name)
                for key_id, key in user.keys.items():
                    print(f"  key {key_id}, made {key.made}")
        case "remove":
            remove_user(path, options.name)
            _note(f"{options.name} can no longer come in.")
        case "key":
            print(make_key(path, options.name))
            _note("The key is shown this once; send it as `Authorization: Bearer KEY`.")
        case "revoke":
            revoke_key(path, options.key_id)
            _note(f"The key {options.key_id} no longer opens anything.")


def _note(sentence: str) -> None:
    print(sentence, file=sys.stderr)


def _asked_password(name: str) -> str:
    """Typed twice without being shown, or the first line of standard input."""
    if not sys.stdin.isatty():
        return checked_password(sys.stdin.readline().rstrip("\r\n"))
    password = checked_password(getpass.getpass(f"Password of {name}: "))
    if getpass.getpass("Again: ") != password:
        raise InputError("The two passwords differ; type the same one twice.")
    return password
