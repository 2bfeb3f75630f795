"""The file of users: what it keeps, and what is wrong with a broken one."""

import json
import stat
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from protected_app import PASSWORD, Known
from pydantic import ValidationError

from assistant.server.auth import accounts
from assistant.server.auth.accounts import (
    DUMMY_HASH,
    User,
    add_user,
    checked_name,
    hashed,
    key_id_of,
    make_key,
    matches,
    read_users,
    remove_user,
    revoke_key,
)
from retrieval.types import InputError


def test_a_file_keeps_no_password_and_no_key(known: Known) -> None:
    text = known.file.read_text("utf-8")
    assert PASSWORD not in text
    assert known.key.split("_", 2)[2] not in text
    [user] = read_users(known.file).users.values()
    assert matches(user.password, PASSWORD)
    assert matches(user.keys[key_id_of(known.key)].hash, known.key)


def test_only_its_owner_may_read_it(known: Known) -> None:
    add_user(known.file, "bob", "another horse")
    assert stat.S_IMODE(known.file.stat().st_mode) == 0o600


def test_users_and_keys_come_and_go(known: Known) -> None:
    add_user(known.file, "bob", "another horse")
    assert set(read_users(known.file).users) == {"ann", "bob"}
    revoke_key(known.file, key_id_of(known.key))
    assert read_users(known.file).users["ann"].keys == {}
    remove_user(known.file, "ann")
    assert set(read_users(known.file).users) == {"bob"}


@pytest.mark.parametrize("name", ["", "Ann", "ann b", "-ann", "a" * 65, "../ann", "ännchen", "a\n"])
def test_names_that_cannot_be(name: str) -> None:
    with pytest.raises(InputError, match="cannot be a user's name"):
        checked_name(name)


@pytest.mark.parametrize("password", ["", "short", "a" * 257])
def test_passwords_that_cannot_be(tmp_path: Path, password: str) -> None:
    with pytest.raises(InputError, match=f"has {len(password)} characters"):
        add_user(tmp_path / "auth.json", "ann", password)
    assert not (tmp_path / "auth.json").exists()


def test_what_is_not_there_cannot_be_changed(known: Known, tmp_path: Path) -> None:
    before = known.file.read_bytes()
    with pytest.raises(InputError, match="a user 'ann' already"):
        add_user(known.file, "ann", "another horse")
    with pytest.raises(InputError, match="no user 'bob'"):
        remove_user(known.file, "bob")
    with pytest.raises(InputError, match="no user 'bob'"):
        make_key(known.file, "bob")
    with pytest.raises(InputError, match="no key 'zz'"):
        revoke_key(known.file, "zz")
    assert known.file.read_bytes() == before
    with pytest.raises(InputError, match="There is no auth file"):
        remove_user(tmp_path / "none.json", "ann")
    with pytest.raises(InputError, match="cannot be written"):
        add_user(known.file / "auth.json", "ann", "another horse")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "Invalid JSON"),
        ("[]", "is no auth file"),
        ('{"users": {"ann": {"password": "plain"}}}', "users.ann.password.*argon2id"),
        ('{"users": {"ann": {}}}', "users.ann.password"),
        (
            json.dumps({"users": {"ann": {"password": DUMMY_HASH, "admin": True}}}),
            "users.ann.admin",
        ),
        ('{"user": {}}', "user: Extra"),
        ("\xff", "is no auth file"),
    ],
)
def test_a_broken_file_says_where(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "auth.json"
    file.write_text(text, "latin-1")
    with pytest.raises(InputError, match=complaint) as raised:
        read_users(file)
    assert "plain" not in str(raised.value)


def test_a_folder_is_no_auth_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_users(tmp_path)


def test_hashes_are_salted_argon2id_and_know_composed_letters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(accounts, "_HASHER", PasswordHasher())
    assert DUMMY_HASH.split("$")[:4] == hashed("x").split("$")[:4], "as slow as any other"
    one, two = hashed("pässword"), hashed("pässword")
    assert one != two
    assert User(password=one).password == one
    assert User(password=DUMMY_HASH)
    with pytest.raises(ValidationError, match="not an argon2id hash"):
        User(password=one.replace("argon2id", "argon2i"))
    assert matches(one, "pa\u0308ssword")
    assert not matches(one, "password")
    assert not matches(DUMMY_HASH, "")


@pytest.mark.parametrize(
    ("key", "key_id"),
    [("aa_12ab_s_e-c", "12ab"), ("aa_12ab_", ""), ("aa_12ab", ""), ("bb_12ab_s", ""), ("", "")],
)
def test_the_public_part_of_a_key(key: str, key_id: str) -> None:
    assert key_id_of(key) == key_id
